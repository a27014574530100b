/* server_untracked.h - keys that have events and no entry in the registry, because
 * there was no memory for one. A search over all keys finds them again: such a key is
 * known by queue_armed(), which is LAWN_NEVER.
 */
#ifndef SERVER_UNTRACKED_H
#define SERVER_UNTRACKED_H

#include "queue.h"
#include "redismodule_api.h"

/* There is no memory to remember this key. Requests a search, unless the name is too
 * long for the registry, and logs a warning, at most once a minute. */
void untracked_add(struct bytes name);

/* Some key may be untracked: it is to be searched for. */
void untracked_request_search(void);

/* Called for each untracked key: it schedules the key, and with that ends this. */
typedef void untracked_found_fn(int db, struct bytes name, struct queue *queue);

/* Part of a tick: goes on with the search if there is one and it is time to, and sets
 * the wake-up for the next part. O(1000 keys). */
void untracked_search(RedisModuleCtx *ctx, untracked_found_fn *found);

#endif
