/* lawn_event.h - a lawn_loop in libevent.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3).
 * In libevent, the wake-up is an event with a timeout.
 *
 *     struct event_base *base = event_base_new();
 *     struct lawn_loop *loop = lawn_event_new(base, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     event_base_dispatch(base);
 *
 * Unless the base has EVENT_BASE_FLAG_PRECISE_TIMER, timers fire up to a few
 * milliseconds late. Link with -llawn_event -llawn -levent_core.
 */
#ifndef LAWN_EVENT_H
#define LAWN_EVENT_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;

/* Creates a loop whose timers fire while the base is dispatched. Returns NULL
 * and sets errno on failure. The cost is that of lawn_loop_new(). */
struct lawn_loop *lawn_event_new(struct event_base *base,
                                 const struct lawn_loop_options *options);

/* Frees a loop created by lawn_event_new(). Returns as lawn_loop_free() does.
 * The cost is that of lawn_loop_free() and event_del(). Call it before
 * event_base_free(). */
bool lawn_event_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
