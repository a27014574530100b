/* server_untracked.h - keys that have events but no entry in the registry,
 * because there was no memory for one. A search over all keys finds them again:
 * their queue_armed() is LAWN_NEVER.
 */
#ifndef SERVER_UNTRACKED_H
#define SERVER_UNTRACKED_H

#include "queue.h"
#include "redismodule_api.h"

/* Reports that this key cannot have an entry. Requests a search, unless the
 * name is too long for the registry. Logs a warning with the key's name and the
 * cause, at most once a minute for each cause. */
void untracked_add(struct bytes name);

void untracked_request_search(void);

/* Schedules an untracked key. */
typedef void untracked_found_fn(int db, struct bytes name, struct queue *queue);

/* Part of a tick: continues a pending search if its next part is due, and sets
 * the wake-up for the part after that. O(1000 keys). */
void untracked_search(RedisModuleCtx *ctx, untracked_found_fn *found);

#endif
