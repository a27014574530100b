/* info.h - what INFO lawn tells. */
#ifndef INFO_H
#define INFO_H

#include "redismodule_api.h"

bool info_init(RedisModuleCtx *ctx);

#endif
