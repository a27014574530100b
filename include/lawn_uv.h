/* lawn_uv.h - timers of a loop in libuv.
 *
 * A single uv_timer_t wakes libuv's loop for all timers. If a timer is due at
 * once, a uv_idle_t is used instead, so that libuv handles ready events before
 * the next turn. These handles are active while a timer is running, so uv_run()
 * returns when no timer is running and no other handle is active. They are
 * restarted only as described in L2 of lawn_loop.h, not for each timer.
 *
 *     struct lawn_loop *loop = lawn_uv_new(uv_default_loop(), NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     uv_run(uv_default_loop(), UV_RUN_DEFAULT);
 *
 * libuv counts milliseconds, and truncates its own time to milliseconds: timers
 * fire up to two milliseconds late, and never early. libuv does not count the
 * time while the machine is suspended: with LAWN_LOOP_BOOTTIME a timer may be
 * late by the duration of the suspension. If this matters, watch the
 * lawn_loop_fd() of a plain loop instead.
 *
 * Call the functions on the thread of libuv's loop. Link with -llawn_uv -llawn
 * -luv. */
#ifndef LAWN_UV_H
#define LAWN_UV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */

/* Creates a loop whose timers fire while uv runs. options may be NULL. A clock
 * set in the options must count nanoseconds; arm is ignored; the allocator
 * serves the loop but not the adapter, which uses malloc(). Returns NULL and
 * sets errno on failure, like lawn_loop_new(). The cost is that of
 * lawn_loop_new(). */
struct lawn_loop *lawn_uv_new(struct uv_loop_s *uv,
                              const struct lawn_loop_options *options);

/* Frees a loop created by lawn_uv_new(). loop may be NULL. Returns true; in a
 * callback of a timer it does nothing and returns false. The cost is that of
 * lawn_loop_free() and uv_close(). Call it instead of lawn_loop_free(). As
 * after each uv_close(), libuv's loop must run once more before it is closed.
 */
bool lawn_uv_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
