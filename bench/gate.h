/* gate.h - the bars that a lawn has to hold, measured here and now. */
#ifndef LAWN_BENCH_GATE_H
#define LAWN_BENCH_GATE_H

#include "bench.h"

/* Measures, prints each bar and whether it holds, and tells the exit code: 1
 * if one does not hold or could not be measured. */
int gate_run(const struct bench_options *options,
             const struct bench_choice *choice);

#endif
