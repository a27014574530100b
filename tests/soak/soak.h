/* soak.h - the options and results of the two kinds of soak test. */
#ifndef LAWN_TESTS_SOAK_H
#define LAWN_TESTS_SOAK_H

#include <stdbool.h>
#include <stdint.h>

struct soak_options {
    uint64_t seconds;
    uint64_t seed;
    uint64_t timers;      /* 0: the default of each kind */
    uint64_t stored;      /* timers of the store */
    uint64_t check_every; /* in operations; for rounds */
    uint64_t tick;        /* of the lawn, in microseconds */
};

/* Timers on the real clock; rounds of random operations compared with oracles.
 * Return true if all promises were kept. */
bool soak_live(const struct soak_options *options);
bool soak_rounds(const struct soak_options *options);

#endif
