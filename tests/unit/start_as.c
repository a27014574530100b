/* start_as.c - lawn_start_as(): timers started with a given TTL and deadline,
 * overdue or not; and lawn_last_deadline(). */
#include "common.h"
#include "internal.h"

#include <stdlib.h>

/* Starts a probe with lawn_start_as() and records its deadline. */
static void
start_as(struct scene *s, unsigned id, uint64_t ttl, uint64_t deadline)
{
    struct probe *probe = &s->probe[id];

    lawn_start_as(s->lawn, &probe->timer, ttl, deadline);
    probe->due = lawn_deadline(&probe->timer);
    CHECK(lawn_pending(&probe->timer));
    CHECK(lawn_check(s->lawn, stdout));
}

static uint64_t
count_unqueued(const struct scene *s)
{
    return lawn_count_unqueued(s->lawn);
}

/* P4: the lawn is created at the time of the earliest timer, then gets the
 * present time. */
TEST(overdue_timers_fire_in_the_order_of_their_deadlines_in_the_next_mow)
{
    struct lawn_options options = {.now = 1000};
    struct scene s;

    scene_begin_with(&s, &options);
    lawn_set_now(s.lawn, 100000);
    start_as(&s, 0, 300, 50000);
    start_as(&s, 1, 0, 1000);
    start_as(&s, 2, 300, 99999);
    start_as(&s, 3, 500, 1001);
    start_as(&s, 4, 300, 100000);
    start_as(&s, 5, 300, 100001);
    start_as(&s, 6, 0, 50001);
    start_as(&s, 7, 500, 49999);
    CHECK_EQ(lawn_next(s.lawn), 1000);
    CHECK_EQ(mow(&s, 100000), 7);
    CHECK_FIRED(&s, 1, 3, 7, 0, 6, 2, 4);
    CHECK_EQ(mow(&s, 100001), 1); /* P1 */
    CHECK_FIRED(&s, 5);
    scene_end(&s);
}

/* P4 */
TEST(overdue_timers_fire_in_order_with_any_budget_and_a_clock_that_is_late)
{
    struct lawn_options options = {.now = 10, .slot_bits = 4};
    struct scene s;

    scene_begin_with(&s, &options);
    lawn_set_now(s.lawn, 5000);
    for (unsigned id = 0; id < 40; id++) {
        start_as(&s, id, id % 3 * 100, 10 + (id * 7919u) % 4000);
    }
    CHECK_EQ(mow_some(&s, 1000, SIZE_MAX) + mow_some(&s, 3000, 5) +
                 mow_some(&s, 5000, SIZE_MAX),
             40);
    scene_end(&s);
}

/* P1 */
TEST(a_timer_started_as_of_a_ttl_fires_at_its_deadline_and_not_a_tick_before)
{
    static const uint64_t deadlines[] = {1,   2,   63,  64,  127,
                                         128, 129, 300, 5000};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(deadlines); i++) {
            scene_begin(&s, (enum ground)ground);
            start_as(&s, 0, 300, deadlines[i]);
            start_as(&s, 1, 0, deadlines[i]);
            CHECK_EQ(lawn_next(s.lawn), deadlines[i]);
            CHECK_EQ(mow(&s, deadlines[i] - 1), 0);
            CHECK_EQ(mow(&s, deadlines[i]), 2);
            scene_end(&s);
        }
    }
}

TEST(timers_of_a_ttl_in_the_order_of_their_deadlines_share_its_blade)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, 1000);
    start_as(&s, 0, 300, 1100);
    start_as(&s, 1, 300, 1100);
    start_as(&s, 2, 300, 1299);
    start_as(&s, 3, 300, 1300);
    start(&s, 4, 300);
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.live_blades, 1);
    CHECK_EQ(stats.unqueued_starts, 0);
    CHECK_EQ(stats.starts, 5);
    CHECK_EQ(count_unqueued(&s), 0);
    CHECK_EQ(mow(&s, 2000), 5);
    CHECK_FIRED(&s, 0, 1, 2, 3, 4);
    scene_end(&s);
}

/* I1: lawn_start() does not look at the tail. */
TEST(a_timer_later_than_a_start_would_be_stays_off_the_blade)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start_as(&s, 0, 300, 301);
    CHECK_EQ(count_unqueued(&s), 1);
    start(&s, 1, 300);
    start_as(&s, 2, 300, 5000);
    CHECK_EQ(count_unqueued(&s), 2);
    CHECK(lawn_check(s.lawn, stdout));
    lawn_set_now(s.lawn, 1);
    start(&s, 3, 300);
    CHECK(lawn_check(s.lawn, stdout));
    CHECK_EQ(mow(&s, 5000), 4);
    CHECK_FIRED(&s, 1, 0, 3, 2);
    scene_end(&s);
}

/* I1 */
TEST(a_timer_earlier_than_the_last_of_its_blade_stays_off_it)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 300);
    start_as(&s, 1, 300, 299);
    CHECK_EQ(count_unqueued(&s), 1);
    CHECK(stop(&s, 0));
    start_as(&s, 2, 300, 298);
    CHECK_EQ(count_unqueued(&s), 1);
    start_as(&s, 1, 300, 298); /* restarted: behind the other, on the blade */
    CHECK_EQ(count_unqueued(&s), 0);
    start(&s, 0, 300);
    CHECK_EQ(mow(&s, 297), 0);
    CHECK_EQ(mow(&s, 300), 3);
    CHECK_FIRED(&s, 2, 1, 0);
    scene_end(&s);
}

/* P4, I1: a coarse resolution rounds the deadlines of lawn_start(), not
 * these. */
TEST(a_deadline_is_not_rounded_but_may_be_as_late_as_a_rounded_one)
{
    struct lawn_options options = {.blades = 1024, .resolution = 100};
    struct scene s;

    scene_begin_with(&s, &options);
    lawn_set_now(s.lawn, 50);
    start_as(&s, 0, 310, 355);
    start_as(&s, 1, 310, 400);
    CHECK_EQ(count_unqueued(&s), 0);
    start_as(&s, 2, 310, 401);
    CHECK_EQ(count_unqueued(&s), 1);
    start(&s, 3, 310);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 355);
    CHECK_EQ(lawn_deadline(&s.probe[3].timer), 400);
    CHECK_EQ(mow(&s, 354), 0);
    CHECK_EQ(mow(&s, 500), 4);
    CHECK_FIRED(&s, 0, 1, 3, 2);
    scene_end(&s);
}

/* P4: the order of 0 and 1, and that of 2 and 3. */
TEST(a_timer_started_as_of_a_ttl_uses_its_blade_after_a_change_of_resolution)
{
    struct lawn_options options = {.blades = 1024, .resolution = 10};
    struct scene s;

    scene_begin_with(&s, &options);
    start(&s, 0, 300);
    start(&s, 1, 300);
    lawn_set_resolution(s.lawn, 1);
    start_as(&s, 2, 300, 300);
    start_as(&s, 3, 300, 300);
    start_as(&s, 4, LAWN_NEVER, 300);
    CHECK_EQ(count_unqueued(&s), 1);
    CHECK_EQ(mow(&s, 300), 5);
    unsigned place[5] = {0};
    for (unsigned i = 0; i < 5; i++) {
        place[s.id[i]] = i;
    }
    CHECK(place[0] < place[1]);
    CHECK(place[2] < place[3]);
    scene_end(&s);
}

TEST(a_ttl_of_nothing_or_never_has_no_blade)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start_as(&s, 0, LAWN_NEVER, 20);
    start_as(&s, 1, LAWN_NEVER, 10);
    start_as(&s, 2, LAST, 30);
    start_as(&s, 3, 0, 1);
    CHECK_EQ(count_unqueued(&s), 3);
    start(&s, 4, 0); /* finds no blade with TTL 0 */
    CHECK_EQ(mow(&s, 30), 5);
    CHECK_FIRED(&s, 3, 4, 1, 0, 2);
    scene_end(&s);
}

/* P4: no deadline is earlier than the mowing position. */
TEST(a_deadline_before_what_has_fired_counts_as_that)
{
    struct lawn_options options = {.now = 500};
    struct scene s;

    scene_begin_with(&s, &options);
    start_as(&s, 0, 300, 0);
    CHECK_EQ(lawn_deadline(&s.probe[0].timer), 500);
    CHECK_EQ(mow(&s, 500), 1);
    start(&s, 1, 100);
    start(&s, 2, 100);
    CHECK_EQ(mow_some(&s, 1000, 1), 1);
    start_as(&s, 3, 100, 550);
    CHECK_EQ(lawn_deadline(&s.probe[3].timer), 600);
    start_as(&s, 4, 0, 700);
    CHECK_EQ(lawn_deadline(&s.probe[4].timer), 700);
    CHECK_EQ(mow(&s, 1000), 3);
    CHECK_FIRED(&s, 0, 1, 2, 3, 4);
    scene_end(&s);
}

static void
start_overdue(struct scene *s, struct probe *probe)
{
    uint64_t now = lawn_now(s->lawn);

    CHECK_EQ(lawn_last_deadline(&probe->timer), s->last_due);
    if (probe->id < 8) {
        start_as(s, probe->id + 8, 300, s->last_due);
        start_as(s, probe->id + 16, 0, now);
        start_as(s, probe->id + 24, 300, now + 1);
        start_as(s, probe->id + 32, 1, 0);
    }
}

/* P6: timers started by a callback wait for a later mow. */
TEST(a_callback_may_start_overdue_timers_and_they_wait_for_a_later_mow)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        s.act = start_overdue;
        for (unsigned id = 0; id < 8; id++) {
            start(&s, id, 300 + id / 2);
        }
        CHECK_EQ(mow(&s, 1000), 8);
        for (unsigned id = 8; id < 40; id++) {
            CHECK_EQ(lawn_deadline(&s.probe[id].timer), 1001);
        }
        CHECK_EQ(lawn_next(s.lawn), 1001);
        CHECK_EQ(mow(&s, 1000), 0);
        CHECK_EQ(mow(&s, 1001), 32);
        scene_end(&s);
    }
}

/* P6, P9: there is no later tick. */
TEST(a_callback_at_the_last_tick_starts_overdue_timers_for_the_next_mow)
{
    struct scene s;

    scene_begin(&s, BLADES);
    s.act = start_overdue;
    start(&s, 0, LAWN_NEVER);
    CHECK_EQ(mow(&s, LAWN_NEVER), 1);
    CHECK_EQ(lawn_deadline(&s.probe[8].timer), LAST);
    CHECK_EQ(running(&s), 4);
    unsigned round = 0;
    for (round = 0; lawn_count(s.lawn) > 0; round++) {
        CHECK_EQ(mow(&s, LAWN_NEVER), 4);
    }
    CHECK_EQ(round, 1);
    scene_end(&s);
}

/* P9 */
TEST(deadlines_of_timers_started_as_of_a_ttl_saturate_below_never)
{
    static const uint64_t ttls[] = {0, 1, 300, LAST - 1, LAST, LAWN_NEVER};
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < COUNT(ttls); i++) {
        start_as(&s, i * 3, ttls[i], LAWN_NEVER);
        start_as(&s, i * 3 + 1, ttls[i], LAST);
        start_as(&s, i * 3 + 2, ttls[i], LAST - 1);
        CHECK_EQ(lawn_deadline(&s.probe[i * 3].timer), LAST);
        CHECK_EQ(lawn_deadline(&s.probe[i * 3 + 1].timer), LAST);
        CHECK_EQ(lawn_deadline(&s.probe[i * 3 + 2].timer), LAST - 1);
    }
    CHECK_EQ(mow(&s, LAST - 2), 0);
    CHECK_EQ(mow(&s, LAST - 1), COUNT(ttls));
    lawn_set_now(s.lawn, LAST);
    start_as(&s, 20, 300, LAST - 1);
    start_as(&s, 21, 300, LAST);
    CHECK_EQ(lawn_next(s.lawn), LAST - 1);
    CHECK_EQ(mow(&s, LAST - 1), 1);
    CHECK_EQ(mow(&s, LAST), 2 * COUNT(ttls) + 1);
    scene_end(&s);
}

/* I7 */
TEST(a_timer_started_as_of_a_ttl_is_counted_as_any_other)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start_as(&s, 0, 300, 300);
    start_as(&s, 0, 300, 200);
    start_as(&s, 1, 0, 200);
    start_as(&s, 2, 300, LAWN_NEVER);
    CHECK(stop(&s, 0));
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.starts, 3);
    CHECK_EQ(stats.stops, 1);
    CHECK_EQ(stats.count, 2);
    CHECK_EQ(stats.unqueued_starts, 2);
    scene_end(&s);
}

/* I6, I10: an unqueued timer is earlier than the known earliest entry. */
TEST(the_next_deadline_is_exact_when_overdue_timers_come_one_by_one)
{
    struct lawn_options options = {.now = 1};
    struct scene s;

    scene_begin_with(&s, &options);
    lawn_set_now(s.lawn, 1u << 20);
    for (unsigned id = 0; id < 60; id++) {
        uint64_t deadline = 900000 - (uint64_t)id * 13;

        start_as(&s, id, id % 2 * 700, deadline);
        CHECK_EQ(lawn_next(s.lawn), deadline);
    }
    for (unsigned id = 60; id-- > 30;) {
        CHECK(stop(&s, id));
        CHECK_EQ(lawn_next(s.lawn), s.probe[id - 1].due);
    }
    CHECK_EQ(mow(&s, 1u << 20), 30);
    scene_end(&s);
}

/* Many calls of lawn_start_as() and no other starts: the lawn reviews its
 * tuning as usual. P4: a lawn that bypasses its blades does so for all
 * timers. */
TEST(a_lawn_changes_its_tuning_by_timers_started_as_of_a_ttl)
{
    struct lawn_options options = {.blades = 16};
    uint64_t seed = 5;
    struct scene s;

    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t now = lawn_now(s.lawn);
        uint64_t ttl = chance(&seed) % 100000;
        unsigned id = i % PROBES;

        lawn_start_as(s.lawn, &s.probe[id].timer, ttl,
                      now + (i % 4 == 0 ? ttl : ttl / 2));
        s.probe[id].due = lawn_deadline(&s.probe[id].timer);
        if (i % 100 == 0) {
            s.fired = 0;
            (void)mow(&s, now + chance(&seed) % 64);
        }
    }
#if !defined LAWN_TUNING_PERIOD
    CHECK(s.lawn->tuning.bypass);
#endif
    for (unsigned i = 0; i < PROBES; i++) {
        (void)stop(&s, i);
    }
    s.fired = 0;
    /* Only one miss in eight may look for a free blade. In groups of three,
     * that is sometimes lawn_start_as() and sometimes lawn_start(). */
    for (unsigned i = 0; i < 60; i += 3) {
        start_as(&s, i, 777, lawn_now(s.lawn) + 777);
        start(&s, i + 1, 777);
        start(&s, i + 2, 777);
    }
    CHECK_EQ(mow(&s, LAST), 60);
    for (unsigned i = 0; i < 60; i++) {
        CHECK_EQ(s.id[i], i);
    }
    scene_end(&s);
}

/* P4: lawn_set_now() beyond the last tick does not move a clock that has
 * reached it. The tuning then stays, and with it the place for a TTL and a
 * deadline. */
TEST(a_clock_at_the_last_tick_does_not_change_the_tuning_when_set_to_never)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, LAST);
    for (unsigned i = 0; i < 4096; i++) {
        start(&s, 1, 1); /* due at the last tick, and on no blade */
        CHECK(stop(&s, 1));
    }
    for (unsigned i = 10; i < 20; i++) {
        start_as(&s, i, 777, LAST - 5);
        lawn_set_now(s.lawn, LAWN_NEVER);
        CHECK_EQ(lawn_now(s.lawn), LAST);
    }
    CHECK_EQ(mow(&s, LAST), 10);
    CHECK_FIRED(&s, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
    scene_end(&s);
}

/* P8 */
TEST(a_lawn_that_was_loaded_with_very_many_timers_gets_stripes)
{
    enum { MANY = 70000 };
    struct probe *probes = calloc(MANY, sizeof(*probes));

    CHECK(probes != NULL);
    struct scene s;
    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        lawn_start_as(s.lawn, &probes[i].timer, 5000, 5000 + i);
    }
    CHECK_EQ(s.lawn->blades.stripe, 0);
    lawn_set_now(s.lawn, MANY + 1);
    CHECK(s.lawn->blades.stripe != 0);
    CHECK_EQ(count_unqueued(&s), 0);
    scene_end(&s);
    free(probes);
}

/* Creates a lawn at time 1 with stripes: it holds very many timers of one TTL.
 * Free the timers after the lawn. */
static struct lawn *
striped(size_t blades, struct lawn_timer **timers)
{
    enum { MANY = 66000 };
    struct lawn_options options = {.blades = blades};
    struct lawn *lawn = lawn_new(&options);

    *timers = calloc(MANY, sizeof(**timers));
    CHECK(lawn != NULL && *timers != NULL);
    for (unsigned i = 0; i < MANY; i++) {
        lawn_start(lawn, &(*timers)[i], UINT64_C(1) << 40);
    }
    lawn_set_now(lawn, 1);
    CHECK(lawn->blades.stripe != 0);
    return lawn;
}

/* Returns the set of four blades to which a TTL with this hash belongs. */
static uint32_t
set_of(const struct lawn *lawn, uint64_t hash, uint64_t deadline)
{
    const struct lawn_blades *blades = &lawn->blades;

    return (uint32_t)(lawn__blades_at(blades, hash, deadline) - blades->all) /
           LAWN_BLADES_WAYS;
}

/* Starts timers of further TTLs until no blade of a set is free. Returns their
 * number. */
static unsigned
fill_set(struct lawn *lawn, struct lawn_timer *timers, uint32_t set)
{
    static uint64_t ttl = 20000;
    unsigned many = 0;

    for (uint32_t way = 0; way < LAWN_BLADES_WAYS; way++) {
        const struct lawn_blade *blade =
            &lawn->blades.all[set * LAWN_BLADES_WAYS + way];

        while (lawn__list_empty(&blade->queue)) {
            ttl++;
            if (set_of(lawn, lawn__blades_hash(ttl), lawn->now + ttl) == set) {
                CHECK(many < LAWN_BLADES_WAYS);
                lawn_start(lawn, &timers[many++], ttl);
            }
        }
    }
    return many;
}

static void
note_order(struct lawn_timer *timer, void *arg)
{
    struct lawn_timer ***next = (struct lawn_timer ***)arg;

    *(*next)++ = timer;
}

/* P4. If the two sets of a TTL are close, the second set of one stripe is the
 * first of another. A blade claimed for one stripe may then precede the
 * other's. */
TEST(timers_of_one_ttl_and_deadline_stay_together_whatever_start_as_does)
{
    struct lawn_timer *many = NULL;
    struct lawn *lawn = striped(16, &many);
    struct lawn_timer filler[2 * LAWN_BLADES_WAYS] = {0};
    struct lawn_timer timer[3] = {0};
    struct lawn_timer *fired[3] = {NULL};
    struct lawn_timer **next = fired;
    uint64_t ttl = 100;
    uint32_t home = 0;
    uint32_t apart = 0;

    while (apart == 0 || apart + ((1 + ttl) & 7) > 7) {
        uint64_t hash = lawn__blades_hash(++ttl);
        uint32_t far =
            set_of(lawn, lawn__blades_rehash(&lawn->blades, hash), 1 + ttl);

        home = set_of(lawn, hash, 1 + ttl);
        apart = home > far ? home - far : 0;
    }
    unsigned i = fill_set(lawn, filler, home);
    lawn_start(lawn, &timer[0], ttl);
    (void)fill_set(lawn, filler + LAWN_BLADES_WAYS, home + apart);
    while (i > 0) {
        CHECK(lawn_stop(lawn, &filler[--i]));
    }
    lawn_start_as(lawn, &timer[1], ttl, 1 + ttl - 8 + apart);
    lawn_start(lawn, &timer[2], ttl);
    CHECK_EQ(lawn_mow(lawn, 1 + ttl, 3, note_order, &next), 3);
    CHECK(fired[0] == &timer[1]);
    CHECK(fired[1] == &timer[0]);
    CHECK(fired[2] == &timer[2]);
    lawn_free(lawn);
    free(many);
}

/* P8: a large table keeps the two sets of every TTL apart, so that each TTL
 * gets a blade. */
TEST(start_as_finds_blades_for_all_ttls_of_a_large_lawn_with_stripes)
{
    enum { TTLS = 2000 };
    struct lawn_timer *many = NULL;
    struct lawn *lawn = striped(1024, &many);
    struct lawn_timer timer = {0};

    for (uint64_t ttl = 1000; ttl < 1000 + TTLS; ttl++) {
        lawn_start_as(lawn, &timer, ttl, ttl - 3);
    }
    struct lawn_counters stats;
    lawn_stats(lawn, &stats);
    CHECK_EQ(stats.unqueued_starts, 0);
    lawn_free(lawn);
    free(many);
}

static void
tell_lateness(struct scene *s, struct probe *probe)
{
    CHECK_EQ(s->mowing - lawn_last_deadline(&probe->timer), 700);
    CHECK_EQ(lawn_deadline(&probe->timer), LAWN_NEVER);
}

TEST(a_timer_keeps_the_time_when_it_was_due_after_it_fired_or_was_stopped)
{
    struct lawn_timer never = {0};
    int ground = 0;

    CHECK_EQ(lawn_last_deadline(&never), 0);
    struct scene s;
    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        s.act = tell_lateness;
        start(&s, 0, 300);
        start(&s, 1, 400);
        CHECK_EQ(lawn_last_deadline(&s.probe[0].timer), 300);
        CHECK_EQ(lawn_last_deadline(&s.probe[2].timer), 0);
        CHECK(stop(&s, 1));
        CHECK_EQ(mow(&s, 1000), 1);
        CHECK_EQ(lawn_last_deadline(&s.probe[0].timer), 300);
        CHECK_EQ(lawn_last_deadline(&s.probe[1].timer), 400);
        start(&s, 1, 5);
        CHECK_EQ(lawn_last_deadline(&s.probe[1].timer), 1005);
        scene_end(&s);
    }
}
