/* completion.h - scripts with which shells complete a program's words, made from
 * its tables of options. */
#ifndef LAWN_CLI_COMPLETION_H
#define LAWN_CLI_COMPLETION_H

#include "options.h"

/* A command and its words. */
struct completion_program {
    const char *command; /* "lawn-bench" */
    const char *stem;    /* how names in the scripts begin: "lawn_bench" */
    const char *made_by; /* what prints the script, but for the shell's name:
                            "lawn-bench --completion" */
    const struct options_verb *root; /* with verbs: its name is empty; without:
                                        its options are the command's */
};

/* The kinds of scripts: bash, zsh, fish; and table, a line for each option, for
 * other tools. NULL after the last. */
extern const char *const completion_kinds[];

/* Writes the script of a kind, given by its place in completion_kinds, to
 * standard output. O(options). */
void completion_write(const struct completion_program *program, size_t kind);

/* Calls each() for the verbs of the program, those of a verb after it; for the
 * root if that has none. */
typedef void completion_each_fn(const struct completion_program *program,
                                const struct options_verb *verb);
void completion_each(const struct completion_program *program,
                     completion_each_fn *each);

/* A word of what the help calls the operands: "[FILE]...". */
struct completion_operand {
    const char *name; /* without the rest */
    size_t length;
    bool optional;
    bool repeated;
};
/* Reads one operand; returns where the next begins, NULL if there was none. */
const char *completion_read_operand(const char *operands,
                                    struct completion_operand *operand);

/* Which operands of the verb are files: from the first to the last of these,
 * counted from 1; none if first is 0. */
struct completion_files {
    size_t first;
    size_t last; /* SIZE_MAX: there may be any number */
};
struct completion_files completion_find_files(const struct options_verb *verb);

/* Whether an option's value is the name of a file. */
bool completion_is_file(const struct options_spec *spec);

/* Prints text in quotes for a shell: each byte that is in special gets a
 * backslash, and a quote becomes what stands for one within quotes. */
void completion_put_quoted(const char *text, const char *special,
                           const char *quote);

/* Prints words with a blank between. */
void completion_put_words(const char *const *words);

/* Prints a part of a script; {command}, {stem} and {made_by} in it become the
 * program's, and {root} the name of its root. */
void completion_put_script(const struct completion_program *program,
                           const char *script);

/* Each writes a whole script. */
void completion_write_bash(const struct completion_program *program);
void completion_write_zsh(const struct completion_program *program);
void completion_write_fish(const struct completion_program *program);

#endif
