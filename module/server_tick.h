/* server_tick.h - what happens when the wake-up fires.
 *
 * Keys whose time has come are looked at, in the order of their times, as far as the
 * budgets allow; the rest is left to the next turn of the server's loop, so that no
 * key waits for all events of another. At each key the due events are found, listeners
 * are notified and blocked clients unblocked: it is the commands of these clients that
 * take the events. If the key has a sink or a stream of dead letters, events are
 * handed over there.
 *
 * While the server wants no writes (a failover, CLIENT PAUSE) or loads data, nothing
 * happens until a later tick.
 */
#ifndef SERVER_TICK_H
#define SERVER_TICK_H

#include "redismodule_api.h"

/* The wake-up calls this. */
void tick_run(RedisModuleCtx *ctx, void *data);

/* How much one tick may do. */
struct tick_limits {
    uint64_t events;
    uint64_t us;
};
extern struct tick_limits tick_limits;

struct tick_counts {
    uint64_t ticks;
    uint64_t deferred; /* ticks while writes were paused */
    uint64_t overruns; /* ticks that left something to the next one */
};
extern struct tick_counts tick_counts;

#endif
