/* trace_load.h - loads a whole trace, to be replayed. */
#ifndef LAWN_BENCH_TRACE_LOAD_H
#define LAWN_BENCH_TRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole trace. An id has its own object while its timer runs; afterward
 * another id may use that object. So the number of objects is the largest
 * number of timers that run at once. A stop of a timer that is not running is
 * omitted. */
struct trace_event {
    uint64_t time;
    uint64_t ttl; /* 0: stop */
    uint32_t object;
    uint32_t which; /* index in ttls */
};

struct trace {
    struct trace_event *events;
    size_t count;
    uint32_t objects;
    uint64_t *ttls; /* all TTLs, ascending */
    size_t ttl_count;
    uint64_t unit_ns;
    uint64_t ignored; /* stops that were omitted */
};

/* Returns false after printing a message that begins with `program`. Then
 * nothing needs to be freed, and *exit_code is the exit code. */
bool trace_load(const char *program, const char *path, struct trace *out,
                int *exit_code);
void trace_free(struct trace *trace);

#endif
