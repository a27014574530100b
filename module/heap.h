/* heap.h - events by time, each for a time of its own: the first is known, and any
 * can be taken out.
 *
 * An implicit heap of four children. Its entries stand in chunks of 3 KiB, so that
 * it grows without moving what it has; an event knows where its entry is. Events of
 * one time come in the order of a number that each is given.
 *
 * To put one in and to take one out is O(log events): at a million no more than ten
 * levels. Nothing is ever put off, so there is no worse case. An entry takes 12 bytes:
 * the event, and 32 bits of its time, by which most are told apart without a look at
 * the events. Where those are alike the events decide: within 32 ms, and of what is
 * more than a year before or three years after the time at which the heap was last
 * empty; taking one out then takes up to three times as long.
 */
#ifndef HEAP_H
#define HEAP_H

#include "event.h"

/* Entries in a chunk; the first chunk begins with HEAP_FEW. */
#define HEAP_CHUNK 256u
#define HEAP_FEW 16u

/* Four entries, all children of one. */
struct heap_four {
    uint32_t times[4];
    struct event *events[4];
};

/* All zero: empty. */
struct heap {
    struct heap_four **chunks;
    uint32_t used;  /* chunks there are */
    uint32_t most;  /* and can be */
    uint32_t first; /* entries in the first of them */
    uint64_t count;
    uint64_t base; /* what entries have of a time counts from here */
    size_t bytes;  /* of memory, by the rule of sizes.h */
};

/* Sees to it that so many can be put in. False: no memory. */
bool heap_reserve(struct heap *heap, size_t many);

/* Puts an event in, for which there is room: its timer, or link, is overwritten.
 * now is the time by the clock, or about that. */
void heap_add(struct heap *heap, struct event *event, uint64_t time,
              size_t order, uint64_t now);
void heap_remove(struct heap *heap, struct event *event);
/* The block of one in the heap is another now. */
void heap_moved(struct heap *heap, struct event *event);

/* NULL: none. LAWN_NEVER: none. O(1). */
struct event *heap_first(const struct heap *heap);
uint64_t heap_next(const struct heap *heap);

/* One after the other, from 0 on: each after one that comes before it. */
struct event *heap_at(const struct heap *heap, uint64_t number);

/* All, in the order in which they come; without memory for that, by numbers.
 * O(events * log events). False: visit returned false. */
typedef bool heap_visit_fn(struct event *event, void *arg);
bool heap_each(const struct heap *heap, heap_visit_fn *visit, void *arg);

/* Forgets all events, and gives all memory back. */
void heap_clear(struct heap *heap);

/* Lets someone move a chunk, or with NULL the list of them: see queue_defrag(). The
 * first event of each chunk speaks for it, so who does it for all events in turn
 * comes to all chunks. */
void heap_defrag(struct heap *heap, const struct event *event,
                 queue_moved_fn *moved, void *arg);

bool heap_check(const struct heap *heap);

#endif
