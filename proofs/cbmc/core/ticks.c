/* ticks.c - times that cannot wrap [P9]: src/core/ticks.h.
 *
 * @covers lawn__ticks_after lawn__ticks_round_up
 *
 * @proof ticks_after
 * For every now up to LAWN_LAST and every TTL: the result is the sum of now and
 * the TTL (at least 1) in 128 bits, limited to LAWN_LAST. So it is after now,
 * unless now is the last tick. It does not decrease as now or the TTL grows.
 *
 * @proof ticks_round_up
 * @flags --unwind 9
 * For every time up to LAWN_LAST, and resolutions of 2, 8, 64, 1024, 2^20,
 * 2^32, 2^62 and 2^63: LAWN_LAST, or the first multiple that is not before the
 * time. Not for every resolution: a remainder by an arbitrary 64-bit number is
 * too hard for a SAT solver.
 *
 * @proof ticks_round_up_small
 * The same for every resolution, with times and resolutions below 1024.
 */
#include "ticks.h"
#include "proof.h"

typedef unsigned __int128 proof_wide;

void
ticks_after(void)
{
    uint64_t now = nondet_u64();
    uint64_t ttl = nondet_u64();
    uint64_t later = nondet_u64();
    uint64_t longer = nondet_u64();
    proof_wide sum = (proof_wide)now + (ttl == 0 ? 1 : ttl);
    uint64_t deadline;

    ASSUME(now <= LAWN_LAST);
    ASSUME(later >= now && later <= LAWN_LAST && longer >= ttl);
    deadline = lawn__ticks_after(now, ttl);
    PROVE(deadline == (sum < LAWN_LAST ? (uint64_t)sum : LAWN_LAST),
          "[P9] the exact sum, or the last tick");
    PROVE(deadline > now || now == LAWN_LAST, "[P6] after now");
    PROVE(deadline <= LAWN_LAST, "[P9] not after the last tick");
    PROVE(deadline <= lawn__ticks_after(later, ttl), "[I1] grows with now");
    PROVE(deadline <= lawn__ticks_after(now, longer),
          "[I1] grows with the TTL");
    PROOF_END();
}

void
ticks_round_up(void)
{
    static const uint8_t places[] = {1, 3, 6, 10, 20, 32, 62, 63};
    uint64_t time = nondet_u64();
    uint32_t i;

    ASSUME(time <= LAWN_LAST);
    for (i = 0; i < sizeof(places); i++) {
        uint64_t resolution = UINT64_C(1) << places[i];
        uint64_t rounded = lawn__ticks_round_up(time, resolution);

        PROVE(rounded >= time, "[P1] not before the time");
        PROVE(rounded <= LAWN_LAST, "[P9] not after the last tick");
        PROVE(rounded == LAWN_LAST || rounded - time < resolution,
              "no multiple lies between");
        PROVE(rounded == LAWN_LAST || (rounded & (resolution - 1)) == 0,
              "a multiple");
    }
    PROOF_END();
}

void
ticks_round_up_small(void)
{
    uint64_t time = nondet_u64();
    uint64_t resolution = nondet_u64();
    uint64_t rounded;

    ASSUME(time < 1024 && resolution != 0 && resolution < 1024);
    rounded = lawn__ticks_round_up(time, resolution);
    PROVE(rounded >= time, "[P1] not before the time");
    PROVE(rounded - time < resolution, "no multiple lies between");
    PROVE((uint32_t)rounded % (uint32_t)resolution == 0, "a multiple");
    PROOF_END();
}
