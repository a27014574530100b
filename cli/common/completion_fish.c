/* completion_fish.c - the script for fish.
 *
 * One line for each option of each verb, under the condition that the verb was
 * typed.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>

static const char script_begin[] =
    "# fish completion of {command}(1), made by: {made_by} fish\n\n"
    "# Succeeds if the words before the cursor are exactly $argv[1].\n"
    "function __{stem}_after\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2..-1]\" = \"$argv[1]\"\n"
    "end\n\n"
    "# Succeeds if they begin with the verb.\n"
    "function __{stem}_in\n"
    "    set -l words (commandline -opc)\n"
    "    string match -q -- \"$argv[1] *\" \"$words[2..-1] \"\n"
    "end\n\n"
    "# Succeeds if the next word is an operand of the verb that is a file: "
    "from\n"
    "# number $argv[2] to $argv[3]. The other arguments are options with a "
    "value.\n"
    "function __{stem}_file\n"
    "    __{stem}_in $argv[1]; or return\n"
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
    "end\n\n"
    "# Completes the words after the verb with the program $argv[1] that runs "
    "it.\n"
    "function __{stem}_program\n"
    "    set -l words (commandline -opc)\n"
    "    complete -C (string join -- ' ' $argv[1] \\\n        (string escape "
    "-- $words[3..-1]) (commandline -ct))\n"
    "end\n\n"
    "complete -c {command} -f\n";

/* Prints the condition under which the verb's words are suggested. */
static void
put_condition(const struct completion_program *program, const char *function,
              const struct options_verb *verb)
{
    printf("complete -c %s", program->command);
    if (verb != program->root) {
        printf(" -n '__%s_%s \"%s\"'", program->stem, function, verb->name);
    }
}

static void
put_description(const char *text)
{
    fputs(" -d '", stdout);
    completion_put_quoted(text, "\\", "\\'");
    fputs("'\n", stdout);
}

/* Suggests the verb after the given words. */
static void
put_word(const struct completion_program *program, const char *after,
         const struct options_verb *verb)
{
    printf("complete -c %s -n '__%s_after \"%s\"' -a %s", program->command,
           program->stem, after, verbs_word(verb));
    put_description(verb->summary);
}

static void
put_option(const struct completion_program *program,
           const struct options_verb *verb, const struct options_spec *spec)
{
    put_condition(program, verb->verbs != NULL ? "after" : "in", verb);
    if (spec->letter != '\0') {
        printf(" -s %c", spec->letter);
    }
    printf(" -l %s", spec->name);
    if (completion_is_file(spec)) {
        fputs(" -r -F", stdout);
    } else if (spec->value != NULL && spec->implied == NULL) {
        fputs(" -x", stdout);
    }
    if (spec->words != NULL) {
        fputs(" -a '", stdout);
        completion_put_words(spec->words);
        putchar('\'');
    }
    put_description(spec->help);
}

static void
put_files(const struct completion_program *program,
          const struct options_verb *verb)
{
    struct completion_files files = completion_find_files(verb);
    if (files.first == 0) {
        return;
    }
    printf("complete -c %s -n '__%s_file \"%s\" %zu %zu", program->command,
           program->stem, verb->name, files.first,
           files.last == SIZE_MAX ? (size_t)99999 : files.last);
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (s->value == NULL || s->implied != NULL) {
            continue;
        }
        if (s->letter != '\0') {
            printf(" -%c", s->letter);
        }
        printf(" --%s", s->name);
    }
    fputs("' -F\n", stdout);
}

static void
put_verb(const struct completion_program *program,
         const struct options_verb *verb)
{
    static const struct options_spec help = {.name = "help",
                                             .help = "print help and exit"};
    putchar('\n');
    if (verb->program != NULL) {
        put_condition(program, "in", verb);
        printf(" -a '(__%s_program %s)'\n", program->stem, verb->program);
        return;
    }
    for (size_t i = 0; verb->verbs != NULL && verb->verbs[i] != NULL; i++) {
        put_word(program, verb->name, verb->verbs[i]);
    }
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        put_option(program, verb, s);
    }
    put_option(program, verb, &help);
    put_files(program, verb);
}

void
completion_write_fish(const struct completion_program *program)
{
    const struct options_verb *const *verbs = program->root->verbs;
    completion_put_script(program, script_begin);
    for (size_t i = 0; verbs != NULL && verbs[i] != NULL; i++) {
        put_word(program, "", verbs[i]);
    }
    if (verbs != NULL) {
        completion_put_script(
            program, "complete -c {command} -n '__{stem}_after \"\"' -l help"
                     " -d 'print help and exit'\n"
                     "complete -c {command} -n '__{stem}_after \"\"' -l "
                     "version -d 'print the version and exit'\n");
    }
    completion_each(program, put_verb);
}
