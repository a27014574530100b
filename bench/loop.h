/* loop.h - runs one operation in a loop, for a profiler, and counts its
 * instructions with callgrind. */
#ifndef LAWN_BENCH_LOOP_H
#define LAWN_BENCH_LOOP_H

#include "results.h"

#include <stdio.h>

enum loop_operation {
    LOOP_START,
    LOOP_STOP,
    LOOP_RESTART,
    LOOP_IDLE, /* a mow with nothing due */
    LOOP_FIRE, /* firing and starting again */
    LOOP_OPERATIONS,
};
#define LOOP_LAST "last" /* events of a trace */
/* NULL after the last */
extern const char *const loop_names[LOOP_OPERATIONS + 1];

/* Runs the operation on a contender with n timers of 8 TTLs. Returns the number
 * of operations; 0 on failure. */
uint64_t loop_run(const struct contender *contender,
                  enum loop_operation operation, uint64_t n);

/* Replays the loaded trace (replay.h), the last events of it in a function that
 * callgrind counts. Returns the number of these events; 0 on failure. */
uint64_t loop_run_last(const struct contender *contender, uint64_t events);

/* Returns the instructions per operation that callgrind counts for a loop_run()
 * in a separate process: of everything that the loop calls or, if function is
 * not NULL, of that function alone. Returns a negative number if it could not
 * be counted, and stores the reason in *why if `why` is not NULL. */
double loop_count(const struct contender *contender,
                  enum loop_operation operation, uint64_t n,
                  const char *function, const char **why);

#endif
