/* store_common.h - a trial: a store, an allocator that counts, and a record of
 * what fired.
 *
 * Whatever a test is about, each firing in a trial is checked against P1 (not
 * early), P4 (deadlines in order, across mows too) and S3 (the timer has left
 * the store, and what was handed out stays until the callback returns), and
 * lawn_store_check() runs after each mow. When a trial ends, all memory must
 * have come back [S7].
 */
#ifndef LAWN_TESTS_UNIT_STORE_COMMON_H
#define LAWN_TESTS_UNIT_STORE_COMMON_H

#include "common.h"
#include "lawn_store.h"

#define TRIAL_LOG 512u
#define TRIAL_TEXT 64u /* ids and payloads are recorded up to here */

/* An allocator that keeps count, refuses if asked to, and checks that nobody
 * writes behind a block. */
struct ledger {
    size_t bytes;    /* held now */
    size_t blocks;   /* held now */
    size_t requests; /* that were granted */
    size_t largest;  /* of them */
    size_t refuse;   /* refuse the request after so many; SIZE_MAX: none */
    bool for_good;   /* and all later ones */
    size_t refused;
};

struct trial;
typedef void trial_act_fn(struct trial *trial,
                          const struct lawn_store_timer *timer);

struct trial {
    struct lawn_store *store;
    struct ledger ledger;
    trial_act_fn *act; /* what the callback does, or NULL */
    const char *id;    /* for act to use */
    unsigned depth;    /* mows under way */
    unsigned fired;    /* how many stand in ids and payloads */
    uint64_t mowing;   /* the latest time given to a mow */
    uint64_t last_due; /* the deadline of the timer that fired last */
    char ids[TRIAL_LOG][TRIAL_TEXT];
    char payloads[TRIAL_LOG][TRIAL_TEXT];
};

/* The allocator: context is a ledger. */
void *trial_alloc(size_t size, void *context);
void trial_release(void *memory, void *context);

/* options may be NULL; the allocator is that of the trial in any case. */
void trial_begin(struct trial *trial, const struct lawn_store_options *options);
void trial_end(struct trial *trial);

/* By ids and payloads that are strings; put() must succeed. */
void put(struct trial *trial, const char *id, uint64_t ttl,
         const char *payload);
int put_how(struct trial *trial, const char *id, uint64_t ttl,
            const char *payload, unsigned how);
bool drop(struct trial *trial, const char *id);
bool has(const struct trial *trial, const char *id);
struct lawn_store_timer look(const struct trial *trial, const char *id);

/* The timer is there, with this payload and deadline. */
void check_timer(const struct trial *trial, const char *id, const char *payload,
                 uint64_t deadline, const char *file, int line);
#define CHECK_TIMER(trial, id, payload, deadline)                              \
    check_timer(trial, id, payload, deadline, __FILE__, __LINE__)

/* By numbers as ids. */
int put_number(struct trial *trial, uint64_t number, uint64_t ttl);
bool drop_number(struct trial *trial, uint64_t number);
bool has_number(const struct trial *trial, uint64_t number);

/* With a budget, or without one; also in a callback. */
size_t trial_mow_some(struct trial *trial, uint64_t now, size_t budget);
size_t trial_mow(struct trial *trial, uint64_t now);

/* Ids that fired since the last such check, in this order, as one string with
 * spaces between; payloads alike. */
void check_store_fired(struct trial *trial, const char *ids,
                       const char *payloads, const char *file, int line);
#define CHECK_STORE_FIRED(trial, ids)                                          \
    check_store_fired(trial, ids, NULL, __FILE__, __LINE__)
#define CHECK_STORE_FIRED_WITH(trial, ids, payloads)                           \
    check_store_fired(trial, ids, payloads, __FILE__, __LINE__)

/* A number that stands for all that a store holds: ids, payloads, deadlines,
 * TTLs, and its clock. */
uint64_t trial_print(const struct trial *trial);

/* Whether a sanitizer or valgrind looks on: slow, and memory is not its own. */
bool watched(void);

/* Runs body in a child process, which exits with what it returns: 0 if all is
 * well. A check is not for it to make. */
void check_child(int (*body)(void));

#if defined __linux__
/* From here on, for good, a system call does nothing but return an error; or 0,
 * if that is 0. What was refused last counts. False: we may not. */
bool refuse(unsigned call, unsigned error);

/* The same, but only if its argument number which, from 0, has this value in
 * the bits of mask. */
bool refuse_if(unsigned call, unsigned error, unsigned which, uint32_t mask,
               uint32_t value);
#endif

/* Many in a program as shipped, few in one that is watched or not optimised. */
unsigned how_many(unsigned many, unsigned some, unsigned few);

#endif
