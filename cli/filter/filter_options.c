/* filter_options.c - the options of the filters: see filter_options.h. */
#include "filter_options.h"
#include "filter.h"
#include "log.h"

#include <string.h>

static const char *const on_eof_words[] = {"drain", "flush", "drop", "save",
                                           NULL};
static const char *const overflow_words[] = {"evict", "pass", "fail", NULL};

const struct options_spec filter_options_common[] = {
    {OPTION_TEXT("delimiter", "C", delimiter,
                 "one character that separates columns (\\t is a tab); "
                 "default: runs of blanks and tabs",
                 "one character"),
     .letter = 'd'},
    {OPTION_FLAG("json", json,
                 "input lines are JSON; write reports, summaries, pairs and "
                 "bursts with a count as JSON; implied by a JSON path")},
    {OPTION_TEXT("time-field", "FIELD", time_field,
                 "take the time of each line (event time), a number or RFC "
                 "3339, from this column, JSON path or regex; lawn then waits "
                 "only for input",
                 "a column, a JSON path or a /regex/")},
    {OPTION_WORD("time-unit", "UNIT", time_unit,
                 "unit of numbers in --time-field: s, ms, us or ns; default: "
                 "by the suffix of the field name (_ms, _us, _ns), otherwise s",
                 times_units)},
    {.name = "lateness",
     .value = "D",
     .help = "with --time-field: sort lines that are out of order by up to D",
     .accepts = "a duration from 0 to 104166d, such as 250ms, 5s or 1h30m",
     .parse = options_seconds,
     .max = OPTION_DURATION_MAX,
     .offset = OPTION_OFFSET(lateness)},
    {OPTION_WORD("on-eof", "WHAT", on_eof,
                 "at the end of the input: drain writes held lines when they "
                 "are due, flush writes them now, drop discards them, save "
                 "keeps them in --state; default drain",
                 on_eof_words)},
    {OPTION_WORD("overflow", "WHAT", overflow,
                 "at a limit: evict makes room by removing a key or writing a "
                 "held line early; pass writes the new line at once (the verbs "
                 "absent and session ignore the line); fail exits; default "
                 "evict",
                 overflow_words)},
    {OPTION_TEXT("state", "FILE", state,
                 "resume from FILE, and save held lines and keys there on exit",
                 "a file")},
    {OPTION_DURATION("state-every", state_every,
                     "also save to the --state file every D")},
    {.name = "stats",
     .value = "SEC",
     .help = "print counts to stderr at the end, and every SEC seconds",
     .accepts = "a time, such as 10 or 1m",
     .parse = options_seconds,
     .max = OPTION_DURATION_MAX,
     .offset = OPTION_OFFSET(stats),
     .implied = "0"},
    {OPTION_FLAG("strict", strict, "stop at the first bad line")},
    OPTION_END,
};

void
filter_options_init(struct filter_options *options)
{
    *options = (struct filter_options){
        .time_unit = SIZE_MAX,
        .ttl_unit = SIZE_MAX,
        .on_eof = SIZE_MAX,
        .overflow = SIZE_MAX,
        .emit = SIZE_MAX,
        .lateness = UINT64_MAX,
        .max_keys = UINT64_MAX,
        .max_lines = UINT64_MAX,
        .state_every = UINT64_MAX,
        .stats = UINT64_MAX,
        .max_wait = UINT64_MAX,
        .burst = UINT64_MAX,
        .queue = UINT64_MAX,
        .max_duration = UINT64_MAX,
        .max_events = UINT64_MAX,
    };
}

/* Returns true if an option is not given or the option that it requires is
 * given; otherwise prints a usage error. */
static bool requires(const struct filter *filter, bool given,
                     const char *option, bool there, const char *needed)
{
    if (given && !there) {
        log_usage_error(filter, "--%s needs %s", option, needed);
    }
    return !given || there;
}

static bool
check_combinations(const struct filter *filter)
{
    const struct filter_options *o = &filter->options;
    bool event = o->time_field != NULL;
    bool limit = o->max_keys != UINT64_MAX || o->max_lines != UINT64_MAX;
    return requires(filter, o->lateness != UINT64_MAX, "lateness", event,
                    "--time-field") &&
           requires(filter, o->time_unit != SIZE_MAX, "time-unit", event,
                    "--time-field") &&
           requires(filter, o->right_time_field != NULL, "right-time-field",
                    event, "--time-field") &&
           requires(filter, o->ttl_unit != SIZE_MAX, "ttl-unit",
                    o->ttl_field != NULL, "--ttl-field") &&
           requires(filter, o->state_every != UINT64_MAX, "state-every",
                    o->state != NULL, "--state") &&
           requires(filter, o->on_eof == FILTER_SAVE, "on-eof save",
                    o->state != NULL, "--state") &&
           requires(filter, o->overflow != SIZE_MAX, "overflow", limit,
                    "a limit, --max-keys or --max-lines");
}

/* Parses --delimiter. Returns false after printing a usage error. */
static bool
parse_delimiter(const struct filter *filter, int *delimiter)
{
    const char *text = filter->options.delimiter;
    *delimiter = -1;
    if (text == NULL) {
        return true;
    }
    if (strcmp(text, "\\t") == 0) {
        text = "\t";
    }
    *delimiter = (unsigned char)text[0];
    if (text[1] == '\0') {
        return true;
    }
    log_usage_error(
        filter, "--delimiter: '%s' is not one character (of one byte)", text);
    return false;
}

static bool
add_field(struct filter *filter, unsigned side, const char *option,
          const char *text)
{
    const char *wrong = fields_add(&filter->io.fields[side], text);
    if (wrong != NULL) {
        log_usage_error(filter, "--%s: '%s': %s", option, text, wrong);
    }
    return wrong == NULL;
}

/* Adds the fields of an input's lines, in the order of enum filter_field. */
static bool
add_fields(struct filter *filter, unsigned side)
{
    const struct filter_options *o = &filter->options;
    const char *key = o->key;
    if (key == NULL && filter->verb->whole_line) {
        key = "0";
    }
    const char *time = o->time_field;
    if (side == 1 && o->right_key != NULL) {
        key = o->right_key;
    }
    if (side == 1 && o->right_time_field != NULL) {
        time = o->right_time_field;
    }
    filter->io.fields[side].json = o->json;
    return parse_delimiter(filter, &filter->io.fields[side].delimiter) &&
           add_field(filter, side, side == 0 ? "key" : "right-key", key) &&
           add_field(filter, side,
                     side == 0 ? "time-field" : "right-time-field", time) &&
           add_field(filter, side, "ttl-field", o->ttl_field);
}

/* Sets the units of times in the inputs and in the output. */
static void
set_units(struct filter *filter)
{
    const struct filter_options *o = &filter->options;
    const char *fields[] = {o->time_field, o->right_time_field};
    for (size_t side = 0; side < 2; side++) {
        const char *field = fields[side] != NULL ? fields[side] : fields[0];
        filter->clock.units[side] =
            field != NULL ? times_unit_of(field) : TIMES_S;
        if (o->time_unit != SIZE_MAX) {
            filter->clock.units[side] = (enum times_unit)o->time_unit;
        }
    }
    filter->clock.unit = filter->clock.units[0];
}

bool
filter_options_apply(struct filter *filter)
{
    struct filter_options *o = &filter->options;
    if (!check_combinations(filter) || !add_fields(filter, 0) ||
        !add_fields(filter, 1)) {
        return false;
    }
    if (filter->io.fields[0].json || filter->io.fields[1].json) {
        o->json = true;
    }
    if (o->lateness == UINT64_MAX) {
        o->lateness = 0;
    }
    if (o->on_eof == SIZE_MAX) {
        o->on_eof = FILTER_DRAIN;
    }
    if (o->overflow == SIZE_MAX) {
        o->overflow = FILTER_EVICT;
    }
    set_units(filter);
    filter->clock.ttl_unit =
        o->ttl_field != NULL ? times_unit_of(o->ttl_field) : TIMES_S;
    if (o->ttl_unit != SIZE_MAX) {
        filter->clock.ttl_unit = (enum times_unit)o->ttl_unit;
    }
    return true;
}

const char *
filter_options_take_operand(struct filter *filter)
{
    struct options_operands *operands = &filter->options.operands;
    if (operands->count == 0) {
        return NULL;
    }
    operands->count--;
    return *operands->words++;
}

bool
filter_options_take_duration(struct filter *filter, uint64_t min, uint64_t *ns)
{
    const struct options_spec spec = {.min = min, .max = OPTION_DURATION_MAX};
    const char *text = filter_options_take_operand(filter);
    if (text == NULL) {
        log_usage_error(filter,
                        "a duration is missing, such as 250ms, 5s or 1h30m");
    } else if (!options_seconds(&spec, text, ns)) {
        log_usage_error(filter,
                        "'%s' is not a duration from %s to 104166d, such as "
                        "250ms, 5s or 1h30m",
                        text, min > 0 ? "1ns" : "0");
    } else {
        return true;
    }
    return false;
}
