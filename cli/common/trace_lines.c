/* trace_lines.c - reads the lines of a file, and prints errors that name them.
 *
 * Uses one buffer; read(2) appends to it, and lines are returned in place. An
 * incomplete line is moved to the front before the next read, so a byte is
 * copied at most once unless lines are as long as the buffer.
 */
#include "trace_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_LINES_BUFFER ((size_t)1 << 18)
#define TRACE_LINES_SHOWN 60 /* bytes of the found text in a message */

static void
report_failure(const struct trace_lines *lines, const char *what)
{
    fprintf(stderr, "%s: cannot %s %s: %s\n", lines->program, what, lines->name,
            strerror(errno));
}

void
trace_lines_no_memory(const struct trace_lines *lines)
{
    fprintf(stderr, "%s: %s:%" PRIu64 ": out of memory\n", lines->program,
            lines->name, lines->line);
}

bool
trace_lines_open(struct trace_lines *lines, const char *program,
                 const char *path)
{
    memset(lines, 0, sizeof(*lines));
    lines->program = program;
    lines->name = path;
    if (strcmp(path, "-") == 0) {
        lines->name = "standard input";
        lines->fd = STDIN_FILENO;
    } else {
        lines->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (lines->fd < 0) {
        report_failure(lines, "open");
        return false;
    }
    lines->buffer = malloc(TRACE_LINES_BUFFER);
    if (lines->buffer == NULL) {
        trace_lines_no_memory(lines);
        trace_lines_close(lines);
        return false;
    }
    return true;
}

void
trace_lines_close(struct trace_lines *lines)
{
    if (lines->fd > STDIN_FILENO) {
        close(lines->fd);
    }
    free(lines->buffer);
    memset(lines, 0, sizeof(*lines));
}

/* Appends data to the buffer. Returns false after printing a message. */
static bool
fill_buffer(struct trace_lines *lines)
{
    size_t left = lines->end - lines->begin;
    memmove(lines->buffer, lines->buffer + lines->begin, left);
    lines->begin = 0;
    lines->end = left;
    ssize_t got = 0;
    do {
        got = read(lines->fd, lines->buffer + left, TRACE_LINES_BUFFER - left);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        report_failure(lines, "read");
        return false;
    }
    lines->all = got == 0;
    lines->end += (size_t)got;
    return true;
}

enum trace_lines_got
trace_lines_next(struct trace_lines *lines, const char **line, size_t *length)
{
    const char *at = lines->buffer + lines->begin;
    size_t have = lines->end - lines->begin;
    const char *newline = memchr(at, '\n', have);
    while (newline == NULL && !lines->all && have <= TRACE_LINES_MAX + 1) {
        if (!fill_buffer(lines)) {
            return TRACE_LINES_WRONG;
        }
        at = lines->buffer;
        newline = memchr(at + have, '\n', lines->end - have);
        have = lines->end;
    }
    if (newline == NULL && have == 0) {
        return TRACE_LINES_END;
    }
    size_t bytes = newline != NULL ? (size_t)(newline - at) : have;
    lines->begin += bytes + (newline != NULL);
    lines->line++;
    if (bytes > 0 && at[bytes - 1] == '\r') {
        bytes--;
    }
    if (bytes > TRACE_LINES_MAX) {
        trace_lines_complain(lines, "a line of at most 65535 bytes", at, bytes);
        return TRACE_LINES_WRONG;
    }
    *line = at;
    *length = bytes;
    return TRACE_LINES_ONE;
}

void
trace_lines_complain(const struct trace_lines *lines, const char *expected,
                     const char *found, size_t length)
{
    size_t shown = length < TRACE_LINES_SHOWN ? length : TRACE_LINES_SHOWN;
    fprintf(stderr, "%s: %s:%" PRIu64 ": expected %s, found ", lines->program,
            lines->name, lines->line, expected);
    if (found == NULL) {
        fputs("nothing\n", stderr);
        return;
    }
    putc('\'', stderr);
    bool control = false; /* U+0080 to U+009F: they could move the cursor */
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)found[i];
        bool second = control;
        control = c == 0xc2 && i + 1 < shown && (found[i + 1] & 0xe0) == 0x80;
        if (c < ' ' || c == 0x7F || control || second) {
            fprintf(stderr, "\\x%02x", c);
        } else {
            putc(c, stderr);
        }
    }
    fprintf(stderr, "%s'\n", shown < length ? "..." : "");
}
