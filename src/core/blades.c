/* blades.c - the table of blades: see blades.h for the idea. */
#include "internal.h"

size_t
lawn_blades_count(size_t wanted)
{
    size_t count = LAWN_BLADES_MIN;

    while (count < wanted && count < LAWN_BLADES_MAX) {
        count *= 2;
    }
    return count;
}

void
lawn_blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                 size_t count, uintptr_t key)
{
    uint32_t sets = (uint32_t)count / LAWN_BLADES_WAYS;
    size_t i;

    blades->all = all;
    blades->count = (uint32_t)count;
    blades->sets = sets - 1;
    blades->stripe = 0;
    blades->shift = 64 - (uint32_t)__builtin_ctz(sets);
    for (i = 0; i < count; i++) {
        lawn_list_init(key, &all[i].queue);
        all[i].ttl = 0;
        all[i].tip = LAWN_NEVER;
    }
}

/* The blade for timers of this TTL and deadline: the one that has the TTL,
 * else a free one, which gets it, else NULL. */
struct lawn_blade *
lawn_blades_find(const struct lawn_blades *blades, uint64_t ttl,
                 uint64_t deadline)
{
    uint64_t hash = lawn_blades_hash(ttl);
    struct lawn_blade *near = lawn_blades_set(blades, hash, deadline);
    struct lawn_blade *far =
        lawn_blades_set(blades, lawn_blades_rehash(hash), deadline);
    struct lawn_blade *free = NULL;

    if (near[0].ttl == ttl) {
        return &near[0];
    }
    if (near[1].ttl == ttl) {
        return &near[1];
    }
    if (far[0].ttl == ttl) {
        return &far[0];
    }
    if (far[1].ttl == ttl) {
        return &far[1];
    }
    if (lawn_list_empty(&near[0].queue)) {
        free = &near[0];
    } else if (lawn_list_empty(&near[1].queue)) {
        free = &near[1];
    } else if (lawn_list_empty(&far[0].queue)) {
        free = &far[0];
    } else if (lawn_list_empty(&far[1].queue)) {
        free = &far[1];
    } else {
        return NULL;
    }
    free->ttl = ttl;
    return free;
}

/* No blade takes further timers until it has run empty. */
void
lawn_blades_close(struct lawn_blades *blades)
{
    size_t i;

    for (i = 0; i < blades->count; i++) {
        blades->all[i].ttl = 0;
    }
}

size_t
lawn_blades_live(const struct lawn_blades *blades)
{
    size_t live = 0;
    size_t i;

    for (i = 0; i < blades->count; i++) {
        live += !lawn_list_empty(&blades->all[i].queue);
    }
    return live;
}
