/* trace_load.h - a whole trace in memory, to be replayed. */
#ifndef LAWN_BENCH_TRACE_LOAD_H
#define LAWN_BENCH_TRACE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole trace. An id has an object of its own while its timer runs; when it
 * was stopped or has fired, another id may get that object. So there are as many
 * objects as timers run at once, at most. A stop that finds nothing running is
 * left out. */
struct trace_event {
    uint64_t time;
    uint64_t ttl; /* 0: stop */
    uint32_t object;
    uint32_t which; /* its ttl's place in ttls */
};

struct trace {
    struct trace_event *events;
    size_t count;
    uint32_t objects;
    uint64_t *ttls; /* all there are, ascending */
    size_t ttl_count;
    uint64_t unit_ns;
    uint64_t ignored; /* stops left out */
};

/* False: a message that begins with who has been printed, there is nothing
 * to free, and *exit_code is what to exit with. */
bool trace_load(const char *who, const char *path, struct trace *out,
                int *exit_code);
void trace_free(struct trace *trace);

#endif
