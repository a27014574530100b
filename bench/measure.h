/* measure.h - runs cells on contenders, interleaved, and keeps what they took.
 *
 * For each cell, every contender has its turn in each round, and the rounds
 * begin with a different one each: a machine that is slow for a while is slow
 * for all. Cells that are stages of one life are played together.
 */
#ifndef LAWN_BENCH_MEASURE_H
#define LAWN_BENCH_MEASURE_H

#include "results.h"

struct measure_plan {
    const struct contender *const *contenders;
    size_t contender_count;
    const struct cell *cells; /* stages of one life next to each other */
    size_t cell_count;
    unsigned runs;
    bool tails; /* single operations are timed as well, in one more run */
    uint64_t limit_ns; /* for one run of a contender; 0: by n */
    /* Told before each run; NULL: nobody. */
    void (*progress)(const struct cell *cell, const struct contender *contender,
                     unsigned done, unsigned all);
};

/* Adds a cell's results to results for each cell of the plan, until it is done
 * or interrupted, which results->complete tells. False: out of memory, or
 * contenders disagree about what fires; a message has been printed. */
bool measure(const struct measure_plan *plan, struct results *results);

#endif
