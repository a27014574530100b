/* next.c - telling what is due next, exactly [P2], and which timer it is.
 *
 * The bound is never after the earliest deadline. If some queue begins with a
 * timer due at the bound, that timer is the earliest: this is what lawn_next()
 * looks at first. Otherwise the earliest slot is looked through. What is found
 * in a slot of many entries is remembered, so that timers that come and go
 * before them do not make lawn_next() look through them again and again.
 *
 * Of the timers due then lawn_next_timer() has to tell one that P4 lets fire first,
 * so it goes by the order in which a mow takes them: unqueued timers, closed
 * blades, other blades. A front that is a blade's queue says nothing of the
 * first two.
 */
#include "internal.h"

/* A slot of so many entries is worth remembering. */
#define LAWN_NEXT_MANY 8u

/* What is known of a slot while it is looked through. */
struct lawn_scan {
    uint64_t next;                 /* the earliest deadline, or LAWN_NEVER */
    const struct lawn_link *queue; /* begins with it */
    uint64_t seen;                 /* entries */
};

/* Looks through a list of unqueued timers. The earliest goes to the front, where
 * lawn_next() will look for it. It is the first of those with its deadline, so
 * their order stays [P4]. */
static void
scan_list(const struct lawn *lawn, struct lawn_link *list,
          struct lawn_scan *scan)
{
    struct lawn_link *first = NULL;

    for (struct lawn_link *link = list->next; link != list; link = link->next) {
        scan->seen++;
        if (lawn__link_deadline(link) < scan->next) {
            scan->next = lawn__link_deadline(link);
            scan->queue = list;
            first = link;
        }
    }
    if (first != NULL && first != list->next) {
        lawn__list_remove(lawn__key(lawn), first);
        lawn__list_prepend(lawn__key(lawn), list, first);
    }
}

/* Looks at the blades that have their entry in a slot, and corrects the entries:
 * those that belong into other slots leave. Of blades that begin alike a closed
 * one counts, since it fires before the others [P4]. */
static void
scan_blades(struct lawn *lawn, uint32_t slot, struct lawn_scan *scan)
{
    struct lawn_index *index = &lawn->index;
    struct lawn_blade *all = lawn->blades.all;
    uint32_t number = index->first[slot];

    while (number != LAWN_INDEX_NONE) {
        uint32_t after = index->entry[number].next;
        const struct lawn_link *queue = &all[number].queue;
        uint64_t time = lawn__list_empty(queue)
                            ? LAWN_NEVER
                            : lawn__link_deadline(queue->next);

        scan->seen++;
        if (time == LAWN_NEVER || lawn__index_slot_of(index, time) != slot) {
            lawn__index_update(index, all, number, slot);
        } else {
            /* Not only for speed: no entry may lie before the bound [I6], or
             * before the time that is known of its slot [I10]. */
            all[number].indexed_at = time;
            if (time < scan->next ||
                (time == scan->next && all[number].ttl == LAWN_NEVER)) {
                scan->next = time;
                scan->queue = queue;
            }
        }
        number = after;
    }
}

/* Whether the earliest time that was found in a slot is still there. Unqueued
 * timers that came before it stand in front of it [I10]. */
static bool
is_known_valid(const struct lawn_index *index)
{
    const struct lawn_link *link = index->known_queue->next;

    while (link != index->known_queue &&
           lawn__link_deadline(link) < index->known_time) {
        link = link->next;
    }
    return link != index->known_queue &&
           lawn__link_deadline(link) == index->known_time;
}

/* The same, but for those that came since: of these each list begins with its
 * earliest [I10]. */
static void
scan_known(const struct lawn_index *index, struct lawn_scan *scan)
{
    scan->next = index->known_time;
    scan->queue = index->known_queue;
    for (uint32_t i = 0; i < index->lists; i++) {
        const struct lawn_link *list =
            &index->unqueued[index->known * index->lists + i];

        if (!lawn__list_empty(list) &&
            lawn__link_deadline(list->next) < scan->next) {
            scan->next = lawn__link_deadline(list->next);
            scan->queue = list;
        }
    }
}

/* The earliest deadline in a slot, or LAWN_NEVER. */
static uint64_t
scan_slot(struct lawn *lawn, uint32_t slot, const struct lawn_link **front)
{
    struct lawn_index *index = &lawn->index;
    struct lawn_scan scan = {LAWN_NEVER, NULL, 0};

    if (slot == index->known && is_known_valid(index)) {
        scan_known(index, &scan);
    } else {
        for (uint32_t i = 0; i < index->lists; i++) {
            scan_list(lawn, &index->unqueued[slot * index->lists + i], &scan);
        }
        scan_blades(lawn, slot, &scan);
        lawn->looked += scan.seen;
        if (scan.seen >= LAWN_NEXT_MANY && scan.next != LAWN_NEVER) {
            index->known = slot;
            index->known_time = scan.next;
            index->known_queue = scan.queue;
            lawn__set_bound(lawn, lawn->bound);
        }
    }
    *front = scan.queue;
    return scan.next;
}

/* Looks for the earliest deadline, and for a queue that begins with it. */
static uint64_t
find_earliest(struct lawn *lawn, const struct lawn_link **front)
{
    uint64_t next = LAWN_NEVER;

    *front = NULL;
    uint32_t slot = 0;
    while (next == LAWN_NEVER &&
           (slot = lawn__index_first_slot(&lawn->index)) != LAWN_INDEX_NONE) {
        next = scan_slot(lawn, slot, front);
        if (next == LAWN_NEVER) {
            lawn__index_clear_slot(&lawn->index, slot);
        }
    }
    if (next == LAWN_NEVER && !lawn__list_empty(&lawn->last)) {
        next = LAWN_LAST;
        *front = &lawn->last;
    }
    if (lawn->mowing == NULL) {
        lawn__set_bound(lawn, next);
        lawn->front = *front;
    }
    return next;
}

/* Whether the timer that was last found to be the earliest, or another one with
 * its deadline, still begins that queue. */
static inline bool
is_front_valid(const struct lawn *lawn)
{
    const struct lawn_link *front = lawn->front;

    return front != NULL && !lawn__list_empty(front) &&
           lawn__link_deadline(front->next) == lawn->bound;
}

uint64_t
lawn_next(struct lawn *lawn)
{
    LAWN_NAIVELY(return lawn__naive_next(lawn));
    const struct lawn_link *front = NULL;
    return is_front_valid(lawn) ? lawn->bound : find_earliest(lawn, &front);
}

/* The first of the unqueued timers that have the earliest deadline of all, or NULL.
 * It goes to the front of its list, as in scan_list(), to be found there
 * the next time. */
static struct lawn_link *
find_unqueued_at(struct lawn *lawn, uint64_t next)
{
    struct lawn_link *list = lawn__index_list_of(
        &lawn->index, lawn__index_slot_of(&lawn->index, next), next);
    struct lawn_link *link = list->next;

    while (link != list && lawn__link_deadline(link) != next) {
        lawn->looked++;
        link = link->next;
    }
    if (link == list) {
        return NULL;
    }
    if (link != list->next) {
        lawn__list_remove(lawn__key(lawn), link);
        lawn__list_prepend(lawn__key(lawn), list, link);
    }
    return link;
}

struct lawn_timer *
lawn_next_timer(struct lawn *lawn)
{
    bool closed = lawn->closed != 0 && lawn->index.base <= lawn->closed;
    const struct lawn_link *front = lawn->front;
    uint64_t next = lawn->bound;

    LAWN_NAIVELY(return lawn__naive_next_timer(lawn));
    if (LAWN_UNLIKELY(closed)) {
        /* Only a look at the blades tells the closed ones from others. */
        lawn->index.known = LAWN_INDEX_NONE;
        lawn->index.known_time = 0;
    }
    if (closed || !is_front_valid(lawn)) {
        next = find_earliest(lawn, &front);
    }
    if (next == LAWN_NEVER) {
        return NULL;
    }
    struct lawn_link *unqueued = find_unqueued_at(lawn, next);
    return lawn__timer_of(unqueued != NULL ? unqueued : front->next);
}
