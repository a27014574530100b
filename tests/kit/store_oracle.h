/* store_oracle.h - the expected behavior of a store, in the simplest way
 * possible.
 *
 * An array with a place for each id of a case, with copies of the bytes; every
 * question is answered by looking at all of them. It is independent of how a
 * store works. It records each operation on the store, and judges each timer as
 * it fires.
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
    uint64_t deadline; /* LAWN_NEVER: not in the store */
    uint64_t ttl;      /* never 0 */
    uint64_t order;    /* sequence number of the start or last touch */
    uint64_t born;     /* order when the id was first started */
    uint64_t era;      /* timers of different eras fire in any order */
    uint64_t visited[STORE_ORACLE_WALKS]; /* the last walk that returned it */
    bool stopped;                         /* why it is not in the store */
};

/* A walk over all timers by lawn_store_iterate(). */
struct store_oracle_walk {
    uint64_t number; /* 0: not running */
    uint64_t began;  /* order at its beginning */
};

/* A running mow. */
struct store_oracle_mow {
    struct store_oracle_mow *outer;
    uint64_t until;
    uint64_t began; /* order at its beginning: later starts have to wait */
    size_t budget;
    size_t fired;
    uint64_t most; /* maximum number of fires at the last tick */
};

struct store_oracle {
    struct store_oracle_timer *timers;
    uint32_t many;
    bool thorough; /* look at all timers every time, not every 4096th */
    uint64_t looks;
    uint64_t now;
    uint64_t resolution;
    uint64_t order;
    uint64_t era;
    uint64_t last; /* last deadline that fired */
    uint64_t max_timers;
    uint64_t count;
    uint64_t held; /* bytes of all ids and payloads */
    uint64_t fires;
    uint64_t walks;
    struct store_oracle_walk walk[STORE_ORACLE_WALKS];
    struct store_oracle_mow *mow; /* the innermost */
    /* [ttl % STORE_ORACLE_RECENT]: the last timer that fired. */
    struct store_oracle_timer recent[STORE_ORACLE_RECENT];
};

/* Allocates memory without malloc(), which may be set to fail; release it with
 * free(). Never returns NULL. */
void *store_oracle_alloc(size_t size);

/* Creates `many` places and ids: ids of all kinds if `many` is small, otherwise
 * with their number in the last four bytes. */
void store_oracle_init(struct store_oracle *oracle, uint32_t many,
                       bool thorough);
void store_oracle_fini(struct store_oracle *oracle);

/* Resets to an empty store in which nothing has fired. */
void store_oracle_renew(struct store_oracle *oracle, uint64_t now,
                        uint64_t resolution);

/* Returns the number of an id, or STORE_ORACLE_NONE. */
uint32_t store_oracle_find(const struct store_oracle *oracle, const void *id,
                           size_t size);

/* Copies payload; NULL keeps the current one. */
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

/* The store returned this timer as the first one due. Looks at all timers.
 * Returns NULL, or the broken promise. */
const char *store_oracle_first(const struct store_oracle *oracle,
                               uint32_t number);

/* All timers were moved, in order, to a store in which nothing has fired; or to
 * the same one after it was cleared. */
void store_oracle_moved(struct store_oracle *oracle, uint64_t now,
                        uint64_t resolution);
void store_oracle_reloaded(struct store_oracle *oracle);

/* A mow begins; a timer fires in it; it ends. The last two return NULL, or the
 * broken promise. */
void store_oracle_begin_mow(struct store_oracle *oracle,
                            struct store_oracle_mow *mow, uint64_t now,
                            size_t budget);
const char *store_oracle_fire(struct store_oracle *oracle, uint32_t number);
const char *store_oracle_mown(struct store_oracle *oracle);

/* A walk begins; it returns a timer; it ends. */
void store_oracle_begin_walk(struct store_oracle *oracle, unsigned walk);
const char *store_oracle_visit(struct store_oracle *oracle, unsigned walk,
                               uint32_t number);
const char *store_oracle_walked(struct store_oracle *oracle, unsigned walk);

/* Returns whether it is time to look at all timers. */
bool store_oracle_looks(struct store_oracle *oracle);

#endif
