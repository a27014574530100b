/* put.h - what a filter writes: lines of the input, and lines that it makes.
 *
 * A made line is put together from pieces; a piece of JSON has what stands before
 * it, such as {"key": in front. */
#ifndef LAWN_CLI_PUT_H
#define LAWN_CLI_PUT_H

#include "filter.h"

/* A line of the input, as it was. */
void put_line(struct filter *filter, const void *at, size_t size);

/* The same, of a line that has not been held; and of one that a timer holds. */
void put_at_once(struct filter *filter, const struct filter_line *line);
void put_held(struct filter *filter, const struct lawn_store_timer *timer);

/* Pieces: of JSON, or text with a tab in front unless it is the first. */
void put_word(struct filter *filter, const char *name, const char *word);
void put_number(struct filter *filter, const char *name, uint64_t number);
void put_seconds(struct filter *filter, const char *name, uint64_t ns);
void put_time(struct filter *filter, const char *name, uint64_t time);
void put_key(struct filter *filter, const char *name, const void *key,
             size_t size);
/* A line of an input, without its carriage return; in JSON, as a string if it is
 * none. at NULL: null, in JSON only. */
void put_input(struct filter *filter, unsigned side, const char *name,
               const void *at, size_t size);

/* Ends the made line. */
void put_end(struct filter *filter, enum sink_kind kind);

#endif
