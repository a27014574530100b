/* store_next_timer.c - the timer of a store that is due first [P2] [P4]
 * [S4]. */
#include "store_common.h"

#include <string.h>

/* Returns whether the timer that is due first has this id. */
static bool
is_first(struct trial *t, const char *id)
{
    struct lawn_store_timer timer;

    return lawn_store_next_timer(t->store, NULL) &&
           lawn_store_next_timer(t->store, &timer) &&
           timer.deadline == lawn_store_next(t->store) &&
           timer.id_size == strlen(id) &&
           memcmp(timer.id, id, timer.id_size) == 0;
}

TEST(a_store_without_timers_has_no_first_timer)
{
    struct lawn_store_timer timer = {.deadline = 7};
    struct trial t;

    trial_begin(&t, NULL);
    CHECK(!lawn_store_next_timer(t.store, &timer));
    CHECK(!lawn_store_next_timer(t.store, NULL));
    put(&t, "a", 10, "");
    CHECK(drop(&t, "a"));
    CHECK(!lawn_store_next_timer(t.store, &timer));
    put(&t, "a", 10, "");
    CHECK_EQ(trial_mow(&t, 10), 1);
    CHECK(!lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(timer.deadline, 7);
    trial_end(&t);
}

TEST(the_first_timer_of_a_store_is_returned_with_all_it_has_and_stays)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "later", 500, "one");
    put(&t, "sooner", 40, "two");
    put(&t, "last", 41, "three");
    struct lawn_store_timer timer;
    CHECK(lawn_store_next_timer(t.store, &timer));
    CHECK_EQ(timer.id_size, 6);
    CHECK(memcmp(timer.id, "sooner", 6) == 0);
    CHECK_EQ(timer.payload_size, 3);
    CHECK(memcmp(timer.payload, "two", 3) == 0);
    CHECK_EQ(timer.deadline, 40);
    CHECK_EQ(timer.ttl, 40);
    CHECK_EQ(lawn_store_count(t.store), 3);
    CHECK_TIMER(&t, "sooner", "two", 40);
    CHECK_EQ(trial_mow(&t, 40), 1);
    CHECK_STORE_FIRED(&t, "sooner");
    CHECK(is_first(&t, "last"));
    trial_end(&t);
}

/* As a full cache does: it passes the returned id back [S4]. */
TEST(a_store_evicts_the_first_timer_by_the_id_that_it_returned)
{
    static const char *const order[] = {"b", "e", "c", "a", "d"};
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 700, "");
    put(&t, "b", 5, "");
    put(&t, "c", 300, "");
    put(&t, "d", 700, "");
    put(&t, "e", 6, "");
    struct lawn_store_timer timer;
    for (unsigned i = 0; i < COUNT(order); i++) {
        CHECK(is_first(&t, order[i]));
        CHECK(lawn_store_next_timer(t.store, &timer));
        CHECK(lawn_store_stop(t.store, timer.id, timer.id_size));
        CHECK(!has(&t, order[i]));
    }
    CHECK_EQ(lawn_store_count(t.store), 0);
    trial_end(&t);
}

static void
look_and_drop(struct trial *t, const struct lawn_store_timer *timer)
{
    const char *id = (const char *)timer->id;

    if (timer->id_size == 1 && *id == 'a') {
        CHECK(is_first(t, "b"));
        CHECK(drop(t, "b"));
        CHECK(is_first(t, "c"));
        put(t, "c", 1, "again");
        CHECK(is_first(t, "d"));
    } else if (timer->id_size == 1 && *id == 'd') {
        CHECK(is_first(t, "e"));
    } else {
        CHECK(is_first(t, "c"));
    }
}

/* First timers that the mow has already taken off the lawn, then those on
 * it. */
TEST(a_callback_of_a_store_sees_the_timer_that_would_fire_next)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 10, "");
    put(&t, "c", 10, "");
    put(&t, "d", 11, "");
    put(&t, "e", 12, "");
    t.act = look_and_drop;
    CHECK_EQ(trial_mow(&t, 12), 3);
    CHECK_STORE_FIRED(&t, "a d e");
    t.act = NULL;
    CHECK_EQ(trial_mow(&t, 13), 1);
    CHECK_STORE_FIRED_WITH(&t, "c", "again");
    trial_end(&t);
}

static void
look_beyond(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    CHECK(is_first(t, "later"));
    lawn_store_clear(t->store);
    CHECK(!lawn_store_next_timer(t->store, NULL));
}

TEST(a_callback_of_a_store_sees_a_timer_that_is_not_due_yet)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "now", 10, "");
    put(&t, "later", 1000, "");
    t.act = look_beyond;
    CHECK_EQ(trial_mow(&t, 10), 1);
    CHECK(!lawn_store_next_timer(t.store, NULL));
    trial_end(&t);
}

/* S4 */
TEST(the_first_timer_of_a_store_stays_valid_while_others_come_and_go)
{
    static const char payload[] = "a payload that needs more than a few bytes";
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "stays", 1000, payload);
    struct lawn_store_timer timer;
    CHECK(lawn_store_next_timer(t.store, &timer));
    for (uint64_t i = 0; i < 5000; i++) {
        CHECK_EQ(put_number(&t, i, 1 + i % 2000), 0);
    }
    for (uint64_t i = 0; i < 5000; i += 2) {
        CHECK(drop_number(&t, i));
    }
    CHECK(lawn_store_touch(t.store, timer.id, timer.id_size, 5));
    CHECK(look(&t, "stays").id == timer.id);
    CHECK(look(&t, "stays").payload == timer.payload);
    CHECK_EQ(timer.payload_size, sizeof(payload) - 1);
    CHECK(memcmp(timer.payload, payload, timer.payload_size) == 0);
    trial_end(&t);
}

TEST(an_overdue_timer_is_still_the_first_of_its_store)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    lawn_store_set_now(t.store, 1000);
    put(&t, "c", 1, "");
    CHECK(is_first(&t, "a"));
    CHECK_EQ(trial_mow_some(&t, 1000, 1), 1);
    CHECK(is_first(&t, "b"));
    CHECK(lawn_store_pop(t.store, 1000, NULL));
    CHECK(is_first(&t, "c"));
    trial_end(&t);
}

TEST(a_timer_of_a_store_that_is_due_at_the_last_tick_can_be_the_first)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "never", LAWN_NEVER, "");
    put(&t, "never too", LAST, "");
    put(&t, "some day", LAST - 1, "");
    CHECK(is_first(&t, "some day"));
    CHECK(drop(&t, "some day"));
    CHECK(is_first(&t, "never"));
    CHECK(drop(&t, "never"));
    CHECK(is_first(&t, "never too"));
    trial_end(&t);
}
