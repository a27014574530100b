/* args.h - parses the arguments of commands. Independent of the server.
 * Allocates no memory: results point into the arguments.
 *
 * Functions that return text return NULL on success, otherwise the error to
 * reply with; *out is then unspecified. The text is valid until the next error.
 * Options are accepted in any order and in any letter case, each at most
 * once.
 */
#ifndef ARGS_H
#define ARGS_H

#include "queue.h"

/* The latest due time: QUEUE_TIME_MAX plus a delay of QUEUE_TIME_MAX. */
#define ARGS_DUE_MAX (UINT64_C(1) << 54)
/* Limit of counts and settings: the largest integer of a reply. */
#define ARGS_COUNT_MAX ((uint64_t)INT64_MAX)
/* The largest exact integer of languages whose numbers are doubles. */
#define ARGS_TOKEN_MAX ((UINT64_C(1) << 53) - 1)
#define ARGS_TRIES_MAX ((uint64_t)UINT32_MAX)
/* Limit of resolution-ms: one day. */
#define ARGS_RESOLUTION_MAX UINT64_C(86400000)

#define ARGS_SYNTAX "ERR syntax error"
/* The number of bytes of an argument that an error quotes. */
#define ARGS_QUOTE_MAX 64u
#define ARGS_QUOTE_SIZE (ARGS_QUOTE_MAX + sizeof("'...'"))

/* Writes the word in quotes, as printable ASCII: other bytes and single quotes
 * become ?, and a word of more than ARGS_QUOTE_MAX bytes ends with "...". */
void args_quote(struct bytes word, char out[ARGS_QUOTE_SIZE]);

/* Return the syntax errors "... near 'WORD'" and "...: missing WHAT of
 * 'WORD'". */
const char *args_syntax_near(struct bytes word);
const char *args_syntax_missing(const char *what, struct bytes word);

/* Ranges up to QUEUE_TIME_MAX and ARGS_COUNT_MAX, for args_not_in_range(). */
#define ARGS_MS_RANGE(min)                                                     \
    "an integer number of milliseconds from " min " to 2^53"
#define ARGS_COUNT_RANGE(min) "an integer from " min " to 2^63 - 1"

/* Returns the error "ERR NAME must be RANGE, not 'WORD'". */
const char *args_not_in_range(const char *name, const char *range,
                              struct bytes word);

bool args_is(struct bytes word, const char *name);

/* Parse a decimal number without spaces, leading zeros or a plus sign. A signed
 * number ranges from -max to max; max is at most INT64_MAX. */
bool args_parse_number(struct bytes word, uint64_t min, uint64_t max,
                       uint64_t *out);
bool args_parse_signed(struct bytes word, uint64_t max, int64_t *out);

/* A time: DELAY ms, AT ms or, where allowed, BY ms. */
enum args_how { ARGS_NEVER, ARGS_DELAY, ARGS_AT, ARGS_BY };
struct args_time {
    enum args_how how;
    uint64_t ms; /* of DELAY and AT */
    int64_t by;
};

/* The arguments of LAWN.PUSH after the payload. repeat.missed is 0. */
struct args_push {
    struct args_time time;
    bool absent;  /* NX */
    bool present; /* XX */
    struct queue_repeat repeat;
    uint64_t jitter;
    uint64_t tries; /* 0: the default of the key */
};
const char *args_parse_push(const struct bytes *words, size_t count,
                            struct args_push *out);

/* The arguments of LAWN.MPUSH after the key: at least one pair of id and
 * payload. */
struct args_mpush {
    struct args_time time;
    const struct bytes *pairs;
    size_t count; /* of pairs */
};
const char *args_parse_mpush(const struct bytes *words, size_t count,
                             struct args_mpush *out);

/* The arguments of LAWN.TOUCH after the id. */
struct args_touch {
    struct args_time time;
    bool later;   /* GT */
    bool earlier; /* LT */
};
const char *args_parse_touch(const struct bytes *words, size_t count,
                             struct args_touch *out);

/* The arguments of LAWN.POLL after the key. */
struct args_poll {
    uint64_t count; /* default: 100 */
    bool block;
    uint64_t timeout; /* 0: none */
    bool meta;
};
const char *args_parse_poll(const struct bytes *words, size_t count,
                            struct args_poll *out);

/* The arguments of LAWN.LEASE after the owner. */
struct args_lease {
    uint64_t lease; /* 0: the default of the key */
    uint64_t count; /* default: 1 */
    bool block;
    uint64_t timeout; /* 0: none */
};
const char *args_parse_lease(const struct bytes *words, size_t count,
                             struct args_lease *out);

/* Parses a lease token. Issued tokens are never 0. */
const char *args_parse_token(struct bytes word, uint64_t *out);

/* Parse [DELAY ms] of LAWN.NACK and LEASE ms of LAWN.EXTEND. */
const char *args_parse_nack(const struct bytes *words, size_t count,
                            struct args_time *out);
const char *args_parse_extend(const struct bytes *words, size_t count,
                              uint64_t *out);

/* The arguments of LAWN.SCAN after the key. */
enum args_state { ARGS_ANY, ARGS_WAITING, ARGS_DUE, ARGS_LEASED, ARGS_DEAD };
struct args_scan {
    uint64_t cursor;
    uint64_t count; /* default: 10 */
    enum args_state state;
    bool match;
    struct bytes pattern;
};
const char *args_parse_scan(const struct bytes *words, size_t count,
                            struct args_scan *out);

/* Parses [COUNT c]. Without it, *out is unchanged. */
const char *args_parse_count(const struct bytes *words, size_t count,
                             uint64_t *out);

/* Parses [META]. */
const char *args_parse_with_meta(const struct bytes *words, size_t count,
                                 bool *out);

/* Parses [WAITING|DUE|LEASED|DEAD]. */
const char *args_parse_state(const struct bytes *words, size_t count,
                             enum args_state *out);

/* The settings. Users can set those before ARGS_SET_PAUSED. */
enum args_set {
    ARGS_SET_MAXLEN,
    ARGS_SET_MAXBYTES,
    ARGS_SET_OVERFLOW,
    ARGS_SET_RESOLUTION,
    ARGS_SET_TRIES,
    ARGS_SET_LEASE,
    ARGS_SET_PAUSED,
    ARGS_SETS
};
extern const char *const args_set_names[ARGS_SETS];
extern const char *const args_overflow_names[]; /* by enum queue_overflow */
extern const char *const args_sink_names[QUEUE_SINKS];
/* Returns false if the kind of sink is unknown. */
bool args_parse_sink(struct bytes word, enum queue_sink_kind *out);
/* Returns ARGS_SETS if the name is unknown. */
enum args_set args_set_find(struct bytes name);
/* Returns the value of a setting as a number. resolution-ms is at least 1. */
uint64_t args_set_value(const struct queue_settings *settings,
                        enum args_set set);

/* Parses a setting. Accepts paused only with `all`, which LAWN.APPLY sets.
 * Changes the settings only on success. */
enum args_setting { ARGS_SET, ARGS_UNKNOWN, ARGS_BAD };
enum args_setting args_parse_setting(struct bytes name, struct bytes value,
                                     bool all, struct queue_settings *settings);

/* The arguments of CFG for all changed settings: names and values. */
struct args_settings {
    struct bytes words[2 * ARGS_SETS];
    size_t count;
    char text[ARGS_SETS][21];
};
void args_settings_write(const struct queue_settings *settings,
                         const struct queue_settings *before,
                         struct args_settings *out);

/* The properties of an event that LAWN.APPLY writes after its times: "" for a
 * plain event, otherwise letters separated by spaces. a: alone; g: the id was
 * generated by the server; e<period>, t<times> and m<missed> of a recurring
 * event; n<made> and k<most> of an event with tries. */
#define ARGS_META_SIZE 96
struct args_meta {
    bool alone;
    bool made;
    struct queue_repeat repeat;
    struct queue_tries tries;
};
/* Returns false if meta is malformed; *out is then unspecified. */
bool args_meta_read(struct bytes meta, struct args_meta *out);
/* Writes the properties with a terminating 0 byte; returns the size without
 * it. */
size_t args_meta_write(const struct args_meta *event,
                       char meta[ARGS_META_SIZE]);

#endif
