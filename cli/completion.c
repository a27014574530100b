/* completion.c - "lawn completion": scripts for shells. */
#include "completion.h"
#include "tool.h"
#include "verbs.h"

#include <string.h>

static options_run_fn write_script;

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
    .run = write_script,
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
    .run = write_script,
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
    .run = write_script,
};

static const struct options_verb completion_table_verb = {
    .name = "completion table",
    .summary = "all options, a line each, for other tools",
    .details =
        "Prints a line for each option of each verb. Its fields, separated by\n"
        "tabs: verb, own or common, letter, name, what its value is called,\n"
        "default, what it is without a value, words that it takes, text.\n",
    .example = "lawn completion table | cut -f 1,4",
    .run = write_script,
};

static const struct options_verb *const completion_verbs[] = {
    &completion_bash_verb,
    &completion_zsh_verb,
    &completion_fish_verb,
    &completion_table_verb,
    NULL,
};

static int
write_script(const struct options_verb *verb, int argc, char **argv)
{
    static const struct options_verb root = {.name = "", .verbs = tool_verbs};
    static const struct completion_program program = {
        .command = "lawn",
        .stem = "lawn",
        .made_by = "lawn completion",
        .root = &root,
    };
    int code = VERBS_OK;
    char none[1];
    if (!options_read(verb, argc, argv, none, &code)) {
        return code;
    }
    size_t kind = 0;
    while (strcmp(completion_kinds[kind], verbs_word(verb)) != 0) {
        kind++;
    }
    completion_write(&program, kind);
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
