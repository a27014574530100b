/* mailbox.h - sends timers from any thread to the worker that runs a shard.
 *
 * The mailbox is a stack with many producers. The consumer takes the whole
 * stack and reverses it into the order of posting. It reverses in steps, so
 * that a full mailbox does not delay due timers [C9]. A timer contains the
 * link, and MAIL in its state word ensures that it is in at most one mailbox,
 * once. So a mailbox needs no memory and cannot overflow.
 *
 * Memory order: the compare-and-swap of a push is a release of timer->next and
 * of everything that the producer wrote to the timer. The exchange of the
 * consumer is an acquire. It synchronizes with the pushes of all timers of the
 * list, since the earlier compare-and-swaps of the same word form one release
 * sequence. No thread pops a single timer, so the ABA problem does not occur.
 * Both operations are also sequentially consistent, as announce_sleep()
 * requires. */
#ifndef LAWN_WORKERS_MAILBOX_H
#define LAWN_WORKERS_MAILBOX_H

#include "atomic.h"
#include "lawn_workers.h"

struct lawn_mailbox {
    /* Atomic: the newest timer, or a mark that the mailbox is closed. */
    _Alignas(LAWN_LINE) struct lawn_workers_timer *head;

    /* Accessed by the consumer only. */
    _Alignas(LAWN_LINE) struct lawn_workers_timer *taken; /* newest first */
    struct lawn_workers_timer *ready;                     /* oldest first */
};

/* Adds a timer. It may have been freed when this returns. Returns false and
 * does nothing if the mailbox is closed. */
bool lawn__mailbox_push(struct lawn_mailbox *box,
                        struct lawn_workers_timer *timer);

bool lawn__mailbox_empty(struct lawn_mailbox *box);

/* Returns whether all timers taken from the mailbox have been popped. */
bool lawn__mailbox_done(const struct lawn_mailbox *box);

/* Returns the oldest timer, or NULL if there is none or *steps is exhausted:
 * reversing takes one step per timer. */
struct lawn_workers_timer *lawn__mailbox_pop(struct lawn_mailbox *box,
                                             size_t *steps);

bool lawn__mailbox_is_closed(const struct lawn_mailbox *box);

/* Timers in the mailbox can still be popped. */
void lawn__mailbox_close(struct lawn_mailbox *box);

#endif
