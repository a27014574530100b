/* server_waiters.h - clients that are blocked on a key.
 *
 * One signal makes the server call every client that is blocked on the key, in the
 * order in which they came. Those that come too late for what was due must cost next
 * to nothing: so the key at which the last client found nothing is remembered, until
 * something may have been added anywhere.
 */
#ifndef SERVER_WAITERS_H
#define SERVER_WAITERS_H

#include "bytes.h"
#include "redismodule_api.h"

/* Unblocks the clients that wait for a key of the selected database. */
void waiters_signal(RedisModuleCtx *ctx, RedisModuleString *name);

/* Remembers that a client that was unblocked found nothing at this key. */
void waiters_set_empty(int db, struct bytes name);
/* Whether the last client that was unblocked found nothing at this key. */
bool waiters_is_empty(int db, struct bytes name);
/* Some key may have something for its clients: forgets what was remembered. */
void waiters_reset_empty(void);

#endif
