/* fitting.c - how a lawn tunes itself to its TTLs, observed through its
 * counters. Only the cost depends on the tuning [P8]. */
#include "common.h"
#include "internal.h"

/* Only with the default thresholds: see src/core/tuning.c. */
#if !defined LAWN_TUNING_PERIOD

#include <stdlib.h>
#include <string.h>

static struct lawn_counters
stats_of(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats;
}

/* Moves the clock. The lawn then reviews its tuning if there were enough starts
 * since the last review. */
static void
review_tuning(struct scene *s)
{
    start(s, 0, 1);
    CHECK(mow(s, lawn_now(s->lawn) + 1) >= 1);
}

/* Returns whether the table of blades is in use. If it is, a TTL gets a blade
 * after at most eight starts without one. */
static bool
uses_blades(struct scene *s, uint64_t ttl)
{
    uint64_t before = stats_of(s).unqueued_starts;

    for (unsigned i = 0; i < 16; i++) {
        start(s, 1, ttl);
    }
    CHECK(stop(s, 1));
    return stats_of(s).unqueued_starts - before < 16;
}

TEST(few_ttls_of_very_many_timers_get_several_blades_each)
{
    enum { MANY = 70000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 1);
    review_tuning(&s);
    for (unsigned i = 0; i < MANY; i++) {
        if (i % 1000 == 0) {
            lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        }
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 8);
    scene_end(&s);
    free(probes);
}

TEST(few_timers_of_few_ttls_have_one_blade_per_ttl)
{
    static struct probe probes[100];
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < 20000; i++) {
        start_probe(&s, &probes[i % COUNT(probes)], 5000);
    }
    review_tuning(&s);
    for (unsigned i = 0; i < COUNT(probes); i++) {
        lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 1);
    scene_end(&s);
}

/* Three of four starts have a new TTL. */
TEST(a_table_that_most_starts_miss_is_given_up_and_tried_again_later)
{
    enum { MANY = 16400 };
    struct lawn_options options = {.blades = 8};
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, &options);
    CHECK(uses_blades(&s, 777));
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], i % 4 == 0 ? 500 : 1000 + i);
    }
    review_tuning(&s);
    CHECK(!uses_blades(&s, 777));
    for (unsigned i = 0; i < 4096; i++) {
        start(&s, 2, 500);
    }
    review_tuning(&s);
    CHECK(uses_blades(&s, 500));
    scene_end(&s);
    free(probes);
}

/* The lawn was made for that many TTLs. */
TEST(blades_with_one_timer_each_are_given_up)
{
    enum { TTLS = 1024 };
    struct probe *probes = calloc(TTLS, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < TTLS; i++) {
        start_probe(&s, &probes[i], 10000 + i);
    }
    CHECK(stats_of(&s).live_blades > TTLS / 10 * 9);
    CHECK(uses_blades(&s, 10000));
    review_tuning(&s);
    CHECK(!uses_blades(&s, 10000));
    scene_end(&s);
    free(probes);
}

/* How a test moves the clock: only with mows, or ahead of them. */
static void
mow_on(struct scene *s, uint64_t now)
{
    CHECK_EQ(mow(s, now), 0);
}

static void
set_and_mow(struct scene *s, uint64_t now)
{
    lawn_set_now(s->lawn, now);
    CHECK_EQ(mow(s, now), 0);
}

typedef void pass_fn(struct scene *s, uint64_t now);
static pass_fn *const passes[] = {mow_on, set_and_mow};

/* Starts or restarts probes, each with a new TTL, one tick every 64 starts. */
static void
start_odd(struct scene *s, struct probe *probes, unsigned timers, unsigned many,
          pass_fn *pass)
{
    static uint64_t odd = 1000000;

    for (unsigned i = 0; i < many; i++) {
        start_probe(s, &probes[i % timers], ++odd);
        if (i % 64 == 0) {
            pass(s, lawn_now(s->lawn) + 1);
        }
    }
}

/* Nothing fires in these lawns. */
TEST(ever_new_ttls_leave_the_blades_alone_after_some_thousand_starts)
{
    enum { FIRST = 4096, MORE = 2000 };
    /* First no start is a restart; then all but 50 starts are restarts. */
    const unsigned timers[] = {FIRST + MORE, 50};
    struct probe *probes = calloc(FIRST + MORE, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    for (unsigned i = 0; i < 2 * COUNT(timers); i++) {
        pass_fn *pass = passes[i / COUNT(timers)];
        unsigned running = timers[i % COUNT(timers)];

        memset(probes, 0, (FIRST + MORE) * sizeof(*probes));
        scene_begin(&s, BLADES);
        start_odd(&s, probes, running, FIRST, pass);
        struct lawn_counters before = stats_of(&s);
        start_odd(&s, probes + (running > FIRST ? FIRST : 0),
                  running > FIRST ? MORE : running, MORE, pass);
        struct lawn_counters after = stats_of(&s);
        CHECK_EQ(after.unqueued_starts - before.unqueued_starts, MORE);
        CHECK(after.live_blades <= before.live_blades);
        scene_end(&s);
    }
    free(probes);
}

TEST(ever_new_ttls_leave_the_blades_alone_after_a_long_quiet_time_too)
{
    enum { QUIET = 20000, TIMERS = 50, FIRST = 4096, MORE = 2000 };
    static struct probe probes[TIMERS];

    memset(probes, 0, sizeof(probes));
    struct scene s;
    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < QUIET; i++) {
        start(&s, 1, 5000000);
        CHECK(stop(&s, 1));
        if (i % 64 == 0) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    start_odd(&s, probes, TIMERS, FIRST, mow_on);
    uint64_t before = stats_of(&s).unqueued_starts;
    start_odd(&s, probes, TIMERS, MORE, mow_on);
    CHECK_EQ(stats_of(&s).unqueued_starts - before, MORE);
    scene_end(&s);
}

/* A lawn whose options have no number of TTLs begins without blades. */
TEST(a_new_lawn_uses_blades_as_soon_as_it_sees_ttls_again)
{
    enum { MANY = 1000 };
    const unsigned ttls[] = {1, 20, 100};
    const unsigned unqueued[] = {32, 100, MANY};

    for (unsigned i = 0; i < COUNT(ttls); i++) {
        static struct probe probes[MANY];
        struct scene s;

        memset(probes, 0, sizeof(probes));
        scene_begin_with(&s, NULL);
        for (unsigned j = 0; j < MANY; j++) {
            start_probe(&s, &probes[j], 100000 + j * 7919 % ttls[i]);
            if (j % 32 == 31) {
                mow_on(&s, lawn_now(s.lawn) + 1);
            }
        }
        CHECK(stats_of(&s).unqueued_starts <= unqueued[i]);
        for (unsigned j = 0; j < 10 * MANY; j++) {
            start_probe(&s, &probes[j % MANY], 100000 + j * 7919 % ttls[i]);
            if (j % 32 == 31) {
                mow_on(&s, lawn_now(s.lawn) + 1);
            }
        }
        CHECK_EQ(stats_of(&s).live_blades, ttls[i]);
        CHECK(uses_blades(&s, 777));
        scene_end(&s);
    }
}

TEST(a_new_lawn_of_ever_new_ttls_claims_no_blades)
{
    enum { MANY = 20000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, NULL);
    start_odd(&s, probes, MANY, MANY, mow_on);
    CHECK_EQ(stats_of(&s).live_blades, 0);
    CHECK_EQ(stats_of(&s).unqueued_starts, MANY);
    scene_end(&s);
    free(probes);
}

TEST(a_lawn_forgets_the_number_of_ttls_that_it_had)
{
    enum { MOST = 1000, ODD = 300000, MORE = 800000 };
    static struct probe probes[MOST];
    const unsigned timers[] = {MOST, 20};

    for (unsigned i = 0; i < COUNT(timers); i++) {
        struct scene s;

        memset(probes, 0, sizeof(probes));
        scene_begin_with(&s, NULL);
        start_odd(&s, probes, timers[i], ODD, mow_on);
        CHECK_EQ(stats_of(&s).live_blades, 0);
        for (unsigned j = 0; j < MORE; j++) {
            start_probe(&s, &probes[j % timers[i]], 5000000 + j % 7);
            if (j % 64 == 63) {
                mow_on(&s, lawn_now(s.lawn) + 1);
            }
        }
        CHECK_EQ(stats_of(&s).live_blades, 7);
        scene_end(&s);
    }
}

/* Seven of eight starts are restarts of timers that share a few TTLs; a lawn
 * that uses its blades does not count them. The other timers each have a TTL of
 * their own, and most find no free blade. So the lawn gives up its blades,
 * although they pay, and soon uses them again: each time for twice as long. */
TEST(a_lawn_at_the_border_of_two_modes_changes_less_and_less_often)
{
    enum { TTLS = 8, SHARED = 2000, OWN = 2000, STARTS = 300000, STEP = 64 };
    static struct probe probes[SHARED + OWN];
    struct lawn_options options = {.blades = 8};
    unsigned begin = 0; /* the start at which the blades were used again */
    unsigned last = 0;  /* for how many starts they were used before */
    unsigned changes = 0;
    struct scene s;

    memset(probes, 0, sizeof(probes));
    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < STARTS; i++) {
        struct probe *probe = &probes[i % SHARED];
        uint64_t ttl = 5000000 + i % SHARED % TTLS;

        if (i >= SHARED && i % 8 == 0) {
            probe = &probes[SHARED + i / 8 % OWN];
            ttl = 6000000 + i;
            (void)lawn_stop(s.lawn, &probe->timer);
        }
        start_probe(&s, probe, ttl);
        if (i % STEP != 0) {
            continue;
        }
        bool bypassed = s.lawn->tuning.bypass;
        lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        if (!bypassed && s.lawn->tuning.bypass) {
            if (begin > 0) {
                CHECK(i - begin >= 2 * last);
                last = i - begin;
            }
            changes++;
        } else if (bypassed && !s.lawn->tuning.bypass) {
            begin = i;
        }
    }
    CHECK_EQ(changes, 5);
    CHECK(last >= 100000);
    scene_end(&s);
}

/* Each timer is stopped before it is started again. */
TEST(a_lawn_with_one_timer_per_ttl_soon_gives_up_its_blades)
{
    enum { TIMERS = 300, STARTS = 1000000 };
    static struct probe probes[TIMERS];
    struct scene s;

    memset(probes, 0, sizeof(probes));
    scene_begin_with(&s, NULL);
    for (unsigned i = 0; i < STARTS; i++) {
        struct probe *probe = &probes[i * 7 % TIMERS];

        (void)lawn_stop(s.lawn, &probe->timer);
        start_probe(&s, probe, 5000000 + i * 7 % TIMERS);
        if (i % 64 == 63) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    CHECK(stats_of(&s).unqueued_starts > STARTS / 10 * 7);
    scene_end(&s);
}

/* They are due at the last tick, and never use a blade. */
TEST(timers_that_are_never_due_do_not_change_the_tuning)
{
    struct scene s;

    scene_begin_with(&s, NULL);
    for (unsigned i = 0; i < 100000; i++) {
        start(&s, i % PROBES, LAWN_NEVER - i % 2);
        if (i % 64 == 63) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    CHECK(s.lawn->tuning.bypass);
    CHECK_EQ(s.lawn->tuning.hits, 0);
    scene_end(&s);
}

TEST(a_few_timers_of_a_ttl_each_stay_unqueued)
{
    struct scene s;

    scene_begin_with(&s, NULL);
    for (unsigned i = 0; i < 20000; i++) {
        start(&s, i % 60, 100000 + i % 60);
        if (i % 64 == 63) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    CHECK_EQ(stats_of(&s).unqueued_starts, 20000);
    scene_end(&s);
}

/* With more than 512 TTLs, 512 running timers per TTL are needed. The estimated
 * number of TTLs falls over time, so the number of starts is limited. */
TEST(many_ttls_use_blades_only_if_timers_are_very_many)
{
    enum { TTLS = 1000, FEW = 20000, MANY = 520000 };
    const unsigned timers[] = {FEW, MANY};

    for (unsigned i = 0; i < COUNT(timers); i++) {
        struct probe *probes = calloc(timers[i], sizeof(*probes));

        CHECK(probes != NULL);
        struct scene s;
        scene_begin_with(&s, NULL);
        for (unsigned j = 0; j < 2 * timers[i]; j++) {
            lawn_start(s.lawn, &probes[j % timers[i]].timer,
                       5000000 + j * UINT64_C(7919) % TTLS);
            if (j % 64 == 0) {
                lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
            }
        }
        CHECK_EQ(s.lawn->tuning.bypass, timers[i] == FEW);
        CHECK((stats_of(&s).live_blades == 0) == (timers[i] == FEW));
        scene_end(&s);
        free(probes);
    }
}

/* Timers that never become due are running timers, but not samples. So there
 * are enough timers before the lawn has seen the first of the TTLs. The number
 * of the further starts is limited, because the estimate of the TTLs falls. */
TEST(a_lawn_of_very_many_timers_uses_blades_also_for_hundreds_of_ttls)
{
    enum { TTLS = 1000, MANY = 520000, STARTS = 50000 };
    struct lawn_timer *timers = calloc(MANY + TTLS, sizeof(*timers));
    uint64_t state = 1;
    uint64_t ttls = 0;

    CHECK(timers != NULL);
    struct scene s;
    scene_begin_with(&s, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        lawn_start(s.lawn, &timers[i], LAWN_NEVER);
    }
    for (unsigned i = 0; i < STARTS && s.lawn->tuning.bypass; i++) {
        uint64_t r = chance(&state) % TTLS;

        lawn_start(s.lawn, &timers[MANY + r], 5000000 + r * 1000);
        ttls = s.lawn->tuning.ttls;
        if (i % 64 == 0) {
            lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        }
    }
    CHECK(ttls > 512);
    CHECK(!s.lawn->tuning.bypass);
    CHECK(uses_blades(&s, 777));
    scene_end(&s);
    free(timers);
}

TEST(a_lawn_that_bypasses_its_blades_samples_fewer_and_fewer_starts)
{
    enum { MANY = 4096 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, NULL);
    for (unsigned spacing = 1; spacing < 32; spacing *= 2) {
        CHECK_EQ(s.lawn->tuning.spacing, spacing);
        start_odd(&s, probes, MANY, 32 * spacing, mow_on);
    }
    CHECK_EQ(s.lawn->tuning.spacing, 32);
    start_odd(&s, probes, MANY, MANY, mow_on);
    CHECK_EQ(s.lawn->tuning.spacing, 32);
    scene_end(&s);
    free(probes);
}

/* However long that takes: timers of one TTL and one deadline stay in one
 * list. */
TEST(a_lawn_without_blades_uses_none_until_the_clock_moves)
{
    enum { ODD = 4096, MORE = 300000 };
    struct probe *probes = calloc(ODD, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, NULL);
    start_odd(&s, probes, ODD, ODD, mow_on);
    uint64_t before = stats_of(&s).unqueued_starts;
    for (unsigned i = 0; i < MORE; i++) {
        start(&s, 1, 777);
        CHECK(stop(&s, 1));
        if (i % 1000 == 0) {
            mow_on(&s, lawn_now(s.lawn));
        }
    }
    CHECK_EQ(stats_of(&s).unqueued_starts - before, MORE);
    mow_on(&s, lawn_now(s.lawn) + 1);
    CHECK(uses_blades(&s, 777));
    scene_end(&s);
    free(probes);
}

/* As many starts as restarts. */
TEST(few_ttls_keep_their_blades_however_often_they_are_started)
{
    static struct probe probes[100];
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < 20000; i++) {
        struct probe *probe = &probes[i / 2 % COUNT(probes)];

        if (i % 2 == 0) {
            (void)lawn_stop(s.lawn, &probe->timer);
        }
        start_probe(&s, probe, 1000000 + i / 2 % 10);
        if (i % 64 == 0) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    CHECK_EQ(stats_of(&s).unqueued_starts, 0);
    CHECK_EQ(stats_of(&s).live_blades, 10);
    scene_end(&s);
}

/* Nearly all starts are restarts, which are not counted. */
TEST(a_few_odd_ttls_do_not_take_the_blades_from_the_others)
{
    enum { HOT = 1000, STARTS = 1000000 };
    static struct probe probes[HOT];
    struct scene s;
    unsigned odd = 0;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < STARTS; i++) {
        uint64_t ttl = 1000000 + i % 5;

        if (i % 20 == 7) {
            ttl = 2000000 + i;
            odd++;
        }
        start_probe(&s, &probes[i % HOT], ttl);
        if (i % 64 == 0) {
            mow_on(&s, lawn_now(s.lawn) + 1);
        }
    }
    CHECK(stats_of(&s).unqueued_starts <= odd);
    CHECK(uses_blades(&s, 777));
    scene_end(&s);
}

/* Timers started while the lawn waits for the clock use blades, too. */
TEST(a_lawn_that_has_seen_odd_ttls_keeps_them_apart_only_once_the_clock_moves)
{
    enum { MANY = 5000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, &(struct lawn_options){.blades = MANY});
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 1000000 + i);
        mow_on(&s, 0);
    }
    CHECK(stats_of(&s).unqueued_starts <= MANY / 20);
    CHECK(uses_blades(&s, 777));
    review_tuning(&s);
    CHECK(!uses_blades(&s, 777));
    scene_end(&s);
    free(probes);
}

TEST(very_many_timers_of_a_ttl_get_several_blades_before_any_has_fired)
{
    enum { MANY = 80000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    for (unsigned way = 0; way < COUNT(passes); way++) {
        memset(probes, 0, MANY * sizeof(*probes));
        scene_begin(&s, BLADES);
        for (unsigned i = 0; i < MANY; i++) {
            start_probe(&s, &probes[i], 1000000);
            if (i % 1000 == 0) {
                passes[way](&s, lawn_now(s.lawn) + 1);
            }
        }
        CHECK_EQ(stats_of(&s).live_blades, 8);
        CHECK_EQ(stats_of(&s).unqueued_starts, 0);
        scene_end(&s);
    }
    free(probes);
}

/* The lawn would review its tuning, but the clock has not moved; then it
 * moves. */
TEST(lawn_next_stays_short_while_a_lawn_is_about_to_review_its_tuning)
{
    enum { STARTS = 3000 };
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 1; i < 5; i++) {
        start(&s, i, 1000000 + i);
    }
    CHECK_EQ(lawn_next(s.lawn), 1000001);
    uint64_t looked = stats_of(&s).looked;
    for (unsigned i = 0; i < 2 * STARTS; i++) {
        start(&s, 0, 1000000 + 10);
        CHECK(stop(&s, 0));
        mow_on(&s, i < STARTS ? 0 : i);
        CHECK_EQ(lawn_next(s.lawn), 1000001);
    }
    CHECK_EQ(stats_of(&s).looked, looked);
    scene_end(&s);
}

TEST(a_lawn_of_few_timers_reads_none_ahead)
{
    struct scene s;
    for (enum ground ground = BLADES; ground < GROUNDS; ground++) {
        scene_begin(&s, ground);
        for (unsigned i = 0; i < PROBES; i++) {
            start(&s, i, 1 + i);
        }
        CHECK_EQ(mow(&s, PROBES), PROBES);
        CHECK_EQ(stats_of(&s).ahead, 0);
        scene_end(&s);
    }
}

static unsigned changes; /* of the TTL between consecutive fires */

static void
count_changes(struct scene *s, struct probe *probe)
{
    static unsigned before;

    changes += probe->id % 2 != before;
    before = probe->id % 2;
    s->fired = 0;
}

/* P4 leaves this order open. Many timers are prefetched by taking turns; few
 * timers need no prefetching, and going blade by blade is faster. */
TEST(ttls_due_at_one_tick_fire_in_turn_if_timers_are_very_many)
{
    enum { MANY = 70000, DUE = 100 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    for (unsigned many = DUE; many <= MANY; many += MANY - DUE) {
        memset(probes, 0, MANY * sizeof(*probes));
        scene_begin(&s, BLADES);
        for (unsigned i = DUE; i < many; i++) {
            start_probe(&s, &probes[i], 1000000);
        }
        review_tuning(&s);
        for (unsigned i = 0; i < DUE; i++) {
            if (i == DUE / 2) {
                lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
            }
            probes[i].id = i / (DUE / 2);
            start_probe(&s, &probes[i], 5001 - lawn_now(s.lawn));
        }
        s.act = count_changes;
        changes = 0;
        CHECK_EQ(mow(&s, 5001), DUE);
        CHECK(many == DUE ? changes <= 2 : changes >= DUE - 2);
        scene_end(&s);
    }
    free(probes);
}

#endif
