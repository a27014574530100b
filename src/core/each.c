/* each.c - visiting all timers, so that they can be started again elsewhere.
 *
 * Of timers of one TTL and one deadline the lone ones fire first, then those on
 * a blade that was closed, then those on a blade that was not: in this order
 * they are visited [P4]. The blades of one TTL, which are several if it has
 * stripes, are visited as one, in the order of deadlines: one blade after the
 * other, they would not fit on a single blade of another lawn.
 *
 * A closed blade no longer knows its TTL. Timers due at LAWN_LAST stand on no
 * blade, so it does not matter when they come.
 */
#include "internal.h"

/* As many blades as one TTL can have: a stripe in each set that can be its
 * home, and as many far from there. */
#define LAWN_EACH_BLADES (2u * LAWN_BLADES_STRIPES)

struct lawn_visiting {
    lawn_visit_fn *visit;
    void *arg;
};

static bool
lawn_each_in(const struct lawn_visiting *visiting,
             const struct lawn_link *queue)
{
    struct lawn_link *link;

    for (link = queue->next; link != queue; link = link->next) {
        if (!visiting->visit(lawn_timer_of(link), 0, visiting->arg)) {
            return false;
        }
    }
    return true;
}

/* Collects the blades that hold timers of the TTL among the sets that begin
 * with a home, but for those that begin with another. */
static uint32_t
lawn_each_find(const struct lawn_blades *blades, uint64_t ttl, uint32_t home,
               uint32_t but, const struct lawn_link **queues)
{
    uint32_t many = 0;
    uint32_t i;

    for (i = 0; i < LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS; i++) {
        const struct lawn_blade *blade = &blades->all[home + i];

        if (blade->ttl == ttl && !lawn_list_empty(&blade->queue) &&
            home + i - but >= LAWN_BLADES_STRIPES * LAWN_BLADES_WAYS) {
            queues[many++] = &blade->queue;
        }
    }
    return many;
}

/* All blades that hold timers of the TTL. */
static uint32_t
lawn_each_gather(const struct lawn_blades *blades, uint64_t ttl,
                 const struct lawn_link **queues)
{
    uint64_t hash = lawn_blades_hash(ttl);
    uint64_t rehash = lawn_blades_rehash(blades, hash);
    uint32_t near =
        (uint32_t)lawn_blades_first(blades, hash) * LAWN_BLADES_WAYS;
    uint32_t far =
        (uint32_t)lawn_blades_first(blades, rehash) * LAWN_BLADES_WAYS;
    uint32_t many = lawn_each_find(blades, ttl, near, blades->count, queues);

    return many + lawn_each_find(blades, ttl, far, near, queues + many);
}

/* Visits the blades of the TTL that the given one has, if it is the first of
 * them in the table. */
static bool
lawn_each_of_ttl(const struct lawn_visiting *visiting,
                 const struct lawn_blades *blades,
                 const struct lawn_blade *blade)
{
    const struct lawn_link *queues[LAWN_EACH_BLADES];
    struct lawn_link *next[LAWN_EACH_BLADES];
    uint32_t many = lawn_each_gather(blades, blade->ttl, queues);
    uint32_t i;

    for (i = 0; i < many; i++) {
        if (queues[i] < &blade->queue) {
            return true;
        }
        next[i] = queues[i]->next;
    }
    while (many > 0) {
        uint32_t first = 0;
        struct lawn_link *link;

        for (i = 1; i < many; i++) {
            if (lawn_link_deadline(next[i]) < lawn_link_deadline(next[first])) {
                first = i;
            }
        }
        link = next[first];
        next[first] = link->next;
        if (next[first] == queues[first]) {
            queues[first] = queues[--many];
            next[first] = next[many];
        }
        if (!visiting->visit(lawn_timer_of(link), blade->ttl, visiting->arg)) {
            return false;
        }
    }
    return true;
}

bool
lawn_each(const struct lawn *lawn, lawn_visit_fn *visit, void *arg)
{
    const struct lawn_blades *blades = &lawn->blades;
    size_t lists = lawn_tips_slots(lawn->tips.bits) * lawn->tips.lists;
    struct lawn_visiting visiting = {visit, arg};
    size_t i;

    for (i = 0; i < lists; i++) {
        if (!lawn_each_in(&visiting, &lawn->tips.lone[i])) {
            return false;
        }
    }
    if (!lawn_each_in(&visiting, &lawn->last)) {
        return false;
    }
    for (i = 0; i < blades->count; i++) {
        if (blades->all[i].ttl == LAWN_NEVER &&
            !lawn_each_in(&visiting, &blades->all[i].queue)) {
            return false;
        }
    }
    for (i = 0; i < blades->count; i++) {
        const struct lawn_blade *blade = &blades->all[i];

        if (blade->ttl != LAWN_NEVER && !lawn_list_empty(&blade->queue) &&
            !lawn_each_of_ttl(&visiting, blades, blade)) {
            return false;
        }
    }
    return true;
}
