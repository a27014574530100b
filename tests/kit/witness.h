/* witness.h - a second opinion on what a lawn does, written apart from the
 * first (oracle.h) and in another way, from include/lawn.h alone.
 *
 * The oracle is an array of timers and looks at all of them to judge a firing.
 * The witness keeps the running ones in a line, by deadline and then by the
 * order of starting: what fires must stand in front, but for others of its
 * deadline that P4 lets it overtake. What callbacks start stands in a line of
 * its own until their mow has ended [P6]. So it sees as much at every step, in
 * a fraction of the time.
 *
 * It also holds a lawn to more than the oracle does: order over one change of
 * the resolution while TTLs are few, and what is known of the time that mows
 * have come to, from the deadlines that lawn_start_as() gave.
 */
#ifndef LAWN_TESTS_WITNESS_H
#define LAWN_TESTS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WITNESS_MAX 256u
#define WITNESS_FEW 3u

enum witness_place { WITNESS_IDLE, WITNESS_RUNS, WITNESS_FRESH };

struct witness_timer {
    enum witness_place place;
    uint64_t deadline;
    uint64_t order;   /* of starting */
    uint64_t ttl;     /* 0: none */
    uint64_t clock;   /* what it was when the timer was started */
    uint64_t changes; /* of the resolution that came before */
    bool lent;        /* by lawn_start_as(), with a TTL */
    bool behind;      /* ... while later ones of the TTL were running */
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
    uint64_t until; /* what the mow under way may fire */
    uint64_t resolution;
    uint64_t changes; /* to one that is no multiple of the last */
    uint64_t order;
    uint64_t fired; /* the latest deadline that has fired, */
    uint64_t come;  /* and the least and the most that the time can be that */
    uint64_t come_max; /* mows have come to */
    uint64_t ttls[WITNESS_FEW];
    uint32_t ttls_seen; /* WITNESS_FEW + 1: more */
};

/* A new lawn, made with these. */
void witness_init(struct witness *witness, uint64_t now, uint64_t resolution);

void witness_start(struct witness *witness, uint32_t i, uint64_t ttl);
void witness_start_at(struct witness *witness, uint32_t i, uint64_t deadline);
bool witness_stop(struct witness *witness, uint32_t i);
void witness_set_now(struct witness *witness, uint64_t now);
void witness_set_resolution(struct witness *witness, uint64_t resolution);

/* All timers were moved to a lawn made at a time and set to the present. */
void witness_move(struct witness *witness, uint64_t made);

/* What is true now. */
uint64_t witness_count(const struct witness *witness);
uint64_t witness_next(const struct witness *witness);
uint64_t witness_deadline(const struct witness *witness, uint32_t i);

/* The rest return NULL, or the promise that was broken. */

/* The lawn gave the timer this deadline. */
const char *witness_start_as(struct witness *witness, uint32_t i, uint64_t ttl,
                             uint64_t asked, uint64_t given);

/* The lawn returned that it is the first. */
const char *witness_first(const struct witness *witness, uint32_t i);

/* A mow begins, fires, ends; all: it had budget left and was not halted. */
void witness_mow(struct witness *witness, uint64_t now);
const char *witness_fire(struct witness *witness, uint32_t i);
const char *witness_mown(struct witness *witness, bool all);

/* For callbacks: the next timer of the TTL that this one has or had, the last one
 * in its queue, or the first of all; itself if there is none. */
uint32_t witness_behind(const struct witness *witness, uint32_t i);
uint32_t witness_tail(const struct witness *witness, uint32_t i);
uint32_t witness_front(const struct witness *witness, uint32_t i);

#endif
