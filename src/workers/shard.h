/* shard.h - a lawn with a mailbox. Functions that access the lawn are called
 * only by the worker that runs the shard. */
#ifndef LAWN_WORKERS_SHARD_H
#define LAWN_WORKERS_SHARD_H

#include "workers.h"

/* Returns a new shard, or NULL. Both functions may be called by any thread. */
struct lawn_shard *lawn__shard_new(struct lawn_workers *set, unsigned number);
void lawn__shard_free(struct lawn_shard *shard);

/* Takes timers from the mailbox. A timer takes two steps, to reverse and to
 * process it; subtracts the steps from *steps, and stops at 0. Advances the
 * worker's clock if it takes new messages. */
void lawn__shard_drain(struct lawn_shard *shard, size_t *steps);

bool lawn__shard_has_mail(struct lawn_shard *shard);

/* Puts a timer on the lawn: one from the mailbox, one that was just removed, or
 * one that must remain although the lawn has fired it. Does not use a blade,
 * because timers on the blade may have later deadlines. */
void lawn__shard_put_back(struct lawn_shard *shard,
                          struct lawn_workers_timer *timer, uint64_t deadline);

/* Fires timers with a deadline <= now and <= limit, at most budget. Returns the
 * result of lawn_mow(). */
size_t lawn__shard_mow(struct lawn_shard *shard, uint64_t now, uint64_t limit,
                       size_t budget);

/* Returns whether any timer on the lawn is running, not stopped by another
 * thread. O(timers). */
bool lawn__shard_has_running(const struct lawn_shard *shard);

/* Any thread: ends the claim of a timer by storing the state word `next`.
 * `seen` is the word before the claim. If MAIL is not set in `seen`, first puts
 * the timer into the mailbox; in this case, the caller must be inside a gate.
 * The timer may have been freed when this returns. After the call, the caller
 * must call lawn__shard_wake() in any case. */
void lawn__shard_post(struct lawn_shard *shard,
                      struct lawn_workers_timer *timer, uint64_t seen,
                      uint64_t next);

/* Any thread: wakes the worker if it would sleep beyond the deadline. */
void lawn__shard_wake(struct lawn_shard *shard, uint64_t deadline);

/* Wakes threads that wait for a timer to be released. */
void lawn__shard_notify_waiters(struct lawn_shard *shard);

/* Called by the thread that closes the set, after all workers have ended. shut
 * closes the mailbox and accepts its timers. clear then makes all timers idle,
 * calls left for those that were running, and returns their number. */
void lawn__shard_shut(struct lawn_shard *shard);
uint64_t lawn__shard_clear(struct lawn_shard *shard, lawn_workers_left_fn *left,
                           void *arg);

/* Makes a timer idle and free. The library must no longer refer to it. Returns
 * whether it was running. */
bool lawn__shard_release(struct lawn_workers_timer *timer);

#endif
