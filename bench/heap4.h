/* heap4.h - a 4-ary heap with the keys in the array, as in libev.
 *
 * A comparison reads only the array. The root is at index 3, so that four
 * children fill one cache line. Only timers that move are written to, since
 * they store their place. All operations are O(log n); a restart sifts in
 * place.
 *
 * Used by a contender, and by hand-written stores.
 */
#ifndef LAWN_BENCH_HEAP4_H
#define LAWN_BENCH_HEAP4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAP4_ROOT 3u
#define HEAP4_LEAST 64u

/* The part of an object. A place has 32 bits, as in libev, so there are at most
 * 2^32 - 4 timers. */
struct heap4_timer {
    uint32_t place; /* 0: idle */
};

struct heap4_entry {
    uint64_t deadline;
    struct heap4_timer *timer;
};

struct heap4 {
    struct heap4_entry *entries;
    size_t end; /* after the last entry */
    size_t room;
};

static inline struct heap4_entry *
heap4_alloc(size_t room)
{
    return aligned_alloc(64, room * sizeof(struct heap4_entry));
}

/* Allocates room for a number of timers; it grows when needed. Returns false if
 * there is no memory. */
static inline bool
heap4_init(struct heap4 *heap, size_t timers)
{
    size_t most = timers > HEAP4_LEAST ? timers : HEAP4_LEAST;

    heap->room = (HEAP4_ROOT + most + 3) / 4 * 4;
    heap->end = HEAP4_ROOT;
    heap->entries = heap4_alloc(heap->room);
    return heap->entries != NULL;
}

static inline void
heap4_fini(struct heap4 *heap)
{
    free(heap->entries);
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

/* One of four siblings will be chosen, and then one of its children. Prefetches
 * the children of all four, so that a large heap does not wait once per
 * level. */
static inline void
heap4_fetch(const struct heap4_entry *entries, size_t first, size_t end)
{
    size_t child = 4 * (first - HEAP4_ROOT) + HEAP4_ROOT + 1;

    if (child + 15 < end) {
        __builtin_prefetch(&entries[child]);
        __builtin_prefetch(&entries[child + 4]);
        __builtin_prefetch(&entries[child + 8]);
        __builtin_prefetch(&entries[child + 12]);
    }
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

/* The same downward. */
static inline void
heap4_down(struct heap4 *heap, size_t i, struct heap4_entry entry)
{
    struct heap4_entry *entries = heap->entries;
    size_t end = heap->end;

    for (;;) {
        size_t child = 4 * (i - HEAP4_ROOT) + HEAP4_ROOT + 1;
        size_t least = child;

        if (child + 3 < end) {
            size_t right = child + 2;

            heap4_fetch(entries, child, end);
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
        uint64_t deadline = entries[least].deadline;
        if (entry.deadline <= deadline) {
            break;
        }
        heap4_put(entries, i, entries[least]);
        i = least;
    }
    heap4_put(entries, i, entry);
}

static inline void
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

static inline bool
heap4_grow(struct heap4 *heap)
{
    struct heap4_entry *entries = heap4_alloc(2 * heap->room);

    if (entries == NULL) {
        return false;
    }
    memcpy(entries, heap->entries, heap->end * sizeof(entries[0]));
    free(heap->entries);
    heap->entries = entries;
    heap->room *= 2;
    return true;
}

/* Starts or restarts a timer. Returns false if there is no memory. */
static inline bool
heap4_set(struct heap4 *heap, struct heap4_timer *timer, uint64_t deadline)
{
    struct heap4_entry entry = {deadline, timer};
    size_t i = timer->place;

    if (i == 0) {
        if (heap->end == heap->room && !heap4_grow(heap)) {
            return false;
        }
        heap4_up(heap, heap->end++, entry);
    } else if (deadline > heap->entries[i].deadline) {
        heap4_down(heap, i, entry);
    } else {
        heap4_up(heap, i, entry);
    }
    return true;
}

/* Removes and returns the first timer if it is due by now; otherwise NULL. */
static inline struct heap4_timer *
heap4_pop(struct heap4 *heap, uint64_t now)
{
    if (heap->end == HEAP4_ROOT || heap->entries[HEAP4_ROOT].deadline > now) {
        return NULL;
    }
    struct heap4_timer *timer = heap->entries[HEAP4_ROOT].timer;
    heap4_remove(heap, HEAP4_ROOT);
    return timer;
}

#endif
