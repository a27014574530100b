/* server_keys.c - see server_keys.h. */
#include "server_keys.h"

#include "command_limits.h"
#include "server_drain.h"

#include <stdatomic.h>

/* Opens a key without changing its age or statistics, and without
 * notifications. */
#define OPEN_KEY_PEEK                                                          \
    (REDISMODULE_READ | REDISMODULE_OPEN_KEY_NOTOUCH |                         \
     REDISMODULE_OPEN_KEY_NONOTIFY | REDISMODULE_OPEN_KEY_NOSTATS)

RedisModuleType *keys_type;
static atomic_uint_fast64_t queues;

struct queue *
keys_queue(RedisModuleKey *key, bool *other)
{
    *other = false;
    if (key == NULL) {
        return NULL;
    }
    if (RedisModule_ModuleTypeGetType(key) == keys_type) {
        return RedisModule_ModuleTypeGetValue(key);
    }
    *other = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    return NULL;
}

struct queue *
keys_peek(RedisModuleCtx *ctx, RedisModuleString *name)
{
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, OPEN_KEY_PEEK);
    bool other = false;
    struct queue *queue = keys_queue(key, &other);
    if (key != NULL) {
        RedisModule_CloseKey(key);
    }
    return queue;
}

uint64_t
keys_count(void)
{
    return atomic_load_explicit(&queues, memory_order_relaxed);
}

struct queue *
keys_count_queue(struct queue *queue)
{
    if (queue != NULL) {
        drain_created(queue);
        atomic_fetch_add_explicit(&queues, 1, memory_order_relaxed);
    }
    return queue;
}

struct queue *
keys_new_queue(uint64_t now)
{
    return keys_count_queue(queue_new(now, command_limits.max_ttls));
}

void
keys_free_queue(void *queue)
{
    atomic_fetch_sub_explicit(&queues, 1, memory_order_relaxed);
    queue_free(queue);
}
