/* lawn_sdevent.h - a lawn_loop in systemd's sd-event.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3). In
 * sd-event, the wake-up is a time source with normal priority. Its accuracy is
 * one microsecond instead of sd-event's default of 250 ms.
 *
 *     sd_event *event;
 *     struct lawn_loop *loop;
 *
 *     sd_event_default(&event);
 *     loop = lawn_sdevent_new(event, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     sd_event_loop(event);
 *
 * sd-event dispatches one event source per iteration. If a turn ends because of
 * its budget, other sources of this priority or a higher one are dispatched
 * before the next turn. Link with -llawn_sdevent -llawn -lsystemd.
 */
#ifndef LAWN_SDEVENT_H
#define LAWN_SDEVENT_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sd_event; /* sd_event */

/* Creates a loop whose timers fire while the event loop runs. Returns NULL and
 * sets errno on failure: an error of lawn_loop_new() or sd_event_add_time(3).
 * The cost is that of these two functions. */
struct lawn_loop *lawn_sdevent_new(struct sd_event *event,
                                   const struct lawn_loop_options *options);

/* Frees a loop created by lawn_sdevent_new(). Returns as lawn_loop_free() does.
 * The cost is that of lawn_loop_free() and sd_event_source_disable_unref(3). */
bool lawn_sdevent_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
