/* verbs.h - exit codes, and verbs that have verbs of their own, such as "lawn
 * trace stats". */
#ifndef LAWN_CLI_VERBS_H
#define LAWN_CLI_VERBS_H

#include "options.h"

enum verbs_exit {
    VERBS_OK = 0,
    VERBS_FAILED = 1, /* no memory, or a negative result of the verb */
    VERBS_USAGE = 2,
    VERBS_INPUT = 3,
    VERBS_OUTPUT = 4,
    VERBS_NOT_FOUND = 127, /* a verb's program is missing; as in shells */
};

/* Returns the last word of the verb's name: "stats" of "trace stats". */
const char *verbs_word(const struct options_verb *verb);

/* The run() of a verb that has verbs: runs the verb named by argv[1], or prints
 * help or an error message. */
options_run_fn verbs_dispatch;

#endif
