/* mailbox.c - see mailbox.h, where the memory order is argued. */
#include "mailbox.h"

#include "atomic.h"

/* What the head is when the box is closed. */
static struct lawn_workers_timer lawn_mailbox_closed;

bool
lawn_mailbox_push(struct lawn_mailbox *box, struct lawn_workers_timer *timer)
{
    struct lawn_workers_timer *head = L_LOAD(&box->head, L_RELAXED);
    do {
        if (head == &lawn_mailbox_closed) {
            return false;
        }
        timer->next = head;
    } while (!L_CAS(&box->head, &head, timer, L_SEQ_CST));
    return true;
}

bool
lawn_mailbox_done(const struct lawn_mailbox *box)
{
    return box->taken == NULL && box->ready == NULL;
}

bool
lawn_mailbox_empty(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *head = L_LOAD(&box->head, L_SEQ_CST);
    return lawn_mailbox_done(box) &&
           (head == NULL || head == &lawn_mailbox_closed);
}

/* Takes the whole stack. Looks first: an exchange would take the line away from
 * those who push. */
static void
lawn_mailbox_take(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *head = L_LOAD(&box->head, L_RELAXED);
    if (head != NULL && head != &lawn_mailbox_closed) {
        box->taken = L_XCHG(&box->head, NULL, L_SEQ_CST);
    }
}

struct lawn_workers_timer *
lawn_mailbox_pop(struct lawn_mailbox *box, size_t *steps)
{
    if (lawn_mailbox_done(box)) {
        lawn_mailbox_take(box);
    }
    while (box->taken != NULL) {
        struct lawn_workers_timer *timer = box->taken;
        if (*steps == 0) {
            return NULL;
        }
        --*steps;
        box->taken = timer->next;
        timer->next = box->ready;
        box->ready = timer;
    }
    struct lawn_workers_timer *oldest = box->ready;
    if (oldest != NULL) {
        box->ready = oldest->next;
        __builtin_prefetch(box->ready); /* the next one, while this is taken */
    }
    return oldest;
}

bool
lawn_mailbox_is_closed(const struct lawn_mailbox *box)
{
    return L_LOAD(&box->head, L_RELAXED) == &lawn_mailbox_closed;
}

void
lawn_mailbox_close(struct lawn_mailbox *box)
{
    struct lawn_workers_timer *rest =
        L_XCHG(&box->head, &lawn_mailbox_closed, L_SEQ_CST);
    if (rest == &lawn_mailbox_closed) {
        return;
    }
    /* Newest first, before what was taken and is not yet turned round. */
    struct lawn_workers_timer **end = &rest;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = box->taken;
    box->taken = rest;
}
