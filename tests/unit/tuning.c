/* tuning.c - lawns used so that they change their tuning: very many timers of
 * few TTLs, and few timers of very many TTLs. All promises still hold. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
few_ttls(uint64_t r)
{
    return 500 + r % 3 * 250;
}

static uint64_t
many_ttls(uint64_t r)
{
    return 500 + r % 60000;
}

/* The log is too small for all fires. */
static void
forget(struct scene *s, struct probe *probe)
{
    (void)probe;
    s->fired = 0;
}

/* Ids ascend with the starts; the remainder determines the TTL. */
static uint64_t latest[3];

static void
check_turn(struct scene *s, struct probe *probe)
{
    CHECK(probe->id > latest[probe->id % 3]);
    latest[probe->id % 3] = probe->id;
    s->fired = 0;
}

/* About 300,000 starts of three TTLs; the clock moves by step. */
static void
run_three_ttls(uint64_t step, uint64_t resolution)
{
    enum { MANY = 100000, ROUNDS = 3 };
    struct lawn_options options = {.resolution = resolution};
    struct probe *probes = calloc(MANY, sizeof(*probes));
    unsigned id = 0;

    CHECK(probes != NULL);
    memset(latest, 0, sizeof(latest));
    struct scene s;
    scene_begin_with(&s, &options);
    s.act = check_turn;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            if (i % 500 == 0) {
                (void)mow(&s, lawn_now(s.lawn) + step);
            }
            probes[i].id = ++id;
            start_probe(&s, &probes[i], few_ttls(id) * step);
            if (i % 7 == 0) {
                probes[i / 2].due = LAWN_NEVER;
                (void)lawn_stop(s.lawn, &probes[i / 2].timer);
            }
        }
    }
    (void)mow(&s, lawn_now(s.lawn) + 5000 * step);
    CHECK_EQ(lawn_count(s.lawn), 0);
    scene_end(&s);
    free(probes);
}

TEST(a_hundred_thousand_timers_of_three_ttls_fire_in_order)
{
    run_three_ttls(1, 1);
    run_three_ttls(8, 1); /* all deadlines have the same low bits */
    run_three_ttls(1, 10);
}

TEST(many_timers_of_some_hundreds_of_ttls_fire_in_order)
{
    enum { TTLS = 400, MANY = TTLS * 100 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    s.act = forget;
    for (unsigned i = 0; i < 3 * MANY; i++) {
        start_probe(&s, &probes[i % MANY], 600 + i % TTLS * 10);
        if (i % 200 == 0) {
            (void)mow(&s, lawn_now(s.lawn) + 1);
        }
    }
    (void)mow(&s, lawn_now(s.lawn) + 10000);
    CHECK_EQ(lawn_count(s.lawn), 0);
    scene_end(&s);
    free(probes);
}

/* The clock may reach its end in any tuning. */
TEST(a_lawn_of_many_ttls_takes_starts_at_the_last_tick)
{
    enum { MANY = 40000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    s.act = forget;
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 1 + i);
        if (i % 1000 == 0) {
            (void)mow(&s, lawn_now(s.lawn) + 1);
        }
    }
    lawn_set_now(s.lawn, LAST);
    start(&s, 0, 1);
    (void)mow(&s, LAST - 1);
    CHECK_EQ(lawn_count(s.lawn), 1);
    CHECK_EQ(lawn_next(s.lawn), LAST);
    CHECK_EQ(mow(&s, LAST), 1);
    CHECK_EQ(lawn_count(s.lawn), 0);
    scene_end(&s);
    free(probes);
}

TEST(a_hundred_thousand_timers_of_nearly_as_many_ttls_fire_exactly)
{
    enum { MANY = 100000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));
    uint64_t state = 12;

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    s.act = forget;
    for (unsigned i = 0; i < 4 * MANY; i++) {
        /* With a phase of few TTLs in between. */
        uint64_t r = chance(&state);
        uint64_t ttl = i / MANY == 2 ? few_ttls(r) : many_ttls(r);

        start_probe(&s, &probes[r % MANY], ttl);
        if (i % 1000 == 0) {
            uint64_t now = lawn_now(s.lawn) + r % 60;

            (void)mow(&s, now);
            CHECK(lawn_next(s.lawn) > now);
        }
    }
    (void)mow(&s, lawn_now(s.lawn) + 100000);
    CHECK_EQ(lawn_count(s.lawn), 0);
    scene_end(&s);
    free(probes);
}

TEST(a_full_table_keeps_its_blades_while_many_timers_share_them)
{
    enum { TTLS = 18, MANY = TTLS * 100 };
    struct lawn_options options = {.blades = 8};
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, &options);
    s.act = forget;
    for (unsigned i = 0; i < 40 * MANY; i++) {
        start_probe(&s, &probes[i % MANY], 1000 + i % TTLS);
        if (i % 100 == 0) {
            (void)mow(&s, lawn_now(s.lawn) + 1);
        }
    }
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK(stats.live_blades > 12);
    CHECK(stats.unqueued_starts < 40 * MANY / 2);
    (void)mow(&s, lawn_now(s.lawn) + 5000);
    CHECK_EQ(lawn_count(s.lawn), 0);
    scene_end(&s);
    free(probes);
}

/* Some of these starts make the lawn review its tuning. */
TEST(the_smallest_and_the_largest_ttls_are_exact_in_any_tuning)
{
    enum { MANY = 40000 };
    const uint64_t now = LAST - UINT64_C(1000000000);
    struct lawn_options options = {.blades = 8, .now = now};
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    for (unsigned step = 0; step < 2; step++) {
        memset(probes, 0, MANY * sizeof(*probes));
        scene_begin_with(&s, &options);
        for (unsigned i = 0; i < MANY; i++) {
            uint64_t at = lawn_now(s.lawn);
            struct probe extreme = {.id = 1};

            /* First all TTLs are extreme. In the second half, timers that each
             * have a TTL of their own are started as well. */
            if (i > MANY / 2) {
                start_probe(&s, &probes[i], 1000000 + i);
            }
            start_probe(&s, &extreme, 0);
            CHECK_EQ(lawn_deadline(&extreme.timer), at + 1);
            CHECK_EQ(lawn_next(s.lawn), at + 1);
            CHECK(lawn_stop(s.lawn, &extreme.timer));
            start_probe(&s, &extreme, 1);
            CHECK_EQ(lawn_deadline(&extreme.timer), at + 1);
            CHECK(lawn_stop(s.lawn, &extreme.timer));
            start_probe(&s, &extreme, LAWN_NEVER - i % 3);
            CHECK_EQ(lawn_deadline(&extreme.timer), LAST);
            CHECK(lawn_stop(s.lawn, &extreme.timer));
            if (i % 100 == 0) {
                (void)mow(&s, at + step);
            }
        }
        scene_end(&s);
    }
    free(probes);
}

/* With fewer TTLs than blades, whatever the number of timers per TTL. */
TEST(a_mow_that_fires_nothing_is_short_also_with_few_timers_per_ttl)
{
    enum { TTLS = 1000, EACH = 20 };
    struct probe *probes = calloc(TTLS * EACH, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < TTLS * EACH; i++) {
            start_probe(&s, &probes[i], 100000 + i % TTLS);
        }
        start(&s, 0, 1);
        CHECK_EQ(mow(&s, lawn_now(s.lawn) + 1), 1);
    }
    CHECK_EQ(mow(&s, 70000), 0);
    CHECK_EQ(mow(&s, 99000), 0);
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK(stats.touched_idle <= stats.blades);
    scene_end(&s);
    free(probes);
}

/* Started far apart, these timers all get the last tick as their deadline. */
TEST(timers_of_one_ttl_cut_at_the_end_of_time_keep_their_order_all_along)
{
    enum { MANY = 100000, SAMPLES = 40 };
    struct probe *probes = calloc(MANY, sizeof(*probes));
    uint64_t state = 77;

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    s.act = forget;
    for (unsigned i = 0; i < SAMPLES * 10000; i++) {
        uint64_t r = chance(&state);

        if (i % 10000 == 0) {
            start(&s, i / 10000, UINT64_MAX);
        }
        start_probe(&s, &probes[r % MANY],
                    i / 100000 % 2 == 0 ? few_ttls(r) : many_ttls(r));
        if (i % 100 == 0) {
            (void)(i % 5000 == 0 ? mow : mow_unchecked)(&s,
                                                        lawn_now(s.lawn) + 1);
        }
    }
    (void)mow(&s, LAST - 1);
    s.act = NULL;
    s.fired = 0;
    CHECK_EQ(mow(&s, LAST), SAMPLES);
    for (unsigned i = 0; i < SAMPLES; i++) {
        CHECK_EQ(s.id[i], i);
    }
    scene_end(&s);
    free(probes);
}
