/* trace_live.h - the running timers of a trace, by id.
 *
 * A hash table finds a timer by its id; a lawn fires it. Each running timer
 * takes about 110 bytes, which are reused. All calls are O(1), except
 * trace_live_mow(): O(fired).
 */
#ifndef LAWN_CLI_TRACE_LIVE_H
#define LAWN_CLI_TRACE_LIVE_H

#include <lawn.h>

#define TRACE_LIVE_INLINE 24 /* bytes of an id that need no malloc() */

struct trace_live_timer {
    struct lawn_timer timer;
    uint64_t deadline; /* remains set after it has fired */
    uint32_t object;   /* index, unique among running timers; less than
                          the maximum number of running timers */
    uint32_t hash;
    uint32_t ttl; /* a number for the caller */
    uint32_t id_length;
    union {
        char bytes[TRACE_LIVE_INLINE];
        char *pointer;
    } id;
    struct trace_live_timer *next; /* the next free timer */
};

typedef void trace_live_fire_fn(const struct trace_live_timer *timer,
                                void *arg);

struct trace_live_entry;

struct trace_live {
    struct lawn *lawn;
    struct trace_live_entry *table;
    size_t mask; /* table entries - 1 */
    size_t count;
    struct trace_live_timer **blocks;
    uint32_t objects; /* number of timers, running and free */
    struct trace_live_timer *free;
    trace_live_fire_fn *fire; /* may be NULL */
    void *arg;
};

/* Returns false if there is no memory; then nothing needs to be freed. */
bool trace_live_init(struct trace_live *live, trace_live_fire_fn *fire,
                     void *arg);
void trace_live_fini(struct trace_live *live);

/* Fires all timers due by now, in the order of their deadlines. */
void trace_live_mow(struct trace_live *live, uint64_t now);

/* Returns the running timer of an id, or NULL. */
struct trace_live_timer *trace_live_find(struct trace_live *live,
                                         const char *id, size_t length);

/* Returns the timer of an id, and sets *was_running to whether it runs. The
 * caller must start it next. Returns NULL if there is no memory. */
struct trace_live_timer *trace_live_get(struct trace_live *live, const char *id,
                                        size_t length, bool *was_running);

void trace_live_start(struct trace_live *live, struct trace_live_timer *timer,
                      uint64_t ttl);
void trace_live_stop(struct trace_live *live, struct trace_live_timer *timer);

#endif
