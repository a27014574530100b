/* small.h - a lawn of few blades and 16 timers against a plain array, fast.
 *
 * What tests/kit/ops.h does with everything, this does with little: the smallest
 * lawn there is, placed anew for each case, and a case of some dozen bytes. So a
 * fuzzer goes through a hundred times as many of them. The array here is
 * written apart from that of tests/kit/oracle.h, on purpose.
 *
 * A case is a byte for the lawn, then operations of two or three bytes. When a
 * timer fires, its callback reads a little program of operations from the same
 * bytes. Where TTLs and times come from is the target's choice.
 */
#ifndef LAWN_TESTS_FUZZ_SMALL_H
#define LAWN_TESTS_FUZZ_SMALL_H

#include "fuzz.h"

/* Says what is wrong, and aborts, unless it is true. */
void small_expect(int good, const char *what);

/* What a byte means: a TTL, a step of the clock, the time at first, a
 * resolution. */
struct small_palette {
    uint64_t (*ttl)(uint8_t byte);
    uint64_t (*step)(uint8_t byte);
    uint64_t (*start)(uint8_t byte);
    uint64_t (*resolution)(uint8_t byte);
};

void small_run(const struct small_palette *palette, const uint8_t *bytes,
               size_t size);

/* For palettes: a power of two, one less or one more, or the last numbers. */
uint64_t small_extreme(uint8_t byte);

#endif
