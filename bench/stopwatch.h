/* stopwatch.h - how long single operations take.
 *
 * A contender that wraps another one, or a store, and times each call while
 * the run's own watch is running, in TSC cycles where there is a TSC. Taking
 * the time twice costs some 20 ns, which is measured and taken off; what is
 * left of that noise is a few ns.
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

/* Sets a watch around a contender for the next run: one at a time. The
 * histograms are empty then. */
void stopwatch_wrap(struct stopwatch *watch, const struct contender *inner,
                    const struct run *run);

/* What taking the time twice costs, in ns. */
double stopwatch_overhead(void);

#endif
