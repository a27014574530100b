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
 */
#include <stdint.h>
#include <string.h>

struct RedisModuleCtx;
struct RedisModuleString;
struct RedisModuleBlockedClient;
typedef int per_timer_command_fn(struct RedisModuleCtx *,
                                 struct RedisModuleString **, int);
typedef void per_timer_timer_fn(struct RedisModuleCtx *, void *);
typedef void per_timer_free_fn(struct RedisModuleCtx *, void *);

/* The calls of the server that are used: result, name, arguments. */
#define PER_TIMER_CALLS(call)                                                  \
    call(void, SetModuleAttribs,                                               \
         (struct RedisModuleCtx *, const char *, int,                          \
          int)) call(int, CreateCommand,                                       \
                     (struct RedisModuleCtx *, const char *,                   \
                      per_timer_command_fn *, const char *, int, int,          \
                      int)) call(void *, Alloc,                                \
                                 (size_t)) call(void *, Calloc,                \
                                                (size_t, size_t))              \
        call(void, Free, (void *)) call(                                       \
            const char *, StringPtrLen,                                        \
            (const struct RedisModuleString *,                                 \
             size_t *)) call(int, StringToLongLong,                            \
                             (const struct RedisModuleString *, long long *))  \
            call(int, ReplyWithArray, (struct RedisModuleCtx *, long)) call(   \
                int, ReplyWithLongLong,                                        \
                (struct RedisModuleCtx *,                                      \
                 long long)) call(int, ReplyWithError,                         \
                                  (struct RedisModuleCtx *, const char *))     \
                call(int, ReplyWithStringBuffer,                               \
                     (struct RedisModuleCtx *, const char *, size_t))          \
                    call(int, WrongArity, (struct RedisModuleCtx *)) call(     \
                        long long, Milliseconds,                               \
                        (void)) call(uint64_t, CreateTimer,                    \
                                     (struct RedisModuleCtx *, long long,      \
                                      per_timer_timer_fn *,                    \
                                      void *)) call(int, StopTimer,            \
                                                    (struct RedisModuleCtx *,  \
                                                     uint64_t, void **))       \
                        call(struct RedisModuleBlockedClient *, BlockClient,   \
                             (struct RedisModuleCtx *, per_timer_command_fn *, \
                              per_timer_command_fn *, per_timer_free_fn *,     \
                              long long))                                      \
                            call(int, UnblockClient,                           \
                                 (struct RedisModuleBlockedClient *, void *))  \
                                call(struct RedisModuleBlockedClient *,        \
                                     GetBlockedClientHandle,                   \
                                     (struct RedisModuleCtx *))                \
                                    call(void *, GetBlockedClientPrivateData,  \
                                         (struct RedisModuleCtx *))

#define PER_TIMER_DECLARE(result, name, arguments)                             \
    static result(*RM_##name) arguments;
PER_TIMER_CALLS(PER_TIMER_DECLARE)

enum { OK = 0, FAILED = 1, WAITERS = 64 };

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
    struct RedisModuleBlockedClient *client;
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

static void
per_timer_grow(void)
{
    struct event **old = timers.buckets;
    size_t count = timers.size;
    timers.size = count * 2;
    timers.buckets = RM_Calloc(timers.size, sizeof(*timers.buckets));
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
    RM_Free(old);
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
    long long *count = RM_Alloc(sizeof(*count));
    *count = waiter.count;
    RM_UnblockClient(waiter.client, count);
}

static void
per_timer_fire(struct RedisModuleCtx *ctx, void *data)
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
per_timer_push(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
               int argc)
{
    long long delay;
    if (argc != 4)
        return RM_WrongArity(ctx);
    if (RM_StringToLongLong(argv[3], &delay) != OK || delay < 0)
        return RM_ReplyWithError(ctx, "ERR bad delay");
    size_t id_size;
    size_t payload_size;
    const char *id = RM_StringPtrLen(argv[1], &id_size);
    const char *payload = RM_StringPtrLen(argv[2], &payload_size);
    struct event **at = per_timer_find(id, id_size);
    if (*at) {
        struct event *old = *at;
        RM_StopTimer(ctx, old->timer, NULL);
        per_timer_take_out(at);
        RM_Free(old);
    } else if (timers.used == timers.size) {
        per_timer_grow();
    }
    at = &timers.buckets[per_timer_hash(id, id_size) & (timers.size - 1)];
    struct event *event = RM_Alloc(sizeof(*event) + id_size + payload_size);
    event->id_size = (uint32_t)id_size;
    event->payload_size = (uint32_t)payload_size;
    memcpy(event->bytes, id, id_size);
    memcpy(event->bytes + id_size, payload, payload_size);
    event->due = RM_Milliseconds() + delay;
    event->timer = RM_CreateTimer(ctx, delay, per_timer_fire, event);
    event->next = *at;
    *at = event;
    timers.used++;
    return RM_ReplyWithStringBuffer(ctx, id, id_size);
}

static int
per_timer_cancel(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                 int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    size_t size;
    const char *id = RM_StringPtrLen(argv[1], &size);
    struct event **at = per_timer_find(id, size);
    struct event *event = *at;
    if (!event)
        return RM_ReplyWithLongLong(ctx, 0);
    RM_StopTimer(ctx, event->timer, NULL);
    per_timer_take_out(at);
    RM_Free(event);
    return RM_ReplyWithLongLong(ctx, 1);
}

static int
per_timer_deliver(struct RedisModuleCtx *ctx, long long count)
{
    size_t most = count < 1 ? 1 : (size_t)count;
    size_t taken = timers.ready < most ? timers.ready : most;
    RM_ReplyWithArray(ctx, (long)taken);
    for (size_t i = 0; i < taken; i++) {
        struct event *event = timers.first;
        timers.first = event->next;
        timers.ready--;
        RM_ReplyWithArray(ctx, 3);
        RM_ReplyWithStringBuffer(ctx, event->bytes, event->id_size);
        RM_ReplyWithStringBuffer(ctx, event->bytes + event->id_size,
                                 event->payload_size);
        RM_ReplyWithLongLong(ctx, event->due);
        RM_Free(event);
    }
    if (!timers.first)
        timers.last = &timers.first;
    return OK;
}

static int
per_timer_woken(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                int argc)
{
    (void)argv;
    (void)argc;
    long long *count = RM_GetBlockedClientPrivateData(ctx);
    timers.woken--;
    per_timer_deliver(ctx, *count);
    per_timer_wake();
    return OK;
}

static int
per_timer_timed_out(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                    int argc)
{
    (void)argv;
    (void)argc;
    struct RedisModuleBlockedClient *client = RM_GetBlockedClientHandle(ctx);
    size_t kept = 0;
    for (size_t i = 0; i < timers.waiting; i++)
        if (timers.waiters[i].client != client)
            timers.waiters[kept++] = timers.waiters[i];
    timers.waiting = kept;
    return RM_ReplyWithArray(ctx, 0);
}

static void
per_timer_forget(struct RedisModuleCtx *ctx, void *count)
{
    (void)ctx;
    RM_Free(count);
}

static int
per_timer_poll(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
               int argc)
{
    long long count;
    long long wait_ms;
    if (argc != 3)
        return RM_WrongArity(ctx);
    if (RM_StringToLongLong(argv[1], &count) != OK ||
        RM_StringToLongLong(argv[2], &wait_ms) != OK)
        return RM_ReplyWithError(ctx, "ERR not a number");
    if (timers.ready > 0 || timers.waiting == WAITERS)
        return per_timer_deliver(ctx, count);
    timers.waiters[timers.waiting++] = (struct waiter){
        RM_BlockClient(ctx, per_timer_woken, per_timer_timed_out,
                       per_timer_forget, wait_ms),
        count};
    return OK;
}

static int
per_timer_len(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
              int argc)
{
    (void)argv;
    (void)argc;
    return RM_ReplyWithLongLong(ctx, (long long)(timers.used + timers.ready));
}

int RedisModule_OnLoad(struct RedisModuleCtx *ctx,
                       struct RedisModuleString **argv, int argc);

int
RedisModule_OnLoad(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                   int argc)
{
    (void)argv;
    (void)argc;
    /* A context begins with the call that finds all others. */
    int (*find)(const char *, void *);
    memcpy(&find, (void *)ctx, sizeof(find));
#define PER_TIMER_FIND(result, name, arguments)                                \
    if (find("RedisModule_" #name, (void *)&RM_##name) != OK)                  \
        return FAILED;
    PER_TIMER_CALLS(PER_TIMER_FIND)
    RM_SetModuleAttribs(ctx, "timers", 1, 1);
    timers.size = 16;
    timers.buckets = RM_Calloc(timers.size, sizeof(*timers.buckets));
    timers.last = &timers.first;
    static const struct {
        const char *name;
        per_timer_command_fn *function;
        const char *flags;
    } commands[] = {{"timers.push", per_timer_push, "write deny-oom fast"},
                    {"timers.cancel", per_timer_cancel, "write fast"},
                    {"timers.poll", per_timer_poll, "write"},
                    {"timers.len", per_timer_len, "readonly fast"}};
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (RM_CreateCommand(ctx, commands[i].name, commands[i].function,
                             commands[i].flags, 0, 0, 0) != OK)
            return FAILED;
    return OK;
}
