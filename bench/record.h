/* record.h - writes a workload of the benchmark as a trace. */
#ifndef LAWN_BENCH_RECORD_H
#define LAWN_BENCH_RECORD_H

#include "bench.h"

/* Writes the trace of --record. Returns an exit code; unless it is VERBS_OK, an
 * error message has been printed, or output_close() will print one. */
int record_run(const struct bench_options *options);

#endif
