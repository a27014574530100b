/* bounded.c - the cost of one call, however many timers an adversary has put
 * into one slot of the index [P8]:
 *   - a mow with budget b processes at most 8 * b + 448 timers and entries;
 *   - lawn_next() examines at most 448 entries, and lawn_next_timer() at most
 *     448 besides outdated ones;
 *   - a lawn that is mown at every tick moves entries ahead of time, few of
 *     them in each mow;
 *   - the mows of one tick do not repeat each other's work.
 * What a call leaves undone, later calls do: all timers fire, in order [P2]
 * [P4].
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define MANY 100000u
#define LEAST 448u
#define LOOKS 448u
/* A tick in a far slot: a level of the index has 256 slots, and this slot is
 * one of level 3, with 2^21 ticks. */
#define FAR (UINT64_C(1) << 22)
#define SPREAD 977u

static struct lawn_counters
stats_of(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats;
}

/* Returns the number of entries and timers that the lawn has processed. */
static uint64_t
count_work(const struct scene *s)
{
    struct lawn_counters stats = stats_of(s);

    return stats.moved + stats.looked + stats.ahead + stats.fires;
}

/* Timers of one TTL and deadline must fire in the order of their numbers. Each
 * test has one TTL per deadline, so it is enough to compare with the last timer
 * that fired. */
static unsigned last_id;
static uint64_t last_due;
static uint64_t total; /* timers that check_order() has seen */

static void
check_order(struct scene *s, struct probe *probe)
{
    uint64_t due = lawn_last_deadline(&probe->timer);

    CHECK(total == 0 || due != last_due || probe->id > last_id);
    last_id = probe->id;
    last_due = due;
    total++;
    s->fired = 0;
}

static struct probe *
new_probes(unsigned many)
{
    struct probe *probes = calloc(many, sizeof(*probes));

    CHECK(probes != NULL);
    for (unsigned i = 0; i < many; i++) {
        probes[i].id = i;
    }
    total = 0;
    return probes;
}

static void
stop_probe(struct scene *s, struct probe *probe)
{
    probe->due = LAWN_NEVER;
    CHECK(lawn_stop(s->lawn, &probe->timer));
}

/* Mows with a budget and checks the cost. Returns whether timers may be left
 * that are due; if so, lawn_next() is not after now [P2]. */
static bool
mow_bounded(struct scene *s, uint64_t now, size_t budget)
{
    uint64_t before = count_work(s);
    uint64_t fired = total;
    size_t returned = mow_some_unchecked(s, now, budget);

    CHECK(count_work(s) - before <= 8 * budget + LEAST);
    if (returned < budget) {
        CHECK_EQ(total - fired, returned);
        CHECK(lawn_next(s->lawn) > now);
    }
    return returned == budget;
}

/* Returns the number of mows until no due timer is left. */
static uint64_t
mow_to_the_end(struct scene *s, uint64_t now, size_t budget)
{
    uint64_t calls = 1;

    while (mow_bounded(s, now, budget)) {
        calls++;
        CHECK(calls < 10 * MANY);
    }
    CHECK(lawn_check(s->lawn, stdout));
    return calls;
}

/* Starts unqueued timers in one slot. The earliest one is stopped, so that the
 * lawn knows only a lower bound of the times in the slot. */
static struct probe *
crowd_slot(struct scene *s, enum ground ground)
{
    struct probe *probes = new_probes(MANY);

    CHECK(ground != BLADES);
    scene_begin(s, ground);
    s->act = check_order;
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(s, &probes[i], FAR + i % SPREAD);
    }
    start(s, 0, FAR - 1);
    CHECK(stop(s, 0));
    CHECK_EQ(lawn_count_unqueued(s->lawn), MANY);
    return probes;
}

/* [P8] [P2] A timer moves at most once per level. So only a few mows are needed
 * in addition to those that fire timers. */
TEST(mows_of_a_small_budget_share_the_work_of_a_crowded_slot)
{
    static const size_t budgets[] = {1, 2, 10, 1000};
    struct scene s;

    for (int ground = UNQUEUED; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(budgets); i++) {
            size_t work = 7 * budgets[i] + LEAST;
            struct probe *probes = crowd_slot(&s, (enum ground)ground);
            uint64_t calls = mow_to_the_end(&s, FAR + SPREAD, budgets[i]);

            CHECK_EQ(total, MANY);
            CHECK_EQ(running(&s), 0);
            CHECK(calls <= MANY / budgets[i] + stats_of(&s).moved / work + 2);
            CHECK(stats_of(&s).moved <= 5 * MANY);
            scene_end(&s);
            free(probes);
        }
    }
}

/* [P2] It returns its budget, so that the caller mows again. */
TEST(a_mow_that_reaches_its_limit_of_work_reports_that_it_is_not_done)
{
    struct scene s;
    struct probe *probes = crowd_slot(&s, UNQUEUED);
    struct lawn_counters before = stats_of(&s);

    CHECK_EQ(mow_some(&s, FAR + SPREAD, 10), 10);
    CHECK_EQ(total, 0);
    CHECK_EQ(stats_of(&s).moved - before.moved, 7 * 10 + LEAST);
    CHECK(lawn_next(s.lawn) <= FAR + SPREAD);
    CHECK_EQ(lawn_now(s.lawn), FAR + SPREAD);
    CHECK_EQ(stats_of(&s).touched_idle, 7 * 10 + LEAST);
    /* Without a budget there is no limit. */
    CHECK_EQ(mow_some(&s, FAR + SPREAD, SIZE_MAX), MANY);
    scene_end(&s);
    free(probes);
}

/* A budget of 0 fires nothing and moves nothing. */
TEST(a_budget_of_zero_does_no_work)
{
    struct scene s;
    struct probe *probes = crowd_slot(&s, UNQUEUED);
    uint64_t before = count_work(&s);

    CHECK_EQ(mow_some(&s, FAR + SPREAD, 0), 0);
    CHECK_EQ(count_work(&s), before);
    CHECK_EQ(lawn_now(s.lawn), FAR + SPREAD);
    scene_end(&s);
    free(probes);
}

#define STALE 4000u

/* Starts a timer whose TTL no other has, on a blade: setting the resolution
 * resets the statistics that would make the lawn bypass its blades. */
static void
start_on_own_blade(struct scene *s, struct probe *probe, uint64_t ttl)
{
    if (probe->id % 16 == 0) {
        lawn_set_resolution(s->lawn, 1);
    }
    start_probe(s, probe, ttl);
}

/* Starts timers of different TTLs, all due at FAR, and stops them while their
 * entries are in a slot of a higher level, or in that of the tick. Entries of
 * emptied blades remain. */
static struct probe *
leave_stale_entries(struct scene *s, bool at_tick)
{
    struct lawn_options options = {.blades = 4096};
    struct probe *probes = new_probes(STALE);

    scene_begin_with(s, &options);
    s->act = check_order;
    for (unsigned i = 0; i < STALE; i++) {
        lawn_set_now(s->lawn, i);
        start_on_own_blade(s, &probes[i], FAR - i);
    }
    CHECK(stats_of(s).live_blades > STALE * 9 / 10);
    for (uint64_t now = STALE; at_tick && now < FAR; now += 60) {
        CHECK_EQ(mow_unchecked(s, now), 0);
    }
    for (unsigned i = 0; i < STALE; i++) {
        stop_probe(s, &probes[i]);
    }
    CHECK_EQ(stats_of(s).live_blades, 0);
    start_at(s, 0, FAR);
    start_at(s, 1, FAR + 1);
    CHECK_EQ(running(s), 2);
    return probes;
}

TEST(mows_share_the_work_of_thousands_of_emptied_blades)
{
    struct scene s;

    for (unsigned at_tick = 0; at_tick < 2; at_tick++) {
        struct probe *probes = leave_stale_entries(&s, at_tick != 0);
        uint64_t calls = mow_to_the_end(&s, FAR + 1, 1);

        CHECK_EQ(total, 2);
        CHECK(calls <= 2 + 2 * STALE / (7 + LEAST) + 2);
        scene_end(&s);
        free(probes);
    }
}

static void
count_fire(struct scene *s, struct probe *probe)
{
    CHECK_EQ(lawn_last_deadline(&probe->timer), s->mowing);
    total++;
    s->fired = 0;
}

/* Starts timers of different TTLs, from the first one on. At time 0 the
 * resolution rounds all deadlines to FAR. */
static void
start_rounded(struct scene *s, struct probe *probes, unsigned many,
              uint64_t first)
{
    for (unsigned i = 0; i < many; i++) {
        start_probe(s, &probes[i], first + i);
        CHECK_EQ(probes[i].due, FAR);
    }
}

/* [P8] The resolution changes between two groups of timers, all due at one
 * tick. The second group has the TTLs of the first, or others. Small budgets do
 * not repeat work: the entry of a blade moves to its tick once and is removed
 * once, and lawn_next() examines at most two entries after each mow: one of a
 * blade that the mow has emptied, and the next one. */
TEST(a_tick_of_many_ttls_costs_the_same_per_timer_after_a_new_resolution)
{
    enum { EACH = 1000, COARSE = 4096, FINE = 2048 };
    static const size_t budgets[] = {SIZE_MAX, 1};
    const struct lawn_options options = {.blades = 4096, .resolution = COARSE};
    struct scene s;

    for (unsigned i = 0; i < 2 * COUNT(budgets); i++) {
        bool same = i % 2 == 0;
        unsigned blades = same ? EACH : 2 * EACH;
        size_t budget = budgets[i / 2];
        struct probe *probes = new_probes(2 * EACH);

        scene_begin_with(&s, &options);
        s.act = count_fire;
        start_rounded(&s, probes, EACH, FAR - 2 * EACH);
        lawn_set_resolution(s.lawn, FINE);
        start_rounded(&s, probes + EACH, EACH,
                      same ? FAR - 2 * EACH : FAR - EACH);
        CHECK_EQ(running(&s), 2 * EACH);
        struct lawn_counters before = stats_of(&s);
        CHECK(before.live_blades > blades * 9 / 10);
        while (lawn_count(s.lawn) > 0) {
            uint64_t work = count_work(&s);
            CHECK(mow_some_unchecked(&s, FAR, budget) > 0);
            if (budget == 1) {
                CHECK(count_work(&s) - work <= 8 + LEAST);
            }
            CHECK(lawn_count(s.lawn) == 0 || lawn_next(s.lawn) == FAR);
        }
        struct lawn_counters after = stats_of(&s);
        CHECK_EQ(total, 2 * EACH);
        CHECK(after.moved - before.moved <= 2 * blades);
        CHECK(after.looked - before.looked <= 2 * 2 * EACH);
        CHECK(lawn_check(s.lawn, stdout));
        scene_end(&s);
        free(probes);
    }
}

/* [P8] [P2] Each call corrects the entries that it examines. So it is exact
 * after a few calls, even if nothing else happens. */
TEST(lawn_next_is_bounded_though_thousands_of_blades_were_emptied)
{
    struct scene s;

    for (unsigned at_tick = 0; at_tick < 2; at_tick++) {
        struct probe *probes = leave_stale_entries(&s, at_tick != 0);
        unsigned calls = 0;
        uint64_t next = 0;

        CHECK(stop(&s, 0));
        CHECK(stop(&s, 1));
        CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
        start_at(&s, 2, 2 * FAR);
        while (next != 2 * FAR) {
            struct lawn_counters before = stats_of(&s);

            next = lawn_next(s.lawn);
            CHECK(stats_of(&s).looked - before.looked <= LOOKS);
            CHECK(next <= 2 * FAR);
            CHECK(++calls <= 2 * STALE / LOOKS + 2);
        }
        CHECK(lawn_check(s.lawn, stdout));
        scene_end(&s);
        free(probes);
    }
}

/* lawn_next_timer() always returns a timer: it drops the entries of emptied
 * blades, each once, until it finds one. */
TEST(lawn_next_timer_finds_a_timer_behind_thousands_of_emptied_blades)
{
    struct scene s;
    struct probe *probes = leave_stale_entries(&s, false);

    CHECK(stop(&s, 0));
    CHECK(stop(&s, 1));
    start_at(&s, 2, 2 * FAR);
    uint64_t before = stats_of(&s).looked;
    CHECK(lawn_next_timer(s.lawn) == &s.probe[2].timer);
    CHECK(stats_of(&s).looked - before <= STALE + LOOKS);
    CHECK_EQ(lawn_next(s.lawn), 2 * FAR);
    before = stats_of(&s).looked;
    CHECK(lawn_next_timer(s.lawn) == &s.probe[2].timer);
    CHECK(stats_of(&s).looked - before <= 1);
    scene_end(&s);
    free(probes);
}

/* Starts a timer in each of many slots. Returns their number. */
static unsigned
start_in_each_slot(struct scene *s, struct probe *probes)
{
    unsigned many = 0;

    for (unsigned level = 0; level < 6; level++) {
        for (uint64_t i = 2; i < 252; i++) {
            start_probe(s, &probes[many++], i << (7 * level));
        }
    }
    return many;
}

/* It removes empty slots, each once. */
TEST(lawn_next_timer_finds_a_timer_behind_a_thousand_emptied_slots)
{
    struct lawn_options options = {0};
    struct probe *probes = new_probes(1500);
    struct scene s;

    scene_begin_with(&s, &options);
    unsigned many = start_in_each_slot(&s, probes);
    for (unsigned i = 0; i < many - 1; i++) {
        stop_probe(&s, &probes[i]);
    }
    struct lawn_counters before = stats_of(&s);
    CHECK(lawn_next_timer(s.lawn) == &probes[many - 1].timer);
    struct lawn_counters after = stats_of(&s);
    uint64_t outdated = after.moved - before.moved;
    CHECK(outdated >= 1000 && outdated < many);
    CHECK(after.looked - before.looked <= outdated + 1);
    CHECK(lawn_next_timer(s.lawn) == &probes[many - 1].timer);
    CHECK_EQ(stats_of(&s).moved, after.moved);
    scene_end(&s);
    free(probes);
}

/* [P9] The cost of a jump does not depend on its length: each timer moves at
 * most once per level, of which there are 6 up to 2^40 with 256 slots. */
TEST(a_jump_of_the_clock_over_crowds_is_shared_by_mows)
{
    enum { CROWDS = 50, EACH = 1000 };
    static const size_t budgets[] = {1, 100, SIZE_MAX};
    const uint64_t apart = (UINT64_C(1) << 40) / CROWDS;
    struct scene s;

    for (size_t b = 0; b < COUNT(budgets); b++) {
        struct probe *probes = new_probes(CROWDS * EACH);

        scene_begin(&s, UNQUEUED);
        s.act = check_order;
        for (unsigned i = 0; i < CROWDS * EACH; i++) {
            start_probe(&s, &probes[i], (1 + i % CROWDS) * apart + i % 17);
        }
        uint64_t now = (UINT64_C(1) << 40) + 17;
        if (budgets[b] == SIZE_MAX) {
            CHECK_EQ(mow(&s, now), CROWDS * EACH);
        } else {
            uint64_t calls = mow_to_the_end(&s, now, budgets[b]);

            CHECK(calls <=
                  CROWDS * EACH / budgets[b] + stats_of(&s).moved / LEAST + 2);
        }
        CHECK_EQ(total, CROWDS * EACH);
        CHECK(stats_of(&s).moved <= 6 * CROWDS * EACH);
        scene_end(&s);
        free(probes);
    }
}

/* Mows at every tick up to a time, without a budget, and checks that no mow
 * moves many entries. */
static void
mow_each_tick(struct scene *s, uint64_t from, uint64_t to)
{
    for (uint64_t now = from; now <= to; now++) {
        uint64_t before = stats_of(s).moved;
        uint64_t fired = mow_unchecked(s, now);

        CHECK(stats_of(s).moved - before <= 512 + 2 * fired);
        CHECK(lawn_next(s->lawn) > now);
    }
    CHECK(stats_of(s).touched_idle <= 512);
}

/* 100,000 unqueued timers in a slot of level 2, with 2^14 ticks. A mow moves
 * 256 of them while the time passes through the slot before. */
TEST(a_lawn_mown_at_every_tick_opens_a_crowded_slot_ahead_of_time)
{
    const uint64_t slot = UINT64_C(1) << 14;
    struct probe *probes = new_probes(MANY);
    struct scene s;

    scene_begin(&s, UNQUEUED);
    s.act = check_order;
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 2 * slot + i % slot);
    }
    mow_each_tick(&s, 1, 3 * slot);
    CHECK_EQ(total, MANY);
    scene_end(&s);
    free(probes);
}

/* 4,000 unqueued timers in a slot of level 2. In the first half of the time a
 * mow moves 64 of them for each tick that has passed, even if the lawn is not
 * mown at every tick, but at most 256. */
TEST(early_mows_move_few_entries_ahead_of_time)
{
    enum { CROWD = 4000 };
    const uint64_t slot = UINT64_C(1) << 14;

    for (uint64_t step = 1; step <= 8; step++) {
        struct probe *probes = new_probes(CROWD);
        struct scene s;
        uint64_t most = 0;

        scene_begin(&s, UNQUEUED);
        s.act = check_order;
        for (unsigned i = 0; i < CROWD; i++) {
            start_probe(&s, &probes[i], 2 * slot + i);
        }
        (void)mow_unchecked(&s, slot - 1);
        for (uint64_t now = slot + step; now < slot + 1000; now += step) {
            uint64_t before = stats_of(&s).moved;

            CHECK_EQ(mow_unchecked(&s, now), 0);
            CHECK_EQ(mow_unchecked(&s, now), 0);
            uint64_t moved = stats_of(&s).moved - before;
            most = moved > most ? moved : most;
        }
        CHECK_EQ(most, step < 4 ? step * 64 : 256);
        CHECK_EQ(stats_of(&s).moved, CROWD);
        scene_end(&s);
        free(probes);
    }
}

/* A lawn that is mown in the second half of the time only moves 256 entries in
 * each mow. */
TEST(late_mows_move_more_entries_ahead_of_time)
{
    const uint64_t slot = UINT64_C(1) << 14;
    struct probe *probes = new_probes(MANY);
    struct scene s;

    scene_begin(&s, UNQUEUED);
    s.act = check_order;
    for (unsigned i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 2 * slot + i % slot);
    }
    (void)mow_unchecked(&s, slot + slot / 2 - 1);
    for (uint64_t now = slot + slot / 2; now < slot + slot / 2 + 100; now++) {
        uint64_t before = stats_of(&s).moved;

        CHECK_EQ(mow_unchecked(&s, now), 0);
        CHECK_EQ(stats_of(&s).moved - before, 256);
    }
    scene_end(&s);
    free(probes);
}

/* The same with the entries of 4,000 blades, due within 32 ticks. Timers of one
 * deadline have different TTLs. */
TEST(a_lawn_mown_at_every_tick_moves_the_entries_of_blades_ahead_of_time)
{
    enum { TTLS = 4000 };
    struct lawn_options options = {.blades = 4096};
    struct probe *probes = new_probes(TTLS);
    struct scene s;

    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < TTLS; i++) {
        lawn_set_now(s.lawn, i / 32 * 32);
        start_on_own_blade(&s, &probes[i], 40000 + i % 32 - i / 32 * 32);
        CHECK_EQ(probes[i].due, 40000 + i % 32);
    }
    CHECK(stats_of(&s).live_blades > TTLS * 9 / 10);
    mow_each_tick(&s, TTLS, 40032);
    CHECK_EQ(running(&s), 0);
    scene_end(&s);
    free(probes);
}

/* Returns the earliest deadline of running timers. */
static uint64_t
find_earliest(const struct probe *probes, unsigned many)
{
    uint64_t earliest = LAWN_NEVER;

    for (unsigned i = 0; i < many; i++) {
        uint64_t deadline = lawn_deadline(&probes[i].timer);

        earliest = deadline < earliest ? deadline : earliest;
    }
    return earliest;
}

/* The earliest timer is stopped again and again. */
TEST(finding_the_next_of_very_many_timers_is_bounded_and_never_late)
{
    struct scene s;

    for (int ground = UNQUEUED; ground < GROUNDS; ground++) {
        struct probe *probes = crowd_slot(&s, (enum ground)ground);

        for (unsigned i = 0; i < 300; i++) {
            uint64_t earliest = find_earliest(probes, MANY);
            uint64_t before = stats_of(&s).looked;
            uint64_t next = lawn_next(s.lawn);

            CHECK(stats_of(&s).looked - before <= LOOKS);
            CHECK(next <= earliest);
            CHECK(next >= FAR - 1);
            before = stats_of(&s).looked;
            struct lawn_timer *timer = lawn_next_timer(s.lawn);
            CHECK(stats_of(&s).looked - before <= LOOKS);
            CHECK(timer != NULL && lawn_deadline(timer) >= earliest);
            CHECK(lawn_deadline(timer) != next || next == earliest);
            if (i % 3 == 0) {
                CHECK_EQ(lawn_next_exact(s.lawn), earliest);
                CHECK_EQ(lawn_next(s.lawn), earliest);
                timer = lawn_next_timer(s.lawn);
                CHECK_EQ(lawn_deadline(timer), earliest);
            }
            stop_probe(&s, LAWN_CONTAINER(timer, struct probe, timer));
        }
        CHECK(lawn_check(s.lawn, stdout));
        CHECK(stats_of(&s).touched_idle <= LOOKS);
        scene_end(&s);
        free(probes);
    }
}

/* [P2] No timer fires late. */
static void
check_in_time(struct scene *s, struct probe *probe)
{
    CHECK_EQ(lawn_last_deadline(&probe->timer), s->mowing);
    check_order(s, probe);
}

/* A program that sleeps until lawn_next(), and mows then. The deadlines that it
 * wakes for have been stopped, again and again. */
TEST(a_program_that_sleeps_until_the_next_deadline_does_not_spin)
{
    static const size_t budgets[] = {16, 100, SIZE_MAX};
    struct scene s;

    for (unsigned i = 0; i < 2 * COUNT(budgets); i++) {
        enum ground ground = i % 2 == 0 ? UNQUEUED : UNQUEUED_SMALL;
        size_t budget = budgets[i / 2];
        struct probe *probes = crowd_slot(&s, ground);
        s.act = check_in_time;
        uint64_t wakes = 0;
        uint64_t early = 0;
        uint64_t stops = 0;

        for (uint64_t next = 0; running(&s) > 0; wakes++) {
            /* Stops the timers of the next deadline. */
            if (wakes % 50 == 0) {
                uint64_t due = find_earliest(probes, MANY);

                for (unsigned k = 0; k < MANY; k++) {
                    if (lawn_deadline(&probes[k].timer) == due) {
                        stop_probe(&s, &probes[k]);
                        stops++;
                    }
                }
            }
            if (running(&s) == 0) {
                break;
            }
            uint64_t before = next;
            next = lawn_next(s.lawn);
            CHECK(next >= before);
            uint64_t fired = total;
            size_t returned = mow_some_unchecked(&s, next, budget);
            early += total == fired;
            /* Only an unfinished mow leaves a reason to wake again at the
             * same time. */
            CHECK(returned == budget || lawn_next(s.lawn) > next);
        }
        CHECK_EQ(total + stops, MANY);
        uint64_t least = budget == SIZE_MAX ? 0 : MANY / budget;
        uint64_t opened = budget == SIZE_MAX
                              ? 0
                              : stats_of(&s).moved / (7 * budget + LEAST) + 1;
        CHECK(wakes <= SPREAD + least + wakes / 50 + 8 + opened);
        CHECK(early <= wakes / 50 + 8 + opened);
        scene_end(&s);
        free(probes);
    }
}

/* [P4] Timers of one TTL are rounded to one deadline, although they are started
 * at different times. Mows in between open the slot of the earlier ones, a few
 * entries at a time; later ones go to a lower level at once. */
TEST(timers_keep_their_order_while_their_slot_is_opened_bit_by_bit)
{
    enum { ROUNDS = 400, EACH = 20 };
    const uint64_t resolution = UINT64_C(1) << 15;
    struct scene s;

    for (int ground = UNQUEUED; ground < GROUNDS; ground++) {
        struct probe *probes = new_probes(2 * ROUNDS * EACH);
        uint64_t state = 3;
        unsigned many = 0;

        scene_begin(&s, (enum ground)ground);
        s.act = check_order;
        lawn_set_resolution(s.lawn, resolution);
        for (unsigned i = 0; i < ROUNDS * EACH; i++) {
            start_probe(&s, &probes[many++], 2 * resolution);
        }
        CHECK_EQ(mow_some(&s, 1, SIZE_MAX), 0);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t now = 1 + round * (resolution - 2) / ROUNDS;
            uint64_t r = chance(&state);

            /* A timer due at once, for some mows. */
            if (r % 4 == 0) {
                lawn_start_as(s.lawn, &s.probe[0].timer, 0, now);
                s.probe[0].due = lawn_deadline(&s.probe[0].timer);
                s.probe[0].id = UINT32_MAX;
            }
            (void)mow_bounded(&s, now, r % 3);
            for (unsigned i = 0; i < EACH; i++) {
                start_probe(&s, &probes[many], 2 * resolution);
                CHECK_EQ(probes[many].due, 3 * resolution);
                many++;
            }
            CHECK(lawn_check(s.lawn, stdout));
        }
        (void)mow_to_the_end(&s, 3 * resolution, 7);
        CHECK_EQ(running(&s), 0);
        scene_end(&s);
        free(probes);
    }
}

/* [P4] The same without rounding. A crowd of overdue timers is in the slot of
 * the clock; so mows open it, and with it the later deadlines. */
TEST(timers_keep_their_order_if_started_while_overdue_ones_share_their_slot)
{
    enum { CROWD = 20000, ROUNDS = 200, EACH = 10 };
    struct scene s;

    for (int ground = UNQUEUED; ground < GROUNDS; ground++) {
        for (size_t budget = 1; budget < 100; budget += 33) {
            struct probe *probes = new_probes(CROWD + ROUNDS * EACH);
            unsigned many = 0;

            scene_begin(&s, (enum ground)ground);
            s.act = check_order;
            for (; many < CROWD; many++) {
                start_probe(&s, &probes[many], FAR + many % SPREAD);
            }
            lawn_set_now(s.lawn, FAR + SPREAD);
            for (unsigned round = 0; round < ROUNDS; round++) {
                for (unsigned i = 0; i < EACH; i++) {
                    start_probe(&s, &probes[many], 1000 + i % 3 * 1000);
                    many++;
                }
                (void)mow_bounded(&s, FAR + SPREAD, budget);
                if (round % 20 == 0) {
                    CHECK(lawn_check(s.lawn, stdout));
                }
            }
            (void)mow_to_the_end(&s, FAR + SPREAD + 3000, budget);
            CHECK_EQ(total, many);
            scene_end(&s);
            free(probes);
        }
    }
}

/* [P8] [P9] Timers due at the last tick enter the index all at once. */
TEST(mows_of_a_small_budget_share_the_work_of_the_last_tick)
{
    struct scene s;

    for (int ground = 0; ground < GROUNDS; ground++) {
        struct probe *probes = new_probes(MANY);

        scene_begin(&s, (enum ground)ground);
        s.act = check_order;
        for (unsigned i = 0; i < MANY; i++) {
            start_probe(&s, &probes[i], LAWN_NEVER);
        }
        for (unsigned i = 0; i < s.crowded; i++) {
            s.crowd[i].due = lawn_deadline(&s.crowd[i].timer);
        }
        for (uint64_t calls = 0; lawn_count(s.lawn) > 0; calls++) {
            uint64_t before = count_work(&s);

            CHECK(mow_some_unchecked(&s, LAST, 50) > 0);
            CHECK(count_work(&s) - before <= 8 * 50 + LEAST);
            CHECK(calls <= 2 * MANY / 50);
        }
        CHECK_EQ(total, MANY + s.crowded);
        scene_end(&s);
        free(probes);
    }
}

/* The timers that the first callback stops, and their number. */
static struct probe *victims;
static unsigned victims_left;

static void
stop_victims(struct scene *s, struct probe *probe)
{
    check_order(s, probe);
    while (victims_left > 0) {
        victims_left--;
        stop_probe(s, &victims[victims_left]);
    }
}

/* [P8] Prefetching begins when nearly all of the limit is used up, and must not
 * exceed the rest. Then another crowded slot follows. The number of timers in
 * the first slot determines the rest. */
TEST(prefetching_does_not_exceed_the_limit_of_work)
{
    enum { BUDGET = 10000, LIMIT = 7 * BUDGET + 448, NEXT = 40000 };
    struct scene s;

    for (unsigned left = 1; left < 30; left += 2) {
        unsigned many = LIMIT - left;
        struct probe *probes = new_probes(many + NEXT);

        scene_begin(&s, UNQUEUED);
        victims = &probes[8];
        victims_left = many - 8;
        /* 8 timers at consecutive ticks, the victims some ticks later, and the
         * others in the next slot of the same level. */
        for (unsigned i = 0; i < many + NEXT; i++) {
            uint64_t later = i < 8 ? i : i < many ? 100 : FAR / 2 + i % 8;

            start_probe(&s, &probes[i], FAR + later);
        }
        /* The lawn detects very many timers. */
        start(&s, 0, 1);
        lawn_set_now(s.lawn, 1);
        CHECK_EQ(mow_unchecked(&s, 1), 1);
        CHECK_EQ(mow_unchecked(&s, 2), 0);
        s.act = stop_victims;
        (void)mow_to_the_end(&s, 2 * FAR, BUDGET);
        CHECK_EQ(victims_left, 0);
        CHECK(stats_of(&s).ahead > 0);
        CHECK_EQ(total, 8 + NEXT);
        scene_end(&s);
        free(probes);
    }
}

/* [P2] [P8] A timer is due in a slot of a higher level, before 100,000 timers
 * of the same slot. Finding it does not require moving these. */
TEST(a_due_timer_does_not_wait_until_a_crowd_of_later_ones_is_moved)
{
    static const size_t budgets[] = {1, 10, SIZE_MAX};
    struct scene s;

    for (size_t i = 0; i < COUNT(budgets); i++) {
        struct probe *probes = new_probes(MANY);

        scene_begin(&s, UNQUEUED);
        s.act = check_order;
        for (unsigned k = 0; k < MANY; k++) {
            start_probe(&s, &probes[k], FAR + 5000 + k % SPREAD);
        }
        /* From base FAR - 1 on, level 0 reaches the timer below. */
        CHECK_EQ(mow_some(&s, FAR - 1, budgets[i]), 0);
        for (uint64_t now = FAR + 1; now < FAR + 1000; now++) {
            uint64_t before = stats_of(&s).moved;

            start_at(&s, 0, now);
            CHECK_EQ(mow_some_unchecked(&s, now, budgets[i]), 1);
            CHECK(!pending(&s, 0));
            CHECK(stats_of(&s).moved - before <= 512);
        }
        CHECK(lawn_check(s.lawn, stdout));
        scene_end(&s);
        free(probes);
    }
}

/* Starts a timer whose TTL the lawn does not know, so that it is unqueued. */
static void
start_unqueued(struct scene *s, struct probe *probe, uint64_t deadline)
{
    lawn_start_as(s->lawn, &probe->timer, 0, deadline);
    probe->due = lawn_deadline(&probe->timer);
}

/* [P8] The first timer is the earliest of its slot, so the later ones do not
 * change the time of the next deadline. */
TEST(a_lawn_that_grows_opens_slots_ahead_of_time)
{
    enum { CROWD = 20000, DUE = 50048 };
    struct lawn_options options = {0};
    struct probe *probes = new_probes(CROWD);
    struct scene s;

    scene_begin_with(&s, &options);
    s.act = check_order;
    for (unsigned i = 0; i < CROWD; i++) {
        start_unqueued(&s, &probes[i], DUE + i % 100);
    }
    mow_each_tick(&s, 1, DUE + 100);
    CHECK_EQ(total, CROWD);
    scene_end(&s);
    free(probes);
}

/* [P8] A few timers move to a lower level. Many timers that are started later
 * share their new slot, which is opened ahead of time as well. */
TEST(a_slot_filled_by_a_move_is_opened_ahead_of_time)
{
    enum {
        FAR_ONES = 300,
        FEW = 10,
        LATER = 20000,
        DUE = 40000,
        START = 30000
    };
    const unsigned many = FAR_ONES + FEW + LATER;
    struct lawn_options options = {0};
    struct probe *probes = new_probes(many);
    struct scene s;

    scene_begin_with(&s, &options);
    s.act = check_order;
    for (unsigned i = 0; i < FAR_ONES; i++) {
        start_unqueued(&s, &probes[i],
                       (UINT64_C(1) << 50) - ((uint64_t)i << 40));
    }
    for (unsigned i = FAR_ONES; i < FAR_ONES + FEW; i++) {
        start_unqueued(&s, &probes[i], DUE);
    }
    mow_each_tick(&s, 1, START);
    for (unsigned i = FAR_ONES + FEW; i < many; i++) {
        start_unqueued(&s, &probes[i], DUE + 1 + i % 60);
    }
    mow_each_tick(&s, START + 1, DUE + 60);
    CHECK_EQ(total, FEW + LATER);
    scene_end(&s);
    free(probes);
}

/* [P8] One timer in each of many slots, all stopped but the last: a call that
 * clears an empty slot counts it. Each of the other slots counts once, on the
 * lowest level as on the higher ones, and the last timer counts once: it is
 * examined, or moved to the lowest level. */
TEST(empty_slots_count_as_work)
{
    enum { SLOTS = 1500 };
    struct lawn_options options = {0};
    struct scene s;

    for (unsigned asks = 0; asks < 2; asks++) {
        struct probe *probes = new_probes(SLOTS);
        unsigned calls = 1;

        scene_begin_with(&s, &options);
        s.act = check_order;
        unsigned many = start_in_each_slot(&s, probes);
        CHECK_EQ(many, SLOTS);
        uint64_t last = lawn_deadline(&probes[many - 1].timer);
        for (unsigned i = 0; i < many - 1; i++) {
            stop_probe(&s, &probes[i]);
        }
        struct lawn_counters before = stats_of(&s);
        if (asks != 0) {
            while (lawn_next(s.lawn) != last) {
                calls++;
                CHECK(stats_of(&s).looked - before.looked <= calls * LOOKS);
            }
            CHECK_EQ(stats_of(&s).looked - before.looked, SLOTS);
        } else {
            calls = (unsigned)mow_to_the_end(&s, last, 1);
            CHECK_EQ(total, 1);
            CHECK_EQ(stats_of(&s).moved - before.moved, SLOTS);
        }
        CHECK(calls >= 3);
        scene_end(&s);
        free(probes);
    }
}

/* [P8] Blades whose timers were stopped have entries in the slot of a tick.
 * Looking there for timers to prefetch is limited, too. */
TEST(prefetching_counts_entries_without_timers)
{
    enum { LONG = 70000, TTLS = 4000, DUE = 8000 };
    struct lawn_options options = {.blades = 16384};
    struct probe *probes = new_probes(LONG + TTLS);
    struct scene s;

    scene_begin_with(&s, &options);
    s.act = check_order;
    for (unsigned i = 0; i < LONG; i++) {
        start_probe(&s, &probes[i], 1000000);
    }
    for (unsigned i = 0; i < TTLS; i++) {
        lawn_set_now(s.lawn, 1 + i);
        start_probe(&s, &probes[LONG + i], DUE - 1 - i);
    }
    CHECK(stats_of(&s).live_blades > TTLS * 9 / 10);
    for (uint64_t now = TTLS + 1; now < DUE; now++) {
        CHECK_EQ(mow_some_unchecked(&s, now, 1), 0);
    }
    for (unsigned i = 0; i < TTLS; i++) {
        stop_probe(&s, &probes[LONG + i]);
    }
    uint64_t before = stats_of(&s).ahead;
    (void)mow_some_unchecked(&s, DUE, 1);
    CHECK_EQ(stats_of(&s).ahead - before, 1);
    scene_end(&s);
    free(probes);
}

/* [P8] Of each of the 8 stripes, a timer is due within 8 ticks; then one is
 * examined that is not. */
TEST(prefetching_counts_timers_that_are_not_due)
{
    enum { TIMERS = 100000, DUE = 2 * TIMERS - 8000 };
    struct lawn_options options = {.blades = 1024};
    struct probe *probes = new_probes(TIMERS);
    struct scene s;

    scene_begin_with(&s, &options);
    s.act = check_order;
    for (unsigned i = 0; i < TIMERS; i++) {
        lawn_set_now(s.lawn, i);
        start_probe(&s, &probes[i], TIMERS);
    }
    for (uint64_t now = TIMERS; now < DUE; now++) {
        CHECK_EQ(mow_some_unchecked(&s, now, SIZE_MAX), 1);
        start_probe(&s, &probes[now - TIMERS], TIMERS);
    }
    uint64_t before = stats_of(&s).ahead;
    CHECK_EQ(mow_some_unchecked(&s, DUE, 1000), 1);
    CHECK_EQ(stats_of(&s).ahead - before, 16);
    scene_end(&s);
    free(probes);
}
