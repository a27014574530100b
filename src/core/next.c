/* next.c - finds the earliest deadline [P2], and its timer.
 *
 * lawn->bound is never after the earliest deadline. If the first timer of the
 * front queue is due at the bound, it is the earliest. Otherwise lawn_next()
 * scans the slots that may contain the earliest time, but at most
 * LAWN_NEXT_LOOKS entries. If entries remain unexamined, the result is a time
 * that no deadline precedes. lawn_next_exact() has no limit.
 *
 * lawn_next_timer() returns a timer that may fire first according to P4, or, if
 * it reaches the same limit, the earliest timer that it found. By P4, even if
 * the front queue is a blade, it searches unqueued timers first, like
 * lawn_mow().
 */
#include "internal.h"

/* Maximum number of entries that one limited search examines [P8]. */
#if !defined LAWN_NEXT_LOOKS
#define LAWN_NEXT_LOOKS 448u
#endif

struct lawn_search {
    uint64_t next;                 /* the earliest deadline, or LAWN_NEVER */
    const struct lawn_link *queue; /* the queue whose first timer has it */
    uint64_t looks;                /* entries that may still be examined */
};

/* Moves the earliest timer to the front of the list, where lawn_next() looks
 * for it. It is the first timer with its deadline, so the order among equal
 * deadlines does not change [P4]. Returns its deadline, or LAWN_NEVER. */
static uint64_t
scan_list(const struct lawn *lawn, struct lawn_link *list,
          struct lawn_search *search)
{
    uint64_t earliest = LAWN_NEVER;
    struct lawn_link *first = NULL;

    for (struct lawn_link *link = list->next; link != list && search->looks > 0;
         link = link->next) {
        search->looks--;
        if (lawn__link_deadline(link) < earliest) {
            earliest = lawn__link_deadline(link);
            first = link;
        }
    }
    if (first != NULL && first != list->next) {
        lawn__list_remove(lawn__key(lawn), first);
        lawn__list_prepend(lawn__key(lawn), list, first);
    }
    if (earliest < search->next) {
        search->next = earliest;
        search->queue = list;
    }
    return earliest;
}

/* Corrects the entries of the blades, which may move to other slots. Returns
 * the earliest deadline in the slot, or LAWN_NEVER. */
static uint64_t
scan_blades(struct lawn *lawn, uint32_t slot, struct lawn_search *search)
{
    struct lawn_index *index = &lawn->index;
    struct lawn_blade *all = lawn->blades.all;
    uint64_t earliest = LAWN_NEVER;
    uint32_t number = index->first[slot];
    uint64_t ticks = UINT64_C(1)
                     << (lawn__index_level_of(index, slot) * index->bits);
    uint64_t start = lawn__index_slot_start(index, slot);

    while (number != LAWN_INDEX_NONE && search->looks > 0) {
        uint32_t after = index->entry[number].next;
        const struct lawn_link *queue = &all[number].queue;
        uint64_t time = lawn__list_empty(queue)
                            ? LAWN_NEVER
                            : lawn__link_deadline(queue->next);

        search->looks--;
        if (time == LAWN_NEVER || time - start >= ticks) {
            lawn__index_update(index, all, number);
        } else {
            all[number].indexed_at = time;
            earliest = time < earliest ? time : earliest;
            if (time < search->next) {
                search->next = time;
                search->queue = queue;
            }
            if (ticks == 1) {
                break;
            }
        }
        number = after;
    }
    return earliest;
}

/* If looks remain, the slot's earliest time is now exact, or the slot was empty
 * and was cleared. An empty slot counts as an entry. Returns whether looks
 * remain. */
static bool
scan_slot(struct lawn *lawn, uint32_t slot, struct lawn_search *search)
{
    struct lawn_index *index = &lawn->index;
    uint64_t earliest = LAWN_NEVER;
    uint64_t looks = search->looks;

    if (slot <= index->mask) {
        /* All unqueued timers of a slot of level 0 are due at the same tick. */
        const struct lawn_link *list =
            lawn__index_list_of(index, slot, index->earliest[slot]);

        if (!lawn__list_empty(list)) {
            search->next = index->earliest[slot];
            search->queue = list;
            return true;
        }
    }
    for (uint32_t i = 0; i < index->lists; i++) {
        uint64_t time = scan_list(
            lawn, &index->unqueued[(size_t)slot * index->lists + i], search);

        earliest = time < earliest ? time : earliest;
    }
    uint64_t time = scan_blades(lawn, slot, search);
    earliest = time < earliest ? time : earliest;
    if (search->looks == 0) {
        return false;
    }
    if (earliest != LAWN_NEVER) {
        index->earliest[slot] = earliest;
    } else if (slot <= index->mask) {
        lawn__index_clear_tick(index, slot);
    } else {
        lawn__index_clear_slot(index, slot);
    }
    if (search->looks == looks) {
        search->looks--;
        index->moved++;
    }
    return search->looks > 0;
}

static uint32_t
find_first_slot(const struct lawn_index *index)
{
    uint32_t first = lawn__index_first_slot(index, 0);

    for (uint32_t rest = index->levels; rest != 0; rest &= rest - 1) {
        uint32_t slot =
            lawn__index_first_slot(index, (uint32_t)__builtin_ctz(rest));

        if (first == LAWN_INDEX_NONE ||
            index->earliest[slot] < index->earliest[first]) {
            first = slot;
        }
    }
    return first;
}

/* Returns the earliest deadline, or an earlier time if too many entries would
 * have to be examined. search->next is the earliest deadline found. If it
 * equals the result, the result is exact. */
static uint64_t
find_earliest(struct lawn *lawn, struct lawn_search *search, uint64_t looks)
{
    struct lawn_index *index = &lawn->index;
    uint64_t next = LAWN_NEVER;

    search->next = LAWN_NEVER;
    search->queue = NULL;
    search->looks = looks;
    for (;;) {
        uint32_t slot = find_first_slot(index);

        next = slot != LAWN_INDEX_NONE ? index->earliest[slot] : LAWN_NEVER;
        if (search->next <= next || !scan_slot(lawn, slot, search)) {
            break;
        }
    }
    if (search->next == LAWN_NEVER && next == LAWN_NEVER &&
        !lawn__list_empty(&lawn->last)) {
        next = search->next = LAWN_LAST;
        search->queue = &lawn->last;
    }
    looks -= search->looks;
    lawn->looked += looks;
    lawn__set_bound(lawn, next);
    lawn->front = search->next == next ? search->queue : NULL;
    return next;
}

static inline bool
is_front_valid(const struct lawn *lawn)
{
    const struct lawn_link *front = lawn->front;

    return front != NULL && !lawn__list_empty(front) &&
           lawn__link_deadline(front->next) == lawn->bound;
}

static inline uint64_t
include_classes(struct lawn *lawn, uint64_t next)
{
    return LAWN_UNLIKELY(lawn->classes.running > 0)
               ? lawn__classes_next(lawn, next)
               : next;
}

uint64_t
lawn_next(struct lawn *lawn)
{
    struct lawn_search search;
    uint64_t next = LAWN_NEVER;
    uint64_t looked = lawn->looked;

    LAWN_NAIVELY(return include_classes(lawn, lawn__naive_next(lawn)));
    if (is_front_valid(lawn)) {
        next = lawn->bound;
    } else if (lawn__count_timers(lawn) > 0) {
        next = find_earliest(lawn, &search, LAWN_NEXT_LOOKS);
    }
    next = include_classes(lawn, next);
    looked = lawn->looked - looked;
    lawn->touched_idle =
        looked > lawn->touched_idle ? looked : lawn->touched_idle;
    return next;
}

uint64_t
lawn_next_exact(struct lawn *lawn)
{
    struct lawn_search search;

    LAWN_NAIVELY(return include_classes(lawn, lawn__naive_next(lawn)));
    return include_classes(
        lawn, is_front_valid(lawn) ? lawn->bound
                                   : find_earliest(lawn, &search, UINT64_MAX));
}

/* Returns the unqueued timer with this deadline that was started first: the
 * first at the highest level. Moves it to the front of its list. Returns NULL
 * if there is none. May miss timers if `looks` is too small. */
static struct lawn_link *
find_unqueued_at(struct lawn *lawn, uint64_t next, uint64_t looks)
{
    struct lawn_index *index = &lawn->index;

    for (uint32_t level = 32; level-- > 0;) {
        if (((index->levels | 1) >> level & 1) == 0) {
            continue;
        }
        uint32_t slot = lawn__index_slot_at(index, level, next);
        struct lawn_link *list = lawn__index_list_of(index, slot, next);
        struct lawn_link *link = list->next;

        while (link != list && lawn__link_deadline(link) != next && looks > 0) {
            looks--;
            lawn->looked++;
            link = link->next;
        }
        if (link != list && lawn__link_deadline(link) == next) {
            if (link != list->next) {
                lawn__list_remove(lawn__key(lawn), link);
                lawn__list_prepend(lawn__key(lawn), list, link);
            }
            return link;
        }
    }
    return NULL;
}

struct lawn_timer *
lawn_next_timer(struct lawn *lawn)
{
    struct lawn_search search = {lawn->bound, lawn->front, LAWN_NEXT_LOOKS};

    LAWN_NAIVELY(return lawn__naive_next_timer(lawn));
    if (lawn__count_timers(lawn) == 0) {
        return NULL;
    }
    /* If all examined entries are outdated, find_earliest() finds no timer. It
     * has removed these entries or moved them to later slots, so the loop
     * ends. */
    if (!is_front_valid(lawn)) {
        do {
            (void)find_earliest(lawn, &search, LAWN_NEXT_LOOKS);
        } while (search.queue == NULL);
    }
    struct lawn_link *unqueued =
        find_unqueued_at(lawn, search.next, search.looks);
    return lawn__timer_of(unqueued != NULL ? unqueued : search.queue->next);
}
