/* absent.c - lawn absent: tells when a key has been silent, and when it is back.
 *
 * A key that talks has a timer in keys, restarted by each of its lines. One that
 * was reported stands in lines, with a timer there if it is to be reported again,
 * so that it can be told when it is back.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "stop.h"
#include "tell.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

/* What is known of a key. */
struct absent_key {
    uint64_t since; /* its last line, or when we began to watch it */
    uint64_t seen;  /* whether it has had a line: 0 or 1 */
};

static void
absent_put(struct filter *filter, const char *event, const void *key,
           size_t key_size, const struct absent_key *known, uint64_t now)
{
    put_word(filter, "event", event);
    put_key(filter, "key", key, key_size);
    if (known->seen != 0)
        put_time(filter, "last", known->since);
    else if (filter->options.json)
        put_input(filter, 0, "last", NULL, 0);
    else
        put_word(filter, "last", "never");
    put_seconds(filter, "silent", now - known->since);
    put_end(filter, SINK_MADE);
}

static bool
absent_watch(struct filter *filter, const void *key, size_t key_size, bool seen)
{
    const struct absent_key known = {filter->now, seen};
    return hold_started(filter,
                        lawn_store_start(filter->keys, key, key_size,
                                         clock_after(filter, filter->ttl),
                                         &known, sizeof known, LAWN_STORE_AT));
}

static void
absent_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store_timer timer;
    struct absent_key known;
    if (!hold_has_key_room(filter, line))
        return;
    bool back =
        lawn_store_count(filter->lines) > 0 &&
        lawn_store_get(filter->lines, line->key, line->key_size, &timer);
    if (!absent_watch(filter, line->key, line->key_size, true)) {
        hold_give_back(filter);
        return;
    }
    filter->counts.merged++;
    if (back) {
        memcpy(&known, timer.payload, sizeof known);
        absent_put(filter, "back", line->key, line->key_size, &known,
                   filter->now);
        lawn_store_stop(filter->lines, line->key, line->key_size);
    }
}

/* Starts a key's timer anew, in one of the stores. */
static void
absent_remember(struct filter *filter, struct lawn_store *store,
                const struct lawn_store_timer *timer, uint64_t deadline)
{
    hold_started(filter, lawn_store_start(store, timer->id, timer->id_size,
                                          deadline, timer->payload,
                                          timer->payload_size, LAWN_STORE_AT));
}

/* Reports a key, and remembers that: until it is back, or until it is to be
 * reported again. */
static void
absent_report(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct absent_key known;
    bool again = filter->options.repeat && !filter->ended;
    memcpy(&known, timer->payload, sizeof known);
    absent_put(filter, "absent", timer->id, timer->id_size, &known,
               timer->deadline);
    absent_remember(filter, filter->lines, timer,
                    again ? clock_after(filter, filter->ttl) : LAWN_NEVER - 1);
    if (filter->options.exit_on_absent)
        filter_end(filter, VERBS_FAILED);
}

static void
absent_line_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    if (filter->ended || !filter->options.repeat) /* but the last run did */
        absent_remember(filter, filter->lines, timer, LAWN_NEVER - 1);
    else
        absent_report(filter, timer);
}

/* Those that were reported go first. */
static void
absent_evict(struct filter *filter)
{
    struct lawn_store_timer first;
    struct lawn_store *store =
        lawn_store_count(filter->lines) > 0 ? filter->lines : filter->keys;
    if (lawn_store_first(store, &first)) {
        lawn_store_stop(store, first.id, first.id_size);
        filter->counts.evicted++;
    }
}

static uint64_t
absent_count(const struct filter *filter)
{
    return lawn_store_count(filter->keys) + lawn_store_count(filter->lines);
}

/* Calls act for each key of --expect until one fails. 0, or its error. */
static int
absent_each_expected(struct filter *filter,
                     int (*act)(struct filter *filter, const char *key,
                                size_t size, struct lawn_store *kept),
                     struct lawn_store *kept)
{
    struct input list = filter->expected; /* to be read from here on again */
    struct input_line line;
    int error = 0;
    while (error == 0 && !filter->done &&
           input_next(&list, &line) == INPUT_LINE) {
        size_t size = line.size;
        if (line.at == NULL || size > FILTER_KEY_MAX)
            return -E2BIG;
        if (size > 0 && line.at[size - 1] == '\r')
            size--;
        if (size > 0)
            error = act(filter, line.at, size, kept);
    }
    return error;
}

/* Watches a key of --expect, unless it is already. */
static int
absent_expect(struct filter *filter, const char *key, size_t size,
              struct lawn_store *kept)
{
    (void)kept;
    if (lawn_store_get(filter->keys, key, size, NULL) ||
        lawn_store_get(filter->lines, key, size, NULL))
        return 0;
    if (absent_count(filter) >= filter->options.max_keys)
        return -ENOSPC;
    (void)absent_watch(filter, key, size, false);
    return 0;
}

/* Notes a key of --expect, and whether it is watched already. */
static int
absent_note(struct filter *filter, const char *key, size_t size,
            struct lawn_store *names)
{
    bool watched = lawn_store_get(filter->keys, key, size, NULL) ||
                   lawn_store_get(filter->lines, key, size, NULL);
    return lawn_store_start(names, key, size, UINT64_MAX, &watched,
                            sizeof watched, 0);
}

/* Evicts keys of a store that are not among the names until there are no more
 * than so many in all; what stays is where it was. 0, or -errno. */
static int
absent_evict_others(struct filter *filter, struct lawn_store *store,
                    struct lawn_store *names, uint64_t most)
{
    struct lawn_store *others = lawn_store_new(NULL);
    struct lawn_store_timer timer;
    uint64_t cursor = 0;
    int error = others != NULL ? 0 : -ENOMEM;
    while (error == 0 && absent_count(filter) > most &&
           lawn_store_iterate(store, &cursor, &timer)) {
        if (!lawn_store_get(names, timer.id, timer.id_size, NULL))
            error = lawn_store_start(others, timer.id, timer.id_size,
                                     timer.deadline, NULL, 0, LAWN_STORE_AT);
    }
    while (error == 0 && absent_count(filter) > most &&
           lawn_store_first(others, &timer)) {
        lawn_store_stop(store, timer.id, timer.id_size);
        lawn_store_stop(others, timer.id, timer.id_size);
        filter->counts.evicted++;
    }
    lawn_store_free(others);
    return error;
}

/* Other keys, of the state, give way to those of --expect, which may have been
 * evicted for them. 0, or -errno. */
static int
absent_make_room(struct filter *filter)
{
    struct lawn_store *names = lawn_store_new(NULL);
    struct lawn_store_timer timer;
    uint64_t most = filter->options.max_keys;
    uint64_t cursor = 0;
    int error = names != NULL ? 0 : -ENOMEM;
    if (error == 0)
        error = absent_each_expected(filter, absent_note, names);
    if (error == 0 && lawn_store_count(names) > most)
        error = -ENOSPC;
    while (error == 0 && lawn_store_iterate(names, &cursor, &timer))
        most -= !*(const bool *)timer.payload;
    /* Those that were reported go first. */
    if (error == 0)
        error = absent_evict_others(filter, filter->lines, names, most);
    if (error == 0)
        error = absent_evict_others(filter, filter->keys, names, most);
    lawn_store_free(names);
    return error != 0 ? error
                      : absent_each_expected(filter, absent_expect, NULL);
}

/* Says what is wrong with the file of --expect. */
static void
absent_refuse(struct filter *filter, int error)
{
    const char *why = strerror(-error);
    if (error == -E2BIG)
        why = "it has a key longer than 65000 bytes";
    else if (error == -ENOSPC)
        why = filter->options.overflow == FILTER_EVICT
                  ? "it has more keys than --max-keys allows"
                  : "there is no room for its keys within --max-keys";
    tell(filter, "--expect %s: %s", filter->options.expect, why);
    filter_end(filter, VERBS_INPUT);
}

/* Watches the keys of --expect, which were read when we started. */
static void
absent_begin(struct filter *filter)
{
    if (filter->options.expect == NULL)
        return;
    int error = absent_each_expected(filter, absent_expect, NULL);
    if (error == -ENOSPC && filter->options.overflow == FILTER_EVICT)
        error = absent_make_room(filter);
    if (error != 0)
        absent_refuse(filter, error);
}

static int
absent_read_expected(struct filter *filter)
{
    struct input *expected = &filter->expected;
    if (filter->options.expect == NULL)
        return 0;
    int error = input_open(expected, &filter->options.expect, 1, true);
    if (error == -EINTR && stop_was_told())
        error = 0; /* the first round ends it */
    while (error == 0 && !expected->over && !stop_was_told())
        error = input_fill(expected);
    if (error != 0)
        absent_refuse(filter, error);
    return error != 0 ? VERBS_INPUT : 0;
}

static int
absent_open(struct filter *filter)
{
    filter->pending = filter->keys;
    filter->line_keys = true;
    if (!choices_duration(filter, 1, &filter->ttl))
        return VERBS_USAGE;
    if (filter->options.expect != NULL && filter->options.key == NULL) {
        tell_usage(filter, "--expect needs --key");
        return VERBS_USAGE;
    }
    return absent_read_expected(filter);
}

static bool
absent_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    struct absent_key known;
    if (timer->payload_size != sizeof known)
        return false;
    memcpy(&known, timer->payload, sizeof known);
    return known.since <= filter->now && known.seen <= 1;
}

static const struct filter_verb absent_filter = {
    .open = absent_open,
    .begin = absent_begin,
    .line = absent_line,
    .key_due = absent_report,
    .line_due = absent_line_due,
    .evict = absent_evict,
    .key_valid = absent_valid,
    .line_valid = absent_valid,
};

static const struct options_spec absent_specs[] = {
    CHOICES_KEY,
    {CHOICES_TEXT("expect", "FILE", expect,
                  "watch the keys in FILE, one per line, from the start",
                  "a file")},
    {CHOICES_FLAG("repeat", repeat,
                  "report again each DURATION while a key is silent")},
    {CHOICES_FLAG("exit-on-absent", exit_on_absent,
                  "exit with 1 after the first report")},
    CHOICES_MAX_KEYS,
    CHOICES_END,
};

const struct options_verb absent_verb = {
    .name = "absent",
    .summary = "a line when a key has been silent, another when it is back",
    .details =
        "Writes \"absent\", the key, its last time and the seconds since "
        "when a\n"
        "key has had no line for DURATION, and \"back\" when one comes; "
        "none of\n"
        "the lines themselves. A key is known from its first line on.\n"
        "When the input ends all keys fall silent, unless --on-eof "
        "drop.\n",
    .example = "printf 'a 0\\nb 1\\na 200\\na 400\\nb 500\\n' |\n"
               "    lawn absent 5m -k 1 --time-field 2 --on-eof drop",
    CHOICES_FILTER(absent_filter, absent_specs, "DURATION [FILE]..."),
};
