/* heap4.c - a 4-ary heap with the keys in the array, as in libev.
 *
 * A comparison reads the array alone; four children fill one cache line, which
 * is why the root stands at 3. Only the timers that are moved are written to,
 * for they know their place. All operations O(log n); a restart sifts in place.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>
#include <string.h>

#define HEAP4_ROOT 3u
#define HEAP4_LEAST 64u

/* In the object. 32 bits, as in libev, for 2^32 - 4 timers. */
struct heap4_timer {
    uint32_t place; /* 0: idle */
};

struct heap4_entry {
    uint64_t deadline;
    struct heap4_timer *timer;
};

struct heap4 {
    struct heap4_entry *entries;
    size_t end; /* behind the last entry */
    size_t room;
    bool failed;
    uint64_t now;
};

static struct heap4_entry *
heap4_alloc(size_t room)
{
    return aligned_alloc(64, room * sizeof(struct heap4_entry));
}

static void *
heap4_make(const struct contender_setup *setup)
{
    struct heap4 *heap = calloc(1, sizeof *heap);
    size_t most = setup->objects > HEAP4_LEAST ? setup->objects : HEAP4_LEAST;

    if (heap == NULL) {
        return NULL;
    }
    heap->room = (HEAP4_ROOT + most + 3) / 4 * 4;
    heap->entries = heap4_alloc(heap->room);
    if (heap->entries == NULL) {
        free(heap);
        return NULL;
    }
    /* Touched now, so that starts are not charged for the system's work. */
    memset(heap->entries, 0, heap->room * sizeof heap->entries[0]);
    heap->end = HEAP4_ROOT;
    heap->now = setup->now;
    return heap;
}

static void
heap4_free(void *self)
{
    struct heap4 *heap = (struct heap4 *)self;

    free(heap->entries);
    free(heap);
}

static inline size_t
heap4_parent(size_t i)
{
    return (i - HEAP4_ROOT - 1) / 4 + HEAP4_ROOT;
}

static inline void
heap4_put(struct heap4_entry *entries, size_t i, struct heap4_entry entry)
{
    entries[i] = entry;
    entry.timer->place = (uint32_t)i;
}

/* Fills the hole at i with an entry, or with an ancestor that is due later. */
static inline void
heap4_up(struct heap4 *heap, size_t i, struct heap4_entry entry)
{
    struct heap4_entry *entries = heap->entries;

    while (i > HEAP4_ROOT) {
        size_t parent = heap4_parent(i);

        if (entries[parent].deadline <= entry.deadline) {
            break;
        }
        heap4_put(entries, i, entries[parent]);
        i = parent;
    }
    heap4_put(entries, i, entry);
}

/* The same downwards. */
static inline void
heap4_down(struct heap4 *heap, size_t i, struct heap4_entry entry)
{
    struct heap4_entry *entries = heap->entries;
    size_t end = heap->end;

    for (;;) {
        size_t child = 4 * (i - HEAP4_ROOT) + HEAP4_ROOT + 1;
        size_t least = child;
        uint64_t deadline;

        if (child + 3 < end) {
            size_t right = child + 2;

            least += entries[child + 1].deadline < entries[child].deadline;
            right += entries[child + 3].deadline < entries[right].deadline;
            least = entries[right].deadline < entries[least].deadline ? right
                                                                      : least;
        } else if (child < end) {
            while (++child < end) {
                least = entries[child].deadline < entries[least].deadline
                            ? child
                            : least;
            }
        } else {
            break;
        }
        deadline = entries[least].deadline;
        if (entry.deadline <= deadline) {
            break;
        }
        heap4_put(entries, i, entries[least]);
        i = least;
    }
    heap4_put(entries, i, entry);
}

static void
heap4_remove(struct heap4 *heap, size_t i)
{
    struct heap4_entry last = heap->entries[--heap->end];

    heap->entries[i].timer->place = 0;
    if (i == heap->end) {
        return;
    }
    if (i > HEAP4_ROOT &&
        last.deadline < heap->entries[heap4_parent(i)].deadline) {
        heap4_up(heap, i, last);
    } else {
        heap4_down(heap, i, last);
    }
}

static bool
heap4_grow(struct heap4 *heap)
{
    struct heap4_entry *entries = heap4_alloc(2 * heap->room);

    if (entries == NULL) {
        return false;
    }
    memcpy(entries, heap->entries, heap->end * sizeof entries[0]);
    free(heap->entries);
    heap->entries = entries;
    heap->room *= 2;
    return true;
}

static void
heap4_start(void *self, struct object *object, uint64_t ttl)
{
    struct heap4 *heap = (struct heap4 *)self;
    struct heap4_entry entry;

    entry.deadline = links_deadline(heap->now, ttl);
    entry.timer = (struct heap4_timer *)(void *)object->node;
    if (entry.timer->place != 0) {
        size_t i = entry.timer->place;

        if (entry.deadline > heap->entries[i].deadline) {
            heap4_down(heap, i, entry);
        } else {
            heap4_up(heap, i, entry);
        }
        return;
    }
    if (heap->end == heap->room && !heap4_grow(heap)) {
        heap->failed = true;
        return;
    }
    heap4_up(heap, heap->end++, entry);
}

static bool
heap4_failed(void *self)
{
    return ((const struct heap4 *)self)->failed;
}

static bool
heap4_stop(void *self, struct object *object)
{
    const struct heap4_timer *timer =
        (const struct heap4_timer *)(const void *)object->node;

    if (timer->place == 0) {
        return false;
    }
    heap4_remove((struct heap4 *)self, timer->place);
    return true;
}

static size_t
heap4_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
          void *arg)
{
    struct heap4 *heap = (struct heap4 *)self;
    size_t fired = 0;

    heap->now = now;
    while (fired < budget && heap->end > HEAP4_ROOT &&
           heap->entries[HEAP4_ROOT].deadline <= now) {
        struct heap4_timer *timer = heap->entries[HEAP4_ROOT].timer;

        heap4_remove(heap, HEAP4_ROOT);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static uint64_t
heap4_next(void *self)
{
    const struct heap4 *heap = (const struct heap4 *)self;

    return heap->end > HEAP4_ROOT ? heap->entries[HEAP4_ROOT].deadline
                                  : LINKS_NEVER;
}

const struct contender heap4_contender = {
    .abi = CONTENDER_ABI,
    .name = "heap4",
    .title = "4-ary heap",
    .about = "A heap of (deadline, pointer) with four children to a cache "
             "line. Start, stop and fire O(log n); an array that grows.",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_BUDGET,
    .node = sizeof(struct heap4_timer),
    .make = heap4_make,
    .free = heap4_free,
    .start = heap4_start,
    .failed = heap4_failed,
    .stop = heap4_stop,
    .mow = heap4_mow,
    .next = heap4_next,
};
