/* folly.c - the edge cases that the titles of folly's HHWheelTimerTest list.
 *
 *   FireOnce, SlowFast, ReschedTest, Level1, Stress, DestroyTimeoutSet,
 *   CancelTimeout, AtMostEveryN, SlowLoop, GetTimeRemaining, IntrusivePtr,
 *   prematureTimeout                       here
 *   TestSchedulingWithinCallback, lambda   reentrancy.c
 *   Cancel, cancelAll                      start_stop.c, reentrancy.c
 *   NegativeTimeout                        start_stop.c, clock.c
 *   DeleteWheelInTimeout                   misuse.c: not allowed, and named
 *   DefaultTimeout, lambdaThrows           a lawn has neither
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

/* FireOnce */
TEST(timers_are_not_fired_again_by_a_second_run)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 1, 5);
    start(&s, 2, 5);
    start(&s, 3, 10);
    CHECK_EQ(running(&s), 3);
    CHECK_EQ(mow(&s, 10), 3);
    CHECK_EQ(running(&s), 0);
    CHECK_EQ(mow(&s, 100), 0);
    CHECK_FIRED(&s, 1, 2, 3);
    scene_end(&s);
}

/* SlowFast */
TEST(a_short_timer_started_after_a_long_one_is_not_held_up_by_it)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 1, 10);
        start(&s, 2, 5);
        CHECK_EQ(mow(&s, 5), 1);
        CHECK_FIRED(&s, 2);
        CHECK_EQ(mow(&s, 10), 1);
        CHECK_FIRED(&s, 1);
        scene_end(&s);
    }
}

static void
start_2_from_1(struct scene *s, struct probe *probe)
{
    if (probe->id == 1) {
        start(s, 2, 255);
    }
}

/* ReschedTest: started in a callback, just within one revolution of the
 * wheel */
TEST(a_timer_started_by_another_at_the_far_end_of_a_level_is_on_time)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 1, 128);
        s.act = start_2_from_1;
        CHECK_EQ(mow(&s, 128), 1);
        CHECK_EQ(mow(&s, 128 + 254), 0);
        CHECK_EQ(mow(&s, 128 + 255), 1);
        scene_end(&s);
    }
}

/* Level1 */
TEST(timers_a_little_beyond_one_turn_of_the_lowest_level_keep_their_distance)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        CHECK_EQ(mow(&s, 190), 0);
        start(&s, 1, 605);
        start(&s, 2, 300);
        CHECK_EQ(mow(&s, 489), 0);
        CHECK_EQ(mow(&s, 490), 1);
        CHECK_EQ(mow(&s, 794), 0);
        CHECK_EQ(mow(&s, 795), 1);
        CHECK_FIRED(&s, 2, 1);
        scene_end(&s);
    }
}

static void
stop_3_and_5(struct scene *s, struct probe *probe)
{
    if (probe->id == 2) {
        CHECK(stop(s, 3));
        CHECK(stop(s, 5));
    }
}

/* CancelTimeout: a timer of the same tick, and one of a later tick */
TEST(a_callback_stops_one_timer_of_its_tick_and_one_of_a_later_tick)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 1, 20);
        start(&s, 2, 20);
        start(&s, 3, 20);
        start(&s, 4, 20);
        start(&s, 5, 30);
        start(&s, 6, 30);
        s.act = stop_3_and_5;
        CHECK_EQ(mow(&s, 40), 4);
        CHECK_FIRED(&s, 1, 2, 4, 6);
        scene_end(&s);
    }
}

/* DestroyTimeoutSet: the lawn is freed after the last callbacks have stopped
 * the remaining timers. The timers keep no reference to it. */
TEST(timers_stopped_by_callbacks_outlive_their_lawn)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 2, 5);
    start(&s, 3, 8);
    start(&s, 5, 10);
    s.act = stop_3_and_5;
    CHECK_EQ(mow(&s, 9), 1);
    scene_end(&s);
    CHECK(!pending(&s, 2) && !pending(&s, 3) && !pending(&s, 5));
}

static uint64_t previous;

static void
start_self_at_least_6_later(struct scene *s, struct probe *probe)
{
    CHECK(previous == 0 || s->mowing >= previous + 6);
    previous = s->mowing;
    start_probe(s, probe, 6);
}

/* AtMostEveryN: after late mows, a repeated timer does not catch up in a
 * burst. */
TEST(a_timer_restarted_by_its_callback_fires_at_most_every_ttl)
{
    struct scene s;
    uint64_t state = 3;
    uint64_t now = 0;

    scene_begin(&s, BLADES);
    previous = 0;
    start(&s, 0, 6);
    s.act = start_self_at_least_6_later;
    while (now < 3000) {
        now += chance(&state) % 10;
        (void)mow(&s, now);
    }
    CHECK(s.fired > 200);
    scene_end(&s);
}

/* SlowLoop: a late mow fires once, and the next TTL counts from the mow. */
TEST(a_late_mow_fires_once_and_the_next_start_counts_from_it)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 1);
    CHECK_EQ(mow(&s, 10), 1);
    start(&s, 0, 5);
    CHECK_EQ(mow(&s, 14), 0);
    CHECK_EQ(mow(&s, 10000), 1);
    start(&s, 0, 1);
    CHECK_EQ(mow(&s, 10000), 0);
    CHECK_EQ(mow(&s, 10001), 1);
    scene_end(&s);
}

/* GetTimeRemaining */
TEST(the_time_remaining_is_the_deadline_minus_now_until_it_fires)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 100);
    for (uint64_t now = 0; now < 100; now++) {
        CHECK_EQ(mow(&s, now), 0);
        CHECK_EQ(lawn_deadline(&s.probe[0].timer) - lawn_now(s.lawn),
                 100 - now);
    }
    CHECK_EQ(mow(&s, 100), 1);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), LAWN_NEVER);
    scene_end(&s);
}

/* prematureTimeout: fills the slots of a level while time moves unevenly. */
TEST(no_timer_is_early_when_starts_and_mows_interleave_across_a_turn)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (uint64_t i = 0; i < 1000; i++) {
            start(&s, (unsigned)(i % PROBES), 255 + i % 3);
            (void)mow(&s, i * 5 + (i % 7 == 0 ? 4 : 0)); /* [P1] in common.c */
            lawn_set_now(s.lawn, i * 5 + 4);
        }
        CHECK(s.fired > 900);
        scene_end(&s);
    }
}

/* IntrusivePtr: an object with two timers, freed by the one that fires first */
struct session {
    struct lawn *lawn;
    struct lawn_timer idle;
    struct lawn_timer life;
};

static void
end_session(struct lawn_timer *timer, void *arg)
{
    size_t offset = *(const size_t *)arg;
    struct session *session =
        (struct session *)(void *)((char *)timer - offset);

    (void)lawn_stop(session->lawn, &session->idle);
    (void)lawn_stop(session->lawn, &session->life);
    free(session);
}

TEST(an_object_of_two_timers_is_freed_by_the_first_to_fire)
{
    size_t idle = offsetof(struct session, idle);
    size_t life = offsetof(struct session, life);
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < 50; i++) {
        struct session *session = calloc(1, sizeof(*session));

        CHECK(session != NULL);
        session->lawn = s.lawn;
        lawn_start(s.lawn, &session->idle, i < 25 ? 10 : 2000);
        lawn_start(s.lawn, &session->life, 1000);
    }
    CHECK_EQ(lawn_mow(s.lawn, 500, SIZE_MAX, end_session, &idle), 25);
    CHECK_EQ(lawn_count(s.lawn), 50);
    CHECK_EQ(lawn_mow(s.lawn, 5000, SIZE_MAX, end_session, &life), 25);
    CHECK_EQ(lawn_count(s.lawn), 0);
    CHECK(lawn_check(s.lawn, stdout));
    scene_end(&s);
}

static void
start_some_stop_some(struct scene *s, struct probe *probe)
{
    static uint64_t state = 424242;
    uint64_t r = chance(&state);

    if (r % 3 == 0) {
        start_probe(s, probe, 1 + (r >> 8) % 700);
    } else if (r % 3 == 1) {
        (void)stop(s, (unsigned)(r >> 20) % PROBES);
    } else {
        start(s, (unsigned)(r >> 20) % PROBES, (r >> 30) % 300);
    }
}

/* Stress */
TEST(many_timers_that_start_and_stop_each_other_all_come_to_an_end)
{
    struct scene s;
    struct lawn_counters stats;
    int ground = 0;
    uint64_t now = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        s.act = start_some_stop_some;
        for (now = 0; now < 5000; now += 3) {
            start(&s, (unsigned)(now % PROBES), 1 + now % 400);
            (void)mow(&s, now);
            s.fired = 0;
        }
        s.act = NULL;
        (void)mow(&s, now + 1000);
        CHECK_EQ(running(&s), 0);
        for (unsigned i = 0; i < PROBES; i++) {
            CHECK(!pending(&s, i));
        }
        lawn_stats(s.lawn, &stats);
        CHECK_EQ(stats.starts, stats.stops + stats.fires + s.crowded);
        scene_end(&s);
    }
}
