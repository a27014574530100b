/* next.c - finds the earliest deadline, exactly [P2], and its timer.
 *
 * lawn->bound is never after the earliest deadline. If the first timer of the
 * front queue is due at the bound, it is the earliest; lawn_next() checks this
 * first. Otherwise it scans the earliest slot. The result of scanning a slot
 * with many entries is cached, so that starting and stopping timers with
 * earlier deadlines does not cause repeated scans.
 *
 * lawn_next_timer() must return a timer that may fire first according to P4. So
 * it searches in the order of lawn_mow(): unqueued timers, closed blades, other
 * blades. If the front queue is a blade, there may still be timers of the first
 * two kinds.
 */
#include "internal.h"

/* The result of scanning at least this many entries is cached. */
#define LAWN_NEXT_MANY 8u

/* The result of scanning a slot. */
struct lawn_scan {
    uint64_t next;                 /* the earliest deadline, or LAWN_NEVER */
    const struct lawn_link *queue; /* whose first timer has it */
    uint64_t seen;                 /* number of entries */
};

/* Scans a list of unqueued timers and moves the earliest to the front, where
 * lawn_next() looks for it. It is the first timer with its deadline, so the
 * order among equal deadlines does not change [P4]. */
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

/* Scans the blades with an entry in a slot and updates the entries; those that
 * belong to other slots are moved. If several blades have the same first
 * deadline, a closed blade is preferred, because it fires first [P4]. */
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
            /* Required for correctness: no entry may be before the bound [I6]
             * or before the known time of its slot [I10]. */
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

/* Returns whether a timer still has the known time. Unqueued timers added later
 * may precede it in its list [I10]. */
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

/* Finds the earliest deadline in the known slot. The timers added since it was
 * scanned are the only earlier ones; each list begins with its earliest
 * [I10]. */
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

/* Returns the earliest deadline in a slot, or LAWN_NEVER. */
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

/* Returns the earliest deadline, and sets *front to a queue that begins with
 * it. */
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

/* Returns whether the front queue still begins with a timer due at the
 * bound. */
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

/* Returns the first unqueued timer with the earliest deadline, or NULL. Moves
 * it to the front of its list, as scan_list() does, so that it is found sooner
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
        /* Only a scan distinguishes closed blades from others. */
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
