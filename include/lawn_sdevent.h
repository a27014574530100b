/* lawn_sdevent.h - the timers of a loop in systemd's sd-event.
 *
 * One time source wakes the event loop for all of them, at normal priority and
 * with an accuracy of a microsecond, where sd-event's default is a quarter of a
 * second. Its time is set as L2 of lawn_loop.h says, not for each timer, and it is
 * off while none is running.
 *
 *     sd_event *event;
 *     struct lawn_loop *loop;
 *
 *     sd_event_default(&event);
 *     loop = lawn_sdevent_new(event, NULL);
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     sd_event_loop(event);
 *
 * sd-event takes one event source in each round, so that what is left of a turn's
 * budget waits for others, and they for it.
 *
 * Link with -llawn_sdevent -llawn -lsystemd. The calls are for the thread of the
 * event loop.
 */
#ifndef LAWN_SDEVENT_H
#define LAWN_SDEVENT_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sd_event; /* sd_event */

/* A new loop whose timers fire while the event loop runs; or NULL with errno, as
 * lawn_loop_new() and sd_event_add_time(3) say. The options may be NULL; a clock
 * of your own must count nanoseconds, arm is the adapter's, and its own
 * memory is malloc's. */
struct lawn_loop *lawn_sdevent_new(struct sd_event *event,
                                   const struct lawn_loop_options *options);

/* In place of lawn_loop_free(). loop may be NULL. False in a callback of a
 * timer: nothing was done. */
bool lawn_sdevent_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
