/* heap.h - events ordered by time, for events with individual times.
 *
 * It is an implicit heap with four children per entry, in chunks of 3 KiB, so
 * that it grows without moving entries. Each event stores the index of its
 * entry. Events of the same time are ordered by a number that the caller
 * assigns.
 *
 * Adding and removing take O(log events). An entry takes 12 bytes: the pointer
 * to the event and 32 bits of its time, which usually decide a comparison
 * without reading the event. The events are read if these bits are equal: for
 * times less than 32 ms apart, and for times more than a year before or three
 * years after the heap was last empty. Removing then takes up to three times as
 * long.
 */
#ifndef HEAP_H
#define HEAP_H

#include "event.h"

/* Entries per chunk; the first chunk begins with HEAP_FEW. */
#define HEAP_CHUNK 256u
#define HEAP_FEW 16u

/* Four entries with the same parent. */
struct heap_four {
    uint32_t times[4];
    struct event *events[4];
};

/* All zero is an empty heap. */
struct heap {
    struct heap_four **chunks;
    uint32_t used;  /* chunks in use */
    uint32_t most;  /* room in the list of chunks */
    uint32_t first; /* entries in the first chunk */
    uint64_t count;
    uint64_t base; /* the time that entry times are relative to */
    size_t bytes;  /* memory, by the rule of sizes.h */
};

/* Makes room. Returns false if memory allocation fails. */
bool heap_reserve(struct heap *heap, size_t many);

/* Adds an event, for which there must be room. Overwrites its timer or link.
 * now is the approximate current time. */
void heap_add(struct heap *heap, struct event *event, uint64_t time,
              size_t order, uint64_t now);
void heap_remove(struct heap *heap, struct event *event);
void heap_moved(struct heap *heap, struct event *event);

/* Return NULL and LAWN_NEVER if the heap is empty. O(1). */
struct event *heap_first(const struct heap *heap);
uint64_t heap_next(const struct heap *heap);

/* Returns the event with this number, from 0 to count - 1. Number 0 is the
 * first event in time order. Each other event has a higher number than its
 * parent, which is not later. */
struct event *heap_at(const struct heap *heap, uint64_t number);

/* Visits all events in time order; by number if there is no memory for sorting.
 * Returns false if visit returned false. O(events * log events). */
typedef bool heap_visit_fn(struct event *event, void *arg);
bool heap_each(const struct heap *heap, heap_visit_fn *visit, void *arg);

void heap_clear(struct heap *heap);

/* Lets the caller move the list of chunks if event is NULL. Otherwise lets the
 * caller move a chunk if `event` is the first event in it. So calling this for
 * all events covers all chunks. See queue_defrag(). */
void heap_defrag(struct heap *heap, const struct event *event,
                 queue_moved_fn *moved, void *arg);

bool heap_check(const struct heap *heap);

#endif
