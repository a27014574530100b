/* config.c - the settings, in one table: where each stands, and within what
 * bounds. The server reads them from its file, and from CONFIG SET; what stands
 * there when the module is loaded is the default. */
#include "config.h"

#include "command.h"
#include "wake.h"

struct config {
    const char *name;
    uint64_t *at;
    long long min;
    long long max;
    unsigned flags;
};

static struct config config_table[] = {
    {"tick-budget-events", &wake_limits.events, 1, 1000000, REDIS_CONFIG_PLAIN},
    {"tick-budget-us", &wake_limits.us, 10, 1000000, REDIS_CONFIG_PLAIN},
    {"max-batch", &command_limits.max_batch, 1, 1000000, REDIS_CONFIG_PLAIN},
    {"max-ttls", &command_limits.max_ttls, 8, 65536, REDIS_CONFIG_PLAIN},
    {"max-payload", &command_limits.max_payload, 1, QUEUE_PAYLOAD_MAX,
     REDIS_CONFIG_MEMORY},
    {"default-lease", &command_limits.lease, 1, (long long)QUEUE_TIME_MAX,
     REDIS_CONFIG_PLAIN},
    {"default-tries", &command_limits.tries, 0, UINT32_MAX, REDIS_CONFIG_PLAIN},
};

static long long
config_get(const char *name, void *arg)
{
    (void)name;
    const struct config *config = arg;
    return (long long)*config->at;
}

static int
config_set(const char *name, long long value, void *arg,
           struct redis_string **error)
{
    (void)name;
    (void)error;
    const struct config *config = arg;
    *config->at = (uint64_t)value;
    return REDIS_OK;
}

bool
config_init(struct redis_ctx *ctx)
{
    for (size_t i = 0; i < sizeof(config_table) / sizeof(config_table[0]);
         i++) {
        struct config *config = &config_table[i];
        if (redis.RegisterNumericConfig(ctx, config->name,
                                        (long long)*config->at, config->flags,
                                        config->min, config->max, config_get,
                                        config_set, NULL, config) != REDIS_OK)
            return false;
    }
    return redis.LoadConfigs(ctx) == REDIS_OK;
}
