/* mailbox.c - sends timers to a shard: see mailbox.h. */
#include "mailbox.h"

/* The head of a closed mailbox. */
static struct lawn_workers_timer closed_mark;

bool
lawn__mailbox_push(struct lawn_mailbox *box, struct lawn_workers_timer *timer)
{
    struct lawn_workers_timer *head =
        LAWN_ATOMIC_LOAD(&box->head, LAWN_RELAXED);
    do {
        if (head == &closed_mark) {
            return false;
        }
        timer->next = head;
    } while (!LAWN_ATOMIC_CAS(&box->head, &head, timer, LAWN_SEQ_CST));
    return true;
}

bool
lawn__mailbox_done(const struct lawn_mailbox *box)
{
    return box->taken == NULL && box->ready == NULL;
}

bool
lawn__mailbox_empty(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *head =
        LAWN_ATOMIC_LOAD(&box->head, LAWN_SEQ_CST);
    return lawn__mailbox_done(box) && (head == NULL || head == &closed_mark);
}

/* Loads the head first: an exchange of an empty head would take the cache line
 * from the producers. */
static void
take_all(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *head =
        LAWN_ATOMIC_LOAD(&box->head, LAWN_RELAXED);
    if (head != NULL && head != &closed_mark) {
        box->taken = LAWN_ATOMIC_XCHG(&box->head, NULL, LAWN_SEQ_CST);
    }
}

struct lawn_workers_timer *
lawn__mailbox_pop(struct lawn_mailbox *box, size_t *steps)
{
    if (lawn__mailbox_done(box)) {
        take_all(box);
    }
    while (box->taken != NULL) {
        struct lawn_workers_timer *timer = box->taken;
        if (*steps == 0) {
            return NULL;
        }
        --*steps;
        __builtin_prefetch(&timer->state, 1); /* for when it is processed */
        box->taken = timer->next;
        timer->next = box->ready;
        box->ready = timer;
    }
    struct lawn_workers_timer *oldest = box->ready;
    if (oldest != NULL) {
        box->ready = oldest->next;
        __builtin_prefetch(box->ready); /* the next timer, while this one is
                                         * processed */
    }
    return oldest;
}

bool
lawn__mailbox_is_closed(const struct lawn_mailbox *box)
{
    return LAWN_ATOMIC_LOAD(&box->head, LAWN_RELAXED) == &closed_mark;
}

void
lawn__mailbox_close(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *rest =
        LAWN_ATOMIC_XCHG(&box->head, &closed_mark, LAWN_SEQ_CST);
    if (rest == &closed_mark) {
        return;
    }
    /* Put these timers before those not yet reversed. Both lists begin with the
     * newest timer. */
    struct lawn_workers_timer **end = &rest;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = box->taken;
    box->taken = rest;
}
