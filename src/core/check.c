/* check.c - checks invariants of a lawn and its classes.
 *
 * It is written from the list in internal.h, not from the code that maintains
 * the invariants: simple loops recompute cached values.
 */
#include "class.h"
#include "internal.h"

#if !defined LAWN_FREESTANDING

struct lawn_checking {
    const struct lawn *lawn;
    FILE *out;
    uint64_t running;    /* timers found */
    uint64_t index;      /* entries found */
    uint64_t in_classes; /* running timers found there */
};

static bool
report_broken(struct lawn_checking *checking, const char *invariant,
              const void *what)
{
    if (checking->out != NULL) {
        (void)fprintf(checking->out, "lawn_check: %s (at %p)\n", invariant,
                      what);
    }
    return false;
}

static bool
is_in_slot(const struct lawn_index *index, uint32_t slot, uint64_t time)
{
    uint32_t shift = (slot >> index->slot_bits) * index->bits;
    uint64_t ahead = (time >> shift) - (index->base >> shift);

    LAWN_NAIVELY(return true);
    return time >= index->base && ahead <= index->mask &&
           ((time >> shift) & index->mask) == (slot & index->mask);
}

/* The queue must be sorted if `sorted` is true; otherwise its timers must
 * belong to the slot. */
static bool
check_queue(struct lawn_checking *checking, const struct lawn_link *queue,
            bool sorted, uint32_t slot)
{
    const struct lawn *lawn = checking->lawn;
    uintptr_t key = lawn__key(lawn);
    const struct lawn_link *link = queue;
    uint64_t before = 0;

    do {
        const struct lawn_link *next = link->next;

        if (next == NULL || lawn__list_prev(key, next) != link) {
            return report_broken(checking, "[I2] links disagree", link);
        }
        link = next;
        if (link != queue) {
            uint64_t deadline = lawn__link_deadline(link);

            checking->running++;
            if (deadline > LAWN_LAST) {
                return report_broken(checking, "[P9] a deadline after the last",
                                     link);
            }
            if (deadline < lawn->bound) {
                return report_broken(checking,
                                     "[I6] a deadline before the bound", link);
            }
            if (sorted && deadline < before) {
                return report_broken(checking, "[I1] a blade out of order",
                                     link);
            }
            if (!sorted &&
                (!is_in_slot(&lawn->index, slot, deadline) ||
                 lawn__index_list_of(&lawn->index, slot, deadline) != queue)) {
                return report_broken(
                    checking, "[I4] an unqueued timer in the wrong list", link);
            }
            if (!sorted && deadline < lawn->index.earliest[slot]) {
                return report_broken(checking,
                                     "[I5] a timer before the earliest", link);
            }
            before = deadline;
        }
    } while (link != queue);
    return true;
}

/* See I1. */
static bool
is_too_late(const struct lawn *lawn, const struct lawn_blade *blade)
{
    uint64_t limit = lawn__ticks_round_up(
        lawn__ticks_after(lawn->now, blade->ttl), lawn->resolution);

    return lawn->now >= lawn->settled && !lawn__list_empty(&blade->queue) &&
           lawn__link_deadline(
               lawn__list_prev(lawn__key(lawn), &blade->queue)) > limit;
}

static bool
check_blade(struct lawn_checking *checking, const struct lawn_blade *blade)
{
    const struct lawn_blades *blades = &checking->lawn->blades;
    uint32_t number = (uint32_t)(blade - blades->all);
    uint32_t set = number / LAWN_BLADES_WAYS;
    uint64_t hash = lawn__blades_hash(blade->ttl);
    uint32_t near = (uint32_t)lawn__blades_set_of(blades, hash);
    uint32_t far = (uint32_t)lawn__blades_set_of(
        blades, lawn__blades_rehash(blades, hash));

    if (!check_queue(checking, &blade->queue, true, 0)) {
        return false;
    }
    if (blade->ttl != LAWN_NEVER && set - near >= LAWN_BLADES_STRIPES &&
        set - far >= LAWN_BLADES_STRIPES) {
        return report_broken(checking, "[I8] a TTL in a foreign set", blade);
    }
    for (uint32_t i = set * LAWN_BLADES_WAYS; i < number; i++) {
        if (blade->ttl != LAWN_NEVER && blade->ttl == blades->all[i].ttl) {
            return report_broken(checking, "[I8] a TTL twice in a set", blade);
        }
    }
    if (!lawn__list_empty(&blade->queue) &&
        blade->indexed_at > lawn__link_deadline(blade->queue.next)) {
        return report_broken(checking, "[I3] an entry after its blade's head",
                             blade);
    }
    if (is_too_late(checking->lawn, blade)) {
        return report_broken(checking, "[I1] a timer too late for its blade",
                             blade);
    }
    return true;
}

static bool
check_slot(struct lawn_checking *checking, uint32_t slot)
{
    const struct lawn_index *index = &checking->lawn->index;
    const struct lawn_link *unqueued =
        &index->unqueued[(size_t)slot * index->lists];
    uint32_t level = slot >> index->slot_bits;
    uint32_t digit = slot & index->mask;
    uint64_t word = index->occupied[level * index->words + digit / 64];
    bool marked = ((word >> (digit % 64)) & 1) != 0;
    uint32_t before = LAWN_INDEX_NONE;

    if (marked != (index->earliest[slot] != LAWN_NEVER)) {
        return report_broken(checking, "[I5] a mark without earliest time",
                             unqueued);
    }
    if (marked && !is_in_slot(index, slot, index->earliest[slot]) &&
        index->earliest[slot] >= index->base) {
        return report_broken(checking, "[I5] an earliest time of another slot",
                             unqueued);
    }
    if (level > 0 && index->earliest[slot] < index->horizon) {
        return report_broken(checking, "[I10] a slot before the horizon",
                             unqueued);
    }
    for (uint32_t i = 0; i < index->lists; i++) {
        if (!marked && !lawn__list_empty(&unqueued[i])) {
            return report_broken(checking, "[I5] a slot in use is not marked",
                                 &unqueued[i]);
        }
        if (!check_queue(checking, &unqueued[i], false, slot)) {
            return false;
        }
    }
    if (!marked && index->first[slot] != LAWN_INDEX_NONE) {
        return report_broken(checking, "[I5] a slot in use is not marked",
                             unqueued);
    }
    if (marked && level > 0 && ((index->levels >> level) & 1) == 0) {
        return report_broken(checking, "[I5] a level in use is not marked",
                             unqueued);
    }
    for (uint32_t number = index->first[slot]; number != LAWN_INDEX_NONE;
         number = index->entry[number].next) {
        const struct lawn_blade *blade = &checking->lawn->blades.all[number];

        if (index->entry[number].prev != before) {
            return report_broken(checking, "[I2] entries' links disagree",
                                 blade);
        }
        if (index->entry[number].slot != slot ||
            blade->indexed_at > LAWN_LAST ||
            !is_in_slot(index, slot, blade->indexed_at)) {
            return report_broken(checking, "[I4] an entry in the wrong slot",
                                 blade);
        }
        if (blade->indexed_at < index->earliest[slot]) {
            return report_broken(checking, "[I5] an entry before the earliest",
                                 blade);
        }
        if (blade->indexed_at < checking->lawn->bound) {
            return report_broken(checking, "[I6] an entry before the bound",
                                 blade);
        }
        checking->index++;
        before = number;
    }
    return true;
}

/* Checks the links of a list of a class, and that the stamps ascend from
 * *stamp on, which it sets to the last one. Adds the number of timers to
 * *count. */
static bool
check_class_list(struct lawn_checking *checking, const struct lawn_class *cls,
                 const struct lawn_link *list, uint64_t *stamp, uint64_t *count)
{
    uint64_t origin = *stamp;
    const struct lawn_link *link = list;

    do {
        const struct lawn_link *next = link->next;

        if (next == NULL ||
            lawn__list_prev(lawn__class_key(cls), next) != link) {
            return report_broken(checking, "[I2] links of a class disagree",
                                 link);
        }
        link = next;
        if (link != list) {
            if (lawn__link_deadline(link) - origin < *stamp - origin) {
                return report_broken(checking, "[I11] a class out of order",
                                     link);
            }
            *stamp = lawn__link_deadline(link);
            (*count)++;
        }
    } while (link != list);
    return true;
}

static bool
check_class_lists(struct lawn_checking *checking, const struct lawn_class *cls)
{
    const struct lawn_link *first = lawn__class_first(cls);
    uint64_t detached = 0;
    uint64_t running = 0;
    uint64_t stamp =
        cls->detached_count > 0 ? lawn__link_deadline(cls->detached.next) : 0;

    if (!check_class_list(checking, cls, &cls->detached, &stamp, &detached)) {
        return false;
    }
    if (detached > 0 && first != NULL) {
        uint64_t oldest = lawn__link_deadline(cls->detached.next);

        if (stamp - oldest > cls->cleared - oldest ||
            lawn__link_deadline(first) - oldest <= cls->cleared - oldest ||
            lawn__link_deadline(lawn__class_last(cls)) - oldest <=
                cls->cleared - oldest) {
            return report_broken(
                checking, "[I13] detached and running timers are mixed", cls);
        }
    }
    /* From the first running timer on, so that a stamp before it counts as
     * after all others. */
    stamp = first != NULL ? lawn__link_deadline(first) : 0;
    if (!check_class_list(checking, cls, &cls->queue, &stamp, &running) ||
        !check_class_list(checking, cls, &cls->recent, &stamp, &running)) {
        return false;
    }
    if (first != NULL &&
        lawn__class_started(cls, lawn__class_last(cls)) > LAWN_LAST) {
        return report_broken(checking, "[I11] a start after the last tick",
                             cls);
    }
    if (running != lawn__class_count(cls) || detached != cls->detached_count) {
        return report_broken(checking, "[I14] the count of a class is wrong",
                             cls);
    }
    checking->in_classes += running;
    return true;
}

static bool
check_class(struct lawn_checking *checking, uint32_t place)
{
    const struct lawn_classes *classes = &checking->lawn->classes;
    const struct lawn_class *cls = classes->heap[place];
    uint64_t due = LAWN_NEVER;

    if (cls->place != place ||
        cls->due < classes->heap[place > 0 ? (place - 1) / 2 : 0]->due) {
        return report_broken(checking, "[I12] the heap is out of order", cls);
    }
    if (!check_class_lists(checking, cls)) {
        return false;
    }
    if (!lawn__class_paused(cls) && !lawn__list_empty(&cls->queue)) {
        due = lawn__class_time(cls, lawn__class_started(cls, cls->queue.next));
    }
    if (cls->due > due || (lawn__class_paused(cls) && cls->due != LAWN_NEVER)) {
        return report_broken(checking, "[I12] a class's time is wrong", cls);
    }
    return true;
}

static bool
check_classes(struct lawn_checking *checking)
{
    const struct lawn *lawn = checking->lawn;
    uint64_t next = LAWN_NEVER;
    uint64_t weights = 0;

    for (uint32_t i = 0; i < lawn->classes.count; i++) {
        if (!check_class(checking, i)) {
            return false;
        }
        weights += lawn->classes.heap[i]->weight;
    }
    if (lawn->classes.count > 0 && lawn->classes.heap[0]->due != LAWN_NEVER) {
        next =
            lawn__ticks_round_up(lawn->classes.heap[0]->due, lawn->resolution);
    }
    if (lawn->classes.next != next || lawn->wake > next) {
        return report_broken(checking, "[I12] the first time is wrong", lawn);
    }
    if (checking->in_classes != lawn->classes.running ||
        weights != lawn->classes.weights) {
        return report_broken(checking, "[I14] a sum over classes is wrong",
                             lawn);
    }
    return true;
}

bool
lawn_check(const struct lawn *lawn, FILE *out)
{
    struct lawn_checking checking = {lawn, out, 0, 0, 0};
    uint64_t listed = 0;

    if (lawn->index.base > lawn->now || lawn->now > LAWN_LAST) {
        return report_broken(&checking, "[I9] the base is ahead of now", lawn);
    }
    for (size_t i = 0; i < lawn->blades.count; i++) {
        listed += lawn->blades.all[i].indexed_at != LAWN_NEVER;
        if (!check_blade(&checking, &lawn->blades.all[i])) {
            return false;
        }
    }
    for (uint32_t slot = 0;
         slot < lawn__index_count_slots(lawn->index.slot_bits); slot++) {
        if (!check_slot(&checking, slot)) {
            return false;
        }
    }
    /* All of them are due at LAWN_LAST, so they count as sorted. */
    if (!check_queue(&checking, &lawn->last, true, 0)) {
        return false;
    }
    if (checking.index != listed || checking.index != lawn->index.count) {
        return report_broken(&checking, "[I3] an entry is lost", lawn);
    }
    if (checking.running != lawn__count_timers(lawn)) {
        return report_broken(&checking, "[I7] the count is wrong", lawn);
    }
    if (lawn->wake > lawn->bound) {
        return report_broken(&checking, "[I6] the wake is after the bound",
                             lawn);
    }
    return check_classes(&checking);
}

#endif
