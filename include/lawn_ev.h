/* lawn_ev.h - timers of a loop in libev.
 *
 * A single ev_timer wakes libev's loop for all timers, or an ev_idle if a timer
 * is due at once. These watchers are active while a timer is running, so
 * ev_run() returns when no timer is running and no other watcher is active.
 * They are restarted only as described in L2 of lawn_loop.h, not for each
 * timer.
 *
 *     struct lawn_loop *loop = lawn_ev_new(EV_DEFAULT, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     ev_run(EV_DEFAULT, 0);
 *
 * libev waits for whole milliseconds: timers fire up to one millisecond late,
 * and never early. libev does not count the time while the machine is
 * suspended: with LAWN_LOOP_BOOTTIME a timer may be late by the duration of the
 * suspension. If this matters, watch the lawn_loop_fd() of a plain loop
 * instead.
 *
 * Call the functions on the thread of libev's loop. To set a wake-up, the
 * adapter calls ev_now_update(), which changes ev_now(). libev must be built
 * with EV_MULTIPLICITY, which is its default. Link with -llawn_ev -llawn -lev.
 */
#ifndef LAWN_EV_H
#define LAWN_EV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ev_loop;

/* Creates a loop whose timers fire while ev runs. options may be NULL. A clock
 * set in the options must count nanoseconds; arm is ignored; the allocator
 * serves the loop but not the adapter, which uses malloc(). Returns NULL and
 * sets errno on failure, like lawn_loop_new(). The cost is that of
 * lawn_loop_new(). */
struct lawn_loop *lawn_ev_new(struct ev_loop *ev,
                              const struct lawn_loop_options *options);

/* Frees a loop created by lawn_ev_new(). loop may be NULL. Returns true; in a
 * callback of a timer it does nothing and returns false. The cost is that of
 * lawn_loop_free() and ev_timer_stop(). Call it instead of lawn_loop_free(),
 * and before ev_loop_destroy(). */
bool lawn_ev_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
