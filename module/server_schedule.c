/* server_schedule.c - see server_schedule.h. */
#include "server_schedule.h"

#include "registry.h"
#include "server_lateness.h"
#include "server_untracked.h"
#include "server_waiters.h"
#include "server_wakeup.h"

void
schedule_key(int db, struct bytes name, struct queue *queue, uint64_t when)
{
    if (registry_set(db, name, when)) {
        *queue_armed(queue) = when;
        wakeup_set(when);
    } else {
        *queue_armed(queue) = LAWN_NEVER;
        untracked_add(name);
    }
}

void
schedule_arrived(int db, struct bytes name, struct queue *queue)
{
    uint64_t next = queue_next(queue);
    bool dead =
        queue_dead_count(queue) > 0 && queue_sink_of(queue)->dead.size > 0;
    *queue_armed(queue) = LAWN_NEVER;
    waiters_reset_empty();
    if (dead || next <= (uint64_t)RedisModule_Milliseconds() ||
        next <= queue_now(queue)) {
        next = REGISTRY_AT_ONCE;
        lateness_arrived();
    }
    if (next != LAWN_NEVER) {
        schedule_key(db, name, queue, next);
    }
}

/* While a replica loads new data next to the data that it serves, one name may
 * refer to two values, either of which may remain. So the key is processed as
 * soon as possible. */
void
schedule_loaded(int db, struct bytes name, struct queue *queue)
{
    if (RedisModule_GetContextFlags(wakeup_ctx()) &
        REDISMODULE_CTX_FLAGS_ASYNC_LOADING) {
        schedule_key(db, name, queue, REGISTRY_AT_ONCE);
    } else {
        schedule_arrived(db, name, queue);
    }
}

void
schedule_retry(int db, struct bytes name, struct queue *queue)
{
    if (registry_set(SCHEDULE_RETRY_DB(db), name, REGISTRY_AT_ONCE)) {
        wakeup_set_in(SCHEDULE_RETRY_MS);
    } else {
        *queue_armed(queue) = LAWN_NEVER;
        untracked_add(name);
    }
}
