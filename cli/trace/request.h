/* request.h - the parsers of public cache traces. */
#ifndef LAWN_CLI_TRACE_REQUEST_H
#define LAWN_CLI_TRACE_REQUEST_H

#include "trace_read.h"

enum trace_request_kind {
    TRACE_REQUEST_READ,
    TRACE_REQUEST_WRITE,
    TRACE_REQUEST_DELETE,
    TRACE_REQUEST_UNKNOWN,
    TRACE_REQUEST_HEADER,
};

/* A request to a cache. Bytes of the key that an id must not contain are
 * escaped, for example as %20. */
struct trace_request {
    uint64_t time;
    enum trace_request_kind kind;
    char id[TRACE_ID_MAX];
    size_t id_length;
    uint64_t ttl; /* 0: none */
};

enum {
    TRACE_COLUMN_TIME,
    TRACE_COLUMN_KEY,
    TRACE_COLUMN_OPERATION,
    TRACE_COLUMN_TTL,
    TRACE_COLUMNS,
};

/* The state of a parser. All-zero bytes are Twitter's format before its first
 * line; with meta set, Meta's. */
struct trace_format {
    bool meta;
    bool first; /* the line is the first of its file */
    bool known; /* a header was read, and columns is set */
    unsigned columns[TRACE_COLUMNS];
    uint64_t time; /* of the last request */
};

/* Parses a line. Does not allocate or print. O(length). */
bool trace_request_parse(struct trace_format *format, const char *line,
                         size_t length, struct trace_request *out,
                         struct trace_wrong *wrong);

#endif
