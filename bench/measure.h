/* measure.h - runs cells on contenders, interleaved, and stores the results.
 *
 * For each cell, every contender runs once in each round, and each round begins
 * with another contender: a machine that is slow for a while is slow for all.
 * W1 to W5 are stages of one life of a server, S1 to S7 of one life of a store.
 * Cells of one life run together.
 */
#ifndef LAWN_BENCH_MEASURE_H
#define LAWN_BENCH_MEASURE_H

#include "results.h"

struct measure_plan {
    const struct contender *const *contenders;
    size_t contender_count;
    const struct cell *cells; /* stages of one life are adjacent */
    size_t cell_count;
    unsigned runs;
    bool tails;        /* also time single operations, in one more run */
    size_t budget;     /* measure single calls, see tails.h, with this budget
                          of mows; 0: whole runs */
    uint64_t limit_ns; /* of one run of a contender; 0: by n */
    /* Called before each run. NULL: not called. */
    void (*progress)(const struct cell *cell, const struct contender *contender,
                     unsigned done, unsigned all);
};

/* Adds the results of each cell of the plan to results, until all are done or
 * the user interrupts; results->complete is false then. Returns false after
 * printing a message if there is no memory or contenders disagree about what
 * fires. */
bool measure(const struct measure_plan *plan, struct results *results);

#endif
