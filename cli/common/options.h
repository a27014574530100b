/* options.h - one table of options per verb, and everything made from it.
 *
 * A verb lists its options once, as an array of struct options_spec. Parsing,
 * defaults, error messages and --help are read off that array, so they cannot
 * disagree.
 */
#ifndef LAWN_CLI_OPTIONS_H
#define LAWN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct options_spec;

/* Reads text into *out, whose type is the parser's own. False: the text is not
 * acceptable; *out may have changed. */
typedef bool options_parse_fn(const struct options_spec *spec, const char *text,
                              void *out);

/* An option "--name VALUE". A flag has neither value nor initial. The result
 * goes to the byte offset in the verb's struct of values. */
struct options_spec {
    const char *name;    /* without the dashes; NULL ends the table */
    const char *value;   /* what the help calls its value; NULL: a flag */
    const char *initial; /* the default, as a user would write it */
    const char *help;
    const char *accepts; /* completes "'x' is not ..." */
    options_parse_fn *parse;
    uint64_t min;
    uint64_t max;
    size_t offset;
    const char *const *words; /* what options_word() accepts; NULL ends them.
                                 They are named instead of accepts */
    char letter;              /* "-k VALUE" or "-kVALUE" as well; 0: none */
    const char *implied;      /* not NULL: the value may be left out and is this
                             then; given, it follows an equals sign */
};

/* What an argument vector holds besides options, in its order. A word after
 * "--" is one of them, and so is "-". */
struct options_operands {
    size_t count;
    char **words;
};

struct options_verb;

/* Runs a verb, whose word is argv[0]; an exit code. */
typedef int options_run_fn(const struct options_verb *verb, int argc,
                           char **argv);

/* A verb of a verb has both names: "trace stats". A program with verbs is such a
 * verb as well, whose name is empty. */
struct options_verb {
    const char *name;
    const char *summary; /* one line of "lawn --help" */
    const char *details; /* paragraphs of "lawn VERB --help" */
    const char *example;
    const struct options_spec *specs;
    const struct options_spec *common; /* further ones, which other verbs have
                                          as well; may be NULL */
    const char *operands;   /* what the help calls them; NULL: there are none */
    size_t operands_offset; /* where a struct options_operands gets them */
    const struct options_verb *const *verbs; /* its own, NULL after the last,
                                                instead of options */
    const char *program; /* another program that runs the verb and has its
                            options: "lawn-bench"; NULL: this one */
    options_run_fn *run;
    const void *own; /* what run() needs besides; may be NULL */
};

/* Fills values with the defaults and then from argv. True: go on. False: the
 * help or an error message has been printed; return *exit_code. The operands
 * are sorted to the front of argv. */
bool options_read(const struct options_verb *verb, int argc, char **argv,
                  void *values, int *exit_code);

/* The verb's options, its own and then the common ones; NULL after the last. */
const struct options_spec *options_at(const struct options_verb *verb,
                                      size_t i);

void options_help(const struct options_verb *verb, FILE *out);

/* Parts of a help, for one that is not of a verb. An entry's text begins at
 * column, which is beyond the second, and is broken into lines there. Examples
 * are lines of a shell script. */
void options_put_entry(const char *name, const char *text, size_t column,
                       FILE *out);
void options_put_examples(const char *example, FILE *out);

/* Whether a user who wrote word may have meant name: at most two letters
 * inserted, left out or mistaken; if the name has no more than four, two only
 * where the first is right, else one. Never as many as the name has. */
bool options_resembles(const char *word, const char *name);

/* Parsers. min <= value <= max is part of being acceptable. A number that is
 * not given and has no default is UINT64_MAX. */
options_parse_fn options_flag;    /* bool */
options_parse_fn options_number;  /* uint64_t: 42 */
options_parse_fn options_count;   /* uint64_t: 250k, 1M, 1e6, 1.5M */
options_parse_fn options_seconds; /* uint64_t of ns: 10, 0.5, 1m30s */
options_parse_fn options_word;    /* size_t: the place in words; SIZE_MAX if not
                                     given and without a default */
options_parse_fn options_text;    /* const char *, not empty; NULL likewise */

/* Reads a duration such as 250ms, 1.5s or 1h30m from *text on, up to what is
 * not part of it, and moves *text there. False: no duration, more than a
 * uint64_t of nanoseconds, or a fraction of one. */
bool options_duration(const char **text, uint64_t *ns);

#endif
