/* server_tick.c - see server_tick.h. */
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

/* The visit of one key. */
struct key_visit {
    RedisModuleCtx *ctx;
    int db;
    RedisModuleString *name;
    /* its wake-up; clients were notified of events due earlier */
    uint64_t armed;
    struct handover_times times;
    /* remaining budget of this tick: one for each key and each delivered
     * event */
    uint64_t budget;
};

static void
notify(const struct key_visit *visit, const char *event)
{
    RedisModule_NotifyKeyspaceEvent(visit->ctx, REDISMODULE_NOTIFY_MODULE,
                                    event, visit->name);
}

/* Promotes due and dead events. With a sink, promotes no more due events than
 * can be delivered. Returns the number of due events. */
static uint64_t
promote_due(const struct key_visit *visit, struct queue *queue)
{
    bool sink = queue_sink_of(queue)->kind != QUEUE_SINK_NONE;
    uint64_t due = queue_promote_due(queue, visit->times.now,
                                     sink ? visit->budget : PROMOTE_STEP);
    while (!sink && queue_next_waiting(queue) <= visit->times.now &&
           clock_us(CLOCK_MONOTONIC) < visit->times.end) {
        due = queue_promote_due(queue, visit->times.now, PROMOTE_STEP);
    }
    return due;
}

/* Finds events that have become due or dead, and sends notifications. Returns
 * false if the key is paused. */
static bool
find_due(struct key_visit *visit, struct queue *queue)
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
    visit->times.wall = now_us / 1000;
    visit->times.now = now;
    bool fires = false;
    /* Set the time even if nothing is due, because delays count from it: if the
     * clock is set back, new events are not due before this time. */
    queue_set_now(queue, now);
    if (promote_due(visit, queue) > 0) {
        fires = queue_latest_ready(queue) >= visit->armed;
        if (fires) {
            lateness_count(queue_next(queue), visit->armed, now_us);
        }
    }
    if (queue_died(queue)) {
        notify(visit, "lawn.dead");
    }
    if (fires) {
        notify(visit, "lawn.fire");
    }
    return true;
}

/* Delivers events to the sink or unblocks clients, and schedules the key again.
 * If there is a sink, clients get only the events that the sink refuses. */
static void
serve(struct key_visit *visit, struct queue *queue)
{
    const struct queue_sink *sink = queue_sink_of(queue);
    uint64_t next = LAWN_NEVER;
    bool waits = queue_promote_due(queue, visit->times.now, 0) > 0;
    if ((waits && sink->kind != QUEUE_SINK_NONE) ||
        (sink->dead.size > 0 && queue_dead_count(queue) > 0)) {
        drain_start(queue, visit->db, visit->name);
        next = handover_run(visit->ctx, visit->name, queue, &visit->times,
                            &visit->budget);
        if (!drain_end(queue)) {
            return;
        }
    }
    if (sink->kind != QUEUE_SINK_NONE &&
        (next <= visit->times.wall || next == LAWN_NEVER)) {
        waits = false;
    }
    if (waits) {
        waiters_signal(visit->ctx, visit->name);
    }
    /* The key's time may be ahead of the clock. Events due by the key's time
     * are due now. */
    uint64_t coming = queue_next_waiting(queue);
    if (coming <= visit->times.now) {
        coming = visit->times.wall;
    }
    if (coming < next) {
        next = coming;
    }
    if (next != LAWN_NEVER) {
        schedule_key(visit->db, keys_bytes(visit->name), queue, next);
    }
}

static void
visit_key(struct key_visit *visit, struct bytes name)
{
    bool retry = visit->db < 0;
    if (retry) {
        visit->db = SCHEDULE_RETRY_DB(visit->db);
    }
    visit->name = RedisModule_CreateString(NULL, name.at, name.size);
    RedisModule_SelectDb(visit->ctx, visit->db);
    struct queue *queue = keys_peek(visit->ctx, visit->name);
    if (queue != NULL && retry) {
        waiters_signal(visit->ctx, visit->name);
    } else if (queue != NULL && find_due(visit, queue)) {
        /* A subscribed module may have changed the key. */
        queue = keys_peek(visit->ctx, visit->name);
        if (queue != NULL) {
            serve(visit, queue);
        }
    }
    RedisModule_FreeString(NULL, visit->name);
}

/* Processes the keys whose time has come. Returns true if some are left. */
static bool
visit_due_keys(RedisModuleCtx *ctx, uint64_t now, uint64_t end)
{
    struct key_visit visit = {
        .ctx = ctx, .times = {.end = end}, .budget = tick_limits.events};
    struct bytes name;
    while (registry_next() <= now) {
        if (visit.budget == 0 || clock_us(CLOCK_MONOTONIC) >= end) {
            return true;
        }
        if (!registry_pop(now, &visit.db, &name, &visit.armed)) {
            break;
        }
        visit_key(&visit, name);
        visit.budget -= visit.budget > 0;
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
        /* A due key could not be removed from the registry. Do not retry at
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
    bool left = visit_due_keys(ctx, now, began + tick_limits.us);
    tick_counts.overruns += left;
    untracked_search(ctx, schedule_arrived);
    set_next(now, left);
    uint64_t took = (clock_us(CLOCK_MONOTONIC) - began) / 1000;
    if (took > 0) {
        RedisModule_LatencyAddSample("lawn-tick", (long long)took);
    }
}
