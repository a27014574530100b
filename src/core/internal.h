/* internal.h - the parts of a lawn and its invariants.
 *
 *   lawn ──► blades   a few thousand FIFO queues of timers, one TTL each
 *        └─► index    slots by deadline. A slot lists the entries of blades
 *                     whose first timer is due in it, and unqueued timers,
 *                     which are on no blade
 *
 * INVARIANTS. They hold between any two calls, and while a callback runs:
 *   [I1] A blade's timers are sorted by deadline, and timers of equal
 *        deadlines by the order of their starts. None has a later deadline
 *        than a timer that is started with the blade's TTL now.
 *   [I2] Links agree: x->next->prev == x and x->prev->next == x.
 *   [I3] A blade that contains timers has an index entry, whose time is not
 *        after the first timer's deadline. Because lawn_stop() does not
 *        update entries, an entry may be too early, and an empty blade may
 *        have one.
 *   [I4] The slot of an entry or unqueued timer is a function of its time
 *        and the index's base. No time in the index is before the base.
 *   [I5] The bit of a slot is set if the slot is not empty.
 *   [I6] No deadline of a running timer and no time of an entry is before
 *        lawn->bound. lawn->wake equals lawn->bound, or is 0 if a review of
 *        the tuning is due.
 *   [I7] starts == stops + fires + running timers.
 *   [I8] Blades of one TTL are in different sets; the set that a timer uses
 *        is a function of its TTL and deadline.
 *   [I9] base <= now <= LAWN_LAST.
 *  [I10] In the slot index.known, no time is before index.known_time, except
 *        for unqueued timers added since; those are at the front of their
 *        lists, in ascending order. lawn->alert is not before that time, nor
 *        before lawn->bound.
 *  [I11] index.passed_at <= base. If the entry of the blade index.passed has
 *        that time, no closed blade precedes it in its slot: new entries of
 *        the slot of the base are inserted at the front, and their blades
 *        are open.
 * lawn_check() checks all of them.
 */
#ifndef LAWN_CORE_INTERNAL_H
#define LAWN_CORE_INTERNAL_H

#include "blades.h"
#include "index.h"
#include "ticks.h"
#include "tuning.h"

/* A running lawn_mow() call. */
struct lawn_mowing {
    struct lawn *lawn;
    size_t left;   /* remaining budget */
    size_t budget; /* maximum number of timers to fire */
    lawn_fire_fn *fire;
    void *arg;
};

struct lawn {
    /* Fields that every start, stop and mow uses come first. */
    uint64_t now;
    uint64_t plain;      /* for a TTL below it, lawn_start() computes now + ttl
                          * and looks up the blade; others take the slow path */
    uint64_t plain_mask; /* all ones, or 0 to force plain to 0 */
    uint64_t wake;       /* [I6]; a mow before this time has nothing to do */
    uint64_t bound;      /* [I6]; 0 while mowing */
    uint64_t alert;      /* >= bound and index.known_time: starting a timer with
                          * an earlier deadline may change them */
    uint64_t starts;     /* starts of idle timers minus tuning.starts: counts up
                          * to 0, which triggers a review of the tuning */
    uint64_t stops;      /* as in struct lawn_counters */
    uint64_t misses;     /* starts that found no blade of their TTL, minus
                          * tuning.misses: counts up to 0, too */
    struct lawn_blades blades;
    struct lawn_index index;
    uint64_t fires;      /* as in struct lawn_counters */
    uint64_t claims;     /* misses that claimed a free blade */
    uint64_t moved_idle; /* as in struct lawn_counters */
    uint64_t looked;     /* as in struct lawn_counters */
    uint64_t ahead;      /* as in struct lawn_counters */
    uint64_t fetched;    /* the last tick at which a mow prefetched */
    uint64_t closed;     /* latest deadline on a closed blade, or later */
    uint64_t resolution;
    const struct lawn_link *front; /* the queue whose first timer was last found
                                    * to be the earliest, or NULL */
    struct lawn_link last;         /* timers due at LAWN_LAST; they enter the
                                    * index once a mow reaches that tick */
    struct lawn_tuning tuning;
    struct lawn_mowing *mowing; /* the running mow, or NULL */

    size_t bytes;
    void (*release)(void *memory, void *context);
    void *context;
    void *memory; /* passed to release(); NULL if caller-owned */
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

/* Requires lawn->now <= now <= LAWN_LAST. */
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

/* Accepts any time. The tuning changes only when the clock moves. */
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

/* The last blade that fire_closed() passed over at this tick: closed blades are
 * behind its entry. NONE if unknown; then they may be anywhere in the slot
 * [I11]. */
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
/* Replace the index if LAWN_NAIVE is defined: see tests/naive/naive.c. */
uint64_t lawn__naive_next(const struct lawn *lawn);
struct lawn_timer *lawn__naive_next_timer(const struct lawn *lawn);
void lawn__naive_mow(struct lawn_mowing *mowing, uint64_t until);
#endif

/* In debug builds, distinguishes the timers of different lawns: see list.h. */
static inline uintptr_t
lawn__key(const struct lawn *lawn)
{
    return LAWN_LIST_KEY(lawn);
}

#endif
