/* server_reply.c - the replies of host.h. */
#include "server_host.h"

void
host_null(struct host *host)
{
    RedisModule_ReplyWithNull(host->ctx);
}

void
host_integer(struct host *host, int64_t value)
{
    RedisModule_ReplyWithLongLong(host->ctx, value);
}

void
host_bytes(struct host *host, struct bytes bytes)
{
    RedisModule_ReplyWithStringBuffer(host->ctx, bytes.size > 0 ? bytes.at : "",
                                      bytes.size);
}

void
host_simple(struct host *host, const char *text)
{
    RedisModule_ReplyWithSimpleString(host->ctx, text);
}

void
host_error(struct host *host, const char *text)
{
    RedisModule_ReplyWithError(host->ctx, text);
}

void
host_array(struct host *host, size_t count)
{
    RedisModule_ReplyWithArray(host->ctx, (long)count);
}

void
host_map(struct host *host, size_t count)
{
    RedisModule_ReplyWithMap(host->ctx, (long)count);
}
