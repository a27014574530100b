/* trace_read.h - reads traces: see lawn-trace(5).
 *
 * A parser of lines, and a reader of files that takes bounded memory. The
 * benchmark replays traces and loads them into memory: see bench/trace_load.h.
 */
#ifndef LAWN_CLI_TRACE_READ_H
#define LAWN_CLI_TRACE_READ_H

#include "trace_lines.h"

#define TRACE_ID_MAX 255 /* bytes */
#define TRACE_MAGIC "# lawn trace 1"

enum trace_kind {
    TRACE_START,
    TRACE_STOP,
};

/* A line of a trace. The id points into the line. */
struct trace_line {
    uint64_t time;
    enum trace_kind kind;
    const char *id;
    size_t id_length;
    uint64_t ttl; /* at least 1; 0 for TRACE_STOP */
};

/* Why a line is invalid: what was expected, and the text found there. found is
 * NULL if the line has ended. */
struct trace_wrong {
    const char *expected;
    const char *found;
    size_t length;
};

/* Parses an unsigned integer of the given number of digits, at least one. */
bool trace_number(const char *digits, size_t length, uint64_t *out);

/* Parses an event. Does not allocate or print. O(length). */
bool trace_parse(const char *line, size_t length, struct trace_line *out,
                 struct trace_wrong *wrong);

/* Several files that are read as one trace. */
struct trace_reader {
    struct trace_lines lines; /* the current file */
    char **paths;             /* the remaining files */
    size_t left;
    uint64_t unit_ns; /* of a tick */
    uint64_t time;    /* of the last event */
    bool open;
    bool unit_known; /* set by an earlier file */
    bool events;     /* this file had an event */
};

/* Without paths, reads standard input, as for "-". Files are opened when
 * needed. */
void trace_reader_open(struct trace_reader *reader, const char *program,
                       char **paths, size_t count);
enum trace_lines_got trace_reader_next(struct trace_reader *reader,
                                       struct trace_line *out);
void trace_reader_close(struct trace_reader *reader);

#endif
