/* store.h - what every store of the benchmark looks like: timers by id, with a
 * payload, as in lawn_store.h.
 *
 * A store is a contender that finds its timers by id instead of being handed an
 * object, and keeps a copy of a payload with each. Its face is what it has in
 * common with the others: name, version, make and free; there CONTENDER_STORE
 * is set, and start, stop and mow are NULL.
 *
 * Ids have STORE_ID bytes and payloads STORE_PAYLOAD, which a store may know
 * when it is compiled: someone who writes one for his own ids does. It is not
 * told how many timers to expect.
 *
 * What has no touch and no mow is a table only, for comparison. It ignores
 * TTLs, and tells a deadline of 0.
 */
#ifndef LAWN_BENCH_STORE_H
#define LAWN_BENCH_STORE_H

#include "contender.h"

#define STORE_ID 16u
#define STORE_PAYLOAD 32u

/* A timer as it is handed out: valid until the next call of the store, or until
 * the callback returns. */
struct store_timer {
    const void *id;
    const void *payload;
    uint64_t deadline;
};

/* Must not call the store. */
typedef void store_fire_fn(const struct store_timer *timer, void *arg);

struct store {
    struct contender face;

    /* Starts a timer, or replaces the one of this id, at now + ttl, now being
     * that of the last mow; ttl >= 1. False: no memory, and nothing has
     * changed. */
    bool (*start)(void *self, const void *id, uint64_t ttl,
                  const void *payload);

    /* True: there was one. */
    bool (*stop)(void *self, const void *id);

    /* True: there is one, and out tells of it. */
    bool (*get)(void *self, const void *id, struct store_timer *out);

    /* Restarts a timer, which keeps its payload. True: there is one. */
    bool (*touch)(void *self, const void *id, uint64_t ttl);

    /* Fires what is due by now in the order of deadlines, at most budget
     * timers; how many. */
    size_t (*mow)(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                  void *arg);

    uint64_t (*count)(void *self);

    /* All the memory that it holds; NULL: what malloc() has given it. */
    size_t (*bytes)(void *self);
};

/* The store that a contender with CONTENDER_STORE is the face of. */
static inline const struct store *
store_of(const struct contender *contender)
{
    return (const struct store *)(const void *)contender;
}

#endif
