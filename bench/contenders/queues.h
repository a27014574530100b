/* queues.h - queues of timers by TTL, in a hash map, for lawns as in the paper.
 *
 * Timers of one TTL are due in the order of their starts, so appending keeps a
 * queue sorted. An empty queue remains until queues_drop(), so that a stop need
 * not look it up.
 */
#ifndef LAWN_BENCH_CONTENDERS_QUEUES_H
#define LAWN_BENCH_CONTENDERS_QUEUES_H

#include "links.h"

struct queue {
    struct link timers;
    uint64_t ttl;
};

/* An open table with linear probing, at most half full. */
struct queues_entry {
    uint64_t ttl;
    struct queue *queue; /* NULL: free */
};

struct queues {
    struct queues_entry *entries;
    unsigned bits; /* log2 of the number of entries */
    size_t count;
};

/* Allocates room for a number of TTLs. Returns false if there is no memory. */
bool queues_init(struct queues *queues, size_t ttls);

/* Also frees all queues. */
void queues_fini(struct queues *queues);

/* Adds a queue for a new TTL. Returns NULL if there is no memory; then nothing
 * has changed. */
struct queue *queues_add(struct queues *queues, uint64_t ttl);

/* Removes a queue and frees it. */
void queues_drop(struct queues *queues, struct queue *queue);

static inline size_t
queues_home(const struct queues *queues, uint64_t ttl)
{
    return (size_t)((ttl * UINT64_C(0x9E3779B97F4A7C15)) >>
                    (64 - queues->bits));
}

/* Returns the entry of a TTL, or the free entry where it belongs. */
static inline struct queues_entry *
queues_find(const struct queues *queues, uint64_t ttl)
{
    size_t mask = ((size_t)1 << queues->bits) - 1;
    size_t i = queues_home(queues, ttl);

    while (queues->entries[i].queue != NULL && queues->entries[i].ttl != ttl) {
        i = (i + 1) & mask;
    }
    return &queues->entries[i];
}

static inline struct timer *
queues_head(struct queue *queue)
{
    return links_timer_of(queue->timers.next);
}

#endif
