/* record.h - a workload of the benchmark as a trace. */
#ifndef LAWN_BENCH_RECORD_H
#define LAWN_BENCH_RECORD_H

#include "bench.h"

/* Writes the trace that --record asks for. Returns an exit code; if that is not
 * VERBS_OK, an error message has been printed, or will be by output_close(). */
int record_run(const struct bench_options *options);

#endif
