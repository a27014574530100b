/* server_drain.c - see server_drain.h. */
#include "server_drain.h"

static struct {
    const struct queue *queue; /* NULL: none, or it was freed */
    bool linked;               /* it is the value of a key */
    bool moved;                /* it was given to another key */
    int db;                    /* the last key that it was the value of */
    RedisModuleString *name;
    RedisModuleString *own; /* the copy of a new name; NULL: none */
} drain;

static void
set_name(RedisModuleString *name, RedisModuleString *own)
{
    if (drain.own != NULL) {
        RedisModule_FreeString(NULL, drain.own);
    }
    drain.name = name;
    drain.own = own;
}

void
drain_start(const struct queue *queue, int db, RedisModuleString *name)
{
    drain.queue = queue;
    drain.linked = true;
    drain.moved = false;
    drain.db = db;
    set_name(name, NULL);
}

bool
drain_end(const struct queue *queue)
{
    bool there = drain_active(queue) && !drain.moved;
    drain.queue = NULL;
    set_name(NULL, NULL);
    return there;
}

bool
drain_active(const struct queue *queue)
{
    return queue != NULL && queue == drain.queue && drain.linked;
}

RedisModuleString *
drain_moved_to(int *db)
{
    *db = drain.db;
    return drain.moved ? drain.name : NULL;
}

/* A new queue at the same address shows that the drained one was freed. Freeing
 * is not reported, because another thread may do it. */
void
drain_created(const struct queue *queue)
{
    if (queue == drain.queue) {
        drain.queue = NULL;
    }
}

void
drain_unlinked(const struct queue *queue)
{
    if (drain_active(queue)) {
        drain.linked = false;
    }
}

void
drain_arrived(const struct queue *queue, int db, const RedisModuleString *name)
{
    if (queue == NULL || queue != drain.queue) {
        return;
    }
    size_t size = 0;
    const char *bytes = RedisModule_StringPtrLen(name, &size);
    RedisModuleString *copy = RedisModule_CreateString(NULL, bytes, size);
    set_name(copy, copy);
    drain.db = db;
    drain.linked = true;
    drain.moved = true;
}

void
drain_flushed(int db)
{
    if (db < 0 || db == drain.db) {
        drain.queue = NULL;
    }
}

bool
drain_swapped(int first, int second)
{
    if (!drain_active(drain.queue) ||
        (drain.db != first && drain.db != second)) {
        return false;
    }
    drain.db = drain.db == first ? second : first;
    drain.moved = true;
    return true;
}
