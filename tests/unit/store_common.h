/* store_common.h - a trial: a store, an allocator that counts, and a log of
 * fired timers.
 *
 * Each fire in a trial is checked against P1 (not early), P4 (deadlines in
 * order, also across mows) and S3 (the timer has left the store, and its data
 * stay valid until the callback returns). lawn_store_check() runs after each
 * mow. When a trial ends, all memory must have been released [S7].
 */
#ifndef LAWN_TESTS_UNIT_STORE_COMMON_H
#define LAWN_TESTS_UNIT_STORE_COMMON_H

#include "common.h"
#include "lawn_store.h"

#define TRIAL_LOG 512u
#define TRIAL_TEXT 64u /* bytes recorded of each id and payload */

/* An allocator that counts, refuses requests if configured, and detects writes
 * past the end of a block. */
struct ledger {
    size_t bytes;    /* held now */
    size_t blocks;   /* held now */
    size_t requests; /* granted */
    size_t largest;  /* largest granted request */
    size_t refuse;   /* refuse the request after n more; SIZE_MAX: none */
    bool for_good;   /* refuse all later ones as well */
    size_t refused;
};

struct trial;
typedef void trial_act_fn(struct trial *trial,
                          const struct lawn_store_timer *timer);

struct trial {
    struct lawn_store *store;
    struct ledger ledger;
    trial_act_fn *act; /* called by the callback, or NULL */
    const char *id;    /* for act to use */
    unsigned depth;    /* nested mows */
    unsigned fired;    /* number of entries in ids and payloads */
    uint64_t mowing;   /* the latest time passed to a mow */
    uint64_t last_due; /* the deadline of the timer that fired last */
    char ids[TRIAL_LOG][TRIAL_TEXT];
    char payloads[TRIAL_LOG][TRIAL_TEXT];
};

/* The allocator: context is a ledger. */
void *trial_alloc(size_t size, void *context);
void trial_release(void *memory, void *context);

/* options may be NULL; the allocator is always that of the trial. */
void trial_begin(struct trial *trial, const struct lawn_store_options *options);
void trial_end(struct trial *trial);

/* Ids and payloads as strings; put() must succeed. */
void put(struct trial *trial, const char *id, uint64_t ttl,
         const char *payload);
int put_how(struct trial *trial, const char *id, uint64_t ttl,
            const char *payload, unsigned how);
bool drop(struct trial *trial, const char *id);
bool has(const struct trial *trial, const char *id);
struct lawn_store_timer look(const struct trial *trial, const char *id);

/* Checks that the timer exists with this payload and deadline. */
void check_timer(const struct trial *trial, const char *id, const char *payload,
                 uint64_t deadline, const char *file, int line);
#define CHECK_TIMER(trial, id, payload, deadline)                              \
    check_timer(trial, id, payload, deadline, __FILE__, __LINE__)

/* Numbers as ids. */
int put_number(struct trial *trial, uint64_t number, uint64_t ttl);
bool drop_number(struct trial *trial, uint64_t number);
bool has_number(const struct trial *trial, uint64_t number);

/* Mow with a budget, or without one; also in a callback. */
size_t trial_mow_some(struct trial *trial, uint64_t now, size_t budget);
size_t trial_mow(struct trial *trial, uint64_t now);

/* Checks which ids fired since the last such check, in this order, given as one
 * string separated by spaces; the same for payloads. */
void check_store_fired(struct trial *trial, const char *ids,
                       const char *payloads, const char *file, int line);
#define CHECK_STORE_FIRED(trial, ids)                                          \
    check_store_fired(trial, ids, NULL, __FILE__, __LINE__)
#define CHECK_STORE_FIRED_WITH(trial, ids, payloads)                           \
    check_store_fired(trial, ids, payloads, __FILE__, __LINE__)

/* Returns a hash of the whole contents of a store: ids, payloads, deadlines,
 * TTLs, and its clock. */
uint64_t trial_print(const struct trial *trial);

/* Returns whether a sanitizer or valgrind is active: slow, and with its own
 * memory management. */
bool watched(void);

/* Runs body in a child process, which exits with the return value of body: 0 on
 * success. body must not use CHECK(). */
void check_child(int (*body)(void));

#if defined __linux__
/* Makes a system call fail with error, or return 0 if error is 0, for the rest
 * of the process. The latest rule for a call applies. Returns false if the
 * process is not permitted to do this. */
bool refuse(unsigned call, unsigned error);

/* The same, only if argument number which (from 0) has this value in the bits
 * of mask. */
bool refuse_if(unsigned call, unsigned error, unsigned which, uint32_t mask,
               uint32_t value);
#endif

/* Returns many in a release build, few in one that is watched or not
 * optimized. */
unsigned how_many(unsigned many, unsigned some, unsigned few);

#endif
