/* server_wakeup.h - the one timer: it calls the tick at the earliest time that any
 * key asks for.
 *
 * It is a timerfd in the server's event loop, because the server's own timers are a
 * millisecond or two late: their times are rounded up twice. But the event loop also
 * serves files while the server loads data or runs a slow script, when keys must not
 * be touched. So the file only creates a timer of the server that is due at once; it
 * fires in the same turn of the loop. Without a timerfd the server's timer does it
 * all.
 *
 * Only a master has a timer: its replicas do what it decides.
 */
#ifndef SERVER_WAKEUP_H
#define SERVER_WAKEUP_H

#include "redismodule_api.h"

/* tick is called when the timer fires; it calls wakeup_fired() first. */
void wakeup_init(RedisModuleCtx *ctx, RedisModuleTimerProc tick);

/* A context that is no client's and always valid. */
RedisModuleCtx *wakeup_ctx(void);

/* Sets the timer for a time in ms of the wall clock, unless it is set for an earlier
 * one. Does nothing on a replica. A system call if it sets the timer. */
void wakeup_set(uint64_t when);
/* The same for a time from now on. */
void wakeup_set_in(uint64_t ms);
/* The timer has fired: it is not set any more. */
void wakeup_fired(void);
/* The server has become a master, or a replica: that stops the timer. */
void wakeup_set_master(bool master);

#endif
