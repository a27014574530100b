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

static const struct options_verb *const main_verbs[] = {
    &delay_verb,
    &debounce_verb,
    &throttle_verb,
    &dedupe_verb,
    &absent_verb,
    &session_verb,
    &join_verb,
    &demo_verb,
    &bench_verb,
    &trace_verb,
};
static const size_t main_verb_count = sizeof main_verbs / sizeof main_verbs[0];

static void
main_help(FILE *out)
{
    fputs("usage: lawn VERB [OPTION]...\n\n"
          "Millions of timers, each started and stopped in constant time.\n\n"
          "verbs:\n",
          out);
    for (size_t i = 0; i < main_verb_count; i++)
        fprintf(out, "  %-14s  %s\n", main_verbs[i]->name,
                main_verbs[i]->summary);
    fprintf(out,
            "\noptions:\n"
            "  %-14s  print this, or with a verb its options, and exit\n"
            "  %-14s  print the version and exit\n"
            "\nexample:\n  %s\n",
            "--help", "--version", main_verbs[0]->example);
}

static int
main_unknown(const char *word)
{
    fprintf(stderr, "lawn: unknown %s '%s'\n",
            word[0] == '-' ? "option" : "verb", word);
    for (size_t i = 0; i < main_verb_count; i++) {
        if (options_resembles(word, main_verbs[i]->name))
            fprintf(stderr, "did you mean %s?\n", main_verbs[i]->name);
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
    for (size_t i = 0; i < main_verb_count; i++) {
        if (strcmp(argv[1], main_verbs[i]->name) == 0)
            return main_verbs[i]->run(argc - 1, argv + 1);
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
