/* loop.h - one operation again and again, for a profiler to look at; and what
 * callgrind counts when it looks. */
#ifndef LAWN_BENCH_LOOP_H
#define LAWN_BENCH_LOOP_H

#include "results.h"

#include <stdio.h>

enum loop_operation {
    LOOP_START,
    LOOP_STOP,
    LOOP_RESTART,
    LOOP_IDLE, /* a mow that finds nothing due */
    LOOP_FIRE, /* and starting again */
    LOOP_OPERATIONS,
};
#define LOOP_LAST "last" /* events of a trace */
extern const char *const loop_names[LOOP_OPERATIONS + 1]; /* NULL ends them */

/* Runs the operation on a contender that holds n timers of 8 TTLs, and tells
 * how often it did; 0: it could not. */
uint64_t loop_run(const struct contender *contender,
                  enum loop_operation operation, uint64_t n);

/* Replays the trace that was loaded (replay.h), the last events of it in a block
 * of their own, and tells how many these are; 0: it could not. */
uint64_t loop_run_last(const struct contender *contender, uint64_t events);

/* Instructions per operation, as callgrind counts them in a loop_run() of a
 * process of its own; of all that the loop calls, or, if function is not NULL,
 * of that function alone. Negative: it could not be counted, and if why is not
 * NULL, it is told there. */
double loop_count(const struct contender *contender,
                  enum loop_operation operation, uint64_t n,
                  const char *function, const char **why);

#endif
