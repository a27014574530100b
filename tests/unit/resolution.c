/* resolution.c - deadlines rounded up, so that timers become due together. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

/* 20, 21. libuv #4773, #1105: rounding down fires early; 44. rounding bugs of
 * rpc-perf #180, theine-go #64, agrona #73, sozu #1369 */
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

/* Timers started before the change are on a blade that is closed to those
 * started after it; both are due at the same time. */
TEST(timers_of_one_ttl_keep_their_order_across_a_change_of_resolution)
{
    static const uint64_t changes[][2] = {{10, 1}, {10, 4}, {1, 10}, {5, 20}};
    struct scene s;

    for (size_t i = 0; i < COUNT(changes); i++) {
        struct lawn_options options = {.resolution = changes[i][0]};

        scene_begin_with(&s, &options);
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

/* Timers split by a change of the resolution, all due at one tick. */

#define PARTED 500u /* before and after the change, each with its own TTL */
#define PARTED_DUE 40002u

/* Starts old timers, which are then on closed blades, and new ones with higher
 * numbers. Moving to a lower level of the index reverses their order; how often
 * that happens depends on the mows in between. */
static struct probe *
start_parted(struct scene *s, unsigned turns)
{
    static const uint64_t pauses[] = {33000, PARTED_DUE - 3};

    struct lawn_options options = {.blades = 2 * PARTED, .resolution = 2};
    struct probe *probes = calloc((size_t)2 * PARTED, sizeof(*probes));

    CHECK(probes != NULL);
    scene_begin_with(s, &options);
    for (unsigned i = 0; i < 2 * PARTED; i++) {
        if (i == PARTED) {
            lawn_set_resolution(s->lawn, 3);
        }
        lawn_set_now(s->lawn, i + 1);
        probes[i].id = i;
        start_probe(s, &probes[i], PARTED_DUE - lawn_now(s->lawn));
        CHECK_EQ(lawn_deadline(&probes[i].timer), PARTED_DUE);
    }
    for (unsigned i = 0; i < turns; i++) {
        start_at(s, 0, pauses[i]);
        CHECK_EQ(mow(s, pauses[i]), 1);
    }
    s->fired = 0;
    return probes;
}

static void
end_parted(struct scene *s, struct probe *probes)
{
    CHECK_EQ(running(s), 0);
    scene_end(s);
    free(probes);
}

static uint64_t
looked(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats.looked;
}

/* [P8] The entries are not searched again for each closed one. */
TEST(a_mow_looks_at_each_entry_once_after_a_change_of_resolution)
{
    for (unsigned turns = 0; turns < 3; turns++) {
        struct scene s;
        struct probe *probes = start_parted(&s, turns);

        CHECK_EQ(mow(&s, PARTED_DUE), 2 * PARTED);
        for (unsigned i = 0; i < PARTED; i++) {
            CHECK(s.id[i] < PARTED);
        }
        CHECK(looked(&s) <= 2 * 2 * PARTED);
        end_parted(&s, probes);
    }
}

TEST(mows_of_one_timer_look_at_few_entries_after_a_change_of_resolution)
{
    for (unsigned turns = 0; turns < 3; turns++) {
        struct scene s;
        struct probe *probes = start_parted(&s, turns);

        for (unsigned i = 0; i < 2 * PARTED; i++) {
            CHECK_EQ(mow_some(&s, PARTED_DUE, 1), 1);
            CHECK((s.id[i] < PARTED) == (i < PARTED));
        }
        CHECK(looked(&s) <= 3 * 2 * PARTED);
        end_parted(&s, probes);
    }
}

/* What callbacks, and calls between mows, may do to the entries of the tick:
 * each second closed one fires before all that are not closed. */

static struct probe *parted;

static void
change_parted(struct scene *s, struct probe *probe)
{
    unsigned id = probe->id;

    switch (id % 5) {
    case 0: /* the last entry examined, and with it the position */
        (void)lawn_stop(s->lawn, &parted[PARTED + id % 7].timer);
        break;
    case 1:
        (void)lawn_next(s->lawn);
        break;
    case 2:
        (void)lawn_stop(s->lawn, &parted[2 * PARTED - 1 - id].timer);
        (void)lawn_next(s->lawn);
        break;
    case 3: /* a new entry, but not for this tick */
        start_probe(s, probe, 5 + id);
        break;
    default:
        break;
    }
}

TEST(closed_blades_fire_first_whatever_callbacks_change)
{
    for (size_t budget = 1; budget < 4; budget++) {
        struct scene s;
        unsigned old = 0;

        parted = start_parted(&s, (unsigned)budget % 3);
        s.act = change_parted;
        while (old < PARTED) {
            unsigned from = s.fired;

            CHECK(mow_some(&s, PARTED_DUE, budget) == budget);
            for (; from < s.fired && old < PARTED; from++) {
                CHECK(s.id[from] < PARTED); /* [P4] */
                old++;
            }
            /* Overdue, on an open blade: its entry comes before all others. */
            if (s.fired % 3 == 0 && !lawn_pending(&s.probe[1].timer)) {
                lawn_start_as(s.lawn, &s.probe[1].timer, 77, PARTED_DUE - 1);
                s.probe[1].due = PARTED_DUE;
            }
        }
        s.act = NULL;
        (void)mow(&s, PARTED_DUE + 4 * PARTED);
        end_parted(&s, parted);
    }
}

/* Changes the resolution in a callback, which closes the open blades as
 * well. */
static void
close_again(struct scene *s, struct probe *probe)
{
    if (probe->id == PARTED / 2) {
        lawn_set_resolution(s->lawn, 2);
        lawn_set_resolution(s->lawn, 3);
    }
}

TEST(the_resolution_may_change_in_a_mow_of_closed_blades)
{
    for (size_t budget = 1; budget <= 2 * PARTED; budget += 2 * PARTED - 1) {
        struct scene s;
        struct probe *probes = start_parted(&s, 2);
        unsigned fired = 0;

        s.act = close_again;
        while (fired < 2 * PARTED) {
            size_t now = mow_some(&s, PARTED_DUE, budget);

            CHECK(now > 0);
            fired += (unsigned)now;
        }
        CHECK(looked(&s) <= 4 * 2 * PARTED + 2 * 2 * PARTED);
        end_parted(&s, probes);
    }
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

/* Four timers: OLD and YOUNG have the same TTL and deadline, with a change of
 * the resolution between their starts. */
enum { FIRST, OLD, YOUNG, AGAIN, FOUR };

struct four {
    struct lawn *lawn;
    struct lawn_timer timers[FOUR];
    unsigned fired[FOUR + 1];
    unsigned count;
};

static void
note_fired(struct lawn_timer *timer, void *arg)
{
    struct four *four = arg;
    unsigned number = (unsigned)(timer - four->timers);

    CHECK(four->count < COUNT(four->fired));
    four->fired[four->count++] = number;
    if (number == AGAIN && four->count == 2) { /* after FIRST */
        lawn_start(four->lawn, timer, 36);
    }
}

/* [P4 I11] The blade of AGAIN is passed over at one tick, and precedes the
 * closed blade at a later one. */
TEST(an_entry_passed_over_at_an_earlier_tick_hides_no_closed_blade)
{
    struct lawn_options options = {.resolution = 2, .slot_bits = 4};
    struct four four = {.lawn = lawn_new(&options)};

    lawn_start(four.lawn, &four.timers[FIRST], 72);
    lawn_set_now(four.lawn, 52);
    lawn_start(four.lawn, &four.timers[OLD], 72);
    lawn_set_resolution(four.lawn, 1);
    lawn_start(four.lawn, &four.timers[YOUNG], 72);
    lawn_start(four.lawn, &four.timers[AGAIN], 36);
    CHECK_EQ(lawn_deadline(&four.timers[OLD]),
             lawn_deadline(&four.timers[YOUNG]));
    unsigned old = 0;
    unsigned young = 0;
    for (uint64_t now = 53; now <= 124; now++) {
        lawn_mow(four.lawn, now, SIZE_MAX, note_fired, &four);
        CHECK(lawn_check(four.lawn, stdout));
    }
    CHECK_EQ(four.count, 5);
    for (unsigned i = 0; i < four.count; i++) {
        old = four.fired[i] == OLD ? i : old;
        young = four.fired[i] == YOUNG ? i : young;
    }
    CHECK(old < young);
    lawn_free(four.lawn);
}
