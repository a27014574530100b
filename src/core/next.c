/* next.c - telling what is due next, exactly [P2].
 *
 * The bound is never after the earliest deadline. If some queue begins with a
 * timer due at the bound, that timer is the earliest: this is what lawn_next()
 * looks at first. Otherwise the earliest slot is looked through, and what is
 * found is kept as the new bound.
 */
#include "internal.h"

/* The earliest of the lone timers of one list, or LAWN_NEVER. It goes to the
 * front, where lawn_next() will look for it. It is the first of those with its
 * deadline, so their order stays [P4]. */
static uint64_t
lawn_next_in_list(struct lawn *lawn, struct lawn_link *list)
{
    struct lawn_link *first = list->next;
    struct lawn_link *link;
    uint64_t next = LAWN_NEVER;

    for (link = list->next; link != list; link = link->next) {
        if (lawn_link_deadline(link) < next) {
            next = lawn_link_deadline(link);
            first = link;
        }
    }
    if (first != list->next) {
        lawn_list_remove(lawn_key(lawn), first);
        lawn_list_prepend(lawn_key(lawn), list, first);
    }
    return next;
}

/* The earliest deadline in a slot, and the queue that begins with it; or
 * LAWN_NEVER. Corrects the tips that are too early: those that belong into
 * other slots leave. */
static uint64_t
lawn_next_in_slot(struct lawn *lawn, uint32_t slot,
                  const struct lawn_link **front)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_blade *all = lawn->blades.all;
    uint64_t next = LAWN_NEVER;
    uint32_t number = tips->first[slot];
    uint32_t i;

    for (i = 0; i < tips->lists; i++) {
        struct lawn_link *list = &tips->lone[slot * tips->lists + i];
        uint64_t time = lawn_next_in_list(lawn, list);

        if (time < next) {
            next = time;
            *front = list;
        }
    }
    while (number != LAWN_TIPS_NONE) {
        uint32_t after = tips->tip[number].next;
        const struct lawn_link *queue = &all[number].queue;
        uint64_t time = lawn_list_empty(queue)
                            ? LAWN_NEVER
                            : lawn_link_deadline(queue->next);

        if (time == LAWN_NEVER || lawn_tips_slot(tips, time) != slot) {
            lawn_tips_settle(tips, all, number, slot);
        } else {
            /* Not only for speed: no tip may lie before the bound [I6]. */
            all[number].tip = time;
            if (time < next) {
                next = time;
                *front = queue;
            }
        }
        number = after;
    }
    return next;
}

uint64_t
lawn_next(struct lawn *lawn)
{
    const struct lawn_link *front = lawn->front;
    uint64_t next = LAWN_NEVER;
    uint32_t slot;

    if (front != NULL && !lawn_list_empty(front) &&
        lawn_link_deadline(front->next) == lawn->bound) {
        return lawn->bound;
    }
    front = NULL;
    while (next == LAWN_NEVER &&
           (slot = lawn_tips_first(&lawn->tips)) != LAWN_TIPS_NONE) {
        next = lawn_next_in_slot(lawn, slot, &front);
        if (next == LAWN_NEVER) {
            lawn_tips_clear(&lawn->tips, slot);
        }
    }
    if (next == LAWN_NEVER && !lawn_list_empty(&lawn->last)) {
        next = LAWN_LAST;
        front = &lawn->last;
    }
    if (!lawn->mowing) {
        lawn->bound = next;
        lawn->front = front;
    }
    return next;
}
