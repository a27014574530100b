/* trace_live.h - the timers of a trace that run, by their ids.
 *
 * A hash table finds a timer by its id; a lawn tells when it fires. Memory is
 * taken for timers that run, about 110 bytes each, and used again for others.
 * All calls are O(1), but trace_live_mow(): O(fired).
 */
#ifndef LAWN_CLI_TRACE_LIVE_H
#define LAWN_CLI_TRACE_LIVE_H

#include <lawn.h>

#define TRACE_LIVE_INLINE 24 /* bytes of an id that need no malloc() */

struct trace_live_timer {
    struct lawn_timer timer;
    uint64_t deadline; /* also when it has fired */
    uint32_t object;   /* one that no other has that runs; there are as many in
                          use as ever ran at once */
    uint32_t hash;
    uint32_t ttl; /* a number of the user's */
    uint32_t id_length;
    union {
        char bytes[TRACE_LIVE_INLINE];
        char *pointer;
    } id;
    struct trace_live_timer *next; /* the next that is free */
};

typedef void trace_live_fire_fn(const struct trace_live_timer *timer,
                                void *arg);

struct trace_live_entry;

struct trace_live {
    struct lawn *lawn;
    struct trace_live_entry *table;
    size_t mask; /* entries of the table - 1 */
    size_t count;
    struct trace_live_timer **blocks;
    uint32_t objects; /* how many timers there are, running and free */
    struct trace_live_timer *free;
    trace_live_fire_fn *fire; /* may be NULL */
    void *arg;
};

/* False: no memory; nothing is to be freed. */
bool trace_live_init(struct trace_live *live, trace_live_fire_fn *fire,
                     void *arg);
void trace_live_fini(struct trace_live *live);

/* Fires what is due by now, in the order of deadlines. */
void trace_live_mow(struct trace_live *live, uint64_t now);

/* The timer of an id that runs, else NULL. */
struct trace_live_timer *trace_live_find(struct trace_live *live,
                                         const char *id, size_t length);

/* The timer of an id, running or not; *was_running tells. It must be started
 * next. NULL: no memory. */
struct trace_live_timer *trace_live_get(struct trace_live *live, const char *id,
                                        size_t length, bool *was_running);

void trace_live_start(struct trace_live *live, struct trace_live_timer *timer,
                      uint64_t ttl);
void trace_live_stop(struct trace_live *live, struct trace_live_timer *timer);

#endif
