/* agree.h - checks the behavior of a contender before it is timed.
 *
 * Runs random operations on the contender and on an oracle, which is an array
 * of deadlines. A timer that fires must be running and due. All due timers must
 * have fired when a mow returns. The order must be the one that the contender's
 * flags promise. stop() and next() must return correct values. So any two exact
 * contenders fire the same timers at the same times.
 */
#ifndef LAWN_BENCH_AGREE_H
#define LAWN_BENCH_AGREE_H

#include "contender.h"

#include <stdio.h>

/* A start with a TTL of this or more may fail because there is no memory: some
 * schemes need memory proportional to the TTL. The rest of the sequence is then
 * skipped. */
#define AGREE_FAR (UINT64_C(1) << 26)

/* Runs a few thousand operations on a contender. Returns false, after printing
 * why to out, if it differs from the oracle or if there is no memory. A
 * contender that is not EXACT, or has no real stop(), promises nothing that
 * could be checked: returns true. */
bool agree_check(const struct contender *contender, uint64_t seed, FILE *out);

/* The same with about 80,000 timers at a time, of one TTL and of eight TTLs. */
bool agree_check_crowd(const struct contender *contender, uint64_t seed,
                       FILE *out);

#endif
