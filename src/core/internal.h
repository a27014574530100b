/* internal.h - what a lawn is made of, and what always holds of it.
 *
 *   lawn ──► blades   a few thousand queues of timers, each of one TTL
 *        └─► index    an index of slots by deadline. A slot lists the blades
 *                     whose head is due there (their entries), and unqueued timers:
 *                     those without a blade
 *
 * INVARIANTS. Between any two calls, and whenever a callback runs:
 *   [I1] a blade's timers stand in the order of their deadlines, and those of
 *        equal deadlines in the order in which they were started; none is
 *        later than one that a start of its TTL would append now
 *   [I2] links agree: x->next->prev == x and x->prev->next == x
 *   [I3] a blade that holds timers has an entry in the index, at a time not after
 *        its head's deadline. Stopping a timer touches no entry, so an entry may be
 *        too early, and an empty blade may still have one
 *   [I4] an entry or unqueued timer stands in the slot that its time and the index's
 *        base determine, and no time in the index lies before the base
 *   [I5] the bit of a slot is set if anything stands in the slot
 *   [I6] no running timer has a deadline, and no entry a time, before
 *        lawn->bound; lawn->wake is the same, or 0 if a review of the tuning is
 *        due
 *   [I7] starts == stops + fires + running timers
 *   [I8] blades of one TTL stand in different sets; a timer of that TTL goes
 *        to the set that its TTL and deadline determine
 *   [I9] base <= now <= LAWN_LAST
 *  [I10] nothing in the slot index.known has a time before index.known_time, but
 *        unqueued timers that came later, which begin their lists in ascending
 *        order; lawn->alert is neither before that time nor before lawn->bound
 *  [I11] index.passed_at <= base; and if the entry of the blade index.passed stands
 *        at that time, no closed blade stands before it in the slot: an entry that
 *        enters the slot of the base does so at the front, and its blade is open
 * lawn_check() walks them all.
 */
#ifndef LAWN_CORE_INTERNAL_H
#define LAWN_CORE_INTERNAL_H

#include "blades.h"
#include "index.h"
#include "ticks.h"
#include "tuning.h"

/* A mow under way. */
struct lawn_mowing {
    struct lawn *lawn;
    size_t left;   /* of the budget */
    size_t budget; /* how many fire at most */
    lawn_fire_fn *fire;
    void *arg;
};

struct lawn {
    /* What every start, stop and mow reads or writes comes first. */
    uint64_t now;
    uint64_t plain;      /* lawn_start() may add a ttl below it to now and look
                             for its blade; else it takes the long way */
    uint64_t plain_mask; /* all ones, or 0 to make plain 0 */
    uint64_t wake;       /* [I6]; a mow before it has nothing to do */
    uint64_t bound;      /* [I6]; 0 while mowing */
    uint64_t alert;      /* not before bound and index.known_time: a deadline
                            before it may change them */
    uint64_t starts;     /* of idle timers, less tuning.starts: counts up to 0,
                            where a review of the tuning is due */
    uint64_t stops;      /* as in struct lawn_counters */
    uint64_t misses;     /* starts that found no blade of their TTL, less
                            tuning.misses: the same */
    struct lawn_blades blades;
    struct lawn_index index;
    uint64_t fires;      /* as in struct lawn_counters */
    uint64_t claims;     /* misses that got a free blade */
    uint64_t moved_idle; /* as in struct lawn_counters */
    uint64_t looked;     /* likewise */
    uint64_t ahead;      /* likewise */
    uint64_t fetched;    /* the tick at which a mow last fetched ahead */
    uint64_t closed;     /* no blade that is closed has a later deadline */
    uint64_t resolution;
    const struct lawn_link *front; /* the queue whose first timer was last
                                      found to be the earliest, or NULL */
    struct lawn_link last;         /* timers due at LAWN_LAST, which are in the
                                      index only once a mow has reached it */
    struct lawn_tuning tuning;
    struct lawn_mowing *mowing; /* the mow under way, or NULL */

    size_t bytes;
    void (*release)(void *memory, void *context);
    void *context;
    void *memory; /* what to release; NULL: the caller's own */
};

/* As in struct lawn_counters. */
static inline uint64_t
lawn__count_starts(const struct lawn *lawn)
{
    return lawn->tuning.starts + lawn->starts;
}

static inline uint64_t
lawn__count_unqueued_starts(const struct lawn *lawn)
{
    return lawn->tuning.misses + lawn->misses - lawn->claims;
}

/* To a time that is not before now and not after LAWN_LAST. */
static inline void
lawn__move_clock(struct lawn *lawn, uint64_t now)
{
    lawn->now = now;
    lawn->plain = (LAWN_LAST - now) & lawn->plain_mask;
}

static inline void
lawn__set_bound(struct lawn *lawn, uint64_t bound)
{
    uint64_t known = lawn->index.known_time;

    LAWN_NAIVELY(bound = 0);
    lawn->bound = bound;
    lawn->wake = lawn->tuning.review_due ? 0 : bound;
    lawn->alert = bound > known ? bound : known;
}

/* The user tells the time, which may be any. Where the clock moves the
 * tuning may change. */
static inline void
lawn__advance_clock(struct lawn *lawn, uint64_t now)
{
    now = now < LAWN_LAST ? now : LAWN_LAST;
    if (now > lawn->now) {
        if (LAWN_UNLIKELY(lawn->tuning.review_due)) {
            lawn__tuning_review(lawn);
        }
        lawn__move_clock(lawn, now);
    }
}

/* The blade behind whose entry the closed ones of this tick stand, or NONE: then they
 * may stand anywhere in the slot [I11]. */
static inline uint32_t
lawn__passed(const struct lawn *lawn, uint64_t tick)
{
    uint32_t passed = lawn->index.passed;

    return passed != LAWN_INDEX_NONE && lawn->index.passed_at == tick &&
                   lawn->blades.all[passed].indexed_at == tick
               ? passed
               : LAWN_INDEX_NONE;
}

#if defined LAWN_NAIVE
/* In the place of an index: see tests/naive/naive.c. */
uint64_t lawn__naive_next(const struct lawn *lawn);
struct lawn_timer *lawn__naive_next_timer(const struct lawn *lawn);
void lawn__naive_mow(struct lawn_mowing *mowing, uint64_t until);
#endif

/* Tells a timer's owner apart from other lawns, in debug builds: see list.h. */
static inline uintptr_t
lawn__key(const struct lawn *lawn)
{
    return LAWN_LIST_KEY(lawn);
}

#endif
