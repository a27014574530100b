/* server_waiters.h - clients that are blocked on a key.
 *
 * One signal makes the server call every client that is blocked on the key, in
 * the order in which they were blocked. Clients for which no due events are
 * left must cost little. So the key at which the last client found nothing is
 * recorded. The record is cleared when any key may have new events.
 */
#ifndef SERVER_WAITERS_H
#define SERVER_WAITERS_H

#include "bytes.h"
#include "redismodule_api.h"

/* Unblocks the clients that wait for a key of the selected database. */
void waiters_signal(RedisModuleCtx *ctx, RedisModuleString *name);

/* Records that an unblocked client found nothing at this key. */
void waiters_set_empty(int db, struct bytes name);
/* Returns true if the last unblocked client found nothing at this key. */
bool waiters_is_empty(int db, struct bytes name);
/* Clears the record, because any key may have new events. */
void waiters_reset_empty(void);

#endif
