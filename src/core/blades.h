/* blades.h - the table of blades: TTL -> queue of timers.
 *
 * The table never grows. A TTL's hash names two blades, its home and a second
 * one far away, and the TTL may stand in any blade of their two sets of four. A
 * blade that holds no timer is free for any TTL. The table is twice as large as
 * the number of TTLs it is made for; up to that number, a TTL practically
 * always finds a blade. One that finds none gets none, and its timers go into
 * the index one by one: that costs no more than in a timing wheel, so a flood
 * of distinct TTLs, even chosen to collide, does no harm [P8].
 *
 * STRIPES. A queue of a million timers in scattered memory is slow to drain:
 * each timer tells only where the next one is, and the processor waits for
 * memory each time. So a TTL may have several blades, in neighbouring sets,
 * picked by the low bits of the deadline: then there are several chains to
 * follow at once. The choice depends on TTL and deadline only, hence timers of
 * one TTL and one deadline share a blade, and P4 holds.
 */
#ifndef LAWN_CORE_BLADES_H
#define LAWN_CORE_BLADES_H

#include "list.h"

#define LAWN_BLADES_WAYS 4u
#define LAWN_BLADES_STRIPES 8u
#define LAWN_BLADES_MIN 8u
#define LAWN_BLADES_MAX 16384u
#define LAWN_BLADES_DEFAULT 1024u
/* Blades behind the last home, for its stripes. */
#define LAWN_BLADES_SPARE ((LAWN_BLADES_STRIPES - 1) * LAWN_BLADES_WAYS)
/* From so many homes on, what is close in one half is far in the other. */
#define LAWN_BLADES_HALVES (4 * LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS)

/* queue holds the timers, ttl is theirs (LAWN_NEVER: it takes no more timers).
 * entry is the time under which the index lists the blade, LAWN_NEVER if it does
 * not. */
struct lawn_blade {
    struct lawn_link queue;
    uint64_t ttl;
    uint64_t indexed_at;
};

struct lawn_blades {
    struct lawn_blade *all;
    uint32_t count;  /* homes and spare ones */
    uint32_t homes;  /* a power of two */
    uint32_t shift;  /* 64 - log2 of the homes */
    uint32_t stripe; /* 0, or the bits of deadline * WAYS to add to the home */
};

LAWN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(struct lawn_blade) == 32,
                   "a set fills two cache lines");

/* The leading bits of the product with an odd constant spread TTLs that differ
 * in few bits, whichever they are. Of those tried, this one makes the TTLs that
 * people use, round numbers of seconds to nanoseconds, share a home least. */
static inline uint64_t
lawn__blades_hash(uint64_t ttl)
{
    return ttl * UINT64_C(0xBF58476D1CE4E5B9);
}

/* The number of the set, without stripes, that a hash leads to. */
static inline uint64_t
lawn__blades_set_of(const struct lawn_blades *blades, uint64_t hash)
{
    return (hash >> blades->shift) / LAWN_BLADES_WAYS;
}

/* Whether no stripe's set of one choice is another stripe's set of the other. */
static inline bool
lawn__blades_apart(const struct lawn_blades *blades, uint64_t hash,
                   uint64_t far)
{
    uint64_t a = lawn__blades_set_of(blades, hash);
    uint64_t b = lawn__blades_set_of(blades, far);

    return (a > b ? a - b : b - a) >= LAWN_BLADES_STRIPES;
}

/* The hash for the second choice: other bits are the leading ones. If that is
 * too close to the first, it is in the other half of the table, where that is
 * large enough. */
static inline uint64_t
lawn__blades_rehash(const struct lawn_blades *blades, uint64_t hash)
{
    uint64_t far = hash << 20;

    return lawn__blades_apart(blades, hash, far) ||
                   blades->homes < LAWN_BLADES_HALVES
               ? far
               : far ^ UINT64_C(1) << 63;
}

/* Where a timer belongs whose TTL has this hash. */
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
uint64_t lawn__blades_close(struct lawn_blades *blades, uintptr_t key);
size_t lawn__blades_count_live(const struct lawn_blades *blades);

#endif
