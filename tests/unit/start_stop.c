/* start_stop.c - starting, restarting and stopping timers [P1] [P3]. */
#include "common.h"

#include <stdio.h>
#include <string.h>

TEST(a_timer_takes_24_bytes)
{
    CHECK_EQ(sizeof(struct lawn_timer), 24);
}

TEST(all_zero_bytes_are_an_idle_timer)
{
    struct lawn_timer timer;

    memset(&timer, 0, sizeof(timer));
    CHECK(!lawn_pending(&timer));
    CHECK_EQ(lawn_deadline(&timer), LAWN_NEVER);
}

TEST(a_started_timer_runs_and_knows_its_deadline)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_set_now(s.lawn, 1000);
        start(&s, 0, 30);
        CHECK(pending(&s, 0));
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), 1030);
        CHECK_EQ(running(&s), 1);
        scene_end(&s);
    }
}

TEST(a_timer_fires_at_its_deadline_and_not_a_tick_before)
{
    static const uint64_t ttls[] = {1,   2,    15,    16,    17,      255,
                                    256, 1000, 65535, 65536, 1u << 30};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(ttls); i++) {
            scene_begin(&s, (enum ground)ground);
            lawn_set_now(s.lawn, 77);
            start(&s, 0, ttls[i]);
            CHECK_EQ(mow(&s, 77 + ttls[i] - 1), 0);
            CHECK_EQ(mow(&s, 77 + ttls[i]), 1);
            CHECK_FIRED(&s, 0);
            scene_end(&s);
        }
    }
}

TEST(a_timer_fires_once_and_is_then_idle)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 5);
    CHECK_EQ(mow(&s, 5), 1);
    CHECK(!pending(&s, 0));
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), LAWN_NEVER);
    CHECK_EQ(running(&s), 0);
    CHECK_EQ(mow(&s, 5), 0);
    CHECK_EQ(mow(&s, 1000), 0);
    CHECK_FIRED(&s, 0);
    scene_end(&s);
}

TEST(a_ttl_of_zero_counts_as_one)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_set_now(s.lawn, 10);
        start(&s, 0, 0);
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), 11);
        CHECK_EQ(mow(&s, 10), 0);
        CHECK_EQ(mow(&s, 11), 1);
        scene_end(&s);
    }
}

TEST(a_timer_can_be_started_with_an_absolute_deadline)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, 100);
    start_at(&s, 0, 150);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 150);
    CHECK_EQ(mow(&s, 149), 0);
    CHECK_EQ(mow(&s, 150), 1);
    scene_end(&s);
}

/* 41. Linux 66e4b63624fc: nor does such a start move the clock back. 44. Netty
 * #1953 */
TEST(a_deadline_that_is_not_after_now_counts_as_the_next_tick)
{
    static const uint64_t past[] = {0, 1, 99, 100, 101};
    struct scene s;

    for (size_t i = 0; i < COUNT(past); i++) {
        scene_begin(&s, BLADES);
        lawn_set_now(s.lawn, 100);
        start(&s, 1, 1000);
        start_at(&s, 0, past[i]);
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), 101);
        CHECK_EQ(lawn_next(s.lawn), 101);
        CHECK_EQ(lawn_now(s.lawn), 100);
        CHECK_EQ(mow(&s, 100), 0);
        CHECK_EQ(mow(&s, 101), 1);
        scene_end(&s);
    }
}

TEST(starting_a_running_timer_gives_it_the_new_deadline_alone)
{
    static const uint64_t ttls[] = {5, 10, 20}; /* earlier, equal, later */
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(ttls); i++) {
            scene_begin(&s, (enum ground)ground);
            start(&s, 0, 10);
            start(&s, 0, ttls[i]);
            CHECK_EQ(running(&s), 1);
            CHECK_EQ(lawn_deadline(&s.probe[0].timer), ttls[i]);
            CHECK_EQ(mow(&s, ttls[i] - 1), 0);
            CHECK_EQ(mow(&s, 1000), 1);
            CHECK_EQ(s.due[0], ttls[i]);
            scene_end(&s);
        }
    }
}

TEST(a_timer_restarted_again_and_again_never_fires)
{
    struct scene s;

    scene_begin(&s, BLADES);
    for (uint64_t now = 0; now < 1000; now += 9) {
        CHECK_EQ(mow(&s, now), 0);
        start(&s, 0, 10);
    }
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 999 + 10);
    scene_end(&s);
}

/* 44. wahern/timeout bafeec9: a stopped timer is completely idle. */
TEST(a_stopped_timer_does_not_fire)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 10);
        CHECK(stop(&s, 0));
        CHECK(!pending(&s, 0));
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), LAWN_NEVER);
        CHECK_EQ(running(&s), 1);
        CHECK_EQ(mow(&s, 100), 1);
        CHECK_FIRED(&s, 1);
        scene_end(&s);
    }
}

TEST(stopping_an_idle_timer_returns_false_and_changes_nothing)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 1, 10);
    CHECK(!stop(&s, 0)); /* never started */
    start(&s, 0, 5);
    CHECK(stop(&s, 0));
    CHECK(!stop(&s, 0)); /* stopped before */
    start(&s, 0, 5);
    CHECK_EQ(mow(&s, 5), 1);
    CHECK(!stop(&s, 0)); /* fired before */
    CHECK_EQ(running(&s), 1);
    CHECK(lawn_check(s.lawn, stdout));
    CHECK_EQ(mow(&s, 10), 1);
    CHECK_FIRED(&s, 0, 1);
    scene_end(&s);
}

TEST(a_stopped_or_fired_timer_can_be_started_again)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    CHECK(stop(&s, 0));
    start(&s, 0, 20);
    CHECK_EQ(mow(&s, 20), 1);
    start(&s, 0, 20);
    CHECK_EQ(mow(&s, 39), 0);
    CHECK_EQ(mow(&s, 40), 1);
    scene_end(&s);
}

/* 24. libuv e002340e5, d4f904b0e, #1439: removal broke the structure. */
TEST(any_timer_of_a_queue_can_be_stopped_and_the_others_stay_in_order)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (unsigned many = 1; many <= 5; many++) {
            for (unsigned gone = 0; gone < many; gone++) {
                scene_begin(&s, (enum ground)ground);
                for (unsigned i = 0; i < many; i++) {
                    start(&s, i, 10);
                }
                CHECK(stop(&s, gone));
                CHECK(lawn_check(s.lawn, stdout));
                CHECK_EQ(mow(&s, 10), many - 1);
                for (unsigned i = 0; i + 1 < many; i++) {
                    CHECK_EQ(s.id[i], i < gone ? i : i + 1);
                }
                scene_end(&s);
            }
        }
    }
}

/* 13. libevent 8c36acd0: moves between queues of one, two and many timers. */
TEST(a_restart_with_another_ttl_moves_the_timer_between_queues)
{
    static const unsigned sizes[] = {0, 1, 2, 9}; /* without the moved timer */
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t from = 0; from < COUNT(sizes); from++) {
            for (size_t to = 0; to < COUNT(sizes); to++) {
                scene_begin(&s, (enum ground)ground);
                start(&s, 0, 50);
                for (unsigned i = 0; i < sizes[from]; i++) {
                    start(&s, 10 + i, 50);
                }
                for (unsigned i = 0; i < sizes[to]; i++) {
                    start(&s, 20 + i, 70);
                }
                start(&s, 0, 70);
                CHECK(lawn_check(s.lawn, stdout));
                CHECK_EQ(mow(&s, 69), sizes[from]);
                CHECK_EQ(mow(&s, 70), sizes[to] + 1);
                CHECK_EQ(s.id[s.fired - 1], 0);
                scene_end(&s);
            }
        }
    }
}

TEST(lawns_are_independent_of_each_other)
{
    struct scene a;

    scene_begin(&a, BLADES);
    struct scene b;
    scene_begin(&b, BLADES);
    start(&a, 0, 10);
    start(&b, 1, 10);
    CHECK_EQ(mow(&a, 50), 1);
    CHECK_EQ(lawn_now(b.lawn), 0);
    CHECK_EQ(lawn_next(b.lawn), 10);
    CHECK_EQ(mow(&b, 9), 0);
    CHECK_EQ(mow(&b, 10), 1);
    scene_end(&a);
    scene_end(&b);
}

TEST(a_timer_may_move_to_another_lawn_once_it_is_idle)
{
    struct scene a;

    scene_begin(&a, BLADES);
    struct scene b;
    scene_begin(&b, BLADES);
    start(&a, 0, 10);
    CHECK(stop(&a, 0));
    start_probe(&b, &a.probe[0], 10);
    CHECK_EQ(mow(&a, 10), 0);
    CHECK_EQ(mow(&b, 10), 1);
    scene_end(&a);
    scene_end(&b);
}
