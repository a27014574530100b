/* ops.h - bytes in, operations on a lawn and on the oracle out, compared.
 *
 * One interpreter, many drivers: random bytes (model), a fuzzer's, those of a
 * failure found earlier (regress), an allocator that refuses (oom), hours of it
 * (soak). Every sequence of bytes is a valid case, so what one driver finds,
 * all can replay, and a case can be cut down by leaving bytes out.
 */
#ifndef LAWN_TESTS_OPS_H
#define LAWN_TESTS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first byte of a case, modulo 4: where its TTLs and times come from. */
enum ops_mix {
    OPS_FEW,     /* a handful of TTLs */
    OPS_UNIQUE,  /* hardly any TTL twice */
    OPS_EXTREME, /* around the powers of two and the ends of the range */
    OPS_ANY,     /* each value from any of them */
    OPS_MIXES
};

struct ops_config;
struct ops_result;

/* An interpreter. True: all promises were kept. */
typedef bool ops_run_fn(const struct ops_config *config, const uint8_t *bytes,
                        size_t size, struct ops_result *result);

struct ops_config {
    ops_run_fn *run;      /* which one, for whoever drives several */
    uint64_t check_every; /* lawn_check() after so many operations; 0: never */
    uint32_t timers;      /* 0: the case says how many, at most 256 */
    bool fill;            /* start all timers of a new lawn */
    bool fatal;           /* abort() as soon as a promise is broken */
    FILE *trace;          /* where to tell what is done, or NULL */

    /* For lawn_new(); NULL: malloc() and free(). */
    void *(*alloc)(size_t size, void *context);
    void (*release)(void *memory, void *context);
    void *context;

    /* How many allocations were made in the whole program, and how many of
     * them were refused. NULL: nobody counts, none is refused. */
    const uint64_t *allocations;
    const uint64_t *refusals;
};

struct ops_result {
    uint64_t operations;
    uint64_t fires;
    uint64_t refused;  /* lawns that could not be made */
    char message[256]; /* the promise that was broken, or "" */
};

/* The one for lawns. */
ops_run_fn ops_run;

#endif
