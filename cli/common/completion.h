/* completion.h - generates shell completion scripts from the option tables. */
#ifndef LAWN_CLI_COMPLETION_H
#define LAWN_CLI_COMPLETION_H

#include "options.h"

/* A command and its verbs. */
struct completion_program {
    const char *command; /* "lawn-bench" */
    const char *stem;    /* prefix of names in the scripts: "lawn_bench" */
    /* The command that prints the script, without the shell's name:
     * "lawn-bench --completion". */
    const char *made_by;
    /* The command itself. If it has verbs, `verbs` lists them and the name is
     * empty. Otherwise it has the command's options. */
    const struct options_verb *root;
};

/* The kinds of scripts: bash, zsh, fish, and table (one line per option, for
 * other tools). NULL after the last. */
extern const char *const completion_kinds[];

/* Prints the script of a kind, given by its index in completion_kinds.
 * O(options). */
void completion_write(const struct completion_program *program, size_t kind);

/* Calls each() for all verbs of the program, subverbs after their verb; or for
 * the root if it has no verbs. */
typedef void completion_each_fn(const struct completion_program *program,
                                const struct options_verb *verb);
void completion_each(const struct completion_program *program,
                     completion_each_fn *each);

/* An operand as the help shows it: "[FILE]...". */
struct completion_operand {
    const char *name; /* without brackets and dots */
    size_t length;
    bool optional;
    bool repeated;
};
/* Reads one operand. Returns where the next one begins, or NULL if there was
 * none. */
const char *completion_read_operand(const char *operands,
                                    struct completion_operand *operand);

/* The operands of a verb that are files: numbers first to last, counted from 1;
 * none if first is 0. */
struct completion_files {
    size_t first;
    size_t last; /* SIZE_MAX: any number */
};
struct completion_files completion_find_files(const struct options_verb *verb);

/* Returns whether an option's value is a file name. */
bool completion_is_file(const struct options_spec *spec);

/* Prints text that is within single quotes of a shell. Each byte in `special`
 * gets a backslash, and each single quote is replaced by `quote`, its escaped
 * form. */
void completion_put_quoted(const char *text, const char *special,
                           const char *quote);

/* Prints words separated by blanks. */
void completion_put_words(const char *const *words);

/* Prints a part of a script. Replaces {command}, {stem} and {made_by} by the
 * program's members, and {root} by the name of its root. */
void completion_put_script(const struct completion_program *program,
                           const char *script);

/* Each prints a whole script. */
void completion_write_bash(const struct completion_program *program);
void completion_write_zsh(const struct completion_program *program);
void completion_write_fish(const struct completion_program *program);

#endif
