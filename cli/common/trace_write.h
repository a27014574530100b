/* trace_write.h - writes traces to standard output: see lawn-trace(5). */
#ifndef LAWN_CLI_TRACE_WRITE_H
#define LAWN_CLI_TRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event of a trace, to stdout. id has no blanks and is at most
 * TRACE_ID_MAX bytes long. False: output has failed, and main will say so. */
bool trace_write_start(uint64_t time, const char *id, size_t length,
                       uint64_t ttl);
bool trace_write_stop(uint64_t time, const char *id, size_t length);

/* How a trace begins; the unit is s, ms, us or ns. */
void trace_write_head(const char *unit);

#endif
