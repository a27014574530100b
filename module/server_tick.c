/* server_tick.c - runs when the wake-up fires. */
#include "server_tick.h"

#include "registry.h"
#include "server_clock.h"
#include "server_drain.h"
#include "server_handover.h"
#include "server_keys.h"
#include "server_lateness.h"
#include "server_schedule.h"
#include "server_untracked.h"
#include "server_waiters.h"
#include "server_wakeup.h"

/* The number of due events of a key that are promoted between two readings of
 * the clock. */
#define PROMOTE_STEP 1024u

struct tick_limits tick_limits = {.events = 1000, .us = 2000};
struct tick_counts tick_counts;

/* The processing of one key. */
struct look {
    RedisModuleCtx *ctx;
    int db;
    RedisModuleString *name;
    /* its time in the registry; earlier due events were notified */
    uint64_t armed;
    struct handover_times times;
    /* remaining budget of this tick: keys processed plus events delivered */
    uint64_t budget;
};

static void
notify(const struct look *look, const char *event)
{
    RedisModule_NotifyKeyspaceEvent(look->ctx, REDISMODULE_NOTIFY_MODULE, event,
                                    look->name);
}

/* Promotes due and dead events; if there is a sink, no more due events than can
 * be delivered. Returns the number of due events. */
static uint64_t
promote_due(const struct look *look, struct queue *queue)
{
    bool sink = queue_sink_of(queue)->kind != QUEUE_SINK_NONE;
    uint64_t due = queue_promote_due(queue, look->times.now,
                                     sink ? look->budget : PROMOTE_STEP);
    while (!sink && queue_next_waiting(queue) <= look->times.now &&
           clock_us(CLOCK_MONOTONIC) < look->times.end) {
        due = queue_promote_due(queue, look->times.now, PROMOTE_STEP);
    }
    return due;
}

/* Finds events that have become due or dead, and sends notifications. Returns
 * false if the key is paused. Uses the same time as clients that poll the key:
 * if the clock was set back, due events stay due. */
static bool
find_due(struct look *look, struct queue *queue)
{
    *queue_armed(queue) = LAWN_NEVER;
    if (queue_settings_of(queue)->paused) {
        return false;
    }
    uint64_t now_us = clock_us(CLOCK_REALTIME);
    uint64_t now = now_us / 1000;
    if (now < queue_now(queue)) {
        now = queue_now(queue);
    }
    look->times.wall = now_us / 1000;
    look->times.now = now;
    bool fires = false;
    /* Advance the queue's time even if nothing is due. Delays count from it. So
     * if the clock is set back next, new events are not due before this
     * time. */
    queue_set_now(queue, now);
    if (promote_due(look, queue) > 0) {
        fires = queue_latest_ready(queue) >= look->armed;
        if (fires) {
            lateness_count(queue_next(queue), look->armed, now_us);
        }
    }
    if (queue_died(queue)) {
        notify(look, "lawn.dead");
    }
    if (fires) {
        notify(look, "lawn.fire");
    }
    return true;
}

/* Delivers events to the sink or unblocks clients, and schedules the key again.
 * If there is a sink, clients get only the events that it refuses. */
static void
serve(struct look *look, struct queue *queue)
{
    const struct queue_sink *sink = queue_sink_of(queue);
    uint64_t next = LAWN_NEVER;
    bool waits = queue_promote_due(queue, look->times.now, 0) > 0;
    if ((waits && sink->kind != QUEUE_SINK_NONE) ||
        (sink->dead.size > 0 && queue_dead_count(queue) > 0)) {
        drain_start(queue, look->db, look->name);
        next = handover_run(look->ctx, look->name, queue, &look->times,
                            &look->budget);
        if (!drain_end(queue)) {
            return;
        }
    }
    if (sink->kind != QUEUE_SINK_NONE &&
        (next <= look->times.wall || next == LAWN_NEVER)) {
        waits = false;
    }
    if (waits) {
        waiters_signal(look->ctx, look->name);
    }
    /* Events that are due by the key's time are due now, whatever the clock
     * shows. */
    uint64_t coming = queue_next_waiting(queue);
    if (coming <= look->times.now) {
        coming = look->times.wall;
    }
    if (coming < next) {
        next = coming;
    }
    if (next != LAWN_NEVER) {
        schedule_key(look->db, keys_bytes(look->name), queue, next);
    }
}

static void
look_at(struct look *look, struct bytes name)
{
    bool retry = look->db < 0;
    if (retry) {
        look->db = SCHEDULE_RETRY_DB(look->db);
    }
    look->name = RedisModule_CreateString(NULL, name.at, name.size);
    RedisModule_SelectDb(look->ctx, look->db);
    struct queue *queue = keys_peek(look->ctx, look->name);
    if (queue != NULL && retry) {
        waiters_signal(look->ctx, look->name);
    } else if (queue != NULL && find_due(look, queue)) {
        /* A subscribed module may have changed the key. */
        queue = keys_peek(look->ctx, look->name);
        if (queue != NULL) {
            serve(look, queue);
        }
    }
    RedisModule_FreeString(NULL, look->name);
}

/* Processes the keys whose time has come. Returns true if some are left. */
static bool
look_at_due_keys(RedisModuleCtx *ctx, uint64_t now, uint64_t end)
{
    struct look look = {
        .ctx = ctx, .times = {.end = end}, .budget = tick_limits.events};
    struct bytes name;
    while (registry_next() <= now) {
        if (look.budget == 0 || clock_us(CLOCK_MONOTONIC) >= end) {
            return true;
        }
        if (!registry_pop(now, &look.db, &name, &look.armed)) {
            break;
        }
        look_at(&look, name);
        look.budget -= look.budget > 0;
    }
    return false;
}

/* Sets the next wake-up. If keys are left, it fires in the next iteration of
 * the server's loop, after its clients were served. */
static void
set_next(uint64_t now, bool left)
{
    if (left) {
        wakeup_set(REGISTRY_AT_ONCE);
    } else if (registry_next() <= now) {
        /* The key cannot be removed from the registry now; do not retry at
         * once. */
        wakeup_set_in(1);
    } else {
        wakeup_set(registry_next());
    }
}

void
tick_run(RedisModuleCtx *ctx, void *data)
{
    (void)data;
    wakeup_fired();
    int flags = RedisModule_GetContextFlags(ctx);
    if (!(flags & REDISMODULE_CTX_FLAGS_MASTER)) {
        return;
    }
    tick_counts.ticks++;
    bool paused = RedisModule_AvoidReplicaTraffic() != 0;
    tick_counts.deferred += paused;
    if (paused || (flags & REDISMODULE_CTX_FLAGS_LOADING)) {
        lateness_restart();
        wakeup_set_in(SCHEDULE_RETRY_MS);
        return;
    }
    uint64_t began = clock_us(CLOCK_MONOTONIC);
    uint64_t now = (uint64_t)RedisModule_Milliseconds();
    bool left = look_at_due_keys(ctx, now, began + tick_limits.us);
    tick_counts.overruns += left;
    untracked_search(ctx, schedule_arrived);
    set_next(now, left);
    uint64_t took = (clock_us(CLOCK_MONOTONIC) - began) / 1000;
    if (took > 0) {
        RedisModule_LatencyAddSample("lawn-tick", (long long)took);
    }
}
