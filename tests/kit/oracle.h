/* oracle.h - what a lawn should do, in the plainest way there is.
 *
 * An array of timers, each with its deadline; whatever is asked is answered by
 * looking at all of them. It knows nothing of how a lawn works. It is passed what
 * was done to the lawn, and judges each timer that fires, as it fires.
 */
#ifndef LAWN_TESTS_ORACLE_H
#define LAWN_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_timer {
    uint64_t deadline; /* LAWN_NEVER: idle */
    uint64_t due;      /* its last deadline; 0: it never had one */
    uint64_t ttl;      /* 0 only if it was started as one of no TTL */
    uint64_t order;    /* of starting */
    uint64_t era;      /* how often the resolution had become finer */
    uint64_t mow;      /* the mow in which it was started, or 0 */
    uint64_t now;      /* the time when it was started */
    bool as;           /* started by lawn_start_as() with a TTL */
    bool loose;        /* ... and it may fire before those started earlier */
    bool stopped;      /* why it is idle */
};

#define ORACLE_RECENT 1021u

struct oracle {
    struct oracle_timer *timers;
    uint32_t many;
    bool thorough; /* look at all timers each time, not at every 4096th time */
    uint64_t looks;
    uint64_t now;
    uint64_t resolution;
    uint64_t era;
    uint64_t order;
    uint64_t mows;
    bool mowing;
    uint64_t until; /* the time that the mow under way was given */
    uint64_t last;  /* the deadline that fired last */
    uint64_t mown;  /* mows cannot have come further than here */
    /* What fired last, by TTL, as far as there is room. */
    struct oracle_timer recent[ORACLE_RECENT];
    uint64_t starts;
    uint64_t restarts;
    uint64_t stops;
    uint64_t fires;
    uint64_t count;
};

/* When a timer is due that is started now, with a TTL that is not 0. */
uint64_t oracle_due(uint64_t now, uint64_t resolution, uint64_t ttl);

/* All timers idle, nothing counted. The caller has set timers, many and
 * thorough. */
void oracle_init(struct oracle *oracle, uint64_t now, uint64_t resolution);

void oracle_start(struct oracle *oracle, uint32_t timer, uint64_t ttl);
void oracle_start_at(struct oracle *oracle, uint32_t timer, uint64_t deadline);
bool oracle_stop(struct oracle *oracle, uint32_t timer);

/* The lawn has made it is: which of several deadlines that may be, it knows
 * best. Returns NULL, or which promise was broken. */
const char *oracle_start_as(struct oracle *oracle, uint32_t timer, uint64_t ttl,
                            uint64_t deadline, uint64_t is);

/* All running timers were started again, on a lawn that was made at the given
 * time and then set to the present. */
void oracle_move(struct oracle *oracle, uint64_t now);

/* Whether the later one of two timers has to fire after the earlier one. */
bool oracle_in_order(const struct oracle_timer *earlier,
                     const struct oracle_timer *later);

void oracle_set_now(struct oracle *oracle, uint64_t now);
void oracle_set_resolution(struct oracle *oracle, uint64_t resolution);
uint64_t oracle_next(const struct oracle *oracle);

/* The lawn returned that this timer is due first. Looks at all of them. Returns NULL,
 * or which promise was broken. */
const char *oracle_first(const struct oracle *oracle, uint32_t timer);

/* A mow begins; a timer fires in it; it ends and returns how many fired. The
 * latter two return NULL, or which promise was broken. */
void oracle_mow(struct oracle *oracle, uint64_t now);
const char *oracle_fire(struct oracle *oracle, uint32_t timer);
const char *oracle_mown(struct oracle *oracle, size_t fired, size_t budget);

/* Whether it is time to look at all timers. */
bool oracle_looks(struct oracle *oracle);

#endif
