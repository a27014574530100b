/* config.h - the settings lawn.* of CONFIG GET and CONFIG SET. */
#ifndef CONFIG_H
#define CONFIG_H

#include "redismodule_api.h"

bool config_init(RedisModuleCtx *ctx);

#endif
