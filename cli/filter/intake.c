/* intake.c - passes lines to the verb: see intake.h.
 *
 * A line ahead of the clock is stored unparsed, and parsed again when it is
 * due: storing the positions of its fields is not worth the memory.
 */
#include "intake.h"
#include "clock.h"
#include "log.h"
#include "parse.h"
#include "record.h"
#include "stores.h"

/* Counts a line that was read from an input or from the state. */
static void
count_read(struct filter *filter, unsigned side)
{
    filter->counts.in++;
    filter->counts.resumed += input_is_resumed(&filter->io.inputs[side]);
}

/* Counts a line that the verb has processed. Returns whether it was taken. */
static bool
count_result(struct filter *filter, enum line_result result)
{
    switch (result) {
    case LINE_WRITTEN:
        return true;
    case LINE_HELD:
        filter->counts.held++;
        return true;
    case LINE_MERGED:
        filter->counts.merged++;
        return true;
    case LINE_REFUSED:
        filter->counts.refused++;
        return true;
    case LINE_NOT_TAKEN:
        break;
    }
    return false;
}

/* Passes a parsed line to the verb. Returns whether the verb took it. */
static bool
deliver(struct filter *filter, unsigned side, const char *at, size_t size,
        const struct parsed_line *parsed)
{
    const struct fields_bytes *key = &parsed->fields[FILTER_KEY];
    struct filter_line line = {
        .at = at,
        .size = size,
        .key = key->size > 0 ? key->at : "",
        .key_size = key->size,
        .ttl = parsed->ttl,
        .side = side,
    };
    if (!filter->run.begun) {
        filter->run.begun = true;
        if (filter->verb->begin != NULL && !filter->verb->begin(filter)) {
            return false;
        }
    }
    return count_result(filter, filter->verb->line(filter, &line));
}

bool
intake_deliver(struct filter *filter, unsigned side, const char *at,
               size_t size)
{
    struct parsed_line parsed;
    const char *wrong = parse_line(filter, side, at, size, &parsed);
    if (wrong == NULL) {
        return deliver(filter, side, at, size, &parsed);
    }
    log_bad_line(filter, side, wrong); /* the line is from a state that this
                                          program has not written */
    return true;
}

bool
intake_keep(struct filter *filter, uint64_t number, const void *bytes,
            size_t size, uint64_t time)
{
    unsigned char id[RECORD_NUMBER];
    record_put(id, 0, number);
    return stores_succeeded(filter, lawn_store_start(filter->stores.early, id,
                                                     sizeof(id), time, bytes,
                                                     size, LAWN_STORE_AT));
}

/* Keeps a line that was read, in the store `early`. Returns false if there is
 * no memory. */
static bool
keep_until(struct filter *filter, unsigned side, const struct input_line *line,
           uint64_t time)
{
    unsigned char mark = (unsigned char)side;
    const void *kept =
        stores_build_record(filter, &mark, 1, line->at, line->size);
    if (kept == NULL || !intake_keep(filter, ++filter->stores.serial, kept,
                                     line->size + 1, time)) {
        return false;
    }
    filter->counts.held++;
    return true;
}

/* Advances the clock to the time of a line less --lateness. Returns false if
 * the filter stopped. */
static bool
advance_event_time(struct filter *filter, const struct parsed_line *parsed)
{
    struct filter_clock *clock = &filter->clock;
    uint64_t lateness = filter->options.lateness;
    if (!clock->has_time) {
        clock->form = parsed->form;
    }
    clock->has_time = true;
    if (parsed->time > clock->newest) {
        clock->newest = parsed->time;
    }
    return clock->newest <= lateness ||
           clock_advance(filter, clock->newest - lateness);
}

bool
intake_line(struct filter *filter, unsigned side, const struct input_line *line)
{
    struct parsed_line parsed;
    const char *wrong = parse_line(filter, side, line->at, line->size, &parsed);
    if (wrong != NULL) {
        count_read(filter, side);
        log_bad_line(filter, side, wrong);
        return true;
    }
    if (clock_is_event_time(filter) && !advance_event_time(filter, &parsed)) {
        return false;
    }
    uint64_t now = filter->clock.now;
    bool taken = parsed.time > now
                     ? keep_until(filter, side, line, parsed.time)
                     : deliver(filter, side, line->at, line->size, &parsed);
    if (!taken) {
        return false;
    }
    filter->counts.late += parsed.time < now;
    count_read(filter, side);
    return true;
}
