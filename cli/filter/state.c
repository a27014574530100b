/* state.c - the contents of a state file: see state.h. */
#include "state.h"
#include "clock.h"
#include "log.h"
#include "parse.h"
#include "record.h"
#include "stores.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STATE_MANY (UINT64_C(1) << 63) /* larger than any serial number */

/* Names of values, for each input: complete lines and an incomplete line that
 * were read and not processed, and the identity of the input. */
static const char *const remaining_names[] = {"rest left", "rest right"};
static const char *const partial_names[] = {"part left", "part right"};
static const char *const source_names[] = {"source left", "source right"};

/* The numbers in the value "numbers". */
enum { NUMBER_NOW, NUMBER_NEWEST, NUMBER_SERIAL, NUMBER_FORM, NUMBER_HAS_TIME };
#define NUMBERS_BYTES (5 * RECORD_NUMBER)

#define SOURCE_BYTES (2 * RECORD_NUMBER)

void
state_describe(const struct filter *filter, char text[FILTER_SIGNATURE_MAX])
{
    const struct filter_options *o = &filter->options;
    int size = snprintf(text, FILTER_SIGNATURE_MAX, "%s", filter->name);
    const struct {
        const char *name;
        const char *value;
    } parts[] = {
        {"key", o->key},
        {"right-key", o->right_key},
        {"delimiter", o->delimiter},
        {"time-field", o->time_field},
        {"right-time-field", o->right_time_field},
        {"time-unit",
         clock_is_event_time(filter) ? times_units[filter->clock.unit] : NULL},
        {"emit", filter->setup.emit},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].value != NULL && size < (int)FILTER_SIGNATURE_MAX) {
            size += snprintf(text + size, FILTER_SIGNATURE_MAX - (size_t)size,
                             " --%s %s", parts[i].name, parts[i].value);
        }
    }
    if (o->json && size < (int)FILTER_SIGNATURE_MAX) {
        snprintf(text + size, FILTER_SIGNATURE_MAX - (size_t)size, " --json");
    }
}

static int
put_value(struct lawn_store *values, const char *name, const void *bytes,
          size_t size)
{
    return lawn_store_start(values, name, strlen(name), UINT64_MAX, bytes, size,
                            0);
}

/* Sets *bytes to the bytes that were read of an input and not processed,
 * including the line in its struct input_head. Returns their number; *whole of
 * them form complete lines. */
static size_t
remaining(const struct filter *filter, size_t side, const char **bytes,
          size_t *whole)
{
    const struct input_head *head = &filter->io.heads[side];
    size_t size = input_remaining(&filter->io.inputs[side], bytes, whole);
    if (head->present && head->line.at != NULL) {
        size_t line = (size_t)(*bytes - head->line.at);
        size += line;
        *whole += line;
        *bytes = head->line.at;
    }
    return size;
}

/* Encodes which pipe or socket an input reads. */
static void
encode_source(const struct filter *filter, size_t side,
              unsigned char bytes[SOURCE_BYTES])
{
    struct input_source source = {0, 0};
    if (side < filter->io.input_count) {
        source = input_get_source(&filter->io.inputs[side]);
    }
    record_put(bytes, 0, source.device);
    record_put(bytes, 1, source.inode);
}

/* Stores the bytes that were read of an input and not processed. */
static int
put_remaining(struct filter *filter, struct lawn_store *values, size_t side)
{
    const char *bytes = NULL;
    size_t whole = 0;
    size_t size = remaining(filter, side, &bytes, &whole);
    if (!filter->io.inputs[side].waits) {
        size = whole; /* without the incomplete last line */
    }
    unsigned char source[SOURCE_BYTES];
    encode_source(filter, side, source);
    int error = put_value(values, remaining_names[side], bytes, whole);
    if (error == 0) {
        error =
            put_value(values, partial_names[side], bytes + whole, size - whole);
    }
    if (error == 0) {
        error = put_value(values, source_names[side], source, sizeof(source));
    }
    return error;
}

/* Stores the values of the first snapshot. */
static int
put_values(struct filter *filter, struct lawn_store *values)
{
    const struct sink *sink = &filter->io.sink;
    char signature[FILTER_SIGNATURE_MAX];
    state_describe(filter, signature);
    unsigned char format[RECORD_NUMBER];
    record_put(format, 0, STATE_FORMAT);
    unsigned char numbers[NUMBERS_BYTES];
    record_put(numbers, NUMBER_NOW, filter->clock.now);
    record_put(numbers, NUMBER_NEWEST, filter->clock.newest);
    record_put(numbers, NUMBER_SERIAL, filter->stores.serial);
    record_put(numbers, NUMBER_FORM, filter->clock.form);
    record_put(numbers, NUMBER_HAS_TIME, filter->clock.has_time);
    int error = put_value(values, "format", format, sizeof(format));
    if (error == 0) {
        error = put_value(values, "of", signature, strlen(signature));
    }
    if (error == 0) {
        error = put_value(values, "numbers", numbers, sizeof(numbers));
    }
    if (error == 0) {
        error = put_value(values, "unwritten", sink->bytes, sink->size);
    }
    if (error == 0) {
        error = put_value(values, "kinds", sink->kinds, sink->lines);
    }
    for (size_t i = 0; error == 0 && i < 2; i++) {
        error = put_remaining(filter, values, i);
    }
    return error;
}

int
state_write(struct filter *filter, lawn_store_write_fn *write, void *arg)
{
    struct lawn_store *values = lawn_store_new(NULL);
    struct lawn_store *stores[] = {values, filter->stores.keys,
                                   filter->stores.lines, filter->stores.early};
    if (values == NULL) {
        return -ENOMEM;
    }
    int error = put_values(filter, values);
    for (size_t i = 0; error == 0 && i < 4; i++) {
        error = lawn_store_save(stores[i], write, arg);
    }
    lawn_store_free(values);
    return error;
}

static bool
get_value(struct lawn_store *values, const char *name,
          struct lawn_store_timer *value)
{
    return lawn_store_get(values, name, strlen(name), value);
}

/* Restores the lines of an input, and the incomplete line if the input is the
 * same pipe. Otherwise it would be joined with part of a line of another
 * pipe. */
static bool
get_remaining(struct filter *filter, struct lawn_store *values, size_t side)
{
    struct input *input = &filter->io.inputs[side];
    struct lawn_store_timer lines;
    struct lawn_store_timer partial;
    struct lawn_store_timer source;
    if (!get_value(values, remaining_names[side], &lines) ||
        !get_value(values, partial_names[side], &partial) ||
        !get_value(values, source_names[side], &source) ||
        source.payload_size != SOURCE_BYTES) {
        return false;
    }
    const char *bytes = lines.payload;
    size_t size = lines.payload_size;
    if (size + partial.payload_size > 0 && side >= filter->io.input_count) {
        return false;
    }
    if (size > 0 &&
        (!input_prepend(input, bytes, size) ||
         (bytes[size - 1] != '\n' && !input_prepend(input, "\n", 1)))) {
        return false;
    }
    if (partial.payload_size == 0) {
        return true;
    }
    unsigned char now[SOURCE_BYTES];
    encode_source(filter, side, now);
    if (record_get(now, 1) != 0 &&
        memcmp(source.payload, now, sizeof(now)) == 0) {
        return input_prepend(input, partial.payload, partial.payload_size);
    }
    filter->counts.resumed++;
    filter->counts.discarded++;
    log_message(filter, "dropped an incomplete line from the state: its rest "
                        "cannot be read");
    return true;
}

/* Restores the inputs and the output. */
static bool
get_bytes(struct filter *filter, struct lawn_store *values)
{
    for (size_t i = 0; i < 2; i++) {
        if (!get_remaining(filter, values, i)) {
            return false;
        }
    }
    struct lawn_store_timer bytes;
    struct lawn_store_timer kinds;
    return get_value(values, "unwritten", &bytes) &&
           get_value(values, "kinds", &kinds) &&
           sink_restore(&filter->io.sink, bytes.payload, bytes.payload_size,
                        kinds.payload, kinds.payload_size);
}

/* Reads format and signature. Returns false if they do not match this
 * filter. */
static bool
check_signature(struct filter *filter, struct lawn_store *values)
{
    char signature[FILTER_SIGNATURE_MAX];
    state_describe(filter, signature);
    struct lawn_store_timer value;
    if (!get_value(values, "of", &value)) {
        return false;
    }
    snprintf(filter->state.loaded_signature,
             sizeof(filter->state.loaded_signature), "%.*s",
             (int)value.payload_size, (const char *)value.payload);
    filter->state.format = 1;
    if (get_value(values, "format", &value) &&
        value.payload_size == RECORD_NUMBER) {
        filter->state.format = record_get(value.payload, 0);
    }
    return filter->state.format == STATE_FORMAT &&
           strcmp(filter->state.loaded_signature, signature) == 0;
}

/* Restores the values of the first snapshot, except those of get_bytes(). */
static bool
get_values(struct filter *filter, struct lawn_store *values)
{
    struct lawn_store_timer value;
    if (!check_signature(filter, values) ||
        !get_value(values, "numbers", &value) ||
        value.payload_size != NUMBERS_BYTES) {
        return false;
    }
    uint64_t now = record_get(value.payload, NUMBER_NOW);
    uint64_t newest = record_get(value.payload, NUMBER_NEWEST);
    uint64_t serial = record_get(value.payload, NUMBER_SERIAL);
    uint64_t form = record_get(value.payload, NUMBER_FORM);
    uint64_t has_time = record_get(value.payload, NUMBER_HAS_TIME);
    if (serial >= STATE_MANY || form > TIMES_RFC3339 || has_time > 1 ||
        now > CLOCK_LAST || newest > CLOCK_LAST) {
        return false;
    }
    filter->stores.serial = serial;
    filter->clock.form = (enum times_form)form;
    filter->clock.has_time = has_time != 0;
    filter->clock.newest = newest;
    if (now > filter->clock.now) {
        filter->clock.now = now;
    }
    lawn_store_set_now(filter->stores.keys, filter->clock.now);
    lawn_store_set_now(filter->stores.lines, filter->clock.now);
    return true;
}

/* Returns whether the verb may have saved the contents of a store. Counts its
 * lines. */
static bool
is_store_valid(struct filter *filter, struct lawn_store *store,
               bool (*valid)(const struct filter *filter,
                             const struct lawn_store_timer *timer),
               unsigned holds, uint64_t *lines)
{
    uint64_t cursor = 0;
    size_t longest = FILTER_KEY_MAX;
    if (store == filter->stores.lines && !filter->setup.line_keys) {
        longest = sizeof(filter->stores.line_id);
    }
    struct lawn_store_timer timer;
    while (lawn_store_iterate(store, &cursor, &timer)) {
        if (timer.id_size > longest || valid == NULL ||
            !valid(filter, &timer)) {
            return false;
        }
        filter->counts.held += holds;
        filter->counts.resumed += holds;
        if (store != filter->stores.early && timer.ttl != filter->setup.ttl &&
            timer.deadline <= CLOCK_LAST) {
            filter->stores.mixed_ttls = true;
        }
        if (store == filter->stores.lines && filter->setup.line_order != NULL &&
            stores_line_number(&timer) < filter->stores.oldest) {
            filter->stores.oldest = stores_line_number(&timer);
        }
        if (store == filter->stores.keys && filter->verb->key_lines != NULL) {
            *lines += filter->verb->key_lines(filter, &timer);
        }
    }
    return true;
}

/* Returns whether intake_keep() may have kept a timer. */
static bool
is_early_valid(const struct filter *filter,
               const struct lawn_store_timer *timer)
{
    return stores_is_valid_line(filter, timer) && timer->payload_size > 0 &&
           *(const unsigned char *)timer->payload < filter->io.input_count;
}

static bool
are_stores_valid(struct filter *filter)
{
    const struct filter_verb *verb = filter->verb;
    uint64_t lines = 0;
    filter->stores.oldest = filter->stores.serial;
    return is_store_valid(filter, filter->stores.keys, verb->key_valid,
                          filter->setup.key_holds, &lines) &&
           (verb->key_lines == NULL ||
            lines == lawn_store_count(filter->stores.lines)) &&
           is_store_valid(filter, filter->stores.lines, verb->line_valid,
                          filter->setup.line_holds, &lines) &&
           is_store_valid(filter, filter->stores.early, is_early_valid, 1,
                          &lines);
}

/* Restores the times of lines in the store `early`. If the verb did not take a
 * line, handle_early_due() in clock.c has replaced its time by a later one. */
static void
restore_early_times(struct filter *filter)
{
    uint64_t cursor = 0;
    struct lawn_store_timer timer;
    while (lawn_store_iterate(filter->stores.early, &cursor, &timer)) {
        const char *bytes = timer.payload;
        struct input_line line = {bytes + 1, timer.payload_size - 1};
        uint64_t time = parse_time(filter, (unsigned char)bytes[0], &line);
        if (time != 0 && time < timer.deadline) {
            lawn_store_touch_at(filter->stores.early, timer.id, timer.id_size,
                                time);
        }
    }
}

int
state_read(struct filter *filter, lawn_store_read_fn *read, void *arg)
{
    struct lawn_store *values = lawn_store_new(NULL);
    struct lawn_store *stores[] = {filter->stores.keys, filter->stores.lines,
                                   filter->stores.early};
    if (values == NULL) {
        return -ENOMEM;
    }
    int error = lawn_store_load(values, read, arg);
    if (error == 0 && !get_values(filter, values)) {
        error = -EINVAL;
    }
    for (size_t i = 0; error == 0 && i < 3; i++) {
        error = lawn_store_load(stores[i], read, arg);
    }
    char more = 0;
    if (error == 0) {
        ptrdiff_t got = read(&more, 1, arg);
        error = got > 0 ? (int)LAWN_STORE_TRAILING : (int)got;
    }
    if (error == 0 &&
        (!are_stores_valid(filter) || !get_bytes(filter, values))) {
        error = -EINVAL;
    }
    if (error == 0) {
        restore_early_times(filter);
    }
    filter->counts.resumed += filter->io.sink.carried;
    filter->counts.in += filter->counts.resumed;
    lawn_store_free(values);
    return error;
}
