/* queues.h - queues of timers by TTL: a hash map, for lawns as in the paper.
 *
 * Timers of one TTL fall due in the order of their starts, so a queue is in
 * order by appending. A queue that runs empty stays until queues_drop(): a stop
 * need not look it up.
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
    unsigned bits; /* log2 of how many */
    size_t count;
};

/* Room for so many TTLs at first; false: no memory. */
bool queues_init(struct queues *queues, size_t ttls);

/* Frees all queues as well. */
void queues_fini(struct queues *queues);

/* Adds a queue for a TTL that has none; NULL: no memory, nothing changed. */
struct queue *queues_add(struct queues *queues, uint64_t ttl);

/* Removes a queue and frees it. */
void queues_drop(struct queues *queues, struct queue *queue);

static inline size_t
queues_home(const struct queues *queues, uint64_t ttl)
{
    return (size_t)((ttl * UINT64_C(0x9E3779B97F4A7C15)) >>
                    (64 - queues->bits));
}

/* The entry of a TTL, or the free one where it would go. */
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
