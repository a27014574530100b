/* sink.h - the lines that are written, and those that could not be.
 *
 * Lines are gathered and written in blocks, when there are many or when
 * sink_flush() is called. Each has a kind, which tells how many lines of the
 * input it carries, so that these can be counted when it is written and not
 * before. What a write has failed for stays, whole lines of it, so that it can be
 * kept or counted. O(bytes).
 */
#ifndef LAWN_CLI_SINK_H
#define LAWN_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Carried lines of the input, 0 to 2, and whether the line was made here. */
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
    unsigned char *kinds; /* of the lines in bytes */
    size_t lines;
    size_t kinds_capacity;
    uint64_t carried; /* lines of the input that stand in bytes */
    uint64_t out;     /* and that were written; */
    uint64_t made;    /* lines made here that were */
    uint64_t lost;    /* and for which there was no memory */
    size_t ends;      /* where the last whole line does */
    bool torn;        /* there was none for a piece of the one that follows */
    int fd;
    int error;             /* of the write that failed; 0: none has */
    bool stuck;            /* it would wait, and we have been told to stop */
    bool (*stopped)(void); /* whether we have */
};

/* False: no memory. */
bool sink_open(struct sink *sink, int fd, bool (*stopped)(void));
void sink_close(struct sink *sink);

void sink_bytes(struct sink *sink, const void *bytes, size_t size);
void sink_text(struct sink *sink, const char *text);

/* Ends a line. */
void sink_end(struct sink *sink, enum sink_kind kind);

/* Writes what there is. False: not all of it; the rest stays, from the
 * beginning of a line on, and nothing is written any more. */
bool sink_flush(struct sink *sink);

/* Puts back what stood in a sink before, and writes nothing yet. False: it is no
 * such thing, or there is no memory. */
bool sink_restore(struct sink *sink, const void *bytes, size_t size,
                  const void *kinds, size_t lines);

#endif
