/* queues.c - a hash map from TTLs to queues: see queues.h. */
#include "queues.h"

#include <stdlib.h>

#define QUEUES_BITS 6u

bool
queues_init(struct queues *queues, size_t ttls)
{
    queues->bits = QUEUES_BITS;
    while ((size_t)1 << (queues->bits - 1) < ttls) {
        queues->bits++;
    }
    queues->count = 0;
    queues->entries =
        calloc((size_t)1 << queues->bits, sizeof(queues->entries[0]));
    return queues->entries != NULL;
}

void
queues_fini(struct queues *queues)
{
    for (size_t i = 0; i >> queues->bits == 0; i++) {
        free(queues->entries[i].queue);
    }
    free(queues->entries);
}

static bool
grow_table(struct queues *queues)
{
    struct queues larger;

    larger.bits = queues->bits + 1;
    larger.count = queues->count;
    larger.entries =
        calloc((size_t)1 << larger.bits, sizeof(larger.entries[0]));
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i >> queues->bits == 0; i++) {
        if (queues->entries[i].queue != NULL) {
            *queues_find(&larger, queues->entries[i].ttl) = queues->entries[i];
        }
    }
    free(queues->entries);
    *queues = larger;
    return true;
}

struct queue *
queues_add(struct queues *queues, uint64_t ttl)
{
    struct queue *queue = malloc(sizeof(*queue));

    if (queue == NULL) {
        return NULL;
    }
    if (queues->count >= (size_t)1 << (queues->bits - 1) &&
        !grow_table(queues)) {
        free(queue);
        return NULL;
    }
    links_init(&queue->timers);
    queue->ttl = ttl;
    struct queues_entry *entry = queues_find(queues, ttl);
    entry->ttl = ttl;
    entry->queue = queue;
    queues->count++;
    return queue;
}

void
queues_drop(struct queues *queues, struct queue *queue)
{
    size_t mask = ((size_t)1 << queues->bits) - 1;
    size_t hole = (size_t)(queues_find(queues, queue->ttl) - queues->entries);
    size_t i = hole;

    /* Moves a later entry into the hole if it may be there. */
    for (;;) {
        i = (i + 1) & mask;
        if (queues->entries[i].queue == NULL) {
            break;
        }
        size_t home = queues_home(queues, queues->entries[i].ttl);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            queues->entries[hole] = queues->entries[i];
            hole = i;
        }
    }
    queues->entries[hole].queue = NULL;
    queues->count--;
    free(queue);
}
