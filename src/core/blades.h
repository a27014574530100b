/* blades.h - the table of blades: TTL -> queue of timers.
 *
 * The table never grows. A TTL may stand in any blade of its set of four, two
 * cache lines. A blade that holds no timer is free for any TTL. A TTL that
 * finds none free gets none, and its timers go into the index one by one: that
 * costs more, but no more than in a timing wheel, so a flood of distinct TTLs,
 * even chosen to collide, does no harm [P8].
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

#include "list.h"

#define LAWN_BLADES_WAYS 4u
#define LAWN_BLADES_MIN 32u
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

/* The blade of the set that has the TTL, or NULL. */
static inline struct lawn_blade *
lawn_blades_find(struct lawn_blade *set, uint64_t ttl)
{
    unsigned way;

    for (way = 0; way < LAWN_BLADES_WAYS; way++) {
        if (set[way].ttl == ttl) {
            return &set[way];
        }
    }
    return NULL;
}

size_t lawn_blades_count(size_t wanted);
void lawn_blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                      size_t count, uintptr_t key);
struct lawn_blade *lawn_blades_claim(struct lawn_blade *set, uint64_t ttl);
void lawn_blades_close(struct lawn_blades *blades);
size_t lawn_blades_live(const struct lawn_blades *blades);

#endif
