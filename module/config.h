/* config.h - lawn.* of CONFIG GET and SET, for all keys. */
#ifndef CONFIG_H
#define CONFIG_H

#include "redis.h"

bool config_init(struct redis_ctx *ctx);

#endif
