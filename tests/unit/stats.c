/* stats.c - the counters, and the cost that they show [P8]. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static void
nothing(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

TEST(every_start_ends_in_a_fire_a_stop_or_a_running_timer)
{
    struct scene s;
    uint64_t starts = 0;
    uint64_t stops = 0;
    uint64_t fires = 0;
    uint64_t state = 5;
    uint64_t now = 0;

    scene_begin(&s, BLADES);
    struct lawn_counters stats;
    for (unsigned step = 0; step < 3000; step++) {
        uint64_t r = chance(&state);
        unsigned id = (unsigned)(r >> 8) % PROBES;

        if (r % 4 < 2) {
            starts += !pending(&s, id);
            start(&s, id, (r >> 20) % 500);
        } else if (r % 4 == 2) {
            stops += stop(&s, id);
        } else {
            now += (r >> 20) % 50;
            fires += mow_some(&s, now, (r >> 40) % 10);
            s.fired = 0;
        }
        lawn_stats(s.lawn, &stats);
        CHECK_EQ(stats.starts, starts);
        CHECK_EQ(stats.stops, stops);
        CHECK_EQ(stats.fires, fires);
        CHECK_EQ(stats.count, starts - stops - fires);
        CHECK_EQ(lawn_count(s.lawn), stats.count);
    }
    scene_end(&s);
}

TEST(live_blades_are_those_that_hold_timers)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_resolution(s.lawn, 1);
    for (unsigned i = 0; i < 30; i++) {
        start(&s, i, 1000 * (1 + i / 10));
    }
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.live_blades, 3);
    CHECK_EQ(mow(&s, 1000), 10);
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.live_blades, 2);
    for (unsigned i = 10; i < 30; i++) {
        CHECK(stop(&s, i));
    }
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.live_blades, 0);
    scene_end(&s);
}

/* 1. picotera/lawn 6498f36: no mow scans timers that are not due. */
TEST(a_mow_with_nothing_due_moves_nothing)
{
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < 60; i++) {
        start(&s, i, 100000 + i);
    }
    start(&s, 60, 10);
    CHECK_EQ(mow(&s, 10), 1);
    CHECK_EQ(mow(&s, 65536), 0);
    struct lawn_counters before;
    lawn_stats(s.lawn, &before);
    for (uint64_t now = 65536; now < 99000; now += 10) {
        CHECK_EQ(mow(&s, now), 0);
    }
    struct lawn_counters after;
    lawn_stats(s.lawn, &after);
    CHECK(after.moved - before.moved <= 2 * 61);
    scene_end(&s);
}

/* However many timers run and however they are restarted, a mow that fires
 * nothing touches at most the blades. */
TEST(a_mow_that_fires_nothing_moves_no_more_entries_than_there_are_blades)
{
    enum { TTLS = 200, EACH = 20 };
    static struct probe probes[TTLS * EACH];
    uint64_t state = 31337;

    memset(probes, 0, sizeof(probes));
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < TTLS * EACH; i++) {
        start_probe(&s, &probes[i], 5000 + i % TTLS * 50);
    }
    for (uint64_t now = 1; now < 30000; now += 1 + chance(&state) % 200) {
        for (unsigned i = 0; i < TTLS * EACH; i++) {
            if (lawn_deadline(&probes[i].timer) < now + 1000) {
                start_probe(&s, &probes[i], 5000 + i % TTLS * 50);
            }
        }
        CHECK_EQ(mow(&s, now), 0);
    }
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK(stats.touched_idle > 0);
    CHECK(stats.touched_idle <= stats.blades);
    scene_end(&s);
}

/* The cost of a jump depends on fires and moves, not on its length [P9]. */
TEST(a_jump_of_time_costs_the_same_at_any_distance)
{
    struct lawn_counters stats;
    struct scene s;

    for (unsigned k = 0; k < 63; k++) {
        scene_begin(&s, BLADES);
        start(&s, 0, UINT64_C(1) << k);
        CHECK_EQ(mow(&s, LAST), 1);
        lawn_stats(s.lawn, &stats);
        CHECK(stats.moved <= 8);
        scene_end(&s);
    }
}

/* All deadlines have a 1 in every digit of the index, so that a mow that jumps
 * to just before them could move entries level by level. */
TEST(a_jump_to_just_before_all_deadlines_moves_each_blade_once)
{
    enum { TTLS = 500 };
    const uint64_t ttl = UINT64_C(0x8102040810204000);
    struct probe *probes = calloc(TTLS, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    start(&s, 0, 1);
    CHECK(stop(&s, 0));
    for (unsigned i = 0; i < TTLS; i++) {
        start_probe(&s, &probes[i], ttl + i);
    }
    CHECK_EQ(mow(&s, ttl - 1), 0);
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.unqueued_starts, 0);
    CHECK(stats.touched_idle <= TTLS + 1);
    scene_end(&s);
    free(probes);
}

/* However many timers are due, a small budget reads few of them, and reads each
 * one ahead only once. */
TEST(a_mow_with_a_small_budget_reads_few_timers_ahead)
{
    enum { MANY = 70000, BUDGET = 4 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    /* All are due at one tick; in the end they have two TTLs. */
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            if (round < 3 || i % 2 == 0) {
                start_probe(&s, &probes[i], 1024 - lawn_now(s.lawn));
            }
        }
        start(&s, 0, 1);
        CHECK_EQ(mow(&s, lawn_now(s.lawn) + 1), 1);
    }
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    uint64_t before = stats.ahead;
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_EQ(lawn_mow(s.lawn, 5000, BUDGET, nothing, NULL), BUDGET);
    }
    lawn_stats(s.lawn, &stats);
    CHECK(stats.ahead > before);
    CHECK(stats.ahead - before <= BUDGET + 8);
    scene_end(&s);
    free(probes);
}
