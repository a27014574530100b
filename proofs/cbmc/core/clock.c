/* clock.c - the clock, and the deadline that a start has: src/core/lawn.c,
 * internal.h. Times are all 64-bit numbers; no timers are needed.
 *
 * @flags -DNDEBUG --unwind 18
 * @sources src/core/index.c src/core/blades.c
 * @without --unsigned-overflow-check: counters count up to 0, by wrapping; that
 *     times do not wrap is compared with sums in 128 bits
 * @without --conversion-check: counters and hashes again
 *
 * @proof clock_set
 * @covers lawn_set_now lawn__advance_clock lawn__move_clock lawn_now lawn__set_bound
 * For every time that is set: the clock never runs back, and never past LAWN_LAST
 * [P9]; whatever the tuning become, the wake is the bound, or 0 if someone asks
 * [I6], and the count stays [I7].
 *
 * @proof clock_plain
 * @covers lawn__move_clock lawn__ticks_after
 * For every now, TTL and tuning: a TTL below lawn->plain is one whose sum with
 * now is before LAWN_LAST, so the quick way of lawn_start() adds without looking
 * [P9]; and in a trial, or in bypass mode, or with a resolution, none is.
 *
 * @proof clock_due
 * @covers compute_deadline clamp_deadline may_use_blade lawn__count_starts lawn_count
 * For every now, TTL and deadline, at resolution 1: what a start has is the sum
 * cut at LAWN_LAST; what lawn_start_as() takes is not before the base [I4], not
 * after LAWN_LAST [P9], and after now while mowing [P6]; and what fits on a blade
 * is not after what a start would append [I1].
 */
#include "proof.h"

#include <lawn.c>
#include <tuning.c>

static struct lawn lawn;
static struct lawn_blade blades[16];
static struct lawn_mowing mowing;

typedef unsigned __int128 proof_wide;

/* Clock, counters, tuning and the table's fill are arbitrary. */
static void
proof_any_lawn(void)
{
    uint32_t i;

    lawn.now = nondet_u64();
    lawn.index.base = nondet_u64();
    ASSUME(lawn.index.base <= lawn.now && lawn.now <= LAWN_LAST);
    lawn.index.count = nondet_u32();
    lawn.index.known_time = nondet_u64();
    lawn.resolution = nondet_bool() ? 1 : 8;
    lawn.tuning.review_due = nondet_bool();
    lawn.tuning.trial = nondet_bool();
    lawn.tuning.bypass = nondet_bool();
    lawn.tuning.left = nondet_u64();
    lawn.tuning.starts = nondet_u64();
    lawn.tuning.misses = nondet_u64();
    lawn.starts = nondet_u64();
    lawn.misses = nondet_u64();
    lawn.stops = nondet_u64();
    lawn.fires = nondet_u64();
    lawn.plain_mask =
        lawn.tuning.trial || lawn.tuning.bypass || lawn.resolution != 1
            ? 0
            : UINT64_MAX;
    lawn__move_clock(&lawn, lawn.now);
    lawn__set_bound(&lawn, nondet_u64());
    lawn.blades.all = blades;
    lawn.blades.homes = 16;
    for (i = 0; i < 16; i++) {
        blades[i].queue.next = nondet_bool() ? &blades[i].queue : NULL;
    }
}

/* Whether lawn->plain is what it has to be. */
static bool
proof_plain(uint64_t ttl)
{
    bool any = lawn.tuning.trial || lawn.tuning.bypass || lawn.resolution != 1;

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

    proof_any_lawn();
    before = lawn.now;
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
    PROVE(lawn.wake == (lawn.tuning.review_due ? 0 : bound), "[I6] the wake");
    PROVE(lawn.alert >= bound && lawn.alert >= lawn.index.known_time,
          "[I10] the alert");
    PROVE(lawn_count(&lawn) == count, "[I7] the count stays");
    PROVE(proof_plain(nondet_u64()), "[P9] plain fits the clock");
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
          "[P9] the quick way is the long one");
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
          "[P6] not met by the mow under way");
    PROVE(deadline >= wanted || deadline == LAWN_LAST, "[P1] not earlier");
    PROVE(!may_use_blade(&lawn, ttl, deadline) ||
              (deadline <= lawn__ticks_after(lawn.now, ttl) && ttl != 0 &&
               ttl != LAWN_NEVER && !lawn.tuning.bypass),
          "[I1] not after what a start would append");
    PROVE(lawn_count(&lawn) ==
              lawn__count_starts(&lawn) - lawn.stops - lawn.fires,
          "[I7] the count");
    PROOF_END();
}
