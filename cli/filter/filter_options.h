/* filter_options.h - the options of the filters, and how they may be combined.
 *
 * The option table of a verb starts with its own options; some of them are
 * defined here because several verbs have them. filter_options_common has the
 * options of all verbs.
 */
#ifndef LAWN_CLI_FILTER_OPTIONS_H
#define LAWN_CLI_FILTER_OPTIONS_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;

enum filter_eof { FILTER_DRAIN, FILTER_FLUSH, FILTER_DROP, FILTER_SAVE };
enum filter_overflow { FILTER_EVICT, FILTER_PASS, FILTER_FAIL };

/* The options of all verbs. NULL, SIZE_MAX, UINT64_MAX: not given. */
struct filter_options {
    struct options_operands operands;
    const char *key;
    const char *right_key;
    const char *delimiter;
    const char *time_field;
    const char *right_time_field;
    const char *ttl_field;
    const char *state;
    char *expect;
    size_t time_unit;
    size_t ttl_unit;
    size_t on_eof;
    size_t overflow;
    size_t emit;
    uint64_t lateness;
    uint64_t max_keys;
    uint64_t max_lines;
    uint64_t state_every;
    uint64_t stats; /* interval in ns; 0: only at the end */
    uint64_t max_wait;
    uint64_t burst;
    uint64_t queue;
    uint64_t max_duration;
    uint64_t max_events;
    bool json;
    bool strict;
    bool drop;
    bool repeat;
    bool exit_on_absent;
};

#define OPTION_OFFSET(field) offsetof(struct filter_options, field)

#define OPTION_TEXT(name_, value_, field, help_, accepts_)                     \
    .name = (name_), .value = (value_), .help = (help_),                       \
    .accepts = (accepts_), .parse = options_text,                              \
    .offset = OPTION_OFFSET(field)

#define OPTION_COUNT(name_, field, help_, min_)                                \
    .name = (name_), .value = "N", .help = (help_),                            \
    .accepts = "a count from " #min_ " on, such as 10, 250k or 1M",            \
    .parse = options_count, .min = (min_), .max = UINT64_MAX - 1,              \
    .offset = OPTION_OFFSET(field)

#define OPTION_DURATION(name_, field, help_)                                   \
    .name = (name_), .value = "D", .help = (help_),                            \
    .accepts = "a duration from 1ns to 104166d, such as 250ms, 5s or 1h30m",   \
    .parse = options_seconds, .min = 1, .max = OPTION_DURATION_MAX,            \
    .offset = OPTION_OFFSET(field)

#define OPTION_WORD(name_, value_, field, help_, words_)                       \
    .name = (name_), .value = (value_), .help = (help_),                       \
    .parse = options_word, .words = (words_), .offset = OPTION_OFFSET(field)

#define OPTION_FLAG(name_, field, help_)                                       \
    .name = (name_), .help = (help_), .parse = options_flag,                   \
    .offset = OPTION_OFFSET(field)

#define OPTION_DURATION_MAX UINT64_C(9000000000000000000) /* 285 years */

#define OPTION_KEY                                                             \
    {                                                                          \
        OPTION_TEXT("key", "KEY", key,                                         \
                    "key of a line: column (2), JSON path (.user.id) or "      \
                    "regex (/id=(\\w+)/)",                                     \
                    "a column, a JSON path or a /regex/"),                     \
            .letter = 'k'                                                      \
    }
#define OPTION_MAX_KEYS                                                        \
    {                                                                          \
        OPTION_COUNT("max-keys", max_keys,                                     \
                     "track at most N keys; see --overflow", 1)                \
    }
#define OPTION_MAX_LINES                                                       \
    {                                                                          \
        OPTION_COUNT("max-lines", max_lines,                                   \
                     "hold at most N lines; see --overflow", 1)                \
    }
#define OPTION_END                                                             \
    {                                                                          \
        .name = NULL                                                           \
    }

extern const struct options_spec filter_options_common[];

/* The members of a struct options_verb that all filters have. */
#define OPTION_FILTER_VERB(filter_, specs_, operands_)                         \
    .specs = (specs_), .common = filter_options_common,                        \
    .operands = (operands_), .operands_offset = OPTION_OFFSET(operands),       \
    .run = filter_main, .own = &(filter_)

/* Sets all options to "not given". */
void filter_options_init(struct filter_options *options);

/* Checks the combination of the common options, and configures the filter.
 * Returns false after printing a usage error. */
bool filter_options_apply(struct filter *filter);

/* Removes and returns the first operand. Returns NULL if there is none. */
const char *filter_options_take_operand(struct filter *filter);

/* Removes the first operand and parses it as a duration of at least min.
 * Returns false after printing a usage error. */
bool filter_options_take_duration(struct filter *filter, uint64_t min,
                                  uint64_t *ns);

#endif
