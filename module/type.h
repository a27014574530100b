/* type.h - queues as a data type of the server. */
#ifndef TYPE_H
#define TYPE_H

#include "redismodule_api.h"

/* Registers the type. Returns false if another module has one of that name. */
bool type_init(RedisModuleCtx *ctx);

#endif
