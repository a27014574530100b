/* store.h - the interface of stores: timers by id, with a payload, as in
 * lawn_store.h.
 *
 * A store is a contender that finds its timers by id, and keeps a copy of a
 * payload with each. Its face has the members that all contenders have: name,
 * version, make and free. It has CONTENDER_STORE set; start, stop and mow are
 * NULL.
 *
 * Ids have STORE_ID bytes and payloads STORE_PAYLOAD. A store may be compiled
 * for these sizes, as one written for certain ids would be. The number of
 * timers is not announced.
 *
 * A store without touch and mow is only a table, for comparison. It ignores
 * TTLs, and returns a deadline of 0.
 */
#ifndef LAWN_BENCH_STORE_H
#define LAWN_BENCH_STORE_H

#include "contender.h"

#define STORE_ID 16u
#define STORE_PAYLOAD 32u

/* A timer as a store returns it: valid until the next call of the store, or
 * until the callback returns. */
struct store_timer {
    const void *id;
    const void *payload;
    uint64_t deadline;
};

/* Must not call the store. */
typedef void store_fire_fn(const struct store_timer *timer, void *arg);

struct store {
    struct contender face;

    /* Starts a timer, or replaces the one with this id, at now + ttl, where now
     * is the time of the last mow; ttl >= 1. Returns false if there is no
     * memory; then nothing has changed. */
    bool (*start)(void *self, const void *id, uint64_t ttl,
                  const void *payload);

    /* Returns true if it was running. */
    bool (*stop)(void *self, const void *id);

    /* Returns true and fills *out if the timer exists. */
    bool (*get)(void *self, const void *id, struct store_timer *out);

    /* Restarts a timer, which keeps its payload. Returns true if it exists. */
    bool (*touch)(void *self, const void *id, uint64_t ttl);

    /* Fires timers due by now in the order of deadlines, at most budget.
     * Returns their number. */
    size_t (*mow)(void *self, uint64_t now, size_t budget, store_fire_fn *fire,
                  void *arg);

    uint64_t (*count)(void *self);

    /* Returns the memory in use. NULL: use malloc()'s count. */
    size_t (*bytes)(void *self);
};

/* Returns the store of a face with CONTENDER_STORE. */
static inline const struct store *
store_of(const struct contender *contender)
{
    return (const struct store *)(const void *)contender;
}

#endif
