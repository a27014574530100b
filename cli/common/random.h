/* random.h - a small seeded random number generator (splitmix64). */
#ifndef LAWN_CLI_RANDOM_H
#define LAWN_CLI_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

/* Mixes all bits of a number. */
static inline uint64_t
random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline uint64_t
random_next(struct random *random)
{
    return random_mix(random->state += UINT64_C(0x9E3779B97F4A7C15));
}

/* Returns a number below end, which is at most 2^32. */
static inline uint64_t
random_below(struct random *random, uint64_t end)
{
    return ((random_next(random) >> 32) * end) >> 32;
}

/* Returns a number from 0 up to, not including, 1. */
static inline double
random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

#endif
