/* server_keyspace.c - see server_keyspace.h. */
#include "server_keyspace.h"

#include "registry.h"
#include "server_drain.h"
#include "server_keys.h"
#include "server_lateness.h"
#include "server_schedule.h"
#include "server_untracked.h"
#include "server_waiters.h"
#include "server_wakeup.h"

/* Bytes of a name that are compared. */
#define NAME_COMPARED 256u

struct keyspace_counts keyspace_counts;

/* The key that was last unlinked. Eviction unlinks a key before it reports it,
 * so this shows whether the evicted key belonged to this module. */
static struct {
    int db;
    size_t size;
    char name[NAME_COMPARED];
} unlinked = {.db = -1};

static size_t
compared_size(struct bytes name)
{
    return name.size < NAME_COMPARED ? name.size : NAME_COMPARED;
}

void
keyspace_unlinked(int db, struct bytes name, const struct queue *queue)
{
    drain_unlinked(queue);
    registry_remove(db, name);
    unlinked.db = db;
    unlinked.size = name.size;
    memcpy(unlinked.name, name.at, compared_size(name));
}

static bool
was_unlinked_last(int db, struct bytes name)
{
    return unlinked.db == db && unlinked.size == name.size &&
           memcmp(unlinked.name, name.at, compared_size(name)) == 0;
}

/* Called for every key of any type that is deleted, renamed, and so on. */
static int
key_event(RedisModuleCtx *ctx, int type, const char *event,
          RedisModuleString *key)
{
    if (type == REDISMODULE_NOTIFY_EVICTED) {
        keyspace_counts.evicted +=
            was_unlinked_last(RedisModule_GetSelectedDb(ctx), keys_bytes(key));
        unlinked.db = -1;
    } else if (strcmp(event, "rename_to") == 0 ||
               strcmp(event, "move_to") == 0 || strcmp(event, "copy_to") == 0 ||
               strcmp(event, "restore") == 0) {
        struct queue *queue = keys_peek(ctx, key);
        if (queue != NULL) {
            int db = RedisModule_GetSelectedDb(ctx);
            drain_arrived(queue, db, key);
            schedule_arrived(db, keys_bytes(key), queue);
        }
    }
    return REDISMODULE_OK;
}

static void
role_event(RedisModuleCtx *ctx, RedisModuleEvent eid, uint64_t subevent,
           void *data)
{
    (void)ctx;
    (void)eid;
    (void)data;
    bool master = subevent == REDISMODULE_EVENT_REPLROLECHANGED_NOW_MASTER;
    wakeup_set_master(master);
    waiters_reset_empty();
    lateness_restart();
    if (master) {
        wakeup_set_in(1);
    }
}

static void
load_event(RedisModuleCtx *ctx, RedisModuleEvent eid, uint64_t subevent,
           void *data)
{
    (void)ctx;
    (void)eid;
    (void)data;
    waiters_reset_empty();
    if (subevent == REDISMODULE_SUBEVENT_LOADING_ENDED ||
        subevent == REDISMODULE_SUBEVENT_LOADING_FAILED) {
        lateness_restart();
    }
}

static void
flush_event(RedisModuleCtx *ctx, RedisModuleEvent eid, uint64_t subevent,
            void *data)
{
    (void)ctx;
    (void)eid;
    const RedisModuleFlushInfoV1 *flush = data;
    drain_flushed(flush->dbnum);
    waiters_reset_empty();
    if (subevent == REDISMODULE_SUBEVENT_FLUSHDB_END) {
        registry_flush(flush->dbnum);
    }
}

static void
swap_event(RedisModuleCtx *ctx, RedisModuleEvent eid, uint64_t subevent,
           void *data)
{
    (void)ctx;
    (void)eid;
    (void)subevent;
    const RedisModuleSwapDbInfoV1 *swap = data;
    /* The tick took the key of the queue being drained from the registry. After
     * the swap, the tick does not schedule the key again: see serve() in
     * server_tick.c. So a search over all keys has to find it. */
    if (drain_swapped(swap->dbnum_first, swap->dbnum_second)) {
        untracked_request_search();
    }
    waiters_reset_empty();
    registry_swap(swap->dbnum_first, swap->dbnum_second);
}

bool
keyspace_init(RedisModuleCtx *ctx)
{
    return RedisModule_SubscribeToKeyspaceEvents(
               ctx, REDISMODULE_NOTIFY_GENERIC | REDISMODULE_NOTIFY_EVICTED,
               key_event) == REDISMODULE_OK &&
           RedisModule_SubscribeToServerEvent(
               ctx, RedisModuleEvent_ReplicationRoleChanged, role_event) ==
               REDISMODULE_OK &&
           RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_Loading,
                                              load_event) == REDISMODULE_OK &&
           RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_FlushDB,
                                              flush_event) == REDISMODULE_OK &&
           RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_SwapDB,
                                              swap_event) == REDISMODULE_OK;
}
