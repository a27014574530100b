/* wake.c - the timer, and all that happens to keys behind our backs. */
#include "wake.h"

#include "server.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Times that are far must not become times long past. */
_Static_assert(sizeof(time_t) >= 8, "time_t has 64 bits");

/* When to try again while writes are paused, or something is loading. */
#define WAKE_AGAIN_MS 10u
/* So many events of a key are found due between two looks at the clock. */
#define WAKE_RIPEN 1024u
/* When to look for keys that were forgotten, how many at a time, and how long not
 * to complain of it again. */
#define WAKE_SEARCH_MS 100u
#define WAKE_SEARCH_KEYS 1000u
#define WAKE_COMPLAIN_US UINT64_C(60000000)
/* A key that is to be looked at at once, as events in it may have been due long
 * before it came here: whoever was told of them, it was not here. */
#define WAKE_AT_ONCE 0u
/* Keys of a database at which who waits could not be served stand in the registry
 * once more, as those of another: when that is over they are to be looked at, at
 * whatever time. */
#define WAKE_HELD(db) (-1 - (db))
/* So much of a name is compared. */
#define WAKE_NAME 256u

struct wake_limits wake_limits = {.events = 1000, .us = 2000};
struct wake_counts wake_counts;
struct lawn_histogram wake_late;

/* Not a client's: it lasts, and timers can be made by it at any time. */
static struct redis_ctx *wake_ctx;
static bool wake_master;
static int wake_fd = -1;              /* the timer */
static uint64_t wake_at = LAWN_NEVER; /* when it is set for */
static uint64_t wake_timer;           /* the server's own */
static bool wake_timer_runs;
/* Since when keys are looked at, in us: nobody can be late before. */
static uint64_t wake_since;
/* When a key last came with something due. */
static uint64_t wake_came;

/* Keys that there was no memory for, which are among all. */
static struct {
    bool any;
    bool again; /* one more since the search began */
    uint64_t
        next; /* when to go on, in ms of the clock that only goes forward */
    int db;
    struct redis_cursor *cursor; /* NULL: from the beginning */
    uint64_t seen;
    uint64_t silent; /* until when nothing is said of it */
} wake_lost;

/* The value whose events are handed on, until it goes, or its key's name does. */
static const struct queue *wake_ticked;
static int wake_ticked_db;

/* The key that was last unlinked, by the beginning of its name. */
static struct {
    int db;
    size_t size;
    char name[WAKE_NAME];
} wake_gone = {.db = -1};

uint64_t
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
    /* What was set anew meanwhile has nothing to read. But if the clock was set,
     * all times are to be looked at anew. */
    if (read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count) ||
        errno == ECANCELED)
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
    if (wake_fd < 0 ||
        timerfd_settime(wake_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
                        &at, NULL))
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

/* A key that has events and no time is to be searched for. */
static void
wake_search_soon(uint64_t now)
{
    wake_lost.again = true;
    if (wake_lost.any)
        return;
    wake_lost.any = true;
    wake_lost.next = now / 1000 + WAKE_SEARCH_MS;
    wake_again(WAKE_SEARCH_MS);
}

/* Not to be lost for ever: who waits for it may be the only one to ask. */
static void
wake_lose(struct bytes name)
{
    uint64_t now = wake_us(CLOCK_MONOTONIC);
    if (name.size <= REGISTRY_NAME_MAX)
        wake_search_soon(now);
    if (now < wake_lost.silent)
        return;
    wake_lost.silent = now + WAKE_COMPLAIN_US;
    redis.Log(wake_ctx, "warning",
              "cannot remember when a key has events due: no memory, or its "
              "name is too long; who waits for them may be woken late");
}

void
wake_arm(int db, struct bytes name, struct queue *queue, uint64_t when)
{
    if (registry_set(db, name, when)) {
        *queue_armed(queue) = when;
        wake_set(when);
    } else {
        *queue_armed(queue) = LAWN_NEVER;
        wake_lose(name);
    }
}

/* For when its next event is due; or at once, if some are dead that are to go. */
static void
wake_arm_next(int db, struct bytes name, struct queue *queue)
{
    uint64_t next = queue_next(queue);
    bool dead = queue_dead_count(queue) > 0 && queue_sink(queue)->dead.size > 0;
    *queue_armed(queue) = LAWN_NEVER;
    server_refilled();
    if (dead || next <= (uint64_t)redis.Milliseconds() ||
        next <= queue_now(queue)) {
        next = WAKE_AT_ONCE;
        wake_came = wake_us(CLOCK_REALTIME);
    }
    if (next != LAWN_NEVER)
        wake_arm(db, name, queue, next);
}

void
wake_later(int db, struct bytes name, struct queue *queue)
{
    if (registry_set(WAKE_HELD(db), name, WAKE_AT_ONCE)) {
        wake_again(WAKE_AGAIN_MS);
    } else {
        *queue_armed(queue) = LAWN_NEVER;
        wake_lose(name);
    }
}

/* While a replica loads beside the keys that it serves, the same name may stand
 * for two values, either of which may be the one that remains. So it is to be
 * looked at as soon as that matters. */
void
wake_loaded(int db, struct bytes name, struct queue *queue)
{
    if (redis.GetContextFlags(wake_ctx) & REDIS_ASYNC_LOADING)
        wake_arm(db, name, queue, WAKE_AT_ONCE);
    else
        wake_arm_next(db, name, queue);
}

bool
wake_ticks(const struct queue *queue)
{
    return queue && queue == wake_ticked;
}

void
wake_unlinked(int db, struct bytes name, const struct queue *queue)
{
    if (wake_ticks(queue))
        wake_ticked = NULL;
    registry_remove(db, name);
    wake_gone.db = db;
    wake_gone.size = name.size;
    memcpy(wake_gone.name, name.at,
           name.size < WAKE_NAME ? name.size : WAKE_NAME);
}

/* THE TICK */

/* What the key is looked at for. */
struct wake_look {
    struct redis_ctx *ctx;
    int db;
    struct redis_string *name;
    bool held;     /* for who waits alone */
    uint64_t when; /* as it was set: what was told of before is due before */
    struct server_times times;
    uint64_t left; /* how much may still be done in it: looks, and events */
};

static void
wake_tell(const struct wake_look *look, const char *event)
{
    redis.NotifyKeyspaceEvent(look->ctx, REDIS_EVENTS_MODULE, event,
                              look->name);
}

/* Something is due that was not when the key was last looked at. */
static void
wake_note_late(const struct wake_look *look, struct queue *queue,
               uint64_t now_us)
{
    uint64_t due = queue_next(queue);
    due = (due > look->when ? due : look->when) * 1000;
    if (due < wake_since)
        due = wake_since;
    if (look->when == WAKE_AT_ONCE && due < wake_came)
        due = wake_came;
    lawn_histogram_add(&wake_late, now_us > due ? now_us - due : 0);
}

/* Finds out what is due and dead; of the former no more than can be handed on if
 * there is a sink. Returns how many are due. */
static uint64_t
wake_ripen(const struct wake_look *look, struct queue *queue)
{
    bool sink = queue_sink(queue)->kind != QUEUE_SINK_NONE;
    uint64_t due =
        queue_ripen(queue, look->times.now, sink ? look->left : WAKE_RIPEN);
    while (!sink && queue_coming(queue) <= look->times.now &&
           wake_us(CLOCK_MONOTONIC) < look->times.end)
        due = queue_ripen(queue, look->times.now, WAKE_RIPEN);
    return due;
}

/* Finds out what has become due or dead, and tells who listens. True: the key is to
 * be seen to. Time runs as it does for who polls the key: should the clock be set
 * back, what was due is so still. */
static bool
wake_found(struct wake_look *look, struct queue *queue)
{
    *queue_armed(queue) = LAWN_NEVER;
    if (queue_settings(queue)->paused)
        return false;
    uint64_t now_us = wake_us(CLOCK_REALTIME);
    uint64_t now = now_us / 1000;
    if (now < queue_now(queue))
        now = queue_now(queue);
    look->times.wall = now_us / 1000;
    look->times.now = now;
    bool fires = false;
    /* Also if nothing is found: should the clock be set back now, what then counts
     * from the queue's time must not have been looked for already. */
    queue_tell(queue, now);
    if (wake_ripen(look, queue) > 0) {
        fires = queue_latest(queue) >= look->when;
        if (fires)
            wake_note_late(look, queue, now_us);
    }
    if (queue_died(queue))
        wake_tell(look, "lawn.dead");
    if (fires)
        wake_tell(look, "lawn.fire");
    return true;
}

/* Sees to what is due or dead. Who waits at a key with a sink is for what the sink
 * does not take. */
static void
wake_serve(struct wake_look *look, struct queue *queue)
{
    const struct queue_sink *sink = queue_sink(queue);
    uint64_t next = LAWN_NEVER;
    bool waits = queue_ripen(queue, look->times.now, 0) > 0;
    if ((waits && sink->kind != QUEUE_SINK_NONE) ||
        (sink->dead.size > 0 && queue_dead_count(queue) > 0)) {
        wake_ticked = queue;
        wake_ticked_db = look->db;
        next = server_tick(look->ctx, look->name, queue, &look->times,
                           &look->left);
        bool gone = !wake_ticks(queue);
        wake_ticked = NULL;
        if (gone)
            return;
    }
    if (sink->kind != QUEUE_SINK_NONE &&
        (next <= look->times.wall || next == LAWN_NEVER))
        waits = false;
    if (waits)
        server_signal(look->ctx, look->name);
    /* What is due by the key's time is so now, whatever the clock says. */
    uint64_t coming = queue_coming(queue);
    if (coming <= look->times.now)
        coming = look->times.wall;
    if (coming < next)
        next = coming;
    if (next != LAWN_NEVER)
        wake_arm(look->db, server_bytes(look->name), queue, next);
}

/* The value, which is the key's until anyone is called who may change that. */
static struct queue *
wake_open(const struct wake_look *look)
{
    struct redis_key *key = redis.OpenKey(look->ctx, look->name, REDIS_PEEK);
    bool other;
    struct queue *queue = server_value(key, &other);
    if (key)
        redis.CloseKey(key);
    return queue;
}

static void
wake_look(struct wake_look *look, struct bytes name)
{
    look->held = look->db < 0;
    if (look->held)
        look->db = WAKE_HELD(look->db);
    look->name = redis.CreateString(NULL, name.at, name.size);
    redis.SelectDb(look->ctx, look->db);
    struct queue *queue = wake_open(look);
    if (queue && look->held) {
        server_signal(look->ctx, look->name);
    } else if (queue && wake_found(look, queue)) {
        /* A module that listens may have done something with the key. */
        queue = wake_open(look);
        if (queue)
            wake_serve(look, queue);
    }
    redis.FreeString(NULL, look->name);
}

/* A key that was forgotten is known by that: it has events, and no time. */
static void
wake_search_key(struct redis_ctx *ctx, struct redis_string *name,
                struct redis_key *key, void *data)
{
    (void)data;
    wake_lost.seen++;
    bool other;
    struct queue *queue = server_value(key, &other);
    if (queue && *queue_armed(queue) == LAWN_NEVER)
        wake_arm_next(redis.GetSelectedDb(ctx), server_bytes(name), queue);
}

/* Goes on with the search through all databases, or begins it. */
static void
wake_search(struct redis_ctx *ctx)
{
    wake_lost.seen = 0;
    if (!wake_lost.cursor) {
        wake_lost.cursor = redis.ScanCursorCreate();
        wake_lost.db = 0;
        wake_lost.again = false;
    }
    while (wake_lost.seen < WAKE_SEARCH_KEYS) {
        if (redis.SelectDb(ctx, wake_lost.db) != REDIS_OK) {
            redis.ScanCursorDestroy(wake_lost.cursor);
            wake_lost.cursor = NULL;
            wake_lost.any = wake_lost.again;
            break;
        }
        if (!redis.Scan(ctx, wake_lost.cursor, wake_search_key, NULL)) {
            redis.ScanCursorRestart(wake_lost.cursor);
            wake_lost.db++;
        }
    }
}

/* Sets the timer for what comes next. What was left over is gone on with in the
 * server's next turn, when its clients have had theirs. */
static void
wake_rest(struct redis_ctx *ctx, uint64_t now, bool over)
{
    uint64_t clock = wake_us(CLOCK_MONOTONIC) / 1000;
    if (wake_lost.any && wake_lost.next <= clock) {
        wake_search(ctx);
        wake_lost.next = clock + WAKE_SEARCH_MS;
    }
    if (wake_lost.any)
        wake_again(WAKE_SEARCH_MS);
    /* What cannot be had now is not asked for over and over. */
    if (over)
        wake_set(WAKE_AT_ONCE);
    else if (registry_next() <= now)
        wake_again(1);
    else
        wake_set(registry_next());
}

/* Looks at all keys whose time has come. True: some are left. */
static bool
wake_looks(struct redis_ctx *ctx, uint64_t now, uint64_t end)
{
    struct wake_look look = {
        .ctx = ctx, .times = {.end = end}, .left = wake_limits.events};
    struct bytes name;
    while (registry_next() <= now) {
        if (look.left == 0 || wake_us(CLOCK_MONOTONIC) >= end)
            return true;
        if (!registry_pop(now, &look.db, &name, &look.when))
            break;
        wake_look(&look, name);
        look.left -= look.left > 0;
    }
    return false;
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
        wake_since = wake_us(CLOCK_REALTIME);
        wake_again(WAKE_AGAIN_MS);
        return;
    }
    uint64_t began = wake_us(CLOCK_MONOTONIC);
    uint64_t now = (uint64_t)redis.Milliseconds();
    bool over = wake_looks(ctx, now, began + wake_limits.us);
    wake_counts.overruns += over;
    wake_rest(ctx, now, over);
    uint64_t took = (wake_us(CLOCK_MONOTONIC) - began) / 1000;
    if (took > 0)
        redis.LatencyAddSample("lawn-tick", (long long)took);
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
    server_refilled();
    wake_since = wake_us(CLOCK_REALTIME);
    if (wake_master)
        wake_again(1);
    else
        wake_stop();
}

static void
wake_load_ended(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
                void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    server_refilled();
    if (what == REDIS_LOAD_ENDED || what == REDIS_LOAD_FAILED)
        wake_since = wake_us(CLOCK_REALTIME);
}

static void
wake_flushed(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
             void *data)
{
    (void)ctx;
    (void)event;
    const struct redis_flush *flush = data;
    if (flush->db < 0 || flush->db == wake_ticked_db)
        wake_ticked = NULL;
    server_refilled();
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
    /* What is ticked has left the registry, and is not put there again. */
    if (wake_ticked)
        wake_search_soon(wake_us(CLOCK_MONOTONIC));
    wake_ticked = NULL;
    server_refilled();
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
        redis.SubscribeToServerEvent(ctx, REDIS_EVENT_LOAD, wake_load_ended) ||
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
