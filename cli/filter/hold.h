/* hold.h - what is held, and how much of it may be.
 *
 * Calls that start timers end the filter if there is no memory, and then tell
 * false or nothing.
 */
#ifndef LAWN_CLI_HOLD_H
#define LAWN_CLI_HOLD_H

#include "filter.h"

/* The stores. False: no memory. */
bool hold_open(struct filter *filter);
void hold_close(struct filter *filter);

/* Whether there is room for a line's key, or for a line, within the limits;
 * evicts, passes the line on or fails as --overflow says. */
bool hold_has_key_room(struct filter *filter, const struct filter_line *line);
bool hold_has_line_room(struct filter *filter, const struct filter_line *line);

/* Whether a start has worked. If not, give the line back that it was for. */
bool hold_started(struct filter *filter, int error);
void hold_give_back(struct filter *filter);

/* Holds a line until a deadline, under a number of its own. */
void hold_line(struct filter *filter, const struct filter_line *line,
               uint64_t deadline);

/* That number, and as an order; and whether a timer has one that was given out. */
uint64_t hold_number(const struct lawn_store_timer *timer);
uint64_t hold_order(const struct filter *filter,
                    const struct lawn_store_timer *timer);
bool hold_is_numbered(const struct filter *filter,
                      const struct lawn_store_timer *timer);

/* A record and a line one after the other, until the next call; NULL: no
 * memory. */
const void *hold_join(struct filter *filter, const void *record,
                      size_t record_size, const void *line, size_t line_size);

/* The id of a line that stands in lines by its key and a number of 8 bytes, until
 * the next call. */
const void *hold_id(struct filter *filter, const void *key, size_t key_size,
                    uint64_t number, size_t *size);

#endif
