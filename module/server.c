/* server.c - host.h and memory.h by the functions of the server. */
#include "server.h"

#include "memory.h"
#include "type.h"
#include "wake.h"

#define SERVER_ARGS 16u
#define SERVER_WORDS 16u
#define SERVER_ADD 5u /* the words of one event */

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
};

struct server_counts server_counts;

/* Words that are replicated all the time. */
static const char *const server_verbs[] = {"ADD", "DEL", "AT", "SET", "CFG"};
#define SERVER_VERBS (sizeof(server_verbs) / sizeof(server_verbs[0]))
static struct redis_string *server_verb_strings[SERVER_VERBS];
static struct redis_string *server_empty;
/* A command that is only for who administers the server, as its user is asked
 * about; and one that nobody renames, as many do with DEBUG and CONFIG. */
#define SERVER_GUARD "BGREWRITEAOF"
static struct redis_string *server_guard;

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

void
host_delete(struct host *host)
{
    if (!host->queue || !(host->entry->mode & REDIS_WRITE))
        return;
    host->queue = NULL;
    redis.DeleteKey(host->key);
    redis.NotifyKeyspaceEvent(host->ctx, REDIS_EVENTS_GENERIC, "del",
                              host->argv[1]);
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
    struct redis_string *strings[SERVER_ADD] = {
        server_word(host, words[0], &arg), server_word(host, words[1], &arg),
        server_word_again(words[2], &due), server_word_again(words[3], &ttl),
        server_word(host, words[4], &arg)};
    redis.Replicate(host->ctx, "LAWN.APPLY", "sssssss", host->argv[1],
                    server_verb_strings[0], strings[0], strings[1], strings[2],
                    strings[3], strings[4]);
    for (size_t i = 0; i < SERVER_ADD; i++)
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
            i < SERVER_ADD ? NULL : &words[i - SERVER_ADD];
        if (last && last->at == words[i].at && last->size == words[i].size) {
            strings[i] = strings[i - SERVER_ADD];
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
    if (count == SERVER_ADD && strcmp(verb, server_verbs[0]) == 0)
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
    redis.NotifyKeyspaceEvent(host->ctx, REDIS_EVENTS_MODULE, event,
                              host->argv[1]);
}

void
host_signal(struct host *host)
{
    redis.SignalKeyAsReady(host->ctx, host->argv[1]);
}

void
host_arm(struct host *host, uint64_t when)
{
    if (host->queue)
        wake_arm(redis.GetSelectedDb(host->ctx), host->args[1], host->queue,
                 when);
}

static int
server_woken(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    return server_run(redis.GetBlockedClientPrivateData(ctx), SERVER_WOKEN, ctx,
                      argv, argc);
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

/* Whether the client may run the command. Where the commands of modules are in no
 * category, rules by category do not hold for them; so for one that is guarded it
 * is asked whether its user may run a command that is for administrators. */
static bool
server_admits(struct host *host)
{
    if (!host->entry->guarded ||
        redis.GetContextFlags(host->ctx) & (REDIS_REPLICATED | REDIS_LOADING))
        return true;
    struct redis_string *name =
        redis.GetClientUserNameById(host->ctx, redis.GetClientId(host->ctx));
    /* No client of the server's, but another module, which may do all. */
    if (!name)
        return true;
    struct redis_user *user = redis.GetModuleUserFromUserName(name);
    bool admits = user && redis.ACLCheckCommandPermissions(user, &server_guard,
                                                           1) == REDIS_OK;
    if (user)
        redis.FreeModuleUser(user);
    redis.FreeString(NULL, name);
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
}

int
server_run(struct server_entry *entry, enum server_why why,
           struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    struct bytes stack[SERVER_ARGS];
    struct bytes *args = stack;
    size_t count = (size_t)argc;
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
