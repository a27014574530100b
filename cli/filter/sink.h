/* sink.h - the output of a filter, and the lines that could not be written.
 *
 * Lines are collected and written in blocks, when there are many or when
 * sink_flush() is called. The input lines that a line carries are counted when
 * it is written. Lines whose write has failed stay in the sink, as whole lines,
 * so that they can be saved or counted. O(bytes).
 */
#ifndef LAWN_CLI_SINK_H
#define LAWN_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of input lines that a line carries, 0 to 2, and whether it was
 * made by the filter. */
enum sink_kind {
    SINK_INPUT = 1,
    SINK_MADE = 4,
    SINK_MARKED = SINK_MADE | 1,
    SINK_PAIR = SINK_MADE | 2
};

struct sink {
    char *bytes;
    size_t size;
    size_t capacity;
    unsigned char *kinds; /* of the lines in the buffer `bytes` */
    size_t lines;
    size_t kinds_capacity;
    uint64_t carried; /* input lines in the buffer */
    uint64_t out;     /* input lines that were written */
    uint64_t made;    /* made lines that were written */
    uint64_t lost;    /* input lines dropped because there was no memory */
    size_t ends;      /* end of the last whole line */
    bool torn;        /* no memory for a part of the current line */
    int fd;
    int error;             /* of the write that failed; 0: none */
    bool stuck;            /* a write would block, and stopped() is true */
    bool (*stopped)(void); /* returns whether the filter must stop */
};

/* Returns false if there is no memory. */
bool sink_open(struct sink *sink, int fd, bool (*stopped)(void));
void sink_close(struct sink *sink);

void sink_append(struct sink *sink, const void *bytes, size_t size);
void sink_append_text(struct sink *sink, const char *text);

/* Ends a line. */
void sink_end_line(struct sink *sink, enum sink_kind kind);

/* Writes all lines. Returns false if not all could be written: the other lines
 * stay, from the start of a line, and later calls write nothing. */
bool sink_flush(struct sink *sink);

/* Restores the lines of a saved sink without writing them. Returns false if
 * they are inconsistent, or if there is no memory. */
bool sink_restore(struct sink *sink, const void *bytes, size_t size,
                  const void *kinds, size_t lines);

#endif
