/* per_timer.c - a module with one module timer per event, the obvious way to
 * delay events in a server, for comparison by tools/bench-module.
 *
 * An event is one block: a link, its timer, its deadline, the id, the payload.
 * A chained hash table finds it by id. When its timer fires, the event moves
 * from the table to the list of ready events, and one waiting client is woken.
 * One is enough, since it may take all ready events. The server keeps its
 * timers in a radix tree: a timer costs a node, a handle and a search for a
 * free key.
 *
 * It is as fast and small as this design allows. It lacks everything that would
 * make it slower: it has one queue, no key, no persistence, no replicas, and no
 * limit on how many timers fire at a time. A client that disconnects while it
 * waits is not noticed: the benchmark ends the server first.
 *
 *   TIMERS.PUSH id payload ms    TIMERS.CANCEL id
 *   TIMERS.POLL count ms         TIMERS.LEN
 *
 * It also has the cheapest possible command that writes and replicates like
 * LAWN.PUSH: it opens the key, replicates the same number of words, closes the
 * key, and replies.
 *
 *   TIMERS.NOTHING key id payload due ttl
 */
#include <stdint.h>
#include <string.h>

#include "redismodule_api.h"

/* Functions that lawn does not use, for clients that block without a key. */
static int (*RedisModule_WrongArity)(RedisModuleCtx *ctx);
static int (*RedisModule_StringToLongLong)(const RedisModuleString *str,
                                           long long *ll);
static RedisModuleBlockedClient *(*RedisModule_BlockClient)(
    RedisModuleCtx *ctx, RedisModuleCmdFunc reply_callback,
    RedisModuleCmdFunc timeout_callback,
    void (*free_privdata)(RedisModuleCtx *, void *), long long timeout_ms);
static int (*RedisModule_UnblockClient)(RedisModuleBlockedClient *bc,
                                        void *privdata);
static RedisModuleBlockedClient *(*RedisModule_GetBlockedClientHandle)(
    RedisModuleCtx *ctx);

enum { WAITERS = 64 };

/* `next` is the chain of the table, or the list of ready events. */
struct event {
    struct event *next;
    uint64_t timer;
    long long due;
    uint32_t payload_size;
    uint32_t id_size;
    char bytes[];
};

/* A waiting client; the first that waits is the first in the list. */
struct waiter {
    RedisModuleBlockedClient *client;
    long long count;
};

/* `size` is a power of two; the table doubles when it has that many events.
 * `woken` clients have been woken for a ready event and have not polled yet. */
static struct {
    struct event **buckets;
    size_t size, used;
    struct event *first, **last;
    size_t ready;
    struct waiter waiters[WAITERS];
    size_t waiting, woken;
} timers;

/* FNV-1a, a word at a time: the ids are those of the benchmark, not of an
 * attacker. */
static size_t
hash_id(const char *id, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (; size >= 8; id += 8, size -= 8) {
        uint64_t word = 0;
        memcpy(&word, id, 8);
        hash = (hash ^ word) * 1099511628211u;
        hash ^= hash >> 32;
    }
    for (; size > 0; id++, size--) {
        hash = (hash ^ (unsigned char)*id) * 1099511628211u;
    }
    return (size_t)(hash ^ (hash >> 29));
}

/* Returns where the pointer to the event is, or belongs. */
static struct event **
find_event(const char *id, size_t size)
{
    struct event **at = &timers.buckets[hash_id(id, size) & (timers.size - 1)];
    while (*at != NULL &&
           ((*at)->id_size != size || memcmp((*at)->bytes, id, size) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

static struct event **
alloc_buckets(size_t count)
{
    struct event **buckets = RedisModule_Alloc(count * sizeof(*buckets));
    memset(buckets, 0, count * sizeof(*buckets));
    return buckets;
}

static void
grow_table(void)
{
    struct event **old = timers.buckets;
    size_t count = timers.size;
    timers.size = count * 2;
    timers.buckets = alloc_buckets(timers.size);
    for (size_t i = 0; i < count; i++) {
        for (struct event *event = old[i], *next = NULL; event != NULL;
             event = next) {
            next = event->next;
            struct event **at =
                &timers.buckets[hash_id(event->bytes, event->id_size) &
                                (timers.size - 1)];
            event->next = *at;
            *at = event;
        }
    }
    RedisModule_Free(old);
}

static void
remove_event(struct event **at)
{
    *at = (*at)->next;
    timers.used--;
}

/* Wakes the first waiting client. Does nothing if a woken client has not polled
 * yet: that one may take all ready events. */
static void
wake_clients(void)
{
    if (timers.waiting == 0 || timers.ready == 0 || timers.woken > 0) {
        return;
    }
    struct waiter waiter = timers.waiters[0];
    timers.waiting--;
    memmove(timers.waiters, timers.waiters + 1,
            timers.waiting * sizeof(waiter));
    timers.woken++;
    long long *count = RedisModule_Alloc(sizeof(*count));
    *count = waiter.count;
    RedisModule_UnblockClient(waiter.client, count);
}

static void
on_fire(RedisModuleCtx *ctx, void *data)
{
    (void)ctx;
    struct event *event = data;
    remove_event(find_event(event->bytes, event->id_size));
    event->next = NULL;
    *timers.last = event;
    timers.last = &event->next;
    timers.ready++;
    wake_clients();
}

static int
run_push(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 4) {
        return RedisModule_WrongArity(ctx);
    }
    long long delay = 0;
    if (RedisModule_StringToLongLong(argv[3], &delay) != REDISMODULE_OK ||
        delay < 0) {
        return RedisModule_ReplyWithError(ctx, "ERR bad delay");
    }
    size_t id_size = 0;
    size_t payload_size = 0;
    const char *id = RedisModule_StringPtrLen(argv[1], &id_size);
    const char *payload = RedisModule_StringPtrLen(argv[2], &payload_size);
    struct event **at = find_event(id, id_size);
    if (*at != NULL) {
        struct event *old = *at;
        RedisModule_StopTimer(ctx, old->timer, NULL);
        remove_event(at);
        RedisModule_Free(old);
    } else if (timers.used == timers.size) {
        grow_table();
    }
    at = &timers.buckets[hash_id(id, id_size) & (timers.size - 1)];
    struct event *event =
        RedisModule_Alloc(sizeof(*event) + id_size + payload_size);
    event->id_size = (uint32_t)id_size;
    event->payload_size = (uint32_t)payload_size;
    memcpy(event->bytes, id, id_size);
    memcpy(event->bytes + id_size, payload, payload_size);
    event->due = RedisModule_Milliseconds() + delay;
    event->timer = RedisModule_CreateTimer(ctx, delay, on_fire, event);
    event->next = *at;
    *at = event;
    timers.used++;
    return RedisModule_ReplyWithStringBuffer(ctx, id, id_size);
}

static int
run_cancel(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 2) {
        return RedisModule_WrongArity(ctx);
    }
    size_t size = 0;
    const char *id = RedisModule_StringPtrLen(argv[1], &size);
    struct event **at = find_event(id, size);
    struct event *event = *at;
    if (event == NULL) {
        return RedisModule_ReplyWithLongLong(ctx, 0);
    }
    RedisModule_StopTimer(ctx, event->timer, NULL);
    remove_event(at);
    RedisModule_Free(event);
    return RedisModule_ReplyWithLongLong(ctx, 1);
}

static int
deliver(RedisModuleCtx *ctx, long long count)
{
    size_t most = count < 1 ? 1 : (size_t)count;
    size_t taken = timers.ready < most ? timers.ready : most;
    RedisModule_ReplyWithArray(ctx, (long)taken);
    for (size_t i = 0; i < taken; i++) {
        struct event *event = timers.first;
        timers.first = event->next;
        timers.ready--;
        RedisModule_ReplyWithArray(ctx, 3);
        RedisModule_ReplyWithStringBuffer(ctx, event->bytes, event->id_size);
        RedisModule_ReplyWithStringBuffer(ctx, event->bytes + event->id_size,
                                          event->payload_size);
        RedisModule_ReplyWithLongLong(ctx, event->due);
        RedisModule_Free(event);
    }
    if (timers.first == NULL) {
        timers.last = &timers.first;
    }
    return REDISMODULE_OK;
}

static int
reply_woken(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    long long *count = RedisModule_GetBlockedClientPrivateData(ctx);
    timers.woken--;
    deliver(ctx, *count);
    wake_clients();
    return REDISMODULE_OK;
}

static int
reply_timed_out(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    RedisModuleBlockedClient *client = RedisModule_GetBlockedClientHandle(ctx);
    size_t kept = 0;
    for (size_t i = 0; i < timers.waiting; i++) {
        if (timers.waiters[i].client != client) {
            timers.waiters[kept++] = timers.waiters[i];
        }
    }
    timers.waiting = kept;
    return RedisModule_ReplyWithArray(ctx, 0);
}

static void
forget_client(RedisModuleCtx *ctx, void *count)
{
    (void)ctx;
    RedisModule_Free(count);
}

static int
run_poll(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 3) {
        return RedisModule_WrongArity(ctx);
    }
    long long count = 0;
    long long wait_ms = 0;
    if (RedisModule_StringToLongLong(argv[1], &count) != REDISMODULE_OK ||
        RedisModule_StringToLongLong(argv[2], &wait_ms) != REDISMODULE_OK) {
        return RedisModule_ReplyWithError(ctx, "ERR not a number");
    }
    if (timers.ready > 0 || timers.waiting == WAITERS) {
        return deliver(ctx, count);
    }
    timers.waiters[timers.waiting++] = (struct waiter){
        RedisModule_BlockClient(ctx, reply_woken, reply_timed_out,
                                forget_client, wait_ms),
        count};
    return REDISMODULE_OK;
}

static int
run_len(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    return RedisModule_ReplyWithLongLong(ctx, (long long)timers.used +
                                                  (long long)timers.ready);
}

static int
run_nothing(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 6) {
        return RedisModule_WrongArity(ctx);
    }
    RedisModuleKey *key =
        RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_Replicate(ctx, "timers.nothing", "sssssss", argv[1], argv[2],
                          argv[2], argv[3], argv[4], argv[5], argv[5]);
    RedisModule_CloseKey(key);
    size_t size = 0;
    const char *id = RedisModule_StringPtrLen(argv[2], &size);
    return RedisModule_ReplyWithStringBuffer(ctx, id, size);
}

static bool
load_commands(RedisModuleCtx *ctx)
{
    const struct {
        const char *name;
        void *at;
    } wanted[] = {
        {"RedisModule_WrongArity", &RedisModule_WrongArity},
        {"RedisModule_StringToLongLong", &RedisModule_StringToLongLong},
        {"RedisModule_BlockClient", &RedisModule_BlockClient},
        {"RedisModule_UnblockClient", &RedisModule_UnblockClient},
        {"RedisModule_GetBlockedClientHandle",
         &RedisModule_GetBlockedClientHandle}};
    /* A context begins with the function that finds all others. */
    int (*find)(const char *, void *) = NULL;
    memcpy(&find, ctx, sizeof(find));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        if (find(wanted[i].name, wanted[i].at) != REDISMODULE_OK) {
            return false;
        }
    }
    return redismodule_api_load(ctx) == NULL;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int
RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (!load_commands(ctx)) {
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleAttribs(ctx, "timers", 1, 1);
    timers.size = 16;
    timers.buckets = alloc_buckets(timers.size);
    timers.last = &timers.first;
    static const struct {
        const char *name;
        RedisModuleCmdFunc function;
        const char *flags;
    } commands[] = {{"timers.push", run_push, "write deny-oom fast"},
                    {"timers.cancel", run_cancel, "write fast"},
                    {"timers.poll", run_poll, "write"},
                    {"timers.nothing", run_nothing, "write fast"},
                    {"timers.len", run_len, "readonly fast"}};
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (RedisModule_CreateCommand(ctx, commands[i].name,
                                      commands[i].function, commands[i].flags,
                                      0, 0, 0) != REDISMODULE_OK) {
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}
