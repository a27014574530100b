/* agree.h - the gate before anything is timed: a contender does what it says.
 *
 * It is played random operations, and so is an oracle that knows nothing but
 * an array of deadlines. Whatever fires has to be running and due; whatever was
 * due has to have fired when a mow returns; the order has to be the one that
 * the contender's flags promise; stop() and next() have to tell the truth. So
 * any two exact contenders fire the same timers at the same times.
 */
#ifndef LAWN_BENCH_AGREE_H
#define LAWN_BENCH_AGREE_H

#include "contender.h"

#include <stdio.h>

/* A start with a TTL of this or more may fail for want of memory, for there are
 * schemes that need memory in proportion; what follows it is not played. */
#define AGREE_FAR (UINT64_C(1) << 26)

/* Plays a few thousand operations on a contender. False: it differs from the
 * oracle, or there was no memory; out is told how. A contender that is not
 * EXACT, or has no real stop(), promises nothing that could be checked: true.
 */
bool agree_check(const struct contender *contender, uint64_t seed, FILE *out);

/* The same with some 80,000 timers at a time, of one TTL and of eight. */
bool agree_check_crowd(const struct contender *contender, uint64_t seed,
                       FILE *out);

#endif
