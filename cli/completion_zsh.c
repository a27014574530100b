/* completion_zsh.c - the function of "lawn completion zsh".
 *
 * A function for each verb, which hands its table to _arguments in that
 * function's own words; a verb with verbs calls theirs.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define COMPLETION_ZSH_QUOTE "'\\''"

/* "_lawn_trace_stats" of "trace stats". */
static void
completion_zsh_function(const char *name)
{
    fputs("\n_lawn_", stdout);
    for (; *name != '\0'; name++)
        putchar(*name == ' ' ? '_' : *name);
    fputs("()\n{\n", stdout);
}

/* One way to type an option, such as "-k+" or "--key=". */
static void
completion_zsh_option(const struct options_spec *spec, const char *typed,
                      const char *joint)
{
    fputs(" \\\n        '", stdout);
    if (spec->letter != '\0')
        printf("(-%c --%s)", spec->letter, spec->name);
    printf("%s%s[", typed, joint);
    completion_put_quoted(spec->help, "[]\\:", COMPLETION_ZSH_QUOTE);
    putchar(']');
    if (spec->value != NULL) {
        fputs(spec->implied != NULL ? "::" : ":", stdout);
        completion_put_quoted(spec->value, ":\\", COMPLETION_ZSH_QUOTE);
        putchar(':');
    }
    if (spec->words != NULL) {
        putchar('(');
        completion_put_words(spec->words);
        putchar(')');
    } else if (spec->value != NULL) {
        fputs(completion_is_file(spec) ? "_files" : " ", stdout);
    }
    putchar('\'');
}

static void
completion_zsh_spec(const struct options_spec *spec)
{
    char typed[80];
    bool implied = spec->implied != NULL;
    if (spec->letter != '\0') {
        snprintf(typed, sizeof typed, "-%c", spec->letter);
        completion_zsh_option(spec, typed,
                              spec->value == NULL ? ""
                              : implied           ? "-"
                                                  : "+");
    }
    snprintf(typed, sizeof typed, "--%s", spec->name);
    completion_zsh_option(spec, typed,
                          spec->value == NULL ? ""
                          : implied           ? "=-"
                                              : "=");
}

/* What may stand where an operand does: nothing to offer, or files. */
static void
completion_zsh_operands(const struct options_verb *verb)
{
    struct completion_files files = completion_files(verb);
    struct completion_operand operand;
    const char *rest = verb->operands != NULL ? verb->operands : "";
    for (size_t i = 1; (rest = completion_operand(rest, &operand)) != NULL;
         i++) {
        bool file = files.first > 0 && i >= files.first && i <= files.last;
        if (operand.repeated)
            fputs(" \\\n        '*:", stdout);
        else
            printf(" \\\n        '%zu:", i);
        printf("%.*s:%s'", (int)operand.length, operand.name,
               file ? "_files" : " ");
    }
}

static void
completion_zsh_verb_line(const struct options_verb *verb)
{
    printf("        '%s:", verbs_word(verb));
    completion_put_quoted(verb->summary, ":\\", COMPLETION_ZSH_QUOTE);
    fputs("'\n", stdout);
}

/* The rest of a function that calls others, whose names begin with prefix; the
 * array verbs is there. */
static void
completion_zsh_choose(const char *options, const char *prefix)
{
    printf("    local curcontext=$curcontext context state state_descr line\n"
           "    local -A opt_args\n"
           "    local ret=1\n"
           "    _arguments -C %s'1: :->verb' '*:: :->rest' && ret=0\n"
           "    case $state in\n"
           "    verb) _describe -t verbs verb verbs && ret=0 ;;\n"
           "    rest) (( $+functions[%s_$line[1]] )) && %s_$line[1] && "
           "ret=0 ;;\n"
           "    esac\n"
           "    return ret\n"
           "}\n",
           options, prefix, prefix);
}

static void
completion_zsh_verb(const struct options_verb *verb)
{
    static const struct options_spec help = {.name = "help",
                                             .help = "print help and exit"};
    const struct options_spec *s;
    completion_zsh_function(verb->name);
    if (verb->verbs != NULL) {
        char prefix[80];
        fputs("    local -a verbs=(\n", stdout);
        for (size_t i = 0; verb->verbs[i] != NULL; i++)
            completion_zsh_verb_line(verb->verbs[i]);
        fputs("    )\n", stdout);
        snprintf(prefix, sizeof prefix, "_lawn_%s", verb->name);
        completion_zsh_choose("'--help[print help and exit]' ", prefix);
        return;
    }
    fputs("    _arguments -S", stdout);
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++)
        completion_zsh_spec(s);
    completion_zsh_spec(&help);
    completion_zsh_operands(verb);
    fputs("\n}\n", stdout);
}

void
completion_zsh(void)
{
    const struct options_verb *verb;
    fputs("#compdef lawn\n"
          "# zsh completion of lawn(1), made by: lawn completion zsh\n",
          stdout);
    completion_each(completion_zsh_verb);
    fputs("\n_lawn()\n{\n    local -a verbs=(\n", stdout);
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++)
        completion_zsh_verb_line(verb);
    fputs("    )\n", stdout);
    completion_zsh_choose("'(* -)--help[print help and exit]' "
                          "'(* -)--version[print the version and exit]' ",
                          "_lawn");
    fputs("\n"
          "if [[ $funcstack[1] == _lawn ]]; then\n"
          "    _lawn \"$@\"\n"
          "else\n"
          "    compdef _lawn lawn\n"
          "fi\n",
          stdout);
}
