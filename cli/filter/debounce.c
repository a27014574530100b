/* debounce.c - lawn debounce: writes one line per burst, when the burst is
 * over.
 *
 * Each line of a key restarts the key's timer in the store `keys`. The timer
 * holds a line: the first with --emit first, otherwise the last. With
 * --max-wait, or if --emit is not `last`, a record of the burst precedes the
 * line. With --emit all, the lines of a burst are in the store `lines`, by key
 * and number, and the timer holds only the record.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "record.h"
#include "stores.h"
#include "verbs.h"

enum burst_emit { EMIT_LAST, EMIT_FIRST, EMIT_ALL, EMIT_COUNT };
static const char *const emit_words[] = {"last", "first", "all", "count", NULL};

/* The record of a burst. */
struct burst {
    uint64_t first; /* time of its first line */
    uint64_t last;
    uint64_t count;
    uint64_t serial; /* of its last line */
};
#define BURST_BYTES (4 * RECORD_NUMBER)

static void
encode(const struct burst *burst, unsigned char bytes[BURST_BYTES])
{
    record_put(bytes, 0, burst->first);
    record_put(bytes, 1, burst->last);
    record_put(bytes, 2, burst->count);
    record_put(bytes, 3, burst->serial);
}

static struct burst
decode(const void *bytes)
{
    return (struct burst){
        .first = record_get(bytes, 0),
        .last = record_get(bytes, 1),
        .count = record_get(bytes, 2),
        .serial = record_get(bytes, 3),
    };
}

/* Returns whether timers hold the last line without a record. */
static bool
is_plain(const struct filter *filter)
{
    return filter->options.emit == EMIT_LAST &&
           filter->options.max_wait == UINT64_MAX;
}

static uint64_t
burst_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return decode(timer->payload).serial;
}

static int
configure(struct filter *filter)
{
    if (filter->options.emit == SIZE_MAX) {
        filter->options.emit = EMIT_LAST;
    }
    size_t emit = filter->options.emit;
    filter->setup.pending = filter->stores.keys;
    filter->setup.emit = emit == EMIT_LAST && !is_plain(filter)
                             ? "last with --max-wait"
                             : emit_words[emit];
    filter->setup.key_holds = emit == EMIT_LAST || emit == EMIT_FIRST;
    filter->setup.line_holds = emit == EMIT_ALL;
    filter->setup.flushes = true;
    if (filter->options.max_wait != UINT64_MAX) {
        filter->setup.key_order = burst_order;
    }
    return filter_options_take_duration(filter, 1, &filter->setup.ttl)
               ? 0
               : VERBS_USAGE;
}

/* Starts the timer of a key with the record of its burst and a line. */
static bool
start_burst(struct filter *filter, const struct filter_line *line,
            const struct burst *burst, const void *at, size_t size)
{
    uint64_t deadline = clock_deadline(filter, filter->setup.ttl);
    uint64_t wait = filter->options.max_wait;
    if (wait < deadline - burst->first) {
        deadline = burst->first + wait;
    }
    unsigned char bytes[BURST_BYTES];
    encode(burst, bytes);
    const void *record =
        stores_build_record(filter, bytes, sizeof(bytes), at, size);
    return record != NULL &&
           stores_succeeded(
               filter, lawn_store_start(filter->stores.keys, line->key,
                                        line->key_size, deadline, record,
                                        sizeof(bytes) + size, LAWN_STORE_AT));
}

/* Holds a line in addition to the other lines of its burst. */
static bool
hold_burst_line(struct filter *filter, const struct filter_line *line,
                uint64_t number)
{
    size_t size = 0;
    const void *id =
        stores_build_line_id(filter, line->key, line->key_size, number, &size);
    return stores_succeeded(filter, lawn_store_start(filter->stores.lines, id,
                                                     size, UINT64_MAX, line->at,
                                                     line->size, 0));
}

/* Releases a line that hold_burst_line() held. */
static void
release_burst_line(struct filter *filter, const struct filter_line *line,
                   uint64_t number)
{
    size_t size = 0;
    const void *id =
        stores_build_line_id(filter, line->key, line->key_size, number, &size);
    lawn_store_stop(filter->stores.lines, id, size);
}

/* Returns the result for a line that was added to a burst. */
static enum line_result
added_result(const struct filter *filter, bool is_first)
{
    bool merges = filter->options.emit == EMIT_COUNT ||
                  (filter->options.emit != EMIT_ALL && !is_first);
    return merges ? LINE_MERGED : LINE_HELD;
}

/* Replaces the line of a key, without a record. */
static enum line_result
handle_plain_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store *keys = filter->stores.keys;
    uint64_t known = lawn_store_count(keys);
    if (!stores_succeeded(
            filter, lawn_store_start(keys, line->key, line->key_size,
                                     clock_deadline(filter, filter->setup.ttl),
                                     line->at, line->size, LAWN_STORE_AT))) {
        return LINE_NOT_TAKEN;
    }
    return added_result(filter, lawn_store_count(keys) > known);
}

static bool
admit(struct filter *filter, const struct filter_line *line,
      enum line_result *result)
{
    if (!filter_limits_admit_key(filter, line, result)) {
        return false;
    }
    if (filter->options.max_lines == UINT64_MAX ||
        filter->options.emit == EMIT_COUNT) {
        return true;
    }
    if (filter->options.emit != EMIT_ALL &&
        lawn_store_get(filter->stores.keys, line->key, line->key_size, NULL)) {
        return true;
    }
    return filter_limits_admit_line(filter, line, result);
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    enum line_result result = LINE_NOT_TAKEN;
    if (!admit(filter, line, &result)) {
        return result;
    }
    if (is_plain(filter)) {
        return handle_plain_line(filter, line);
    }
    struct burst burst = {.first = filter->clock.now};
    const char *at = line->at;
    size_t size = line->size;
    struct lawn_store_timer timer;
    bool is_first =
        !lawn_store_get(filter->stores.keys, line->key, line->key_size, &timer);
    if (!is_first) {
        burst = decode(timer.payload);
        if (filter->options.emit == EMIT_FIRST) {
            at = (const char *)timer.payload + BURST_BYTES;
            size = timer.payload_size - BURST_BYTES;
        }
    }
    burst.last = filter->clock.now;
    burst.count++;
    burst.serial = ++filter->stores.serial;
    if (filter->options.emit == EMIT_ALL) {
        if (!hold_burst_line(filter, line, burst.count)) {
            return LINE_NOT_TAKEN;
        }
        size = 0;
    }
    if (start_burst(filter, line, &burst, at, size)) {
        return added_result(filter, is_first);
    }
    if (filter->options.emit == EMIT_ALL) {
        release_burst_line(filter, line, burst.count);
    }
    return LINE_NOT_TAKEN;
}

/* Emits all lines of a burst. */
static void
emit_all(struct filter *filter, const struct lawn_store_timer *timer,
         uint64_t count)
{
    for (uint64_t number = 1; number <= count; number++) {
        struct lawn_store_timer line;
        size_t size = 0;
        const void *id = stores_build_line_id(filter, timer->id, timer->id_size,
                                              number, &size);
        if (lawn_store_get(filter->stores.lines, id, size, &line)) {
            emit_line(filter, line.payload, line.payload_size);
            lawn_store_stop(filter->stores.lines, id, size);
            filter->counts.held--;
        }
    }
}

static void
emit_count(struct filter *filter, const void *key, size_t key_size,
           const struct burst *burst, const void *line, size_t size)
{
    emit_number(filter, "count", burst->count);
    if (filter->options.json) {
        emit_key(filter, "key", key, key_size);
        emit_time(filter, "first", burst->first);
        emit_time(filter, "last", burst->last);
    }
    emit_input_line(filter, 0, "line", line, size);
    emit_end(filter, SINK_MADE);
}

/* Emits the burst of a key when it is over. */
static void
emit_burst(struct filter *filter, const struct lawn_store_timer *timer)
{
    if (is_plain(filter)) {
        emit_line(filter, timer->payload, timer->payload_size);
        return;
    }
    struct burst burst = decode(timer->payload);
    const char *line = (const char *)timer->payload + BURST_BYTES;
    size_t size = timer->payload_size - BURST_BYTES;
    if (filter->options.emit == EMIT_ALL) {
        emit_all(filter, timer, burst.count);
    } else if (filter->options.emit == EMIT_COUNT) {
        emit_count(filter, timer->id, timer->id_size, &burst, line, size);
    } else {
        emit_line(filter, line, size);
    }
}

static enum line_result
pass_line(struct filter *filter, const struct filter_line *line)
{
    if (filter->options.emit != EMIT_COUNT) {
        return emit_unheld(filter, line);
    }
    const struct burst one = {filter->clock.now, filter->clock.now, 1, 0};
    emit_count(filter, line->key, line->key_size, &one, line->at, line->size);
    return LINE_MERGED;
}

static bool
is_key_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (is_plain(filter)) {
        return true;
    }
    if (timer->payload_size < BURST_BYTES) {
        return false;
    }
    struct burst burst = decode(timer->payload);
    return burst.first <= burst.last && burst.last <= filter->clock.now &&
           (filter->options.emit != EMIT_ALL ||
            burst.count <= lawn_store_count(filter->stores.lines));
}

static uint64_t
count_key_lines(const struct filter *filter,
                const struct lawn_store_timer *timer)
{
    return filter->options.emit == EMIT_ALL ? decode(timer->payload).count : 0;
}

/* Checks that a line belongs to the burst of its key and has a number within
 * it. */
static bool
is_line_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (timer->id_size < RECORD_NUMBER || filter->options.emit != EMIT_ALL) {
        return false;
    }
    size_t size = timer->id_size - RECORD_NUMBER;
    uint64_t number = record_get((const char *)timer->id + size, 0);
    struct lawn_store_timer key;
    return lawn_store_get(filter->stores.keys, timer->id, size, &key) &&
           number >= 1 && number <= decode(key.payload).count &&
           timer->deadline > CLOCK_LAST;
}

static const struct filter_verb debounce_filter = {
    .open = configure,
    .line = handle_line,
    .key_due = emit_burst,
    .pass = pass_line,
    .key_valid = is_key_valid,
    .key_lines = count_key_lines,
    .line_valid = is_line_valid,
};

static const struct options_spec debounce_specs[] = {
    OPTION_KEY,
    {OPTION_WORD("emit", "WHAT", emit,
                 "what to write when a burst is over: its last line, its first "
                 "line, all lines, or a count with the last line; default last",
                 emit_words)},
    {OPTION_DURATION("max-wait", max_wait,
                     "write a burst at most D after its first line")},
    OPTION_MAX_KEYS,
    OPTION_MAX_LINES,
    OPTION_END,
};

const struct options_verb debounce_verb = {
    .name = "debounce",
    .summary = "write one line per burst of a key, when it is quiet again",
    .details =
        "A burst is a sequence of lines of a key with less than DURATION "
        "between\n"
        "them. Writes the last line of each burst when DURATION has passed\n"
        "without another line of the key.\n",
    .example = "printf 'a 1\\na 2\\nb 2\\na 9\\n' | lawn debounce 2s -k 1 "
               "--time-field 2",
    OPTION_FILTER_VERB(debounce_filter, debounce_specs, "DURATION [FILE]..."),
};
