/* blades.c - the table of blades: see blades.h. */
#include "internal.h"

/* wanted is the number of TTLs; 0 means the default. */
size_t
lawn__blades_count(size_t wanted)
{
    size_t ttls = LAWN_BLADES_MIN;

    if (wanted == 0) {
        wanted = LAWN_BLADES_DEFAULT;
    }
    while (ttls < wanted && ttls < LAWN_BLADES_MAX) {
        ttls *= 2;
    }
    return 2 * ttls + LAWN_BLADES_SPARE;
}

void
lawn__blades_init(struct lawn_blades *blades, struct lawn_blade *all,
                  size_t count, uintptr_t key)
{
    uint32_t homes = (uint32_t)count - LAWN_BLADES_SPARE;

    blades->all = all;
    blades->count = (uint32_t)count;
    blades->homes = homes;
    blades->shift = 64 - (uint32_t)__builtin_ctz(homes);
    blades->stripe = 0;
    for (size_t i = 0; i < count; i++) {
        lawn__list_init(key, &all[i].queue);
        all[i].ttl = LAWN_NEVER;
        all[i].indexed_at = LAWN_NEVER;
    }
}

static inline struct lawn_blade *
find_set(const struct lawn_blades *blades, const struct lawn_blade *blade)
{
    size_t number = (size_t)(blade - blades->all);

    return &blades->all[number & ~(size_t)(LAWN_BLADES_WAYS - 1)];
}

static inline struct lawn_blade *
find_in_set(struct lawn_blade *set, uint64_t ttl)
{
    for (unsigned way = 0; way < LAWN_BLADES_WAYS; way++) {
        if (set[way].ttl == ttl) {
            return &set[way];
        }
    }
    return NULL;
}

struct lawn_blade *
lawn__blades_find(const struct lawn_blades *blades, uint64_t ttl,
                  uint64_t deadline)
{
    uint64_t hash = lawn__blades_hash(ttl);
    const struct lawn_blade *home = lawn__blades_at(blades, hash, deadline);
    const struct lawn_blade *far =
        lawn__blades_at(blades, lawn__blades_rehash(blades, hash), deadline);
    struct lawn_blade *blade = find_in_set(find_set(blades, home), ttl);

    return blade != NULL ? blade : find_in_set(find_set(blades, far), ttl);
}

/* Prefers home itself. */
static struct lawn_blade *
find_free(const struct lawn_blades *blades, struct lawn_blade *home)
{
    struct lawn_blade *set = find_set(blades, home);

    if (lawn__list_empty(&home->queue)) {
        return home;
    }
    for (unsigned way = 0; way < LAWN_BLADES_WAYS; way++) {
        if (lawn__list_empty(&set[way].queue)) {
            return &set[way];
        }
    }
    return NULL;
}

struct lawn_blade *
lawn__blades_claim(const struct lawn_blades *blades, uint64_t ttl,
                   uint64_t deadline)
{
    uint64_t hash = lawn__blades_hash(ttl);
    struct lawn_blade *blade =
        find_free(blades, lawn__blades_at(blades, hash, deadline));

    if (blade == NULL) {
        hash = lawn__blades_rehash(blades, hash);
        blade = find_free(blades, lawn__blades_at(blades, hash, deadline));
    }
    return blade;
}

size_t
lawn__blades_count_live(const struct lawn_blades *blades)
{
    size_t live = 0;

    for (size_t i = 0; i < blades->count; i++) {
        live += !lawn__list_empty(&blades->all[i].queue);
    }
    return live;
}
