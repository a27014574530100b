/* links.h - shared by the contenders of this directory: timers in circular
 * doubly linked lists, deadlines that cannot wrap, and a bound on the earliest
 * deadline.
 *
 * A list is a sentinel link. A timer that is on no list has link.next == NULL,
 * so all-zero bytes are an idle timer. Removing a timer does not require its
 * list.
 */
#ifndef LAWN_BENCH_CONTENDERS_LINKS_H
#define LAWN_BENCH_CONTENDERS_LINKS_H

#include "contender.h"

#define LINKS_NEVER UINT64_MAX

struct link {
    struct link *next;
    struct link *prev;
};

struct timer {
    struct link link;
    uint64_t deadline;
};

/* Returns now + ttl, below LINKS_NEVER. The clock is expected to stay below
 * 2^63, so that this is after now. */
static inline uint64_t
links_deadline(uint64_t now, uint64_t ttl)
{
    return ttl < LINKS_NEVER - now ? now + ttl : LINKS_NEVER - 1;
}

static inline struct timer *
links_timer(struct object *object)
{
    return (struct timer *)(void *)object->node;
}

static inline struct timer *
links_timer_of(struct link *link)
{
    return (struct timer *)(void *)link;
}

/* Returns the object of a node. */
static inline struct object *
links_object(void *node)
{
    return (struct object *)(void *)((char *)node -
                                     offsetof(struct object, node));
}

static inline void
links_init(struct link *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool
links_empty(const struct link *list)
{
    return list->next == list;
}

static inline void
links_insert_after(struct link *place, struct link *link)
{
    struct link *next = place->next;

    link->next = next;
    link->prev = place;
    place->next = link;
    next->prev = link;
}

static inline void
links_append(struct link *list, struct link *link)
{
    links_insert_after(list->prev, link);
}

/* Removes a link from its list; its own fields do not change. */
static inline void
links_unlink(struct link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

/* Stops a timer. */
static inline void
links_remove(struct timer *timer)
{
    links_unlink(&timer->link);
    timer->link.next = NULL;
}

static inline bool
links_running(const struct timer *timer)
{
    return timer->link.next != NULL;
}

/* Moves the links from `first` to `last`, which are on one list, to the end of
 * the list `to`. */
static inline void
links_move(struct link *first, struct link *last, struct link *to)
{
    first->prev->next = last->next;
    last->next->prev = first->prev;
    first->prev = to->prev;
    to->prev->next = first;
    last->next = to;
    to->prev = last;
}

/* Returns the earliest deadline on an unsorted list. */
static inline uint64_t
links_earliest(struct link *list)
{
    uint64_t earliest = LINKS_NEVER;
    struct link *link = NULL;

    for (link = list->next; link != list; link = link->next) {
        if (links_timer_of(link)->deadline < earliest) {
            earliest = links_timer_of(link)->deadline;
        }
    }
    return earliest;
}

/* Fires from the head of a list, at most budget timers. Each is idle before its
 * callback runs, so that the callback may start or stop any timer of the
 * list. */
static inline size_t
links_fire(struct link *list, size_t budget, contender_fire_fn *fire, void *arg)
{
    size_t fired = 0;

    while (fired < budget && !links_empty(list)) {
        struct timer *timer = links_timer_of(list->next);

        __builtin_prefetch(timer->link.next);
        links_remove(timer);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

/* A time before which nothing is due. `exact` is true if a timer is due at that
 * time. Starts and stops maintain it with one comparison each. It makes a mow
 * without due timers cheap, and searching for the earliest deadline rare. */
struct bound {
    uint64_t time;
    bool exact;
};

static inline void
bound_start(struct bound *bound, uint64_t deadline)
{
    if (deadline < bound->time) {
        bound->time = deadline;
        bound->exact = true;
    }
}

static inline void
bound_stop(struct bound *bound, uint64_t deadline)
{
    if (deadline == bound->time) {
        bound->exact = false;
    }
}

/* stop() of a scheme that needs nothing else; bound may be NULL. */
static inline bool
links_stop(struct bound *bound, struct object *object)
{
    struct timer *timer = links_timer(object);

    if (!links_running(timer)) {
        return false;
    }
    if (bound != NULL) {
        bound_stop(bound, timer->deadline);
    }
    links_remove(timer);
    return true;
}

static inline void
bound_set(struct bound *bound, uint64_t time, bool exact)
{
    bound->time = time;
    bound->exact = exact;
}

#endif
