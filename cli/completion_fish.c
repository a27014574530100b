/* completion_fish.c - the script of "lawn completion fish".
 *
 * A line for each option of each verb, on the condition that the verb stands
 * there.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>

static const char completion_fish_begin[] =
    "# fish completion of lawn(1), made by: lawn completion fish\n"
    "\n"
    "# Whether the words before the cursor are those, and no more.\n"
    "function __lawn_after\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2..-1]\" = \"$argv[1]\"\n"
    "end\n"
    "\n"
    "# Whether they begin with the verb.\n"
    "function __lawn_in\n"
    "    set -l words (commandline -opc)\n"
    "    string match -q -- \"$argv[1] *\" \"$words[2..-1] \"\n"
    "end\n"
    "\n"
    "# Whether an operand of the verb, from the first to the last that are\n"
    "# files, is next; the rest are options that have a value.\n"
    "function __lawn_file\n"
    "    __lawn_in $argv[1]; or return\n"
    "    set -l words (commandline -opc)\n"
    "    set -l verb (string split ' ' -- $argv[1])\n"
    "    set -e words[1..(math 1 + (count $verb))]\n"
    "    set -l operand 1\n"
    "    set -l only\n"
    "    set -l value\n"
    "    for word in $words\n"
    "        if test -n \"$value\"\n"
    "            set value\n"
    "        else if test -n \"$only\"\n"
    "            set operand (math $operand + 1)\n"
    "        else if test \"$word\" = --\n"
    "            set only 1\n"
    "        else if contains -- $word $argv[4..-1]\n"
    "            set value 1\n"
    "        else if not string match -qr -- '^-.' $word\n"
    "            set operand (math $operand + 1)\n"
    "        end\n"
    "    end\n"
    "    test $operand -ge $argv[2] -a $operand -le $argv[3]\n"
    "end\n"
    "\n"
    "complete -c lawn -f\n";

static void
completion_fish_describe(const char *text)
{
    fputs(" -d '", stdout);
    completion_put_quoted(text, "\\", "\\'");
    fputs("'\n", stdout);
}

static void
completion_fish_verbs(const char *after, const struct options_verb *verb)
{
    printf("complete -c lawn -n '__lawn_after \"%s\"' -a %s", after,
           verbs_word(verb));
    completion_fish_describe(verb->summary);
}

static void
completion_fish_spec(const struct options_verb *verb,
                     const struct options_spec *spec)
{
    printf("complete -c lawn -n '__lawn_%s \"%s\"'",
           verb->verbs != NULL ? "after" : "in", verb->name);
    if (spec->letter != '\0')
        printf(" -s %c", spec->letter);
    printf(" -l %s", spec->name);
    if (completion_is_file(spec))
        fputs(" -r -F", stdout);
    else if (spec->value != NULL && spec->implied == NULL)
        fputs(" -x", stdout);
    if (spec->words != NULL) {
        fputs(" -a '", stdout);
        completion_put_words(spec->words);
        putchar('\'');
    }
    completion_fish_describe(spec->help);
}

static void
completion_fish_files(const struct options_verb *verb)
{
    const struct options_spec *s;
    struct completion_files files = completion_files(verb);
    if (files.first == 0)
        return;
    printf("complete -c lawn -n '__lawn_file \"%s\" %zu %zu", verb->name,
           files.first, files.last == SIZE_MAX ? (size_t)99999 : files.last);
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (s->value == NULL || s->implied != NULL)
            continue;
        if (s->letter != '\0')
            printf(" -%c", s->letter);
        printf(" --%s", s->name);
    }
    fputs("' -F\n", stdout);
}

static void
completion_fish_verb(const struct options_verb *verb)
{
    static const struct options_spec help = {.name = "help",
                                             .help = "print help and exit"};
    const struct options_spec *s;
    putchar('\n');
    for (size_t i = 0; verb->verbs != NULL && verb->verbs[i] != NULL; i++)
        completion_fish_verbs(verb->name, verb->verbs[i]);
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++)
        completion_fish_spec(verb, s);
    completion_fish_spec(verb, &help);
    completion_fish_files(verb);
}

void
completion_fish(void)
{
    const struct options_verb *verb;
    fputs(completion_fish_begin, stdout);
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++)
        completion_fish_verbs("", verb);
    fputs("complete -c lawn -n '__lawn_after \"\"' -l help"
          " -d 'print help and exit'\n"
          "complete -c lawn -n '__lawn_after \"\"' -l version"
          " -d 'print the version and exit'\n",
          stdout);
    completion_each(completion_fish_verb);
}
