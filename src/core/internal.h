/* internal.h - the parts of a lawn and its invariants.
 *
 *   lawn ─┬─► blades   a few thousand FIFO queues of timers, one TTL each
 *         ├─► index    slots by deadline: entries of blades, unqueued timers
 *         └─► classes  FIFO queues of timers, created by the caller, in a heap
 *
 * INVARIANTS. They hold between any two calls, and while a callback runs:
 *   [I1] A blade's timers are sorted by deadline, and timers of equal deadlines
 *        by the order of their starts. If lawn->now >= lawn->settled, a timer
 *        started now with the blade's TTL would not be due before any of them.
 *   [I2] Links agree: x->next->prev == x and x->prev->next == x.
 *   [I3] A blade that contains timers has an index entry, whose time is not
 *        after the first timer's deadline. Because lawn_stop() does not
 *        update entries, an entry may be too early, and an empty blade may
 *        have one.
 *   [I4] A time in a slot is in the slot's range, and not before the index's
 *        base. On a higher level than 0, insertions do not use the slot of the
 *        base or the one after it. But unqueued timers may move there from a
 *        slot of a still higher level that is being opened.
 *   [I5] If a slot is not empty, it is marked: its bit and, above level 0, its
 *        level's bit are set. Its `earliest` is not after any of its times, and
 *        is LAWN_NEVER if and only if the bit is not set.
 *   [I6] No deadline of a running timer and no time of an entry is before
 *        lawn->bound. lawn->wake is not after lawn->bound or classes.next.
 *   [I7] starts == stops + fires + running timers.
 *   [I8] Blades of one TTL are in different sets. The TTL and the deadline of
 *        a start determine the two sets in which it looks for a blade.
 *   [I9] base <= now <= LAWN_LAST.
 *  [I10] index.horizon is not after `earliest` of any slot of a higher level
 *        than 0.
 * I1, I3, I6 and I7 are about timers outside of classes. About classes:
 *  [I11] The running timers of a class are sorted by the time of their starts,
 *        which is at most LAWN_LAST. A class whose list of late starts is not
 *        empty has no timer with a later start on its queue.
 *  [I12] The classes in use form a heap. The time of a class in the heap is not
 *        after the deadline of its first timer before rounding. It is
 *        LAWN_NEVER if the class is paused. classes.next is the first of these
 *        times, rounded up to the resolution.
 *  [I13] A timer of a class is detached if and only if its stamp is in the
 *        range from that of the first detached timer to class->cleared. The
 *        stamps of running timers follow that range, modulo 2^64.
 *  [I14] starts == stops + fires + running timers, for each class. The counters
 *        of a class agree with the lengths of its lists.
 * lawn_check() checks most of them.
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
    size_t left;    /* remaining budget */
    size_t budget;  /* maximum number of timers to fire */
    size_t work;    /* remaining entries to process, besides those fired [P8] */
    uint64_t until; /* fire timers with a deadline <= until */
    bool complete;  /* no due timer is left */
    lawn_fire_fn *fire;
    void *arg;
    uint64_t pass; /* while it fires timers outside of classes: up to this time
                    * they precede those of classes; otherwise 0 */
    size_t held;   /* budget that lawn__classes_refresh() took from left */
};

/* See class.h. */
struct lawn_classes {
    struct lawn_class *all;
    struct lawn_class **heap; /* pointers to all classes. The first `count`
                               * of them are in use and form a heap [I12] */
    uint64_t next;    /* the first time in the heap, or LAWN_NEVER [I12] */
    uint64_t running; /* running timers of all classes */
    uint32_t weights; /* sum of the weights of all classes */
    uint16_t count;
    uint16_t max; /* options.classes */
};

struct lawn {
    /* Fields that every start, stop and mow uses come first. */
    uint64_t now;
    uint64_t plain;      /* for a TTL below this, lawn_start() tries the fast
                          * path */
    uint64_t plain_mask; /* all ones, or 0 to force plain to 0 */
    uint64_t wake;       /* [I6]; a mow before this time has nothing to do; 0
                          * while mowing */
    uint64_t bound;      /* [I6] */
    uint64_t starts;     /* counts up to 0; then a start of an idle timer calls
                          * lawn__tuning_count_start() */
    uint64_t stops;      /* as in struct lawn_counters */
    uint64_t misses;     /* counts up to 0; then a miss calls
                          * lawn__tuning_count_miss(); see tuning.h */
    struct lawn_blades blades;
    struct lawn_index index;
    /* fires, touched_idle, looked and ahead: as in struct lawn_counters. */
    uint64_t fires;
    uint64_t claims; /* misses that claimed a free blade */
    uint64_t touched_idle;
    uint64_t looked;
    uint64_t ahead;
    uint64_t fetched; /* the last tick at which a mow prefetched */
    uint64_t settled; /* until then, blades may contain timers that were rounded
                       * to a previous resolution [I1] */
    uint64_t resolution;
    /* The queue whose first timer was found to be the earliest, or NULL. */
    const struct lawn_link *front;
    struct lawn_link last; /* timers due at LAWN_LAST; they enter the index once
                            * a mow reaches that tick */
    struct lawn_tuning tuning;
    struct lawn_mowing *mowing; /* the running mow, or NULL */
    struct lawn_classes classes;

    size_t bytes;
    void (*release)(void *memory, void *context);
    void *context;
    void *memory; /* passed to release(); NULL if caller-owned */
};

static inline uint64_t
lawn__count_starts(const struct lawn *lawn)
{
    return lawn->tuning.starts + lawn->starts;
}

/* Returns the number of running timers outside of classes. */
static inline uint64_t
lawn__count_timers(const struct lawn *lawn)
{
    return lawn__count_starts(lawn) - lawn->stops - lawn->fires;
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
    uint64_t wake = bound;

    LAWN_NAIVELY(bound = wake = 0);
    if (wake > lawn->index.prepare) {
        wake = lawn->index.prepare;
    }
    if (wake > lawn->classes.next) {
        wake = lawn->classes.next;
    }
    lawn->bound = bound;
    lawn->wake = lawn->tuning.review_due || lawn->mowing != NULL ? 0 : wake;
}

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

#if defined LAWN_NAIVE
uint64_t lawn__naive_next(const struct lawn *lawn);
struct lawn_timer *lawn__naive_next_timer(const struct lawn *lawn);
void lawn__naive_mow(struct lawn_mowing *mowing, uint64_t until);
#endif

/* In class_heap.c and class_mow.c. */
void lawn__classes_refresh(struct lawn *lawn);
uint64_t lawn__classes_next(struct lawn *lawn, uint64_t next);
void lawn__classes_fire_shares(struct lawn_mowing *mowing);
uint64_t lawn__classes_mow(struct lawn_mowing *mowing, uint64_t mowed);
void lawn__classes_enter_last_tick(struct lawn *lawn);
void lawn__classes_leave_last_tick(struct lawn *lawn);

/* Differs for each lawn in debug builds: see list.h. */
static inline uintptr_t
lawn__key(const struct lawn *lawn)
{
    return LAWN_LIST_KEY(lawn);
}

#endif
