/* server.c - host.h and memory.h by the functions of the server. */
#include "server.h"

#include "commands.h"
#include "memory.h"
#include "type.h"
#include "wake.h"

#include <errno.h>
#include <strings.h>
#include <time.h>

#define SERVER_ARGS 16u
#define SERVER_WORDS 16u

/* How many bytes may be handed on between two looks at the memory there is. */
#define SERVER_UNSEEN 65536u
/* What one of them takes beside its words, about. */
#define SERVER_ORDER 128u
/* So much of a name is remembered. */
#define SERVER_DRY 256u
/* Of so many events listeners hear after a call. */
#define SERVER_NOTES 8u

/* What a tick keeps between calls of host_call(). */
struct server_orders {
    struct redis_string *lasting[HOST_ORDER_WORDS];
    const char *at[HOST_ORDER_WORDS]; /* what they were made of */
    size_t unseen;                    /* bytes, since memory was looked at */
    bool full;                        /* there was none */
    bool evicts;
    uint64_t end;
    char error[128];
};

struct host {
    struct redis_ctx *ctx;
    struct redis_string **argv;
    const struct bytes *args;
    size_t count;
    struct server_entry *entry;
    enum server_why why;
    struct redis_key *key;
    struct queue *queue;
    uint64_t now;
    bool changed;
    bool stays; /* the client goes on waiting */
    struct server_note {
        int type;
        const char *event;
    } notes[SERVER_NOTES];
    size_t noted;
    struct server_orders *orders; /* of a tick, else NULL */
};

struct server_counts server_counts;

/* Words that are replicated all the time. */
static const char *const server_verbs[] = {"ADD", "DEL",   "AT",   "SET",
                                           "CFG", "LEASE", "SINK", "TOKEN"};
#define SERVER_VERBS (sizeof(server_verbs) / sizeof(server_verbs[0]))
static struct redis_string *server_verb_strings[SERVER_VERBS];
static struct redis_string *server_empty;
/* A command that is only for who administers the server, as its user is asked
 * about; and one that nobody renames, as many do with DEBUG and CONFIG. */
#define SERVER_GUARD "BGREWRITEAOF"
static struct redis_string *server_guard;
/* The key at which who was woken last found nothing: those behind him find nothing
 * either, unless someone has said since that there may be more. size 0: none. */
static struct {
    int db;
    size_t size;
    char name[SERVER_DRY];
} server_dry;

/* The server asks itself whether anything may be written. */
static bool server_probes;

/* MEMORY */

void *
memory_alloc(size_t size)
{
    return redis.TryAlloc ? redis.TryAlloc(size) : redis.Alloc(size);
}

void
memory_free(void *memory)
{
    redis.Free(memory);
}

size_t
memory_size(const void *memory)
{
    /* Only asked about; its type has no const. */
    return redis.MallocSize((void *)(uintptr_t)memory);
}

/* REPLIES */

void
host_null(struct host *host)
{
    redis.ReplyWithNull(host->ctx);
}

void
host_integer(struct host *host, int64_t value)
{
    redis.ReplyWithLongLong(host->ctx, value);
}

void
host_bytes(struct host *host, struct bytes bytes)
{
    redis.ReplyWithStringBuffer(host->ctx, bytes.size ? bytes.at : "",
                                bytes.size);
}

void
host_simple(struct host *host, const char *text)
{
    redis.ReplyWithSimpleString(host->ctx, text);
}

void
host_error(struct host *host, const char *text)
{
    redis.ReplyWithError(host->ctx, text);
}

void
host_array(struct host *host, size_t count)
{
    redis.ReplyWithArray(host->ctx, (long)count);
}

void
host_map(struct host *host, size_t count)
{
    redis.ReplyWithMap(host->ctx, (long)count);
}

/* THE KEY */

struct bytes
server_bytes(const struct redis_string *string)
{
    struct bytes bytes;
    bytes.at = redis.StringPtrLen(string, &bytes.size);
    return bytes;
}

struct queue *
server_value(struct redis_key *key, bool *other)
{
    *other = false;
    if (!key)
        return NULL;
    if (redis.ModuleTypeGetType(key) == type_ours)
        return redis.ModuleTypeGetValue(key);
    *other = redis.KeyType(key) != 0;
    return NULL;
}

struct queue *
host_queue(struct host *host)
{
    return host->queue;
}

struct queue *
host_create(struct host *host)
{
    struct queue *queue = type_new(host->now);
    if (!queue)
        return NULL;
    if (redis.ModuleTypeSetValue(host->key, type_ours, queue) != REDIS_OK) {
        type_free(queue);
        return NULL;
    }
    host->queue = queue;
    return queue;
}

static void
server_note(struct host *host, int type, const char *event)
{
    if (host->noted < SERVER_NOTES)
        host->notes[host->noted++] = (struct server_note){type, event};
}

void
host_delete(struct host *host)
{
    if (!host->queue || !(host->entry->mode & REDIS_WRITE))
        return;
    host->queue = NULL;
    redis.DeleteKey(host->key);
    server_note(host, REDIS_EVENTS_GENERIC, "del");
}

/* REPLICATION */

static struct redis_string *
server_verb(const char *verb)
{
    for (size_t i = 0; i < SERVER_VERBS; i++) {
        if (strcmp(verb, server_verbs[i]) == 0)
            return server_verb_strings[i];
    }
    return server_empty;
}

/* A word as a string of the server's, which is to be freed: the argument that it
 * is, counted once more, or a new one. Words come in the order of arguments,
 * mostly, so the next few from *arg on are looked at, and *arg follows. */
static struct redis_string *
server_word(const struct host *host, struct bytes word, size_t *arg)
{
    struct redis_string *string = NULL;
    if (word.size == 0)
        string = server_empty;
    for (size_t i = *arg; !string && i < host->count && i < *arg + 4; i++) {
        if (host->args[i].at == word.at && host->args[i].size == word.size) {
            string = host->argv[i];
            *arg = i + 1;
        }
    }
    if (!string)
        return redis.CreateString(NULL, word.at, word.size);
    redis.RetainString(NULL, string);
    return string;
}

/* As above for a word that was the same last time, in many cases: a delay, or
 * the time within a millisecond. */
static struct redis_string *
server_word_again(struct bytes word, struct redis_string **last)
{
    if (!*last || !bytes_equal(server_bytes(*last), word)) {
        if (*last)
            redis.FreeString(NULL, *last);
        *last = redis.CreateString(NULL, word.at, word.size);
    }
    redis.RetainString(NULL, *last);
    return *last;
}

/* One event that was put in: what is replicated most, so that nothing is
 * allocated for it that can be had otherwise. */
static void
server_replicate_add(struct host *host, const struct bytes *words)
{
    static struct redis_string *due;
    static struct redis_string *ttl;
    size_t arg = 2;
    struct redis_string *strings[COMMANDS_ADD_WORDS] = {
        server_word(host, words[0], &arg), server_word(host, words[1], &arg),
        server_word_again(words[2], &due), server_word_again(words[3], &ttl),
        server_word(host, words[4], &arg)};
    redis.Replicate(host->ctx, "LAWN.APPLY", "sssssss", host->argv[1],
                    server_verb_strings[0], strings[0], strings[1], strings[2],
                    strings[3], strings[4]);
    for (size_t i = 0; i < COMMANDS_ADD_WORDS; i++)
        redis.FreeString(NULL, strings[i]);
}

static void
server_replicate_all(struct host *host, const char *verb,
                     const struct bytes *words, size_t count)
{
    struct redis_string *stack[SERVER_WORDS];
    struct redis_string **strings = stack;
    if (count > SERVER_WORDS)
        strings = redis.Alloc(count * sizeof(*strings));
    size_t arg = 2;
    for (size_t i = 0; i < count; i++) {
        /* Many events that were put in at once have the same times. */
        const struct bytes *last =
            i < COMMANDS_ADD_WORDS ? NULL : &words[i - COMMANDS_ADD_WORDS];
        if (last && last->at == words[i].at && last->size == words[i].size) {
            strings[i] = strings[i - COMMANDS_ADD_WORDS];
            redis.RetainString(NULL, strings[i]);
        } else {
            strings[i] = server_word(host, words[i], &arg);
        }
    }
    redis.Replicate(host->ctx, "LAWN.APPLY", "ssv", host->argv[1],
                    server_verb(verb), strings, count);
    for (size_t i = 0; i < count; i++)
        redis.FreeString(NULL, strings[i]);
    if (strings != stack)
        redis.Free(strings);
}

void
host_replicate(struct host *host, const char *verb, const struct bytes *words,
               size_t count)
{
    if (count == COMMANDS_ADD_WORDS && strcmp(verb, server_verbs[0]) == 0)
        server_replicate_add(host, words);
    else
        server_replicate_all(host, verb, words, count);
    host->changed = true;
}

/* WHO LISTENS AND WAITS */

void
host_notify(struct host *host, const char *event)
{
    /* What is due is for the master to say. */
    if (strcmp(event, "lawn.fire") == 0 &&
        !(redis.GetContextFlags(host->ctx) & REDIS_MASTER))
        return;
    server_note(host, REDIS_EVENTS_MODULE, event);
}

void
server_refilled(void)
{
    server_dry.size = 0;
}

void
server_signal(struct redis_ctx *ctx, struct redis_string *name)
{
    server_refilled();
    redis.SignalKeyAsReady(ctx, name);
}

void
host_signal(struct host *host)
{
    server_signal(host->ctx, host->argv[1]);
}

void
host_arm(struct host *host, uint64_t when)
{
    if (host->queue)
        wake_arm(redis.GetSelectedDb(host->ctx), host->args[1], host->queue,
                 when);
}

/* All who wait for a key are woken by one signal, in the order of their coming;
 * and those who come too late for what there was are to cost next to nothing: no key
 * is opened for them, and their arguments are not looked at. */
static int
server_woken(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct bytes name = server_bytes(argv[1]);
    if (name.size > 0 && name.size == server_dry.size &&
        memcmp(name.at, server_dry.name, name.size) == 0 &&
        redis.GetSelectedDb(ctx) == server_dry.db)
        return REDIS_ERR;
    int result = server_run(redis.GetBlockedClientPrivateData(ctx),
                            SERVER_WOKEN, ctx, argv, argc);
    if (result == REDIS_ERR && name.size <= SERVER_DRY) {
        server_dry.db = redis.GetSelectedDb(ctx);
        server_dry.size = name.size;
        memcpy(server_dry.name, name.at, name.size);
    }
    return result;
}

static int
server_timed_out(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    server_counts.timed_out++;
    return server_run(redis.GetBlockedClientPrivateData(ctx), SERVER_TIMED_OUT,
                      ctx, argv, argc);
}

bool
host_block(struct host *host, uint64_t ms)
{
    if (host->why == SERVER_TIMED_OUT)
        return false;
    if (host->why == SERVER_WOKEN) {
        host->stays = true;
        return true;
    }
    int flags = redis.GetContextFlags(host->ctx);
    /* Nobody is woken by time where a master decides what is due. */
    if (flags & REDIS_DENY_BLOCKING || !(flags & REDIS_MASTER))
        return false;
    server_counts.waits++;
    redis.BlockClientOnKeys(host->ctx, server_woken, server_timed_out, NULL,
                            (long long)ms, &host->argv[1], 1, host->entry);
    return true;
}

/* A client's own call never comes here while writes are paused; what was woken
 * by a timer may, and to replicate then would end the server. As for a client
 * that has waited long enough: it is told that there was nothing. */
bool
host_frozen(struct host *host)
{
    if (host->why == SERVER_CALLED)
        return false;
    if (host->why == SERVER_TIMED_OUT)
        return true;
    if (!redis.AvoidReplicaTraffic())
        return false;
    if (host->queue)
        wake_later(redis.GetSelectedDb(host->ctx), host->args[1], host->queue);
    return true;
}

/* As a push would find it, so it is asked: by one that does nothing. A server may be
 * short of memory now and take it all the same, as while it evicts, or in a
 * transaction that it has let begin. M: not if there was no memory. */
bool
host_full(struct host *host)
{
    if (!(redis.GetContextFlags(host->ctx) & REDIS_FULL))
        return false;
    struct redis_string *words[] = {host->argv[1], server_empty, server_empty,
                                    server_empty, server_empty};
    server_probes = true;
    struct redis_reply *reply = redis.Call(host->ctx, "LAWN.PUSH", "EMv", words,
                                           sizeof(words) / sizeof(words[0]));
    server_probes = false;
    bool full = true;
    if (reply) {
        full = redis.CallReplyType(reply) == REDIS_REPLY_ERROR;
        redis.FreeCallReply(reply);
    }
    return full;
}

/* Draws again what would make the small ones likelier. */
uint64_t
host_random(struct host *host, uint64_t below)
{
    (void)host;
    uint64_t value;
    uint64_t rest = below ? (UINT64_MAX % below + 1) % below : 0;
    do {
        redis.GetRandomBytes((unsigned char *)&value, sizeof(value));
    } while (value > UINT64_MAX - rest);
    return below ? value % below : 0;
}

/* A CALL */

/* A call's time is that at which it began, which some servers know. One that was
 * woken is late, and asks. */
static uint64_t
server_now(enum server_why why)
{
    if (why == SERVER_CALLED && redis.CachedMicroseconds)
        return (uint64_t)redis.CachedMicroseconds() / 1000;
    return (uint64_t)redis.Milliseconds();
}

/* Who calls; NULL: no client of the server's, but another module, or the server
 * itself, which may do all; or a script, of which it is not known who runs it. */
static struct redis_user *
server_user(struct host *host, bool *any)
{
    struct redis_string *name =
        redis.GetClientUserNameById(host->ctx, redis.GetClientId(host->ctx));
    *any = !name && !(redis.GetContextFlags(host->ctx) & REDIS_SCRIPT);
    if (!name)
        return NULL;
    struct redis_user *user = redis.GetModuleUserFromUserName(name);
    redis.FreeString(NULL, name);
    return user;
}

bool
host_may_publish(struct host *host, struct bytes channel)
{
    bool any;
    struct redis_user *user = server_user(host, &any);
    if (!user)
        return any;
    struct redis_string *name =
        redis.CreateString(NULL, channel.at, channel.size);
    bool may = redis.ACLCheckChannelPermissions(
                   user, name, REDIS_CHANNEL_PUBLISH) == REDIS_OK;
    redis.FreeString(NULL, name);
    redis.FreeModuleUser(user);
    return may;
}

/* Whether the client may run the command. Where the commands of modules are in no
 * category, rules by category do not hold for them; so for one that is guarded it
 * is asked whether its user may run a command that is for administrators. */
static bool
server_admits(struct host *host)
{
    if (!host->entry->guarded ||
        redis.GetContextFlags(host->ctx) & (REDIS_REPLICATED | REDIS_LOADING))
        return true;
    bool admits;
    struct redis_user *user = server_user(host, &admits);
    if (user) {
        admits = redis.ACLCheckCommandPermissions(user, &server_guard, 1) ==
                 REDIS_OK;
        redis.FreeModuleUser(user);
    }
    if (!admits)
        host_error(host, "NOPERM this command is for the server itself and for "
                         "users who may run " SERVER_GUARD);
    return admits;
}

/* False: it has been replied, or the client goes on waiting. */
static bool
server_open(struct host *host)
{
    const struct command *command = host->entry->command;
    if (!server_admits(host))
        return false;
    if (!command->key)
        return true;
    bool other;
    host->key = redis.OpenKey(host->ctx, host->argv[1], host->entry->mode);
    host->queue = server_value(host->key, &other);
    if (host->queue && wake_ticks(host->queue)) {
        host_error(host, "TRYAGAIN the key hands on events just now");
        return false;
    }
    /* A waiting client waits for a key of ours, as others do for theirs. */
    if (!other || host->why == SERVER_TIMED_OUT)
        return true;
    if (host->why == SERVER_WOKEN)
        host->stays = true;
    else
        host_error(host, "WRONGTYPE Operation against a key holding the wrong "
                         "kind of value");
    return false;
}

static void
server_close(struct host *host)
{
    if (host->changed)
        redis.SignalModifiedKey(host->ctx, host->argv[1]);
    if (host->key)
        redis.CloseKey(host->key);
    /* Who hears of it may be a module, and take the key away. */
    for (size_t i = 0; i < host->noted; i++)
        redis.NotifyKeyspaceEvent(host->ctx, host->notes[i].type,
                                  host->notes[i].event, host->argv[1]);
}

/* Where the keys are of a command that has more than one: in a cluster all must be in
 * one slot, and no server finds them there by what it was told of them. */
static void
server_positions(const struct command *command, struct redis_ctx *ctx,
                 struct redis_string **argv, int argc)
{
    redis.KeyAtPos(ctx, 1);
    for (const struct command_key *key = command->more; key->word; key++) {
        int at = key->from < 0 ? argc + key->from : key->from;
        if (at < 2 || at + 1 >= argc)
            continue;
        struct bytes word = server_bytes(argv[at]);
        if (word.size == strlen(key->word) &&
            strncasecmp(word.at, key->word, word.size) == 0)
            redis.KeyAtPos(ctx, at + 1);
    }
}

int
server_run(struct server_entry *entry, enum server_why why,
           struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct bytes stack[SERVER_ARGS];
    struct bytes *args = stack;
    size_t count = (size_t)argc;
    if (entry->command->more && redis.IsKeysPositionRequest(ctx)) {
        server_positions(entry->command, ctx, argv, argc);
        return REDIS_OK;
    }
    if (server_probes) {
        redis.ReplyWithSimpleString(ctx, "OK");
        return REDIS_OK;
    }
    server_refilled();
    if (count > SERVER_ARGS)
        args = redis.Alloc(count * sizeof(*args));
    for (size_t i = 0; i < count; i++)
        args[i] = server_bytes(argv[i]);
    struct host host = {.ctx = ctx,
                        .argv = argv,
                        .args = args,
                        .count = count,
                        .entry = entry,
                        .why = why,
                        .now = server_now(why)};
    if (server_open(&host)) {
        struct call call = {
            .host = &host, .args = args, .count = count, .now = host.now};
        command_call(entry->command, &call);
    }
    server_close(&host);
    if (args != stack)
        redis.Free(args);
    return host.stays ? REDIS_ERR : REDIS_OK;
}

/* A TICK */

bool
host_over(struct host *host)
{
    return wake_us(CLOCK_MONOTONIC) >= host->orders->end;
}

/* A server that may evict does so before a client's next command; whether that
 * helped is known from the last one. One that may not is short of memory when it is
 * so now, whatever a client last found: that may be long ago, unlike in a call. */
static bool
server_short(struct host *host, const struct host_order *order)
{
    struct server_orders *orders = host->orders;
    if (!order->grows)
        return false;
    if (orders->unseen >= SERVER_UNSEEN) {
        int flags = redis.GetContextFlags(host->ctx);
        orders->full = (flags & REDIS_FULL) != 0;
        orders->evicts = (flags & REDIS_EVICTS) != 0;
        orders->unseen = 0;
    }
    for (size_t i = 0; i < order->count; i++)
        orders->unseen += order->words[i].size;
    orders->unseen += SERVER_ORDER;
    return orders->full && !orders->evicts;
}

/* The words after the first as strings, each to be freed. */
static void
server_order(struct host *host, const struct host_order *order,
             struct redis_string **strings)
{
    struct server_orders *orders = host->orders;
    for (size_t i = 1; i < order->count; i++) {
        struct bytes word = order->words[i];
        bool lasting = order->lasting >> i & 1;
        if (lasting && orders->lasting[i] && orders->at[i] == word.at &&
            server_bytes(orders->lasting[i]).size == word.size) {
            strings[i] = orders->lasting[i];
            redis.RetainString(NULL, strings[i]);
            continue;
        }
        strings[i] =
            redis.CreateString(NULL, word.size ? word.at : "", word.size);
        if (!lasting)
            continue;
        if (orders->lasting[i])
            redis.FreeString(NULL, orders->lasting[i]);
        orders->lasting[i] = strings[i];
        orders->at[i] = word.at;
        redis.RetainString(NULL, strings[i]);
    }
}

static const char *
server_refusal(struct server_orders *orders, const char *text, size_t size)
{
    if (size >= sizeof(orders->error))
        size = sizeof(orders->error) - 1;
    memcpy(orders->error, text, size);
    orders->error[size] = '\0';
    return orders->error;
}

/* S: not if there are too few replicas, or the disk has failed. E: errors are
 * replies. M: not if there was no memory. */
const char *
host_call(struct host *host, const struct host_order *order)
{
    struct server_orders *orders = host->orders;
    struct redis_string *strings[HOST_ORDER_WORDS];
    char name[32];
    if (server_short(host, order))
        return HOST_FULL;
    memcpy(name, order->words[0].at, order->words[0].size);
    name[order->words[0].size] = '\0';
    server_order(host, order, strings);
    errno = 0;
    struct redis_reply *reply =
        redis.Call(host->ctx, name, orders->full ? "!SEMv" : "!SEv",
                   strings + 1, order->count - 1);
    bool foreign = errno == EPERM;
    for (size_t i = 1; i < order->count; i++)
        redis.FreeString(NULL, strings[i]);
    const char *error = NULL;
    if (!reply) {
        error =
            server_refusal(orders, strerror(errno), strlen(strerror(errno)));
    } else if (redis.CallReplyType(reply) == REDIS_REPLY_ERROR) {
        size_t size;
        const char *text = redis.CallReplyStringPtr(reply, &size);
        error = server_refusal(orders, text, size);
    }
    server_counts.foreign += error && foreign;
    if (reply)
        redis.FreeCallReply(reply);
    if (!wake_ticks(host->queue))
        host->queue = NULL;
    return error;
}

/* What is checked before any command that writes: by one of ours, which then does
 * nothing. One of the server's would look at the key, and delete it if its time has
 * come. */
const char *
host_probe(struct host *host)
{
    const struct host_order order = {
        .words = {bytes_of("LAWN.RESUME"), host->args[1]}, .count = 2};
    server_probes = true;
    const char *error = host_call(host, &order);
    server_probes = false;
    return error;
}

uint64_t
server_tick(struct redis_ctx *ctx, struct redis_string *name,
            struct queue *queue, const struct server_times *times,
            uint64_t *budget)
{
    struct server_orders orders = {.unseen = SERVER_UNSEEN, .end = times->end};
    struct redis_string *argv[] = {NULL, name};
    struct bytes args[] = {{"", 0}, server_bytes(name)};
    struct host host = {.ctx = ctx,
                        .argv = argv,
                        .args = args,
                        .count = 2,
                        .queue = queue,
                        .now = times->now,
                        .orders = &orders};
    struct call call = {.host = &host,
                        .args = args,
                        .count = 2,
                        .now = times->now,
                        .wall = times->wall,
                        .queue = queue};
    const struct queue_counts *counts = queue_counts(queue);
    uint64_t before = counts->handed + counts->dead;
    uint64_t again = command_tick(&call, *budget);
    uint64_t handed = *budget;
    if (host.queue)
        handed = counts->handed + counts->dead - before;
    *budget -= handed < *budget ? handed : *budget;
    server_close(&host);
    for (size_t i = 0; i < HOST_ORDER_WORDS; i++) {
        if (orders.lasting[i])
            redis.FreeString(NULL, orders.lasting[i]);
    }
    return again;
}

void
server_init(void)
{
    server_empty = redis.CreateString(NULL, "", 0);
    for (size_t i = 0; i < SERVER_VERBS; i++)
        server_verb_strings[i] =
            redis.CreateString(NULL, server_verbs[i], strlen(server_verbs[i]));
    server_guard =
        redis.CreateString(NULL, SERVER_GUARD, sizeof(SERVER_GUARD) - 1);
}
