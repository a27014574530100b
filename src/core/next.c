/* next.c - telling what is due next, exactly [P2], and which timer it is.
 *
 * The bound is never after the earliest deadline. If some queue begins with a
 * timer due at the bound, that timer is the earliest: this is what lawn_next()
 * looks at first. Otherwise the earliest slot is looked through. What is found
 * in a slot of many entries is remembered, so that timers that come and go
 * before them do not make lawn_next() look through them again and again.
 *
 * Of the timers due then lawn_first() has to tell one that P4 lets fire first,
 * so it goes by the order in which a mow takes them: lone timers, closed blades,
 * other blades. A front that is a blade's queue says nothing of the first two.
 */
#include "internal.h"

/* A slot of so many entries is worth remembering. */
#define LAWN_NEXT_MANY 8u

/* What is known of a slot while it is looked through. */
struct lawn_looking {
    uint64_t next;                 /* the earliest deadline, or LAWN_NEVER */
    const struct lawn_link *queue; /* begins with it */
    uint64_t seen;                 /* entries */
};

/* Looks through a list of lone timers. The earliest goes to the front, where
 * lawn_next() will look for it. It is the first of those with its deadline, so
 * their order stays [P4]. */
static void
lawn_next_in_list(const struct lawn *lawn, struct lawn_link *list,
                  struct lawn_looking *looking)
{
    struct lawn_link *first = NULL;
    struct lawn_link *link;

    for (link = list->next; link != list; link = link->next) {
        looking->seen++;
        if (lawn_link_deadline(link) < looking->next) {
            looking->next = lawn_link_deadline(link);
            looking->queue = list;
            first = link;
        }
    }
    if (first != NULL && first != list->next) {
        lawn_list_remove(lawn_key(lawn), first);
        lawn_list_prepend(lawn_key(lawn), list, first);
    }
}

/* Looks at the blades that have their tip in a slot, and corrects the tips:
 * those that belong into other slots leave. Of blades that begin alike a closed
 * one counts, since it fires before the others [P4]. */
static void
lawn_next_in_blades(struct lawn *lawn, uint32_t slot,
                    struct lawn_looking *looking)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_blade *all = lawn->blades.all;
    uint32_t number = tips->first[slot];

    while (number != LAWN_TIPS_NONE) {
        uint32_t after = tips->tip[number].next;
        const struct lawn_link *queue = &all[number].queue;
        uint64_t time = lawn_list_empty(queue)
                            ? LAWN_NEVER
                            : lawn_link_deadline(queue->next);

        looking->seen++;
        if (time == LAWN_NEVER || lawn_tips_slot(tips, time) != slot) {
            lawn_tips_settle(tips, all, number, slot);
        } else {
            /* Not only for speed: no tip may lie before the bound [I6], or
             * before the time that is known of its slot [I10]. */
            all[number].tip = time;
            if (time < looking->next ||
                (time == looking->next && all[number].ttl == LAWN_NEVER)) {
                looking->next = time;
                looking->queue = queue;
            }
        }
        number = after;
    }
}

/* Whether the earliest time that was found in a slot is still there. Lone
 * timers that came before it stand in front of it [I10]. */
static bool
lawn_next_known(const struct lawn_tips *tips)
{
    const struct lawn_link *link = tips->known_queue->next;

    while (link != tips->known_queue &&
           lawn_link_deadline(link) < tips->known_time) {
        link = link->next;
    }
    return link != tips->known_queue &&
           lawn_link_deadline(link) == tips->known_time;
}

/* The same, but for those that came since: of these each list begins with its
 * earliest [I10]. */
static void
lawn_next_in_known(const struct lawn_tips *tips, struct lawn_looking *looking)
{
    uint32_t i;

    looking->next = tips->known_time;
    looking->queue = tips->known_queue;
    for (i = 0; i < tips->lists; i++) {
        const struct lawn_link *list =
            &tips->lone[tips->known * tips->lists + i];

        if (!lawn_list_empty(list) &&
            lawn_link_deadline(list->next) < looking->next) {
            looking->next = lawn_link_deadline(list->next);
            looking->queue = list;
        }
    }
}

/* The earliest deadline in a slot, or LAWN_NEVER. */
static uint64_t
lawn_next_in_slot(struct lawn *lawn, uint32_t slot,
                  const struct lawn_link **front)
{
    struct lawn_tips *tips = &lawn->tips;
    struct lawn_looking looking = {LAWN_NEVER, NULL, 0};
    uint32_t i;

    if (slot == tips->known && lawn_next_known(tips)) {
        lawn_next_in_known(tips, &looking);
    } else {
        for (i = 0; i < tips->lists; i++) {
            lawn_next_in_list(lawn, &tips->lone[slot * tips->lists + i],
                              &looking);
        }
        lawn_next_in_blades(lawn, slot, &looking);
        lawn->looked += looking.seen;
        if (looking.seen >= LAWN_NEXT_MANY && looking.next != LAWN_NEVER) {
            tips->known = slot;
            tips->known_time = looking.next;
            tips->known_queue = looking.queue;
            lawn_set_bound(lawn, lawn->bound);
        }
    }
    *front = looking.queue;
    return looking.next;
}

/* Looks for the earliest deadline, and for a queue that begins with it. */
static uint64_t
lawn_next_look(struct lawn *lawn, const struct lawn_link **front)
{
    uint64_t next = LAWN_NEVER;
    uint32_t slot;

    *front = NULL;
    while (next == LAWN_NEVER &&
           (slot = lawn_tips_first(&lawn->tips)) != LAWN_TIPS_NONE) {
        next = lawn_next_in_slot(lawn, slot, front);
        if (next == LAWN_NEVER) {
            lawn_tips_clear(&lawn->tips, slot);
        }
    }
    if (next == LAWN_NEVER && !lawn_list_empty(&lawn->last)) {
        next = LAWN_LAST;
        *front = &lawn->last;
    }
    if (lawn->mowing == NULL) {
        lawn_set_bound(lawn, next);
        lawn->front = *front;
    }
    return next;
}

/* Whether the timer that was last found to be the earliest, or another one with
 * its deadline, still begins that queue. */
static inline bool
lawn_next_stays(const struct lawn *lawn)
{
    const struct lawn_link *front = lawn->front;

    return front != NULL && !lawn_list_empty(front) &&
           lawn_link_deadline(front->next) == lawn->bound;
}

uint64_t
lawn_next(struct lawn *lawn)
{
    const struct lawn_link *front;

    LAWN_NAIVELY(return lawn_naive_next(lawn));
    return lawn_next_stays(lawn) ? lawn->bound : lawn_next_look(lawn, &front);
}

/* The first of the lone timers that have the earliest deadline of all, or NULL.
 * It goes to the front of its list, as in lawn_next_in_list(), to be found there
 * the next time. */
static struct lawn_link *
lawn_next_lone(struct lawn *lawn, uint64_t next)
{
    struct lawn_link *list =
        lawn_tips_list(&lawn->tips, lawn_tips_slot(&lawn->tips, next), next);
    struct lawn_link *link = list->next;

    while (link != list && lawn_link_deadline(link) != next) {
        lawn->looked++;
        link = link->next;
    }
    if (link == list) {
        return NULL;
    }
    if (link != list->next) {
        lawn_list_remove(lawn_key(lawn), link);
        lawn_list_prepend(lawn_key(lawn), list, link);
    }
    return link;
}

struct lawn_timer *
lawn_first(struct lawn *lawn)
{
    bool closed = lawn->closed != 0 && lawn->tips.base <= lawn->closed;
    const struct lawn_link *front = lawn->front;
    uint64_t next = lawn->bound;
    struct lawn_link *lone;

    LAWN_NAIVELY(return lawn_naive_first(lawn));
    if (LAWN_UNLIKELY(closed)) {
        /* Only a look at the blades tells the closed ones from others. */
        lawn->tips.known = LAWN_TIPS_NONE;
        lawn->tips.known_time = 0;
    }
    if (closed || !lawn_next_stays(lawn)) {
        next = lawn_next_look(lawn, &front);
    }
    if (next == LAWN_NEVER) {
        return NULL;
    }
    lone = lawn_next_lone(lawn, next);
    return lawn_timer_of(lone != NULL ? lone : front->next);
}
