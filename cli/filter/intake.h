/* intake.h - passes lines to the verb; in event time, in the order of their
 * times. */
#ifndef LAWN_CLI_INTAKE_H
#define LAWN_CLI_INTAKE_H

#include "filter.h"

/* Processes a line that was read. In event time, advances the clock first.
 * Passes the line to the verb, or keeps it in the store `early` until the clock
 * reaches its time. Counts the line. Returns false if the filter stopped and
 * did not take the line; then the line is not counted. */
bool intake_line(struct filter *filter, unsigned side,
                 const struct input_line *line);

/* Passes a line of the store `early` to the verb. Returns false if the verb did
 * not take it. */
bool intake_deliver(struct filter *filter, unsigned side, const char *at,
                    size_t size);

/* Keeps a line in the store `early` under its number until its time. bytes is
 * the line's side, followed by the line. Returns false if there is no
 * memory. */
bool intake_keep(struct filter *filter, uint64_t number, const void *bytes,
                 size_t size, uint64_t time);

#endif
