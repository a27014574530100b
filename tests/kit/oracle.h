/* oracle.h - the expected behavior of a lawn, in the simplest way possible.
 *
 * An array of timers, each with its deadline; every question is answered by
 * looking at all of them. It is independent of how a lawn works. It records
 * each operation on the lawn, and judges each timer as it fires.
 */
#ifndef LAWN_TESTS_ORACLE_H
#define LAWN_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_timer {
    uint64_t deadline; /* LAWN_NEVER: idle */
    uint64_t due;      /* its last deadline; 0: never started */
    uint64_t ttl;      /* 0 only if lawn_start_as() was called without a TTL */
    uint64_t order;    /* sequence number of the start */
    uint64_t era; /* number of earlier changes to a resolution that was not a
                   * multiple of the last */
    uint64_t mow; /* the mow in which it was started, or 0 */
    uint64_t now; /* time of the start */
    bool as;      /* started by lawn_start_as() with a TTL */
    bool loose;   /* ... and it may fire before timers started earlier */
    bool stopped; /* why it is idle */
};

#define ORACLE_RECENT 1021u

struct oracle {
    struct oracle_timer *timers;
    uint32_t many;
    bool thorough; /* look at all timers every time, not every 4096th */
    uint64_t looks;
    uint64_t now;
    uint64_t resolution;
    uint64_t era;
    uint64_t order;
    uint64_t mows;
    bool mowing;
    uint64_t until; /* time passed to the current mow */
    uint64_t last;  /* last deadline that fired */
    uint64_t mown;  /* upper bound of the mowing position */
    /* [ttl % ORACLE_RECENT]: the last timer that fired. */
    struct oracle_timer recent[ORACLE_RECENT];
    uint64_t starts;
    uint64_t restarts;
    uint64_t stops;
    uint64_t fires;
    uint64_t count;
};

/* Returns the deadline of a timer started now; the TTL is not 0. */
uint64_t oracle_due(uint64_t now, uint64_t resolution, uint64_t ttl);

/* Sets all timers idle and all counts to 0. The caller has set timers, many and
 * thorough. */
void oracle_init(struct oracle *oracle, uint64_t now, uint64_t resolution);

void oracle_start(struct oracle *oracle, uint32_t timer, uint64_t ttl);
void oracle_start_at(struct oracle *oracle, uint32_t timer, uint64_t deadline);
bool oracle_stop(struct oracle *oracle, uint32_t timer);

/* Several deadlines may be valid; `is` is the one that the lawn chose. Returns
 * NULL, or the broken promise. */
const char *oracle_start_as(struct oracle *oracle, uint32_t timer, uint64_t ttl,
                            uint64_t deadline, uint64_t is);

/* All running timers were restarted on a lawn that was created at the time
 * `now` and then set to the present. */
void oracle_move(struct oracle *oracle, uint64_t now);

/* Returns whether the later one of two timers has to fire after the earlier
 * one. */
bool oracle_in_order(const struct oracle_timer *earlier,
                     const struct oracle_timer *later);

void oracle_set_now(struct oracle *oracle, uint64_t now);
void oracle_set_resolution(struct oracle *oracle, uint64_t resolution);
uint64_t oracle_next(const struct oracle *oracle);

/* The lawn returned this timer as the first one due. Looks at all timers.
 * Returns NULL, or the broken promise. */
const char *oracle_first(const struct oracle *oracle, uint32_t timer);

/* A mow begins; a timer fires in it; it ends and returns the number of fires.
 * The last two return NULL, or the broken promise. */
void oracle_mow(struct oracle *oracle, uint64_t now);
const char *oracle_fire(struct oracle *oracle, uint32_t timer);
const char *oracle_mown(struct oracle *oracle, size_t fired, size_t budget);

/* Returns whether it is time to look at all timers. */
bool oracle_looks(struct oracle *oracle);

#endif
