/* ops.h - turns bytes into operations on a lawn and on the oracle, and compares
 * the two.
 *
 * One interpreter, many drivers: random bytes (model), a fuzzer, the bytes of
 * an earlier failure (regress), an allocator that refuses (oom), hours of
 * random operations (soak). Every sequence of bytes is a valid case. So every
 * driver can replay what another found, and a case can be reduced by removing
 * bytes.
 */
#ifndef LAWN_TESTS_OPS_H
#define LAWN_TESTS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first byte of a case, modulo 4 unless it is OPS_EDGES: the source of its
 * TTLs and times. */
enum ops_mix {
    OPS_FEW,     /* a few TTLs */
    OPS_UNIQUE,  /* hardly any TTL twice */
    OPS_EXTREME, /* around the powers of two and the ends of the range */
    OPS_ANY,     /* each value from any of these */
    OPS_MIXES,
    OPS_EDGES = OPS_MIXES, /* 2^k - 1, 2^k, 2^k + 1 for all values */

    /* For lawns only: with classes. These are bits of the first byte, in
     * addition to one of the first four mixes. */
    OPS_CLASSES = 0x80,
    OPS_CLASSES_MANY = 0x84,
    OPS_CLASSES_MASK = 0xE0
};

/* An injected fault in one of the two judges of a lawn, the oracle or the
 * witness, or in the oracle of its classes, to check that it is detected. */
enum ops_fault {
    OPS_NO_FAULT,
    OPS_ORACLE_TTL, /* some starts last a tick longer */
    OPS_ORACLE_STOP,
    OPS_ORACLE_FIRE,
    OPS_ORACLE_CLOCK,
    OPS_ORACLE_RESOLUTION,
    OPS_WITNESS_TTL,
    OPS_WITNESS_STOP,
    OPS_WITNESS_FIRE,
    OPS_WITNESS_CLOCK,
    OPS_WITNESS_RESOLUTION,
    OPS_CLASS_TTL, /* some new classes have a TTL that is a tick longer */
    OPS_CLASS_STOP,
    OPS_FAULTS
};

/* The fired timers, in order. */
struct ops_firing {
    uint32_t timer;
    uint64_t deadline;
    uint64_t now; /* time of the lawn */
};

struct ops_log {
    struct ops_firing *firings;
    size_t room;
    size_t length; /* may exceed the capacity */
};

struct ops_config;
struct ops_result;

/* An interpreter. Returns true if all promises were kept. */
typedef bool ops_run_fn(const struct ops_config *config, const uint8_t *bytes,
                        size_t size, struct ops_result *result);

struct ops_config {
    ops_run_fn *run;      /* for drivers with several interpreters */
    uint64_t check_every; /* operations between lawn_check() calls; 0: never */
    uint32_t timers;      /* 0: given by the case, at most 256 */
    bool fill;            /* start all timers of a new lawn */
    bool fatal;           /* abort() as soon as a promise is broken */
    bool light;           /* the oracle looks at all timers only sometimes */
    enum ops_fault fault;

    /* P4 alone determines the order of all fires: timers of different TTLs are
     * never due at the same time. Two lawns given the same bytes must then fire
     * the same timers in the same order. */
    bool determined;
    uint64_t pieces;     /* seed for splitting each mow into several, or 0 */
    struct ops_log *log; /* or NULL */
    FILE *trace;         /* where to print the operations, or NULL */

    /* For lawn_new(); NULL: malloc() and free(). */
    void *(*alloc)(size_t size, void *context);
    void (*release)(void *memory, void *context);
    void *context;

    /* Number of allocations in the whole program, and of refused ones. NULL:
     * not counted, and none is refused. */
    const uint64_t *allocations;
    const uint64_t *refusals;
};

struct ops_result {
    uint64_t operations;
    uint64_t fires;
    uint64_t refused;  /* lawns that could not be created */
    char message[256]; /* the broken promise, or "" */
};

/* The interpreter for lawns. */
ops_run_fn ops_run;

/* The same with a lawn without index, blades and lower bounds, compiled
 * separately (LAWN_NAIVE); NULL if it is not linked. */
extern ops_run_fn naive_ops_run __attribute__((weak));

#endif
