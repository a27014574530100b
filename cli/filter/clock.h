/* clock.h - the clock of a filter, which fires timers.
 *
 * The clock advances from one deadline to the next. So timers fire in the order
 * of their deadlines, also those that firing timers start, however far a line
 * advances the clock. Timers due at a time fire before lines of that time are
 * processed.
 */
#ifndef LAWN_CLI_CLOCK_H
#define LAWN_CLI_CLOCK_H

#include "../../src/base/saturating.h"
#include "filter.h"

/* The last time. A timer that must never fire has a later deadline. */
#define CLOCK_LAST (LAWN_NEVER - 2)

/* Returns whether lines carry their times: --time-field. */
bool clock_is_event_time(const struct filter *filter);

/* Advances the clock to a time and fires due timers. An earlier time has no
 * effect. Returns false if the filter has stopped or cannot write. */
bool clock_advance(struct filter *filter, uint64_t to);

/* Advances the clock until no timer is pending. */
void clock_drain(struct filter *filter);

/* Fires all pending timers now, in the order of their deadlines. */
void clock_flush(struct filter *filter);

/* Returns the earliest deadline, or LAWN_NEVER. */
uint64_t clock_next_deadline(struct filter *filter);

/* Returns time + more, at most CLOCK_LAST. */
static inline uint64_t
clock_add(uint64_t time, uint64_t more)
{
    uint64_t sum = lawn__saturating_add(time, more);
    return sum < CLOCK_LAST ? sum : CLOCK_LAST;
}

/* Returns now + ttl, at most CLOCK_LAST. */
uint64_t clock_deadline(const struct filter *filter, uint64_t ttl);

#endif
