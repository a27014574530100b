/* verbs.c - a verb that has verbs of its own, such as "lawn trace stats". */
#include "verbs.h"

#include <string.h>

#define VERBS_COLUMN 18 /* column of the summaries */

const char *
verbs_word(const struct options_verb *verb)
{
    const char *blank = strrchr(verb->name, ' ');
    return blank != NULL ? blank + 1 : verb->name;
}

static void
print_help(const struct options_verb *verb, FILE *out)
{
    fprintf(out, "usage: lawn %s VERB [OPTION]...\n\n%s\nverbs:\n", verb->name,
            verb->details);
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        options_put_entry(verbs_word(verb->verbs[i]), verb->verbs[i]->summary,
                          VERBS_COLUMN, out);
    }
    fputs("\noptions:\n", out);
    options_put_entry("--help", "print this help, or that of a verb, and exit",
                      VERBS_COLUMN, out);
    options_put_examples(verb->example, out);
}

static int
refuse_unknown(const struct options_verb *verb, const char *word)
{
    fprintf(stderr, "lawn %s: unknown %s '%s'; verbs are", verb->name,
            word[0] == '-' ? "option" : "verb", word);
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", verbs_word(verb->verbs[i]));
    }
    putc('\n', stderr);
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        if (options_resembles(word, verbs_word(verb->verbs[i]))) {
            fprintf(stderr, "did you mean %s?\n", verbs_word(verb->verbs[i]));
        }
    }
    fprintf(stderr, "see 'lawn %s --help'\n", verb->name);
    return VERBS_USAGE;
}

int
verbs_dispatch(const struct options_verb *verb, int argc, char **argv)
{
    if (argc < 2) {
        print_help(verb, stderr);
        return VERBS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(verb, stdout);
        return VERBS_OK;
    }
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        if (strcmp(argv[1], verbs_word(verb->verbs[i])) == 0) {
            return verb->verbs[i]->run(verb->verbs[i], argc - 1, argv + 1);
        }
    }
    return refuse_unknown(verb, argv[1]);
}
