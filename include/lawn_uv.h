/* lawn_uv.h - a lawn_loop in libuv.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3).
 * In libuv, the wake-up is a uv_timer_t. If a timer is due at once, the wake-up
 * is a uv_idle_t, so that libuv handles ready events before the next turn.
 *
 *     struct lawn_loop *loop = lawn_uv_new(uv_default_loop(), NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     uv_run(uv_default_loop(), UV_RUN_DEFAULT);
 *
 * libuv counts whole milliseconds: timers fire up to two milliseconds late.
 * Link with -llawn_uv -llawn -luv.
 */
#ifndef LAWN_UV_H
#define LAWN_UV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */

/* Creates a loop whose timers fire while uv runs. Returns NULL and sets errno
 * on failure. The cost is that of lawn_loop_new(). */
struct lawn_loop *lawn_uv_new(struct uv_loop_s *uv,
                              const struct lawn_loop_options *options);

/* Frees a loop created by lawn_uv_new(). Returns as lawn_loop_free() does. The
 * cost is that of lawn_loop_free() and uv_close(). As after each uv_close(),
 * libuv's loop must run once more before it is closed. */
bool lawn_uv_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
