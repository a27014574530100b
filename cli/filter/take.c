/* take.c - from the bytes of a line to what a verb gets.
 *
 * A line that has to wait for its time is kept as it was read, and its fields
 * are found again when that has come: their places are not worth the memory.
 */
#include "take.h"
#include "clock.h"
#include "hold.h"
#include "tell.h"

#include <stdio.h>

/* What is found in a line. */
struct take_found {
    struct fields_bytes fields[FILTER_FIELDS];
    uint64_t ttl;
    uint64_t time;
    enum times_form form;
};

/* What is wrong with a field. */
static const char *
take_wrong(struct filter *filter, const struct fields_bytes *field,
           const char *what, const char *more)
{
    snprintf(filter->wrong, sizeof filter->wrong, "'%.*s' is %s%s",
             (int)(field->size < 60 ? field->size : 60), field->at, what, more);
    return filter->wrong;
}

/* Finds a line's fields, its time in event time, and its TTL if it has one of its
 * own. NULL; or what is wrong with it. */
static const char *
take_find(struct filter *filter, unsigned side, const char *at, size_t size,
          struct take_found *found)
{
    struct fields_bytes *fields = found->fields;
    *found = (struct take_found){.time = filter->now};
    if (at == NULL)
        return "longer than 536870000 bytes";
    const char *wrong = fields_find(&filter->fields[side], at, size, fields);
    if (wrong != NULL)
        return wrong;
    if (fields[FILTER_KEY].size > FILTER_KEY_MAX)
        return "a key longer than 65000 bytes";
    const struct fields_bytes *ttl = &fields[FILTER_TTL];
    if (ttl->at != NULL &&
        !times_read_length(ttl->at, ttl->size, filter->ttl_unit, &found->ttl))
        return take_wrong(filter, ttl, "neither a number nor a duration", "");
    const struct fields_bytes *time = &fields[FILTER_TIME];
    /* At the last time of all, nothing could be due later. */
    if (time->at != NULL &&
        (!times_read(time->at, time->size, filter->units[side], &found->time,
                     &found->form) ||
         found->time >= CLOCK_LAST))
        return times_is_dated(time->at, time->size)
                   ? take_wrong(filter, time, "not a time since 1970 with its ",
                                "zone, such as 2026-11-15T10:00:00Z")
                   : take_wrong(filter, time, "not a time in ",
                                times_units[filter->units[side]]);
    return NULL;
}

/* Gives a line whose fields are known to the verb. False: it gave it back. */
static bool
take_give(struct filter *filter, unsigned side, const char *at, size_t size,
          const struct fields_bytes *key, uint64_t ttl)
{
    struct filter_line line = {
        .at = at,
        .size = size,
        .key = key->size > 0 ? key->at : "",
        .key_size = key->size,
        .ttl = ttl,
        .side = side,
    };
    if (!filter->begun && filter->verb->begin != NULL)
        filter->verb->begin(filter);
    filter->begun = true;
    filter->untaken = filter->done; /* by its begin() */
    if (!filter->untaken)
        filter->verb->line(filter, &line);
    return !filter->untaken;
}

bool
take_treat(struct filter *filter, unsigned side, const char *at, size_t size)
{
    struct take_found found = {.ttl = 0};
    const char *wrong = take_find(filter, side, at, size, &found);
    if (wrong == NULL)
        return take_give(filter, side, at, size, &found.fields[FILTER_KEY],
                         found.ttl);
    tell_bad(filter, side, wrong); /* of a state that others have written */
    return true;
}

bool
take_keep(struct filter *filter, uint64_t number, const void *bytes,
          size_t size, uint64_t time)
{
    return hold_started(filter,
                        lawn_store_start(filter->early, &number, sizeof number,
                                         time, bytes, size, LAWN_STORE_AT));
}

/* Keeps a line until its time. False: no memory. */
static bool
take_wait(struct filter *filter, unsigned side, const struct input_line *line,
          uint64_t time)
{
    unsigned char mark = (unsigned char)side;
    const void *kept = hold_join(filter, &mark, 1, line->at, line->size);
    if (kept == NULL ||
        !take_keep(filter, ++filter->serial, kept, line->size + 1, time))
        return false;
    filter->counts.held++;
    return true;
}

bool
take_line(struct filter *filter, unsigned side, const struct input_line *line)
{
    struct take_found found = {.ttl = 0};
    const char *wrong = take_find(filter, side, line->at, line->size, &found);
    if (wrong != NULL) {
        filter->counts.in++;
        tell_bad(filter, side, wrong);
        return true;
    }
    if (clock_is_event(filter)) {
        uint64_t lateness = filter->options.lateness;
        if (!filter->timed)
            filter->form = found.form;
        filter->timed = true;
        if (found.time > filter->newest)
            filter->newest = found.time;
        if (filter->newest > lateness &&
            !clock_advance(filter, filter->newest - lateness))
            return false;
    }
    if (found.time > filter->now) {
        if (!take_wait(filter, side, line, found.time))
            return false;
    } else if (!take_give(filter, side, line->at, line->size,
                          &found.fields[FILTER_KEY], found.ttl)) {
        return false;
    } else if (found.time < filter->now) {
        filter->counts.late++;
    }
    filter->counts.in++;
    return true;
}

uint64_t
take_time(struct filter *filter, unsigned side, const struct input_line *line)
{
    struct take_found found = {.ttl = 0};
    const char *wrong = take_find(filter, side, line->at, line->size, &found);
    return wrong == NULL ? found.time : 0;
}
