/* server_tick.h - runs when the wake-up fires.
 *
 * Due keys are processed in the order of their times, within the budgets. The
 * rest is left to the next iteration of the server's loop. For each key, the
 * tick finds due events, sends notifications and unblocks clients, whose
 * commands take the events. If the key has a sink or a dead letter stream, the
 * tick delivers events there.
 *
 * While the server accepts no writes (a failover, CLIENT PAUSE) or loads data,
 * the work is postponed to a later tick.
 */
#ifndef SERVER_TICK_H
#define SERVER_TICK_H

#include "redismodule_api.h"

void tick_run(RedisModuleCtx *ctx, void *data);

struct tick_limits {
    uint64_t events;
    uint64_t us;
};
extern struct tick_limits tick_limits;

struct tick_counts {
    uint64_t ticks;
    uint64_t deferred; /* ticks while writes were paused */
    uint64_t overruns; /* ticks that left work to the next one */
};
extern struct tick_counts tick_counts;

#endif
