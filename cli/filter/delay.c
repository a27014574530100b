/* delay.c - lawn delay: each line leaves some time after it came.
 *
 * A line is a timer of its own, by a number. One TTL for all is the lawn's best
 * case; a TTL in each line is no other code.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "verbs.h"

static int
delay_open(struct filter *filter)
{
    filter->pending = filter->lines;
    filter->line_holds = 1;
    filter->flushes = true;
    if (filter->options.ttl_field != NULL) {
        filter->line_order = hold_order;
        return 0;
    }
    return choices_duration(filter, 0, &filter->ttl) ? 0 : VERBS_USAGE;
}

static void
delay_line(struct filter *filter, const struct filter_line *line)
{
    uint64_t ttl = filter->options.ttl_field != NULL ? line->ttl : filter->ttl;
    if (ttl == 0)
        put_line(filter, line->at, line->size);
    else if (hold_has_line_room(filter, line))
        hold_line(filter, line, clock_after(filter, ttl));
}

static const struct filter_verb delay_filter = {
    .open = delay_open,
    .line = delay_line,
    .line_due = put_held,
    .pass = put_at_once,
    .line_valid = hold_is_numbered,
};

static const struct options_spec delay_specs[] = {
    {CHOICES_TEXT("ttl-field", "FIELD", ttl_field,
                  "each line holds its own delay, a number or a duration, in "
                  "this column, JSON path or regex; instead of DURATION",
                  "a column, a JSON path or a /regex/")},
    {CHOICES_WORD("ttl-unit", "UNIT", ttl_unit,
                  "of numbers in --ttl-field: s, ms, us or ns; default: what "
                  "its name ends with (_ms, _us, _ns), or s",
                  times_units)},
    CHOICES_MAX_LINES,
    CHOICES_END,
};

const struct options_verb delay_verb = {
    .name = "delay",
    .summary = "hold each line for some time, then release it, in order",
    .details =
        "Writes each line DURATION after it came, in the order in which\n"
        "they are due. Lines have no keys here, so there is no -k.\n",
    .example =
        "printf '1 a\\n2 b\\n9 c\\n' | lawn delay 5s --time-field 1\n"
        "printf '{\"id\":1,\"wait_ms\":300}\\n{\"id\":2,\"wait_ms\":1}\\n' "
        "|\n"
        "    lawn delay --ttl-field .wait_ms",
    CHOICES_FILTER(delay_filter, delay_specs, "DURATION [FILE]..."),
};
