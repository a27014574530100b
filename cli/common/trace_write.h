/* trace_write.h - writes traces to standard output: see lawn-trace(5). */
#ifndef LAWN_CLI_TRACE_WRITE_H
#define LAWN_CLI_TRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write an event to stdout. id contains no blanks and has at most TRACE_ID_MAX
 * bytes. Return false if output has failed; main() prints the error. */
bool trace_write_start(uint64_t time, const char *id, size_t length,
                       uint64_t ttl);
bool trace_write_stop(uint64_t time, const char *id, size_t length);

/* Writes the first lines of a trace; unit is s, ms, us or ns. */
void trace_write_head(const char *unit);

#endif
