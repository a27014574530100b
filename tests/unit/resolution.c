/* resolution.c - deadlines rounded up, so that timers come due together. */
#include "common.h"

/* 20, 21. libuv #4773, #1105: rounding down fires early; 44. rounding bugs of
 * rpc-perf #180, theine-go #64, agrona #73, sozu #1369 */
/* Of those that fired, the ones with these numbers did in ascending order. */
static void
check_ascending(struct scene *s, unsigned from, unsigned to)
{
    unsigned next = from;
    unsigned i;

    for (i = 0; i < s->fired; i++) {
        if (s->id[i] >= from && s->id[i] <= to) {
            CHECK_EQ(s->id[i], next++);
        }
    }
    CHECK_EQ(next, to + 1);
}

TEST(deadlines_are_rounded_up_to_the_resolution_never_down)
{
    static const uint64_t resolutions[] = {2, 3, 10, 16, 1000, 1000000};
    struct scene s;
    size_t i;
    uint64_t now;

    for (i = 0; i < COUNT(resolutions); i++) {
        struct lawn_options options = {.resolution = resolutions[i]};

        scene_begin_with(&s, &options);
        for (now = 0; now < 50; now++) {
            uint64_t ttl = 1 + now * 7 % 40;
            uint64_t due;

            lawn_set_now(s.lawn, now);
            start(&s, (unsigned)now, ttl);
            due = lawn_deadline(&s.probe[now].timer);
            CHECK(due >= now + ttl);
            CHECK(due - (now + ttl) < resolutions[i]);
            CHECK_EQ(due % resolutions[i], 0);
            start_at(&s, 60, now + ttl);
            CHECK_EQ(lawn_deadline(&s.probe[60].timer), due);
            CHECK(stop(&s, 60));
        }
        CHECK_EQ(mow(&s, 10000000), 50);
        scene_end(&s);
    }
}

TEST(a_resolution_of_zero_or_one_is_exact)
{
    uint64_t resolution;
    struct scene s;

    for (resolution = 0; resolution < 2; resolution++) {
        struct lawn_options options = {.resolution = resolution};

        scene_begin_with(&s, &options);
        start(&s, 0, 13);
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), 13);
        lawn_set_resolution(s.lawn, 10);
        lawn_set_resolution(s.lawn, resolution);
        start(&s, 1, 13);
        CHECK_EQ(lawn_deadline(&s.probe[1].timer), 13);
        CHECK_EQ(mow(&s, 12), 0);
        CHECK_EQ(mow(&s, 13), 2);
        scene_end(&s);
    }
}

TEST(a_coarse_resolution_makes_a_waiting_loop_wake_less_often)
{
    struct scene s;
    unsigned wakes = 0;
    unsigned i;

    scene_begin(&s, BLADES);
    lawn_set_resolution(s.lawn, 100);
    for (i = 0; i < PROBES; i++) {
        start(&s, i, 301 + i);
    }
    while (lawn_next(s.lawn) != LAWN_NEVER) {
        CHECK(mow(&s, lawn_next(s.lawn)) > 0);
        wakes++;
    }
    CHECK_EQ(wakes, 1);
    scene_end(&s);
}

TEST(timers_of_one_ttl_rounded_to_one_deadline_keep_their_order)
{
    struct scene s;
    int ground;
    unsigned i;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_set_resolution(s.lawn, 1000);
        for (i = 0; i < 10; i++) {
            lawn_set_now(s.lawn, i * 7);
            start(&s, i, 50);
        }
        CHECK_EQ(mow(&s, 1000), 10);
        CHECK_FIRED(&s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        scene_end(&s);
    }
}

/* A finer resolution gives earlier deadlines than the queue's last has. */
TEST(a_change_of_resolution_keeps_old_deadlines_and_the_order_of_all)
{
    static const uint64_t changes[][2] = {
        {1, 100}, {100, 1}, {7, 1000}, {1000, 7}, {100, 100}};
    struct scene s;
    int ground;
    size_t i;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (i = 0; i < COUNT(changes); i++) {
            uint64_t old;

            scene_begin(&s, (enum ground)ground);
            lawn_set_resolution(s.lawn, changes[i][0]);
            start(&s, 0, 51);
            start(&s, 1, 51);
            old = lawn_deadline(&s.probe[0].timer);
            lawn_set_resolution(s.lawn, changes[i][1]);
            start(&s, 2, 51);
            start(&s, 3, 51);
            CHECK_EQ(lawn_deadline(&s.probe[0].timer), old);
            CHECK_EQ(lawn_deadline(&s.probe[2].timer),
                     (51 + changes[i][1] - 1) / changes[i][1] * changes[i][1]);
            CHECK_EQ(lawn_next(s.lawn),
                     old < s.probe[2].due ? old : s.probe[2].due);
            CHECK_EQ(mow(&s, 10000), 4);
            scene_end(&s);
        }
    }
}

TEST(the_resolution_may_change_between_any_two_starts)
{
    struct scene s;
    uint64_t state = 99;
    uint64_t now = 0;
    unsigned step;

    scene_begin(&s, BLADES);
    for (step = 0; step < 2000; step++) {
        lawn_set_resolution(s.lawn, chance(&state) % 5 * 10);
        start(&s, (unsigned)(chance(&state) % PROBES), chance(&state) % 50);
        now += chance(&state) % 4;
        (void)mow(&s, now);
        s.fired = 0;
    }
    CHECK(lawn_next(s.lawn) > now);
    scene_end(&s);
}

TEST(a_deadline_that_cannot_be_rounded_up_is_the_last_tick)
{
    static const uint64_t resolutions[] = {2, 1000, UINT64_C(1) << 63, LAST,
                                           UINT64_MAX};
    struct scene s;
    size_t i;

    for (i = 0; i < COUNT(resolutions); i++) {
        struct lawn_options options = {.resolution = resolutions[i],
                                       .now = UINT64_MAX - 5};
        uint64_t due;

        scene_begin_with(&s, &options);
        start(&s, 0, 1);
        due = lawn_deadline(&s.probe[0].timer);
        CHECK(due == LAST || due % resolutions[i] == 0);
        start(&s, 1, UINT64_MAX);
        CHECK_EQ(lawn_deadline(&s.probe[1].timer), LAST);
        CHECK_EQ(mow(&s, LAST), 2);
        scene_end(&s);
    }
}

TEST(a_ttl_of_zero_is_rounded_up_to_the_next_multiple)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_resolution(s.lawn, 10);
    lawn_set_now(s.lawn, 20);
    start(&s, 0, 0);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 30);
    lawn_set_now(s.lawn, 29);
    start(&s, 1, 0);
    CHECK_EQ(lawn_deadline(&s.probe[1].timer), 30);
    CHECK_EQ(mow(&s, 30), 2);
    scene_end(&s);
}

/* Those started before the change stand on a blade that is closed to those
 * started after it; both are due at the same time. */
TEST(timers_of_one_ttl_keep_their_order_across_a_change_of_resolution)
{
    static const uint64_t changes[][2] = {{10, 1}, {10, 4}, {1, 10}, {5, 20}};
    struct scene s;
    size_t i;
    unsigned id;

    for (i = 0; i < COUNT(changes); i++) {
        struct lawn_options options = {.resolution = changes[i][0]};

        scene_begin_with(&s, &options);
        (void)mow(&s, 5);
        for (id = 0; id < 4; id++) {
            start_at(&s, id, 20);
        }
        start(&s, 10, 15);
        start(&s, 11, 15);
        lawn_set_resolution(s.lawn, changes[i][1]);
        start(&s, 12, 15);
        start(&s, 13, 15);
        CHECK_EQ(mow(&s, 19), 0);
        CHECK_EQ(mow(&s, 20), 8);
        for (id = 0; id < 4; id++) {
            CHECK_EQ(s.due[id], 20);
        }
        check_ascending(&s, 0, 3);
        check_ascending(&s, 10, 13);
        scene_end(&s);
    }
}
