/* trace.c - "lawn trace": analyzes recorded timers. */
#include "trace.h"
#include "verbs.h"

static const struct options_verb *const trace_verbs[] = {
    &trace_stats_verb,
    &trace_convert_verb,
    NULL,
};

const struct options_verb trace_verb = {
    .name = "trace",
    .summary = "analyze recorded timers: does a lawn suit them?",
    .details =
        "A trace is a text file that begins with \"# lawn trace 1\" and has a\n"
        "line for each start and stop of a timer, \"TIME start ID TTL\" or\n"
        "\"TIME stop ID\"; see lawn-trace(5).\n",
    .example = "printf '# lawn trace 1\\n0 start a 30\\n9 stop a\\n' | "
               "lawn trace stats",
    .verbs = trace_verbs,
    .run = verbs_dispatch,
};
