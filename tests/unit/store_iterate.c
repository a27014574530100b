/* store_iterate.c - iterating over the timers of a store [S8]. */
#include "store_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 1000u

/* Counts how often each timer was returned. Numbers below KEPT exist from the
 * first call to the last; all others share one counter. */
static unsigned char seen[KEPT];
static unsigned others;

static void
count_one(const struct lawn_store_timer *timer)
{
    uint64_t number = 0;

    CHECK_EQ(timer->id_size, sizeof(number));
    memcpy(&number, timer->id, sizeof(number));
    CHECK_EQ(timer->payload_size, sizeof(number));
    CHECK(memcmp(timer->payload, &number, sizeof(number)) == 0);
    if (number < KEPT) {
        seen[number]++;
    } else {
        others++;
    }
}

static void
begin_with_kept(struct trial *t)
{
    memset(seen, 0, sizeof(seen));
    others = 0;
    trial_begin(t, NULL);
    for (uint64_t i = 0; i < KEPT; i++) {
        CHECK_EQ(put_number(t, i, 1000 + i % 10), 0);
    }
}

static void
check_each_once(void)
{
    for (unsigned i = 0; i < KEPT; i++) {
        CHECK_EQ(seen[i], 1);
    }
}

/* Changes the number of further timers, numbered from KEPT on. */
static void
resize(struct trial *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        CHECK_EQ(put_number(t, KEPT + i, 100), 0);
    }
    for (uint64_t i = to; i < from; i++) {
        CHECK(drop_number(t, KEPT + i));
    }
}

TEST(an_iteration_returns_each_timer_of_a_store_once)
{
    struct trial t;
    uint64_t cursor = 0;
    unsigned n = 0;

    begin_with_kept(&t);
    struct lawn_store_timer timer;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        CHECK_EQ(timer.deadline, timer.ttl);
        count_one(&timer);
        n++;
    }
    check_each_once();
    CHECK_EQ(n, KEPT);
    trial_end(&t);
}

TEST(an_iteration_of_an_empty_store_returns_nothing)
{
    struct trial t;
    uint64_t cursor = 0;

    trial_begin(&t, NULL);
    struct lawn_store_timer timer;
    CHECK(!lawn_store_iterate(t.store, &cursor, &timer));
    put(&t, "a", 10, "x");
    CHECK(drop(&t, "a"));
    cursor = 0;
    CHECK(!lawn_store_iterate(t.store, &cursor, &timer));
    put(&t, "", 10, "");
    cursor = 0;
    CHECK(lawn_store_iterate(t.store, &cursor, &timer));
    CHECK_EQ(timer.id_size, 0);
    CHECK(!lawn_store_iterate(t.store, &cursor, &timer));
    trial_end(&t);
}

/* The store grows or shrinks between these numbers of timers, after this number
 * of timers was returned. */
static void
iterate_while_resized(uint64_t from, uint64_t to, unsigned after)
{
    struct trial t;
    uint64_t cursor = 0;
    unsigned told = 0;

    begin_with_kept(&t);
    resize(&t, 0, from);
    struct lawn_store_timer timer;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        count_one(&timer);
        if (++told == after) {
            resize(&t, from, to);
        }
    }
    check_each_once();
    CHECK(others <= (from > to ? from : to));
    trial_end(&t);
}

TEST(an_iteration_of_a_store_that_grows_returns_each_timer_once)
{
    uint64_t n = how_many(100000, 100000, 20000);

    for (unsigned after = 1; after <= KEPT; after += 333) {
        iterate_while_resized(0, n, after);
    }
    iterate_while_resized(0, 300, 500);
    iterate_while_resized(500, 1500, 700);
}

TEST(an_iteration_of_a_store_that_shrinks_returns_each_timer_once)
{
    unsigned n = how_many(100000, 100000, 20000);

    iterate_while_resized(n, 0, 1);
    iterate_while_resized(n, 0, 100);
    iterate_while_resized(n, 0, n / 2);
    iterate_while_resized(n, 0, n - 100);
    iterate_while_resized(1500, 0, 700);
    iterate_while_resized(1500, 500, 1200);
}

/* Growing and shrinking between all calls. */
TEST(an_iteration_of_a_store_that_breathes_returns_each_timer_once)
{
    static const unsigned strides[] = {1, 3, 20, 300};
    struct lawn_store_timer timer;
    struct trial t;

    for (size_t s = 0; s < COUNT(strides); s++) {
        uint64_t cursor = 0;
        uint64_t further = 0;
        uint64_t state = s + 1;
        unsigned told = 0;

        begin_with_kept(&t);
        while (lawn_store_iterate(t.store, &cursor, &timer)) {
            count_one(&timer);
            uint64_t to = further + strides[s];
            if (told / 250 % 2 == 1 || further > 50000) {
                to = further > 2 * strides[s] ? further - 2 * strides[s] : 0;
            }
            if (told % 100 == 99) {
                to = chance(&state) % 8000;
            }
            resize(&t, further, to);
            further = to;
            told++;
            CHECK(told < 1000000);
        }
        check_each_once();
        trial_end(&t);
    }
}

/* Restarts do not move timers, whether they were returned already or not. */
TEST(an_iteration_of_a_store_is_not_disturbed_by_restarts)
{
    struct trial t;
    uint64_t cursor = 0;
    uint64_t state = 9;
    unsigned n = 0;

    begin_with_kept(&t);
    struct lawn_store_timer timer;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        uint64_t id = chance(&state) % KEPT;

        count_one(&timer);
        n++;
        CHECK_EQ(put_number(&t, id, 77), 0);
        id = chance(&state) % KEPT;
        CHECK(lawn_store_touch(t.store, &id, sizeof(id), 78));
        id = chance(&state) % KEPT;
        CHECK_EQ(lawn_store_update(t.store, &id, sizeof(id), &state, 5), 0);
        CHECK_EQ(lawn_store_update(t.store, &id, sizeof(id), &id, sizeof(id)),
                 0);
        CHECK_EQ(lawn_store_start(t.store, timer.id, timer.id_size, 80,
                                  timer.payload, timer.payload_size, 0),
                 0);
    }
    check_each_once();
    CHECK_EQ(n, KEPT);
    trial_end(&t);
}

TEST(an_iteration_continues_in_a_store_that_was_reserved_and_cleared)
{
    struct trial t;
    uint64_t cursor = 0;
    unsigned told = 0;

    begin_with_kept(&t);
    struct lawn_store_timer timer;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        count_one(&timer);
        told++;
        if (told == 100) {
            CHECK_EQ(lawn_store_reserve(t.store, 50000), 0);
        } else if (told == 600) {
            CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
            resize(&t, 0, 10);
            resize(&t, 10, 0);
        }
    }
    check_each_once();
    cursor = 0;
    CHECK(lawn_store_iterate(t.store, &cursor, &timer));
    lawn_store_clear(t.store);
    CHECK(!lawn_store_iterate(t.store, &cursor, &timer));
    trial_end(&t);
}

/* S8 while timers fire. */
TEST(an_iteration_of_a_store_that_mows_returns_remaining_timers_once)
{
    struct trial t;
    uint64_t cursor = 0;

    begin_with_kept(&t);
    resize(&t, 0, 20000);
    struct lawn_store_timer timer;
    struct lawn_store_timer popped;
    while (lawn_store_iterate(t.store, &cursor, &timer)) {
        count_one(&timer);
        for (unsigned i = 0; i < 40 && lawn_store_pop(t.store, 100, &popped);
             i++) {
            CHECK_EQ(popped.deadline, 100);
        }
    }
    CHECK_EQ(lawn_store_count(t.store), KEPT);
    check_each_once();
    CHECK(others <= 20000);
    trial_end(&t);
}

TEST(an_iteration_of_a_store_may_only_count_and_when_over_stays_so)
{
    struct trial t;
    uint64_t cursor = 0;
    unsigned count = 0;

    begin_with_kept(&t);
    while (lawn_store_iterate(t.store, &cursor, NULL)) {
        count++;
    }
    CHECK_EQ(count, KEPT);
    CHECK(!lawn_store_iterate(t.store, &cursor, NULL));
    CHECK(!lawn_store_iterate(t.store, &cursor, NULL));
    trial_end(&t);
}
