/* workload_storm.c - W12: timers in a narrow window far away.
 *
 * A server fails, and all its clients lose their connections within a short
 * time. Each retries with exponential back-off and jitter, so nothing happens
 * for a long time, and then all timers are due within a narrow window. The
 * second attempt has a window of its own, twice as far away and twice as wide.
 * A scheme that opens a slot of far timers has to move all of them.
 */
#include "workload.h"

#define STORM_PER_TICK 64u /* timers due at a tick of the first window */
#define STORM_NARROW 64u   /* limits of the width of a window, in ticks */
#define STORM_WIDE (1u << 16)
#define STORM_FAR 8u /* the delay before a window, in widths of it */
#define STORM_ATTEMPTS 2u
#define STORM_LEAST 100000u /* firings to measure */

/* Returns the width of the first window. */
static uint64_t
storm_width(const struct run *run)
{
    uint64_t width = run->cell->n / STORM_PER_TICK;

    return width < STORM_NARROW ? STORM_NARROW
           : width > STORM_WIDE ? STORM_WIDE
                                : width;
}

/* Returns the delay of an attempt whose window has the given width. */
static uint64_t
draw_delay(uint64_t width, uint64_t random)
{
    return STORM_FAR * width + (((random & UINT32_MAX) * width) >> 32);
}

void
storm_ttls(struct run *run)
{
    uint64_t width = storm_width(run);

    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_object(run, i)->ttl = draw_delay(width, random_next(&run->random));
    }
}

/* The first attempt is followed by a second one. As in W10, the new TTL depends
 * on the timer and the time, not on the order in which timers fire. */
static void
on_fire(struct object *object, void *arg)
{
    struct run *run = (struct run *)arg;
    uint64_t width = 2 * storm_width(run);

    run_note(run, object);
    if (object->ttl < STORM_FAR * width) {
        object->ttl = draw_delay(width, random_mix(run->stamp + object->id));
        run->contender->start(run->self, object, object->ttl);
    }
}

/* All timers are started within a quarter of the first window. */
static void
play_storm(struct run *run)
{
    uint64_t n = run->cell->n;
    uint64_t per_tick = 1 + 4 * n / storm_width(run);
    uint64_t fired = 0;

    for (uint64_t i = 0; i < n; i++) {
        run_start(run, run->order[i]);
        if (i % per_tick == 0) {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
    run_weigh(run);
    run_begin(run, 0);
    for (uint64_t ticks = 1; fired < STORM_ATTEMPTS * n; ticks++) {
        fired += run_tick(run);
        if (ticks % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            break;
        }
    }
    run_finish(run, fired);
}

/* Repeats until the time is long enough to measure. */
void
storm_play(struct run *run)
{
    uint64_t each = STORM_ATTEMPTS * run->cell->n;
    uint64_t storms = each < STORM_LEAST ? STORM_LEAST / each : 1;

    run->fire = on_fire;
    for (uint64_t i = 0; i < storms && run_goes_on(run); i++) {
        if (i > 0) {
            storm_ttls(run);
        }
        play_storm(run);
    }
    if (run->end != RUN_OK) {
        run->stages[0].ops = 0;
    }
}
