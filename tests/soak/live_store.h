/* live_store.h - the store of the soak test: see live.c. Functions that check
 * return NULL, or the broken promise. */
#ifndef LAWN_TESTS_LIVE_STORE_H
#define LAWN_TESTS_LIVE_STORE_H

#include "lawn_histogram.h"
#include "lawn_store.h"
#include "rng.h"

struct live_store {
    struct lawn_store *store;
    struct rng rng;
    uint64_t many;
    uint64_t tick;      /* in microseconds */
    uint64_t *deadline; /* of each id */
    uint32_t *size;     /* and of its payload, by id */
    uint64_t now;
    uint64_t time; /* start of the turn, in nanoseconds */
    uint64_t last; /* last deadline that fired */
    uint64_t owed; /* operations due, in billionths */
    uint64_t paced;
    const char *broken;
    struct lawn_histogram late; /* in microseconds, at the start of the turn */
};

/* Returns false if there is no memory. */
bool live_store_fill(struct live_store *live, uint64_t many, uint64_t tick,
                     uint64_t now, uint64_t seed);
void live_store_free(struct live_store *live);

const char *live_store_turn(struct live_store *live, uint64_t now,
                            uint64_t time);
uint64_t live_store_next(struct live_store *live);

/* Checks all timers, their payloads, and lawn_store_check(). */
const char *live_store_look(struct live_store *live);

#endif
