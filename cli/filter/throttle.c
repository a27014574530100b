/* throttle.c - lawn throttle: so many lines of a key in some time.
 *
 * A bucket of tokens per key, kept as one time, as in the generic cell rate
 * algorithm: when the bucket will be full again. From it follows when the token
 * of a line that comes now is there; until then the line waits in lines, on its
 * own. So there is no queue per key, and a key is one timer. It is due when an
 * empty bucket would be full, counted from the last line that got a token, so that
 * all keys have one TTL and the one due first, which is evicted, is found at once;
 * if lines wait for tokens yet, it goes on until the bucket is full.
 *
 * A token takes DURATION / N, which need not be whole nanoseconds: times are kept
 * with a fraction, in Nths, and are exact.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "tell.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* ns + nths / N nanoseconds. */
struct throttle_time {
    uint64_t ns;
    uint64_t nths;
};

/* Nanoseconds of a and b together, as many as there are. */
static uint64_t
throttle_sum(uint64_t a, uint64_t b)
{
    return a < CLOCK_LAST && b < CLOCK_LAST - a ? a + b : CLOCK_LAST;
}

static struct throttle_time
throttle_add(const struct filter *filter, struct throttle_time a,
             struct throttle_time b)
{
    struct throttle_time sum = {throttle_sum(a.ns, b.ns), a.nths};
    if (sum.nths >= filter->rate - b.nths) {
        sum.nths -= filter->rate - b.nths;
        sum.ns = throttle_sum(sum.ns, 1);
    } else {
        sum.nths += b.nths;
    }
    if (sum.ns == CLOCK_LAST)
        sum.nths = 0;
    return sum;
}

/* a - b, which is not after a. */
static struct throttle_time
throttle_less(const struct filter *filter, struct throttle_time a,
              struct throttle_time b)
{
    if (a.nths >= b.nths)
        return (struct throttle_time){a.ns - b.ns, a.nths - b.nths};
    return (struct throttle_time){a.ns - b.ns - 1,
                                  filter->rate - b.nths + a.nths};
}

/* What count tokens take. */
static struct throttle_time
throttle_tokens(const struct filter *filter, uint64_t count)
{
    __extension__ typedef unsigned __int128 wide;
    wide all = (wide)filter->ttl * count;
    wide ns = all / filter->rate;
    struct throttle_time time = {CLOCK_LAST, 0};
    if (ns < CLOCK_LAST) {
        time.ns = (uint64_t)ns;
        time.nths = (uint64_t)(all % filter->rate);
    }
    return time;
}

static bool
throttle_after(struct throttle_time a, struct throttle_time b)
{
    return a.ns != b.ns ? a.ns > b.ns : a.nths > b.nths;
}

/* Whole nanoseconds, never early. */
static uint64_t
throttle_up(struct throttle_time time)
{
    return throttle_sum(time.ns, time.nths > 0);
}

/* "10/1s", or "10/s". */
static bool
throttle_read_rate(struct filter *filter, const char *text)
{
    const struct options_spec spec = {.min = 1, .max = CHOICES_DURATION_MAX};
    char copy[64];
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash[1] == '\0' || strlen(text) + 2 > sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%.*s", (int)(slash - text), text);
    if (!options_count(&spec, copy, &filter->rate))
        return false;
    bool unit_alone = slash[1] >= 'a' && slash[1] <= 'z';
    snprintf(copy, sizeof copy, "%s%s", unit_alone ? "1" : "", slash + 1);
    return options_seconds(&spec, copy, &filter->ttl);
}

static int
throttle_open(struct filter *filter)
{
    struct filter_options *options = &filter->options;
    const char *rate = choices_operand(filter);
    filter->pending = filter->lines;
    filter->line_holds = 1;
    filter->line_order = hold_order;
    filter->flushes = true;
    if (rate == NULL)
        tell_usage(filter, "a rate is missing, such as 10/1s or 1/1h");
    else if (!throttle_read_rate(filter, rate))
        tell_usage(filter, "'%s' is not a rate, such as 10/1s or 1/1h", rate);
    else if (options->drop && options->queue != UINT64_MAX)
        tell_usage(filter, "--drop and --queue exclude each other");
    else {
        if (options->burst == UINT64_MAX)
            options->burst = filter->rate;
        if (options->drop)
            options->queue = 0;
        return 0;
    }
    return VERBS_USAGE;
}

/* When the bucket of a key is full: now if it is not known. */
static struct throttle_time
throttle_full(struct filter *filter, const struct filter_line *line)
{
    struct throttle_time now = {filter->now, 0};
    struct throttle_time full = now;
    struct lawn_store_timer timer;
    if (lawn_store_get(filter->keys, line->key, line->key_size, &timer))
        memcpy(&full, timer.payload, sizeof full);
    if (full.nths >= filter->rate) /* it was saved with another rate */
        full = (struct throttle_time){throttle_sum(full.ns, 1), 0};
    return throttle_after(full, now) ? full : now;
}

/* Knows a key until a time. */
static bool
throttle_start(struct filter *filter, const void *key, size_t size,
               uint64_t deadline, const struct throttle_time *full)
{
    return hold_started(filter,
                        lawn_store_start(filter->keys, key, size, deadline,
                                         full, sizeof *full, LAWN_STORE_AT));
}

static void
throttle_line(struct filter *filter, const struct filter_line *line)
{
    const struct filter_options *options = &filter->options;
    if (!hold_has_key_room(filter, line))
        return;
    struct throttle_time now = {filter->now, 0};
    struct throttle_time full = throttle_add(
        filter, throttle_full(filter, line), throttle_tokens(filter, 1));
    struct throttle_time bucket = throttle_tokens(filter, options->burst);
    struct throttle_time at_once = throttle_add(filter, now, bucket);
    bool waits = throttle_after(full, at_once);
    if (waits && options->queue != UINT64_MAX &&
        throttle_after(full,
                       throttle_add(filter, at_once,
                                    throttle_tokens(filter, options->queue)))) {
        filter->counts.refused++;
        return;
    }
    if (waits && !hold_has_line_room(filter, line))
        return;
    if (waits)
        hold_line(filter, line,
                  throttle_up(throttle_less(filter, full, bucket)));
    if (filter->untaken)
        return;
    bool started =
        throttle_start(filter, line->key, line->key_size,
                       clock_after(filter, throttle_up(bucket)), &full);
    if (started && !waits)
        put_line(filter, line->at, line->size);
    if (!started && waits) {
        lawn_store_stop(filter->lines, &filter->serial, sizeof filter->serial);
        filter->counts.held--;
    }
    if (!started)
        hold_give_back(filter);
}

static void
throttle_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct throttle_time full;
    memcpy(&full, timer->payload, sizeof full);
    if (filter->why == FILTER_DUE && throttle_up(full) > filter->now)
        throttle_start(filter, timer->id, timer->id_size, throttle_up(full),
                       &full);
}

static bool
throttle_key_valid(const struct filter *filter,
                   const struct lawn_store_timer *timer)
{
    (void)filter;
    return timer->payload_size == sizeof(struct throttle_time);
}

static const struct filter_verb throttle_filter = {
    .open = throttle_open,
    .line = throttle_line,
    .key_due = throttle_key_due,
    .line_due = put_held,
    .pass = put_at_once,
    .key_valid = throttle_key_valid,
    .line_valid = hold_is_numbered,
};

static const struct options_spec throttle_specs[] = {
    CHOICES_KEY,
    {CHOICES_COUNT("burst", burst,
                   "so many lines at once after some quiet; default: N of "
                   "the rate; 1 spaces lines evenly",
                   1)},
    {CHOICES_COUNT("queue", queue,
                   "of a key at most N lines wait, further ones are dropped; "
                   "default: no limit",
                   0)},
    {CHOICES_FLAG("drop", drop, "none waits: the same as --queue 0")},
    CHOICES_MAX_KEYS,
    CHOICES_MAX_LINES,
    CHOICES_END,
};

const struct options_verb throttle_verb = {
    .name = "throttle",
    .summary = "slow the lines of a key down to a rate, after a burst",
    .details = "RATE is a number of lines and a time: 10/1s, 10/s, 1/1h. A key "
               "may write\n"
               "as many lines at once, and gets one more each 10th of a "
               "second, or each\n"
               "hour: within any time T, a burst and what the rate gives in T. "
               "--burst 1\n"
               "spaces lines evenly. What comes too fast waits for its turn, "
               "or is dropped.\n",
    .example = "printf 'ann 1\\nann 2\\nbob 2\\nann 3\\n' |\n"
               "    lawn throttle 1/1h -k 1 --drop --time-field 2",
    CHOICES_FILTER(throttle_filter, throttle_specs, "RATE [FILE]..."),
};
