/* lawn_event.h - the timers of a loop in libevent.
 *
 * One event with a timeout wakes libevent's base for all of them. It is pending
 * while a timer is running, so event_base_dispatch() returns when there are no
 * other events; and it is added anew as L2 of lawn_loop.h says, not for each
 * timer. Unless the base has EVENT_BASE_FLAG_PRECISE_TIMER, libevent waits whole
 * milliseconds, on a clock that ticks every few: timers fire as late as that, and
 * not early. It does not count the time of a suspended machine: with
 * LAWN_LOOP_BOOTTIME, a timer may be late by that; if it matters, watch the
 * lawn_loop_fd() of a plain loop instead.
 *
 *     struct event_base *base = event_base_new();
 *     struct lawn_loop *loop = lawn_event_new(base, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     event_base_dispatch(base);
 *
 * Link with -llawn_event -llawn -levent_core. The calls are for the thread that
 * dispatches the base.
 */
#ifndef LAWN_EVENT_H
#define LAWN_EVENT_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* A new loop whose timers fire while the base is dispatched; or NULL with errno,
 * as lawn_loop_new() says. The options may be NULL; a clock of your own must
 * count nanoseconds, arm is the adapter's, and its own memory
 * is malloc's. */
struct lawn_loop *lawn_event_new(struct event_base *base,
                                 const struct lawn_loop_options *options);

/* In place of lawn_loop_free(), and before event_base_free(). loop may be NULL.
 * False in a callback of a timer: nothing was done. */
bool lawn_event_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
