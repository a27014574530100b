/* parse.h - the key, the time and the TTL of a line. */
#ifndef LAWN_CLI_PARSE_H
#define LAWN_CLI_PARSE_H

#include "filter.h"

struct parsed_line {
    struct fields_bytes fields[FILTER_FIELDS];
    uint64_t ttl;         /* of --ttl-field */
    uint64_t time;        /* of --time-field; without it, the clock's time */
    enum times_form form; /* of the time */
};

/* Parses a line of an input. at NULL: the line is too long. Returns NULL, or
 * why the line is bad, valid until the next call. */
const char *parse_line(struct filter *filter, unsigned side, const char *at,
                       size_t size, struct parsed_line *parsed);

/* Returns the event time of a line, or 0 if the line is bad. */
uint64_t parse_time(struct filter *filter, unsigned side,
                    const struct input_line *line);

#endif
