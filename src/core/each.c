/* each.c - visits all timers, so that the caller can start them on another
 * lawn.
 *
 * Unqueued timers are visited before blades, because they fire first [P4]. The
 * timers of a TTL's stripes are merged in the order of deadlines, so that the
 * caller can append them to a single blade.
 *
 * Timers due at LAWN_LAST are in lawn->last, or in the index if a mow at that
 * tick has moved them there. Those in the index were started earlier, so they
 * are visited first.
 */
#include "internal.h"

/* The maximum number of blades of one TTL: one per stripe at each home. */
#define LAWN_EACH_BLADES (2u * LAWN_BLADES_STRIPES)

struct lawn_visiting {
    lawn_visit_fn *visit;
    void *arg;
};

static bool
visit_queue(const struct lawn_visiting *visiting, const struct lawn_link *queue)
{
    for (struct lawn_link *link = queue->next; link != queue;
         link = link->next) {
        if (!visiting->visit(lawn__timer_of(link), 0, visiting->arg)) {
            return false;
        }
    }
    return true;
}

/* Collects the blades of a TTL that contain timers, in the stripes that begin
 * at blade number `home`. Skips those that are also in the stripes from `but`
 * on: the stripes of the two homes may overlap. */
static uint32_t
collect_from(const struct lawn_blades *blades, uint64_t ttl, uint32_t home,
             uint32_t but, const struct lawn_link **queues)
{
    uint32_t many = 0;

    for (uint32_t i = 0; i < LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS; i++) {
        const struct lawn_blade *blade = &blades->all[home + i];

        if (blade->ttl == ttl && !lawn__list_empty(&blade->queue) &&
            home + i - but >= LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS) {
            queues[many++] = &blade->queue;
        }
    }
    return many;
}

static uint32_t
collect_blades(const struct lawn_blades *blades, uint64_t ttl,
               const struct lawn_link **queues)
{
    uint64_t hash = lawn__blades_hash(ttl);
    uint64_t rehash = lawn__blades_rehash(blades, hash);
    uint32_t near =
        (uint32_t)lawn__blades_set_of(blades, hash) * LAWN_BLADES_WAYS;
    uint32_t far =
        (uint32_t)lawn__blades_set_of(blades, rehash) * LAWN_BLADES_WAYS;
    uint32_t many = collect_from(blades, ttl, near, blades->count, queues);

    return many + collect_from(blades, ttl, far, near, queues + many);
}

/* If this blade is the first of its TTL in the table, visits all blades of the
 * TTL. */
static bool
visit_ttl(const struct lawn_visiting *visiting,
          const struct lawn_blades *blades, const struct lawn_blade *blade)
{
    const struct lawn_link *queues[LAWN_EACH_BLADES];
    struct lawn_link *next[LAWN_EACH_BLADES];
    uint32_t many = collect_blades(blades, blade->ttl, queues);

    for (uint32_t i = 0; i < many; i++) {
        if (queues[i] < &blade->queue) {
            return true;
        }
        next[i] = queues[i]->next;
    }
    while (many > 0) {
        uint32_t first = 0;

        for (uint32_t i = 1; i < many; i++) {
            if (lawn__link_deadline(next[i]) <
                lawn__link_deadline(next[first])) {
                first = i;
            }
        }
        struct lawn_link *link = next[first];
        next[first] = link->next;
        if (next[first] == queues[first]) {
            queues[first] = queues[--many];
            next[first] = next[many];
        }
        if (!visiting->visit(lawn__timer_of(link), blade->ttl, visiting->arg)) {
            return false;
        }
    }
    return true;
}

bool
lawn_each(const struct lawn *lawn, lawn_visit_fn *visit, void *arg)
{
    const struct lawn_blades *blades = &lawn->blades;
    size_t lists =
        lawn__index_count_slots(lawn->index.slot_bits) * lawn->index.lists;
    struct lawn_visiting visiting = {visit, arg};

    /* Of timers with the same deadline, those started first are at the highest
     * level. */
    for (size_t i = lists; i-- > 0;) {
        if (!visit_queue(&visiting, &lawn->index.unqueued[i])) {
            return false;
        }
    }
    if (!visit_queue(&visiting, &lawn->last)) {
        return false;
    }
    for (size_t i = 0; i < blades->count; i++) {
        const struct lawn_blade *blade = &blades->all[i];

        if (!lawn__list_empty(&blade->queue) &&
            !visit_ttl(&visiting, blades, blade)) {
            return false;
        }
    }
    return true;
}
