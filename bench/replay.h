/* replay.h - a trace as a workload: see trace_load.h. */
#ifndef LAWN_BENCH_REPLAY_H
#define LAWN_BENCH_REPLAY_H

#include "workloads.h"

/* "trace": replays the loaded trace up to its last event, on the clock of the
 * trace, which starts at tick 0 with the first event. Its cell has n =
 * replay_objects() and t = 0. */
extern struct workload replay_workload;

/* Loads a trace, replacing the previous one. Returns an exit code; unless it is
 * VERBS_OK, a message that begins with `program` ("lawn-bench") has been
 * printed. */
int replay_load(const char *program, const char *path);
uint64_t replay_objects(void);
size_t replay_events(void);

/* Replays the events from..to on a run with the trace's TTLs. Returns where it
 * stopped, which is before to if the run ended. */
size_t replay_part(struct run *run, size_t from, size_t to);

/* Frees the trace. */
void replay_release(void);

#endif
