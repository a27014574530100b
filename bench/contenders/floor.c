/* floor.c - not a timer store: a ring of (deadline, pointer).
 *
 * There is one TTL, so deadlines are in order. A stop only writes to the
 * object, and the timer still fires. A restart is another entry; if the ring is
 * full it replaces the oldest. Every timer store must do at least this work, so
 * none can be faster.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>
#include <string.h>

#define FLOOR_AHEAD 8u /* objects prefetched before they fire */

struct floor_entry {
    uint64_t deadline;
    struct object *object;
};

struct floor {
    struct floor_entry *entries;
    size_t mask;
    size_t head; /* both only increase */
    size_t tail;
    uint64_t now;
};

static void *
make(const struct contender_setup *setup)
{
    struct floor *ring = calloc(1, sizeof(*ring));
    size_t room = 64;

    if (ring == NULL) {
        return NULL;
    }
    while (room < setup->objects) {
        room *= 2;
    }
    ring->entries = malloc(room * sizeof(ring->entries[0]));
    if (ring->entries == NULL) {
        free(ring);
        return NULL;
    }
    /* Touched now, so that starts do not include page faults. */
    memset(ring->entries, 0, room * sizeof(ring->entries[0]));
    ring->mask = room - 1;
    ring->now = setup->now;
    return ring;
}

static void
destroy(void *self)
{
    struct floor *ring = (struct floor *)self;

    free(ring->entries);
    free(ring);
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct floor *ring = (struct floor *)self;
    struct floor_entry *entry = &ring->entries[ring->tail++ & ring->mask];

    if (ring->tail - ring->head > ring->mask + 1) {
        ring->head++;
    }
    entry->deadline = links_deadline(ring->now, ttl);
    entry->object = object;
}

static bool
stop(void *self, struct object *object)
{
    (void)self;
    *(volatile char *)object->node = 0;
    return true;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct floor *ring = (struct floor *)self;
    size_t fired = 0;

    ring->now = now;
    while (fired < budget && ring->head != ring->tail &&
           ring->entries[ring->head & ring->mask].deadline <= now) {
        __builtin_prefetch(
            ring->entries[(ring->head + FLOOR_AHEAD) & ring->mask].object);
        fire(ring->entries[ring->head++ & ring->mask].object, arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    const struct floor *ring = (const struct floor *)self;

    return ring->head != ring->tail
               ? ring->entries[ring->head & ring->mask].deadline
               : LINKS_NEVER;
}

const struct contender floor_contender = {
    .abi = CONTENDER_ABI,
    .name = "floor",
    .title = "the floor",
    .about = "A ring of (deadline, pointer) for one TTL, without stop: not a "
             "timer store, but a lower bound for all of them.",
    .kind = CONTENDER_FLOOR,
    .flags = CONTENDER_ONE_TTL | CONTENDER_NO_STOP,
    .node = sizeof(uint64_t),
    .make = make,
    .free = destroy,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
