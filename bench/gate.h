/* gate.h - the performance limits that a lawn must meet. */
#ifndef LAWN_BENCH_GATE_H
#define LAWN_BENCH_GATE_H

#include "bench.h"

/* Measures, and prints each limit and whether it is met. Returns the exit code:
 * 1 if one does not hold or could not be measured. */
int gate_run(const struct bench_options *options,
             const struct bench_choice *choice);

#endif
