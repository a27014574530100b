/* type.h - queues as a data type of the server's. */
#ifndef TYPE_H
#define TYPE_H

#include "queue.h"
#include "redis.h"

extern struct redis_type *type_ours;

/* False: the name is another module's. */
bool type_init(struct redis_ctx *ctx);

/* A value for a key, and one that never became that. NULL: no memory. */
struct queue *type_new(uint64_t now);
void type_free(void *value);

/* How many values there are. Any thread. */
uint64_t type_count(void);

#endif
