/* resolution.c - deadlines rounded up, so that timers become due together. */
#include "common.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Checks that the fired timers with these numbers fired in ascending order. */
static void
check_ascending(struct scene *s, unsigned from, unsigned to)
{
    unsigned next = from;

    for (unsigned i = 0; i < s->fired; i++) {
        if (s->id[i] >= from && s->id[i] <= to) {
            CHECK_EQ(s->id[i], next++);
        }
    }
    CHECK_EQ(next, to + 1);
}

/* 20, 21. libuv #4773, #1105: rounding down fires early; 44. rounding bugs of
 * rpc-perf #180, theine-go #64, agrona #73, sozu #1369 */
TEST(deadlines_are_rounded_up_to_the_resolution_never_down)
{
    static const uint64_t resolutions[] = {2, 3, 10, 16, 1000, 1000000};
    struct scene s;

    for (size_t i = 0; i < COUNT(resolutions); i++) {
        struct lawn_options options = {.resolution = resolutions[i]};

        scene_begin_with(&s, &options);
        for (uint64_t now = 0; now < 50; now++) {
            uint64_t ttl = 1 + now * 7 % 40;

            lawn_set_now(s.lawn, now);
            start(&s, (unsigned)now, ttl);
            uint64_t due = lawn_deadline(&s.probe[now].timer);
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
    struct scene s;

    for (uint64_t resolution = 0; resolution < 2; resolution++) {
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

    scene_begin(&s, BLADES);
    lawn_set_resolution(s.lawn, 100);
    for (unsigned i = 0; i < PROBES; i++) {
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
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_set_resolution(s.lawn, 1000);
        for (unsigned i = 0; i < 10; i++) {
            lawn_set_now(s.lawn, i * 7);
            start(&s, i, 50);
        }
        CHECK_EQ(mow(&s, 1000), 10);
        CHECK_FIRED(&s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        scene_end(&s);
    }
}

/* A finer resolution gives earlier deadlines than the last timer of the queue
 * has. */
TEST(a_change_of_resolution_keeps_old_deadlines_and_the_order_of_all)
{
    static const uint64_t changes[][2] = {
        {1, 100}, {100, 1}, {7, 1000}, {1000, 7}, {100, 100}};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(changes); i++) {
            scene_begin(&s, (enum ground)ground);
            lawn_set_resolution(s.lawn, changes[i][0]);
            start(&s, 0, 51);
            start(&s, 1, 51);
            uint64_t old = lawn_deadline(&s.probe[0].timer);
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

    scene_begin(&s, BLADES);
    for (unsigned step = 0; step < 2000; step++) {
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

    for (size_t i = 0; i < COUNT(resolutions); i++) {
        struct lawn_options options = {.resolution = resolutions[i],
                                       .now = UINT64_MAX - 5};

        scene_begin_with(&s, &options);
        start(&s, 0, 1);
        uint64_t due = lawn_deadline(&s.probe[0].timer);
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

/* [P4] A multiple of the old resolution: all are due at the same time. */
TEST(timers_of_one_ttl_keep_their_order_when_the_resolution_becomes_coarser)
{
    static const uint64_t changes[][2] = {{1, 10}, {5, 20}, {10, 10}, {4, 20}};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(changes); i++) {
            scene_begin(&s, (enum ground)ground);
            lawn_set_resolution(s.lawn, changes[i][0]);
            (void)mow(&s, 5);
            for (unsigned id = 0; id < 4; id++) {
                start_at(&s, id, 20);
            }
            start(&s, 10, 15);
            start(&s, 11, 15);
            lawn_set_resolution(s.lawn, changes[i][1]);
            start(&s, 12, 15);
            start(&s, 13, 15);
            CHECK_EQ(mow(&s, 19), 0);
            CHECK_EQ(mow(&s, 20), 8);
            for (unsigned id = 0; id < 4; id++) {
                CHECK_EQ(s.due[id], 20);
            }
            check_ascending(&s, 0, 3);
            check_ascending(&s, 10, 13);
            scene_end(&s);
        }
    }
}

/* A timer of a test that changes the resolution again and again. */
struct aged {
    struct probe probe;
    uint64_t ttl;
    /* number of changes, before its start, to a resolution that is not a
     * multiple of the previous one */
    uint64_t era;
    uint64_t turn; /* number of its start */
};

#define AGED 40u
static struct aged aged[AGED];
static uint64_t aged_state;
static uint64_t aged_era;
static uint64_t aged_turn;
static uint64_t aged_resolution;

static void
change_resolution(struct scene *s, uint64_t resolution)
{
    aged_era += resolution % aged_resolution != 0;
    aged_resolution = resolution;
    lawn_set_resolution(s->lawn, resolution);
}

static void
start_aged(struct scene *s, struct aged *timer, uint64_t ttl)
{
    timer->ttl = ttl;
    timer->era = aged_era;
    timer->turn = ++aged_turn;
    start_probe(s, &timer->probe, ttl);
}

/* [P4] No timer of its TTL, deadline and era that was started before it is
 * still running. Some callbacks change the resolution or start a timer. */
static void
check_aged(struct scene *s, struct probe *probe)
{
    const struct aged *fired = &aged[probe->id];
    uint64_t due = lawn_last_deadline(&probe->timer);

    for (unsigned i = 0; i < AGED; i++) {
        CHECK(!lawn_pending(&aged[i].probe.timer) ||
              aged[i].ttl != fired->ttl || aged[i].era != fired->era ||
              lawn_deadline(&aged[i].probe.timer) != due ||
              aged[i].turn > fired->turn);
    }
    uint64_t r = chance(&aged_state);
    if (r % 16 == 0) {
        change_resolution(s, 1 + (r >> 8) % 12);
    } else if (r % 4 == 1) {
        start_aged(s, &aged[probe->id], fired->ttl);
    }
    s->fired = 0;
}

TEST(timers_keep_their_order_between_any_changes_of_resolution)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        memset(aged, 0, sizeof(aged));
        for (unsigned i = 0; i < AGED; i++) {
            aged[i].probe.id = i;
        }
        aged_state = 17;
        aged_resolution = 1;
        scene_begin(&s, (enum ground)ground);
        s.act = check_aged;
        for (unsigned step = 0; step < 6000; step++) {
            uint64_t r = chance(&aged_state);

            if (r % 32 == 0) {
                change_resolution(&s, 1 + (r >> 8) % 12);
            } else if (r % 4 == 0) {
                uint64_t now = lawn_now(s.lawn) + (r >> 8) % 12;

                (void)mow_some(&s, now, r % 8 == 0 ? SIZE_MAX : 1 + r % 3);
            } else {
                start_aged(&s, &aged[(r >> 8) % AGED], 8 + (r >> 16) % 3 * 9);
            }
        }
        s.act = NULL;
        (void)mow(&s, lawn_now(s.lawn) + 1000);
        CHECK_EQ(running(&s), 0);
        scene_end(&s);
    }
}

/* A blade stays sorted [I1]: until the clock has advanced by the old
 * resolution, timers that are due before the blade's last one are unqueued. */
TEST(blades_are_used_again_once_the_old_resolution_has_passed)
{
    struct lawn_options options = {.blades = 1024, .resolution = 1000};
    struct scene s;

    scene_begin_with(&s, &options);
    start(&s, 0, 500);
    CHECK_EQ(s.probe[0].due, 1000);
    lawn_set_resolution(s.lawn, 1);
    start(&s, 1, 500);
    CHECK_EQ(s.probe[1].due, 500);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 1);
    start(&s, 2, 700); /* another TTL */
    CHECK_EQ(lawn_count_unqueued(s.lawn), 1);
    lawn_set_now(s.lawn, 499);
    start(&s, 3, 500);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 2);
    lawn_set_now(s.lawn, 500);
    start(&s, 4, 500); /* not before timer 0 */
    CHECK_EQ(lawn_count_unqueued(s.lawn), 2);
    CHECK(s.lawn->plain <= 500);
    lawn_set_now(s.lawn, 1000);
    start(&s, 5, 500);
    start(&s, 6, 500);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 2);
    CHECK(s.lawn->plain > 500); /* starts take the fast path again */
    CHECK_EQ(mow(&s, 2000), 7);
    CHECK_FIRED(&s, 1, 2, 3, 0, 4, 5, 6);
    scene_end(&s);
}

/* A later change may extend the time until which starts compare deadlines, but
 * never shortens it. */
TEST(a_blade_stays_sorted_through_several_changes_of_resolution)
{
    struct lawn_options options = {.blades = 1024, .resolution = 1000};
    struct scene s;

    scene_begin_with(&s, &options);
    start(&s, 0, 1);
    CHECK_EQ(s.probe[0].due, 1000);
    lawn_set_resolution(s.lawn, 7);
    lawn_set_resolution(s.lawn, 1);
    lawn_set_resolution(s.lawn, 10);
    lawn_set_now(s.lawn, 100);
    start(&s, 1, 1);
    CHECK_EQ(s.probe[1].due, 110);
    CHECK(lawn_check(s.lawn, stdout));
    lawn_set_now(s.lawn, 998);
    start(&s, 2, 1);
    CHECK_EQ(s.probe[2].due, 1000);
    lawn_set_resolution(s.lawn, 1);
    start(&s, 3, 1);
    CHECK_EQ(s.probe[3].due, 999);
    CHECK(lawn_check(s.lawn, stdout));
    lawn_set_now(s.lawn, 1008);
    start(&s, 4, 1);
    CHECK_EQ(mow(&s, 2000), 5);
    CHECK_EQ(s.id[0], 1);
    CHECK_EQ(s.id[1], 3);
    CHECK_EQ(s.id[4], 4);
    scene_end(&s);
}

#define HOT 8u /* TTLs that occupy all blades */

/* Three of four starts find no blade; the fourth has a hot TTL. Returns how
 * many of the hot starts found no blade either. */
static uint64_t
count_unqueued_hot_starts(bool set_resolution)
{
    struct lawn_options options = {.blades = HOT};
    struct lawn_timer hot[2 * HOT];
    struct lawn_timer rare;
    struct lawn *lawn = lawn_new(&options);
    struct lawn_counters before;
    struct lawn_counters after;
    uint64_t unqueued = 0;

    CHECK(lawn != NULL);
    memset(hot, 0, sizeof(hot));
    memset(&rare, 0, sizeof(rare));
    for (unsigned i = 0; i < HOT; i++) {
        lawn_start(lawn, &hot[i], 1000000 + i);
    }
    for (uint64_t i = 0; i < 40000; i++) {
        lawn_set_now(lawn, i);
        if (i % 4 == 0) {
            /* One of two timers of this TTL is always running: the blade is
             * never empty. */
            unsigned ttl = i / 4 % HOT;
            struct lawn_timer *old = &hot[ttl];
            struct lawn_timer *next = &hot[HOT + ttl];

            if (!lawn_pending(old)) {
                old = next;
                next = &hot[ttl];
            }
            lawn_stats(lawn, &before);
            lawn_start(lawn, next, 1000000 + ttl);
            lawn_stats(lawn, &after);
            unqueued += after.unqueued_starts - before.unqueued_starts;
            CHECK(lawn_stop(lawn, old));
        } else {
            lawn_start(lawn, &rare, 2000000 + i);
            CHECK(lawn_stop(lawn, &rare));
        }
        if (set_resolution && i % 8 == 0) {
            lawn_set_resolution(lawn, 1);
        }
    }
    for (unsigned i = 0; i < 2 * HOT; i++) {
        (void)lawn_stop(lawn, &hot[i]);
    }
    lawn_free(lawn);
    return unqueued;
}

/* module/queue_timeline.c relies on this. */
TEST(setting_the_resolution_keeps_blades_in_use_though_most_starts_miss)
{
    CHECK(count_unqueued_hot_starts(false) > 0);
    CHECK_EQ(count_unqueued_hot_starts(true), 0);
}
