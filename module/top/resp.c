/* resp.c - RESP2 in memory.
 *
 * A reply is read in two passes. The first checks its structure while the bytes
 * arrive, each byte once. When the reply is complete, the second builds its
 * values in one block. So no memory is allocated for data that a reply only
 * announces.
 */
#include "resp.h"

#include "../../src/base/decimal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESP_ROOM 16384

void
resp_reader_fini(struct resp_reader *reader)
{
    free(reader->bytes);
    free(reader->tree);
    memset(reader, 0, sizeof(*reader));
}

void
resp_writer_fini(struct resp_writer *writer)
{
    free(writer->bytes);
    memset(writer, 0, sizeof(*writer));
}

char *
resp_room(struct resp_reader *reader, size_t *room)
{
    size_t size = reader->end - reader->begin;
    if (reader->begin > 0 && reader->begin >= size) {
        memmove(reader->bytes, reader->bytes + reader->begin, size);
        reader->at -= reader->begin;
        reader->end = size;
        reader->begin = 0;
    }
    if (reader->room - reader->end < RESP_ROOM) {
        size_t larger = 2 * reader->room + RESP_ROOM;
        char *bytes = realloc(reader->bytes, larger);
        if (bytes == NULL) {
            return NULL;
        }
        reader->bytes = bytes;
        reader->room = larger;
    }
    *room = reader->room - reader->end;
    return reader->bytes + reader->end;
}

void
resp_came(struct resp_reader *reader, size_t size)
{
    reader->end += size;
}

/* Parses the number in a line of this length. Returns false if it is
 * invalid. */
static bool
read_number(const char *at, size_t size, int64_t *number)
{
    const char *end = at + size;
    bool negative = size > 0 && *at == '-';
    at += negative;
    uint64_t max = (uint64_t)INT64_MAX + negative;
    uint64_t value = 0;
    if (at == end || lawn__decimal_read(at, end, max, &value) < end) {
        return false;
    }
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Finds the line at `at`, which begins with its type byte; length excludes the
 * line end. Returns 1; 0 if the line is incomplete; or an error. */
static int
find_line(const char *bytes, size_t at, size_t end, size_t *length)
{
    if (at == end) {
        return 0;
    }
    if (strchr("+-:$*", bytes[at]) == NULL || bytes[at] == '\0') {
        return -EPROTO;
    }
    size_t size = end - at;
    const char *newline = memchr(bytes + at, '\n', size);
    if (newline == NULL) {
        return size > RESP_LINE ? -EMSGSIZE : 0;
    }
    size = (size_t)(newline - (bytes + at));
    if (size < 2 || newline[-1] != '\r') {
        return -EPROTO;
    }
    *length = size - 1;
    return size > RESP_LINE ? -EMSGSIZE : 1;
}

/* Enters an array, unless it is empty. */
static int
enter(struct resp_reader *reader, int64_t count)
{
    if (count <= 0) {
        return 1;
    }
    if ((uint64_t)count > RESP_VALUES - reader->values) {
        return -EMSGSIZE;
    }
    if (reader->depth == RESP_DEPTH) {
        return -EMSGSIZE;
    }
    reader->values += (size_t)count;
    /* Plus one for the array itself, which is counted below. */
    reader->left[reader->depth++] = (size_t)count + 1;
    return 1;
}

/* Skips one value, or the head of an array. Returns 1; 0 if it is incomplete;
 * or an error. */
static int
pass(struct resp_reader *reader)
{
    size_t length = 0;
    int64_t number = 0;
    int code = find_line(reader->bytes, reader->at, reader->end, &length);
    if (code != 1) {
        return code;
    }
    const char *line = reader->bytes + reader->at;
    size_t next = reader->at + length + 2;
    bool numeric = *line != '+' && *line != '-';
    if (numeric && !read_number(line + 1, length - 1, &number)) {
        return -EPROTO;
    }
    if ((*line == '$' || *line == '*') && number < -1) {
        return -EPROTO;
    }
    if (*line == '$' && number >= 0) {
        if ((uint64_t)number > RESP_BYTES) {
            return -EMSGSIZE;
        }
        size_t size = (size_t)number;
        if (reader->end - next < size + 2) {
            return 0;
        }
        if (memcmp(reader->bytes + next + size, "\r\n", 2) != 0) {
            return -EPROTO;
        }
        next += size + 2;
    }
    reader->at = next;
    return *line == '*' ? enter(reader, number) : 1;
}

/* Builds the value at *at, which is complete and well-formed, and advances
 * *at. */
static void
build(struct resp_reader *reader, size_t *at, struct resp_value *value,
      size_t *used)
{
    size_t length = 0;
    const char *line = reader->bytes + *at;
    (void)find_line(reader->bytes, *at, reader->end, &length);
    *at += length + 2;
    memset(value, 0, sizeof(*value));
    if (*line == '+' || *line == '-') {
        value->kind = *line == '+' ? RESP_SIMPLE : RESP_ERROR;
        value->at = line + 1;
        value->size = length - 1;
        return;
    }
    (void)read_number(line + 1, length - 1, &value->integer);
    if (*line == ':') {
        value->kind = RESP_INTEGER;
    } else if (value->integer < 0) {
        value->kind = RESP_NULL;
    } else if (*line == '$') {
        value->kind = RESP_BULK;
        value->size = (size_t)value->integer;
        value->at = reader->bytes + *at;
        *at += value->size + 2;
    } else {
        value->kind = RESP_ARRAY;
        value->count = (size_t)value->integer;
        value->items = reader->tree + *used;
        *used += value->count;
        for (size_t i = 0; i < value->count; i++) {
            build(reader, at, &value->items[i], used);
        }
    }
}

static bool
grow(struct resp_reader *reader)
{
    if (reader->values <= reader->tree_room) {
        return true;
    }
    struct resp_value *tree = malloc(reader->values * sizeof(*tree));
    if (tree == NULL) {
        return false;
    }
    free(reader->tree);
    reader->tree = tree;
    reader->tree_room = reader->values;
    return true;
}

int
resp_next(struct resp_reader *reader, const struct resp_value **reply)
{
    if (reader->at == reader->begin) {
        reader->values = 1;
        reader->depth = 0;
    }
    do {
        int code = pass(reader);
        if (code == 0 && reader->end - reader->begin > RESP_BYTES) {
            code = -EMSGSIZE;
        }
        if (code != 1) {
            return code;
        }
        while (reader->depth > 0 && --reader->left[reader->depth - 1] == 0) {
            reader->depth--;
        }
    } while (reader->depth > 0);
    if (!grow(reader)) {
        return -ENOMEM;
    }
    size_t used = 1;
    build(reader, &reader->begin, reader->tree, &used);
    *reply = reader->tree;
    return 1;
}

static bool
put_bytes(struct resp_writer *writer, const char *at, size_t size)
{
    if (writer->sent == writer->size) {
        writer->sent = writer->size = 0;
    }
    if (writer->room - writer->size < size) {
        size_t larger = 2 * writer->room + size;
        char *bytes = realloc(writer->bytes, larger);
        if (bytes == NULL) {
            return false;
        }
        writer->bytes = bytes;
        writer->room = larger;
    }
    memcpy(writer->bytes + writer->size, at, size);
    writer->size += size;
    return true;
}

static bool
put_head(struct resp_writer *writer, char kind, size_t number)
{
    char head[32];
    int size = snprintf(head, sizeof(head), "%c%zu\r\n", kind, number);
    return put_bytes(writer, head, (size_t)size);
}

bool
resp_command(struct resp_writer *writer, const struct resp_word *words,
             size_t count)
{
    bool good = put_head(writer, '*', count);
    for (size_t i = 0; good && i < count; i++) {
        good = put_head(writer, '$', words[i].size) &&
               put_bytes(writer, words[i].at, words[i].size) &&
               put_bytes(writer, "\r\n", 2);
    }
    return good;
}

bool
resp_is(const struct resp_value *value, const char *text)
{
    return (value->kind == RESP_SIMPLE || value->kind == RESP_BULK) &&
           value->size == strlen(text) &&
           memcmp(value->at, text, value->size) == 0;
}
