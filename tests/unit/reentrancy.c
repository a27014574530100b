/* reentrancy.c - what callbacks may do [P5] [P6]. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
start_self_with_its_id_as_ttl(struct scene *s, struct probe *probe)
{
    start_probe(s, probe, probe->id);
}

/* 22. libuv #4245, #4250: a TTL of 0 in a callback must not spin. */
TEST(a_timer_that_restarts_itself_waits_for_a_later_mow)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 10);
        s.act = start_self_with_its_id_as_ttl;
        CHECK_EQ(mow(&s, 1000), 2);
        CHECK_FIRED(&s, 0, 1);
        CHECK_EQ(lawn_next(s.lawn), 1001);
        CHECK_EQ(mow(&s, 1000), 0);
        CHECK_EQ(mow(&s, 1001), 2);
        scene_end(&s);
    }
}

static void
start_nine_others(struct scene *s, struct probe *probe)
{
    if (probe->id == 0) {
        for (unsigned i = 1; i < 10; i++) {
            start(s, i, i - 1);
        }
    }
}

/* 44. ratas 290f5d3: a timer started in a callback was put into the wrong
 * slot */
TEST(a_timer_started_inside_a_callback_waits_for_the_next_mowing)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 7);
        s.act = start_nine_others;
        CHECK_EQ(mow(&s, 250), 1);
        CHECK_EQ(running(&s), 9);
        s.fired = 0;
        CHECK_EQ(mow(&s, 251), 2);
        CHECK_EQ(mow(&s, 255), 4);
        CHECK_EQ(mow(&s, 258), 3);
        CHECK_EQ(s.id[8], 9);
        scene_end(&s);
    }
}

static void
start_three_around_a_turn(struct scene *s, struct probe *probe)
{
    static const uint64_t turns[] = {16, 64, 256, 4096, 65536};

    if (probe->id == 0) {
        for (unsigned i = 0; i < COUNT(turns); i++) {
            start(s, 10 + 3 * i, turns[i] - 1);
            start(s, 11 + 3 * i, turns[i]);
            start(s, 12 + 3 * i, turns[i] + 1);
        }
    }
}

/* 29. folly c53bda788: one revolution early when started during a drain */
TEST(a_timer_started_in_a_callback_for_one_turn_of_a_wheel_is_not_early)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (uint64_t now = 250; now < 260; now++) {
            scene_begin(&s, (enum ground)ground);
            start(&s, 0, 250);
            s.act = start_three_around_a_turn;
            CHECK_EQ(mow(&s, now), 1);
            while (running(&s) > 0) {
                uint64_t next = lawn_next(s.lawn);

                CHECK_EQ(mow(&s, next - 1), 0);
                CHECK_EQ(mow(&s, next), 1);
            }
            scene_end(&s);
        }
    }
}

/* What the callback of the first timer does to timer number victim. */
static unsigned victim;
static unsigned stops;

static void
stop_victim(struct scene *s, struct probe *probe)
{
    (void)probe;
    stops += stop(s, victim);
}

static void
restart_victim(struct scene *s, struct probe *probe)
{
    if (probe->id != victim) {
        start(s, victim, 0);
    }
}

/* 38. tokio PR #3270; 23. libuv bb6fbcf6e; 44. dpvs #756, CHIP #22375; and the
 * published lawn, where stopping a collected timer had no effect. */
TEST(a_timer_stopped_by_an_earlier_callback_of_the_mow_does_not_fire)
{
    static const uint64_t ttls[] = {10, 11, 300}; /* same tick, next, far */
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t t = 0; t < COUNT(ttls); t++) {
            for (victim = 1; victim < 5; victim++) {
                scene_begin(&s, (enum ground)ground);
                start(&s, 0, 10);
                for (unsigned i = 1; i < 5; i++) {
                    start(&s, i, ttls[t]);
                }
                stops = 0;
                s.act = stop_victim;
                CHECK_EQ(mow(&s, 1000), 4);
                CHECK_EQ(stops, 1);
                CHECK(!pending(&s, victim));
                for (unsigned i = 0; i < s.fired; i++) {
                    CHECK(s.id[i] != victim);
                }
                scene_end(&s);
            }
        }
    }
}

TEST(a_due_timer_restarted_by_a_callback_waits_for_a_later_mow)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (victim = 1; victim < 5; victim++) {
            scene_begin(&s, (enum ground)ground);
            for (unsigned i = 0; i < 5; i++) {
                start(&s, i, 10);
            }
            s.act = restart_victim;
            CHECK_EQ(mow(&s, 1000), 4);
            CHECK_EQ(lawn_deadline(&s.probe[victim].timer), 1001);
            s.act = NULL;
            CHECK_EQ(mow(&s, 1001), 1);
            CHECK_EQ(s.id[4], victim);
            scene_end(&s);
        }
    }
}

static void
stop_all(struct scene *s, struct probe *probe)
{
    (void)probe;
    for (unsigned i = 0; i < PROBES; i++) {
        stops += stop(s, i);
    }
}

/* 31. folly 3a06d042d: cancelAll missed timers that were already taken out; 34.
 * folly #397: and left a wrong count. */
TEST(a_callback_may_stop_all_timers_and_no_other_fires)
{
    struct scene s;
    struct lawn_counters stats;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < PROBES; i++) {
            start(&s, i, 10 + i % 3);
        }
        s.act = stop_all;
        stops = 0;
        CHECK_EQ(mow(&s, 100), 1);
        CHECK_EQ(stops, PROBES - 1);
        CHECK_EQ(running(&s), 0);
        lawn_stats(s.lawn, &stats);
        CHECK_EQ(stats.starts, stats.stops + stats.fires + stats.count);
        CHECK_EQ(mow(&s, 1000), 0);
        scene_end(&s);
    }
}

static void
restart_all_with_other_ttls(struct scene *s, struct probe *probe)
{
    for (unsigned i = 0; i < 40; i++) {
        start(s, i, 1 + (i + probe->id) % 40);
    }
}

TEST(a_callback_may_restart_all_timers_on_other_queues)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 40; i++) {
            start(&s, i, 1 + i % 20);
        }
        s.act = restart_all_with_other_ttls;
        for (unsigned i = 1; i < 10; i++) {
            CHECK_EQ(mow(&s, 100 * i), 1);
            CHECK_EQ(running(&s), 40);
        }
        s.act = NULL;
        CHECK_EQ(mow(&s, 1000), 40);
        scene_end(&s);
    }
}

static void
free_self(struct lawn_timer *timer, void *arg)
{
    struct probe *probe = LAWN_CONTAINER(timer, struct probe, timer);

    (*(unsigned *)arg)++;
    memset(probe, 0xA5, sizeof(*probe));
    free(probe);
}

/* The sanitizers report a mow that accesses a timer after its callback. */
TEST(a_callback_may_free_its_own_timer)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        unsigned fired = 0;
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 100; i++) {
            struct probe *probe = calloc(1, sizeof(*probe));

            CHECK(probe != NULL);
            start_probe(&s, probe, 10 + i % 7);
        }
        CHECK_EQ(lawn_mow(s.lawn, 100, SIZE_MAX, free_self, &fired), 100);
        CHECK_EQ(fired, 100);
        CHECK(lawn_check(s.lawn, stdout));
        scene_end(&s);
    }
}

static struct probe *sibling;

static void
stop_and_free_sibling(struct scene *s, struct probe *probe)
{
    (void)probe;
    if (sibling != NULL) {
        CHECK(lawn_stop(s->lawn, &sibling->timer));
        memset(sibling, 0xA5, sizeof(*sibling));
        free(sibling);
        sibling = NULL;
    }
}

TEST(a_callback_may_stop_and_free_a_timer_that_is_due_in_the_same_mow)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        sibling = calloc(1, sizeof(*sibling));
        CHECK(sibling != NULL);
        start(&s, 0, 10);
        start_probe(&s, sibling, 10);
        start(&s, 1, 10);
        s.act = stop_and_free_sibling;
        CHECK_EQ(mow(&s, 10), 2);
        CHECK_FIRED(&s, 0, 1);
        scene_end(&s);
    }
}

static void
ask_everything(struct scene *s, struct probe *probe)
{
    uint64_t next = LAWN_NEVER;

    (void)probe;
    for (unsigned i = 0; i < PROBES; i++) {
        if (lawn_deadline(&s->probe[i].timer) < next) {
            next = lawn_deadline(&s->probe[i].timer);
        }
    }
    struct lawn_counters stats;
    lawn_stats(s->lawn, &stats);
    CHECK_EQ(stats.count, lawn_count(s->lawn));
    CHECK(lawn_check(s->lawn, stdout));
    if (next != LAWN_NEVER) {
        CHECK_EQ(lawn_next(s->lawn), next);
    }
    CHECK(lawn_check(s->lawn, stdout));
}

TEST(a_callback_may_ask_for_the_next_deadline_the_counts_and_a_check)
{
    static const size_t budgets[] = {1, 3, 100};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t b = 0; b < COUNT(budgets); b++) {
            scene_begin(&s, (enum ground)ground);
            for (unsigned i = 0; i < 40; i++) {
                start(&s, i, 100 + i % 20 * 20);
            }
            s.act = ask_everything;
            while (mow_some(&s, 10000, budgets[b]) > 0) {
            }
            CHECK_EQ(s.fired, 40);
            scene_end(&s);
        }
    }
}

/* A blade becomes empty during a mow, and another TTL takes it. */
static void
stop_all_and_start_other_ttls(struct scene *s, struct probe *probe)
{
    if (probe->id >= 40) {
        return;
    }
    for (unsigned i = 0; i < 40; i++) {
        (void)stop(s, i);
    }
    CHECK_EQ(lawn_next(s->lawn), LAWN_NEVER);
    for (unsigned i = 40; i < 60; i++) {
        start(s, i, 1000 + i);
    }
}

TEST(blades_emptied_by_a_callback_may_be_taken_by_other_ttls_at_once)
{
    static const struct lawn_options options[] = {{.blades = 16}, {0}};
    struct scene s;

    for (size_t o = 0; o < COUNT(options); o++) {
        scene_begin_with(&s, &options[o]);
        for (unsigned i = 0; i < 40; i++) {
            lawn_set_now(s.lawn, i);
            start(&s, i, 100 - i);
        }
        s.act = stop_all_and_start_other_ttls;
        CHECK_EQ(mow(&s, 100), 1);
        CHECK_EQ(lawn_count(s.lawn), 20);
        CHECK_EQ(lawn_next(s.lawn), 1140);
        CHECK_EQ(mow(&s, 1139), 0);
        CHECK_EQ(mow(&s, 1159), 20);
        scene_end(&s);
    }
}

static struct scene other;

static void
mow_other_lawn(struct scene *s, struct probe *probe)
{
    (void)s;
    start(&other, probe->id, 1);
    CHECK_EQ(mow(&other, lawn_now(other.lawn) + 1), 1);
}

TEST(a_callback_may_mow_another_lawn)
{
    struct scene s;

    scene_begin(&s, BLADES);
    scene_begin(&other, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 20);
    s.act = mow_other_lawn;
    CHECK_EQ(mow(&s, 20), 2);
    CHECK_EQ(other.fired, 2);
    scene_end(&other);
    scene_end(&s);
}

static void
make_coarse(struct scene *s, struct probe *probe)
{
    lawn_set_resolution(s->lawn, 100);
    start_probe(s, probe, 10);
}

TEST(a_callback_may_change_the_resolution)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 10);
        s.act = make_coarse;
        CHECK_EQ(mow(&s, 10), 2);
        CHECK_EQ(lawn_deadline(&s.probe[0].timer), 100);
        CHECK_EQ(mow(&s, 99), 0);
        CHECK_EQ(mow(&s, 100), 2);
        CHECK_FIRED(&s, 0, 1, 0, 1);
        scene_end(&s);
    }
}

static void
check_arg(struct lawn_timer *timer, void *arg)
{
    CHECK((const void *)timer == *(void **)arg);
}

TEST(the_callback_gets_the_timer_and_the_argument_of_the_mow)
{
    struct scene s;

    scene_begin(&s, BLADES);
    void *expected = &s.probe[5].timer;
    start(&s, 5, 1);
    CHECK_EQ(lawn_mow(s.lawn, 1, 1, check_arg, &expected), 1);
    scene_end(&s);
}

/* Probes 0 to 39 are due at 5000, 40 to 59 at 5008. The first to fire stops
 * some of both groups; each calls lawn_next(). */
static void
stop_some_and_ask(struct scene *s, struct probe *probe)
{
    bool due = false;

    (void)probe;
    if (s->fired == 1) {
        for (unsigned i = 20; i < 25; i++) {
            CHECK(stop(s, i));
            CHECK(stop(s, 2 * i + 5));
        }
    }
    for (unsigned i = 0; i < 40; i++) {
        due = due || pending(s, i);
    }
    CHECK_EQ(lawn_next(s->lawn), due ? 5000 : 5008);
}

/* With very many timers, blades are drained in turn, sixteen at a time. */
TEST(callbacks_may_stop_and_ask_in_a_lawn_of_very_many_timers)
{
    enum { MANY = 70000, TTLS = 20 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    for (size_t budget = 1; budget < 100; budget += 6) {
        memset(probes, 0, MANY * sizeof(*probes));
        scene_begin(&s, BLADES);
        for (unsigned i = 0; i < MANY; i++) {
            start_probe(&s, &probes[i], 1000000);
        }
        for (unsigned i = 0; i < TTLS; i++) {
            CHECK_EQ(mow(&s, 1 + 10 * i), 0);
            start(&s, i, 4999 - 10 * i);
            start(&s, 20 + i, 4999 - 10 * i);
            lawn_set_now(s.lawn, 9 + 10 * i);
            start(&s, 40 + i, 4999 - 10 * i);
        }
        s.act = stop_some_and_ask;
        size_t fired = 0;
        while (lawn_next(s.lawn) <= 5000) {
            size_t count = mow_some(&s, 5000, budget);

            CHECK(count > 0);
            fired += count;
        }
        CHECK_EQ(fired, 2 * TTLS - 5);
        s.act = NULL;
        CHECK_EQ(mow(&s, 6000), TTLS - 5);
        scene_end(&s);
    }
    free(probes);
}
