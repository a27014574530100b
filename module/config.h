/* config.h - lawn.* of CONFIG GET and SET, for all keys. */
#ifndef CONFIG_H
#define CONFIG_H

#include "redismodule_api.h"

bool config_init(RedisModuleCtx *ctx);

#endif
