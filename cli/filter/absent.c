/* absent.c - lawn absent: reports keys that are silent, and keys that are back.
 *
 * A key with recent lines has a timer in the store `keys`, which each line
 * restarts. A key that was reported absent is in the store `lines` until it is
 * back. Its timer there has a deadline only if the key is to be reported again.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "log.h"
#include "record.h"
#include "signals.h"
#include "stores.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* The record of a key. */
struct silence {
    uint64_t since; /* time of its last line, or of the start of watching */
    uint64_t seen;  /* 1 if it has had a line, else 0 */
};
#define SILENCE_BYTES (2 * RECORD_NUMBER)

static struct silence
decode(const void *bytes)
{
    return (struct silence){record_get(bytes, 0), record_get(bytes, 1)};
}

static void
emit_report(struct filter *filter, const char *event, const void *key,
            size_t key_size, const struct silence *silence, uint64_t now)
{
    emit_word(filter, "event", event);
    emit_key(filter, "key", key, key_size);
    if (silence->seen != 0) {
        emit_time(filter, "last", silence->since);
    } else if (filter->options.json) {
        emit_input_line(filter, 0, "last", NULL, 0);
    } else {
        emit_word(filter, "last", "never");
    }
    emit_seconds(filter, "silent", now - silence->since);
    emit_end(filter, SINK_MADE);
}

/* Starts the timer of a key that has a line now, or that is expected from now
 * on. */
static bool
watch_key(struct filter *filter, const void *key, size_t key_size, bool seen)
{
    unsigned char bytes[SILENCE_BYTES];
    record_put(bytes, 0, filter->clock.now);
    record_put(bytes, 1, seen);
    return stores_succeeded(
        filter, lawn_store_start(filter->stores.keys, key, key_size,
                                 clock_deadline(filter, filter->setup.ttl),
                                 bytes, sizeof(bytes), LAWN_STORE_AT));
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    enum line_result result = LINE_NOT_TAKEN;
    if (!filter_limits_admit_key(filter, line, &result)) {
        return result;
    }
    struct lawn_store *reported = filter->stores.lines;
    struct lawn_store_timer timer;
    bool back = lawn_store_count(reported) > 0 &&
                lawn_store_get(reported, line->key, line->key_size, &timer);
    if (!watch_key(filter, line->key, line->key_size, true)) {
        return LINE_NOT_TAKEN;
    }
    if (back) {
        struct silence silence = decode(timer.payload);
        emit_report(filter, "back", line->key, line->key_size, &silence,
                    filter->clock.now);
        lawn_store_stop(reported, line->key, line->key_size);
    }
    return LINE_MERGED;
}

/* Moves a key to the reported ones, with a deadline. */
static void
mark_reported(struct filter *filter, const struct lawn_store_timer *timer,
              uint64_t deadline)
{
    stores_succeeded(filter,
                     lawn_store_start(filter->stores.lines, timer->id,
                                      timer->id_size, deadline, timer->payload,
                                      timer->payload_size, LAWN_STORE_AT));
}

/* Reports a key as absent. */
static void
report_absent(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct silence silence = decode(timer->payload);
    bool again = filter->options.repeat && !filter->run.ended;
    emit_report(filter, "absent", timer->id, timer->id_size, &silence,
                timer->deadline);
    mark_reported(filter, timer,
                  again ? clock_deadline(filter, filter->setup.ttl)
                        : LAWN_NEVER - 1);
    if (filter->options.exit_on_absent) {
        filter_end(filter, VERBS_FAILED);
    }
}

/* The timer of a reported key has fired. */
static void
report_again(struct filter *filter, const struct lawn_store_timer *timer)
{
    /* Without --repeat, the timer is from a saved state: an earlier run with
     * --repeat started it. */
    if (filter->run.ended || !filter->options.repeat) {
        mark_reported(filter, timer, LAWN_NEVER - 1);
    } else {
        report_absent(filter, timer);
    }
}

/* Evicts a key: a reported one if there is any. */
static void
evict_key(struct filter *filter)
{
    struct lawn_store_timer first;
    struct lawn_store *store = lawn_store_count(filter->stores.lines) > 0
                                   ? filter->stores.lines
                                   : filter->stores.keys;
    if (lawn_store_next_timer(store, &first)) {
        lawn_store_stop(store, first.id, first.id_size);
        filter->counts.evicted++;
    }
}

static uint64_t
count_keys(const struct filter *filter)
{
    return lawn_store_count(filter->stores.keys) +
           lawn_store_count(filter->stores.lines);
}

/* Calls act for each key of --expect until a call fails. Returns 0 or the
 * error. */
static int
for_each_expected(struct filter *filter,
                  int (*act)(struct filter *filter, const char *key,
                             size_t size, struct lawn_store *kept),
                  struct lawn_store *kept)
{
    /* a copy: the list is read twice */
    struct input list = filter->setup.expected;
    struct input_line line;
    int error = 0;
    while (error == 0 && input_next(&list, &line) == INPUT_LINE) {
        size_t size = line.size;
        if (line.at == NULL || size > FILTER_KEY_MAX) {
            return -E2BIG;
        }
        if (size > 0 && line.at[size - 1] == '\r') {
            size--;
        }
        if (size > 0) {
            error = act(filter, line.at, size, kept);
        }
    }
    return error;
}

/* Watches a key of --expect, unless it is watched already. Returns 0; -ENOSPC
 * if there is no room; or -ECANCELED after a message if the filter stops. */
static int
watch_expected(struct filter *filter, const char *key, size_t size,
               struct lawn_store *kept)
{
    (void)kept;
    if (lawn_store_get(filter->stores.keys, key, size, NULL) ||
        lawn_store_get(filter->stores.lines, key, size, NULL)) {
        return 0;
    }
    if (count_keys(filter) >= filter->options.max_keys) {
        return -ENOSPC;
    }
    return watch_key(filter, key, size, false) ? 0 : -ECANCELED;
}

/* Adds a key of --expect to `names`. Its payload is whether the key is watched
 * already. */
static int
note_expected(struct filter *filter, const char *key, size_t size,
              struct lawn_store *names)
{
    bool watched = lawn_store_get(filter->stores.keys, key, size, NULL) ||
                   lawn_store_get(filter->stores.lines, key, size, NULL);
    return lawn_store_start(names, key, size, UINT64_MAX, &watched,
                            sizeof(watched), 0);
}

/* Evicts keys of a store that are not in names, in the order of their
 * deadlines, until at most `most` keys remain in total. Returns 0 or -errno. */
static int
evict_unexpected(struct filter *filter, struct lawn_store *store,
                 struct lawn_store *names, uint64_t most)
{
    struct lawn_store *others = lawn_store_new(NULL);
    struct lawn_store_timer timer;
    uint64_t cursor = 0;
    int error = others != NULL ? 0 : -ENOMEM;
    while (error == 0 && count_keys(filter) > most &&
           lawn_store_iterate(store, &cursor, &timer)) {
        if (!lawn_store_get(names, timer.id, timer.id_size, NULL)) {
            error = lawn_store_start(others, timer.id, timer.id_size,
                                     timer.deadline, NULL, 0, LAWN_STORE_AT);
        }
    }
    while (error == 0 && count_keys(filter) > most &&
           lawn_store_next_timer(others, &timer)) {
        lawn_store_stop(store, timer.id, timer.id_size);
        lawn_store_stop(others, timer.id, timer.id_size);
        filter->counts.evicted++;
    }
    lawn_store_free(others);
    return error;
}

/* Evicts keys of the state that are not expected, to make room for expected
 * keys. Returns 0 or -errno. */
static int
make_room_for_expected(struct filter *filter)
{
    struct lawn_store *names = lawn_store_new(NULL);
    uint64_t most = filter->options.max_keys;
    uint64_t cursor = 0;
    int error = names != NULL ? 0 : -ENOMEM;
    if (error == 0) {
        error = for_each_expected(filter, note_expected, names);
    }
    if (error == 0 && lawn_store_count(names) > most) {
        error = -ENOSPC;
    }
    struct lawn_store_timer timer;
    while (error == 0 && lawn_store_iterate(names, &cursor, &timer)) {
        most -= !*(const bool *)timer.payload;
    }
    /* Reported keys first. */
    if (error == 0) {
        error = evict_unexpected(filter, filter->stores.lines, names, most);
    }
    if (error == 0) {
        error = evict_unexpected(filter, filter->stores.keys, names, most);
    }
    lawn_store_free(names);
    return error != 0 ? error : for_each_expected(filter, watch_expected, NULL);
}

/* Returns whether --expect alone contains more keys than --max-keys. */
static bool
is_list_too_long(struct filter *filter)
{
    struct lawn_store *names = lawn_store_new(NULL);
    bool too_long = names != NULL &&
                    for_each_expected(filter, note_expected, names) == 0 &&
                    lawn_store_count(names) > filter->options.max_keys;
    lawn_store_free(names);
    return too_long;
}

/* Prints why --expect cannot be used, and stops the filter. */
static void
log_expect_error(struct filter *filter, int error)
{
    const char *why = strerror(-error);
    if (error == -E2BIG) {
        why = "a key is longer than 65000 bytes";
    } else if (error == -ENOSPC) {
        why = is_list_too_long(filter)
                  ? "it contains more keys than --max-keys allows"
                  : "no room for its keys; increase --max-keys or use "
                    "--overflow evict";
    }
    log_message(filter, "cannot use --expect %s: %s", filter->options.expect,
                why);
    filter_end(filter, VERBS_INPUT);
}

/* Watches the keys of --expect from now on: in event time from the time of the
 * first processed line, on the wall clock from the start. */
static bool
watch_all_expected(struct filter *filter)
{
    if (filter->options.expect == NULL) {
        return true;
    }
    int error = for_each_expected(filter, watch_expected, NULL);
    if (error == -ENOSPC && filter->options.overflow == FILTER_EVICT) {
        error = make_room_for_expected(filter);
    }
    if (error != 0 && error != -ECANCELED) {
        log_expect_error(filter, error);
    }
    return error == 0;
}

static int
read_expected(struct filter *filter)
{
    struct input *expected = &filter->setup.expected;
    if (filter->options.expect == NULL) {
        return 0;
    }
    int error = input_open(expected, &filter->options.expect, 1, true);
    if (error == -EINTR && signals_received()) {
        error = 0; /* the filter stops in its first round */
    }
    while (error == 0 && !expected->over && !signals_received()) {
        error = input_fill(expected);
    }
    if (error != 0) {
        log_expect_error(filter, error);
    }
    return error != 0 ? VERBS_INPUT : 0;
}

static int
configure(struct filter *filter)
{
    filter->setup.pending = filter->stores.keys;
    filter->setup.line_keys = true;
    if (!filter_options_take_duration(filter, 1, &filter->setup.ttl)) {
        return VERBS_USAGE;
    }
    if (filter->options.expect != NULL && filter->options.key == NULL) {
        log_usage_error(filter, "--expect needs --key");
        return VERBS_USAGE;
    }
    return read_expected(filter);
}

static bool
is_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (timer->payload_size != SILENCE_BYTES) {
        return false;
    }
    struct silence silence = decode(timer->payload);
    return silence.since <= filter->clock.now && silence.seen <= 1;
}

static const struct filter_verb absent_filter = {
    .open = configure,
    .begin = watch_all_expected,
    .line = handle_line,
    .key_due = report_absent,
    .line_due = report_again,
    .evict = evict_key,
    .key_valid = is_valid,
    .line_valid = is_valid,
};

static const struct options_spec absent_specs[] = {
    OPTION_KEY,
    {OPTION_TEXT("expect", "FILE", expect,
                 "watch the keys in FILE, one per line, from the start",
                 "a file")},
    {OPTION_FLAG("repeat", repeat,
                 "report again every DURATION while a key is silent")},
    {OPTION_FLAG("exit-on-absent", exit_on_absent,
                 "exit with status 1 after the first report")},
    OPTION_MAX_KEYS,
    OPTION_END,
};

const struct options_verb absent_verb = {
    .name = "absent",
    .summary = "report keys that fall silent, and when they are back",
    .details = "Watches each key from its first line on. When a key has had no "
               "line for\n"
               "DURATION, writes \"absent\", the key, the time of its last "
               "line and the\n"
               "seconds since then. Writes \"back\" at its next line. Input "
               "lines are not\n"
               "written. Keys not yet reported absent at the end of the input "
               "are still\n"
               "reported, after DURATION without a line, unless --on-eof is "
               "flush, drop or\n"
               "save.\n",
    .example = "printf 'a 0\\nb 1\\na 200\\na 400\\nb 500\\n' |\n"
               "    lawn absent 5m -k 1 --time-field 2 --on-eof drop",
    OPTION_FILTER_VERB(absent_filter, absent_specs, "DURATION [FILE]..."),
};
