/* invariant.c - a module whose only command violates an invariant. invariant.py
 * compiles it without assertions, with module/invariant.c and
 * module/redismodule_api.c. */
#include "invariant.h"
#include "redismodule_api.h"

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

static int
violate(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    INVARIANT(argc == 1, "it has one word");
    INVARIANT(argc > 1, "an event is in two places");
    return RedisModule_ReplyWithLongLong(ctx, 1);
}

int
RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (redismodule_api_load(ctx) != NULL) {
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleAttribs(ctx, "violates", 1, REDISMODULE_APIVER_1);
    return RedisModule_CreateCommand(ctx, "violate", violate, "", 0, 0, 0);
}
