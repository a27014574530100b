/* fuzz_callbacks.c - callbacks as small programs: a timer that fires starts,
 * stops, frees and moves itself and others, mostly those due in the same tick,
 * halts the mow, sets the time, changes the resolution. See small.h.
 *
 * The first byte selects the TTLs and times: few; some that share blades by
 * their hash; powers of two and their neighbors; or all of these.
 */
#include "internal.h"
#include "small.h"

#define FUZZ_PAIRS 16u /* pairs of a first and a second set, of 8 blades */

static uint64_t fuzz_shared[256]; /* TTLs, by pairs of sets */

static uint64_t
fuzz_few(uint8_t byte)
{
    return byte & 15;
}

static uint64_t
fuzz_some(uint8_t byte)
{
    return byte < 0xC0 ? byte & 31 : small_extreme(byte & 63);
}

static uint64_t
fuzz_many(uint8_t byte)
{
    return byte < 0x80 ? byte & 15 : (uint64_t)(byte & 0x7F) * 8;
}

/* Finds 16 TTLs for each pair of sets, the smallest ones. */
static void
fuzz_search(void)
{
    const struct lawn_blades blades = {.homes = 16, .shift = 60};
    uint8_t found[FUZZ_PAIRS] = {0};

    for (uint64_t ttl = 1; ttl < 4096; ttl++) {
        uint64_t hash = lawn__blades_hash(ttl);
        uint64_t pair =
            hash >> 62 << 2 | lawn__blades_rehash(&blades, hash) >> 62;

        if (found[pair] < 16) {
            fuzz_shared[pair * 16 + found[pair]++] = ttl;
        }
    }
    small_expect(fuzz_shared[255] != 0, "too few TTLs");
}

static uint64_t
fuzz_colliding(uint8_t byte)
{
    if (fuzz_shared[0] == 0) {
        fuzz_search();
    }
    return fuzz_shared[byte];
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct small_palette palettes[4] = {
        {fuzz_few, fuzz_few, fuzz_some, fuzz_few},
        {fuzz_colliding, fuzz_many, small_extreme, fuzz_few},
        {small_extreme, small_extreme, small_extreme, small_extreme},
        {fuzz_some, fuzz_some, fuzz_some, fuzz_some},
    };

    if (size > 0) {
        small_run(&palettes[bytes[0] >> 6], bytes, size);
    }
    return 0;
}
