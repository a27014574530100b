/* class.h - classes: queues of timers to which one operation applies at once.
 *
 * Each class has its own clock. A timer on its queue stores a stamp in place of
 * a deadline. The stamp is the time of its start on that clock:
 *
 *     start    = stamp + base                  modulo 2^64, <= LAWN_LAST
 *     deadline = start + ttl, at most LAWN_LAST, rounded up to the resolution
 *
 * An operation changes base or ttl, and so all deadlines, without a visit to
 * the timers. Their order never changes [I11]. The heap orders classes by the
 * deadline of their first timer, before rounding. The heap's copy of this time
 * may be too early, because lawn_class_stop() does not update it; the index of
 * the lawn allows the same.
 *
 * lawn_class_clear() moves the queue to another list at once. These timers are
 * detached. They differ from running timers only by their stamps [I13]. So the
 * next start chooses a base such that the new stamp follows theirs. After
 * almost 2^64 ticks, or in lawn_class_start_as(), the stamp of a start may be
 * among theirs. Such a start visits all detached timers and changes their
 * stamps.
 *
 * As in lists of lawns, debug builds store prev XORed with a key, here the
 * address of the class. So an access through another class or the lawn fails an
 * assertion [P10].
 */
#ifndef LAWN_CORE_CLASS_H
#define LAWN_CORE_CLASS_H

#include "internal.h"
#include "lawn_class.h"

#define LAWN_CLASS_MAX UINT16_MAX

struct lawn_class {
    /* Fields that every start uses come first. */
    struct lawn_link queue;
    struct lawn *lawn;
    uint64_t plain_from; /* lawn_class_start() may use its fast path from this
                          * time on; LAWN_NEVER: it must not use it */
    uint64_t base;
    uint64_t starts;
    uint64_t ttl;
    uint64_t due; /* the class's time in the heap [I12] */

    struct lawn_link detached;
    /* Timers that callbacks started during a mow at the last tick. They join
     * the queue when it ends [P6]. */
    struct lawn_link recent;
    uint64_t detached_count;
    uint64_t cleared;   /* stamp of the timer that was detached last [I13] */
    uint64_t paused_at; /* or LAWN_NEVER */
    uint64_t stops;

    uint64_t fires;
    uint64_t late;
    uint64_t late_max;
    uint64_t credit;  /* unused share of mows, in units of 1 / `weights` of a
                       * timer */
    uint32_t weights; /* sum of all weights, plus 1, in the last mow that
                       * changed the credit */
    uint16_t weight;
    uint16_t place; /* in the heap */
    const char *name;
    uint64_t spare[2]; /* to the end of a cache line */
};

LAWN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(struct lawn_class) == 192,
                   "a class fills three cache lines");

static inline uintptr_t
lawn__class_key(const struct lawn_class *cls)
{
    return LAWN_LIST_KEY(cls);
}

static inline bool
lawn__class_used(const struct lawn_class *cls)
{
    return cls->place < cls->lawn->classes.count;
}

static inline bool
lawn__class_paused(const struct lawn_class *cls)
{
    return cls->paused_at != LAWN_NEVER;
}

static inline uint64_t
lawn__class_count(const struct lawn_class *cls)
{
    return cls->starts - cls->stops - cls->fires;
}

/* Returns the first running timer, or NULL. */
static inline struct lawn_link *
lawn__class_first(const struct lawn_class *cls)
{
    const struct lawn_link *list =
        lawn__list_empty(&cls->queue) ? &cls->recent : &cls->queue;

    return lawn__list_empty(list) ? NULL : list->next;
}

/* Returns the last running timer, or NULL. */
static inline struct lawn_link *
lawn__class_last(const struct lawn_class *cls)
{
    const struct lawn_link *list =
        lawn__list_empty(&cls->recent) ? &cls->queue : &cls->recent;

    return lawn__list_empty(list) ? NULL
                                  : lawn__list_prev(lawn__class_key(cls), list);
}

/* Returns the time of a running timer's start. */
static inline uint64_t
lawn__class_started(const struct lawn_class *cls, const struct lawn_link *link)
{
    return lawn__link_deadline(link) + cls->base;
}

/* Returns the deadline before rounding. */
static inline uint64_t
lawn__class_time(const struct lawn_class *cls, uint64_t start)
{
    return lawn__saturating_add(start, cls->ttl);
}

static inline uint64_t
lawn__class_round(const struct lawn *lawn, uint64_t time)
{
    return lawn->resolution == 1 ? time
                                 : lawn__ticks_round_up(time, lawn->resolution);
}

/* Returns the deadline of a timer that was started at this time. */
static inline uint64_t
lawn__class_deadline(const struct lawn_class *cls, uint64_t start)
{
    return lawn__class_round(cls->lawn, lawn__class_time(cls, start));
}

/* Returns whether a mow at the last tick is calling callbacks. Timers that are
 * started now must wait for the next mow [P6]. */
static inline bool
lawn__class_at_last_tick(const struct lawn *lawn)
{
    return lawn->mowing != NULL && lawn->mowing->until == LAWN_LAST;
}

/* Returns the greatest number of ticks, but at most `ticks`, by which all
 * running timers can be postponed such that no start time exceeds LAWN_LAST
 * [I11]. */
static inline uint64_t
lawn__class_limit_shift(const struct lawn_class *cls, uint64_t ticks)
{
    const struct lawn_link *last = lawn__class_last(cls);
    uint64_t room =
        last != NULL ? LAWN_LAST - lawn__class_started(cls, last) : 0;

    return ticks < room ? ticks : room;
}

/* Returns what lawn_class_resume() would add to the deadlines now. */
static inline uint64_t
lawn__class_shift(const struct lawn_class *cls)
{
    return lawn__class_paused(cls)
               ? lawn__class_limit_shift(cls, cls->lawn->now - cls->paused_at)
               : 0;
}

void lawn__classes_init(struct lawn *lawn, struct lawn_class *all,
                        struct lawn_class **heap, size_t max);
void lawn__class_insert(struct lawn_class *cls);
void lawn__class_remove(struct lawn_class *cls);
bool lawn__class_exact(const struct lawn_class *cls);
void lawn__class_update(struct lawn_class *cls);
void lawn__class_update_plain(struct lawn_class *cls);

#endif
