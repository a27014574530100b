/* store_first.c - the timer of a store that is due first [P2] [P4] [S4]. */
#include "store_common.h"

#include <string.h>

/* Whether the timer that is due first has this id. */
static bool
is_first(struct trial *t, const char *id)
{
    struct lawn_store_timer timer;

    return lawn_store_first(t->store, NULL) &&
           lawn_store_first(t->store, &timer) &&
           timer.deadline == lawn_store_next(t->store) &&
           timer.id_size == strlen(id) &&
           memcmp(timer.id, id, timer.id_size) == 0;
}

TEST(a_store_without_timers_has_no_first_timer)
{
    struct lawn_store_timer timer = {.deadline = 7};
    struct trial t;

    trial_begin(&t, NULL);
    CHECK(!lawn_store_first(t.store, &timer));
    CHECK(!lawn_store_first(t.store, NULL));
    put(&t, "a", 10, "");
    CHECK(drop(&t, "a"));
    CHECK(!lawn_store_first(t.store, &timer));
    put(&t, "a", 10, "");
    CHECK_EQ(trial_mow(&t, 10), 1);
    CHECK(!lawn_store_first(t.store, &timer));
    CHECK_EQ(timer.deadline, 7);
    trial_end(&t);
}

TEST(the_first_timer_of_a_store_is_told_with_all_it_has_and_stays)
{
    struct lawn_store_timer timer;
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "later", 500, "one");
    put(&t, "sooner", 40, "two");
    put(&t, "last", 41, "three");
    CHECK(lawn_store_first(t.store, &timer));
    CHECK_EQ(timer.id_size, 6);
    CHECK(memcmp(timer.id, "sooner", 6) == 0);
    CHECK_EQ(timer.payload_size, 3);
    CHECK(memcmp(timer.payload, "two", 3) == 0);
    CHECK_EQ(timer.deadline, 40);
    CHECK_EQ(timer.ttl, 40);
    CHECK_EQ(lawn_store_count(t.store), 3);
    CHECK_TIMER(&t, "sooner", "two", 40);
    CHECK_EQ(trial_mow(&t, 40), 1);
    CHECK_CUT(&t, "sooner");
    CHECK(is_first(&t, "last"));
    trial_end(&t);
}

/* As a cache does that is full: its id is handed back [S4]. */
TEST(a_store_evicts_the_first_timer_by_the_id_that_it_told)
{
    static const char *const order[] = {"b", "e", "c", "a", "d"};
    struct lawn_store_timer timer;
    struct trial t;
    unsigned i;

    trial_begin(&t, NULL);
    put(&t, "a", 700, "");
    put(&t, "b", 5, "");
    put(&t, "c", 300, "");
    put(&t, "d", 700, "");
    put(&t, "e", 6, "");
    for (i = 0; i < COUNT(order); i++) {
        CHECK(is_first(&t, order[i]));
        CHECK(lawn_store_first(t.store, &timer));
        CHECK(lawn_store_stop(t.store, timer.id, timer.id_size));
        CHECK(!has(&t, order[i]));
    }
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}
