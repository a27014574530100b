/* replay.h - a trace as a workload: see trace_read.h. */
#ifndef LAWN_BENCH_REPLAY_H
#define LAWN_BENCH_REPLAY_H

#include "trace_read.h"
#include "workloads.h"

/* "trace": plays the trace that was set, on its own clock, up to its last
 * event. Its cell has n = trace->objects, or 1 if that is 0, and t = 0. */
extern const struct workload replay_workload;

/* The trace stays the caller's, and must stay. */
void replay_set(const struct trace *trace);

#endif
