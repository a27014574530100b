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

/* The first byte of a case, modulo 4 unless it is OPS_EDGES: where its TTLs and
 * times come from. */
enum ops_mix {
    OPS_FEW,     /* a handful of TTLs */
    OPS_UNIQUE,  /* hardly any TTL twice */
    OPS_EXTREME, /* around the powers of two and the ends of the range */
    OPS_ANY,     /* each value from any of them */
    OPS_MIXES,
    OPS_EDGES = OPS_MIXES /* 2^k - 1, 2^k, 2^k + 1 for all there is: TTLs,
                             deadlines, times, resolutions, budgets */
};

/* A mistake of one of the two judges of a lawn, the oracle or the witness, to see
 * that it is noticed. */
enum ops_fault {
    OPS_NO_FAULT,
    OPS_ORACLE_TTL, /* starts last a tick longer, now and then */
    OPS_ORACLE_STOP,
    OPS_ORACLE_FIRE,
    OPS_ORACLE_CLOCK,
    OPS_ORACLE_RESOLUTION,
    OPS_WITNESS_TTL,
    OPS_WITNESS_STOP,
    OPS_WITNESS_FIRE,
    OPS_WITNESS_CLOCK,
    OPS_WITNESS_RESOLUTION,
    OPS_FAULTS
};

/* What fired, in order. */
struct ops_firing {
    uint32_t timer;
    uint64_t deadline;
    uint64_t now; /* that the lawn was set to */
};

struct ops_log {
    struct ops_firing *firings;
    size_t room;
    size_t length; /* may be more than there was room for */
};

struct ops_config;
struct ops_result;

/* An interpreter. True: all promises were kept. */
typedef bool ops_run_fn(const struct ops_config *config, const uint8_t *bytes,
                        size_t size, struct ops_result *result);

struct ops_config {
    ops_run_fn *run;      /* which one, for whoever drives several */
    uint64_t check_every; /* lawn_check() after so many operations; 0: never */
    uint32_t timers;      /* 0: the case gives how many, at most 256 */
    bool fill;            /* start all timers of a new lawn */
    bool fatal;           /* abort() as soon as a promise is broken */
    bool light;           /* the oracle looks at all timers now and then only,
                             and leaves it to the witness to do so always */
    enum ops_fault fault;

    /* Only what leaves the order of all firings to P4 alone: timers of different
     * TTLs are never due at one time. So two lawns given the same bytes have to
     * fire the same, in the same order. */
    bool determined;
    uint64_t pieces;     /* 0, or a seed for cutting each mow into several */
    struct ops_log *log; /* or NULL */
    FILE *trace;         /* where to print what is done, or NULL */

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

/* The same with a lawn without index, blades and lower bounds, built apart
 * (LAWN_NAIVE); NULL where nobody asks for it, so that it need not be linked. */
extern ops_run_fn naive_ops_run __attribute__((weak));

#endif
