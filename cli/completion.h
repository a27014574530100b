/* completion.h - what the scripts for shells are made of.
 *
 * Each of the functions writes a whole script to standard output; O(options).
 */
#ifndef LAWN_CLI_COMPLETION_H
#define LAWN_CLI_COMPLETION_H

#include "options.h"

/* Calls each() for every verb there is, those of a verb after it. */
typedef void completion_each_fn(const struct options_verb *verb);
void completion_each(completion_each_fn *each);

/* A word of what the help calls the operands: "[FILE]...". */
struct completion_operand {
    const char *name; /* without the rest */
    size_t length;
    bool optional;
    bool repeated;
};
/* Reads one; where the next begins, or NULL: there was none. */
const char *completion_operand(const char *operands,
                               struct completion_operand *operand);

/* Which operands of the verb are files: from the first to the last of these,
 * counted from 1; none if first is 0. */
struct completion_files {
    size_t first;
    size_t last; /* SIZE_MAX: there may be any number */
};
struct completion_files completion_files(const struct options_verb *verb);

/* Whether an option's value is the name of a file. */
bool completion_is_file(const struct options_spec *spec);

/* Prints text in quotes for a shell: each byte that is in special gets a
 * backslash, and a quote becomes what stands for one within quotes. */
void completion_put_quoted(const char *text, const char *special,
                           const char *quote);

/* Prints words with a blank between. */
void completion_put_words(const char *const *words);

void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

#endif
