/* table.c - the table of blades, by TTL: src/core/blades.h, blades.c.
 *
 * For every table of 16 to 32768 homes (blades that a hash can select), every
 * TTL and every deadline, with and without stripes. Proofs that read the blades
 * use 16 homes (44 blades) and an arbitrary hash instead of the shipped one.
 *
 * @without --unsigned-overflow-check: a hash is a product that wraps
 * @without --conversion-check: a stripe is picked by the low bits of a deadline
 * @flags -DNDEBUG --unwind 46
 *
 * @proof blades_at
 * @covers lawn__blades_at lawn__blades_hash lawn__blades_rehash
 * The blade and its set of four are within the table, for both choices of a
 * set.
 *
 * @proof blades_apart
 * @covers lawn__blades_apart lawn__blades_set_of lawn__blades_rehash
 * In a table of 128 homes or more, whatever the hash, all first and second sets
 * of a TTL's stripes are distinct.
 *
 * @proof blades_count
 * @covers lawn__blades_count
 * For every requested number: a power of two plus the spare blades, at least
 * twice the requested number, up to the maximum.
 *
 * @proof blades_init
 * @covers lawn__blades_init
 * All blades are empty, without TTL and index entry; the shift fits the homes.
 *
 * @proof blades_find
 * @covers lawn__blades_find find_in_set find_set
 * The blade that is found has the TTL and is in one of the TTL's two sets. If
 * none is found, no blade of these sets has the TTL. The TTLs in the table are
 * arbitrary.
 *
 * @proof blades_claim
 * @covers lawn__blades_claim find_free
 * The claimed blade is empty and in one of the TTL's two sets. If none is
 * claimed, all eight are in use. Which blades are empty is arbitrary.
 *
 * @proof blades_live
 * @covers lawn__blades_count_live
 * The blades that contain timers are counted. Six blades hold at most one timer
 * each.
 */
#include "proof.h"

#include "internal.h"

/* An arbitrary hash, the same in every call. */
static uint64_t proof_hash;

#define lawn__blades_hash(ttl) ((void)(ttl), proof_hash)
#include <blades.c>
#undef lawn__blades_hash

#define PROOF_COUNT (2 * LAWN_BLADES_MIN + LAWN_BLADES_SPARE)

static struct lawn_blades blades;
static struct lawn_blade all[PROOF_COUNT];
static struct lawn_timer timers[PROOF_COUNT];
extern struct lawn_blade largest[2 * LAWN_BLADES_MAX + LAWN_BLADES_SPARE];

/* A table of any supported size. */
static void
proof_any_size(uint32_t log)
{
    ASSUME(log >= 4 && log <= 15);
    blades.all = all;
    blades.homes = 1u << log;
    blades.count = blades.homes + LAWN_BLADES_SPARE;
    blades.shift = 64 - log;
    blades.stripe = nondet_bool() ? LAWN_BLADES_SPARE : 0;
}

void
blades_at(void)
{
    uint64_t ttl = nondet_u64();
    uint64_t hash = lawn__blades_hash(ttl);
    uint64_t deadline = nondet_u64();
    size_t home;

    proof_any_size(nondet_u32());
    blades.all = largest;
    if (nondet_bool()) {
        hash = lawn__blades_rehash(&blades, hash);
    }
    home = (size_t)(lawn__blades_at(&blades, hash, deadline) - largest);
    PROVE(home < blades.count, "within the table");
    PROVE((home | (LAWN_BLADES_WAYS - 1)) < blades.count, "so is its set");
    PROVE(blades.stripe != 0 || home < blades.homes, "a home");
    PROOF_END();
}

void
blades_apart(void)
{
    uint64_t hash = nondet_u64();
    uint64_t far;
    uint64_t one = nondet_u64();
    uint64_t other = nondet_u64();
    size_t a;
    size_t b;

    proof_any_size(nondet_u32());
    ASSUME(blades.homes >= 128);
    blades.all = largest;
    far = lawn__blades_rehash(&blades, hash);
    a = (size_t)(lawn__blades_at(&blades, hash, one) - largest);
    b = (size_t)(lawn__blades_at(&blades, far, other) - largest);
    PROVE(lawn__blades_apart(&blades, hash, far), "it is known");
    PROVE(a / LAWN_BLADES_WAYS != b / LAWN_BLADES_WAYS, "[P4] no common set");
    PROOF_END();
}

void
blades_count(void)
{
    size_t wanted = nondet_size();
    size_t count = lawn__blades_count(wanted);
    size_t homes = count - LAWN_BLADES_SPARE;

    PROVE(homes >= 16 && homes <= 2 * LAWN_BLADES_MAX, "16 to 32768 homes");
    PROVE((homes & (homes - 1)) == 0, "a power of two");
    PROVE(homes / 2 >= wanted || wanted > LAWN_BLADES_MAX, "[P8] enough");
    PROVE(wanted != 0 || homes == 2 * LAWN_BLADES_DEFAULT, "the default");
    PROVE(count < LAWN_INDEX_NONE, "every blade has a number");
    PROOF_END();
}

void
blades_init(void)
{
    uint32_t which = nondet_u32();

    ASSUME(which < PROOF_COUNT);
    lawn__blades_init(&blades, all, PROOF_COUNT, 0);
    PROVE(all[which].ttl == LAWN_NEVER && all[which].indexed_at == LAWN_NEVER,
          "[I3] no TTL, no entry");
    PROVE(all[which].queue.next == &all[which].queue &&
              all[which].queue.prev == &all[which].queue,
          "[I2] empty");
    PROVE(blades.homes == 16 && blades.shift == 60 && blades.stripe == 0 &&
              blades.count == PROOF_COUNT,
          "the homes");
    PROOF_END();
}

/* Returns whether a blade is in a set that its TTL and deadline determine
 * [I8]. */
static bool
proof_belongs(const struct lawn_blade *blade, uint64_t deadline)
{
    uint64_t stripe = blades.stripe != 0 ? deadline % 8 : 0;
    uint64_t set = (uint64_t)(blade - all) / 4;

    return set == (proof_hash >> 60) / 4 + stripe ||
           set == ((proof_hash << 20) >> 60) / 4 + stripe;
}

void
blades_find(void)
{
    uint64_t ttl = nondet_u64();
    uint64_t deadline = nondet_u64();
    uint32_t other = nondet_u32();
    struct lawn_blade *blade;
    uint32_t i;

    proof_hash = nondet_u64();
    proof_any_size(4);
    for (i = 0; i < PROOF_COUNT; i++) {
        all[i].ttl = nondet_u64();
    }
    ASSUME(other < PROOF_COUNT);
    blade = lawn__blades_find(&blades, ttl, deadline);
    PROVE(blade == NULL || blade->ttl == ttl, "[I8] it has the TTL");
    PROVE(blade == NULL || proof_belongs(blade, deadline), "[I8] in its set");
    PROVE(blade != NULL || all[other].ttl != ttl ||
              !proof_belongs(&all[other], deadline),
          "[P4] none is overlooked");
    PROOF_END();
}

void
blades_claim(void)
{
    uint64_t ttl = nondet_u64();
    uint64_t deadline = nondet_u64();
    uint32_t other = nondet_u32();
    const struct lawn_blade *blade;
    uint32_t i;

    proof_hash = nondet_u64();
    proof_any_size(4);
    for (i = 0; i < PROOF_COUNT; i++) {
        all[i].queue.next = nondet_bool() ? &all[i].queue : &timers[i].link;
    }
    ASSUME(other < PROOF_COUNT);
    blade = lawn__blades_claim(&blades, ttl, deadline);
    PROVE(blade == NULL || blade->queue.next == &blade->queue,
          "[I1] it is empty");
    PROVE(blade == NULL || proof_belongs(blade, deadline), "[I8] in its set");
    PROVE(blade != NULL || all[other].queue.next != &all[other].queue ||
              !proof_belongs(&all[other], deadline),
          "[P8] none is overlooked");
    PROOF_END();
}

void
blades_live(void)
{
    uint64_t live = 0;

    blades.all = all;
    blades.count = 6;
    for (uint32_t i = 0; i < 6; i++) {
        lawn__list_init(0, &all[i].queue);
        if (nondet_bool()) {
            lawn__list_append(0, &all[i].queue, &timers[i].link);
            live++;
        }
    }
    PROVE(lawn__blades_count_live(&blades) == live, "the live ones");
    PROOF_END();
}
