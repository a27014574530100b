/* throttle.c - lawn throttle: limits the lines of a key to a rate.
 *
 * Each key has a token bucket. As in the generic cell rate algorithm, only the
 * time at which the bucket will be full again is stored. This time determines
 * when a new line gets its token; until then the line is held in the store
 * `lines`. So there is no queue per key, and a key is one timer. Each accepted
 * line restarts the timer; its TTL is the time in which an empty bucket fills.
 * If lines waited for tokens, the bucket may not be full when the timer fires;
 * handle_key_due() then restarts it for the time at which the bucket is full.
 * The key to evict is the one that is due first. Finding it is O(1), or, after
 * such restarts, costs as much as lawn_store_next_timer().
 *
 * A token takes DURATION / N, which may not be a whole number of nanoseconds.
 * Times have a fraction, in Nths, and are exact.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "log.h"
#include "record.h"
#include "stores.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* ns + nths / N nanoseconds. */
struct throttle_time {
    uint64_t ns;
    uint64_t nths;
};

#define THROTTLE_TIME_BYTES (2 * RECORD_NUMBER)

static void
encode(struct throttle_time time, unsigned char bytes[THROTTLE_TIME_BYTES])
{
    record_put(bytes, 0, time.ns);
    record_put(bytes, 1, time.nths);
}

static struct throttle_time
decode(const void *bytes)
{
    return (struct throttle_time){record_get(bytes, 0), record_get(bytes, 1)};
}

static struct throttle_time
add_times(const struct filter *filter, struct throttle_time a,
          struct throttle_time b)
{
    struct throttle_time sum = {clock_add(a.ns, b.ns), a.nths};
    if (sum.nths >= filter->setup.rate - b.nths) {
        sum.nths -= filter->setup.rate - b.nths;
        sum.ns = clock_add(sum.ns, 1);
    } else {
        sum.nths += b.nths;
    }
    if (sum.ns == CLOCK_LAST) {
        sum.nths = 0;
    }
    return sum;
}

/* Returns a - b. b is not after a. */
static struct throttle_time
subtract_times(const struct filter *filter, struct throttle_time a,
               struct throttle_time b)
{
    if (a.nths >= b.nths) {
        return (struct throttle_time){a.ns - b.ns, a.nths - b.nths};
    }
    return (struct throttle_time){a.ns - b.ns - 1,
                                  filter->setup.rate - b.nths + a.nths};
}

/* Returns the time that count tokens take. */
static struct throttle_time
token_time(const struct filter *filter, uint64_t count)
{
    __extension__ typedef unsigned __int128 wide;
    wide all = (wide)filter->setup.ttl * count;
    wide ns = all / filter->setup.rate;
    struct throttle_time time = {CLOCK_LAST, 0};
    if (ns < CLOCK_LAST) {
        time.ns = (uint64_t)ns;
        time.nths = (uint64_t)(all % filter->setup.rate);
    }
    return time;
}

static bool
is_after(struct throttle_time a, struct throttle_time b)
{
    return a.ns != b.ns ? a.ns > b.ns : a.nths > b.nths;
}

/* Returns whole nanoseconds, rounded up: never early. */
static uint64_t
round_up(struct throttle_time time)
{
    return clock_add(time.ns, time.nths > 0);
}

/* Parses a rate: "10/1s", or "10/s". */
static bool
parse_rate(struct filter *filter, const char *text)
{
    const struct options_spec spec = {.min = 1, .max = OPTION_DURATION_MAX};
    char copy[64];
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash[1] == '\0' || strlen(text) + 2 > sizeof(copy)) {
        return false;
    }
    snprintf(copy, sizeof(copy), "%.*s", (int)(slash - text), text);
    if (!options_count(&spec, copy, &filter->setup.rate)) {
        return false;
    }
    bool unit_alone = slash[1] >= 'a' && slash[1] <= 'z';
    snprintf(copy, sizeof(copy), "%s%s", unit_alone ? "1" : "", slash + 1);
    return options_seconds(&spec, copy, &filter->setup.ttl);
}

static int
configure(struct filter *filter)
{
    struct filter_options *options = &filter->options;
    const char *rate = filter_options_take_operand(filter);
    filter->setup.pending = filter->stores.lines;
    filter->setup.line_holds = 1;
    filter->setup.line_order = stores_line_order;
    filter->setup.flushes = true;
    if (rate == NULL) {
        log_usage_error(filter, "a rate is missing, such as 10/1s or 1/1h");
    } else if (!parse_rate(filter, rate)) {
        log_usage_error(filter, "'%s' is not a rate, such as 10/1s or 1/1h",
                        rate);
    } else if (options->drop && options->queue != UINT64_MAX) {
        log_usage_error(filter, "--drop and --queue exclude each other");
    } else {
        if (options->burst == UINT64_MAX) {
            options->burst = filter->setup.rate;
        }
        if (options->drop) {
            options->queue = 0;
        }
        return 0;
    }
    return VERBS_USAGE;
}

/* Returns when the bucket of a line's key is full: now if the key is
 * unknown. */
static struct throttle_time
bucket_full_time(struct filter *filter, const struct filter_line *line)
{
    struct throttle_time now = {filter->clock.now, 0};
    struct throttle_time full = now;
    struct lawn_store_timer timer;
    if (lawn_store_get(filter->stores.keys, line->key, line->key_size,
                       &timer)) {
        full = decode(timer.payload);
    }
    if (full.nths >= filter->setup.rate) { /* saved with another rate */
        full = (struct throttle_time){clock_add(full.ns, 1), 0};
    }
    return is_after(full, now) ? full : now;
}

/* Starts the timer of a key. */
static bool
start_key(struct filter *filter, const void *key, size_t size,
          uint64_t deadline, struct throttle_time full)
{
    unsigned char bytes[THROTTLE_TIME_BYTES];
    encode(full, bytes);
    return stores_succeeded(
        filter, lawn_store_start(filter->stores.keys, key, size, deadline,
                                 bytes, sizeof(bytes), LAWN_STORE_AT));
}

/* Returns whether a line that waits for a token exceeds --queue. */
static bool
is_queue_full(const struct filter *filter, struct throttle_time full,
              struct throttle_time at_once)
{
    uint64_t queue = filter->options.queue;
    return queue != UINT64_MAX &&
           is_after(full,
                    add_times(filter, at_once, token_time(filter, queue)));
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    enum line_result result = LINE_WRITTEN;
    if (!filter_limits_admit_key(filter, line, &result)) {
        return result;
    }
    struct throttle_time now = {filter->clock.now, 0};
    struct throttle_time full = add_times(
        filter, bucket_full_time(filter, line), token_time(filter, 1));
    struct throttle_time bucket = token_time(filter, filter->options.burst);
    struct throttle_time at_once = add_times(filter, now, bucket);
    if (is_after(full, at_once)) {
        if (is_queue_full(filter, full, at_once)) {
            return LINE_REFUSED;
        }
        if (!filter_limits_admit_line(filter, line, &result)) {
            return result;
        }
        result = stores_hold_line(
            filter, line, round_up(subtract_times(filter, full, bucket)));
        if (result == LINE_NOT_TAKEN) {
            return result;
        }
    }
    if (!start_key(filter, line->key, line->key_size,
                   clock_deadline(filter, round_up(bucket)), full)) {
        if (result == LINE_HELD) {
            stores_release_last_line(filter);
        }
        return LINE_NOT_TAKEN;
    }
    if (result == LINE_WRITTEN) {
        emit_line(filter, line->at, line->size);
    }
    return result;
}

static void
handle_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct throttle_time full = decode(timer->payload);
    if (filter->run.cause == CAUSE_DUE && round_up(full) > filter->clock.now) {
        start_key(filter, timer->id, timer->id_size, round_up(full), full);
    }
}

static bool
is_key_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return timer->payload_size == THROTTLE_TIME_BYTES;
}

static const struct filter_verb throttle_filter = {
    .open = configure,
    .line = handle_line,
    .key_due = handle_key_due,
    .line_due = emit_held,
    .pass = emit_unheld,
    .key_valid = is_key_valid,
    .line_valid = stores_is_valid_line,
};

static const struct options_spec throttle_specs[] = {
    OPTION_KEY,
    {OPTION_COUNT(
        "burst", burst,
        "write up to N lines at once after a quiet time; with 1, lines are "
        "spaced evenly; default: the number of lines in RATE",
        1)},
    {OPTION_COUNT("queue", queue,
                  "let at most N lines of a key wait and drop further lines; "
                  "default: no limit",
                  0)},
    {OPTION_FLAG("drop", drop,
                 "drop lines instead of holding them; same as --queue 0")},
    OPTION_MAX_KEYS,
    OPTION_MAX_LINES,
    OPTION_END,
};

const struct options_verb throttle_verb = {
    .name = "throttle",
    .summary = "limit the lines of a key to a rate",
    .details = "RATE is a number of lines per time: 10/1s, 10/s, 1/1h. With "
               "10/1s, up to\n"
               "10 lines of a key are written at once, and then one every 0.1 "
               "s. Lines\n"
               "that exceed the rate wait; with --drop they are dropped.\n",
    .example = "printf 'ann 1\\nann 2\\nbob 2\\nann 3\\n' |\n"
               "    lawn throttle 1/1h -k 1 --drop --time-field 2",
    OPTION_FILTER_VERB(throttle_filter, throttle_specs, "RATE [FILE]..."),
};
