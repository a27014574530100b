/* replay.h - a trace as a workload: see trace_load.h. */
#ifndef LAWN_BENCH_REPLAY_H
#define LAWN_BENCH_REPLAY_H

#include "workloads.h"

/* "trace": plays the trace that was loaded up to its last event, on its own
 * clock, its first event being at tick 0. Its cell has n = replay_objects() and
 * t = 0. */
extern struct workload replay_workload;

/* Loads a trace, instead of the last one. Returns an exit code; if that is not
 * VERBS_OK, a message has been printed that begins with who, "lawn bench". */
int replay_load(const char *who, const char *path);
uint64_t replay_objects(void);
size_t replay_events(void);

/* Plays some events, for others that have a run and its TTLs; tells how far it
 * came, which is less if the run does not go on. */
size_t replay_part(struct run *run, size_t from, size_t to);

/* Gives its memory back. */
void replay_release(void);

#endif
