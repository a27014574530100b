/* resp.h - RESP2, the protocol of Redis and Valkey, in memory: commands are written
 * into a buffer, replies are read out of one. Who has a socket moves the bytes.
 *
 * What answers may be anything, so a reply is bounded in all ways: in bytes, in
 * values, in depth. Cost: O(1) for each byte, however the bytes come in.
 */
#ifndef LAWN_MODULE_RESP_H
#define LAWN_MODULE_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESP_DEPTH 8                  /* arrays in arrays */
#define RESP_LINE 65536               /* bytes of a line: an error, a number */
#define RESP_BYTES ((size_t)64 << 20) /* of a reply */
#define RESP_VALUES ((size_t)1 << 20) /* in a reply */

enum resp_kind {
    RESP_SIMPLE,
    RESP_ERROR,
    RESP_INTEGER,
    RESP_BULK,
    RESP_ARRAY,
    RESP_NULL,
};

/* Text stands at `at` in SIMPLE, ERROR and BULK, and is not ended by a zero. */
struct resp_value {
    enum resp_kind kind;
    int64_t integer;
    const char *at;
    size_t size;
    struct resp_value *items;
    size_t count;
};

/* bytes[begin .. end) have come and are not used up; up to `at` they have been
 * looked at. left[] is how many values are still to come in each open array. */
struct resp_reader {
    char *bytes;
    size_t begin;
    size_t at;
    size_t end;
    size_t room;
    size_t depth;
    size_t left[RESP_DEPTH];
    size_t values;
    struct resp_value *tree;
    size_t tree_room;
};

/* Commands that are to be sent: bytes[sent .. size). */
struct resp_writer {
    char *bytes;
    size_t sent;
    size_t size;
    size_t room;
};

/* All zero is one that has nothing; what was in it is forgotten. */
void resp_reader_fini(struct resp_reader *reader);
void resp_writer_fini(struct resp_writer *writer);

/* Where up to *room bytes, 4096 at least, may be put; NULL: no memory. A reply
 * that was handed out is gone. */
char *resp_room(struct resp_reader *reader, size_t *room);
/* That so many were put there. */
void resp_came(struct resp_reader *reader, size_t size);

/* The next reply. 1: there it is, until the next call with this reader. 0: more
 * bytes are needed. -EPROTO: it is none; -EMSGSIZE: it is beyond the bounds;
 * -ENOMEM. After an error the reader is of no further use. */
int resp_next(struct resp_reader *reader, const struct resp_value **reply);

struct resp_word {
    const char *at;
    size_t size;
};

/* Adds a command. False: no memory. */
bool resp_command(struct resp_writer *writer, const struct resp_word *words,
                  size_t count);

/* Whether a text of a reply is this one; never for what is no text. */
bool resp_is(const struct resp_value *value, const char *text);

#endif
