/* blades.c - the table of blades: see blades.h for the idea. */
#include "internal.h"

/* Homes and spare ones. */
size_t
lawn_blades_count(size_t wanted)
{
    size_t homes = LAWN_BLADES_MIN;

    while (homes < wanted && homes < LAWN_BLADES_MAX) {
        homes *= 2;
    }
    return homes + LAWN_BLADES_SPARE;
}

void
lawn_blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                 size_t count, uintptr_t key)
{
    uint32_t homes = (uint32_t)count - LAWN_BLADES_SPARE;
    size_t i;

    blades->all = all;
    blades->count = (uint32_t)count;
    blades->shift = 32 - (uint32_t)__builtin_ctz(homes);
    blades->stripe = 0;
    for (i = 0; i < count; i++) {
        lawn_list_init(key, &all[i].queue);
        all[i].ttl = 0;
        all[i].tip = LAWN_NEVER;
    }
}

/* The first blade of the set that a blade belongs to. */
static inline struct lawn_blade *
lawn_blades_set(const struct lawn_blades *blades, struct lawn_blade *blade)
{
    size_t number = (size_t)(blade - blades->all);

    return &blades->all[number & ~(size_t)(LAWN_BLADES_WAYS - 1)];
}

/* The blade that has the TTL, at home or in the same set, or NULL. */
struct lawn_blade *
lawn_blades_find(const struct lawn_blades *blades, struct lawn_blade *home,
                 uint64_t ttl)
{
    struct lawn_blade *set = lawn_blades_set(blades, home);
    unsigned way;

    for (way = 0; way < LAWN_BLADES_WAYS; way++) {
        if (set[way].ttl == ttl) {
            return &set[way];
        }
    }
    return NULL;
}

/* A free blade, at home or in the same set, which gets the TTL; or NULL. */
struct lawn_blade *
lawn_blades_claim(const struct lawn_blades *blades, struct lawn_blade *home,
                  uint64_t ttl)
{
    struct lawn_blade *set = lawn_blades_set(blades, home);
    unsigned way;

    for (way = 0; !lawn_list_empty(&home->queue); way++) {
        if (way == LAWN_BLADES_WAYS) {
            return NULL;
        }
        home = &set[way];
    }
    home->ttl = ttl;
    return home;
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
