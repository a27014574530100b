/* trace_read.h - reads traces: see lawn-trace(5).
 *
 * There is one parser, and a reader around it that takes bounded memory. The
 * benchmark, which replays a trace, loads it whole: see bench/trace_load.h.
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

/* A line of a trace. The id stands in the line itself. */
struct trace_line {
    uint64_t time;
    enum trace_kind kind;
    const char *id;
    size_t id_length;
    uint64_t ttl; /* at least 1; 0 when stopped */
};

/* What is wrong with a line: what was expected where there is something else.
 * found is NULL where the line ends too early. */
struct trace_wrong {
    const char *expected;
    const char *found;
    size_t length;
};

/* Reads a whole number of that many digits, at least one. */
bool trace_number(const char *digits, size_t length, uint64_t *out);

/* Reads an event. Does not allocate or print. O(length). */
bool trace_parse(const char *line, size_t length, struct trace_line *out,
                 struct trace_wrong *wrong);

/* Files that follow each other as one trace. */
struct trace_reader {
    struct trace_lines lines; /* of the file being read */
    char **paths;             /* those after it */
    size_t left;
    uint64_t unit_ns; /* a tick */
    uint64_t time;    /* of the last event */
    bool open;
    bool unit_known; /* by an earlier file */
    bool events;     /* there was one in this file */
};

/* No paths: standard input, as by "-". They are opened as they are needed. */
void trace_reader_open(struct trace_reader *reader, const char *who,
                       char **paths, size_t count);
enum trace_lines_got trace_reader_next(struct trace_reader *reader,
                                       struct trace_line *out);
void trace_reader_close(struct trace_reader *reader);

#endif
