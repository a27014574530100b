/* soak.h - what the two kinds of soak are told, and how they end. */
#ifndef LAWN_TESTS_SOAK_H
#define LAWN_TESTS_SOAK_H

#include <stdbool.h>
#include <stdint.h>

struct soak_options {
    uint64_t seconds;
    uint64_t seed;
    uint64_t timers;      /* 0: as each kind has them */
    uint64_t stored;      /* timers of the store beside them */
    uint64_t check_every; /* operations of rounds */
    uint64_t tick;        /* of the lawn, in microseconds */
};

/* Timers on the real clock; random operations in rounds, against oracles. True:
 * all promises were kept. */
bool soak_live(const struct soak_options *options);
bool soak_rounds(const struct soak_options *options);

#endif
