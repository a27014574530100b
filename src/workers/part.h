/* part.h - a lawn with a door. Called on the worker that runs the part, unless
 * said otherwise. */
#ifndef LAWN_WORKERS_PART_H
#define LAWN_WORKERS_PART_H

#include "workers.h"

/* A new part, or NULL. Any thread, as is the end of it. */
struct lawn_part *lawn_part_new(struct lawn_workers *set, unsigned number);
void lawn_part_free(struct lawn_part *part);

/* Takes timers out of the mail, in at most *steps, of which each takes two, and
 * counts them down. Moves the worker's clock on. */
void lawn_part_drain(struct lawn_part *part, size_t *steps);

/* Whether there is mail. */
bool lawn_part_mail(struct lawn_part *part);

/* Puts a timer on the lawn that belongs there: it was taken off, or it comes up
 * before it is due. On no blade, as others there may be due later. */
void lawn_part_back(struct lawn_part *part, struct lawn_workers_timer *timer,
                    uint64_t deadline);

/* Fires what is due by now, and not after the limit; returns how many timers came
 * up. */
size_t lawn_part_mow(struct lawn_part *part, uint64_t now, uint64_t limit,
                     size_t budget);

/* Whether a timer on the lawn is running: others were stopped by other threads.
 * O(timers). */
bool lawn_part_runs(const struct lawn_part *part);

/* Any thread: puts a timer that it has claimed, and whose word was seen, into the
 * mail, if it is not there, and then within a gate; and ends the claim with the word
 * next. The timer may be gone when this returns; the worker is yet to be woken. */
void lawn_part_post(struct lawn_part *part, struct lawn_workers_timer *timer,
                    uint64_t seen, uint64_t next);

/* Any thread: wakes the worker if it sleeps longer than to deadline. */
void lawn_part_wake(struct lawn_part *part, uint64_t deadline);

/* Tells those who wait for a timer that one was let go. */
void lawn_part_serve(struct lawn_part *part);

/* When all workers are gone, on the thread that closes the set and runs all
 * parts: takes nothing more in, and puts all that came on the lawn; then makes
 * all timers idle, calls left, and returns how many were running. */
void lawn_part_shut(struct lawn_part *part);
uint64_t lawn_part_clear(struct lawn_part *part, lawn_workers_left_fn *left,
                         void *arg);

/* Makes a timer idle and free that nothing of ours refers to; true if it was
 * running. */
bool lawn_part_release(struct lawn_workers_timer *timer);

#endif
