/* store_museum.c - bugs of other libraries that a store could have. The numbers
 * are those of museum.c. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The pseudo-code of the paper stores a new timer under the id and leaves the
 * old one in its queue: the id then fires twice, and DeleteTimer removes only
 * the newer one. */
TEST(a_store_leaves_no_old_timer_behind_when_an_id_starts_again)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        put(&t, "a", 10 + i % 7, "x");
    }
    struct lawn_counters stats;
    lawn_stats(lawn_store_lawn(t.store), &stats);
    CHECK_EQ(stats.count, 1); /* [S1] */
    CHECK_EQ(trial_mow(&t, 100), 1);
    put(&t, "a", 10, "x");
    put(&t, "a", 20, "x");
    CHECK(drop(&t, "a"));
    CHECK_EQ(trial_mow(&t, 1000), 0);
    trial_end(&t);
}

/* The same in another order: the replaced timer is due first. */
TEST(a_store_does_not_fire_an_id_at_its_first_deadline_once_it_is_replaced)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "first");
    put(&t, "a", 50, "second");
    CHECK_EQ(trial_mow(&t, 49), 0);
    CHECK_EQ(trial_mow(&t, 50), 1);
    CHECK_STORE_FIRED_WITH(&t, "a", "second");
    trial_end(&t);
}

/* 11. An id that allocates memory for all lower ids. */
TEST(a_store_takes_memory_by_the_number_of_ids_and_not_by_their_size)
{
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(put_number(&t, 0, 10), 0);
    size_t before = lawn_store_bytes(t.store);
    for (unsigned k = 0; k < 64; k++) {
        CHECK_EQ(put_number(&t, UINT64_C(1) << k, 10), 0);
    }
    CHECK_EQ(put_number(&t, UINT64_MAX, 10), 0);
    CHECK(lawn_store_bytes(t.store) <= before + 256 * 1024);
    trial_end(&t);
}

/* 44. Netty #2541: a canceled timeout kept its task, and everything the task
 * referred to, until its deadline. */
TEST(a_store_gives_the_memory_of_stopped_timers_back_long_before_they_are_due)
{
    static char large[2000];
    struct trial t;
    size_t peak = 0;

    trial_begin(&t, NULL);
    for (unsigned i = 0; i < how_many(1000000, 200000, 20000); i++) {
        CHECK_EQ(lawn_store_start(t.store, &i, sizeof(i), 300000, large,
                                  sizeof(large), 0),
                 0);
        CHECK(lawn_store_stop(t.store, &i, sizeof(i)));
        peak = t.ledger.bytes > peak ? t.ledger.bytes : peak;
    }
    CHECK(peak < 1024 * 1024); /* not 400 MB */
    trial_end(&t);
}

/* Restarting one id over and over needs the memory of one timer. */
TEST(a_store_that_replaces_one_timer_for_long_does_not_grow)
{
    static char bytes[300];
    struct trial t;
    size_t peak = 0;

    trial_begin(&t, NULL);
    for (unsigned i = 0; i < how_many(1000000, 300000, 30000); i++) {
        CHECK_EQ(
            lawn_store_start(t.store, "a", 1, 10, bytes, i % sizeof(bytes), 0),
            0);
        peak = t.ledger.bytes > peak ? t.ledger.bytes : peak;
    }
    CHECK(peak < 1024 * 1024);
    trial_end(&t);
}

static void
stop_start_stop(struct trial *t, const struct lawn_store_timer *timer)
{
    CHECK(!lawn_store_stop(t->store, timer->id, timer->id_size));
    CHECK_EQ(lawn_store_start(t->store, timer->id, timer->id_size, 5,
                              timer->payload, timer->payload_size, 0),
             0);
    CHECK(lawn_store_stop(t->store, timer->id, timer->id_size));
    CHECK(!lawn_store_stop(t->store, timer->id, timer->id_size));
}

/* 44. Netty #14959: subtracted twice when stopped in its own callback. */
TEST(a_timer_of_a_store_that_is_stopped_in_its_callback_is_counted_off_once)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "x");
    put(&t, "b", 20, "y");
    put(&t, "c", 100, "z");
    t.act = stop_start_stop;
    CHECK_EQ(trial_mow(&t, 20), 2);
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK_EQ(lawn_store_next(t.store), 100);
    trial_end(&t);
}

static void
start_itself_at_once(struct trial *t, const struct lawn_store_timer *timer)
{
    CHECK_EQ(lawn_store_start(t->store, timer->id, timer->id_size, 0,
                              timer->payload, timer->payload_size, 0),
             0);
}

/* 15, 22. libevent #1261, libuv #4245: a drain that never ended */
TEST(a_mow_of_a_store_whose_timers_start_again_comes_to_an_end)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 30; i++) {
        CHECK_EQ(put_number(&t, i, 1 + i % 10), 0);
    }
    t.act = start_itself_at_once;
    CHECK_EQ(trial_mow(&t, 100), 30);
    CHECK_EQ(trial_mow(&t, 100), 0);
    CHECK_EQ(trial_mow(&t, UINT64_C(1) << 40), 30);
    CHECK_EQ(lawn_store_count(t.store), 30);
    trial_end(&t);
}

/* A timer with a deadline in the past must not be dropped silently. */
TEST(a_store_fires_a_timer_that_was_started_for_the_past)
{
    struct trial t;

    trial_begin(&t, NULL);
    lawn_store_set_now(t.store, 1000);
    CHECK_EQ(put_how(&t, "a", 0, "x", LAWN_STORE_AT), 0);
    CHECK(has(&t, "a"));
    CHECK_EQ(trial_mow(&t, 1001), 1);
    CHECK_STORE_FIRED_WITH(&t, "a", "x");
    trial_end(&t);
}
