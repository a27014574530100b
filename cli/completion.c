/* completion.c - "lawn completion": the tables of all verbs, for shells and
 * other tools.
 *
 * A script for a shell is made from the same tables as the parsing and the
 * help, so it offers what there is and nothing else. It holds no program: what
 * to offer is decided by the names in the tables. A value called FILE, and an
 * operand called FILE, LEFT or RIGHT, is the name of a file; words are offered;
 * for all else there is nothing to offer. A table with another word for a file
 * would get none.
 */
#include "completion.h"
#include "verbs.h"

#include <string.h>

void
completion_each(completion_each_fn *each)
{
    const struct options_verb *verb;
    for (size_t i = 0; (verb = verbs_at(i)) != NULL; i++) {
        each(verb);
        for (size_t j = 0; verb->verbs != NULL && verb->verbs[j] != NULL; j++)
            each(verb->verbs[j]);
    }
}

const char *
completion_operand(const char *operands, struct completion_operand *operand)
{
    operands += strspn(operands, " ");
    if (*operands == '\0')
        return NULL;
    size_t length = strcspn(operands, " ");
    const char *next = operands + length;
    operand->optional = *operands == '[';
    operand->repeated = length > 3 && memcmp(next - 3, "...", 3) == 0;
    operand->name = operands + operand->optional;
    operand->length = strcspn(operand->name, "]. ");
    return next;
}

static bool
completion_is_file_operand(const struct completion_operand *operand)
{
    static const char *const names[] = {"FILE", "LEFT", "RIGHT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == operand->length &&
            memcmp(names[i], operand->name, operand->length) == 0)
            return true;
    }
    return false;
}

struct completion_files
completion_files(const struct options_verb *verb)
{
    struct completion_files files = {0, 0};
    struct completion_operand operand;
    const char *rest = verb->operands != NULL ? verb->operands : "";
    size_t earliest = 1; /* place of this operand, if others are left out */
    for (size_t i = 1; (rest = completion_operand(rest, &operand)) != NULL;
         i++) {
        if (completion_is_file_operand(&operand)) {
            if (files.first == 0)
                files.first = earliest;
            files.last = operand.repeated ? SIZE_MAX : i;
        }
        if (!operand.optional)
            earliest = i + 1;
    }
    return files;
}

bool
completion_is_file(const struct options_spec *spec)
{
    return spec->value != NULL && strcmp(spec->value, "FILE") == 0;
}

void
completion_put_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == ' ' || *text == '\n' || *text == '\t') {
            text += strspn(text, " \n\t") - 1;
            putchar(' ');
        } else if (*text == '\'') {
            fputs(quote, stdout);
        } else {
            if (strchr(special, *text) != NULL)
                putchar('\\');
            putchar(*text);
        }
    }
}

void
completion_put_words(const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        printf("%s%s", i > 0 ? " " : "", words[i]);
}

/* A field of the table, and what comes after it. */
static void
completion_put_field(const char *text, char after)
{
    completion_put_quoted(text != NULL ? text : "", "", "'");
    putchar(after);
}

static void
completion_put_table(const struct options_verb *verb)
{
    const struct options_spec *s;
    bool common = false;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        common = common || s == verb->common;
        completion_put_field(verb->name, '\t');
        completion_put_field(common ? "common" : "own", '\t');
        completion_put_field((char[]){s->letter, '\0'}, '\t');
        completion_put_field(s->name, '\t');
        completion_put_field(s->value, '\t');
        completion_put_field(s->initial, '\t');
        completion_put_field(s->implied, '\t');
        if (s->words != NULL)
            completion_put_words(s->words);
        putchar('\t');
        completion_put_field(s->help, '\n');
    }
}

static void
completion_table(void)
{
    completion_each(completion_put_table);
}

static options_run_fn completion_write;

static const struct options_verb completion_bash_verb = {
    .name = "completion bash",
    .summary = "a script for bash",
    .details = "Prints a script after which bash completes the verbs and "
               "options of\n"
               "lawn(1). An installed lawn has it in\n"
               "share/bash-completion/completions, where the package\n"
               "bash-completion finds it; without that, a line in ~/.bashrc\n"
               "does: source <(lawn completion bash)\n",
    .example = "lawn completion bash >lawn.bash",
    .run = completion_write,
};

static const struct options_verb completion_zsh_verb = {
    .name = "completion zsh",
    .summary = "a script for zsh",
    .details =
        "Prints a function with which zsh completes the verbs and "
        "options of\n"
        "lawn(1). An installed lawn has it in share/zsh/site-functions;\n"
        "any other folder of $fpath does as well, for a file that is\n"
        "called _lawn.\n",
    .example = "lawn completion zsh >_lawn",
    .run = completion_write,
};

static const struct options_verb completion_fish_verb = {
    .name = "completion fish",
    .summary = "a script for fish",
    .details = "Prints a script with which fish completes the verbs and "
               "options of\n"
               "lawn(1). An installed lawn has it in\n"
               "share/fish/vendor_completions.d; ~/.config/fish/completions\n"
               "does as well.\n",
    .example = "lawn completion fish >lawn.fish",
    .run = completion_write,
};

static const struct options_verb completion_table_verb = {
    .name = "completion table",
    .summary = "all options, a line each, for other tools",
    .details =
        "Prints a line for each option of each verb. Its fields, separated by\n"
        "tabs: verb, own or common, letter, name, what its value is called,\n"
        "default, what it is without a value, words that it takes, text.\n",
    .example = "lawn completion table | cut -f 1,4",
    .run = completion_write,
};

static const struct options_verb *const completion_verbs[] = {
    &completion_bash_verb,
    &completion_zsh_verb,
    &completion_fish_verb,
    &completion_table_verb,
    NULL,
};
static void (*const completion_writers[])(void) = {
    completion_bash,
    completion_zsh,
    completion_fish,
    completion_table,
};

static int
completion_write(const struct options_verb *verb, int argc, char **argv)
{
    int code = VERBS_OK;
    size_t i = 0;
    char none[1];
    while (completion_verbs[i] != verb)
        i++;
    if (options_read(verb, argc, argv, none, &code))
        completion_writers[i]();
    return code;
}

const struct options_verb completion_verb = {
    .name = "completion",
    .summary = "complete lawn's verbs and options in bash, zsh or fish",
    .details = "Prints what makes a shell complete the verbs and options of "
               "lawn(1);\n"
               "the help of each says where it goes.\n",
    .example = "source <(lawn completion bash)",
    .verbs = completion_verbs,
    .run = verbs_dispatch,
};
