/* small.h - a fast comparison of a lawn of few blades and 16 timers with an
 * array.
 *
 * tests/kit/ops.h uses all features; this uses the smallest possible lawn,
 * placed again for each case, and cases of some dozen bytes. So a fuzzer runs a
 * hundred times as many cases. The array is intentionally independent of
 * tests/kit/oracle.h.
 *
 * A case is a byte for the lawn, then operations of two or three bytes. When a
 * timer fires, its callback reads a small program of operations from the same
 * bytes. The target chooses the TTLs and times.
 */
#ifndef LAWN_TESTS_FUZZ_SMALL_H
#define LAWN_TESTS_FUZZ_SMALL_H

#include "fuzz.h"

/* Prints the message and aborts unless good is true. */
void small_expect(int good, const char *what);

/* The meaning of a byte: a TTL, a step of the clock, the initial time, a
 * resolution. */
struct small_palette {
    uint64_t (*ttl)(uint8_t byte);
    uint64_t (*step)(uint8_t byte);
    uint64_t (*start)(uint8_t byte);
    uint64_t (*resolution)(uint8_t byte);
};

void small_run(const struct small_palette *palette, const uint8_t *bytes,
               size_t size);

/* For palettes: a power of two, one less or one more, or the largest
 * numbers. */
uint64_t small_extreme(uint8_t byte);

#endif
