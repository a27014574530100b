/* verbs.c - a verb that has verbs of its own, such as "lawn trace stats". */
#include "verbs.h"

#include <string.h>

/* The second word of "trace stats". */
static const char *
verbs_word(const struct options_verb *verb)
{
    const char *blank = strrchr(verb->name, ' ');
    return blank != NULL ? blank + 1 : verb->name;
}

static void
verbs_help(const struct options_verb *verb, FILE *out)
{
    fprintf(out, "usage: lawn %s VERB [OPTION]...\n\n%s\nverbs:\n", verb->name,
            verb->details);
    for (size_t i = 0; verb->verbs[i] != NULL; i++)
        fprintf(out, "  %-14s  %s\n", verbs_word(verb->verbs[i]),
                verb->verbs[i]->summary);
    fprintf(out,
            "\noptions:\n"
            "  %-14s  print this, or with a verb its options, and exit\n"
            "\nexample:\n  %s\n",
            "--help", verb->example);
}

static int
verbs_unknown(const struct options_verb *verb, const char *word)
{
    fprintf(stderr, "lawn %s: unknown %s '%s'; there is", verb->name,
            word[0] == '-' ? "option" : "verb", word);
    for (size_t i = 0; verb->verbs[i] != NULL; i++)
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", verbs_word(verb->verbs[i]));
    putc('\n', stderr);
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        if (options_resembles(word, verbs_word(verb->verbs[i])))
            fprintf(stderr, "did you mean %s?\n", verbs_word(verb->verbs[i]));
    }
    fprintf(stderr, "see 'lawn %s --help'\n", verb->name);
    return VERBS_USAGE;
}

int
verbs_dispatch(const struct options_verb *verb, int argc, char **argv)
{
    if (argc < 2) {
        verbs_help(verb, stderr);
        return VERBS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        verbs_help(verb, stdout);
        return VERBS_OK;
    }
    for (size_t i = 0; verb->verbs[i] != NULL; i++) {
        if (strcmp(argv[1], verbs_word(verb->verbs[i])) == 0)
            return verb->verbs[i]->run(argc - 1, argv + 1);
    }
    return verbs_unknown(verb, argv[1]);
}
