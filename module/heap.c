/* heap.c - see heap.h. The root is at HEAP_ROOT, so that the four children of
 * an entry are adjacent:
 *
 *     3 │ 4 5 6 7 │ 8 9 10 11 │ 12 ...        children of i: 4 (i - 2) and on
 *     └────┘ └──────────┘                     parent of i: i / 4 + 2
 *
 * The heap breaks if an event's block is moved without heap_moved(). */
#include "heap.h"

#include "memory.h"

#include <stdlib.h>

#define HEAP_ROOT 3u
/* The time in an entry is in units of HEAP_MS ms. Zero is HEAP_BEFORE ms before
 * the heap was last empty. */
#define HEAP_MS 32u
#define HEAP_BEFORE (UINT64_C(1) << 35)

/* PLACES */

struct heap_entry {
    uint32_t time;
    struct event *event;
};

static struct heap_four *
block_at(const struct heap *heap, size_t at)
{
    return &heap->chunks[at / HEAP_CHUNK][at % HEAP_CHUNK / 4];
}

static struct heap_entry
get_entry(const struct heap *heap, size_t at)
{
    const struct heap_four *four = block_at(heap, at);

    return (struct heap_entry){four->times[at % 4], four->events[at % 4]};
}

static void
set_entry(struct heap *heap, size_t at, struct heap_entry entry)
{
    struct heap_four *four = block_at(heap, at);

    four->times[at % 4] = entry.time;
    four->events[at % 4] = entry.event;
    entry.event->leaf.at = at;
}

/* Monotonic: a later time never gives a smaller value. */
static uint32_t
entry_time(const struct heap *heap, uint64_t time)
{
    uint64_t past = time > heap->base ? (time - heap->base) / HEAP_MS : 0;

    return past < UINT32_MAX ? (uint32_t)past : UINT32_MAX;
}

static bool
event_before(const struct event *one, const struct event *other)
{
    return one->leaf.time != other->leaf.time
               ? one->leaf.time < other->leaf.time
               : one->leaf.order < other->leaf.order;
}

static bool
entry_before(struct heap_entry one, struct heap_entry other)
{
    return one.time != other.time ? one.time < other.time
                                  : event_before(one.event, other.event);
}

/* Stores an entry at a free position, or moves it up. */
static void
sift_up(struct heap *heap, size_t at, struct heap_entry entry)
{
    while (at > HEAP_ROOT) {
        size_t parent = at / 4 + 2;
        struct heap_entry above = get_entry(heap, parent);

        if (!entry_before(entry, above)) {
            break;
        }
        set_entry(heap, at, above);
        at = parent;
    }
    set_entry(heap, at, entry);
}

/* The same for an entry that may have to move down. */
static void
sift_down(struct heap *heap, size_t at, struct heap_entry entry)
{
    size_t end = heap->count + HEAP_ROOT;

    for (;;) {
        size_t child = 4 * (at - 2);
        size_t last = child + 4 < end ? child + 4 : end;
        size_t best = child;

        if (child >= end) {
            break;
        }
        struct heap_entry first = get_entry(heap, child);
        while (++child < last) {
            struct heap_entry other = get_entry(heap, child);

            if (entry_before(other, first)) {
                best = child;
                first = other;
            }
        }
        if (!entry_before(first, entry)) {
            break;
        }
        set_entry(heap, at, first);
        at = best;
    }
    sift_up(heap, at, entry);
}

/* MEMORY */

static size_t
list_size(size_t entries)
{
    return entries / 4 * sizeof(struct heap_four);
}

static size_t
capacity(const struct heap *heap)
{
    return heap->used <= 1 ? heap->first : (size_t)heap->used * HEAP_CHUNK;
}

static void *
alloc_counted(struct heap *heap, size_t size)
{
    void *memory = memory_alloc(size);

    heap->bytes += memory != NULL ? sizes_class(size) : 0;
    return memory;
}

static void
free_counted(struct heap *heap, void *memory, size_t size)
{
    if (memory != NULL) {
        heap->bytes -= sizes_class(size);
        memory_free(memory);
    }
}

static bool
grow_list(struct heap *heap)
{
    uint32_t most = heap->most > 0 ? 2 * heap->most : 2;

    if (heap->used < heap->most) {
        return true;
    }
    struct heap_four **chunks = alloc_counted(heap, most * sizeof(void *));
    if (chunks == NULL) {
        return false;
    }
    if (heap->used > 0) {
        memcpy(chunks, heap->chunks, heap->used * sizeof(void *));
    }
    free_counted(heap, heap->chunks, heap->most * sizeof(void *));
    heap->chunks = chunks;
    heap->most = most;
    return true;
}

static bool
grow_first(struct heap *heap)
{
    size_t size = list_size(heap->first);
    struct heap_four *chunk = alloc_counted(heap, 2 * size);

    if (chunk == NULL) {
        return false;
    }
    memcpy(chunk, heap->chunks[0], size);
    free_counted(heap, heap->chunks[0], size);
    heap->chunks[0] = chunk;
    heap->first *= 2;
    return true;
}

static bool
grow(struct heap *heap)
{
    uint32_t many = heap->used == 0 ? HEAP_FEW : HEAP_CHUNK;

    if (heap->used == 1 && heap->first < HEAP_CHUNK) {
        return grow_first(heap);
    }
    if (!grow_list(heap)) {
        return false;
    }
    struct heap_four *chunk = alloc_counted(heap, list_size(many));
    if (chunk == NULL) {
        return false;
    }
    heap->first = heap->used == 0 ? many : heap->first;
    heap->chunks[heap->used++] = chunk;
    return true;
}

bool
heap_reserve(struct heap *heap, size_t many)
{
    while (capacity(heap) < HEAP_ROOT + heap->count + many) {
        if (!grow(heap)) {
            return false;
        }
    }
    return true;
}

/* Frees unused chunks except one: additions and removals at the edge of a chunk
 * would otherwise allocate again and again. */
static void
trim(struct heap *heap)
{
    while (heap->used > 1 &&
           ((size_t)heap->used - 2) * HEAP_CHUNK > HEAP_ROOT + heap->count) {
        free_counted(heap, heap->chunks[--heap->used], list_size(HEAP_CHUNK));
    }
}

void
heap_clear(struct heap *heap)
{
    for (size_t i = 0; i < heap->used; i++) {
        memory_free(heap->chunks[i]);
    }
    memory_free(heap->chunks);
    *heap = (struct heap){.chunks = NULL};
}

/* EVENTS */

void
heap_add(struct heap *heap, struct event *event, uint64_t time, size_t order,
         uint64_t now)
{
    if (heap->count == 0) {
        /* Entries of all times before the base have the value 0. So the base is
         * far back. */
        uint64_t first = time < now ? time : now;

        heap->base = first > HEAP_BEFORE ? first - HEAP_BEFORE : 0;
    }
    event->leaf.order = order;
    event->leaf.time = time;
    sift_up(heap, HEAP_ROOT + heap->count++,
            (struct heap_entry){entry_time(heap, time), event});
}

void
heap_remove(struct heap *heap, struct event *event)
{
    size_t at = event->leaf.at;
    size_t last = HEAP_ROOT + --heap->count;

    if (at != last) {
        sift_down(heap, at, get_entry(heap, last));
    }
    trim(heap);
}

void
heap_moved(struct heap *heap, struct event *event)
{
    size_t at = event->leaf.at;

    block_at(heap, at)->events[at % 4] = event;
}

struct event *
heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap_at(heap, 0) : NULL;
}

uint64_t
heap_next(const struct heap *heap)
{
    return heap->count > 0 ? heap_at(heap, 0)->leaf.time : LAWN_NEVER;
}

struct event *
heap_at(const struct heap *heap, uint64_t number)
{
    return get_entry(heap, HEAP_ROOT + number).event;
}

/* WALKS */

static int
compare_events(const void *one, const void *other)
{
    const struct event *const *events[] = {one, other};

    return event_before(*events[0], *events[1]) ? -1 : 1;
}

bool
heap_each(const struct heap *heap, heap_visit_fn *visit, void *arg)
{
    struct event **all = NULL;
    bool good = true;

    if (heap->count > 1) {
        all = memory_alloc(heap->count * sizeof(struct event *));
    }
    for (uint64_t i = 0; all != NULL && i < heap->count; i++) {
        all[i] = heap_at(heap, i);
    }
    if (all != NULL) {
        qsort(all, heap->count, sizeof(struct event *), compare_events);
    }
    for (uint64_t i = 0; good && i < heap->count; i++) {
        good = visit(all != NULL ? all[i] : heap_at(heap, i), arg);
    }
    memory_free(all);
    return good;
}

void
heap_defrag(struct heap *heap, const struct event *event, queue_moved_fn *moved,
            void *arg)
{
    if (event == NULL && heap->chunks != NULL) {
        void *now = moved(heap->chunks, arg);

        heap->chunks = now != NULL ? now : heap->chunks;
    } else if (event != NULL && (event->leaf.at == HEAP_ROOT ||
                                 event->leaf.at % HEAP_CHUNK == 0)) {
        struct heap_four **chunk = &heap->chunks[event->leaf.at / HEAP_CHUNK];
        void *now = moved(*chunk, arg);

        *chunk = now != NULL ? now : *chunk;
    }
}

bool
heap_check(const struct heap *heap)
{
    size_t bytes = 0;

    for (size_t at = 0; at < heap->used; at++) {
        bytes += sizes_class(list_size(at == 0 ? heap->first : HEAP_CHUNK));
    }
    bytes += heap->most > 0 ? sizes_class(heap->most * sizeof(void *)) : 0;
    if (bytes != heap->bytes ||
        (heap->count > 0 && capacity(heap) < HEAP_ROOT + heap->count)) {
        return false;
    }
    for (size_t at = HEAP_ROOT; at < HEAP_ROOT + heap->count; at++) {
        struct heap_entry entry = get_entry(heap, at);

        if (entry.event->leaf.at != at ||
            entry_time(heap, entry.event->leaf.time) != entry.time ||
            (at > HEAP_ROOT &&
             event_before(entry.event, get_entry(heap, at / 4 + 2).event))) {
            return false;
        }
    }
    return true;
}
