/* blades.h - the table of blades: TTL -> queue of timers.
 *
 * The table never grows. A set of two blades fills a cache line; a TTL may
 * stand in either blade of two sets. A blade that holds no timer is free for
 * any TTL. A TTL that finds none free gets none, and its timers go into the
 * index one by one: that costs more, but never more than a timing wheel, so a
 * flood of distinct TTLs, even chosen to collide, cannot do harm [P8].
 *
 * STRIPES. A queue of a million timers in scattered memory is slow to drain:
 * each timer tells only where the next one is, and the processor waits for
 * memory each time. While few TTLs are in use, a TTL has several blades,
 * picked by the low bits of the deadline, so there are several chains to
 * follow at once. The choice depends on TTL and deadline only, hence timers of
 * one TTL and one deadline share a blade, and P4 holds.
 */
#ifndef LAWN_CORE_BLADES_H
#define LAWN_CORE_BLADES_H

#include "lawn.h"

#define LAWN_BLADES_WAYS 2u
#define LAWN_BLADES_MIN 16u
#define LAWN_BLADES_MAX (1u << 20)
#define LAWN_BLADES_STRIPES 8u

/* queue holds the timers, ttl is theirs (0: closed, takes no more timers).
 * tip is the time under which the index lists the blade, LAWN_NEVER if it does
 * not. */
struct lawn_blade {
    struct lawn_link queue;
    uint64_t ttl;
    uint64_t tip;
};

struct lawn_blades {
    struct lawn_blade *all;
    uint32_t count;   /* a power of two */
    uint32_t sets;    /* count / WAYS - 1: a mask */
    uint32_t stripe;  /* low bits of the deadline that pick the stripe: a mask */
    uint32_t shift;   /* 64 - log2 of the number of sets */
};

LAWN_STATIC_ASSERT(sizeof(struct lawn_blade) == 32, "two blades fill a cache line");

/* 2^64 divided by the golden ratio: spreads what differs in few bits. */
static inline uint64_t
lawn_blades_hash(uint64_t ttl)
{
    return ttl * UINT64_C(0x9E3779B97F4A7C15);
}

/* The set of stripe 0 of a hash. */
static inline uint32_t
lawn_blades_home(const struct lawn_blades *blades, uint64_t hash)
{
    return (uint32_t)(hash >> blades->shift);
}

/* The first blade of the set where a hash belongs for a deadline. */
static inline struct lawn_blade *
lawn_blades_set(const struct lawn_blades *blades, uint64_t hash,
                uint64_t deadline)
{
    uint32_t stripe = (uint32_t)deadline & blades->stripe;
    uint32_t set = (lawn_blades_home(blades, hash) + stripe) & blades->sets;

    return &blades->all[set * LAWN_BLADES_WAYS];
}

/* Where to look if the first set has no room: what one TTL's hash leaves to
 * another's, since it takes other bits. */
static inline uint64_t
lawn_blades_rehash(uint64_t hash)
{
    return hash << 20;
}

size_t lawn_blades_count(size_t wanted);
void lawn_blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                      size_t count, uintptr_t key);
struct lawn_blade *lawn_blades_find(const struct lawn_blades *blades,
                                    uint64_t ttl, uint64_t deadline);
void lawn_blades_close(struct lawn_blades *blades);
size_t lawn_blades_live(const struct lawn_blades *blades);

#endif
