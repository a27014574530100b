/* store_oracle.h - what a store should do, in the plainest way there is.
 *
 * An array with a place for each id that a case knows, and copies of the bytes
 * in it; whatever is asked is answered by looking at all of them. It knows
 * nothing of how a store works. It is passed what was done to the store, and
 * judges each timer that fires, as it fires.
 */
#ifndef LAWN_TESTS_STORE_ORACLE_H
#define LAWN_TESTS_STORE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_ORACLE_WALKS 2u
#define STORE_ORACLE_RECENT 1021u
#define STORE_ORACLE_NONE UINT32_MAX

struct store_oracle_timer {
    uint8_t *id;
    size_t id_size;
    uint8_t *payload;
    size_t payload_size;
    uint64_t deadline; /* LAWN_NEVER: it is not there */
    uint64_t ttl;      /* never 0 */
    uint64_t order;    /* of starting, or of the last touch */
    uint64_t born;     /* the order when its id came; a restart keeps it */
    uint64_t era;      /* timers of different eras fire in any order */
    uint64_t visited[STORE_ORACLE_WALKS]; /* the last walk that returned it */
    bool stopped;                         /* why it is not there */
};

/* A walk over all timers by lawn_store_iterate(). */
struct store_oracle_walk {
    uint64_t number; /* 0: none under way */
    uint64_t began;  /* the order then */
};

/* A mow under way. */
struct store_oracle_mow {
    struct store_oracle_mow *outer;
    uint64_t until;
    uint64_t began; /* the order then: what was started since has to wait */
    size_t budget;
    size_t fired;
    uint64_t most; /* to be fired at the last tick: so many there were */
};

struct store_oracle {
    struct store_oracle_timer *timers;
    uint32_t many;
    bool thorough; /* look at all timers each time, not at every 4096th time */
    uint64_t looks;
    uint64_t now;
    uint64_t resolution;
    uint64_t order;
    uint64_t era;
    uint64_t last; /* the deadline that fired last */
    uint64_t max_timers;
    uint64_t count;
    uint64_t held; /* bytes of all ids and payloads */
    uint64_t fires;
    uint64_t walks;
    struct store_oracle_walk walk[STORE_ORACLE_WALKS];
    struct store_oracle_mow *mow; /* the innermost */
    /* What fired last, by TTL, as far as there is room. */
    struct store_oracle_timer recent[STORE_ORACLE_RECENT];
};

/* Memory that does not come from malloc(), which may be made to fail; free() it.
 * Never NULL. */
void *store_oracle_alloc(size_t size);

/* Places for many ids, which are made here: of all shapes if they are few, else
 * with their number in the last four bytes. */
void store_oracle_init(struct store_oracle *oracle, uint32_t many,
                       bool thorough);
void store_oracle_fini(struct store_oracle *oracle);

/* Nothing is there and nothing has fired: what a new store is like. */
void store_oracle_renew(struct store_oracle *oracle, uint64_t now,
                        uint64_t resolution);

/* The number of an id, or STORE_ORACLE_NONE. */
uint32_t store_oracle_find(const struct store_oracle *oracle, const void *id,
                           size_t size);

/* Copies payload; NULL keeps the one there is. */
void store_oracle_start(struct store_oracle *oracle, uint32_t number,
                        uint64_t ttl, const uint8_t *payload, size_t size);
void store_oracle_start_at(struct store_oracle *oracle, uint32_t number,
                           uint64_t deadline, const uint8_t *payload,
                           size_t size);
void store_oracle_update(struct store_oracle *oracle, uint32_t number,
                         const uint8_t *payload, size_t size);
void store_oracle_stop(struct store_oracle *oracle, uint32_t number);
void store_oracle_clear(struct store_oracle *oracle);
void store_oracle_set_now(struct store_oracle *oracle, uint64_t now);
uint64_t store_oracle_next(const struct store_oracle *oracle);

/* The store returned that this timer is due first. Looks at all of them. Returns
 * NULL, or which promise was broken. */
const char *store_oracle_first(const struct store_oracle *oracle,
                               uint32_t number);

/* All timers were moved, in their order, to a store in which nothing has fired;
 * or to the same one after it was cleared. */
void store_oracle_moved(struct store_oracle *oracle, uint64_t now,
                        uint64_t resolution);
void store_oracle_reloaded(struct store_oracle *oracle);

/* A mow begins; a timer fires in it; it ends. The latter two return NULL, or
 * which promise was broken. */
void store_oracle_begin_mow(struct store_oracle *oracle,
                            struct store_oracle_mow *mow, uint64_t now,
                            size_t budget);
const char *store_oracle_fire(struct store_oracle *oracle, uint32_t number);
const char *store_oracle_mown(struct store_oracle *oracle);

/* A walk begins; it returns a timer; it is at its end. */
void store_oracle_begin_walk(struct store_oracle *oracle, unsigned walk);
const char *store_oracle_visit(struct store_oracle *oracle, unsigned walk,
                               uint32_t number);
const char *store_oracle_walked(struct store_oracle *oracle, unsigned walk);

/* Whether it is time to look at all timers. */
bool store_oracle_looks(struct store_oracle *oracle);

#endif
