/* clock.c - a filter's time, which makes things due: see clock.h. */
#include "clock.h"
#include "due.h"
#include "hold.h"
#include "take.h"

bool
clock_is_event(const struct filter *filter)
{
    return filter->options.time_field != NULL;
}

uint64_t
clock_after(const struct filter *filter, uint64_t ttl)
{
    return ttl < CLOCK_LAST - filter->now ? filter->now + ttl : CLOCK_LAST;
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
clock_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    filter->counts.held -= filter->key_holds;
    if (filter->verb->key_due != NULL)
        filter->verb->key_due(filter, timer);
}

static void
clock_line_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    filter->counts.held -= filter->line_holds;
    filter->verb->line_due(filter, timer);
}

/* A line whose time has come. If the filter has ended it stays. */
static void
clock_early_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    const char *bytes = timer->payload;
    filter->counts.held--;
    if (!filter->done && take_treat(filter, (unsigned char)bytes[0], bytes + 1,
                                    timer->payload_size - 1))
        return;
    if (take_keep(filter, hold_number(timer), bytes, timer->payload_size,
                  filter->now))
        filter->counts.held++;
    else
        filter->counts.discarded++;
}

/* Lines of the left come before those of the right. */
static uint64_t
clock_early_order(const struct filter *filter,
                  const struct lawn_store_timer *timer)
{
    uint64_t side = *(const unsigned char *)timer->payload;
    (void)filter;
    return side << 63 | hold_number(timer);
}

static void
clock_fire_keys(struct filter *filter, uint64_t time)
{
    due_fire(filter, filter->keys, time, filter->key_order, clock_key_due);
}

static void
clock_fire_lines(struct filter *filter, uint64_t time)
{
    due_fire(filter, filter->lines, time, filter->line_order, clock_line_due);
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
        clock_fire_keys(filter, filter->now);
        if (!filter->done)
            clock_fire_lines(filter, filter->now);
    } else {
        due_fire(filter, filter->early, filter->now, clock_early_order,
                 clock_early_due);
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
clock_drain(struct filter *filter)
{
    while (clock_goes_on(filter) && lawn_store_count(filter->pending) > 0 &&
           clock_step(filter, CLOCK_LAST))
        ;
}

void
clock_flush(struct filter *filter)
{
    filter->why = FILTER_AT_EOF;
    while (clock_goes_on(filter) && lawn_store_count(filter->pending) > 0) {
        uint64_t next = lawn_store_next(filter->pending);
        if (filter->pending == filter->keys)
            clock_fire_keys(filter, next);
        else
            clock_fire_lines(filter, next);
    }
}
