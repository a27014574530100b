/* debounce.c - lawn debounce: a burst of lines becomes one, once it is quiet.
 *
 * A key's timer is restarted by each of its lines, and holds the last one. What
 * else is asked for, a count, the first line or a limit, stands in a record before
 * the line. All lines of a burst stand in lines by key and number.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "verbs.h"

#include <string.h>

enum debounce_emit {
    DEBOUNCE_LAST,
    DEBOUNCE_FIRST,
    DEBOUNCE_ALL,
    DEBOUNCE_COUNT
};
static const char *const debounce_emits[] = {"last", "first", "all", "count",
                                             NULL};

/* Of a burst. Its times are those of its lines. */
struct debounce_burst {
    uint64_t first;
    uint64_t last;
    uint64_t count;
    uint64_t serial; /* of its last line */
};

/* The last line is all that is needed. */
static bool
debounce_is_plain(const struct filter *filter)
{
    return filter->options.emit == DEBOUNCE_LAST &&
           filter->options.max_wait == UINT64_MAX;
}

static uint64_t
debounce_order(const struct filter *filter,
               const struct lawn_store_timer *timer)
{
    struct debounce_burst burst;
    (void)filter;
    memcpy(&burst, timer->payload, sizeof burst);
    return burst.serial;
}

static int
debounce_open(struct filter *filter)
{
    if (filter->options.emit == SIZE_MAX)
        filter->options.emit = DEBOUNCE_LAST;
    size_t emit = filter->options.emit;
    filter->pending = filter->keys;
    filter->emit = emit == DEBOUNCE_LAST && !debounce_is_plain(filter)
                       ? "last with --max-wait"
                       : debounce_emits[emit];
    filter->key_holds = emit == DEBOUNCE_LAST || emit == DEBOUNCE_FIRST;
    filter->line_holds = emit == DEBOUNCE_ALL;
    filter->flushes = true;
    if (filter->options.max_wait != UINT64_MAX)
        filter->key_order = debounce_order;
    return choices_duration(filter, 1, &filter->ttl) ? 0 : VERBS_USAGE;
}

/* Starts the key's timer, with the burst and a line. */
static bool
debounce_start(struct filter *filter, const struct filter_line *line,
               const struct debounce_burst *burst, const void *at, size_t size)
{
    uint64_t deadline = clock_after(filter, filter->ttl);
    uint64_t wait = filter->options.max_wait;
    if (wait < deadline - burst->first)
        deadline = burst->first + wait;
    const void *record = hold_join(filter, burst, sizeof *burst, at, size);
    return record != NULL &&
           hold_started(filter,
                        lawn_store_start(filter->keys, line->key,
                                         line->key_size, deadline, record,
                                         sizeof *burst + size, LAWN_STORE_AT));
}

/* Holds a line besides the others of its burst. */
static bool
debounce_hold(struct filter *filter, const struct filter_line *line,
              uint64_t number)
{
    size_t size;
    const void *id = hold_id(filter, line->key, line->key_size, number, &size);
    return hold_started(filter,
                        lawn_store_start(filter->lines, id, size, UINT64_MAX,
                                         line->at, line->size, 0));
}

/* Counts a line that has been taken into a burst, which it may have begun. */
static void
debounce_count(struct filter *filter, bool begins)
{
    bool merges = filter->options.emit == DEBOUNCE_COUNT ||
                  (filter->options.emit != DEBOUNCE_ALL && !begins);
    if (merges)
        filter->counts.merged++;
    else
        filter->counts.held++;
}

static void
debounce_plain(struct filter *filter, const struct filter_line *line)
{
    uint64_t known = lawn_store_count(filter->keys);
    if (hold_started(filter,
                     lawn_store_start(filter->keys, line->key, line->key_size,
                                      clock_after(filter, filter->ttl),
                                      line->at, line->size, LAWN_STORE_AT)))
        debounce_count(filter, lawn_store_count(filter->keys) > known);
    else
        hold_give_back(filter);
}

static bool
debounce_has_room(struct filter *filter, const struct filter_line *line)
{
    if (!hold_has_key_room(filter, line))
        return false;
    if (filter->options.max_lines == UINT64_MAX ||
        filter->options.emit == DEBOUNCE_COUNT)
        return true;
    if (filter->options.emit != DEBOUNCE_ALL &&
        lawn_store_get(filter->keys, line->key, line->key_size, NULL))
        return true;
    return hold_has_line_room(filter, line);
}

static void
debounce_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store_timer timer;
    struct debounce_burst burst = {.first = filter->now};
    const char *at = line->at;
    size_t size = line->size;
    if (!debounce_has_room(filter, line))
        return;
    if (debounce_is_plain(filter)) {
        debounce_plain(filter, line);
        return;
    }
    bool begins =
        !lawn_store_get(filter->keys, line->key, line->key_size, &timer);
    if (!begins) {
        memcpy(&burst, timer.payload, sizeof burst);
        if (filter->options.emit == DEBOUNCE_FIRST) {
            at = (const char *)timer.payload + sizeof burst;
            size = timer.payload_size - sizeof burst;
        }
    }
    burst.last = filter->now;
    burst.count++;
    burst.serial = ++filter->serial;
    bool held = true;
    if (filter->options.emit == DEBOUNCE_ALL) {
        held = debounce_hold(filter, line, burst.count);
        size = 0;
    }
    if (held && debounce_start(filter, line, &burst, at, size)) {
        debounce_count(filter, begins);
        return;
    }
    if (held && filter->options.emit == DEBOUNCE_ALL)
        lawn_store_stop(filter->lines, filter->id,
                        line->key_size + sizeof burst.count);
    hold_give_back(filter);
}

/* Writes all lines of a burst. */
static void
debounce_put_all(struct filter *filter, const struct lawn_store_timer *timer,
                 uint64_t count)
{
    for (uint64_t number = 1; number <= count; number++) {
        struct lawn_store_timer line;
        size_t size;
        const void *id =
            hold_id(filter, timer->id, timer->id_size, number, &size);
        if (lawn_store_get(filter->lines, id, size, &line)) {
            put_line(filter, line.payload, line.payload_size);
            lawn_store_stop(filter->lines, id, size);
            filter->counts.held--;
        }
    }
}

static void
debounce_put_count(struct filter *filter, const void *key, size_t key_size,
                   const struct debounce_burst *burst, const void *line,
                   size_t size)
{
    put_number(filter, "count", burst->count);
    if (filter->options.json) {
        put_key(filter, "key", key, key_size);
        put_time(filter, "first", burst->first);
        put_time(filter, "last", burst->last);
    }
    put_input(filter, 0, "line", line, size);
    put_end(filter, SINK_MADE);
}

static void
debounce_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct debounce_burst burst;
    if (debounce_is_plain(filter)) {
        put_line(filter, timer->payload, timer->payload_size);
        return;
    }
    memcpy(&burst, timer->payload, sizeof burst);
    const char *line = (const char *)timer->payload + sizeof burst;
    size_t size = timer->payload_size - sizeof burst;
    if (filter->options.emit == DEBOUNCE_ALL)
        debounce_put_all(filter, timer, burst.count);
    else if (filter->options.emit == DEBOUNCE_COUNT)
        debounce_put_count(filter, timer->id, timer->id_size, &burst, line,
                           size);
    else
        put_line(filter, line, size);
}

static void
debounce_pass(struct filter *filter, const struct filter_line *line)
{
    const struct debounce_burst one = {filter->now, filter->now, 1, 0};
    if (filter->options.emit == DEBOUNCE_COUNT) {
        filter->counts.merged++;
        debounce_put_count(filter, line->key, line->key_size, &one, line->at,
                           line->size);
    } else {
        put_line(filter, line->at, line->size);
    }
}

static bool
debounce_key_valid(const struct filter *filter,
                   const struct lawn_store_timer *timer)
{
    struct debounce_burst burst;
    if (debounce_is_plain(filter))
        return true;
    if (timer->payload_size < sizeof burst)
        return false;
    memcpy(&burst, timer->payload, sizeof burst);
    return burst.first <= burst.last && burst.last <= filter->now &&
           (filter->options.emit != DEBOUNCE_ALL ||
            burst.count <= lawn_store_count(filter->lines));
}

static uint64_t
debounce_key_lines(const struct filter *filter,
                   const struct lawn_store_timer *timer)
{
    struct debounce_burst burst;
    if (filter->options.emit != DEBOUNCE_ALL)
        return 0;
    memcpy(&burst, timer->payload, sizeof burst);
    return burst.count;
}

/* Its lines are found by key and number, those that there are. */
static bool
debounce_line_valid(const struct filter *filter,
                    const struct lawn_store_timer *timer)
{
    struct lawn_store_timer key;
    struct debounce_burst burst;
    uint64_t number;
    if (timer->id_size < sizeof number || filter->options.emit != DEBOUNCE_ALL)
        return false;
    size_t size = timer->id_size - sizeof number;
    memcpy(&number, (const char *)timer->id + size, sizeof number);
    if (!lawn_store_get(filter->keys, timer->id, size, &key))
        return false;
    memcpy(&burst, key.payload, sizeof burst);
    return number >= 1 && number <= burst.count && timer->deadline > CLOCK_LAST;
}

static const struct filter_verb debounce_filter = {
    .open = debounce_open,
    .line = debounce_line,
    .key_due = debounce_key_due,
    .pass = debounce_pass,
    .key_valid = debounce_key_valid,
    .key_lines = debounce_key_lines,
    .line_valid = debounce_line_valid,
};

static const struct options_spec debounce_specs[] = {
    CHOICES_KEY,
    {CHOICES_WORD("emit", "WHAT", emit,
                  "of a burst: its last line, its first, all, or a count with "
                  "its last line; default last",
                  debounce_emits)},
    {CHOICES_DURATION("max-wait", max_wait,
                      "write a burst at the latest D after its first line")},
    CHOICES_MAX_KEYS,
    CHOICES_MAX_LINES,
    CHOICES_END,
};

const struct options_verb debounce_verb = {
    .name = "debounce",
    .summary = "one line per burst, after some time of quiet, per key",
    .details = "Lines of a key that follow each other within DURATION are a\n"
               "burst; of each, one line is written, the last, when DURATION "
               "has\n"
               "passed without another.\n",
    .example = "printf 'a 1\\na 2\\nb 2\\na 9\\n' | lawn debounce 2s -k 1 "
               "--time-field 2",
    CHOICES_FILTER(debounce_filter, debounce_specs, "DURATION [FILE]..."),
};
