/* server_call.c - runs a command of this module in the server. */
#include "server_call.h"

#include "server_access.h"
#include "server_drain.h"
#include "server_keys.h"
#include "server_waiters.h"

#include <strings.h>

/* More arguments than this need allocated memory. */
#define STACK_ARGS 16u

/* Returns the time at which the call began, if the server provides it. That
 * time is too old if the client was blocked. */
static uint64_t
call_time(enum server_why why)
{
    if (why == SERVER_CALLED && RedisModule_CachedMicroseconds != NULL) {
        return (uint64_t)RedisModule_CachedMicroseconds() / 1000;
    }
    return (uint64_t)RedisModule_Milliseconds();
}

/* Opens the key. Returns false if an error was replied or the client remains
 * blocked. */
static bool
open_key(struct host *host)
{
    if (!server_access_check(host)) {
        return false;
    }
    if (!host->entry->command->key) {
        return true;
    }
    host->key =
        RedisModule_OpenKey(host->ctx, host->argv[1], host->entry->mode);
    bool other = false;
    host->queue = keys_queue(host->key, &other);
    if (drain_active(host->queue)) {
        host_error(host, "TRYAGAIN the key is being drained to its sink");
        return false;
    }
    /* A blocked client keeps waiting for a key of this type, whatever value the
     * name has meanwhile, as with the server's own types. */
    if (!other || host->why == SERVER_TIMED_OUT) {
        return true;
    }
    if (host->why == SERVER_WOKEN) {
        host->stays = true;
    } else {
        host_error(host, "WRONGTYPE Operation against a key holding the wrong "
                         "kind of value");
    }
    return false;
}

/* Reports the positions of the keys, which must be in one slot of a cluster.
 * Clusters do not find several keys by the key specs. */
static void
report_key_positions(const struct command *command, RedisModuleCtx *ctx,
                     RedisModuleString **argv, int argc)
{
    RedisModule_KeyAtPos(ctx, 1);
    for (const struct command_key *key = command->more; key->word != NULL;
         key++) {
        int at = key->from < 0 ? argc + key->from : key->from;
        if (at < 2 || at + 1 >= argc) {
            continue;
        }
        struct bytes word = keys_bytes(argv[at]);
        if (word.size == strlen(key->word) &&
            strncasecmp(word.at, key->word, word.size) == 0) {
            RedisModule_KeyAtPos(ctx, at + 1);
        }
    }
}

static int call_woken(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
static int call_timed_out(RedisModuleCtx *ctx, RedisModuleString **argv,
                          int argc);

/* Returns REDISMODULE_ERR if the client remains blocked. */
static int
run_command(struct server_entry *entry, enum server_why why,
            RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (server_probing) {
        RedisModule_ReplyWithSimpleString(ctx, "OK");
        return REDISMODULE_OK;
    }
    waiters_reset_empty();
    struct bytes stack[STACK_ARGS];
    struct bytes *args = stack;
    size_t count = (size_t)argc;
    if (count > STACK_ARGS) {
        args = RedisModule_Alloc(count * sizeof(*args));
    }
    for (size_t i = 0; i < count; i++) {
        args[i] = keys_bytes(argv[i]);
    }
    struct host host = {.ctx = ctx,
                        .argv = argv,
                        .args = args,
                        .count = count,
                        .entry = entry,
                        .why = why,
                        .woken = call_woken,
                        .timed_out = call_timed_out,
                        .now = call_time(why)};
    if (open_key(&host)) {
        struct call call = {
            .host = &host, .args = args, .count = count, .now = host.now};
        command_call(entry->command, &call);
    }
    server_host_close(&host);
    if (args != stack) {
        RedisModule_Free(args);
    }
    return host.stays ? REDISMODULE_ERR : REDISMODULE_OK;
}

/* A signal runs this for every client that is blocked on the key. If the due
 * events were already taken, it returns without opening the key. */
static int
call_woken(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct bytes name = keys_bytes(argv[1]);
    if (waiters_is_empty(RedisModule_GetSelectedDb(ctx), name)) {
        return REDISMODULE_ERR;
    }
    int result = run_command(RedisModule_GetBlockedClientPrivateData(ctx),
                             SERVER_WOKEN, ctx, argv, argc);
    if (result == REDISMODULE_ERR) {
        waiters_set_empty(RedisModule_GetSelectedDb(ctx), name);
    }
    return result;
}

static int
call_timed_out(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    server_counts.timed_out++;
    return run_command(RedisModule_GetBlockedClientPrivateData(ctx),
                       SERVER_TIMED_OUT, ctx, argv, argc);
}

int
server_call(struct server_entry *entry, RedisModuleCtx *ctx,
            RedisModuleString **argv, int argc)
{
    if (entry->command->more != NULL &&
        RedisModule_IsKeysPositionRequest(ctx)) {
        report_key_positions(entry->command, ctx, argv, argc);
        return REDISMODULE_OK;
    }
    return run_command(entry, SERVER_CALLED, ctx, argv, argc);
}
