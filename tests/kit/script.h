/* script.h - the bytes of a case as they are read, and what is printed about it.
 *
 * What the interpreters have in common. A case is a sequence of bytes; each
 * operation reads those that it needs, and zeros when there are none left. What
 * is done is printed in words if there is a trace; the first promise
 * that is broken is kept.
 */
#ifndef LAWN_TESTS_SCRIPT_H
#define LAWN_TESTS_SCRIPT_H

#include "ops.h"

struct script {
    const struct ops_config *config;
    struct ops_result *result;
    const uint8_t *bytes;
    size_t size;
    size_t at;
    enum ops_mix mix;
    uint64_t reach; /* jumps of the clock are cut down to these bits */
    uint64_t span;  /* TTLs that are neither few nor extreme have these bits */
    unsigned depth; /* of the callbacks under way: how far to indent */
    bool failed;
};

/* Reads the mix and a byte for the manner of the case, which it returns; reach
 * and span come from it. Leaves bits 0, 1, 4 and 5 to the caller. */
uint8_t script_begin(struct script *script, const struct ops_config *config,
                     const uint8_t *bytes, size_t size,
                     struct ops_result *result);

/* Prints what is done, if there is a trace. */
#define TRACE(script, ...)                                                     \
    do {                                                                       \
        if ((script)->config->trace != NULL) {                                 \
            script_trace((script), __VA_ARGS__);                               \
        }                                                                      \
    } while (0)

void script_trace(const struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void script_fail(struct script *script, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void script_expect(struct script *script, const char *promise, uint64_t is,
                   uint64_t should_be);

static inline bool
script_over(const struct script *script)
{
    return script->failed || script->at >= script->size;
}

static inline uint8_t
script_take(struct script *script)
{
    return script->at < script->size ? script->bytes[script->at++] : 0;
}

uint32_t script_take_wide(struct script *script, unsigned bytes);

/* 2^k - 1, 2^k, 2^k + 1 for every k, and the last numbers there are. */
uint64_t script_take_extreme(struct script *script);

uint64_t script_take_ttl(struct script *script);
uint64_t script_take_resolution(struct script *script);

/* How far the clock goes: mostly a few ticks; or far, within reach. */
uint64_t script_take_step(struct script *script);
uint64_t script_take_jump(struct script *script);

/* A time that is far from now; of the edges mostly one of them. */
uint64_t script_take_far(struct script *script, uint64_t now);

size_t script_take_budget(struct script *script);

/* Options of a lawn, but for its allocator. */
struct lawn_options;
void script_take_lawn(struct script *script, struct lawn_options *options);

static inline uint64_t
script_later(uint64_t time, uint64_t ticks)
{
    return ticks < UINT64_MAX - time ? time + ticks : UINT64_MAX;
}

static inline uint64_t
script_earlier(uint64_t time, uint64_t ticks)
{
    return ticks < time ? time - ticks : 0;
}

#endif
