/* script.c - shared by the interpreters: see script.h. */
#include "script.h"

#include "lawn.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint8_t
script_begin(struct script *script, const struct ops_config *config,
             const uint8_t *bytes, size_t size, struct ops_result *result)
{
    static const unsigned reach[4] = {16, 9, 32, 64};
    static const unsigned span[4] = {16, 8, 12, 5};

    memset(script, 0, sizeof(*script));
    memset(result, 0, sizeof(*result));
    script->config = config;
    script->result = result;
    script->bytes = bytes;
    script->size = size;
    uint8_t byte = script_take(script);
    script->mix =
        (enum ops_mix)(byte == OPS_EDGES ? OPS_EDGES : byte % OPS_MIXES);
    byte = script_take(script);
    script->reach = UINT64_MAX >> (64 - reach[byte / 4 % 4]);
    script->span = UINT64_MAX >> (64 - span[byte / 64]);
    return byte;
}

void
script_trace(const struct script *script, const char *format, ...)
{
    FILE *out = script->config->trace;

    (void)fprintf(out, "%*s", (int)script->depth * 8, "");
    va_list args;
    va_start(args, format);
    (void)vfprintf(out, format, args);
    va_end(args);
    (void)fputc('\n', out);
    (void)fflush(out);
}

void
script_fail(struct script *script, const char *format, ...)
{
    char *message = script->result->message;

    if (script->failed) {
        return;
    }
    script->failed = true;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(script->result->message), format, args);
    va_end(args);
    TRACE(script, "BROKEN: %s", message);
    if (script->config->fatal) {
        (void)fprintf(stderr, "%s\n", message);
        abort();
    }
}

void
script_expect(struct script *script, const char *promise, uint64_t is,
              uint64_t should_be)
{
    if (is != should_be) {
        script_fail(script, "%s is %llu, should be %llu", promise,
                    (unsigned long long)is, (unsigned long long)should_be);
    }
}

uint32_t
script_take_wide(struct script *script, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0) {
        value = value << 8 | script_take(script);
    }
    return value;
}

uint64_t
script_take_extreme(struct script *script)
{
    uint8_t byte = script_take(script);
    unsigned k = byte % 64;

    switch (byte / 64) {
    case 0:
        return (UINT64_C(1) << k) - 1;
    case 1:
        return UINT64_C(1) << k;
    case 2:
        return (UINT64_C(1) << k) + 1;
    default:
        return UINT64_MAX - (k < 32 ? k % 3 : k);
    }
}

uint64_t
script_take_ttl(struct script *script)
{
    static const uint64_t few[] = {1, 2, 10, 64, 100, 1000, 4096, 30000};
    enum ops_mix mix = script->mix;

    if (mix == OPS_ANY) {
        mix = (enum ops_mix)(script_take(script) % OPS_ANY);
    }
    if (mix == OPS_EXTREME || mix == OPS_EDGES) {
        return script_take_extreme(script);
    }
    uint8_t byte = script_take(script);
    if (byte >= 252) {
        return script_take_extreme(script);
    }
    if (mix == OPS_FEW) {
        return script->span > 256 ? few[byte % 8]
                                  : script->span / 2 + byte % 16;
    }
    return (((uint64_t)byte << 8 | script_take(script)) & script->span) + 1;
}

uint64_t
script_take_step(struct script *script)
{
    uint8_t byte = script_take(script);

    if (script->mix == OPS_EDGES && byte >= 128) {
        return script_take_extreme(script) & script->reach;
    }
    return byte < 192 ? byte % 16 : (byte - 191u) * 37;
}

uint64_t
script_take_far(struct script *script, uint64_t now)
{
    if (script->mix == OPS_EDGES && script_take(script) % 4 != 0) {
        uint64_t time = script_take_extreme(script);
        if (time > now && time - now <= script->reach) {
            return time;
        }
    }
    return script_later(now, script_take_jump(script));
}

uint64_t
script_take_jump(struct script *script)
{
    return script_take_extreme(script) & script->reach;
}

size_t
script_take_budget(struct script *script)
{
    uint8_t byte = script_take(script);

    if (script->mix == OPS_EDGES && byte >= 160) {
        return (size_t)script_take_extreme(script);
    }
    switch (byte % 4) {
    case 0:
        return SIZE_MAX;
    case 1:
        return byte % 3 == 0 ? 0 : 1;
    default:
        return 1 + byte / 4 % 8;
    }
}

uint64_t
script_take_resolution(struct script *script)
{
    uint8_t byte = script_take(script);
    uint64_t ten = 1;

    if (script->mix == OPS_EDGES && byte >= 64) {
        return script_take_extreme(script);
    }
    switch (byte % 8) {
    case 0:
        return 0;
    case 1:
    case 2:
        return 1;
    case 3:
        for (unsigned k = byte / 8 % 20; k > 0; k--) {
            ten *= 10;
        }
        return ten;
    case 4:
        return script_take_extreme(script);
    default:
        return 2 + byte / 8;
    }
}

void
script_take_lawn(struct script *script, struct lawn_options *options)
{
    static const size_t blades[8] = {16, 0, 1, 17, 64, 64, 2048, 16};
    static const unsigned bits[8] = {4, 0, 5, 6, 7, 8, 4, 99};
    uint8_t byte = script_take(script);
    uint8_t time = script_take(script);

    memset(options, 0, sizeof(*options));
    options->blades = blades[byte % 8];
    options->slot_bits = bits[byte / 8 % 8];
    options->resolution = byte < 224 ? 0 : script_take_resolution(script);
    if (script->mix == OPS_EXTREME || script->mix == OPS_EDGES || time >= 128) {
        options->now = script_take_extreme(script);
    }
}
