/* trace_lines.h - the lines of a file, and complaints that name them. */
#ifndef LAWN_CLI_TRACE_LINES_H
#define LAWN_CLI_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LINES_MAX 65535 /* bytes in a line, its end not counted */

/* An open file. buffer[begin .. end) has been read and not been handed out. */
struct trace_lines {
    const char *who;  /* complains: "lawn trace stats" */
    const char *name; /* of the file, for people */
    uint64_t line;    /* the number of the line handed out last */
    char *buffer;
    size_t begin;
    size_t end;
    int fd;
    bool all; /* nothing is left to be read */
};

enum trace_lines_got {
    TRACE_LINES_WRONG = -1, /* a message has been printed */
    TRACE_LINES_END = 0,
    TRACE_LINES_ONE = 1,
};

/* path "-" is standard input. False: a message has been printed. */
bool trace_lines_open(struct trace_lines *lines, const char *who,
                      const char *path);
void trace_lines_close(struct trace_lines *lines);

/* The next line without its end, which is LF or CR LF and may be missing in
 * the last one. It is valid until the next call. O(length). */
enum trace_lines_got trace_lines_next(struct trace_lines *lines,
                                      const char **line, size_t *length);

/* Says what the line should have had, and what it has: so many bytes, of which
 * no more are shown than a person reads; found NULL: nothing. */
void trace_lines_complain(const struct trace_lines *lines, const char *expected,
                          const char *found, size_t length);

/* Says that there was no memory. */
void trace_lines_no_memory(const struct trace_lines *lines);

#endif
