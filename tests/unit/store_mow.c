/* store_mow.c - the clock of a store: mow, pop, next, now, and extreme
 * times. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void
ignore(const struct lawn_store_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

/* [P4] By deadline; timers of one TTL in the order of their starts. */
TEST(a_store_fires_in_the_order_of_deadlines)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "d", 20, "");
    put(&t, "a", 10, "");
    put(&t, "b", 10, "");
    put(&t, "e", 30, "");
    put(&t, "c", 10, "");
    CHECK_EQ(trial_mow(&t, 30), 5);
    CHECK_STORE_FIRED(&t, "a b c d e");
    trial_end(&t);
}

TEST(a_store_mows_no_more_than_its_budget)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    put(&t, "b", 10, "");
    put(&t, "c", 11, "");
    put(&t, "d", 50, "");
    CHECK_EQ(trial_mow_some(&t, 20, 0), 0);
    CHECK_EQ(lawn_store_now(t.store), 20); /* the clock still moves */
    CHECK_EQ(lawn_store_next(t.store), 10);
    CHECK_EQ(trial_mow_some(&t, 20, 1), 1);
    CHECK_STORE_FIRED(&t, "a");
    put(&t, "e", 5, "");
    CHECK_TIMER(&t, "e", "", 25); /* from now, not from the mowing position */
    CHECK_EQ(lawn_store_count(t.store), 4);
    CHECK_EQ(trial_mow_some(&t, 30, 2), 2);
    CHECK_STORE_FIRED(&t, "b c");
    CHECK_EQ(trial_mow_some(&t, 30, 2), 1); /* [P2] */
    CHECK_STORE_FIRED(&t, "e");
    CHECK_EQ(trial_mow_some(&t, 50, 1), 1);
    trial_end(&t);
}

static void
halt_the_lawn(struct trial *t, const struct lawn_store_timer *timer)
{
    (void)timer;
    /* lawn_store_lawn() returns a const lawn. It is not being mown while
     * callbacks run. */
    lawn_halt((struct lawn *)(uintptr_t)lawn_store_lawn(t->store));
}

TEST(a_store_does_not_halt_with_its_lawn)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 40; i++) { /* more than a batch */
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    t.act = halt_the_lawn;
    CHECK_EQ(trial_mow(&t, 10), 40);
    trial_end(&t);
}

TEST(a_store_ignores_a_clock_that_runs_back)
{
    struct lawn_store_options options = {.lawn.now = 1000};
    struct trial t;

    trial_begin(&t, &options);
    CHECK_EQ(lawn_store_now(t.store), 1000);
    put(&t, "a", 10, "");
    lawn_store_set_now(t.store, 2000);
    lawn_store_set_now(t.store, 500); /* [P9] */
    CHECK_EQ(lawn_store_now(t.store), 2000);
    put(&t, "b", 10, "");
    CHECK_TIMER(&t, "b", "", 2010);
    CHECK_EQ(trial_mow(&t, 1009), 0);
    CHECK_EQ(trial_mow(&t, 1010), 1); /* due by the earlier time */
    CHECK_STORE_FIRED(&t, "a");
    CHECK_EQ(lawn_store_now(t.store), 2000);
    CHECK_EQ(trial_mow(&t, 2010), 1);
    trial_end(&t);
}

TEST(a_store_set_to_a_later_time_fires_nothing)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "");
    lawn_store_set_now(t.store, 100);
    CHECK_EQ(lawn_store_now(t.store), 100);
    CHECK(has(&t, "a"));
    CHECK_EQ(lawn_store_next(t.store), 10);
    CHECK_EQ(trial_mow(&t, 100), 1);
    trial_end(&t);
}

TEST(the_next_deadline_of_a_store_is_exact)
{
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_next(t.store), LAWN_NEVER);
    put(&t, "a", 1000, "");
    CHECK_EQ(lawn_store_next(t.store), 1000);
    put(&t, "b", 700, "");
    CHECK_EQ(lawn_store_next(t.store), 700);
    put(&t, "c", 900, "");
    CHECK(drop(&t, "b"));
    CHECK_EQ(lawn_store_next(t.store), 900);
    CHECK(lawn_store_touch(t.store, "a", 1, 5));
    CHECK_EQ(lawn_store_next(t.store), 5);
    put(&t, "a", 5000, "");
    CHECK_EQ(lawn_store_next(t.store), 900);
    CHECK_EQ(lawn_store_update(t.store, "c", 1, "a new one", 9), 0);
    CHECK_EQ(lawn_store_next(t.store), 900);
    CHECK(lawn_store_touch_at(t.store, "c", 1, 6000));
    CHECK_EQ(lawn_store_next(t.store), 5000);
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_next(t.store), LAWN_NEVER);
    trial_end(&t);
}

TEST(a_pop_takes_the_earliest_due_timer_out_of_a_store)
{
    struct trial t;

    trial_begin(&t, NULL);
    struct lawn_store_timer out;
    CHECK(!lawn_store_pop(t.store, 5, &out));
    CHECK_EQ(lawn_store_now(t.store), 5); /* as mow does */
    put(&t, "b", 20, "two");
    put(&t, "a", 10, "one");
    CHECK(!lawn_store_pop(t.store, 14, &out)); /* [P1] */
    CHECK(lawn_store_pop(t.store, 100, &out));
    CHECK_EQ(out.id_size, 1);
    CHECK(memcmp(out.id, "a", 1) == 0);
    CHECK_EQ(out.payload_size, 3);
    CHECK(memcmp(out.payload, "one", 3) == 0);
    CHECK_EQ((uintptr_t)out.payload % 8, 0);
    CHECK_EQ(out.deadline, 15);
    CHECK_EQ(out.ttl, 10);
    CHECK(!has(&t, "a"));
    CHECK_EQ(lawn_store_now(t.store), 100);
    CHECK_EQ(lawn_store_count(t.store), 1);
    CHECK(lawn_store_pop(t.store, 100, &out));
    CHECK(memcmp(out.id, "b", 1) == 0);
    CHECK(!lawn_store_pop(t.store, UINT64_MAX, &out));
    trial_end(&t);
}

/* Valid until the next pop, whatever happens in between; the sanitizers
 * check. */
TEST(a_timer_that_a_pop_returns_stays_valid_until_the_next_pop)
{
    struct trial t;

    trial_begin(&t, NULL);
    put(&t, "a", 10, "a payload that is somewhat longer");
    put(&t, "b", 10, "x");
    struct lawn_store_timer out;
    CHECK(lawn_store_pop(t.store, 10, &out));
    put(&t, "a", 10, "another payload that is longer, too");
    for (uint64_t i = 0; i < 5000; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    for (uint64_t i = 0; i < 5000; i += 2) {
        CHECK(drop_number(&t, i));
    }
    CHECK_EQ(lawn_store_mow(t.store, 15, 1, ignore, NULL), 1);
    lawn_store_clear(t.store);
    CHECK_EQ(out.id_size, 1);
    CHECK(memcmp(out.id, "a", 1) == 0);
    CHECK(memcmp(out.payload, "a payload that is somewhat longer", 33) == 0);
    /* The popped data may be passed back. */
    CHECK_EQ(lawn_store_start(t.store, out.id, out.id_size, 7, out.payload,
                              out.payload_size, 0),
             0);
    CHECK_TIMER(&t, "a", "a payload that is somewhat longer", 22);
    trial_end(&t);
}

/* The store owns the memory of a popped timer and frees it. */
TEST(a_store_freed_after_a_pop_gives_all_memory_back)
{
    static char large[100000];
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_start(t.store, "a", 1, 10, large, sizeof(large), 0), 0);
    CHECK_EQ(lawn_store_start(t.store, "b", 1, 10, large, sizeof(large), 0), 0);
    struct lawn_store_timer out;
    CHECK(lawn_store_pop(t.store, 10, &out));
    CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
    CHECK(lawn_store_pop(t.store, 10, &out));
    CHECK_EQ(lawn_store_bytes(t.store), t.ledger.bytes);
    trial_end(&t);
}

TEST(pops_of_a_store_come_in_the_order_of_mows)
{
    struct trial t;
    uint64_t state = 3;
    uint64_t last = 0;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_EQ(put_number(&t, i, 1 + chance(&state) % 500), 0);
    }
    struct lawn_store_timer out;
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK_EQ(lawn_store_count(t.store), 3000 - i);
        CHECK(lawn_store_pop(t.store, 500, &out));
        CHECK(out.deadline >= last);
        last = out.deadline;
    }
    CHECK(!lawn_store_pop(t.store, 500, &out));
    trial_end(&t);
}

TEST(a_store_rounds_deadlines_to_the_resolution_of_its_lawn)
{
    struct lawn_store_options options = {.lawn.resolution = 10};
    struct trial t;

    trial_begin(&t, &options);
    put(&t, "a", 1, "");
    put(&t, "b", 11, "");
    CHECK_TIMER(&t, "a", "", 10);
    CHECK_TIMER(&t, "b", "", 20);
    CHECK_EQ(look(&t, "b").ttl, 11);
    CHECK_EQ(trial_mow(&t, 9), 0);
    CHECK_EQ(trial_mow(&t, 10), 1);
    trial_end(&t);
}

/* [P9] */
TEST(a_store_takes_times_and_ttls_over_the_whole_range)
{
    static const uint64_t ttls[] = {0,        1,    INT64_MAX,
                                    LAST - 1, LAST, LAWN_NEVER};
    struct trial t;

    trial_begin(&t, NULL);
    for (size_t i = 0; i < COUNT(ttls); i++) {
        uint64_t due = ttls[i] == 0 ? 1 : ttls[i] < LAST ? ttls[i] : LAST;
        struct lawn_store_timer timer = {0};

        CHECK_EQ(put_number(&t, i, ttls[i]), 0);
        CHECK(lawn_store_get(t.store, &(uint64_t){i}, 8, &timer));
        CHECK_EQ(timer.deadline, due);
        CHECK(timer.ttl == ttls[i] || timer.ttl == due);
        CHECK(lawn_store_touch_at(t.store, &(uint64_t){i}, 8, ttls[i]));
        CHECK(lawn_store_get(t.store, &(uint64_t){i}, 8, &timer));
        CHECK_EQ(timer.deadline, due);
    }
    CHECK_EQ(trial_mow(&t, 0), 0);
    CHECK_EQ(trial_mow(&t, 1), 2);
    CHECK_EQ(trial_mow(&t, LAST - 1), 2);
    CHECK_EQ(trial_mow(&t, LAWN_NEVER), 2);
    CHECK_EQ(lawn_store_now(t.store), LAST);
    trial_end(&t);
}

static void
start_itself_again(struct trial *t, const struct lawn_store_timer *timer)
{
    CHECK_EQ(lawn_store_start(t->store, timer->id, timer->id_size, 100,
                              timer->payload, timer->payload_size, 0),
             0);
}

/* [P9] There is no later tick; a mow still ends. */
TEST(a_mow_of_a_store_at_the_last_tick_comes_to_an_end)
{
    struct lawn_store_options options = {.lawn.now = LAST - 5};
    struct trial t;

    trial_begin(&t, &options);
    put(&t, "a", 5, "x");
    put(&t, "b", UINT64_MAX, "y");
    t.act = start_itself_again;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(trial_mow(&t, LAWN_NEVER), 2);
        CHECK_EQ(lawn_store_count(t.store), 2);
        CHECK_EQ(lawn_store_next(t.store), LAST);
        CHECK_EQ(trial_mow_some(&t, LAWN_NEVER, 1), 1);
    }
    trial_end(&t);
}

TEST(a_cleared_store_keeps_its_clock_and_its_limits)
{
    struct lawn_store_options options = {.max_timers = 3};
    struct trial t;

    trial_begin(&t, &options);
    size_t bytes = lawn_store_bytes(t.store);
    lawn_store_set_now(t.store, 77);
    put(&t, "a", 10, "");
    put(&t, "b", 20, "");
    put(&t, "c", 20, "");
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_now(t.store), 77);
    CHECK_EQ(lawn_store_count(t.store), 0);
    CHECK(!has(&t, "a"));
    CHECK(lawn_store_bytes(t.store) <= bytes + 4096); /* [S7] */
    CHECK_EQ(trial_mow(&t, 1000), 0);
    put(&t, "d", 10, "x");
    CHECK_TIMER(&t, "d", "x", 1010);
    put(&t, "b", 20, "");
    put(&t, "c", 20, "");
    CHECK_EQ(put_how(&t, "a", 10, "", 0), -ENOSPC);
    lawn_store_clear(t.store);
    lawn_store_clear(t.store);
    CHECK(lawn_store_check(t.store, stdout));
    trial_end(&t);
}

static char arena[1u << 20];
static size_t arena_used;

static void *
arena_alloc(size_t size, void *context)
{
    (void)context;
    size = (size + 15) / 16 * 16;
    if (size > sizeof(arena) - arena_used) {
        return NULL;
    }
    arena_used += size;
    return arena + arena_used - size;
}

/* See lawn.h: release may be NULL. */
TEST(a_store_may_have_an_allocator_that_takes_nothing_back)
{
    struct lawn_store_options options = {
        .lawn.alloc = arena_alloc, .lawn.blades = 8, .lawn.slot_bits = 4};
    int error = 0;

    arena_used = 0;
    struct lawn_store *store = lawn_store_new(&options);
    CHECK(store != NULL);
    unsigned i = 0;
    for (i = 0; i < 100000 && error == 0; i++) {
        error = lawn_store_start(store, &i, sizeof(i), 10, &i, sizeof(i), 0);
    }
    CHECK_EQ(error, -ENOMEM);
    CHECK_EQ(lawn_store_count(store), i - 1);
    CHECK_EQ(lawn_store_mow(store, 10, SIZE_MAX, ignore, NULL), i - 1);
    CHECK(lawn_store_check(store, stdout));
    lawn_store_free(store);
}
