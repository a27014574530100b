/* verbs.h - what main and the verbs agree on: the exit codes and the verbs.
 *
 * A verb is one file and one struct options_verb; main finds it by name in the
 * groups and calls its run(). To add one: declare it here, list it in verbs.c.
 */
#ifndef LAWN_CLI_VERBS_H
#define LAWN_CLI_VERBS_H

#include "options.h"

enum verbs_exit {
    VERBS_OK = 0,
    VERBS_FAILED = 1, /* no memory, or the verb's own "no" */
    VERBS_USAGE = 2,
    VERBS_INPUT = 3,
    VERBS_OUTPUT = 4,
};

extern const struct options_verb delay_verb;
extern const struct options_verb debounce_verb;
extern const struct options_verb throttle_verb;
extern const struct options_verb dedupe_verb;
extern const struct options_verb absent_verb;
extern const struct options_verb session_verb;
extern const struct options_verb join_verb;
extern const struct options_verb demo_verb;
extern const struct options_verb bench_verb;
extern const struct options_verb trace_verb;
extern const struct options_verb top_verb;
extern const struct options_verb completion_verb;

/* Verbs that belong together, as "lawn --help" shows them. */
struct verbs_group {
    const char *title;                       /* NULL after the last group */
    const struct options_verb *const *verbs; /* NULL after the last */
};
extern const struct verbs_group verbs_groups[];

/* All verbs of all groups, in order; NULL after the last. */
const struct options_verb *verbs_at(size_t i);

/* The last word of its name: "stats" of "trace stats". */
const char *verbs_word(const struct options_verb *verb);

/* The run() of a verb that has verbs: runs that which argv[1] names, or prints help
 * or what is wrong. */
options_run_fn verbs_dispatch;

#endif
