/* server_handover.h - delivers the due and dead events of a key to its sink. */
#ifndef SERVER_HANDOVER_H
#define SERVER_HANDOVER_H

#include "queue.h"
#include "redismodule_api.h"

struct handover_times {
    uint64_t now;  /* the key's time */
    uint64_t wall; /* the server's clock, at or before now */
    uint64_t end;  /* deadline of the delivery, in us of CLOCK_MONOTONIC */
};

/* Delivers at most *budget events, and reduces *budget by their number. Returns
 * the time at which the key needs attention again, as command_hand_over() does.
 * Must be preceded by drain_start(): the queue may be removed from its key
 * meanwhile, see server_drain.h. May select another database. */
uint64_t handover_run(RedisModuleCtx *ctx, RedisModuleString *name,
                      struct queue *queue, const struct handover_times *times,
                      uint64_t *budget);

#endif
