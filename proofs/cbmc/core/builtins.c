/* builtins.c - proves the facts about bits that proofs/wp/builtins.h assumes.
 *
 * @flags -DNDEBUG
 *
 * @proof builtins_bits
 * The axioms of WP about compiler built-ins, xor and and, for all values.
 */
#include "proof.h"

#include <internal.h>

void
builtins_bits(void)
{
    uint64_t x = nondet_u64();
    uint64_t m = nondet_u64();
    uint32_t c = nondet_u32();
    uint32_t y = nondet_u32();
    uint64_t d = nondet_u64();

    PROVE((x & m) <= m && (x & m) <= x, "an and is not above either");
    PROVE(d == 0 ||
              UINT64_C(1) << (63u ^ (unsigned)__builtin_clzll(d | 1)) <= d,
          "the highest bit is not above the number");
    PROVE((63u ^ (unsigned)__builtin_clzll(1)) == 0, "the highest bit of 1");
    PROVE(c > 63 || (63u ^ c) <= 63, "63 less a number up to 63");
    if (x != 0) {
        PROVE((unsigned)__builtin_clzll(x) <= 63, "zeros above the highest");
        PROVE((unsigned)__builtin_ctzll(x) <= 63, "zeros below the lowest");
    }
    if (y != 0) {
        PROVE((unsigned)__builtin_ctz(y) <= 31, "zeros below the lowest of 32");
    }
    PROOF_END();
}
