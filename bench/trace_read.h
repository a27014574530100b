/* trace_read.h - reads traces: see lawn-trace(5).
 *
 * There is one parser. What only needs to see each event once reads through a
 * struct trace_reader, in bounded memory; what replays a trace loads it whole.
 */
#ifndef LAWN_BENCH_TRACE_READ_H
#define LAWN_BENCH_TRACE_READ_H

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

/* A whole trace. An id has an object of its own while its timer runs; when it
 * was stopped or has fired, another id may get that object. So there are as many
 * objects as timers run at once, at most. A stop that finds nothing running is
 * left out. */
struct trace_event {
    uint64_t time;
    uint64_t ttl; /* 0: stop */
    uint32_t object;
    uint32_t which; /* its ttl's place in ttls */
};

struct trace {
    struct trace_event *events;
    size_t count;
    uint32_t objects;
    uint64_t *ttls; /* all there are, ascending */
    size_t ttl_count;
    uint64_t unit_ns;
    uint64_t ignored; /* stops left out */
};

/* False: a message that begins with who has been printed, there is nothing
 * to free, and *exit_code is what to exit with. */
bool trace_load(const char *who, const char *path, struct trace *out,
                int *exit_code);
void trace_free(struct trace *trace);

#endif
