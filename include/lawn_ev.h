/* lawn_ev.h - a lawn_loop in libev.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3).
 * In libev, the wake-up is an ev_timer, or an ev_idle if a timer is due at
 * once.
 *
 *     struct lawn_loop *loop = lawn_ev_new(EV_DEFAULT, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     ev_run(EV_DEFAULT, 0);
 *
 * libev waits for whole milliseconds: timers fire up to one millisecond late.
 * To set a wake-up, the adapter calls ev_now_update(), which changes ev_now().
 * libev must be built with EV_MULTIPLICITY, which is its default. Link with
 * -llawn_ev -llawn -lev.
 */
#ifndef LAWN_EV_H
#define LAWN_EV_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ev_loop;

/* Creates a loop whose timers fire while ev runs. Returns NULL and sets errno
 * on failure. The cost is that of lawn_loop_new(). */
struct lawn_loop *lawn_ev_new(struct ev_loop *ev,
                              const struct lawn_loop_options *options);

/* Frees a loop created by lawn_ev_new(). Returns as lawn_loop_free() does. The
 * cost is that of lawn_loop_free() and ev_timer_stop(). Call it before
 * ev_loop_destroy(). */
bool lawn_ev_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
