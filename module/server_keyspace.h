/* server_keyspace.h - handles changes that are made without a command of this
 * module: keys that are renamed, copied, moved, restored, deleted, evicted,
 * flushed or swapped; loads; changes of role.
 */
#ifndef SERVER_KEYSPACE_H
#define SERVER_KEYSPACE_H

#include "queue.h"
#include "redismodule_api.h"

/* Subscribes to the events. Returns false if the server refuses. */
bool keyspace_init(RedisModuleCtx *ctx);

/* Reports that a key no longer has this value. */
void keyspace_unlinked(int db, struct bytes name, const struct queue *queue);

struct keyspace_counts {
    uint64_t evicted; /* keys of this module */
};
extern struct keyspace_counts keyspace_counts;

#endif
