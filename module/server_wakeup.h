/* server_wakeup.h - the module's only timer: it runs the tick at the earliest
 * time of any key.
 *
 * It is a timerfd in the server's event loop, because the server's own timers
 * are one or two milliseconds late: their times are rounded up twice. But the
 * event loop also handles files while the server loads data or runs a slow
 * script, when keys must not be accessed. So the file's callback only creates a
 * timer of the server that is due at once; it fires in the same iteration.
 * Without timerfd, the server's timer is used alone.
 *
 * Only a master has a timer: its replicas repeat the master's changes.
 */
#ifndef SERVER_WAKEUP_H
#define SERVER_WAKEUP_H

#include "redismodule_api.h"

/* tick is called when the timer fires; it calls wakeup_fired() first. */
void wakeup_init(RedisModuleCtx *ctx, RedisModuleTimerProc tick);

/* Returns a context that is always valid and belongs to no client. */
RedisModuleCtx *wakeup_ctx(void);

/* Sets the timer to a time in ms of the wall clock, unless it is set to an
 * earlier one. Does nothing on a replica. */
void wakeup_set(uint64_t when);
/* The same for a time relative to now. */
void wakeup_set_in(uint64_t ms);
/* Reports that the timer has fired and is not set any more. */
void wakeup_fired(void);
/* Reports that the server has become a master or a replica. The timer is
 * stopped on a replica. */
void wakeup_set_master(bool master);

#endif
