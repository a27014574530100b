/* server_handover.h - hands the due and the dead events of a key to its sink. */
#ifndef SERVER_HANDOVER_H
#define SERVER_HANDOVER_H

#include "queue.h"
#include "redismodule_api.h"

struct handover_times {
    uint64_t now;  /* the key's */
    uint64_t wall; /* the server's clock, which is at or before that */
    uint64_t end;  /* of the time for this, in us of CLOCK_MONOTONIC */
};

/* Hands over at most *budget events, and reduces it by their number. Returns when to
 * look at the key again, as command_hand_over() does. The queue may be taken from its key
 * meanwhile: see server_drain.h, whose drain_start() comes before. */
uint64_t handover_run(RedisModuleCtx *ctx, RedisModuleString *name,
                      struct queue *queue, const struct handover_times *times,
                      uint64_t *budget);

#endif
