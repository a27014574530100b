/* completion_bash.c - the script for bash.
 *
 * Two functions are generated from the tables: the options of a verb, and the
 * values of an option. The third function is constant: it walks the words up to
 * the cursor as options_read() does. It requires bash 4 and no package. It also
 * handles --name=value where bash has split it into three words.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>

static const char script_begin[] =
    "# bash completion of {command}(1), made by: {made_by} bash\n\n"
    "# Sets the verbs and options of the verb $1, the options that take a "
    "value\n"
    "# in the next word, the operands that are files, and the program that "
    "runs\n"
    "# the verb, if it is another one.\n"
    "_{stem}_verb()\n"
    "{\n"
    "    verbs= options= valued= first=0 last=0 program=\n"
    "    case $1 in\n";

static const char script_middle[] =
    "    esac\n"
    "}\n\n"
    "# Sets the values that the option $2 of the verb $1 accepts.\n"
    "_{stem}_value()\n"
    "{\n"
    "    case \"$1 $2\" in\n";

static const char script_end[] =
    "    esac\n"
    "}\n\n"
    "# Completes the words from $1 on with the program that runs the verb.\n"
    "_{stem}_program()\n"
    "{\n"
    "    local function=_${program//-/_}\n"
    "    declare -F \"$function\" >/dev/null ||\n"
    "        source <(\"${COMP_WORDS[0]}\" $verb --completion bash "
    "2>/dev/null)\n"
    "    declare -F \"$function\" >/dev/null || return 0\n"
    "    COMP_WORDS=(\"$program\" \"${COMP_WORDS[@]:$1}\")\n"
    "    COMP_CWORD=$((COMP_CWORD - $1 + 1))\n"
    "    \"$function\"\n"
    "}\n\n"
    "_{stem}()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before= verb={root} option= "
    "only=\n"
    "    local verbs options valued first last program words= files=\n"
    "    local operand=1 i word\n"
    "    COMPREPLY=()\n"
    "    _{stem}_verb \"$verb\"\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]} option=\n"
    "        if [[ -n $verbs ]]; then\n"
    "            verb=\"${verb:+$verb }$word\"\n"
    "            _{stem}_verb \"$verb\"\n"
    "            if [[ -n $program ]]; then\n"
    "                _{stem}_program $((i + 1))\n"
    "                return\n"
    "            fi\n"
    "        elif [[ -n $only ]]; then\n"
    "            ((operand++))\n"
    "        elif [[ $word == -- ]]; then\n"
    "            only=1\n"
    "        elif [[ $word == --* && ${COMP_WORDS[i + 1]} == = ]]; then\n"
    "            option=$word\n"
    "            ((i += 2))\n"
    "        elif [[ \" $valued \" == *\" $word \"* ]]; then\n"
    "            option=$word\n"
    "            ((i += 1))\n"
    "        elif [[ $word != -?* ]]; then\n"
    "            ((operand++))\n"
    "        fi\n"
    "        ((i < COMP_CWORD)) && option=\n"
    "    done\n"
    "    if [[ -z $option && -z $only && $current == --*=* ]]; then\n"
    "        option=${current%%=*} before=${current%%=*}=\n"
    "        current=${current#*=}\n"
    "    elif [[ -n $option && $current == = ]]; then\n"
    "        current=\n"
    "    fi\n"
    "    if [[ -n $option ]]; then\n"
    "        _{stem}_value \"$verb\" \"$option\"\n"
    "    elif [[ -z $only && $current == -* ]]; then\n"
    "        words=$options\n"
    "    elif [[ -n $verbs ]]; then\n"
    "        words=$verbs\n"
    "    elif ((first > 0 && operand >= first && operand <= last)); then\n"
    "        files=1\n"
    "    fi\n"
    "    if [[ -n $files ]]; then\n"
    "        compopt -o default\n"
    "    else\n"
    "        COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- "
    "\"$current\"))\n"
    "    fi\n"
    "}\n"
    "complete -F _{stem} {command}\n";

/* Prints the verb's options, with dashes. If valued is true, prints only those
 * that have their value in the next word. */
static void
put_options(const struct options_verb *verb, bool valued)
{
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (valued && (s->value == NULL || s->implied != NULL)) {
            continue;
        }
        if (s->letter != '\0') {
            printf("-%c ", s->letter);
        }
        printf("--%s ", s->name);
    }
}

static void
put_verb(const struct completion_program *program,
         const struct options_verb *verb)
{
    (void)program;
    struct completion_files files = completion_find_files(verb);
    printf("    '%s')\n        options='", verb->name);
    put_options(verb, false);
    fputs("--help'\n        valued='", stdout);
    put_options(verb, true);
    fputs("'\n", stdout);
    if (files.first > 0) {
        printf("        first=%zu last=%zu\n", files.first,
               files.last == SIZE_MAX ? (size_t)99999 : files.last);
    }
    if (verb->program != NULL) {
        printf("        program='%s'\n", verb->program);
    }
    if (verb->verbs != NULL) {
        fputs("        verbs='", stdout);
        for (size_t i = 0; verb->verbs[i] != NULL; i++) {
            printf("%s%s", i > 0 ? " " : "", verbs_word(verb->verbs[i]));
        }
        fputs("'\n", stdout);
    }
    fputs("        ;;\n", stdout);
}

static void
put_values(const struct completion_program *program,
           const struct options_verb *verb)
{
    (void)program;
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (!completion_is_file(s) && s->words == NULL) {
            continue;
        }
        printf("    '%s --%s'", verb->name, s->name);
        if (s->letter != '\0') {
            printf(" | '%s -%c'", verb->name, s->letter);
        }
        if (s->words != NULL) {
            fputs(") words='", stdout);
            completion_put_words(s->words);
            fputs("' ;;\n", stdout);
        } else {
            fputs(") files=1 ;;\n", stdout);
        }
    }
}

/* Prints the verbs of the program. */
static void
put_root(const struct options_verb *root)
{
    fputs("    '')\n        options='--help --version'\n        verbs='",
          stdout);
    for (size_t i = 0; root->verbs[i] != NULL; i++) {
        printf("%s%s", i > 0 ? " " : "", root->verbs[i]->name);
    }
    fputs("'\n        ;;\n", stdout);
}

void
completion_write_bash(const struct completion_program *program)
{
    completion_put_script(program, script_begin);
    if (program->root->verbs != NULL) {
        put_root(program->root);
    }
    completion_each(program, put_verb);
    completion_put_script(program, script_middle);
    completion_each(program, put_values);
    completion_put_script(program, script_end);
}
