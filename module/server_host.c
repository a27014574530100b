/* server_host.c - see server_host.h. */
#include "server_host.h"

#include "server_keys.h"
#include "server_schedule.h"
#include "server_waiters.h"

RedisModuleString *server_empty_string;
bool server_probing;
struct server_counts server_counts;

void
server_host_init(void)
{
    server_empty_string = RedisModule_CreateString(NULL, "", 0);
}

struct queue *
host_queue(struct host *host)
{
    return host->queue;
}

struct queue *
host_create(struct host *host)
{
    struct queue *queue = keys_new_queue(host->now);
    if (queue == NULL) {
        return NULL;
    }
    if (RedisModule_ModuleTypeSetValue(host->key, keys_type, queue) !=
        REDISMODULE_OK) {
        keys_free_queue(queue);
        return NULL;
    }
    host->queue = queue;
    return queue;
}

void
host_delete(struct host *host)
{
    if (host->queue == NULL || !(host->entry->mode & REDISMODULE_WRITE)) {
        return;
    }
    host->queue = NULL;
    RedisModule_DeleteKey(host->key);
    server_add_note(host, REDISMODULE_NOTIFY_GENERIC, "del");
}

void
server_add_note(struct host *host, int type, const char *event)
{
    if (host->noted < SERVER_NOTES) {
        host->notes[host->noted++] = (struct server_note){type, event};
    }
}

void
host_notify(struct host *host, const char *event)
{
    /* Only a master reports due events. */
    if (strcmp(event, "lawn.fire") == 0 &&
        !(RedisModule_GetContextFlags(host->ctx) &
          REDISMODULE_CTX_FLAGS_MASTER)) {
        return;
    }
    server_add_note(host, REDISMODULE_NOTIFY_MODULE, event);
}

void
host_signal(struct host *host)
{
    waiters_signal(host->ctx, host->argv[1]);
}

void
host_arm(struct host *host, uint64_t when)
{
    if (host->queue != NULL) {
        schedule_key(RedisModule_GetSelectedDb(host->ctx), host->args[1],
                     host->queue, when);
    }
}

/* Runs a push that does nothing, because only the server knows whether it would
 * accept one. A server that is short of memory still accepts a push while it
 * evicts keys, or in a transaction that has begun. Without the flag M, the
 * server would not check its memory. */
bool
host_full(struct host *host)
{
    if (!(RedisModule_GetContextFlags(host->ctx) & REDISMODULE_CTX_FLAGS_OOM)) {
        return false;
    }
    RedisModuleString *words[] = {host->argv[1], server_empty_string,
                                  server_empty_string, server_empty_string,
                                  server_empty_string};
    server_probing = true;
    RedisModuleCallReply *reply = RedisModule_Call(
        host->ctx, "LAWN.PUSH", "EMv", words, sizeof(words) / sizeof(words[0]));
    server_probing = false;
    bool full = true;
    if (reply != NULL) {
        full = RedisModule_CallReplyType(reply) == REDISMODULE_REPLY_ERROR;
        RedisModule_FreeCallReply(reply);
    }
    return full;
}

/* Draws again to avoid a bias to small results. */
uint64_t
host_random(struct host *host, uint64_t below)
{
    (void)host;
    uint64_t value = 0;
    uint64_t rest = below > 0 ? (UINT64_MAX % below + 1) % below : 0;
    do {
        RedisModule_GetRandomBytes((unsigned char *)&value, sizeof(value));
    } while (value > UINT64_MAX - rest);
    return below > 0 ? value % below : 0;
}

void
server_host_close(struct host *host)
{
    if (host->changed) {
        RedisModule_SignalModifiedKey(host->ctx, host->argv[1]);
    }
    if (host->key != NULL) {
        RedisModule_CloseKey(host->key);
    }
    /* A subscribed module may delete the key. */
    for (size_t i = 0; i < host->noted; i++) {
        RedisModule_NotifyKeyspaceEvent(host->ctx, host->notes[i].type,
                                        host->notes[i].event, host->argv[1]);
    }
}
