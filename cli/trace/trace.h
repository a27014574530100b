/* trace.h - "lawn trace" and its verbs. */
#ifndef LAWN_CLI_TRACE_H
#define LAWN_CLI_TRACE_H

#include "options.h"

extern const struct options_verb trace_verb;
extern const struct options_verb trace_stats_verb;
extern const struct options_verb trace_convert_verb;

#endif
