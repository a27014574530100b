/* clock.c - a filter's time, which makes things due: see clock.h. */
#include "clock.h"
#include "take.h"

#define CLOCK_BUDGET 4096u /* timers until the output is looked at */

bool
clock_is_event(const struct filter *filter)
{
    return filter->options.time_field != NULL;
}

uint64_t
clock_after(const struct filter *filter, uint64_t ttl)
{
    uint64_t last = LAWN_NEVER - 1;
    return ttl < last - filter->now ? filter->now + ttl : last;
}

static uint64_t
clock_next_due(struct filter *filter)
{
    uint64_t key = lawn_store_next(filter->keys);
    uint64_t line = lawn_store_next(filter->lines);
    return key < line ? key : line;
}

uint64_t
clock_next(struct filter *filter)
{
    uint64_t due = clock_next_due(filter);
    uint64_t early = lawn_store_next(filter->early);
    return due < early ? due : early;
}

static void
clock_set(struct filter *filter, uint64_t now)
{
    if (now <= filter->now)
        return;
    filter->now = now;
    lawn_store_set_now(filter->keys, now);
    lawn_store_set_now(filter->lines, now);
}

static void
clock_fire_key(const struct lawn_store_timer *timer, void *arg)
{
    struct filter *filter = arg;
    filter->counts.held -= filter->key_holds;
    filter->verb->key_due(filter, timer);
}

static void
clock_fire_line(const struct lawn_store_timer *timer, void *arg)
{
    struct filter *filter = arg;
    filter->counts.held -= filter->line_holds;
    filter->verb->line_due(filter, timer);
}

/* A line whose time has come. */
static void
clock_fire_early(const struct lawn_store_timer *timer, void *arg)
{
    struct filter *filter = arg;
    const char *bytes = timer->payload;
    filter->counts.held--;
    take_treat(filter, (unsigned char)bytes[0], bytes + 1,
               timer->payload_size - 1);
}

/* Goes to the next deadline that is not after to, and does what is due there.
 * False: there is none. */
static bool
clock_step(struct filter *filter, uint64_t to)
{
    uint64_t due = clock_next_due(filter);
    uint64_t early = lawn_store_next(filter->early);
    uint64_t next = due < early ? due : early;
    if (next > to)
        return false;
    clock_set(filter, next);
    if (due <= early) {
        lawn_store_mow(filter->keys, filter->now, CLOCK_BUDGET, clock_fire_key,
                       filter);
        lawn_store_mow(filter->lines, filter->now, CLOCK_BUDGET,
                       clock_fire_line, filter);
    } else {
        lawn_store_mow(filter->early, filter->now, 1, clock_fire_early, filter);
    }
    return true;
}

/* What is due later stays held if nothing can be written any more. */
static bool
clock_goes_on(const struct filter *filter)
{
    return !filter->done && !filter->sink.stuck && filter->sink.error == 0;
}

bool
clock_advance(struct filter *filter, uint64_t to)
{
    while (clock_goes_on(filter) && clock_step(filter, to))
        ;
    if (!clock_goes_on(filter))
        return false;
    clock_set(filter, to);
    return true;
}

void
clock_drain(struct filter *filter, enum filter_why why)
{
    filter->why = why;
    while (clock_goes_on(filter) && lawn_store_count(filter->pending) > 0 &&
           clock_step(filter, LAWN_NEVER - 1))
        ;
}
