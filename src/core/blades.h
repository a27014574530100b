/* blades.h - the table of blades: maps a TTL to a queue of timers.
 *
 * The table never grows. The hash of a TTL selects two blades: its home, and a
 * second home far away. Blades form sets of four. A TTL may use any blade of
 * the two sets that contain its homes. An empty blade is free for any TTL. The
 * table is made for a number of TTLs and has twice as many blades. If no more
 * TTLs than that are in use, almost every TTL finds a blade. The timers of the
 * others are inserted into the index individually. That costs no more than a
 * timing wheel, even if the TTLs were chosen to collide [P8].
 *
 * STRIPES. Draining a queue of timers in scattered memory waits for memory at
 * each timer, because its address is in the previous one. To overlap these
 * waits, a TTL may have a blade in each of 8 stripes, and a mow prefetches from
 * all of them at once. The low bits of a deadline select the stripe. In stripe
 * s, the homes of a TTL are s sets after its homes in stripe 0. Timers with the
 * same TTL and deadline share a blade, so they fire in the order of their
 * starts [P4].
 */
#ifndef LAWN_CORE_BLADES_H
#define LAWN_CORE_BLADES_H

#include "list.h"

#define LAWN_BLADES_WAYS 4u
#define LAWN_BLADES_STRIPES 8u
#define LAWN_BLADES_MIN 8u
#define LAWN_BLADES_MAX 16384u
#define LAWN_BLADES_DEFAULT 1024u
/* In the last stripe, a home is this many blades after the home in stripe 0. So
 * the table has this many blades after the last home of stripe 0. */
#define LAWN_BLADES_SPARE ((LAWN_BLADES_STRIPES - 1) * LAWN_BLADES_WAYS)
/* From this number of homes on, lawn__blades_rehash() can move the second home.
 */
#define LAWN_BLADES_HALVES (4 * LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS)

/* queue contains the timers of one TTL. ttl is LAWN_NEVER if the blade was
 * never used. indexed_at is the time of the blade's index entry, or LAWN_NEVER
 * without one. */
struct lawn_blade {
    struct lawn_link queue;
    uint64_t ttl;
    uint64_t indexed_at;
};

struct lawn_blades {
    struct lawn_blade *all;
    uint32_t count;  /* homes and spare blades */
    uint32_t homes;  /* a power of two */
    uint32_t shift;  /* 64 - log2(homes) */
    uint32_t stripe; /* 0, or a mask: home += (deadline * WAYS) & stripe */
};

LAWN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(struct lawn_blade) == 32,
                   "a set fills two cache lines");

/* The leading bits of the hash differ for TTLs that differ in few bits. Of the
 * constants tried, this one causes the fewest collisions among common TTLs:
 * round numbers of a unit from seconds to nanoseconds. */
static inline uint64_t
lawn__blades_hash(uint64_t ttl)
{
    return ttl * UINT64_C(0xBF58476D1CE4E5B9);
}

/* Returns the number of the set that contains the home of a hash in stripe 0.
 */
static inline uint64_t
lawn__blades_set_of(const struct lawn_blades *blades, uint64_t hash)
{
    return (hash >> blades->shift) / LAWN_BLADES_WAYS;
}

/* Returns whether the stripes of the two homes use disjoint sets. */
static inline bool
lawn__blades_apart(const struct lawn_blades *blades, uint64_t hash,
                   uint64_t far)
{
    uint64_t a = lawn__blades_set_of(blades, hash);
    uint64_t b = lawn__blades_set_of(blades, far);

    return (a > b ? a - b : b - a) >= LAWN_BLADES_STRIPES;
}

/* Returns the hash of the second home. If the homes are too close, moves the
 * second to the other half of the table, provided the table is large enough. */
static inline uint64_t
lawn__blades_rehash(const struct lawn_blades *blades, uint64_t hash)
{
    uint64_t far = hash << 20;

    return lawn__blades_apart(blades, hash, far) ||
                   blades->homes < LAWN_BLADES_HALVES
               ? far
               : far ^ UINT64_C(1) << 63;
}

/* Returns the home of a hash, in the stripe of this deadline. The blade may be
 * free or belong to another TTL. */
static inline struct lawn_blade *
lawn__blades_at(const struct lawn_blades *blades, uint64_t hash,
                uint64_t deadline)
{
    uint32_t stripe = ((uint32_t)deadline * LAWN_BLADES_WAYS) & blades->stripe;

    return &blades->all[(size_t)(hash >> blades->shift) + stripe];
}

size_t lawn__blades_count(size_t wanted);
void lawn__blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                       size_t count, uintptr_t key);
struct lawn_blade *lawn__blades_find(const struct lawn_blades *blades,
                                     uint64_t ttl, uint64_t deadline);
struct lawn_blade *lawn__blades_claim(const struct lawn_blades *blades,
                                      uint64_t ttl, uint64_t deadline);
size_t lawn__blades_count_live(const struct lawn_blades *blades);

#endif
