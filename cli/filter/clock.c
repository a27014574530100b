/* clock.c - the time of a filter: see clock.h. */
#include "clock.h"
#include "due_batch.h"
#include "intake.h"
#include "stores.h"

bool
clock_is_event_time(const struct filter *filter)
{
    return filter->options.time_field != NULL;
}

uint64_t
clock_deadline(const struct filter *filter, uint64_t ttl)
{
    return clock_add(filter->clock.now, ttl);
}

static uint64_t
next_due(struct filter *filter)
{
    uint64_t key = lawn_store_next(filter->stores.keys);
    uint64_t line = lawn_store_next(filter->stores.lines);
    return key < line ? key : line;
}

uint64_t
clock_next_deadline(struct filter *filter)
{
    uint64_t due = next_due(filter);
    uint64_t early = lawn_store_next(filter->stores.early);
    return due < early ? due : early;
}

static void
set_now(struct filter *filter, uint64_t now)
{
    if (now <= filter->clock.now) {
        return;
    }
    filter->clock.now = now;
    lawn_store_set_now(filter->stores.keys, now);
    lawn_store_set_now(filter->stores.lines, now);
}

static void
handle_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    filter->counts.held -= filter->setup.key_holds;
    if (filter->verb->key_due != NULL) {
        filter->verb->key_due(filter, timer);
    }
}

static void
handle_line_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    filter->counts.held -= filter->setup.line_holds;
    filter->verb->line_due(filter, timer);
}

/* Processes a line of the store `early`. If the filter has stopped, the line is
 * put back there. */
static void
handle_early_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    const char *bytes = timer->payload;
    filter->counts.held--;
    if (!filter->run.done &&
        intake_deliver(filter, (unsigned char)bytes[0], bytes + 1,
                       timer->payload_size - 1)) {
        return;
    }
    if (intake_keep(filter, stores_line_number(timer), bytes,
                    timer->payload_size, filter->clock.now)) {
        filter->counts.held++;
    } else {
        filter->counts.discarded++;
    }
}

/* At equal times, lines of the left input are first. */
static uint64_t
early_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    uint64_t side = *(const unsigned char *)timer->payload;
    (void)filter;
    return side << 63 | stores_line_number(timer);
}

static void
fire_keys(struct filter *filter, uint64_t time)
{
    due_batch_fire(filter, filter->stores.keys, time, filter->setup.key_order,
                   handle_key_due);
}

static void
fire_lines(struct filter *filter, uint64_t time)
{
    due_batch_fire(filter, filter->stores.lines, time, filter->setup.line_order,
                   handle_line_due);
}

/* Advances the clock to the next deadline up to a time, and fires the timers
 * that are due then. Returns false if there is no such deadline. */
static bool
step(struct filter *filter, uint64_t to)
{
    uint64_t due = next_due(filter);
    uint64_t early = lawn_store_next(filter->stores.early);
    uint64_t next = due < early ? due : early;
    if (next > to) {
        return false;
    }
    set_now(filter, next);
    if (due <= early) {
        fire_keys(filter, filter->clock.now);
        if (!filter->run.done) {
            fire_lines(filter, filter->clock.now);
        }
    } else {
        due_batch_fire(filter, filter->stores.early, filter->clock.now,
                       early_order, handle_early_due);
    }
    return true;
}

/* Returns false if the filter has stopped or cannot write. Then timers do not
 * fire, and keep their lines. */
static bool
can_continue(const struct filter *filter)
{
    return !filter->run.done && !filter->io.sink.stuck &&
           filter->io.sink.error == 0;
}

bool
clock_advance(struct filter *filter, uint64_t to)
{
    while (can_continue(filter) && step(filter, to)) {
        ;
    }
    if (!can_continue(filter)) {
        return false;
    }
    set_now(filter, to);
    return true;
}

void
clock_drain(struct filter *filter)
{
    while (can_continue(filter) &&
           lawn_store_count(filter->setup.pending) > 0 &&
           step(filter, CLOCK_LAST)) {
        ;
    }
}

void
clock_flush(struct filter *filter)
{
    filter->run.cause = CAUSE_EOF;
    while (can_continue(filter) &&
           lawn_store_count(filter->setup.pending) > 0) {
        uint64_t next = lawn_store_next(filter->setup.pending);
        if (filter->setup.pending == filter->stores.keys) {
            fire_keys(filter, next);
        } else {
            fire_lines(filter, next);
        }
    }
}
