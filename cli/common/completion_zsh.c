/* completion_zsh.c - the function for zsh.
 *
 * One function for each verb, which passes its options to _arguments; a verb
 * with verbs calls their functions. zsh finds the function of a program by its
 * name: the command with an underscore before it.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define ZSH_QUOTE "'\\''"

/* Begins the function "_lawn_trace_stats" of "trace stats". The root's function
 * is named after the command: "_lawn-bench". */
static void
begin_function(const struct completion_program *program,
               const struct options_verb *verb)
{
    if (verb == program->root) {
        printf("\n_%s", program->command);
    } else {
        printf("\n_%s_", program->stem);
        for (const char *c = verb->name; *c != '\0'; c++) {
            putchar(*c == ' ' ? '_' : *c);
        }
    }
    fputs("()\n{\n", stdout);
}

/* Prints one way to type an option: "-k+" or "--key=". */
static void
put_typed(const struct options_spec *spec, const char *typed, const char *joint)
{
    fputs(" \\\n        '", stdout);
    if (spec->letter != '\0') {
        printf("(-%c --%s)", spec->letter, spec->name);
    }
    printf("%s%s[", typed, joint);
    completion_put_quoted(spec->help, "[]\\:", ZSH_QUOTE);
    putchar(']');
    if (spec->value != NULL) {
        fputs(spec->implied != NULL ? "::" : ":", stdout);
        completion_put_quoted(spec->value, ":\\", ZSH_QUOTE);
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
put_option(const struct options_spec *spec)
{
    char typed[80];
    bool implied = spec->implied != NULL;
    if (spec->letter != '\0') {
        snprintf(typed, sizeof(typed), "-%c", spec->letter);
        put_typed(spec, typed, spec->value == NULL ? "" : implied ? "-" : "+");
    }
    snprintf(typed, sizeof(typed), "--%s", spec->name);
    put_typed(spec, typed, spec->value == NULL ? "" : implied ? "=-" : "=");
}

/* Prints the suggestions for operands: files or nothing. */
static void
put_operands(const struct options_verb *verb)
{
    struct completion_files files = completion_find_files(verb);
    struct completion_operand operand;
    const char *rest = verb->operands != NULL ? verb->operands : "";
    for (size_t i = 1; (rest = completion_read_operand(rest, &operand)) != NULL;
         i++) {
        bool file = files.first > 0 && i >= files.first && i <= files.last;
        if (operand.repeated) {
            fputs(" \\\n        '*:", stdout);
        } else {
            printf(" \\\n        '%zu:", i);
        }
        printf("%.*s:%s'", (int)operand.length, operand.name,
               file ? "_files" : " ");
    }
}

static void
put_word(const struct options_verb *verb)
{
    printf("        '%s:", verbs_word(verb));
    completion_put_quoted(verb->summary, ":\\", ZSH_QUOTE);
    fputs("'\n", stdout);
}

/* Prints the rest of a function that calls others, whose names begin with
 * prefix. The caller has printed the array `verbs`. */
static void
put_choice(const char *options, const char *prefix)
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
put_words(const struct options_verb *const *verbs)
{
    fputs("    local -a verbs=(\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        put_word(verbs[i]);
    }
    fputs("    )\n", stdout);
}

static void
put_verb(const struct completion_program *program,
         const struct options_verb *verb)
{
    static const struct options_spec help = {.name = "help",
                                             .help = "print help and exit"};
    begin_function(program, verb);
    if (verb->program != NULL) {
        printf("    (( $+_comps[%s] )) && words[1]=%s && $_comps[%s]\n}\n",
               verb->program, verb->program, verb->program);
        return;
    }
    if (verb->verbs != NULL) {
        put_words(verb->verbs);
        char prefix[80];
        snprintf(prefix, sizeof(prefix), "_%s_%s", program->stem, verb->name);
        put_choice("'--help[print help and exit]' ", prefix);
        return;
    }
    fputs("    _arguments -S", stdout);
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        put_option(s);
    }
    put_option(&help);
    put_operands(verb);
    fputs("\n}\n", stdout);
}

/* Prints the function that selects among the program's verbs. */
static void
put_root(const struct completion_program *program)
{
    begin_function(program, program->root);
    put_words(program->root->verbs);
    char prefix[80];
    snprintf(prefix, sizeof(prefix), "_%s", program->stem);
    put_choice("'(* -)--help[print help and exit]' "
               "'(* -)--version[print the version and exit]' ",
               prefix);
}

void
completion_write_zsh(const struct completion_program *program)
{
    completion_put_script(
        program, "#compdef {command}\n"
                 "# zsh completion of {command}(1), made by: {made_by} zsh\n");
    completion_each(program, put_verb);
    if (program->root->verbs != NULL) {
        put_root(program);
    }
    completion_put_script(program,
                          "\n"
                          "if [[ $funcstack[1] == _{command} ]]; then\n"
                          "    _{command} \"$@\"\n"
                          "else\n"
                          "    compdef _{command} {command}\n"
                          "fi\n");
}
