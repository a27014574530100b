/* trace_lines.h - reads the lines of a file, and prints errors that name
 * them. */
#ifndef LAWN_CLI_TRACE_LINES_H
#define LAWN_CLI_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LINES_MAX 65535 /* bytes in a line, without its end */

/* An open file. buffer[begin .. end) has been read but not returned as
 * lines. */
struct trace_lines {
    const char *program; /* messages begin with it: "lawn trace stats" */
    const char *name;    /* of the file, for messages */
    uint64_t line;       /* number of the line returned last */
    char *buffer;
    size_t begin;
    size_t end;
    int fd;
    bool all; /* the end of the file was reached */
};

enum trace_lines_got {
    TRACE_LINES_WRONG = -1, /* a message has been printed */
    TRACE_LINES_END = 0,
    TRACE_LINES_ONE = 1,
};

/* Opens a file; "-" is standard input. Returns false after printing a
 * message. */
bool trace_lines_open(struct trace_lines *lines, const char *program,
                      const char *path);
void trace_lines_close(struct trace_lines *lines);

/* Returns the next line without its end, which is LF or CR LF and may be
 * missing at the end of the file. The line is valid until the next call.
 * O(length). */
enum trace_lines_got trace_lines_next(struct trace_lines *lines,
                                      const char **line, size_t *length);

/* Prints what was expected in the line, and the found bytes, shortened for
 * display. found NULL: the line has ended. */
void trace_lines_complain(const struct trace_lines *lines, const char *expected,
                          const char *found, size_t length);

/* Prints that there is no memory. */
void trace_lines_no_memory(const struct trace_lines *lines);

#endif
