/* completion_bash.c - the script of "lawn completion bash".
 *
 * Two functions are written from the tables: what a verb has, and what an
 * option's value may be. The third is the same always: it walks the words up to
 * the cursor as options_read() would. It needs bash 4, and no package. Where
 * bash has cut --name=value into three words, it puts up with that.
 */
#include "completion.h"
#include "verbs.h"

#include <stdio.h>

static const char completion_bash_begin[] =
    "# bash completion of lawn(1), made by: lawn completion bash\n"
    "\n"
    "# What the verb $1 has: verbs of its own, options, which of these have a\n"
    "# value in the next word, and which operands are files.\n"
    "_lawn_verb()\n"
    "{\n"
    "    verbs= options= valued= first=0 last=0\n"
    "    case $1 in\n";

static const char completion_bash_middle[] =
    "    esac\n"
    "}\n"
    "\n"
    "# What the value of the option $2 of the verb $1 may be.\n"
    "_lawn_value()\n"
    "{\n"
    "    case \"$1 $2\" in\n";

static const char completion_bash_end[] =
    "    esac\n"
    "}\n"
    "\n"
    "_lawn()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before= verb= option= only=\n"
    "    local verbs options valued first last words= files= operand=1 i word\n"
    "    COMPREPLY=()\n"
    "    _lawn_verb ''\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]} option=\n"
    "        if [[ -n $verbs ]]; then\n"
    "            verb=\"${verb:+$verb }$word\"\n"
    "            _lawn_verb \"$verb\"\n"
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
    "        _lawn_value \"$verb\" \"$option\"\n"
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
    "complete -F _lawn lawn\n";

/* The options of the verb, each as it is typed, or only those that have their
 * value in the next word. */
static void
completion_bash_options(const struct options_verb *verb, bool valued)
{
    const struct options_spec *s;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (valued && (s->value == NULL || s->implied != NULL))
            continue;
        if (s->letter != '\0')
            printf("-%c ", s->letter);
        printf("--%s ", s->name);
    }
}

static void
completion_bash_verb(const struct options_verb *verb)
{
    struct completion_files files = completion_files(verb);
    printf("    '%s')\n        options='", verb->name);
    completion_bash_options(verb, false);
    fputs("--help'\n        valued='", stdout);
    completion_bash_options(verb, true);
    fputs("'\n", stdout);
    if (files.first > 0)
        printf("        first=%zu last=%zu\n", files.first,
               files.last == SIZE_MAX ? (size_t)99999 : files.last);
    if (verb->verbs != NULL) {
        fputs("        verbs='", stdout);
        for (size_t i = 0; verb->verbs[i] != NULL; i++)
            printf("%s%s", i > 0 ? " " : "", verbs_word(verb->verbs[i]));
        fputs("'\n", stdout);
    }
    fputs("        ;;\n", stdout);
}

static void
completion_bash_values(const struct options_verb *verb)
{
    const struct options_spec *s;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (!completion_is_file(s) && s->words == NULL)
            continue;
        printf("    '%s --%s'", verb->name, s->name);
        if (s->letter != '\0')
            printf(" | '%s -%c'", verb->name, s->letter);
        if (s->words != NULL) {
            fputs(") words='", stdout);
            completion_put_words(s->words);
            fputs("' ;;\n", stdout);
        } else {
            fputs(") files=1 ;;\n", stdout);
        }
    }
}

void
completion_bash(void)
{
    const struct options_verb *verb;
    fputs(completion_bash_begin, stdout);
    fputs("    '')\n        options='--help --version'\n        verbs='",
          stdout);
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", verb->name);
    fputs("'\n        ;;\n", stdout);
    completion_each(completion_bash_verb);
    fputs(completion_bash_middle, stdout);
    completion_each(completion_bash_values);
    fputs(completion_bash_end, stdout);
}
