/* gate.h - the performance bars that a lawn must hold. */
#ifndef LAWN_BENCH_GATE_H
#define LAWN_BENCH_GATE_H

#include "bench.h"

/* Measures, and prints each bar and whether it holds. Returns the exit code: 1
 * if one does not hold or could not be measured. */
int gate_run(const struct bench_options *options,
             const struct bench_choice *choice);

#endif
