/* registry_times.c - tests of the wake-up times of keys: see
 * module/registry.h. */
#include "registry.h"

#include "kit.h"
#include "memory_kit.h"
#include "rng.h"

#include <lawn.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns true if the next key taken is this one. */
static bool
registry_gives(uint64_t now, int db, const char *name, uint64_t when)
{
    struct bytes got;
    int got_db = 0;
    uint64_t got_when = 0;
    return registry_pop(now, &got_db, &got, &got_when) && got_db == db &&
           bytes_equal(got, bytes_of(name)) && got_when == when;
}

static bool
registry_gives_none(uint64_t now)
{
    struct bytes got;
    int db = 0;
    uint64_t when = 0;
    return !registry_pop(now, &db, &got, &when);
}

static void
registry_begin(uint64_t now)
{
    registry_flush(-1);
    CHECK(registry_gives_none(now));
    CHECK_EQ(registry_bytes(), 0);
    CHECK_EQ(registry_count(), 0);
    CHECK_EQ(registry_next(), LAWN_NEVER);
}

TEST(registry_keys_come_when_their_time_has_come)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("b"), 1200));
    CHECK(registry_set(0, bytes_of("a"), 1100));
    CHECK_EQ(registry_next(), 1100);
    CHECK_EQ(registry_count(), 2);
    CHECK(registry_bytes() > 0);
    CHECK(registry_gives_none(1099));
    CHECK(registry_gives(1100, 0, "a", 1100));
    CHECK(registry_gives_none(1100));
    CHECK_EQ(registry_next(), 1200);
    CHECK(registry_gives(5000, 0, "b", 1200));
    CHECK_EQ(registry_count(), 0);
    CHECK_EQ(registry_next(), LAWN_NEVER);
    registry_flush(-1);
}

TEST(registry_a_key_that_is_set_again_and_again_waits_for_the_others)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), 1050));
    CHECK(registry_set(0, bytes_of("b"), 1100));
    CHECK(registry_set(0, bytes_of("c"), 1150));
    CHECK(registry_gives(1200, 0, "a", 1050));
    CHECK(registry_set(0, bytes_of("a"), 1200));
    CHECK(registry_gives(1200, 0, "b", 1100));
    CHECK(registry_set(0, bytes_of("b"), 1200));
    CHECK(registry_set(0, bytes_of("d"), 1120));
    CHECK(registry_gives(1200, 0, "c", 1150));
    CHECK(registry_gives(1200, 0, "a", 1200));
    CHECK(registry_gives(1200, 0, "b", 1200));
    CHECK(registry_gives(1200, 0, "d", 1120));
    CHECK(registry_gives_none(1200));
    registry_flush(-1);
}

TEST(registry_contains_a_key_once)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), 1100));
    CHECK(registry_set(0, bytes_of("a"), 1300));
    CHECK_EQ(registry_count(), 1);
    CHECK(registry_gives_none(1299));
    CHECK_EQ(registry_next(), 1300);
    CHECK(registry_set(0, bytes_of("a"), 1200));
    /* Into the past and back. */
    CHECK(registry_set(0, bytes_of("a"), 1100));
    CHECK_EQ(registry_count(), 1);
    CHECK_EQ(registry_next(), 1100);
    CHECK(registry_set(0, bytes_of("a"), 1400));
    CHECK_EQ(registry_count(), 1);
    CHECK(registry_gives_none(1399));
    CHECK_EQ(registry_next(), 1400);
    CHECK(registry_gives(1400, 0, "a", 1400));
    CHECK(registry_gives_none(9999));
    registry_flush(-1);
}

TEST(registry_a_key_set_for_a_past_time_comes_at_once)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), 1000));
    CHECK(registry_gives(1000, 0, "a", 1000));
    for (int i = 0; i < 3; i++) {
        CHECK(registry_set(0, bytes_of("b"), 1000));
        CHECK(registry_set(0, bytes_of("c"), 1));
        CHECK(registry_set(0, bytes_of("d"), 1001));
        CHECK_EQ(registry_count(), 3);
        CHECK_EQ(registry_next(), 1);
        CHECK(registry_gives(1000, 0, "b", 1000));
        CHECK(registry_gives(1000, 0, "c", 1));
        CHECK(registry_gives_none(1000));
        CHECK_EQ(registry_next(), 1001);
        CHECK_EQ(registry_count(), 1);
    }
    registry_flush(-1);
}

TEST(registry_a_key_set_for_never_is_set_for_the_end_of_time)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), LAWN_NEVER));
    CHECK_EQ(registry_next(), LAWN_NEVER - 1);
    CHECK(registry_gives_none(LAWN_NEVER - 2));
    CHECK(registry_gives(LAWN_NEVER - 1, 0, "a", LAWN_NEVER - 1));
    CHECK(registry_set(0, bytes_of("a"), LAWN_NEVER));
    CHECK(registry_gives(LAWN_NEVER, 0, "a", LAWN_NEVER - 1));
    CHECK(registry_gives_none(LAWN_NEVER));
    registry_flush(-1);
}

TEST(registry_removed_keys_do_not_come)
{
    registry_begin(1000);
    CHECK(registry_set(3, bytes_of("a"), 1100));
    CHECK(registry_set(3, bytes_of("b"), 1200));
    CHECK(registry_set(3, bytes_of("late"), 900));
    registry_remove(3, bytes_of("a"));
    registry_remove(3, bytes_of("late"));
    registry_remove(3, bytes_of("none"));
    registry_remove(4, bytes_of("b"));
    registry_remove(-1, bytes_of("b"));
    CHECK_EQ(registry_count(), 1);
    CHECK(registry_gives_none(1199));
    CHECK_EQ(registry_next(), 1200);
    registry_remove(3, bytes_of("b"));
    CHECK_EQ(registry_next(), LAWN_NEVER);
    CHECK(registry_gives_none(LAWN_NEVER));
    registry_flush(-1);
}

TEST(registry_names_are_bytes_of_any_content)
{
    static char long_name[REGISTRY_NAME_MAX + 1];
    registry_begin(1000);
    CHECK(registry_set(0, (struct bytes){NULL, 0}, 1100));
    CHECK(registry_set(0, (struct bytes){"a\0b", 3}, 1101));
    CHECK(registry_set(0, (struct bytes){"a\0c", 3}, 1102));
    CHECK(registry_set(0, (struct bytes){long_name, REGISTRY_NAME_MAX}, 1103));
    CHECK(!registry_set(0, (struct bytes){long_name, sizeof(long_name)}, 1104));
    registry_remove(0, (struct bytes){long_name, sizeof(long_name)});
    CHECK_EQ(registry_count(), 4);
    CHECK(registry_gives(1110, 0, "", 1100));
    struct bytes got;
    int db = 0;
    uint64_t when = 0;
    CHECK(registry_pop(1110, &db, &got, &when) && got.size == 3);
    CHECK(memcmp(got.at, "a\0b", 3) == 0);
    CHECK(registry_pop(1110, &db, &got, &when) && got.size == 3);
    CHECK(memcmp(got.at, "a\0c", 3) == 0);
    CHECK(registry_pop(1110, &db, &got, &when));
    CHECK_EQ(got.size, REGISTRY_NAME_MAX);
    CHECK(registry_gives_none(1110));
    CHECK(registry_set(0, (struct bytes){long_name, REGISTRY_NAME_MAX}, 1200));
    registry_remove(0, (struct bytes){long_name, REGISTRY_NAME_MAX});
    CHECK_EQ(registry_count(), 0);
    registry_flush(-1);
}

TEST(registry_keys_of_all_databases_come_in_order)
{
    registry_begin(1000);
    char name[8];
    for (unsigned i = 0; i < 60; i++) {
        unsigned at = i * 37 % 60;
        snprintf(name, sizeof(name), "k%u", at);
        CHECK(registry_set((int)(at * 11 % 7), bytes_of(name), 2000 + at));
    }
    CHECK_EQ(registry_next(), 2000);
    for (unsigned at = 0; at < 60; at++) {
        snprintf(name, sizeof(name), "k%u", at);
        CHECK(registry_gives(at % 2 ? 9000 : 2000 + at, (int)(at * 11 % 7),
                             name, 2000 + at));
    }
    CHECK(registry_gives_none(9000));
    registry_flush(-1);
}

TEST(registry_a_removed_key_does_not_upset_the_order_of_databases)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("gone"), 1100));
    CHECK(registry_set(0, bytes_of("last"), 1300));
    CHECK(registry_set(1, bytes_of("first"), 1200));
    registry_remove(0, bytes_of("gone"));
    CHECK(registry_gives(5000, 1, "first", 1200));
    CHECK(registry_gives(5000, 0, "last", 1300));
    registry_flush(-1);
}

TEST(registry_flush_forgets_one_database_or_all)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), 1100));
    CHECK(registry_set(1, bytes_of("a"), 1050));
    CHECK(registry_set(1, bytes_of("b"), 900));
    CHECK(registry_set(2, bytes_of("a"), 1200));
    registry_flush(1);
    registry_flush(7);
    CHECK_EQ(registry_count(), 2);
    CHECK_EQ(registry_next(), 1100);
    CHECK(registry_gives(1200, 0, "a", 1100));
    CHECK(registry_gives(1200, 2, "a", 1200));
    CHECK(registry_gives_none(1200));
    registry_flush(-1);
    CHECK_EQ(registry_bytes(), 0);
    CHECK(registry_gives_none(LAWN_NEVER));
}

TEST(registry_swapped_databases_swap_their_keys)
{
    registry_begin(1000);
    CHECK(registry_set(1, bytes_of("one"), 1100));
    CHECK(registry_set(5, bytes_of("five"), 1200));
    CHECK(registry_set(3, bytes_of("three"), 1300));
    registry_swap(1, 5);
    registry_swap(8, 3); /* database 8 is empty */
    registry_swap(6, 7);
    registry_swap(1, 1);
    registry_remove(3, bytes_of("three"));
    registry_remove(1, bytes_of("one"));
    CHECK_EQ(registry_count(), 3);
    CHECK(registry_gives(1400, 5, "one", 1100));
    CHECK(registry_gives(1400, 1, "five", 1200));
    CHECK(registry_gives(1400, 8, "three", 1300));
    CHECK(registry_set(0, bytes_of("nought"), 1500));
    registry_swap(0, 4);
    registry_remove(4, bytes_of("nought"));
    CHECK_EQ(registry_count(), 0);
    registry_flush(-1);
}

TEST(registry_large_numbers_of_databases_take_no_memory)
{
    registry_begin(1000);
    CHECK(registry_set(INT32_MAX, bytes_of("a"), 1100));
    CHECK(registry_set(INT32_MAX - 1, bytes_of("a"), 1200));
    CHECK(registry_bytes() < 100000);
    registry_swap(INT32_MAX, 0);
    CHECK(registry_gives(1100, 0, "a", 1100));
    CHECK(registry_gives(1200, INT32_MAX - 1, "a", 1200));
    registry_flush(-1);
}

TEST(registry_a_clock_that_was_set_back_makes_nothing_late)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("old"), 900000));
    CHECK(registry_set(0, bytes_of("older"), 950000));
    CHECK(registry_set(0, bytes_of("oldest"), 1700000));
    CHECK(registry_gives(900000, 0, "old", 900000));
    CHECK(registry_gives_none(900000));
    /* A quarter of an hour back. */
    CHECK(registry_set(0, bytes_of("a"), 10100));
    CHECK(registry_set(0, bytes_of("b"), 10050));
    CHECK(registry_set(1, bytes_of("c"), 10075));
    CHECK_EQ(registry_next(), 10050);
    CHECK(registry_gives_none(10000));
    CHECK(registry_gives(10050, 0, "b", 10050));
    CHECK(registry_gives_none(10050));
    CHECK_EQ(registry_next(), 10075);
    CHECK(registry_gives(10100, 1, "c", 10075));
    CHECK(registry_gives(10100, 0, "a", 10100));
    CHECK(registry_gives_none(10100));
    CHECK_EQ(registry_next(), 950000);
    CHECK(registry_gives(2000000, 0, "older", 950000));
    CHECK(registry_gives(2000000, 0, "oldest", 1700000));
    registry_flush(-1);
}

TEST(registry_sorts_once_after_the_clock_was_set_back)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("old"), 900000));
    CHECK(registry_gives(900000, 0, "old", 900000));
    char name[8];
    for (unsigned i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "k%u", i);
        CHECK(registry_set(0, bytes_of(name), 10000 + i));
    }
    CHECK(registry_gives(10000, 0, "k0", 10000));
    uint64_t calls = memory_calls();
    for (unsigned i = 1; i < 50; i++) {
        snprintf(name, sizeof(name), "k%u", i);
        CHECK(registry_gives_none(10000 + i - 1));
        CHECK(registry_gives(10000 + i, 0, name, 10000 + i));
    }
    /* A store has at least three blocks; a store that shrinks may allocate some
     * smaller ones. */
    CHECK(memory_calls() - calls < 49);
    registry_flush(-1);
}

TEST(registry_without_memory_keeps_the_keys_that_were_set)
{
    uint64_t blocks = memory_blocks();
    bool set = false;
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("a"), 1100));
    for (int db = 0; db < 12; db++) {
        set = false;
        for (uint64_t left = 0; !set; left++) {
            memory_fail_after(left);
            set = registry_set(db, bytes_of("b"), 1200);
            memory_fail_after(UINT64_MAX);
            CHECK_EQ(registry_count(), (uint64_t)db + 1 + set);
            CHECK_EQ(registry_next(), 1100);
        }
    }
    /* From the store of coming keys to that of overdue ones. */
    set = false;
    for (uint64_t left = 0; !set; left++) {
        memory_fail_after(left);
        set = registry_set(0, bytes_of("a"), 900);
        memory_fail_after(UINT64_MAX);
        CHECK_EQ(registry_count(), 13);
        CHECK_EQ(registry_next(), set ? 900 : 1100);
    }
    CHECK(registry_gives(1000, 0, "a", 900));
    for (int db = 0; db < 12; db++) {
        struct bytes name;
        uint64_t when = 0;
        int got = 0;
        CHECK(registry_pop(1200, &got, &name, &when) && when == 1200);
    }
    registry_flush(-1);
    CHECK_EQ(memory_blocks(), blocks);
}

TEST(registry_survives_allocations_that_fail_now_and_then)
{
    uint64_t blocks = memory_blocks();
    registry_begin(1000);
    for (uint64_t round = 0; round < 200; round++) {
        uint64_t count = 0;
        memory_fail_often(3, round);
        for (int db = 0; db < 12; db++) {
            count += registry_set(db, bytes_of("a"), 2000 + round);
            count += registry_set(db, bytes_of("b"), 900);
        }
        memory_fail_often(0, 0);
        CHECK_EQ(registry_count(), count);
        registry_flush(-1);
        CHECK_EQ(memory_blocks(), blocks);
    }
}

TEST(registry_without_memory_to_sort_is_late_and_not_lost)
{
    uint64_t left = 0;
    uint64_t before = memory_blocks();
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("old"), 900000));
    CHECK(registry_gives(900000, 0, "old", 900000));
    for (char name = 0; name < 100; name++) {
        CHECK(registry_set(0, (struct bytes){&name, 1},
                           name % 2 ? 950000 : 10050));
    }
    struct bytes got;
    int db = 0;
    uint64_t when = 0;
    for (bool sorted = false; !sorted; left++) {
        uint64_t blocks = memory_blocks();
        memory_fail_after(left);
        sorted = registry_pop(10100, &db, &got, &when);
        memory_fail_after(UINT64_MAX);
        CHECK_EQ(registry_count(), sorted ? 99 : 100);
        CHECK_EQ(registry_next(), 10050);
        /* A store does some work incrementally, and may free memory. */
        CHECK(sorted || memory_blocks() <= blocks);
    }
    CHECK(left > 5);
    for (int i = 1; i < 50; i++) {
        CHECK(registry_pop(10100, &db, &got, &when) && when == 10050);
    }
    CHECK(registry_gives_none(10100));
    CHECK_EQ(registry_next(), 950000);
    registry_flush(-1);
    CHECK_EQ(memory_blocks(), before);
}

TEST(registry_a_key_set_for_the_beginning_of_time_comes)
{
    registry_begin(1000);
    CHECK(registry_set(0, bytes_of("old"), 900000));
    CHECK(registry_gives(900000, 0, "old", 900000));
    CHECK(registry_set(0, bytes_of("a"), 0));
    CHECK(registry_gives(900000, 0, "a", 0));
    CHECK(registry_set(0, bytes_of("a"), 0));
    CHECK(registry_set(0, bytes_of("b"), 950000));
    CHECK(registry_gives(10, 0, "a", 1)); /* sorted */
    CHECK(registry_gives(950000, 0, "b", 950000));
    registry_flush(-1);
}

/* MODEL: an array of the times. */
#define REGISTRY_MODEL_DBS 5
#define REGISTRY_MODEL_NAMES 40

struct registry_model {
    uint64_t when[REGISTRY_MODEL_DBS][REGISTRY_MODEL_NAMES]; /* 0: not set */
    bool past[REGISTRY_MODEL_DBS][REGISTRY_MODEL_NAMES];
};

/* The earliest of those that were not set for a past time. */
static uint64_t
registry_model_first(const struct registry_model *model, bool all)
{
    uint64_t first = LAWN_NEVER;
    for (int db = 0; db < REGISTRY_MODEL_DBS; db++) {
        for (int i = 0; i < REGISTRY_MODEL_NAMES; i++) {
            uint64_t when = model->when[db][i];
            if (when > 0 && when < first && (all || !model->past[db][i])) {
                first = when;
            }
        }
    }
    return first;
}

static void
registry_model_pop(struct registry_model *model, uint64_t now, bool back)
{
    struct bytes name;
    int db = 0;
    uint64_t when = 0;
    uint64_t first = registry_model_first(model, true);
    if (!registry_pop(now, &db, &name, &when)) {
        CHECK(first > now);
        CHECK(registry_next() > now && registry_next() <= first);
        return;
    }
    CHECK(db >= 0 && db < REGISTRY_MODEL_DBS && name.size == 1);
    unsigned char i = (unsigned char)name.at[0];
    CHECK(i < REGISTRY_MODEL_NAMES);
    CHECK_EQ(model->when[db][i], when);
    CHECK(when <= now);
    if (!back && !model->past[db][i]) {
        CHECK_EQ(when, registry_model_first(model, false));
    }
    model->when[db][i] = 0;
    model->past[db][i] = false;
}

static void
registry_model_swap(struct registry_model *model, int a, int b)
{
    for (int i = 0; i < REGISTRY_MODEL_NAMES; i++) {
        uint64_t when = model->when[a][i];
        bool past = model->past[a][i];
        model->when[a][i] = model->when[b][i];
        model->past[a][i] = model->past[b][i];
        model->when[b][i] = when;
        model->past[b][i] = past;
    }
    registry_swap(a, b);
}

static void
registry_model_run(uint64_t seed, bool back)
{
    static struct registry_model model;
    struct rng rng = {seed};
    uint64_t now = 1000000;
    model = (struct registry_model){0};
    registry_begin(now);
    for (unsigned step = 0; step < 100000; step++) {
        uint64_t dice = rng_below(&rng, 1000);
        int db = (int)rng_below(&rng, REGISTRY_MODEL_DBS);
        char name = (char)rng_below(&rng, REGISTRY_MODEL_NAMES);
        if (dice < 450) {
            uint64_t when =
                now - 20 + rng_below(&rng, 1u << rng_below(&rng, 16));
            CHECK(registry_set(db, (struct bytes){&name, 1}, when));
            model.when[db][(int)name] = when;
            model.past[db][(int)name] = when <= now;
        } else if (dice < 550) {
            registry_remove(db, (struct bytes){&name, 1});
            model.when[db][(int)name] = 0;
            model.past[db][(int)name] = false;
        } else if (dice < 970) {
            if (back && dice % 64 == 0) {
                now -= rng_below(&rng, 500000 < now ? 10000 : 1);
            } else {
                now += rng_below(&rng, 1u << rng_below(&rng, 12));
            }
            for (uint64_t i = rng_below(&rng, 8); i > 0; i--) {
                registry_model_pop(&model, now, back);
            }
        } else if (dice < 990) {
            registry_model_swap(&model, db,
                                (int)rng_below(&rng, REGISTRY_MODEL_DBS));
        } else if (dice < 993) {
            registry_flush(db);
            memset(model.when[db], 0, sizeof(model.when[db]));
            memset(model.past[db], 0, sizeof(model.past[db]));
        }
        uint64_t count = 0;
        for (int i = 0; i < REGISTRY_MODEL_DBS * REGISTRY_MODEL_NAMES; i++) {
            count +=
                model.when[i / REGISTRY_MODEL_NAMES][i % REGISTRY_MODEL_NAMES] >
                0;
        }
        CHECK_EQ(registry_count(), count);
        CHECK(registry_next() <= registry_model_first(&model, true));
        if (count == 0) {
            CHECK_EQ(registry_next(), LAWN_NEVER);
        }
    }
    registry_flush(-1);
}

TEST(registry_behaves_like_an_array)
{
    registry_model_run(1, false);
}

TEST(registry_behaves_like_an_array_with_a_clock_that_jumps)
{
    registry_model_run(2, true);
}
