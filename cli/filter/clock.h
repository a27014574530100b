/* clock.h - a filter's time, which makes things due.
 *
 * Time goes from one deadline to the next, so that what a timer starts is due in
 * its order, however far a line moves the clock. What is due at a time comes
 * before lines of that time.
 */
#ifndef LAWN_CLI_CLOCK_H
#define LAWN_CLI_CLOCK_H

#include "filter.h"

/* The last time there is. What has no deadline is started for later. */
#define CLOCK_LAST (LAWN_NEVER - 2)

/* Whether time comes with the lines, and not from the wall. */
bool clock_is_event(const struct filter *filter);

/* Moves the clock to a time, never back; what is due by then happens. False: the
 * filter ended on the way, or cannot write. */
bool clock_advance(struct filter *filter, uint64_t to);

/* Lets time go on until nothing is pending. */
void clock_drain(struct filter *filter);

/* What is pending happens now, in the order in which it would be due. */
void clock_flush(struct filter *filter);

/* When something is due next, or LAWN_NEVER. */
uint64_t clock_next(struct filter *filter);

/* now + ttl; at worst the last time there is. */
uint64_t clock_after(const struct filter *filter, uint64_t ttl);

#endif
