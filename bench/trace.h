/* trace.h - what the verbs of "lawn trace" share. */
#ifndef LAWN_BENCH_TRACE_H
#define LAWN_BENCH_TRACE_H

#include "options.h"

extern const struct options_verb trace_stats_verb;
extern const struct options_verb trace_gen_verb;
extern const struct options_verb trace_convert_verb;

/* An event of a trace, to stdout. id has no blanks and is at most
 * TRACE_ID_MAX bytes long. False: output has failed, and main will say so. */
bool trace_put_start(uint64_t time, const char *id, size_t length,
                     uint64_t ttl);
bool trace_put_stop(uint64_t time, const char *id, size_t length);

/* How a trace begins; the unit is s, ms, us or ns. */
void trace_put_head(const char *unit);

#endif
