/* take.h - from the bytes of a line to what a verb gets. */
#ifndef LAWN_CLI_TAKE_H
#define LAWN_CLI_TAKE_H

#include "filter.h"

/* A line has been read: finds its fields, moves the clock on in event time, and
 * treats it, or keeps it until its time. False: the filter ended before that, and
 * the line is not taken. */
bool take_line(struct filter *filter, unsigned side,
               const struct input_line *line);

/* Gives a line to the verb, now. False: it was given back. */
bool take_treat(struct filter *filter, unsigned side, const char *at,
                size_t size);

/* Keeps a line, after the mark of its side, under its number until its time.
 * False: no memory. */
bool take_keep(struct filter *filter, uint64_t number, const void *bytes,
               size_t size, uint64_t time);

/* The event time of a line; 0 if it is bad, and need not wait for its turn. */
uint64_t take_time(struct filter *filter, unsigned side,
                   const struct input_line *line);

#endif
