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

/* The time of day in the line's time field, which also settles how times get
 * written. False: it is none, which was counted as bad. */
static bool
take_read_time(struct filter *filter, unsigned side,
               const struct fields_bytes *field, uint64_t *time)
{
    enum times_form form;
    if (!times_read(field->at, field->size, filter->unit, time, &form)) {
        char wrong[160];
        snprintf(wrong, sizeof wrong, "'%.*s' is not a time",
                 (int)(field->size < 60 ? field->size : 60), field->at);
        tell_bad(filter, side, wrong);
        return false;
    }
    if (!filter->timed)
        filter->form = form;
    filter->timed = true;
    return true;
}

/* Finds a line's fields, and its TTL if it has one of its own. False: it is bad,
 * and was counted. */
static bool
take_fields(struct filter *filter, unsigned side, const char *at, size_t size,
            struct fields_bytes *found, uint64_t *ttl)
{
    const char *wrong = "longer than 536870000 bytes";
    *ttl = 0;
    if (at != NULL)
        wrong = fields_find(&filter->fields[side], at, size, found);
    if (wrong == NULL && found[FILTER_KEY].size > FILTER_KEY_MAX)
        wrong = "a key longer than 65000 bytes";
    if (wrong == NULL && found[FILTER_TTL].at != NULL &&
        !times_read_length(found[FILTER_TTL].at, found[FILTER_TTL].size,
                           filter->ttl_unit, ttl))
        wrong = "its TTL is neither a number nor a duration";
    if (wrong != NULL)
        tell_bad(filter, side, wrong);
    return wrong == NULL;
}

/* Gives a line whose fields are known to the verb. */
static void
take_give(struct filter *filter, unsigned side, const char *at, size_t size,
          const struct fields_bytes *key, uint64_t ttl)
{
    struct filter_line line = {
        .at = at,
        .size = size,
        .bare = size > 0 && at[size - 1] == '\r' ? size - 1 : size,
        .key = key->size > 0 ? key->at : "",
        .key_size = key->size,
        .ttl = ttl,
        .side = side,
    };
    if (!filter->begun && filter->verb->begin != NULL)
        filter->verb->begin(filter);
    filter->begun = true;
    filter->verb->line(filter, &line);
}

void
take_treat(struct filter *filter, unsigned side, const char *at, size_t size)
{
    struct fields_bytes found[FILTER_FIELDS];
    uint64_t ttl;
    if (take_fields(filter, side, at, size, found, &ttl))
        take_give(filter, side, at, size, &found[FILTER_KEY], ttl);
}

/* Keeps a line until its time. */
static void
take_keep(struct filter *filter, unsigned side, const struct input_line *line,
          uint64_t time)
{
    unsigned char mark = (unsigned char)side;
    const void *kept = hold_join(filter, &mark, 1, line->at, line->size);
    uint64_t number = ++filter->serial;
    if (kept != NULL &&
        hold_started(filter, lawn_store_start(filter->early, &number,
                                              sizeof number, time, kept,
                                              line->size + 1, LAWN_STORE_AT)))
        filter->counts.held++;
    else
        filter->counts.discarded++;
}

bool
take_line(struct filter *filter, unsigned side, const struct input_line *line)
{
    struct fields_bytes found[FILTER_FIELDS];
    uint64_t time = filter->now;
    uint64_t ttl;
    filter->counts.in++;
    if (!take_fields(filter, side, line->at, line->size, found, &ttl))
        return true;
    if (clock_is_event(filter)) {
        if (!take_read_time(filter, side, &found[FILTER_TIME], &time))
            return true;
        if (time > filter->newest)
            filter->newest = time;
        uint64_t lateness = filter->options.lateness;
        if (filter->newest > lateness &&
            !clock_advance(filter, filter->newest - lateness)) {
            filter->counts.in--;
            return false;
        }
    }
    if (time > filter->now) {
        take_keep(filter, side, line, time);
        return true;
    }
    filter->counts.late += time < filter->now;
    take_give(filter, side, line->at, line->size, &found[FILTER_KEY], ttl);
    return true;
}

bool
take_time(struct filter *filter, unsigned side, const struct input_line *line,
          uint64_t *time)
{
    struct fields_bytes found[FILTER_FIELDS];
    return line->at != NULL &&
           fields_find(&filter->fields[side], line->at, line->size, found) ==
               NULL &&
           times_read(found[FILTER_TIME].at, found[FILTER_TIME].size,
                      filter->unit, time, NULL);
}
