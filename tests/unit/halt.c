/* halt.c - lawn_halt() ends the current mow from a callback, as if the budget
 * had been used up [P2] [P4]. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

/* The timer whose callback halts. */
static unsigned halter;

static void
halt_at_halter(struct scene *s, struct probe *probe)
{
    if (probe->id == halter) {
        lawn_halt(s->lawn);
        CHECK(lawn_check(s->lawn, stdout));
    }
}

static void
halt_always(struct scene *s, struct probe *probe)
{
    (void)probe;
    lawn_halt(s->lawn);
}

TEST(a_halted_mow_fires_no_more_and_the_next_takes_the_rest)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 10; i++) {
            start(&s, i, 50);
        }
        s.act = halt_at_halter;
        halter = 3;
        CHECK_EQ(mow(&s, 60), 4);
        CHECK_FIRED(&s, 0, 1, 2, 3);
        CHECK_EQ(running(&s), 6);
        CHECK_EQ(lawn_next(s.lawn), 50);
        CHECK_EQ(mow(&s, 60), 6);
        CHECK_FIRED(&s, 4, 5, 6, 7, 8, 9);
        CHECK_EQ(mow(&s, 60), 0);
        scene_end(&s);
    }
}

TEST(timers_left_by_a_halted_mow_fire_before_those_due_since)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 3000);
        start(&s, 2, 20);
        start(&s, 3, 20);
        start(&s, 4, 300);
        s.act = halt_at_halter;
        halter = 0;
        CHECK_EQ(mow(&s, 1000), 1);
        CHECK_EQ(lawn_next(s.lawn), 20);
        start(&s, 5, 20); /* counts from the clock: due at 1020 */
        CHECK_EQ(mow(&s, 5000), 5);
        CHECK_FIRED(&s, 0, 2, 3, 4, 5, 1);
        scene_end(&s);
    }
}

TEST(a_mow_that_every_callback_halts_fires_one_timer_at_a_time)
{
    static struct probe probes[200];
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        uint64_t state = 7046029254386353131u;

        memset(probes, 0, sizeof(probes));
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < COUNT(probes); i++) {
            probes[i].id = i;
            start_probe(&s, &probes[i], chance(&state) % 40 * 25);
        }
        s.act = halt_always;
        for (unsigned i = 0; i < COUNT(probes); i++) {
            CHECK_EQ(mow(&s, 1000), 1);
        }
        CHECK_EQ(mow(&s, 1000), 0);
        CHECK_EQ(running(&s), 0);
        scene_end(&s);
    }
}

TEST(a_halted_mow_returns_the_fired_timers_whatever_the_budget)
{
    static const size_t budgets[] = {4, 5, 6, 9, 10, 11, SIZE_MAX};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t b = 0; b < COUNT(budgets); b++) {
            scene_begin(&s, (enum ground)ground);
            for (unsigned i = 0; i < 10; i++) {
                start(&s, i, 1 + i / 3);
            }
            s.act = halt_at_halter;
            halter = 4;
            CHECK_EQ(mow_some(&s, 100, budgets[b]), b == 0 ? 4 : 5);
            CHECK_EQ(running(&s), b == 0 ? 6 : 5);
            scene_end(&s);
        }
    }
}

static void
halt_twice(struct scene *s, struct probe *probe)
{
    halt_at_halter(s, probe);
    halt_at_halter(s, probe);
}

TEST(halting_twice_is_halting_once)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 10);
    start(&s, 2, 10);
    s.act = halt_twice;
    halter = 1;
    CHECK_EQ(mow_some(&s, 10, 100), 2);
    CHECK_EQ(mow_some(&s, 10, 100), 1);
    CHECK_FIRED(&s, 0, 1, 2);
    scene_end(&s);
}

TEST(halting_outside_a_mow_does_nothing)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        lawn_halt(s.lawn); /* before the first mow */
        for (unsigned i = 0; i < 4; i++) {
            start(&s, i, 10 + i);
        }
        lawn_halt(s.lawn);
        CHECK_EQ(mow(&s, 11), 2);
        lawn_halt(s.lawn); /* after a mow */
        CHECK_EQ(lawn_next(s.lawn), 12);
        CHECK_EQ(mow_some(&s, 20, 1), 1);
        lawn_halt(s.lawn); /* with due timers left */
        CHECK_EQ(mow(&s, 20), 1);
        CHECK_FIRED(&s, 0, 1, 2, 3);
        scene_end(&s);
    }
}

static struct lawn *other;

static void
halt_other(struct scene *s, struct probe *probe)
{
    (void)s;
    (void)probe;
    lawn_halt(other);
}

TEST(halting_another_lawn_in_a_callback_does_nothing)
{
    struct scene s;

    scene_begin(&s, BLADES);
    struct scene t;
    scene_begin(&t, BLADES);
    other = t.lawn;
    for (unsigned i = 0; i < 3; i++) {
        start(&s, i, 10);
        start(&t, i, 10);
    }
    s.act = halt_other;
    CHECK_EQ(mow(&s, 10), 3);
    CHECK_EQ(mow(&t, 10), 3);
    scene_end(&s);
    scene_end(&t);
}

static void
halt_and_change(struct scene *s, struct probe *probe)
{
    if (probe->id == halter) {
        lawn_halt(s->lawn);
        start(s, halter, 0);
        start(s, 8, 5);
        CHECK(stop(s, 2));
        start(s, 3, 50);
        CHECK_EQ(lawn_next(s->lawn), 50);
    }
}

TEST(a_callback_that_halts_may_start_and_stop_timers)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 5; i++) {
            start(&s, i, 50);
        }
        s.act = halt_and_change;
        halter = 0;
        CHECK_EQ(mow(&s, 60), 1);
        CHECK_EQ(lawn_next(s.lawn), 50);
        halter = PROBES;
        CHECK_EQ(mow(&s, 60), 2);
        CHECK_FIRED(&s, 0, 1, 4);
        CHECK_EQ(lawn_next(s.lawn), 61);
        CHECK_EQ(mow(&s, 110), 3);
        CHECK_FIRED(&s, 0, 8, 3);
        scene_end(&s);
    }
}

TEST(a_halt_by_the_last_timer_that_is_due_leaves_nothing)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 10);
        start(&s, 2, 500);
        s.act = halt_at_halter;
        halter = 1;
        CHECK_EQ(mow(&s, 20), 2);
        CHECK_EQ(mow(&s, 20), 0);
        CHECK_EQ(lawn_next(s.lawn), 500);
        CHECK_EQ(mow(&s, 499), 0);
        halter = 2;
        CHECK_EQ(mow(&s, 500), 1);
        CHECK_FIRED(&s, 0, 1, 2);
        scene_end(&s);
    }
}

static void
halt_and_start_again(struct scene *s, struct probe *probe)
{
    if (probe->id == halter) {
        start_probe(s, probe, 7);
        CHECK_EQ(probe->due, LAST);
        lawn_halt(s->lawn);
    }
}

TEST(a_mow_of_the_last_tick_can_be_halted)
{
    static const uint64_t nows[] = {LAST, LAWN_NEVER};
    struct scene s;

    for (size_t n = 0; n < COUNT(nows); n++) {
        scene_begin(&s, BLADES);
        for (unsigned i = 0; i < 6; i++) {
            start(&s, i, i % 2 == 0 ? LAWN_NEVER : LAST);
        }
        start(&s, 6, LAST - 1);
        s.act = halt_and_start_again;
        halter = 2;
        CHECK_EQ(mow(&s, nows[n]), 4);
        CHECK_FIRED(&s, 6, 0, 1, 2);
        CHECK_EQ(lawn_next(s.lawn), LAST);
        halter = PROBES;
        CHECK_EQ(mow(&s, nows[n]), 4);
        CHECK_FIRED(&s, 3, 4, 5, 2);
        CHECK_EQ(mow(&s, nows[n]), 0);
        scene_end(&s);
    }
}

/* Eight timers of two TTLs, due at one tick. The new resolution is not a
 * multiple of the old one, so P4 orders only those of one TTL that were started
 * before the change, and those started after it. */
TEST(a_mow_after_a_change_of_resolution_can_be_halted)
{
    struct lawn_options options = {.resolution = 7};
    unsigned place[8] = {0};
    struct scene s;

    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < 6; i++) {
        start(&s, i, i % 2 == 0 ? 21 : 20); /* both due at 21 */
    }
    lawn_set_resolution(s.lawn, 1);
    start(&s, 6, 21);
    start(&s, 7, 21);
    s.act = halt_always;
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(lawn_next(s.lawn), 21);
        CHECK_EQ(mow(&s, 21), 1);
        place[s.id[i]] = i;
    }
    CHECK_EQ(mow(&s, 21), 0);
    CHECK(place[0] < place[2] && place[2] < place[4]);
    CHECK(place[1] < place[3] && place[3] < place[5]);
    CHECK(place[6] < place[7]);
    scene_end(&s);
}

/* The timers of a TTL, by number, in the order of their starts. */
#define TTLS 20u
static unsigned fired_count;
static unsigned turn[TTLS];

static void
halt_now_and_then(struct scene *s, struct probe *probe)
{
    s->fired = 0;
    CHECK_EQ(probe->id / TTLS, turn[probe->id % TTLS]);
    turn[probe->id % TTLS]++;
    if (++fired_count % 777 == 0) {
        lawn_halt(s->lawn);
    }
}

TEST(a_mow_that_drains_many_blades_in_turn_can_be_halted)
{
    enum { MANY = 80000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    memset(turn, 0, sizeof(turn));
    fired_count = 0;
    /* Started over twenty ticks, all due at one. */
    for (unsigned i = 0; i < MANY; i++) {
        unsigned tick = i / (MANY / TTLS);

        if (i % (MANY / TTLS) == 0) {
            CHECK_EQ(mow(&s, tick), 0);
        }
        probes[i].id = i % (MANY / TTLS) * TTLS + tick;
        start_probe(&s, &probes[i], 1000 - tick);
    }
    CHECK_EQ(mow(&s, TTLS), 0); /* the lawn detects very many timers */
    s.act = halt_now_and_then;
    for (unsigned i = 0; i < MANY / 777; i++) {
        CHECK_EQ(mow(&s, 1000), 777);
        CHECK_EQ(running(&s), MANY - (i + 1) * 777);
        CHECK_EQ(lawn_next(s.lawn), 1000);
    }
    CHECK_EQ(mow(&s, 1000), MANY % 777);
    CHECK_EQ(mow(&s, 1000), 0);
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK(stats.ahead > 0);             /* it detected very many timers, */
    CHECK_EQ(stats.unqueued_starts, 0); /* and all were on blades */
    scene_end(&s);
    free(probes);
}
