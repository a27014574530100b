/* main.c - lawn(1): finds the verb and runs it.
 *
 * Every verb's output goes through stdout; whether all of it was written is
 * checked here, once, for all of them.
 */
#include "output.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define MAIN_VERSION "0.1.0"

#define MAIN_COLUMN 21 /* where summaries begin */

/* "absent DURATION": the verb, and what must follow it first. */
static void
main_put_verb(const struct options_verb *verb, FILE *out)
{
    char name[40];
    const char *first = verb->operands != NULL ? verb->operands : "[";
    int length = *first == '[' ? 0 : (int)strcspn(first, " ");
    snprintf(name, sizeof name, "%s%s%.*s", verb->name, length > 0 ? " " : "",
             length, first);
    options_put_entry(name, verb->summary, MAIN_COLUMN, out);
}

static void
main_help(FILE *out)
{
    fputs("usage: lawn VERB [OPTION]...\n\n"
          "Millions of timers, each started and stopped in constant time.\n",
          out);
    for (const struct verbs_group *g = verbs_groups; g->title != NULL; g++) {
        fprintf(out, "\n%s:\n", g->title);
        for (size_t i = 0; g->verbs[i] != NULL; i++)
            main_put_verb(g->verbs[i], out);
    }
    fputs("\noptions:\n", out);
    options_put_entry("--help",
                      "print this, or with a verb its options, and exit",
                      MAIN_COLUMN, out);
    options_put_entry("--version", "print the version and exit", MAIN_COLUMN,
                      out);
    options_put_examples(verbs_at(0)->example, out);
}

static int
main_unknown(const char *word)
{
    fprintf(stderr, "lawn: unknown %s '%s'\n",
            word[0] == '-' ? "option" : "verb", word);
    const struct options_verb *verb;
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++) {
        if (options_resembles(word, verb->name))
            fprintf(stderr, "did you mean %s?\n", verb->name);
    }
    fputs("see 'lawn --help'\n", stderr);
    return VERBS_USAGE;
}

static int
main_dispatch(int argc, char **argv)
{
    if (argc < 2) {
        main_help(stderr);
        return VERBS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        main_help(stdout);
        return VERBS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("lawn " MAIN_VERSION);
        return VERBS_OK;
    }
    const struct options_verb *verb;
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++) {
        if (strcmp(argv[1], verb->name) == 0)
            return verb->run(argc - 1, argv + 1);
    }
    return main_unknown(argv[1]);
}

int
main(int argc, char **argv)
{
    output_open();
    int code = main_dispatch(argc, argv);
    return output_close() ? code : VERBS_OUTPUT;
}
