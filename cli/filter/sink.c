/* sink.c - the output of a filter: see sink.h. */
#include "sink.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SINK_MANY                                                              \
    ((size_t)1 << 17)   /* from this number of bytes on, sink_end_line() writes
                         * them */
#define SINK_CARRIES 3u /* bits of enum sink_kind: number of input lines */
#define SINK_LINES ((size_t)1 << 12) /* initial room for lines */

bool
sink_open(struct sink *sink, int fd, bool (*stopped)(void))
{
    *sink = (struct sink){.fd = fd, .stopped = stopped};
    sink->capacity = 2 * SINK_MANY;
    sink->kinds_capacity = SINK_LINES;
    sink->bytes = malloc(sink->capacity);
    sink->kinds = malloc(sink->kinds_capacity);
    return sink->bytes != NULL && sink->kinds != NULL;
}

void
sink_close(struct sink *sink)
{
    free(sink->bytes);
    free(sink->kinds);
    sink->bytes = NULL;
    sink->kinds = NULL;
}

/* Doubles a buffer until it has room for size more. Returns false and sets an
 * error if there is no memory. */
static bool
grow(struct sink *sink, void *buffer, size_t *capacity, size_t used,
     size_t size)
{
    size_t wanted = *capacity;
    while (wanted - used < size) {
        wanted *= 2;
    }
    void *old = NULL;
    memcpy(&old, buffer, sizeof(old));
    void *grown = realloc(old, wanted);
    if (grown == NULL) {
        sink->error = ENOMEM;
        return false;
    }
    memcpy(buffer, &grown, sizeof(grown));
    *capacity = wanted;
    return true;
}

void
sink_append(struct sink *sink, const void *bytes, size_t size)
{
    if (sink->torn) {
        return;
    }
    if (sink->capacity - sink->size < size &&
        !grow(sink, &sink->bytes, &sink->capacity, sink->size, size)) {
        sink->torn = true;
        return;
    }
    if (size > 0) {
        memcpy(sink->bytes + sink->size, bytes, size);
    }
    sink->size += size;
}

void
sink_append_text(struct sink *sink, const char *text)
{
    sink_append(sink, text, strlen(text));
}

static void
add_line(struct sink *sink, unsigned kind)
{
    sink_append(sink, "\n", 1);
    if (sink->torn ||
        (sink->lines == sink->kinds_capacity &&
         !grow(sink, &sink->kinds, &sink->kinds_capacity, sink->lines, 1))) {
        sink->size = sink->ends; /* remove the incomplete line */
        sink->torn = false;
        sink->lost += kind & SINK_CARRIES;
        return;
    }
    sink->ends = sink->size;
    sink->kinds[sink->lines++] = (unsigned char)kind;
    sink->carried += kind & SINK_CARRIES;
}

void
sink_end_line(struct sink *sink, enum sink_kind kind)
{
    add_line(sink, kind);
    if (sink->size >= SINK_MANY) {
        sink_flush(sink);
    }
}

/* Writes as much as possible, and returns the number of bytes. After a stop
 * signal, it waits for a reader only until the next signal: SIGALRM is raised
 * each second then. */
static size_t
write_out(struct sink *sink)
{
    size_t done = 0;
    unsigned in_vain = 0;
    while (done < sink->size) {
        ssize_t put = write(sink->fd, sink->bytes + done, sink->size - done);
        if (put >= 0) {
            done += (size_t)put;
            in_vain = 0;
            continue;
        }
        if (errno != EINTR && errno != EAGAIN) {
            sink->error = errno;
            break;
        }
        if (sink->stopped() && ++in_vain > 1) {
            sink->stuck = true;
            break;
        }
        if (errno == EAGAIN) {
            struct pollfd wait = {.fd = sink->fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        }
    }
    return done;
}

/* Counts and removes the lines before done. Returns where the others start. */
static size_t
count_written(struct sink *sink, size_t done)
{
    size_t begin = 0;
    size_t line = 0;
    while (line < sink->lines) {
        if (done < sink->size) { /* else all lines were written */
            const char *newline =
                memchr(sink->bytes + begin, '\n', done - begin);
            if (newline == NULL) {
                break;
            }
            begin = (size_t)(newline + 1 - sink->bytes);
        }
        unsigned kind = sink->kinds[line++];
        sink->out += kind & SINK_CARRIES;
        sink->made += (kind & SINK_MADE) != 0;
        sink->carried -= kind & SINK_CARRIES;
    }
    sink->lines -= line;
    memmove(sink->kinds, sink->kinds + line, sink->lines);
    return done < sink->size ? begin : done;
}

bool
sink_flush(struct sink *sink)
{
    if (sink->error != 0 || sink->stuck) {
        return false;
    }
    if (sink->size == 0) {
        return true;
    }
    size_t done = count_written(sink, write_out(sink));
    sink->size -= done;
    sink->ends -= done;
    memmove(sink->bytes, sink->bytes + done, sink->size);
    if (sink->size == 0 && sink->capacity > 2 * SINK_MANY) {
        char *bytes = realloc(sink->bytes, 2 * SINK_MANY);
        if (bytes != NULL) {
            sink->bytes = bytes;
            sink->capacity = 2 * SINK_MANY;
        }
    }
    return sink->size == 0;
}

bool
sink_restore(struct sink *sink, const void *bytes, size_t size,
             const void *kinds, size_t lines)
{
    const unsigned char *kind = kinds;
    const char *at = bytes;
    const char *end = at + size;
    for (size_t i = 0; i < lines; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL ||
            (kind[i] != SINK_INPUT && kind[i] != SINK_MADE &&
             kind[i] != SINK_MARKED && kind[i] != SINK_PAIR)) {
            return false;
        }
        sink_append(sink, at, (size_t)(newline - at));
        add_line(sink, kind[i]);
        at = newline + 1;
    }
    return at == end && sink->error == 0;
}
