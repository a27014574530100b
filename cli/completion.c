/* completion.c - "lawn completion": prints completion scripts for shells. */
#include "completion.h"
#include "tool.h"
#include "verbs.h"

#include <string.h>

static options_run_fn write_script;

static const struct options_verb completion_bash_verb = {
    .name = "completion bash",
    .summary = "print a script for bash",
    .details =
        "Prints a script that makes bash complete the verbs and options of\n"
        "lawn(1). \"make install\" puts it into "
        "share/bash-completion/completions,\n"
        "where the package bash-completion finds it. Without that package, "
        "add\n"
        "this line to ~/.bashrc: source <(lawn completion bash)\n",
    .example = "lawn completion bash >lawn.bash",
    .run = write_script,
};

static const struct options_verb completion_zsh_verb = {
    .name = "completion zsh",
    .summary = "print a script for zsh",
    .details =
        "Prints a function that makes zsh complete the verbs and options of\n"
        "lawn(1). \"make install\" puts it into share/zsh/site-functions. Any\n"
        "other directory of $fpath works too; the file must be named _lawn.\n",
    .example = "lawn completion zsh >_lawn",
    .run = write_script,
};

static const struct options_verb completion_fish_verb = {
    .name = "completion fish",
    .summary = "print a script for fish",
    .details =
        "Prints a script that makes fish complete the verbs and options of\n"
        "lawn(1). \"make install\" puts it into "
        "share/fish/vendor_completions.d.\n"
        "The directory ~/.config/fish/completions works too.\n",
    .example = "lawn completion fish >lawn.fish",
    .run = write_script,
};

static const struct options_verb completion_table_verb = {
    .name = "completion table",
    .summary = "print all options as a table, for other tools",
    .details = "Prints one line for each option of each verb. The fields, "
               "separated by\n"
               "tabs, are: verb, \"own\" or \"common\", letter, name, name of "
               "the value,\n"
               "default, value if the option is given without one, accepted "
               "words,\n"
               "help text.\n",
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
    .details =
        "Prints a script that makes a shell complete the verbs and options of\n"
        "lawn(1). 'lawn completion SHELL --help' explains where to install "
        "it.\n",
    .example = "source <(lawn completion bash)",
    .verbs = completion_verbs,
    .run = verbs_dispatch,
};
