/* options.h - one option table per verb, used for parsing, help and completion.
 *
 * A verb lists its options once, as an array of struct options_spec. Parsing,
 * defaults, error messages and --help use that array, so they cannot disagree.
 */
#ifndef LAWN_CLI_OPTIONS_H
#define LAWN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct options_spec;

/* Parses text into *out, whose type depends on the parser. Returns false if the
 * text is not acceptable; *out may have changed. */
typedef bool options_parse_fn(const struct options_spec *spec, const char *text,
                              void *out);

/* An option "--name VALUE". A flag has neither value nor initial. The result is
 * stored at the byte offset in the verb's struct of values. */
struct options_spec {
    const char *name;    /* without the dashes; NULL ends the table */
    const char *value;   /* the name of the value in the help; NULL: a flag */
    const char *initial; /* the default, in the user's syntax */
    const char *help;
    const char *accepts; /* completes "'x' is not ..." */
    options_parse_fn *parse;
    uint64_t min;
    uint64_t max;
    size_t offset;
    const char *const *words; /* the words that options_word() accepts, NULL
                                 after the last; messages list them instead
                                 of accepts */
    char letter;              /* also "-k VALUE" or "-kVALUE"; 0: none */
    const char *implied;      /* used if no value is given; a given value
                                 follows an equals sign; NULL: a value is
                                 required */
};

/* The arguments that are not options, in their order. Includes "-" and all
 * words after "--". */
struct options_operands {
    size_t count;
    char **words;
};

struct options_verb;

/* Runs a verb whose name is argv[0]. Returns an exit code. */
typedef int options_run_fn(const struct options_verb *verb, int argc,
                           char **argv);

/* A verb can have verbs. Their names include its name: "trace stats". A program
 * with verbs is also a verb, with an empty name. */
struct options_verb {
    const char *name;
    const char *summary; /* one line of "lawn --help" */
    const char *details; /* paragraphs of "lawn VERB --help" */
    const char *example;
    const struct options_spec *specs;
    const struct options_spec *common; /* options shared with other verbs;
                                          may be NULL */
    const char *operands;   /* names in the help; NULL: there are none */
    size_t operands_offset; /* where to store a struct options_operands */
    /* its verbs, NULL after the last, instead of options */
    const struct options_verb *const *verbs;
    const char *program; /* the program that runs the verb and has its
                            options: "lawn-bench"; NULL: this one */
    bool standalone;     /* this program is the verb: "lawn-bench" */
    options_run_fn *run;
    const void *own; /* further data for run(); may be NULL */
};

/* Fills values with the defaults and then from argv. Moves the operands to the
 * front of argv. Returns false if the verb must not run: help or an error
 * message has been printed, and *exit_code is the exit code. */
bool options_read(const struct options_verb *verb, int argc, char **argv,
                  void *values, int *exit_code);

/* Returns option i of the verb: its own options, then the common ones; NULL
 * after the last. */
const struct options_spec *options_at(const struct options_verb *verb,
                                      size_t i);

void options_help(const struct options_verb *verb, FILE *out);

/* Returns the part of the command before the verb's name: "lawn ", or "lawn-"
 * if the verb is standalone. */
const char *options_prefix(const struct options_verb *verb);

/* Print parts of a help text that does not describe a verb. The text of an
 * entry is wrapped and begins at `column`, which must be greater than 2.
 * Examples are lines of a shell script. */
void options_put_entry(const char *name, const char *text, size_t column,
                       FILE *out);
void options_put_examples(const char *example, FILE *out);

/* Returns whether `word` may be a misspelling of `name`: at most two letters
 * inserted, omitted or replaced; one if the first letter differs and `name` has
 * up to four letters. The changes are fewer than the letters of `name`. */
bool options_resembles(const char *word, const char *name);

/* Parsers. The value must be from min to max. A number that is not given and
 * has no default is UINT64_MAX. */
options_parse_fn options_flag;    /* bool */
options_parse_fn options_number;  /* uint64_t: 42 */
options_parse_fn options_count;   /* uint64_t: 250k, 1M, 1e6, 1.5M */
options_parse_fn options_seconds; /* uint64_t of ns: 10, 0.5, 1m30s */
options_parse_fn options_word;    /* size_t: the index in words; SIZE_MAX if
                                     not given and without a default */
options_parse_fn options_text;    /* const char *, not empty; NULL if not
                                     given */

/* Parses a duration such as 250ms, 1.5s or 1h30m at *text, and advances *text
 * to its end. Returns false if there is no duration, or if it is not a whole
 * number of nanoseconds below 2^64. */
bool options_duration(const char **text, uint64_t *ns);

#endif
