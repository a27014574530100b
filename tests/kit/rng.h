/* rng.h - a small seeded random number generator (splitmix64). */
#ifndef LAWN_TESTS_RNG_H
#define LAWN_TESTS_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t
rng_next(struct rng *rng)
{
    uint64_t x = rng->state += UINT64_C(0x9E3779B97F4A7C15);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Returns a number below limit. */
static inline uint64_t
rng_below(struct rng *rng, uint64_t limit)
{
    return rng_next(rng) % limit;
}

static inline void
rng_fill(struct rng *rng, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(rng_next(rng) >> 56);
    }
}

#endif
