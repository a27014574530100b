/* wake.c - the timer, and all that happens to keys behind our backs. */
#include "wake.h"

#include "server.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* When to try again while writes are paused, or something is loading. */
#define WAKE_AGAIN_MS 10u
/* So many events of a key are found due by a tick; the others by who takes them. */
#define WAKE_RIPEN 128u
/* So much of a name is compared. */
#define WAKE_NAME 256u

struct wake_limits wake_limits;
struct wake_counts wake_counts;
struct lawn_histogram wake_late;

/* Not a client's: it lasts, and timers can be made by it at any time. */
static struct redis_ctx *wake_ctx;
static bool wake_master;
static int wake_fd = -1;              /* the timer */
static uint64_t wake_at = LAWN_NEVER; /* when it is set for */
static uint64_t wake_timer;           /* the server's own */
static bool wake_timer_runs;
static bool wake_complained;

/* The key that was last unlinked, by the beginning of its name. */
static struct {
    int db;
    size_t size;
    char name[WAKE_NAME];
} wake_gone = {.db = -1};

static uint64_t
wake_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void wake_tick(struct redis_ctx *ctx, void *data);

/* The server's own timer: there is one at most. */
static void
wake_own(uint64_t ms)
{
    if (wake_timer_runs)
        redis.StopTimer(wake_ctx, wake_timer, NULL);
    wake_timer = redis.CreateTimer(wake_ctx, (long long)ms, wake_tick, NULL);
    wake_timer_runs = true;
}

static void
wake_ready(int fd, void *data, int what)
{
    (void)data;
    (void)what;
    uint64_t count;
    /* What was set anew meanwhile has nothing to read. */
    if (read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        wake_own(0);
}

/* A timer that is set too early stays: it costs a look. */
static void
wake_set(uint64_t when)
{
    if (!wake_master || when >= wake_at)
        return;
    wake_at = when;
    uint64_t now = (uint64_t)redis.Milliseconds();
    /* No sooner than the kernel can tell from "never". */
    struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(when / 1000),
                     .tv_nsec = (long)(when % 1000) * 1000000 + 1}};
    if (wake_fd < 0 || timerfd_settime(wake_fd, TFD_TIMER_ABSTIME, &at, NULL))
        wake_own(when > now ? when - now : 0);
}

static void
wake_stop(void)
{
    struct itimerspec never = {{0, 0}, {0, 0}};
    if (wake_timer_runs)
        redis.StopTimer(wake_ctx, wake_timer, NULL);
    wake_timer_runs = false;
    if (wake_fd >= 0)
        timerfd_settime(wake_fd, 0, &never, NULL);
    wake_at = LAWN_NEVER;
}

static void
wake_again(uint64_t ms)
{
    wake_set((uint64_t)redis.Milliseconds() + ms);
}

void
wake_arm(int db, struct bytes name, struct queue *queue, uint64_t when)
{
    if (registry_set(db, name, when)) {
        *queue_armed(queue) = when;
        wake_set(when);
        return;
    }
    /* The next command will try again. */
    *queue_armed(queue) = LAWN_NEVER;
    if (!wake_complained) {
        wake_complained = true;
        redis.Log(wake_ctx, "warning",
                  "cannot remember when a key has events due: no memory, or "
                  "its name is too long; who waits for them may be woken late");
    }
}

/* For when its next event is due. */
static void
wake_arm_next(int db, struct bytes name, struct queue *queue)
{
    uint64_t next = queue_next(queue);
    *queue_armed(queue) = LAWN_NEVER;
    if (next != LAWN_NEVER)
        wake_arm(db, name, queue, next);
}

void
wake_later(int db, struct bytes name, struct queue *queue)
{
    wake_arm(db, name, queue, (uint64_t)redis.Milliseconds() + WAKE_AGAIN_MS);
}

/* While a replica loads beside the keys that it serves, the same name may stand
 * for two values, either of which may be the one that remains. So it is to be
 * looked at as soon as that matters. */
void
wake_loaded(int db, struct bytes name, struct queue *queue)
{
    if (redis.GetContextFlags(wake_ctx) & REDIS_ASYNC_LOADING)
        wake_arm(db, name, queue, 0);
    else
        wake_arm_next(db, name, queue);
}

void
wake_unlinked(int db, struct bytes name)
{
    registry_remove(db, name);
    wake_gone.db = db;
    wake_gone.size = name.size;
    memcpy(wake_gone.name, name.at,
           name.size < WAKE_NAME ? name.size : WAKE_NAME);
}

/* THE TICK */

static void
wake_found(struct redis_ctx *ctx, int db, struct redis_string *name,
           struct queue *queue)
{
    *queue_armed(queue) = LAWN_NEVER;
    if (queue_settings(queue)->paused)
        return;
    /* So that the queue's position follows, and the search for the next event
     * does not begin where the last one did. */
    uint64_t now_us = wake_us(CLOCK_REALTIME);
    queue_ripen(queue, now_us / 1000, WAKE_RIPEN);
    uint64_t next = queue_next(queue);
    if (next <= now_us / 1000) {
        /* Should the clock be set back now, it is still due for who polls. */
        queue_tell(queue, now_us / 1000);
        wake_counts.fired++;
        lawn_histogram_add(&wake_late, now_us - next * 1000);
        redis.SignalKeyAsReady(ctx, name);
        redis.NotifyKeyspaceEvent(ctx, REDIS_EVENTS_MODULE, "lawn.fire", name);
    } else if (next != LAWN_NEVER) {
        wake_arm(db, server_bytes(name), queue, next);
    }
}

static void
wake_look(struct redis_ctx *ctx, int db, struct bytes name)
{
    struct redis_string *string = redis.CreateString(NULL, name.at, name.size);
    redis.SelectDb(ctx, db);
    struct redis_key *key = redis.OpenKey(ctx, string, REDIS_PEEK);
    bool other;
    struct queue *queue = server_value(key, &other);
    if (queue)
        wake_found(ctx, db, string, queue);
    if (key)
        redis.CloseKey(key);
    redis.FreeString(NULL, string);
}

static void
wake_tick(struct redis_ctx *ctx, void *data)
{
    (void)data;
    wake_at = LAWN_NEVER;
    wake_timer_runs = false;
    int flags = redis.GetContextFlags(ctx);
    if (!(flags & REDIS_MASTER))
        return;
    wake_counts.ticks++;
    bool paused = redis.AvoidReplicaTraffic() != 0;
    wake_counts.deferred += paused;
    if (paused || (flags & REDIS_LOADING)) {
        wake_again(WAKE_AGAIN_MS);
        return;
    }
    uint64_t end = wake_us(CLOCK_MONOTONIC) + wake_limits.us;
    uint64_t now = (uint64_t)redis.Milliseconds();
    int db;
    struct bytes name;
    uint64_t when;
    for (uint64_t i = 0; registry_next() <= now; i++) {
        if (i >= wake_limits.events || wake_us(CLOCK_MONOTONIC) >= end) {
            wake_counts.overruns++;
            wake_again(1);
            return;
        }
        if (!registry_pop(now, &db, &name, &when))
            break;
        wake_look(ctx, db, name);
    }
    /* What cannot be had now is not asked for over and over. */
    if (registry_next() <= now)
        wake_again(1);
    else
        wake_set(registry_next());
}

/* WHAT HAPPENS TO KEYS */

/* A value has come to a name by no command of ours. */
static void
wake_arrived(struct redis_ctx *ctx, struct redis_string *string)
{
    struct redis_key *key = redis.OpenKey(ctx, string, REDIS_PEEK);
    bool other;
    struct queue *queue = server_value(key, &other);
    if (queue)
        wake_arm_next(redis.GetSelectedDb(ctx), server_bytes(string), queue);
    if (key)
        redis.CloseKey(key);
}

static bool
wake_was_ours(struct redis_ctx *ctx, struct bytes name)
{
    return wake_gone.db == redis.GetSelectedDb(ctx) &&
           wake_gone.size == name.size &&
           memcmp(wake_gone.name, name.at,
                  name.size < WAKE_NAME ? name.size : WAKE_NAME) == 0;
}

/* Called for every key that anyone deletes. */
static int
wake_notice(struct redis_ctx *ctx, int type, const char *event,
            struct redis_string *key)
{
    if (type == REDIS_EVENTS_EVICTED) {
        if (wake_was_ours(ctx, server_bytes(key)))
            wake_counts.evicted++;
        wake_gone.db = -1;
    } else if (strcmp(event, "rename_to") == 0 ||
               strcmp(event, "move_to") == 0 || strcmp(event, "copy_to") == 0 ||
               strcmp(event, "restore") == 0) {
        wake_arrived(ctx, key);
    }
    return REDIS_OK;
}

static void
wake_role(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
          void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    wake_master = what == REDIS_ROLE_MASTER;
    if (wake_master)
        wake_again(1);
    else
        wake_stop();
}

static void
wake_flushed(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
             void *data)
{
    (void)ctx;
    (void)event;
    const struct redis_flush *flush = data;
    if (what == REDIS_FLUSH_END)
        registry_flush(flush->db);
}

static void
wake_swapped(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
             void *data)
{
    (void)ctx;
    (void)event;
    (void)what;
    const struct redis_swap *swap = data;
    registry_swap(swap->first, swap->second);
}

/* What the server would forget if we were not loaded after all comes first. */
bool
wake_init(struct redis_ctx *ctx)
{
    wake_ctx = redis.GetDetachedThreadSafeContext(ctx);
    wake_master = (redis.GetContextFlags(ctx) & REDIS_MASTER) != 0;
    if (redis.SubscribeToKeyspaceEvents(
            ctx, REDIS_EVENTS_GENERIC | REDIS_EVENTS_EVICTED, wake_notice) ||
        redis.SubscribeToServerEvent(ctx, REDIS_EVENT_ROLE, wake_role) ||
        redis.SubscribeToServerEvent(ctx, REDIS_EVENT_FLUSH, wake_flushed) ||
        redis.SubscribeToServerEvent(ctx, REDIS_EVENT_SWAP, wake_swapped))
        return false;
    wake_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (wake_fd >= 0 &&
        (!redis.EventLoopAdd ||
         redis.EventLoopAdd(wake_fd, REDIS_READABLE, wake_ready, NULL))) {
        close(wake_fd);
        wake_fd = -1;
    }
    return true;
}
