/* shard.h - a lawn with a door. Called on the worker that runs the shard, unless
 * said otherwise. */
#ifndef LAWN_WORKERS_SHARD_H
#define LAWN_WORKERS_SHARD_H

#include "workers.h"

/* A new shard, or NULL. Any thread, as is the end of it. */
struct lawn_shard *lawn__shard_new(struct lawn_workers *set, unsigned number);
void lawn__shard_free(struct lawn_shard *shard);

/* Takes timers out of the mail, in at most *steps, of which each takes two, and
 * counts them down. Moves the worker's clock on. */
void lawn__shard_drain(struct lawn_shard *shard, size_t *steps);

/* Whether there is mail. */
bool lawn__shard_has_mail(struct lawn_shard *shard);

/* Puts a timer on the lawn that belongs there: it was taken off, or it comes up
 * before it is due. On no blade, as others there may be due later. */
void lawn__shard_put_back(struct lawn_shard *shard,
                          struct lawn_workers_timer *timer, uint64_t deadline);

/* Fires what is due by now, and not after the limit; returns how many timers came
 * up. */
size_t lawn__shard_mow(struct lawn_shard *shard, uint64_t now, uint64_t limit,
                       size_t budget);

/* Whether a timer on the lawn is running: others were stopped by other threads.
 * O(timers). */
bool lawn__shard_has_running(const struct lawn_shard *shard);

/* Any thread: puts a timer that it has claimed, and whose word was seen, into the
 * mail, if it is not there, and then within a gate; and ends the claim with the word
 * next. The timer may be gone when this returns; the worker is yet to be woken. */
void lawn__shard_post(struct lawn_shard *shard,
                      struct lawn_workers_timer *timer, uint64_t seen,
                      uint64_t next);

/* Any thread: wakes the worker if it sleeps longer than to deadline. */
void lawn__shard_wake(struct lawn_shard *shard, uint64_t deadline);

/* Tells those who wait for a timer that one was let go. */
void lawn__shard_notify_waiters(struct lawn_shard *shard);

/* When all workers are gone, on the thread that closes the set and runs all
 * shards: takes nothing more in, and puts all that came on the lawn; then makes
 * all timers idle, calls left, and returns how many were running. */
void lawn__shard_shut(struct lawn_shard *shard);
uint64_t lawn__shard_clear(struct lawn_shard *shard, lawn_workers_left_fn *left,
                           void *arg);

/* Makes a timer idle and free that nothing of ours refers to; true if it was
 * running. */
bool lawn__shard_release(struct lawn_workers_timer *timer);

#endif
