/* stopwatch.h - measures how long single operations take.
 *
 * Wraps a contender or a store, and times each call while the run's measurement
 * is active, in TSC cycles if there is a TSC. Reading the time twice costs
 * about 20 ns, which is measured and subtracted; the remaining noise is a few
 * ns.
 */
#ifndef LAWN_BENCH_STOPWATCH_H
#define LAWN_BENCH_STOPWATCH_H

#include "run.h"
#include "store.h"
#include <lawn_histogram.h>

struct stopwatch {
    struct store store; /* its face is to be run */
    struct lawn_histogram stages[RUN_STAGES];
};

/* Wraps a contender for the next run; one at a time. The histograms are empty
 * then. */
void stopwatch_wrap(struct stopwatch *watch, const struct contender *inner,
                    const struct run *run);

/* Returns the time, in cycles of the TSC; without a TSC, in ns. */
static inline uint64_t
stopwatch_read(void)
{
#if defined __x86_64__
    unsigned aux = 0;

    return __builtin_ia32_rdtscp(&aux);
#else
    return run_clock();
#endif
}

/* Measures the clock itself, in 10 ms; later calls do nothing. Required before
 * the following functions. */
void stopwatch_calibrate(void);

/* Returns the cost of reading the time twice, in cycles. */
uint64_t stopwatch_cost(void);

/* Returns the length of a cycle in ns. */
double stopwatch_cycle(void);

/* Returns the cost of reading the time twice, in ns. */
double stopwatch_overhead(void);

#endif
