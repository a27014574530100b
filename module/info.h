/* info.h - the section INFO lawn. */
#ifndef INFO_H
#define INFO_H

#include "redismodule_api.h"

bool info_init(RedisModuleCtx *ctx);

#endif
