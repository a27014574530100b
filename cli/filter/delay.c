/* delay.c - lawn delay: writes each line some time after it was read.
 *
 * Each line is a timer, whose id is the number of the line. One TTL for all
 * lines is the best case of a lawn; individual TTLs need no other code.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "stores.h"
#include "verbs.h"

static int
configure(struct filter *filter)
{
    filter->setup.pending = filter->stores.lines;
    filter->setup.line_holds = 1;
    filter->setup.flushes = true;
    if (filter->options.ttl_field != NULL) {
        filter->setup.line_order = stores_line_order;
        return 0;
    }
    return filter_options_take_duration(filter, 0, &filter->setup.ttl)
               ? 0
               : VERBS_USAGE;
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    uint64_t ttl =
        filter->options.ttl_field != NULL ? line->ttl : filter->setup.ttl;
    if (ttl == 0) {
        emit_line(filter, line->at, line->size);
        return LINE_WRITTEN;
    }
    enum line_result result = LINE_NOT_TAKEN;
    if (!filter_limits_admit_line(filter, line, &result)) {
        return result;
    }
    return stores_hold_line(filter, line, clock_deadline(filter, ttl));
}

static const struct filter_verb delay_filter = {
    .open = configure,
    .line = handle_line,
    .line_due = emit_held,
    .pass = emit_unheld,
    .line_valid = stores_is_valid_line,
};

static const struct options_spec delay_specs[] = {
    {OPTION_TEXT("ttl-field", "FIELD", ttl_field,
                 "take the delay of each line, a number or a duration, from "
                 "this column, JSON path or regex instead of DURATION",
                 "a column, a JSON path or a /regex/")},
    {OPTION_WORD("ttl-unit", "UNIT", ttl_unit,
                 "unit of numbers in --ttl-field: s, ms, us or ns; default: "
                 "by the suffix of the field name (_ms, _us, _ns), otherwise s",
                 times_units)},
    OPTION_MAX_LINES,
    OPTION_END,
};

const struct options_verb delay_verb = {
    .name = "delay",
    .summary = "hold each line for some time, then write it",
    .details =
        "Writes each line DURATION after its time. With --ttl-field, each "
        "line\n"
        "contains its own delay, and DURATION is omitted. There are no keys.\n",
    .example =
        "printf '1 a\\n2 b\\n9 c\\n' | lawn delay 5s --time-field 1\n"
        "printf '{\"id\":1,\"wait_ms\":300}\\n{\"id\":2,\"wait_ms\":1}\\n' "
        "|\n"
        "    lawn delay --ttl-field .wait_ms",
    OPTION_FILTER_VERB(delay_filter, delay_specs, "DURATION [FILE]..."),
};
