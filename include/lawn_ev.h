/* lawn_ev.h - the timers of a loop in libev.
 *
 * One ev_timer wakes libev's loop for all of them, or an ev_idle if that is to be
 * at once. They are active while a timer is running, so ev_run() returns when no
 * other watcher is; and they are started anew as L2 of lawn_loop.h says, not for
 * each timer. libev waits whole milliseconds: timers fire up to one late, and not
 * early. It does not count the time of a suspended machine: with
 * LAWN_LOOP_BOOTTIME, a timer may be late by that; if it matters, watch the
 * lawn_loop_fd() of a plain loop instead.
 *
 *     struct lawn_loop *loop = lawn_ev_new(EV_DEFAULT, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     ev_run(EV_DEFAULT, 0);
 *
 * Link with -llawn_ev -llawn -lev. The calls are for the thread of libev's loop.
 * They bring ev_now() up to date. libev must have EV_MULTIPLICITY, as it has if
 * nobody said otherwise.
 */
#ifndef LAWN_EV_H
#define LAWN_EV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ev_loop;

/* A new loop whose timers fire while the given one runs; or NULL with errno, as
 * lawn_loop_new() says. The options may be NULL; a clock of your own must count
 * nanoseconds, arm is the adapter's, and its own memory is malloc's. */
struct lawn_loop *lawn_ev_new(struct ev_loop *ev,
                              const struct lawn_loop_options *options);

/* In place of lawn_loop_free(), and before ev_loop_destroy(). loop may be NULL.
 * False in a callback of a timer: nothing was done. */
bool lawn_ev_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
