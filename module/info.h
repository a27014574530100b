/* info.h - what INFO lawn tells. */
#ifndef INFO_H
#define INFO_H

#include "redis.h"

bool info_init(struct redis_ctx *ctx);

#endif
