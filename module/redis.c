/* redis.c - finds the server's functions by their names. */
#include "redis.h"

#include <string.h>

struct redis redis;

/* Stores the function at out; REDIS_ERR: there is none of that name. */
typedef int redis_find_fn(const char *name, void *out);

const char *
redis_find(struct redis_ctx *ctx)
{
    /* The one thing that is known of a context: it begins with this pointer. */
    redis_find_fn *find;
    memcpy(&find, ctx, sizeof(find));
    const char *missing = NULL;
#define REDIS_NEED(type, name, args)                                           \
    if (find("RedisModule_" #name, &redis.name) != REDIS_OK && !missing)       \
        missing = #name;
#define REDIS_TRY(type, name, args)                                            \
    if (find("RedisModule_" #name, &redis.name) != REDIS_OK)                   \
        redis.name = NULL;
    REDIS_FUNCTIONS(REDIS_NEED, REDIS_TRY)
#undef REDIS_NEED
#undef REDIS_TRY
    return missing;
}
