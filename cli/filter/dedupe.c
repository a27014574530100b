/* dedupe.c - lawn dedupe: writes the first line of a key in each window.
 *
 * The timer of a key is its window. When it fires, the key is forgotten.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "stores.h"
#include "verbs.h"

#include <errno.h>

static int
configure(struct filter *filter)
{
    filter->setup.pending = filter->stores.lines; /* always empty */
    return filter_options_take_duration(filter, 1, &filter->setup.ttl)
               ? 0
               : VERBS_USAGE;
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    enum line_result result = LINE_NOT_TAKEN;
    if (!filter_limits_admit_key(filter, line, &result)) {
        return result;
    }
    int error = lawn_store_start(filter->stores.keys, line->key, line->key_size,
                                 clock_deadline(filter, filter->setup.ttl), "",
                                 0, LAWN_STORE_AT | LAWN_STORE_ABSENT);
    if (error == -EEXIST) {
        return LINE_MERGED;
    }
    if (!stores_succeeded(filter, error)) {
        return LINE_NOT_TAKEN;
    }
    emit_line(filter, line->at, line->size);
    return LINE_WRITTEN;
}

static bool
is_key_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return timer->payload_size == 0;
}

static const struct filter_verb dedupe_filter = {
    .whole_line = true,
    .open = configure,
    .line = handle_line,
    .pass = emit_unheld,
    .key_valid = is_key_valid,
};

static const struct options_spec dedupe_specs[] = {
    OPTION_KEY,
    OPTION_MAX_KEYS,
    OPTION_END,
};

const struct options_verb dedupe_verb = {
    .name = "dedupe",
    .summary = "write the first line of a key, drop repetitions",
    .details = "Writes the first line of a key, and drops further lines of the "
               "key for\n"
               "DURATION after it. Without --key, the key is the whole line.\n",
    .example = "printf 'a 1\\na 2\\nb 2\\na 61\\n' | lawn dedupe 60s -k 1 "
               "--time-field 2",
    OPTION_FILTER_VERB(dedupe_filter, dedupe_specs, "DURATION [FILE]..."),
};
