/* museum.c - bugs of other timer libraries as tests of this one.
 *
 * tests/museum.txt lists all of them by number, with their sources and tests.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>

static void
start_self_at_once(struct scene *s, struct probe *probe)
{
    start_probe(s, probe, 0);
}

/* 15. libevent #1261, #1262: a drain that never ended */
TEST(a_mow_ends_after_as_many_firings_as_timers_were_due)
{
    static const uint64_t nows[] = {10, 1000, UINT64_C(1) << 40};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned id = 0; id < 30; id++) {
            start(&s, id, 1 + id % 10);
        }
        for (size_t i = 0; i < COUNT(nows); i++) {
            s.act = start_self_at_once;
            CHECK_EQ(mow(&s, nows[i]), 30);
            CHECK_EQ(running(&s), 30);
        }
        scene_end(&s);
    }
}

/* 15: with a budget, each mow makes progress. */
TEST(mows_of_a_small_budget_fire_all_due_timers)
{
    struct scene s;
    unsigned mows = 0;

    scene_begin(&s, BLADES);
    for (unsigned id = 0; id < 30; id++) {
        start(&s, id, 1 + id % 10);
    }
    s.act = start_self_at_once;
    while (lawn_next(s.lawn) <= 1000) {
        CHECK_EQ(mow_some(&s, 1000, 7), mows < 4 ? 7 : 2);
        mows++;
    }
    CHECK_EQ(mows, 5);
    scene_end(&s);
}

static uint64_t delay;

static void
start_self_after_delay(struct scene *s, struct probe *probe)
{
    start_probe(s, probe, delay);
}

/* 44. Netty #1959: delays beyond the end of the wheel grew with each
 * revolution. The wheels tested here have 16 and 128 slots. */
TEST(a_timer_that_starts_itself_again_keeps_its_delay_over_many_turns)
{
    static const uint64_t delays[] = {1, 15, 16, 17, 100, 127, 128, 129, 5000};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(delays); i++) {
            delay = delays[i];
            scene_begin(&s, (enum ground)ground);
            s.act = start_self_after_delay;
            start(&s, 0, delay);
            for (uint64_t turn = 1; turn <= 300; turn++) {
                CHECK_EQ(lawn_next(s.lawn), turn * delay);
                CHECK_EQ(mow(&s, turn * delay - 1), 0);
                CHECK_EQ(mow(&s, turn * delay), 1);
            }
            scene_end(&s);
        }
    }
}

/* 40. Go #80760, #51654, the part without threads */
TEST(the_results_of_stop_pending_and_deadline_never_contradict)
{
    bool runs[PROBES];
    uint64_t state = 17;
    uint64_t now = 0;

    memset(runs, 0, sizeof(runs));
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned step = 0; step < 3000; step++) {
        uint64_t r = chance(&state);
        unsigned id = (unsigned)(r >> 8) % PROBES;

        CHECK_EQ(pending(&s, id), runs[id]);
        CHECK_EQ(lawn_deadline(&s.probe[id].timer) != LAWN_NEVER, runs[id]);
        if (r % 3 == 0) {
            CHECK_EQ(stop(&s, id), runs[id]);
            runs[id] = false;
        } else if (r % 3 == 1) {
            start(&s, id, (r >> 20) % 300);
            runs[id] = true;
        } else {
            now += (r >> 20) % 20;
            (void)mow(&s, now);
            for (unsigned i = 0; i < s.fired; i++) {
                runs[s.id[i]] = false;
            }
            s.fired = 0;
        }
    }
    scene_end(&s);
}

static void
stop_self(struct scene *s, struct probe *probe)
{
    CHECK(!lawn_stop(s->lawn, &probe->timer));
    start_probe(s, probe, 5);
    CHECK(lawn_stop(s->lawn, &probe->timer));
    CHECK(!lawn_stop(s->lawn, &probe->timer));
}

/* 44. Netty #14959: a timer stopped in its callback was subtracted twice. */
TEST(a_timer_that_stops_itself_in_its_callback_is_counted_off_once)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 20);
    start(&s, 2, 100);
    s.act = stop_self;
    CHECK_EQ(mow(&s, 20), 2);
    CHECK_EQ(lawn_count(s.lawn), 1);
    CHECK_EQ(lawn_next(s.lawn), 100);
    scene_end(&s);
}

/* 44. UCX #480, #518, PR #530: a wheel that started with a stale now */
TEST(a_lawn_made_late_counts_from_the_time_it_was_given)
{
    struct scene s;

    for (unsigned k = 0; k < 64; k++) {
        struct lawn_options options = {.now = (UINT64_C(1) << k) + 3};

        scene_begin_with(&s, &options);
        start(&s, 0, 5);
        start(&s, 1, 1000);
        CHECK_EQ(lawn_next(s.lawn), options.now + 5);
        CHECK_EQ(mow(&s, options.now + 4), 0);
        CHECK_EQ(mow(&s, options.now + 5), 1);
        CHECK_EQ(mow(&s, options.now + 999), 0);
        CHECK_EQ(mow(&s, options.now + 1000), 1);
        scene_end(&s);
    }
}

/* 44. Netty #5647, brpc #3383: canceled timers that hold memory until due */
TEST(a_million_stopped_timers_leave_nothing_behind)
{
    struct lawn_options options = {.blades = 64, .slot_bits = 4};
    struct scene s;

    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < 1000000; i++) {
        start(&s, i % PROBES, 300000 + i % 100);
        CHECK(stop(&s, i % PROBES));
    }
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.count, 0);
    CHECK_EQ(stats.live_blades, 0);
    CHECK_EQ(stats.bytes, lawn_size(&options));
    CHECK_EQ(mow(&s, 400000), 0);
    lawn_stats(s.lawn, &stats);
    CHECK(stats.moved <= 64 * 5); /* not a million */
    scene_end(&s);
}
