/* clock.c - the clock moved forwards, backwards and far, and its two ends [P1]
 * [P9]. */
#include "common.h"

TEST(the_clock_begins_at_the_time_in_the_options)
{
    static const uint64_t times[] = {0, 1, 1u << 30, LAST - 1, LAST};
    struct scene s;

    for (size_t i = 0; i < COUNT(times); i++) {
        struct lawn_options options = {.now = times[i]};

        scene_begin_with(&s, &options);
        CHECK_EQ(lawn_now(s.lawn), times[i]);
        scene_end(&s);
    }
}

TEST(never_is_no_time_the_clock_stops_one_tick_before)
{
    struct lawn_options options = {.now = LAWN_NEVER};
    struct scene s;

    scene_begin_with(&s, &options);
    CHECK_EQ(lawn_now(s.lawn), LAST);
    scene_end(&s);
    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, LAWN_NEVER);
    CHECK_EQ(lawn_now(s.lawn), LAST);
    scene_end(&s);
    scene_begin(&s, BLADES);
    CHECK_EQ(mow(&s, LAWN_NEVER), 0);
    CHECK_EQ(lawn_now(s.lawn), LAST);
    scene_end(&s);
}

TEST(a_mow_that_fires_nothing_still_moves_the_clock)
{
    struct scene s;

    scene_begin(&s, BLADES);
    CHECK_EQ(mow(&s, 40), 0);
    CHECK_EQ(lawn_now(s.lawn), 40);
    start(&s, 0, 10);
    CHECK_EQ(mow(&s, 45), 0);
    CHECK_EQ(lawn_now(s.lawn), 45);
    scene_end(&s);
}

/* 28. libuv #1068, joyent/libuv #678: to which now does start add the TTL? */
TEST(a_start_counts_from_the_newest_time_set)
{
    struct scene s;

    scene_begin(&s, BLADES);
    CHECK_EQ(mow(&s, 100), 0);
    start(&s, 0, 10);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 110);
    lawn_set_now(s.lawn, 105);
    start(&s, 1, 10);
    CHECK_EQ(lawn_deadline(&s.probe[1].timer), 115);
    scene_end(&s);
}

TEST(setting_the_clock_fires_nothing_and_keeps_deadlines)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    lawn_set_now(s.lawn, 50);
    CHECK_NONE_FIRED(&s);
    CHECK(pending(&s, 0));
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 10);
    CHECK_EQ(lawn_next(s.lawn), 10);
    CHECK_EQ(mow(&s, 50), 1);
    scene_end(&s);
}

/* 4. lawn2_set_now backwards stranded a due timer behind a later one. */
TEST(a_clock_set_back_is_ignored_and_no_timer_is_stranded)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_set_now(s.lawn, 100);
        start(&s, 0, 10);
        lawn_set_now(s.lawn, 0);
        CHECK_EQ(lawn_now(s.lawn), 100);
        start(&s, 1, 10);
        CHECK_EQ(lawn_deadline(&s.probe[1].timer), 110);
        CHECK_EQ(mow(&s, 109), 0);
        CHECK_EQ(mow(&s, 110), 2);
        CHECK_FIRED(&s, 0, 1);
        scene_end(&s);
    }
}

/* 39. tokio #2473, #684 */
TEST(a_mow_at_the_same_time_or_an_earlier_one_fires_nothing_twice)
{
    static const uint64_t times[] = {20, 20, 19, 0, 20};
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 20);
    start(&s, 1, 30);
    CHECK_EQ(mow(&s, 20), 1);
    for (size_t i = 0; i < COUNT(times); i++) {
        CHECK_EQ(mow(&s, times[i]), 0);
        CHECK_EQ(lawn_now(s.lawn), 20);
    }
    CHECK_FIRED(&s, 0);
    scene_end(&s);
}

TEST(a_mow_with_an_earlier_time_fires_only_timers_due_by_that_time)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 6; i++) {
            start(&s, i, 100 * (i + 1));
        }
        lawn_set_now(s.lawn, 10000);
        CHECK_EQ(mow(&s, 99), 0);
        CHECK_EQ(mow(&s, 350), 3);
        CHECK_EQ(lawn_now(s.lawn), 10000);
        CHECK_EQ(lawn_next(s.lawn), 400);
        start(&s, 9, 1); /* counts from the clock, not from 350 */
        CHECK_EQ(mow(&s, 10000), 3);
        CHECK_FIRED(&s, 0, 1, 2, 3, 4, 5);
        CHECK_EQ(mow(&s, 10001), 1);
        CHECK_FIRED(&s, 9);
        scene_end(&s);
    }
}

static void
set_clock_to_1000_and_start_9(struct scene *s, struct probe *probe)
{
    (void)probe;
    lawn_set_now(s->lawn, 1000);
    start(s, 9, 10);
}

/* 33. folly 6ea3ec050, b57596185: two different nows within one pass */
TEST(a_clock_moved_by_a_callback_does_not_widen_the_mow_under_way)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 20);
        start(&s, 2, 30);
        s.act = set_clock_to_1000_and_start_9;
        CHECK_EQ(mow(&s, 20), 2);
        CHECK_FIRED(&s, 0, 1);
        s.act = NULL;
        CHECK_EQ(lawn_deadline(&s.probe[9].timer), 1010);
        CHECK_EQ(lawn_now(s.lawn), 1000);
        CHECK_EQ(mow(&s, 1009), 1);
        CHECK_EQ(mow(&s, 1010), 1);
        CHECK_FIRED(&s, 2, 9);
        scene_end(&s);
    }
}

/* 3. lawn2: now + ttl wrapped; 25. libuv 9b619396d; 32. folly 055fce5f7 */
TEST(a_ttl_too_long_for_the_clock_is_due_at_the_last_tick)
{
    static const uint64_t nows[] = {0, 1, 1u << 20, UINT64_C(1) << 63};
    static const uint64_t ttls[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(nows); i++) {
            for (size_t j = 0; j < COUNT(ttls); j++) {
                uint64_t due = j == 2 && nows[i] == 0 ? LAST - 1 : LAST;

                scene_begin(&s, (enum ground)ground);
                lawn_set_now(s.lawn, nows[i]);
                start(&s, 0, ttls[j]);
                CHECK_EQ(lawn_deadline(&s.probe[0].timer), due);
                CHECK_EQ(mow(&s, nows[i] + 1), 0);
                (void)mow(&s, due - 1);
                CHECK(pending(&s, 0));
                (void)mow(&s, due);
                CHECK(!pending(&s, 0));
                scene_end(&s);
            }
        }
    }
}

TEST(absolute_deadlines_up_to_the_last_tick_are_kept)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start_at(&s, 0, LAST - 1);
    start_at(&s, 1, LAST);
    start_at(&s, 2, LAWN_NEVER);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), LAST - 1);
    CHECK_EQ(lawn_deadline(&s.probe[1].timer), LAST);
    CHECK_EQ(lawn_deadline(&s.probe[2].timer), LAST);
    CHECK_EQ(mow(&s, LAST - 2), 0);
    CHECK_EQ(mow(&s, LAST - 1), 1);
    CHECK_EQ(mow(&s, LAST), 2);
    scene_end(&s);
}

TEST(a_jump_over_all_of_time_fires_everything_in_order)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 62; i++) {
            start(&s, i, UINT64_C(1) << i);
        }
        CHECK_EQ(mow(&s, LAWN_NEVER), 62 + s.crowded);
        for (unsigned i = 0; i < 62; i++) {
            CHECK_EQ(s.id[i], i);
        }
        CHECK_EQ(lawn_count(s.lawn), 0);
        scene_end(&s);
    }
}

static void
start_again(struct scene *s, struct probe *probe)
{
    if (probe->id < PROBES) {
        start_probe(s, probe, 1);
    }
}

TEST(a_timer_started_by_a_callback_at_the_last_tick_waits_for_the_next_mow)
{
    static const uint64_t ends[] = {LAST, LAWN_NEVER};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, UINT64_MAX);
        s.act = start_again;
        CHECK_EQ(mow(&s, LAST), 1 + s.crowded);
        s.crowded = 0;
        for (unsigned i = 0; i < 6; i++) {
            CHECK_EQ(running(&s), 1);
            CHECK_EQ(lawn_deadline(&s.probe[0].timer), LAST);
            if (i >= 2 && i < 4) {
                CHECK_EQ(lawn_next(s.lawn), LAST);
            }
            CHECK_EQ(mow(&s, ends[i % 2]), 1);
        }
        s.act = NULL;
        CHECK_EQ(mow(&s, LAST), 1);
        CHECK_EQ(mow(&s, LAST), 0);
        scene_end(&s);
    }
}

TEST(timers_started_at_the_last_tick_can_be_stopped_and_counted)
{
    struct lawn_options options = {.now = LAST};
    struct scene s;

    scene_begin_with(&s, &options);
    start(&s, 0, 1);
    start(&s, 1, 1000);
    start_at(&s, 2, 5);
    CHECK_EQ(lawn_count(s.lawn), 3);
    CHECK_EQ(lawn_next(s.lawn), LAST);
    CHECK(stop(&s, 1));
    CHECK_EQ(mow(&s, LAST - 1), 0);
    CHECK_EQ(mow(&s, LAST), 2);
    CHECK_FIRED(&s, 0, 2);
    CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
    scene_end(&s);
}

/* 16. libevent PR #46 */
TEST(a_short_timer_started_after_a_long_stall_is_the_next)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 1u << 30);
        CHECK_EQ(mow(&s, 10), 0);
        lawn_set_now(s.lawn, 1u << 20);
        start(&s, 1, 5);
        CHECK_EQ(lawn_next(s.lawn), (1u << 20) + 5);
        CHECK_EQ(mow(&s, (1u << 20) + 5), 1);
        CHECK_FIRED(&s, 1);
        scene_end(&s);
    }
}
