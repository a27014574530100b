/* stores.h - the stores of a filter: keys, held lines, and early lines.
 *
 * A function that starts a timer stops the filter if there is no memory.
 */
#ifndef LAWN_CLI_STORES_H
#define LAWN_CLI_STORES_H

#include "filter.h"

/* Returns false if there is no memory. */
bool stores_open(struct filter *filter);
void stores_close(struct filter *filter);

/* Returns whether a store call succeeded. If not, prints a message and stops
 * the filter. */
bool stores_succeeded(struct filter *filter, int error);

/* Holds a line until a deadline under the next serial number. Returns LINE_HELD
 * or LINE_NOT_TAKEN. */
enum line_result stores_hold_line(struct filter *filter,
                                  const struct filter_line *line,
                                  uint64_t deadline);

/* Releases the line that stores_hold_line() held last. */
void stores_release_last_line(struct filter *filter);

/* stores_line_number() returns the serial number of a held line.
 * stores_line_order() does the same, as a filter_order_fn.
 * stores_is_valid_line() returns whether a timer has a serial number that was
 * used. */
uint64_t stores_line_number(const struct lawn_store_timer *timer);
uint64_t stores_line_order(const struct filter *filter,
                           const struct lawn_store_timer *timer);
bool stores_is_valid_line(const struct filter *filter,
                          const struct lawn_store_timer *timer);

/* Finds the held line with the smallest serial number. Returns false if there
 * is none, or if --max-lines is not given. */
bool stores_find_oldest_line(struct filter *filter,
                             struct lawn_store_timer *line);

/* Returns a record followed by a line, valid until the next call; NULL if there
 * is no memory. */
const void *stores_build_record(struct filter *filter, const void *record,
                                size_t record_size, const void *line,
                                size_t line_size);

/* Returns the id of a line that is held by key and number, valid until the next
 * call. */
const void *stores_build_line_id(struct filter *filter, const void *key,
                                 size_t key_size, uint64_t number,
                                 size_t *size);

#endif
