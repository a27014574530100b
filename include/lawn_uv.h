/* lawn_uv.h - the timers of a loop in libuv.
 *
 * One uv_timer_t wakes libuv's loop for all of them, or an uv_idle_t if that is
 * to be at once, which lets in what is ready before each turn. They are active
 * while a timer is running, so libuv's loop ends when there are none; and they
 * are started anew as L2 of lawn_loop.h says, not for each timer. As libuv counts
 * milliseconds, and cuts its own time to them, timers fire up to two late, and not
 * early. It does not count the time of a suspended machine: with
 * LAWN_LOOP_BOOTTIME, a timer may be late by that; if it matters, watch the
 * lawn_loop_fd() of a plain loop instead.
 *
 *     struct lawn_loop *loop = lawn_uv_new(uv_default_loop(), NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     uv_run(uv_default_loop(), UV_RUN_DEFAULT);
 *
 * Link with -llawn_uv -llawn -luv. The calls are for the thread of libuv's loop.
 */
#ifndef LAWN_UV_H
#define LAWN_UV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */

/* A new loop whose timers fire while the given one runs; or NULL with errno, as
 * lawn_loop_new() says. The options may be NULL; a clock of your own must count
 * nanoseconds, arm is the adapter's, and its own memory is malloc's. */
struct lawn_loop *lawn_uv_new(struct uv_loop_s *uv,
                              const struct lawn_loop_options *options);

/* In place of lawn_loop_free(). libuv must run once more after that, as after
 * each uv_close(), before its loop is closed. loop may be NULL. False in a
 * callback of a timer: nothing was done. */
bool lawn_uv_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
