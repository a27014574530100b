/* parse.c - the key, the time and the TTL of a line: see parse.h. */
#include "parse.h"
#include "clock.h"

#include <stdio.h>

/* Formats why a field is bad: its text, quoted and shortened, and the
 * reason. */
static const char *
describe_field(struct filter *filter, const struct fields_bytes *field,
               const char *reason, const char *more)
{
    snprintf(filter->io.error_text, sizeof(filter->io.error_text),
             "'%.*s' is %s%s", (int)(field->size < 60 ? field->size : 60),
             field->at, reason, more);
    return filter->io.error_text;
}

/* Parses the time field. Returns NULL, or why it is bad. */
static const char *
parse_time_field(struct filter *filter, unsigned side,
                 const struct fields_bytes *field, struct parsed_line *parsed)
{
    static const char *const names[] = {"seconds", "milliseconds",
                                        "microseconds", "nanoseconds"};
    enum times_unit unit = filter->clock.units[side];
    /* No deadline can be after CLOCK_LAST. */
    if (times_parse(field->at, field->size, unit, &parsed->time,
                    &parsed->form) &&
        parsed->time < CLOCK_LAST) {
        return NULL;
    }
    if (times_is_out_of_range(field->at, field->size)) {
        return describe_field(filter, field,
                              "out of range: times are from 1970 to 2554-07-21",
                              times_looks_like_date(field->at, field->size)
                                  ? ""
                                  : "; see --time-unit");
    }
    if (times_is_bad_leap_second(field->at, field->size)) {
        return describe_field(filter, field, "not a time: a leap second is ",
                              "only possible at 23:59:60 UTC on the last day "
                              "of a month");
    }
    if (times_looks_like_date(field->at, field->size)) {
        return describe_field(filter, field, "not a time since 1970 with a ",
                              "time zone, such as 2026-11-15T10:00:00Z");
    }
    return describe_field(filter, field,
                          "neither an RFC 3339 time nor a number of ",
                          names[unit]);
}

const char *
parse_line(struct filter *filter, unsigned side, const char *at, size_t size,
           struct parsed_line *parsed)
{
    struct fields_bytes *fields = parsed->fields;
    *parsed = (struct parsed_line){.time = filter->clock.now};
    if (at == NULL) {
        return "longer than 536870000 bytes";
    }
    const char *wrong = fields_find(&filter->io.fields[side], at, size, fields);
    if (wrong != NULL) {
        return wrong;
    }
    if (fields[FILTER_KEY].size > FILTER_KEY_MAX) {
        return "a key longer than 65000 bytes";
    }
    const struct fields_bytes *ttl = &fields[FILTER_TTL];
    if (ttl->at != NULL &&
        !times_parse_duration(ttl->at, ttl->size, filter->clock.ttl_unit,
                              &parsed->ttl)) {
        return describe_field(filter, ttl, "not a delay, or too large", "");
    }
    const struct fields_bytes *time = &fields[FILTER_TIME];
    return time->at != NULL ? parse_time_field(filter, side, time, parsed)
                            : NULL;
}

uint64_t
parse_time(struct filter *filter, unsigned side, const struct input_line *line)
{
    struct parsed_line parsed;
    const char *wrong = parse_line(filter, side, line->at, line->size, &parsed);
    return wrong == NULL ? parsed.time : 0;
}
