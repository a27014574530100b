/* lawn_event.h - timers of a loop in libevent.
 *
 * A single event with a timeout wakes libevent's base for all timers. The event
 * is pending while a timer is running, so event_base_dispatch() returns when no
 * timer is running and there are no other events. It is added again only as
 * described in L2 of lawn_loop.h, not for each timer.
 *
 *     struct event_base *base = event_base_new();
 *     struct lawn_loop *loop = lawn_event_new(base, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     event_base_dispatch(base);
 *
 * Unless the base has EVENT_BASE_FLAG_PRECISE_TIMER, libevent waits for whole
 * milliseconds, on a clock that advances every few milliseconds. Timers then
 * fire up to a few milliseconds late. They never fire early. libevent does not
 * count the time while the machine is suspended: with LAWN_LOOP_BOOTTIME a
 * timer may be late by the duration of the suspension. If this matters, watch
 * the lawn_loop_fd() of a plain loop instead.
 *
 * Call the functions on the thread that dispatches the base. Link with
 * -llawn_event -llawn -levent_core. */
#ifndef LAWN_EVENT_H
#define LAWN_EVENT_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* Creates a loop whose timers fire while the base is dispatched. options may be
 * NULL. A clock set in the options must count nanoseconds; arm is ignored; the
 * allocator serves the loop but not the adapter, which uses malloc(). Returns
 * NULL and sets errno on failure, like lawn_loop_new(). The cost is that of
 * lawn_loop_new(). */
struct lawn_loop *lawn_event_new(struct event_base *base,
                                 const struct lawn_loop_options *options);

/* Frees a loop created by lawn_event_new(). loop may be NULL. Returns true; in
 * a callback of a timer it does nothing and returns false. The cost is that of
 * lawn_loop_free() and event_del(). Call it instead of lawn_loop_free(), and
 * before event_base_free(). */
bool lawn_event_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
