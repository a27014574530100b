/* resp.h - RESP2, the protocol of Redis and Valkey, in memory: writes commands
 * to a buffer, and parses replies from one. The caller moves the bytes between
 * buffers and socket.
 *
 * The peer is not trusted, so a reply is limited in bytes, values and depth.
 * O(1) for each byte, however the bytes are divided.
 */
#ifndef LAWN_MODULE_RESP_H
#define LAWN_MODULE_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESP_DEPTH 8                  /* nested arrays */
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

/* For SIMPLE, ERROR and BULK, `at` points to the text, which is not
 * zero-terminated. */
struct resp_value {
    enum resp_kind kind;
    int64_t integer;
    const char *at;
    size_t size;
    struct resp_value *items;
    size_t count;
};

/* bytes[begin .. end) are received and unused; those before `at` were examined.
 * left[] is the number of missing values of each open array. */
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

/* Commands to be sent: bytes[sent .. size). */
struct resp_writer {
    char *bytes;
    size_t sent;
    size_t size;
    size_t room;
};

/* Free the memory. All zero is the empty state. */
void resp_reader_fini(struct resp_reader *reader);
void resp_writer_fini(struct resp_writer *writer);

/* Returns a buffer for up to *room bytes, at least 4096; NULL if memory
 * allocation fails. Invalidates the last reply. */
char *resp_room(struct resp_reader *reader, size_t *room);
void resp_came(struct resp_reader *reader, size_t size);

/* Parses the next reply. Returns 1 if it is complete; it is valid until the
 * next call with this reader. Returns 0 if more bytes are needed; -EPROTO if it
 * is malformed; -EMSGSIZE if it exceeds the limits; -ENOMEM. After an error the
 * reader must not be used. */
int resp_next(struct resp_reader *reader, const struct resp_value **reply);

struct resp_word {
    const char *at;
    size_t size;
};

/* Appends a command. Returns false if memory allocation fails. */
bool resp_command(struct resp_writer *writer, const struct resp_word *words,
                  size_t count);

/* Returns true if the value is a text and equals this one. */
bool resp_is(const struct resp_value *value, const char *text);

#endif
