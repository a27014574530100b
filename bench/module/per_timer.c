/* per_timer.c - a module with one module timer per event, the obvious way to
 * delay things in a server, for tools/bench-module to compare with.
 *
 * An event is one block: a link, its timer, its deadline, the id, the payload.
 * A chained hash table finds it by its id. When its timer fires it leaves the
 * table for the list of what is ready, and a client that waits is woken, one at
 * a time, as one may take all that is ready. The server keeps its timers in a
 * radix tree: a timer costs a node, a handle and a search for a free key.
 *
 * It is as fast and small as its idea allows, and lacks what would make it
 * slower: it has one queue, no key, no persistence, no replicas, nothing bounds
 * what fires at a time. A client that hangs up while it waits is not noticed:
 * the benchmark ends the server first.
 *
 *   TIMERS.PUSH id payload ms    TIMERS.CANCEL id
 *   TIMERS.POLL count ms         TIMERS.LEN
 *
 * And the least that a command can cost that writes and replicates as LAWN.PUSH
 * does: it opens the key, sends as many words on, closes it, and replies.
 *
 *   TIMERS.NOTHING key id payload due ttl
 */
#include <stdint.h>
#include <string.h>

#include "redis.h"

/* What lawn has no use for: clients that wait for no key. */
static struct {
    int (*WrongArity)(struct redis_ctx *ctx);
    int (*StringToLongLong)(const struct redis_string *string,
                            long long *value);
    struct redis_blocked *(*BlockClient)(
        struct redis_ctx *ctx, redis_command_fn *woken,
        redis_command_fn *timed_out,
        void (*release)(struct redis_ctx *, void *), long long ms);
    int (*UnblockClient)(struct redis_blocked *client, void *data);
    struct redis_blocked *(*GetBlockedClientHandle)(struct redis_ctx *ctx);
} more;

enum { WAITERS = 64 };

/* `next` is the chain of the table, or the list of what is ready. */
struct event {
    struct event *next;
    uint64_t timer;
    long long due;
    uint32_t payload_size;
    uint32_t id_size;
    char bytes[];
};

/* Who waits, the first to come first. */
struct waiter {
    struct redis_blocked *client;
    long long count;
};

/* `size` is a power of two; the table doubles when it has as many events.
 * `woken` clients have been told of something ready and have not come yet. */
static struct {
    struct event **buckets;
    size_t size, used;
    struct event *first, **last;
    size_t ready;
    struct waiter waiters[WAITERS];
    size_t waiting, woken;
} timers;

/* FNV-1a, a word at a time: the ids come from the benchmark, not from foes. */
static size_t
per_timer_hash(const char *id, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (; size >= 8; id += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, id, 8);
        hash = (hash ^ word) * 1099511628211u;
        hash ^= hash >> 32;
    }
    for (; size > 0; id++, size--)
        hash = (hash ^ (unsigned char)*id) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 29));
}

/* Where the pointer to the event stands, or would stand. */
static struct event **
per_timer_find(const char *id, size_t size)
{
    struct event **at =
        &timers.buckets[per_timer_hash(id, size) & (timers.size - 1)];
    while (*at &&
           ((*at)->id_size != size || memcmp((*at)->bytes, id, size) != 0))
        at = &(*at)->next;
    return at;
}

static struct event **
per_timer_buckets(size_t count)
{
    struct event **buckets = redis.Alloc(count * sizeof(*buckets));
    memset(buckets, 0, count * sizeof(*buckets));
    return buckets;
}

static void
per_timer_grow(void)
{
    struct event **old = timers.buckets;
    size_t count = timers.size;
    timers.size = count * 2;
    timers.buckets = per_timer_buckets(timers.size);
    for (size_t i = 0; i < count; i++) {
        for (struct event *event = old[i], *next; event; event = next) {
            next = event->next;
            struct event **at =
                &timers.buckets[per_timer_hash(event->bytes, event->id_size) &
                                (timers.size - 1)];
            event->next = *at;
            *at = event;
        }
    }
    redis.Free(old);
}

static void
per_timer_take_out(struct event **at)
{
    *at = (*at)->next;
    timers.used--;
}

/* The number of clients that are on their way is bounded by what is ready: a
 * client takes at least one. */
static void
per_timer_wake(void)
{
    if (timers.waiting == 0 || timers.ready == 0 || timers.woken > 0)
        return;
    struct waiter waiter = timers.waiters[0];
    timers.waiting--;
    memmove(timers.waiters, timers.waiters + 1,
            timers.waiting * sizeof(waiter));
    timers.woken++;
    long long *count = redis.Alloc(sizeof(*count));
    *count = waiter.count;
    more.UnblockClient(waiter.client, count);
}

static void
per_timer_fire(struct redis_ctx *ctx, void *data)
{
    (void)ctx;
    struct event *event = data;
    per_timer_take_out(per_timer_find(event->bytes, event->id_size));
    event->next = NULL;
    *timers.last = event;
    timers.last = &event->next;
    timers.ready++;
    per_timer_wake();
}

static int
per_timer_push(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    long long delay;
    if (argc != 4)
        return more.WrongArity(ctx);
    if (more.StringToLongLong(argv[3], &delay) != REDIS_OK || delay < 0)
        return redis.ReplyWithError(ctx, "ERR bad delay");
    size_t id_size;
    size_t payload_size;
    const char *id = redis.StringPtrLen(argv[1], &id_size);
    const char *payload = redis.StringPtrLen(argv[2], &payload_size);
    struct event **at = per_timer_find(id, id_size);
    if (*at) {
        struct event *old = *at;
        redis.StopTimer(ctx, old->timer, NULL);
        per_timer_take_out(at);
        redis.Free(old);
    } else if (timers.used == timers.size) {
        per_timer_grow();
    }
    at = &timers.buckets[per_timer_hash(id, id_size) & (timers.size - 1)];
    struct event *event = redis.Alloc(sizeof(*event) + id_size + payload_size);
    event->id_size = (uint32_t)id_size;
    event->payload_size = (uint32_t)payload_size;
    memcpy(event->bytes, id, id_size);
    memcpy(event->bytes + id_size, payload, payload_size);
    event->due = redis.Milliseconds() + delay;
    event->timer = redis.CreateTimer(ctx, delay, per_timer_fire, event);
    event->next = *at;
    *at = event;
    timers.used++;
    return redis.ReplyWithStringBuffer(ctx, id, id_size);
}

static int
per_timer_cancel(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    if (argc != 2)
        return more.WrongArity(ctx);
    size_t size;
    const char *id = redis.StringPtrLen(argv[1], &size);
    struct event **at = per_timer_find(id, size);
    struct event *event = *at;
    if (!event)
        return redis.ReplyWithLongLong(ctx, 0);
    redis.StopTimer(ctx, event->timer, NULL);
    per_timer_take_out(at);
    redis.Free(event);
    return redis.ReplyWithLongLong(ctx, 1);
}

static int
per_timer_deliver(struct redis_ctx *ctx, long long count)
{
    size_t most = count < 1 ? 1 : (size_t)count;
    size_t taken = timers.ready < most ? timers.ready : most;
    redis.ReplyWithArray(ctx, (long)taken);
    for (size_t i = 0; i < taken; i++) {
        struct event *event = timers.first;
        timers.first = event->next;
        timers.ready--;
        redis.ReplyWithArray(ctx, 3);
        redis.ReplyWithStringBuffer(ctx, event->bytes, event->id_size);
        redis.ReplyWithStringBuffer(ctx, event->bytes + event->id_size,
                                    event->payload_size);
        redis.ReplyWithLongLong(ctx, event->due);
        redis.Free(event);
    }
    if (!timers.first)
        timers.last = &timers.first;
    return REDIS_OK;
}

static int
per_timer_woken(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    long long *count = redis.GetBlockedClientPrivateData(ctx);
    timers.woken--;
    per_timer_deliver(ctx, *count);
    per_timer_wake();
    return REDIS_OK;
}

static int
per_timer_timed_out(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    struct redis_blocked *client = more.GetBlockedClientHandle(ctx);
    size_t kept = 0;
    for (size_t i = 0; i < timers.waiting; i++)
        if (timers.waiters[i].client != client)
            timers.waiters[kept++] = timers.waiters[i];
    timers.waiting = kept;
    return redis.ReplyWithArray(ctx, 0);
}

static void
per_timer_forget(struct redis_ctx *ctx, void *count)
{
    (void)ctx;
    redis.Free(count);
}

static int
per_timer_poll(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    long long count;
    long long wait_ms;
    if (argc != 3)
        return more.WrongArity(ctx);
    if (more.StringToLongLong(argv[1], &count) != REDIS_OK ||
        more.StringToLongLong(argv[2], &wait_ms) != REDIS_OK)
        return redis.ReplyWithError(ctx, "ERR not a number");
    if (timers.ready > 0 || timers.waiting == WAITERS)
        return per_timer_deliver(ctx, count);
    timers.waiters[timers.waiting++] = (struct waiter){
        more.BlockClient(ctx, per_timer_woken, per_timer_timed_out,
                         per_timer_forget, wait_ms),
        count};
    return REDIS_OK;
}

static int
per_timer_len(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    return redis.ReplyWithLongLong(ctx, (long long)timers.used +
                                            (long long)timers.ready);
}

static int
per_timer_nothing(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    if (argc != 6)
        return more.WrongArity(ctx);
    struct redis_key *key =
        redis.OpenKey(ctx, argv[1], REDIS_READ | REDIS_WRITE);
    redis.Replicate(ctx, "timers.nothing", "sssssss", argv[1], argv[2], argv[2],
                    argv[3], argv[4], argv[5], argv[5]);
    redis.CloseKey(key);
    size_t size;
    const char *id = redis.StringPtrLen(argv[2], &size);
    return redis.ReplyWithStringBuffer(ctx, id, size);
}

static bool
per_timer_load(struct redis_ctx *ctx)
{
    const struct {
        const char *name;
        void *at;
    } wanted[] = {
        {"RedisModule_WrongArity", &more.WrongArity},
        {"RedisModule_StringToLongLong", &more.StringToLongLong},
        {"RedisModule_BlockClient", &more.BlockClient},
        {"RedisModule_UnblockClient", &more.UnblockClient},
        {"RedisModule_GetBlockedClientHandle", &more.GetBlockedClientHandle}};
    /* A context begins with the function that finds all others. */
    int (*find)(const char *, void *);
    memcpy(&find, ctx, sizeof(find));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (find(wanted[i].name, wanted[i].at) != REDIS_OK)
            return false;
    return !redis_find(ctx);
}

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv,
                       int argc);

int
RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (!per_timer_load(ctx))
        return REDIS_ERR;
    redis.SetModuleAttribs(ctx, "timers", 1, 1);
    timers.size = 16;
    timers.buckets = per_timer_buckets(timers.size);
    timers.last = &timers.first;
    static const struct {
        const char *name;
        redis_command_fn *function;
        const char *flags;
    } commands[] = {{"timers.push", per_timer_push, "write deny-oom fast"},
                    {"timers.cancel", per_timer_cancel, "write fast"},
                    {"timers.poll", per_timer_poll, "write"},
                    {"timers.nothing", per_timer_nothing, "write fast"},
                    {"timers.len", per_timer_len, "readonly fast"}};
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (redis.CreateCommand(ctx, commands[i].name, commands[i].function,
                                commands[i].flags, 0, 0, 0) != REDIS_OK)
            return REDIS_ERR;
    return REDIS_OK;
}
