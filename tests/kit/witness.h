/* witness.h - a second judge of a lawn, written independently of the first
 * (oracle.h) and with another method, from include/lawn.h alone.
 *
 * The oracle is an array of timers and looks at all of them to judge a fire.
 * The witness keeps the running timers in a line, sorted by deadline and then
 * by the order of starting. A firing timer must be the first, or be preceded
 * only by timers of its deadline that P4 lets it overtake. Timers started by
 * callbacks are in a separate line until their mow has ended [P6]. So the
 * witness checks as much at every step, in a fraction of the time.
 *
 * It is also stricter than the oracle: it limits the mowing position by the
 * deadlines that lawn_start_as() returned.
 */
#ifndef LAWN_TESTS_WITNESS_H
#define LAWN_TESTS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WITNESS_MAX 256u

enum witness_place { WITNESS_IDLE, WITNESS_RUNS, WITNESS_FRESH };

struct witness_timer {
    enum witness_place place;
    uint64_t deadline;
    uint64_t order;   /* sequence number of the start */
    uint64_t ttl;     /* 0: none */
    uint64_t clock;   /* time of the start */
    uint64_t changes; /* changes of the resolution before the start */
    bool lent;        /* started by lawn_start_as() with a TTL */
    bool behind;      /* ... while later timers of the TTL were running */
};

struct witness_line {
    uint32_t length;
    uint16_t timer[WITNESS_MAX];
};

struct witness {
    struct witness_timer timer[WITNESS_MAX];
    struct witness_line line;
    struct witness_line fresh;
    bool mowing;
    uint64_t clock;
    uint64_t until; /* what the current mow may fire */
    uint64_t resolution;
    uint64_t changes; /* to a resolution that is not a multiple of the last */
    uint64_t order;
    uint64_t fired;    /* the latest deadline that has fired */
    uint64_t come;     /* lower bound of the mowing position */
    uint64_t come_max; /* upper bound of the mowing position */
};

/* Starts with a new lawn, created with these values. */
void witness_init(struct witness *witness, uint64_t now, uint64_t resolution);

void witness_start(struct witness *witness, uint32_t i, uint64_t ttl);
void witness_start_at(struct witness *witness, uint32_t i, uint64_t deadline);
bool witness_stop(struct witness *witness, uint32_t i);
void witness_set_now(struct witness *witness, uint64_t now);
void witness_set_resolution(struct witness *witness, uint64_t resolution);

/* All timers were moved to a lawn created at time made and set to the
 * present. */
void witness_move(struct witness *witness, uint64_t made);

/* The current state. */
uint64_t witness_count(const struct witness *witness);
uint64_t witness_next(const struct witness *witness);
uint64_t witness_deadline(const struct witness *witness, uint32_t i);

/* The other functions return NULL, or the broken promise. */

/* The lawn gave the timer this deadline. */
const char *witness_start_as(struct witness *witness, uint32_t i, uint64_t ttl,
                             uint64_t asked, uint64_t given);

/* The lawn returned this timer as the first one due. */
const char *witness_first(const struct witness *witness, uint32_t i);

/* A mow begins, fires, ends; all: it had budget left and was not halted. */
void witness_mow(struct witness *witness, uint64_t now);
const char *witness_fire(struct witness *witness, uint32_t i);
const char *witness_mown(struct witness *witness, bool all);

/* For callbacks: return the next timer of the TTL that this one has or had, the
 * last in its queue, or the first of all; the timer itself if there is none. */
uint32_t witness_behind(const struct witness *witness, uint32_t i);
uint32_t witness_tail(const struct witness *witness, uint32_t i);
uint32_t witness_front(const struct witness *witness, uint32_t i);

#endif
