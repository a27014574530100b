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

/* A free blade of the set, which gets the TTL, or NULL. */
struct lawn_blade *
lawn_blades_claim(struct lawn_blade *set, uint64_t ttl)
{
    struct lawn_blade *blade;

    for (blade = set; blade < set + LAWN_BLADES_WAYS; blade++) {
        if (lawn_list_empty(&blade->queue)) {
            blade->ttl = ttl;
            return blade;
        }
    }
    return NULL;
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
