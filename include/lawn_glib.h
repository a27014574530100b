/* lawn_glib.h - a lawn_loop in a main loop of GLib.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3).
 * In GLib, the wake-up is a GSource with default priority. Its ready time is -1
 * while no timer is running.
 *
 *     struct lawn_loop *loop = lawn_glib_new(NULL, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     g_main_loop_run(main_loop);
 *
 * GLib may wait for whole milliseconds: timers then fire up to one millisecond
 * late.
 *
 * Timers also fire in a nested main loop, unless it runs in a callback of their
 * lawn_loop. Link with -llawn_glib -llawn -lglib-2.0.
 */
#ifndef LAWN_GLIB_H
#define LAWN_GLIB_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _GMainContext; /* NOLINT(bugprone-reserved-identifier): GMainContext */

/* Creates a loop whose timers fire while the context is iterated. If context is
 * NULL, the default context is used. Returns NULL and sets errno on failure.
 * The adapter allocates memory with g_source_new(), which aborts the program if
 * there is not enough. The cost is that of lawn_loop_new() and
 * g_source_attach(). */
struct lawn_loop *lawn_glib_new(struct _GMainContext *context,
                                const struct lawn_loop_options *options);

/* Frees a loop created by lawn_glib_new(). Returns as lawn_loop_free() does.
 * The cost is that of lawn_loop_free() and g_source_destroy(). The context may
 * already have been freed. */
bool lawn_glib_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
