/* script.h - reads the bytes of a case and prints its operations. Shared by the
 * interpreters.
 *
 * A case is a sequence of bytes; each operation reads those that it needs, and
 * zeros after the last. Operations are printed as text if there is a trace. The
 * first broken promise is kept.
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
    uint64_t reach; /* jumps of the clock are limited to these bits */
    uint64_t span;  /* mask of the TTLs that are neither OPS_FEW nor extreme */
    unsigned depth; /* of nested callbacks, for indentation */
    bool failed;
};

/* Reads the mix and a byte for the style of the case, and returns the latter;
 * it determines reach and span. Bits 0, 1, 4 and 5 are left to the caller. */
uint8_t script_begin(struct script *script, const struct ops_config *config,
                     const uint8_t *bytes, size_t size,
                     struct ops_result *result);

/* Prints an operation if there is a trace. */
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

/* Returns 2^k - 1, 2^k or 2^k + 1 for any k, or one of the largest numbers. */
uint64_t script_take_extreme(struct script *script);

uint64_t script_take_ttl(struct script *script);
uint64_t script_take_resolution(struct script *script);

/* Returns a step of the clock: usually a few ticks, or far, within reach. */
uint64_t script_take_step(struct script *script);
uint64_t script_take_jump(struct script *script);

/* Returns a time far from now; with OPS_EDGES usually an edge value. */
uint64_t script_take_far(struct script *script, uint64_t now);

size_t script_take_budget(struct script *script);

/* Reads options of a lawn, except its allocator. */
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
