/* config.c - the table of settings with their variables and bounds. The initial
 * value of a variable is the default. */
#include "config.h"

#include "command_limits.h"
#include "queue.h"
#include "server_tick.h"

struct config {
    const char *name;
    uint64_t *at;
    long long min;
    long long max;
    unsigned flags;
};

static struct config config_table[] = {
    {"tick-budget-events", &tick_limits.events, 1, 1000000,
     REDISMODULE_CONFIG_DEFAULT},
    {"tick-budget-us", &tick_limits.us, 10, 1000000,
     REDISMODULE_CONFIG_DEFAULT},
    {"max-batch", &command_limits.max_batch, 1, 1000000,
     REDISMODULE_CONFIG_DEFAULT},
    {"max-ttls", &command_limits.max_ttls, 8, 65536,
     REDISMODULE_CONFIG_DEFAULT},
    {"max-payload", &command_limits.max_payload, 1, QUEUE_PAYLOAD_MAX,
     REDISMODULE_CONFIG_MEMORY},
    {"default-lease", &command_limits.lease, 1, (long long)QUEUE_TIME_MAX,
     REDISMODULE_CONFIG_DEFAULT},
    {"default-tries", &command_limits.tries, 0, UINT32_MAX,
     REDISMODULE_CONFIG_DEFAULT},
};

static long long
get_value(const char *name, void *arg)
{
    (void)name;
    const struct config *config = arg;
    return (long long)*config->at;
}

static int
set_value(const char *name, long long value, void *arg,
          RedisModuleString **error)
{
    (void)name;
    (void)error;
    const struct config *config = arg;
    *config->at = (uint64_t)value;
    return REDISMODULE_OK;
}

bool
config_init(RedisModuleCtx *ctx)
{
    for (size_t i = 0; i < sizeof(config_table) / sizeof(config_table[0]);
         i++) {
        struct config *config = &config_table[i];
        if (RedisModule_RegisterNumericConfig(
                ctx, config->name, (long long)*config->at, config->flags,
                config->min, config->max, get_value, set_value, NULL,
                config) != REDISMODULE_OK) {
            return false;
        }
    }
    return RedisModule_LoadConfigs(ctx) == REDISMODULE_OK;
}
