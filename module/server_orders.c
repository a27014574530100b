/* server_orders.c - runs commands of the server during a drain. */
#include "server_orders.h"

#include "server_clock.h"
#include "server_drain.h"
#include "server_host.h"
#include "server_keys.h"

#include <errno.h>

/* The number of bytes that may be delivered between two checks of the
 * memory. */
#define UNCHECKED_MAX 65536u
/* Approximate number of bytes that an event takes in a stream, without its
 * words. */
#define ORDER_OVERHEAD 128u

void
server_orders_init(struct server_orders *orders, uint64_t end,
                   struct bytes *key)
{
    *orders = (struct server_orders){
        .unchecked = UNCHECKED_MAX, .end = end, .key = key};
}

void
server_orders_fini(struct server_orders *orders)
{
    for (size_t i = 0; i < HOST_ORDER_WORDS; i++) {
        if (orders->lasting[i] != NULL) {
            RedisModule_FreeString(NULL, orders->lasting[i]);
        }
    }
}

bool
host_over(struct host *host)
{
    return clock_us(CLOCK_MONOTONIC) >= host->orders->end;
}

/* Returns true if the order must be refused because the server is out of memory
 * now and may not evict keys. A server that may evict keys does so before a
 * client's next command. Then the flag M in host_call() decides. */
static bool
out_of_memory(struct host *host, const struct host_order *order)
{
    struct server_orders *orders = host->orders;
    if (!order->grows) {
        return false;
    }
    if (orders->unchecked >= UNCHECKED_MAX) {
        int flags = RedisModule_GetContextFlags(host->ctx);
        orders->full = (flags & REDISMODULE_CTX_FLAGS_OOM) != 0;
        orders->evicts = (flags & REDISMODULE_CTX_FLAGS_EVICT) != 0;
        orders->unchecked = 0;
    }
    for (size_t i = 0; i < order->count; i++) {
        orders->unchecked += order->words[i].size;
    }
    orders->unchecked += ORDER_OVERHEAD;
    return orders->full && !orders->evicts;
}

/* Converts the words after the first to strings, which the caller frees. */
static void
make_strings(struct host *host, const struct host_order *order,
             RedisModuleString **strings)
{
    struct server_orders *orders = host->orders;
    for (size_t i = 1; i < order->count; i++) {
        struct bytes word = order->words[i];
        bool lasting = order->lasting >> i & 1;
        if (lasting && orders->lasting[i] != NULL && orders->at[i] == word.at &&
            keys_bytes(orders->lasting[i]).size == word.size) {
            strings[i] = orders->lasting[i];
            RedisModule_RetainString(NULL, strings[i]);
            continue;
        }
        strings[i] = RedisModule_CreateString(
            NULL, word.size > 0 ? word.at : "", word.size);
        if (!lasting) {
            continue;
        }
        if (orders->lasting[i] != NULL) {
            RedisModule_FreeString(NULL, orders->lasting[i]);
        }
        orders->lasting[i] = strings[i];
        orders->at[i] = word.at;
        RedisModule_RetainString(NULL, strings[i]);
    }
}

static const char *
keep_error(struct server_orders *orders, const char *text, size_t size)
{
    if (size >= sizeof(orders->error)) {
        size = sizeof(orders->error) - 1;
    }
    memcpy(orders->error, text, size);
    orders->error[size] = '\0';
    return orders->error;
}

/* If the command has given the queue to another key, the rest of the drain uses
 * that key. */
static void
follow_key(struct host *host)
{
    int db = 0;
    RedisModuleString *name = drain_moved_to(&db);
    if (name != NULL) {
        RedisModule_SelectDb(host->ctx, db);
        host->argv[1] = name;
        *host->orders->key = keys_bytes(name);
    }
    if (!drain_active(host->queue)) {
        host->queue = NULL;
    }
}

/* Flags of RedisModule_Call(): with S, the server refuses the command if there
 * are too few replicas or the disk has failed. With E, errors are replies. With
 * M, the server refuses the command if it was out of memory at a client's last
 * command. */
const char *
host_call(struct host *host, const struct host_order *order)
{
    struct server_orders *orders = host->orders;
    if (out_of_memory(host, order)) {
        return HOST_FULL;
    }
    char name[32];
    memcpy(name, order->words[0].at, order->words[0].size);
    name[order->words[0].size] = '\0';
    RedisModuleString *strings[HOST_ORDER_WORDS];
    make_strings(host, order, strings);
    errno = 0;
    RedisModuleCallReply *reply =
        RedisModule_Call(host->ctx, name, orders->full ? "!SEMv" : "!SEv",
                         strings + 1, order->count - 1);
    bool foreign = errno == EPERM;
    for (size_t i = 1; i < order->count; i++) {
        RedisModule_FreeString(NULL, strings[i]);
    }
    const char *error = NULL;
    if (reply == NULL) {
        error = keep_error(orders, strerror(errno), strlen(strerror(errno)));
    } else if (RedisModule_CallReplyType(reply) == REDISMODULE_REPLY_ERROR) {
        size_t size = 0;
        const char *text = RedisModule_CallReplyStringPtr(reply, &size);
        error = keep_error(orders, text, size);
    }
    server_counts.foreign += error != NULL && foreign;
    if (reply != NULL) {
        RedisModule_FreeCallReply(reply);
    }
    follow_key(host);
    return error;
}

/* Runs a command of this module that does nothing, so that the server makes the
 * checks that precede a write. A command of the server is not used, because it
 * could delete the key if it has expired. */
const char *
host_probe(struct host *host)
{
    const struct host_order order = {
        .words = {bytes_of("LAWN.RESUME"), host->args[1]}, .count = 2};
    server_probing = true;
    const char *error = host_call(host, &order);
    server_probing = false;
    return error;
}
