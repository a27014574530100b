/* server_block.c - blocking a client on its key. */
#include "server_host.h"
#include "server_schedule.h"

bool
host_block(struct host *host, uint64_t ms)
{
    if (host->why == SERVER_TIMED_OUT) {
        return false;
    }
    if (host->why == SERVER_WOKEN) {
        host->stays = true;
        return true;
    }
    int flags = RedisModule_GetContextFlags(host->ctx);
    /* On a replica no tick unblocks clients: the master decides which events
     * are due. */
    if (flags & REDISMODULE_CTX_FLAGS_DENY_BLOCKING ||
        !(flags & REDISMODULE_CTX_FLAGS_MASTER)) {
        return false;
    }
    server_counts.waits++;
    RedisModule_BlockClientOnKeys(host->ctx, host->woken, host->timed_out, NULL,
                                  (long long)ms, &host->argv[1], 1,
                                  host->entry);
    return true;
}

/* While writes are paused, the server postpones new write commands. But it may
 * run the call of a client that a tick unblocked. The server would abort if
 * that call replicated anything. */
bool
host_frozen(struct host *host)
{
    if (host->why == SERVER_CALLED) {
        return false;
    }
    if (host->why == SERVER_TIMED_OUT) {
        return true;
    }
    if (!RedisModule_AvoidReplicaTraffic()) {
        return false;
    }
    if (host->queue != NULL) {
        schedule_retry(RedisModule_GetSelectedDb(host->ctx), host->args[1],
                       host->queue);
    }
    return true;
}
