/* clock.c - the clock, and the deadline that a start computes: src/core/lawn.c,
 * internal.h. Times are arbitrary 64-bit numbers; no timers are needed.
 *
 * @flags -DNDEBUG --unwind 18
 * @sources src/core/index.c src/core/blades.c src/core/class_heap.c
 * @without --unsigned-overflow-check: counters count up to 0 by wrapping; sums
 *     in 128 bits check that times do not wrap
 * @without --conversion-check: the same, and hashes
 *
 * @proof clock_set
 * @covers lawn_set_now lawn__advance_clock lawn__move_clock lawn_now
 *     lawn__set_bound lawn__tuning_review set_mode begin_count
 *     are_blades_useless lawn__tuning_settle
 * For every time that is set: the clock never runs back, and never past
 * LAWN_LAST [P9]. Whatever the tuning becomes, the wake time is not after the
 * bound, and 0 if a review is requested [I6]; it is before the bound only for a
 * review, or to open slots ahead of time; and the count does not change [I7].
 * The tuning stays valid. Its mode changes only if the clock moves and the
 * resolution is 1 [P4].
 *
 * @proof clock_resolution
 * @covers lawn_set_resolution lawn__tuning_keep set_mode begin_count
 *     lawn__tuning_settle lawn__saturating_add
 * For all resolutions up to 15: clock, bound and count do not change. No review
 * is due, except one that was due before while the lawn bypasses its blades.
 * The tuning stays valid: with a resolution above 1, the lawn uses its blades.
 * Otherwise its mode does not change [P4].
 *
 * @proof clock_plain
 * @covers lawn__move_clock lawn__ticks_after
 * For every now, TTL and tuning: the sum of now and a TTL below lawn->plain is
 * before LAWN_LAST, so the fast path of lawn_start() adds without a check [P9].
 * In bypass mode, with a resolution, or after a change of it, no TTL is below
 * lawn->plain.
 *
 * @proof clock_due
 * @covers compute_deadline clamp_deadline may_use_blade lawn__count_starts lawn_count
 * For every now, TTL and deadline, at resolution 1: a start gets the sum,
 * limited to LAWN_LAST. A deadline given to lawn_start_as() becomes one that is
 * not before the base [I4], not after LAWN_LAST [P9], and after now while
 * mowing [P6]. A deadline that is accepted for the blade of a TTL is not after
 * the deadline of a new start with this TTL [I1].
 */
#include "proof.h"

#include <lawn.c>
#include <tuning.c>

#include "any_tuning.h"

static struct lawn lawn;
static struct lawn_mowing mowing;

typedef unsigned __int128 proof_wide;

/* Clock, counters, tuning and the number of index entries are arbitrary. */
static void
proof_any_lawn(void)
{
    lawn.now = nondet_u64();
    lawn.index.base = nondet_u64();
    ASSUME(lawn.index.base <= lawn.now && lawn.now <= LAWN_LAST);
    lawn.index.count = nondet_u32();
    lawn.classes.next = LAWN_NEVER; /* no classes */
    lawn.index.prepare = nondet_u64();
    lawn.settled = nondet_u64();
    lawn.resolution = nondet_bool() ? 1 : 8;
    lawn.tuning.review_due = nondet_bool();
    lawn.tuning.starts = nondet_u64();
    lawn.starts = nondet_u64();
    lawn.stops = nondet_u64();
    lawn.fires = nondet_u64();
    lawn.blades.stripe = nondet_bool() ? LAWN_BLADES_SPARE : 0;
    proof_any_tuning(&lawn);
    ASSUME(proof_tuning(&lawn));
    lawn__move_clock(&lawn, lawn.now);
    lawn__set_bound(&lawn, nondet_u64());
    lawn.blades.homes = 16;
}

/* Returns whether lawn->plain has the value that the tuning requires. */
static bool
proof_plain(uint64_t ttl)
{
    bool any = lawn.tuning.bypass || lawn.resolution != 1 || lawn.settled != 0;

    return (ttl < lawn.plain) ==
           (!any && (proof_wide)lawn.now + ttl < LAWN_LAST);
}

void
clock_set(void)
{
    uint64_t now = nondet_u64();
    uint64_t before;
    uint64_t bound;
    uint64_t count;
    bool bypass;
    uint32_t stripe;

    proof_any_lawn();
    before = lawn.now;
    bypass = lawn.tuning.bypass;
    stripe = lawn.blades.stripe;
    bound = lawn.bound;
    count = lawn_count(&lawn);
    lawn_set_now(&lawn, now);
    PROVE(lawn_now(&lawn) >= before, "[P9] never back");
    PROVE(lawn_now(&lawn) <= LAWN_LAST, "[P9] never past the last tick");
    PROVE(now < before || now > LAWN_LAST || lawn_now(&lawn) == now,
          "the time that was set");
    PROVE(now < LAWN_LAST || lawn_now(&lawn) == LAWN_LAST, "[P9] the last");
    PROVE(lawn.index.base <= lawn.now, "[I9] not before the base");
    PROVE(lawn.bound == bound, "[I6] the bound stays");
    PROVE(lawn.wake <= bound, "[I6] the wake is not after the bound");
    PROVE(!lawn.tuning.review_due || lawn.wake == 0, "[I6] a review");
    PROVE(lawn.tuning.review_due || lawn.wake == bound ||
              lawn.wake == lawn.index.prepare,
          "[I6] the wake is the bound, or slots can be opened");
    PROVE(lawn_count(&lawn) == count, "[I7] the count stays");
    PROVE(proof_plain(nondet_u64()), "[P9] plain fits the clock");
    PROVE(proof_tuning(&lawn), "the tuning is valid");
    PROVE((lawn.now != before && lawn.resolution == 1) ||
              (lawn.tuning.bypass == bypass && lawn.blades.stripe == stripe),
          "[P4] the mode changes only when the clock moves");
    PROOF_END();
}

void
clock_resolution(void)
{
    uint64_t resolution = nondet_u64() % 16;
    uint64_t now;
    uint64_t bound;
    uint64_t count;
    bool bypass;
    bool due;
    uint32_t stripe;

    proof_any_lawn();
    now = lawn.now;
    bound = lawn.bound;
    count = lawn_count(&lawn);
    bypass = lawn.tuning.bypass;
    due = lawn.tuning.review_due;
    stripe = lawn.blades.stripe;
    lawn_set_resolution(&lawn, resolution);
    PROVE(lawn.resolution == (resolution != 0 ? resolution : 1), "as set");
    PROVE(lawn.now == now && lawn_count(&lawn) == count, "[P9] [I7] no change");
    PROVE(lawn.bound == bound && lawn.wake <= bound, "[I6] the bound stays");
    PROVE(!lawn.tuning.review_due || (due && lawn.tuning.bypass),
          "the next review is postponed");
    PROVE(proof_plain(nondet_u64()), "[P9] plain fits the clock");
    PROVE(proof_tuning(&lawn), "the tuning is valid");
    PROVE(lawn.blades.stripe == stripe &&
              lawn.tuning.bypass == (bypass && resolution <= 1),
          "[P4] the mode stays, or the lawn uses its blades");
    PROOF_END();
}

void
clock_plain(void)
{
    uint64_t ttl = nondet_u64();

    proof_any_lawn();
    PROVE(proof_plain(ttl), "[P9] below plain: does not wrap");
    PROVE(ttl >= lawn.plain || ttl == 0 ||
              lawn.now + ttl == lawn__ticks_after(lawn.now, ttl),
          "[P9] the fast path equals the slow path");
    PROOF_END();
}

void
clock_due(void)
{
    uint64_t ttl = nondet_u64();
    uint64_t wanted = nondet_u64();
    uint64_t deadline;

    proof_any_lawn();
    lawn.resolution = 1;
    PROVE(compute_deadline(&lawn, ttl) == lawn__ticks_after(lawn.now, ttl),
          "[P9] the sum, or the last tick");
    lawn.mowing = nondet_bool() ? &mowing : NULL;
    deadline = clamp_deadline(&lawn, wanted);
    PROVE(deadline >= lawn.index.base, "[I4] not before the base");
    PROVE(deadline <= LAWN_LAST, "[P9] not after the last tick");
    PROVE(lawn.mowing == NULL || deadline > lawn.now || lawn.now == LAWN_LAST,
          "[P6] not reached by the mow in progress");
    PROVE(deadline >= wanted || deadline == LAWN_LAST, "[P1] not earlier");
    PROVE(!may_use_blade(&lawn, ttl, deadline) ||
              (deadline <= lawn__ticks_after(lawn.now, ttl) && ttl != 0 &&
               ttl != LAWN_NEVER && !lawn.tuning.bypass),
          "[I1] not after the deadline of a new start");
    PROVE(lawn_count(&lawn) ==
              lawn__count_starts(&lawn) - lawn.stops - lawn.fires,
          "[I7] the count");
    PROOF_END();
}
