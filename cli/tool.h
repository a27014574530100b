/* tool.h - the verbs of lawn(1).
 *
 * A verb is one file or directory and one struct options_verb. To add a verb,
 * declare it here or in the directory's header, and list it in tool.c.
 */
#ifndef LAWN_CLI_TOOL_H
#define LAWN_CLI_TOOL_H

#include "options.h"

extern const struct options_verb delay_verb;
extern const struct options_verb debounce_verb;
extern const struct options_verb throttle_verb;
extern const struct options_verb dedupe_verb;
extern const struct options_verb absent_verb;
extern const struct options_verb session_verb;
extern const struct options_verb join_verb;
extern const struct options_verb demo_verb;
extern const struct options_verb bench_verb;
extern const struct options_verb completion_verb;

/* All verbs, the filters first; NULL after the last. */
extern const struct options_verb *const tool_verbs[];

/* The number of filters. */
extern const size_t tool_filters;

#endif
