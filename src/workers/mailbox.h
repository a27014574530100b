/* mailbox.h - timers from any thread to the one that runs a shard.
 *
 * A stack that many push to and one takes whole. The taker turns it round, so
 * that timers come out in the order in which they went in; step by step, so that
 * a full box does not keep it from firing what is due [C9]. The link is the
 * timer's own, and a timer is in at most one box, once: the state word sees to
 * that (MAIL). So the box needs no memory and cannot be full.
 *
 * Memory order. push: the compare-and-swap is a release, which hands over
 * timer->next and all that the pusher has written to the timer; the exchange of
 * the taker is an acquire, so it sees that, of each timer in the list: those
 * deeper in it were handed over by earlier compare-and-swaps of the same word,
 * and these make one release sequence. Nothing is ever popped alone, so a head
 * that was seen and came back (ABA) is as good as one that stayed: the new timer
 * is linked before whatever is there.
 * Both are sequentially consistent besides, for the owner's falling asleep: see
 * announce_sleep(). */
#ifndef LAWN_WORKERS_MAILBOX_H
#define LAWN_WORKERS_MAILBOX_H

#include "lawn_workers.h"

struct lawn_mailbox {
    /* Atomic: the newest; or the box is closed. */
    struct lawn_workers_timer *head;

    /* The taker's own. */
    struct lawn_workers_timer *taken; /* newest first */
    struct lawn_workers_timer *ready; /* oldest first */
};

/* Puts a timer in. The timer may be gone when this returns. False: the box is
 * closed, and nothing was done. */
bool lawn__mailbox_push(struct lawn_mailbox *box,
                        struct lawn_workers_timer *timer);

/* Whether there is nothing, neither in the box nor taken. */
bool lawn__mailbox_empty(struct lawn_mailbox *box);

/* Whether the next pop looks into the box: all that was taken is done. */
bool lawn__mailbox_done(const struct lawn_mailbox *box);

/* The oldest timer, or NULL if there is none, or if *steps are used up: turning
 * a timer round takes one. */
struct lawn_workers_timer *lawn__mailbox_pop(struct lawn_mailbox *box,
                                             size_t *steps);

/* Whether it takes nothing more. */
bool lawn__mailbox_is_closed(const struct lawn_mailbox *box);

/* Takes nothing more in. What is there can still be popped. */
void lawn__mailbox_close(struct lawn_mailbox *box);

#endif
