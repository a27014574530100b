/* lawn_glib.h - timers of a loop in a main loop of GLib.
 *
 * A single GSource with default priority wakes the main context for all timers.
 * Its ready time is set only as described in L2 of lawn_loop.h, not for each
 * timer, and is -1 while no timer is running. GLib walks all sources of a
 * context in each iteration; with one source for all timers this remains cheap.
 *
 *     struct lawn_loop *loop = lawn_glib_new(NULL, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     g_main_loop_run(main_loop);
 *
 * GLib waits in milliseconds: timers fire up to one millisecond late, and never
 * early. GLib's wait does not count the time while the machine is suspended:
 * with LAWN_LOOP_BOOTTIME a timer may be late by the duration of the
 * suspension, unless the program calls lawn_loop_turn() after it. If this
 * matters, watch the lawn_loop_fd() of a plain loop instead.
 *
 * If the callback of a timer runs a nested GLib main loop, timers of the same
 * lawn loop do not fire in it. In a nested main loop that is run by any other
 * callback, they do.
 *
 * Call the functions on the thread that runs the context. Link with -llawn_glib
 * -llawn -lglib-2.0. */
#ifndef LAWN_GLIB_H
#define LAWN_GLIB_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _GMainContext; /* NOLINT(bugprone-reserved-identifier): GMainContext */

/* Creates a loop whose timers fire while the context is iterated; NULL means
 * the default context. options may be NULL. A clock set in the options must
 * count nanoseconds; arm is ignored; the allocator serves the loop but not the
 * adapter, which uses g_source_new(). Returns NULL and sets errno on failure,
 * like lawn_loop_new(); g_source_new() aborts if there is not enough memory.
 * The cost is that of lawn_loop_new() and g_source_attach(). */
struct lawn_loop *lawn_glib_new(struct _GMainContext *context,
                                const struct lawn_loop_options *options);

/* Frees a loop created by lawn_glib_new(). loop may be NULL. Returns true; in a
 * callback of a timer it does nothing and returns false. The cost is that of
 * lawn_loop_free() and g_source_destroy(). Call it instead of lawn_loop_free().
 * The context may already have been freed. */
bool lawn_glib_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
