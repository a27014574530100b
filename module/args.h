/* args.h - the words of commands: numbers, options, and what LAWN.APPLY writes
 * after an event. No server here, and no memory: what is read points into the
 * words.
 *
 * Functions that return text return NULL if all is well, else the error to
 * reply with, and *out means nothing then. Options come in any order and any
 * case of letters, each at most once.
 */
#ifndef ARGS_H
#define ARGS_H

#include "queue.h"

/* Events are due at this time at the latest: so that a period, a delay or a
 * jitter can be added to a time without a thought for overflow. Whoever adds
 * them cuts the sum here. */
#define ARGS_DUE_MAX (UINT64_C(1) << 54)
/* Counts and settings: what a reply can tell. */
#define ARGS_COUNT_MAX ((uint64_t)INT64_MAX)
/* What languages can tell from its neighbours that have no other numbers than
 * doubles. */
#define ARGS_TOKEN_MAX ((UINT64_C(1) << 53) - 1)
/* How often an event is leased. */
#define ARGS_TRIES_MAX ((uint64_t)UINT32_MAX)
/* resolution-ms: a day. */
#define ARGS_RESOLUTION_MAX UINT64_C(86400000)

#define ARGS_SYNTAX "ERR syntax error"

/* Whether a word is this one, in capitals or not. */
bool args_is(struct bytes word, const char *name);

/* Decimal numbers as the server writes them: no spaces, no leading zeros, no
 * plus. A signed one is -max to max; max is INT64_MAX at most. */
bool args_parse_number(struct bytes word, uint64_t min, uint64_t max,
                       uint64_t *out);
bool args_parse_signed(struct bytes word, uint64_t max, int64_t *out);

/* When: DELAY ms, AT ms, or, where that is allowed, BY ms. */
enum args_how { ARGS_NEVER, ARGS_DELAY, ARGS_AT, ARGS_BY };
struct args_time {
    enum args_how how;
    uint64_t ms; /* of DELAY and AT */
    int64_t by;
};

/* LAWN.PUSH, after the payload. The repetition has missed none. */
struct args_push {
    struct args_time time;
    bool absent;  /* NX */
    bool present; /* XX */
    struct queue_repeat repeat;
    uint64_t jitter;
    uint64_t tries; /* 0: as is set for the key */
};
const char *args_parse_push(const struct bytes *words, size_t count,
                            struct args_push *out);

/* LAWN.MPUSH, after the key: pairs of an id and a payload, 1 at least. */
struct args_mpush {
    struct args_time time;
    const struct bytes *pairs;
    size_t count; /* of pairs */
};
const char *args_parse_mpush(const struct bytes *words, size_t count,
                             struct args_mpush *out);

/* LAWN.TOUCH, after the id. */
struct args_touch {
    struct args_time time;
    bool later;   /* GT */
    bool earlier; /* LT */
};
const char *args_parse_touch(const struct bytes *words, size_t count,
                             struct args_touch *out);

/* LAWN.POLL, after the key. */
struct args_poll {
    uint64_t count; /* 100 unless told */
    bool block;
    uint64_t timeout; /* 0: none */
    bool meta;
};
const char *args_parse_poll(const struct bytes *words, size_t count,
                            struct args_poll *out);

/* LAWN.LEASE, after the owner. */
struct args_lease {
    uint64_t lease; /* 0: as is set for the key */
    uint64_t count; /* 1 unless told */
    bool block;
    uint64_t timeout; /* 0: none */
};
const char *args_parse_lease(const struct bytes *words, size_t count,
                             struct args_lease *out);

/* A token; none that was given out is 0. */
const char *args_parse_token(struct bytes word, uint64_t *out);

/* [DELAY ms] of LAWN.NACK, and LEASE ms of LAWN.EXTEND: nothing else. */
const char *args_parse_nack(const struct bytes *words, size_t count,
                            struct args_time *out);
const char *args_parse_extend(const struct bytes *words, size_t count,
                              uint64_t *out);

/* LAWN.SCAN, after the key. */
enum args_state { ARGS_ANY, ARGS_WAITING, ARGS_DUE, ARGS_LEASED, ARGS_DEAD };
struct args_scan {
    uint64_t cursor;
    uint64_t count; /* 10 unless told */
    enum args_state state;
    bool match;
    struct bytes pattern;
};
const char *args_parse_scan(const struct bytes *words, size_t count,
                            struct args_scan *out);

/* [COUNT c] and nothing else; *out stays if it is not told. */
const char *args_parse_count(const struct bytes *words, size_t count,
                             uint64_t *out);

/* [META], or nothing. */
const char *args_parse_with_meta(const struct bytes *words, size_t count,
                                 bool *out);

/* [WAITING|DUE|LEASED|DEAD], or nothing. */
const char *args_parse_state(const struct bytes *words, size_t count,
                             enum args_state *out);

/* The settings: the first of them are a user's. */
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
/* False: there is none of that name. */
bool args_parse_sink(struct bytes word, enum queue_sink_kind *out);
/* ARGS_SETS: there is none of that name. */
enum args_set args_set_find(struct bytes name);
/* A setting as a number; resolution-ms is at least 1. */
uint64_t args_set_value(const struct queue_settings *settings,
                        enum args_set set);

/* A setting: maxlen, maxbytes, overflow, resolution-ms, tries, lease; and for
 * LAWN.APPLY, `all`, paused. The settings are changed only if all is well. */
enum args_setting { ARGS_SET, ARGS_UNKNOWN, ARGS_BAD };
enum args_setting args_parse_setting(struct bytes name, struct bytes value,
                                     bool all, struct queue_settings *settings);

/* The words of CFG for settings that are others than before: names and values. */
struct args_settings {
    struct bytes words[2 * ARGS_SETS];
    size_t count;
    char text[ARGS_SETS][21];
};
void args_settings_write(const struct queue_settings *settings,
                         const struct queue_settings *before,
                         struct args_settings *out);

/* What LAWN.APPLY says of an event beside its times: "" of a plain one, else
 * letters with a space between them: a (alone), g (the id was made here), and
 * of one that repeats e<period>, t<times> and m<missed>; of one with tries n<made>
 * and k<most>. */
#define ARGS_META_SIZE 96
struct args_meta {
    bool alone;
    bool made;
    struct queue_repeat repeat;
    struct queue_tries tries;
};
/* False: it is none, and *out means nothing. */
bool args_meta_read(struct bytes meta, struct args_meta *out);
/* Writes it, with a 0 byte at its end; returns its size without that. */
size_t args_meta_write(const struct args_meta *event,
                       char meta[ARGS_META_SIZE]);

#endif
