/* server_drain.c - the queue that is being drained to its sink. */
#include "server_drain.h"

/* NULL: none, or it was removed from its key. */
static const struct queue *draining;
static int draining_db;

void
drain_start(const struct queue *queue, int db)
{
    draining = queue;
    draining_db = db;
}

bool
drain_end(const struct queue *queue)
{
    bool there = drain_active(queue);
    draining = NULL;
    return there;
}

bool
drain_active(const struct queue *queue)
{
    return queue != NULL && queue == draining;
}

void
drain_unlinked(const struct queue *queue)
{
    if (drain_active(queue)) {
        draining = NULL;
    }
}

void
drain_flushed(int db)
{
    if (db < 0 || db == draining_db) {
        draining = NULL;
    }
}

bool
drain_swapped(void)
{
    bool any = draining != NULL;
    draining = NULL;
    return any;
}
