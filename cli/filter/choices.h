/* choices.h - the options of the filters, and what they may not be together.
 *
 * A verb's own table begins with those of these that it takes; the others stand
 * in choices_common, which all have.
 */
#ifndef LAWN_CLI_CHOICES_H
#define LAWN_CLI_CHOICES_H

#include "filter.h"

#include <limits.h>
#include <stddef.h>

#define CHOICES_AT(field) offsetof(struct filter_options, field)

#define CHOICES_TEXT(name_, value_, field, help_, accepts_)                    \
    .name = (name_), .value = (value_), .help = (help_),                       \
    .accepts = (accepts_), .parse = options_text, .offset = CHOICES_AT(field)

#define CHOICES_COUNT(name_, field, help_, min_)                               \
    .name = (name_), .value = "N", .help = (help_),                            \
    .accepts = "a count from " #min_ " on, such as 10, 250k or 1M",            \
    .parse = options_count, .min = (min_), .max = UINT64_MAX - 1,              \
    .offset = CHOICES_AT(field)

#define CHOICES_DURATION(name_, field, help_)                                  \
    .name = (name_), .value = "D", .help = (help_),                            \
    .accepts = "a duration, such as 250ms, 5s or 1h30m",                       \
    .parse = options_seconds, .min = 1, .max = CHOICES_DURATION_MAX,           \
    .offset = CHOICES_AT(field)

#define CHOICES_WORD(name_, value_, field, help_, words_)                      \
    .name = (name_), .value = (value_), .help = (help_),                       \
    .parse = options_word, .words = (words_), .offset = CHOICES_AT(field)

#define CHOICES_FLAG(name_, field, help_)                                      \
    .name = (name_), .help = (help_), .parse = options_flag,                   \
    .offset = CHOICES_AT(field)

#define CHOICES_DURATION_MAX UINT64_C(9000000000000000000) /* 285 years */

#define CHOICES_KEY                                                            \
    {                                                                          \
        CHOICES_TEXT("key", "KEY", key,                                        \
                     "what lines belong together: column 2, JSON path "        \
                     ".user.id, or regex /id=(\\w+)/",                         \
                     "a column, a JSON path or a /regex/"),                    \
            .letter = 'k'                                                      \
    }
#define CHOICES_MAX_KEYS                                                       \
    {                                                                          \
        CHOICES_COUNT("max-keys", max_keys,                                    \
                      "know at most N keys; see --overflow", 1)                \
    }
#define CHOICES_MAX_LINES                                                      \
    {                                                                          \
        CHOICES_COUNT("max-lines", max_lines,                                  \
                      "hold at most N lines; see --overflow", 1)               \
    }
#define CHOICES_END                                                            \
    {                                                                          \
        .name = NULL                                                           \
    }

extern const struct options_spec choices_common[];

/* What makes a struct options_verb that of a filter. */
#define CHOICES_FILTER(filter_, specs_, operands_)                             \
    .specs = (specs_), .common = choices_common, .operands = (operands_),      \
    .operands_offset = CHOICES_AT(operands), .run = filter_main,               \
    .own = &(filter_)

/* Nothing given. */
void choices_init(struct filter_options *options);

/* Whether the common options make sense together, and into the filter with
 * them. False: it was told why not. */
bool choices_apply(struct filter *filter);

/* Takes the next operand off; NULL: there is none. Or as a duration of at least
 * min; false: it is none, which was told. */
const char *choices_operand(struct filter *filter);
bool choices_duration(struct filter *filter, uint64_t min, uint64_t *ns);

#endif
