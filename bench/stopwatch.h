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

/* Returns the cost of reading the time twice, in ns. */
double stopwatch_overhead(void);

#endif
