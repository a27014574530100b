/* lawn_glib.h - the timers of a loop in a main loop of GLib's.
 *
 * One GSource wakes the main context for all of them, at default priority. Its
 * ready time is set as L2 of lawn_loop.h says, not for each timer, and to -1 while
 * none is running. GLib walks all sources of a context in each iteration: with one
 * for all timers that stays short. It waits in milliseconds, so timers fire up to
 * one late, and not early.
 *
 *     struct lawn_loop *loop = lawn_glib_new(NULL, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     g_main_loop_run(main_loop);
 *
 * A main loop that is run in a callback of a timer fires no timers of that loop;
 * one that is run in any other callback does. GLib's wait stands still while the
 * machine is suspended: with LAWN_LOOP_BOOTTIME, what became due then fires when
 * something else wakes the context and the loop is turned; or watch the
 * lawn_loop_fd() of a plain loop.
 *
 * Link with -llawn_glib -llawn -lglib-2.0. The calls are for the thread that runs
 * the context.
 */
#ifndef LAWN_GLIB_H
#define LAWN_GLIB_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _GMainContext; /* NOLINT(bugprone-reserved-identifier): GMainContext */

/* A new loop whose timers fire while the context is iterated, NULL for the
 * default one; or NULL with errno, as lawn_loop_new() says. The options may be
 * NULL; a clock of your own must count nanoseconds, arm is the adapter's, and
 * its own memory is g_source_new()'s, which aborts if there is none. */
struct lawn_loop *lawn_glib_new(struct _GMainContext *context,
                                const struct lawn_loop_options *options);

/* In place of lawn_loop_free(). The context may be gone by then. loop may be
 * NULL. False in a callback of a timer: nothing was done. */
bool lawn_glib_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
