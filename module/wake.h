/* wake.h - wakes who waits for an event when it is due.
 *
 * The registry knows which keys to look at when; one timer is set for the
 * earliest. When it fires, keys whose time has come are looked at, their waiting
 * clients woken, and listeners told; not more at once than the budgets allow. What is
 * left is gone on with in the next turn of the server's loop, in the order of times,
 * so that no key has to wait for another to be done with. Nothing is changed by that:
 * it is the woken clients' commands that take events; but if a key has a sink, or
 * dead letters, events are handed on there.
 *
 * The timer is a file of the kernel's in the server's event loop, as the
 * server's own timers come a millisecond or two late: their times are rounded up
 * twice. But a file is also looked at while the server loads or is busy with a
 * script, when keys must not be touched. So all it does is to make a timer of
 * the server's that fires at once, which is in the same turn of the loop.
 *
 * A replica keeps the registry, but no timer: its master decides. While the
 * server wants no writes (a failover, CLIENT PAUSE) nobody is woken.
 *
 * A key's time in the registry is never after an event is due that nobody was
 * told of, and after all that somebody was; so what is there out of date costs a
 * look, and of no event it is never told. It may be told of twice, if a command
 * finds it due between that time and the tick. Where there is no memory for the
 * registry, all keys are searched for those that are not in it.
 */
#ifndef WAKE_H
#define WAKE_H

#include "queue.h"
#include "redis.h"
#include "registry.h"

#include <lawn_histogram.h>
#include <time.h>

bool wake_init(struct redis_ctx *ctx);

/* A clock of the system's. */
uint64_t wake_us(clockid_t clock);

/* Looks at the key at that time, in place of what was set before; notes it in
 * queue_armed(), or LAWN_NEVER if there is no memory. */
void wake_arm(int db, struct bytes name, struct queue *queue, uint64_t when);
/* Looks at it again soon: who waits could not be served. */
void wake_later(int db, struct bytes name, struct queue *queue);
/* The value has been loaded for a key, which is not there yet. */
void wake_loaded(int db, struct bytes name, struct queue *queue);
/* The key has that value no more. */
void wake_unlinked(int db, struct bytes name, const struct queue *queue);
/* Whether it is the value whose events are just handed on, and its key still has it.
 * Nobody else may touch it then: commands on it are refused. */
bool wake_ticks(const struct queue *queue);

/* How much a tick may do. */
struct wake_limits {
    uint64_t events;
    uint64_t us;
};
extern struct wake_limits wake_limits;

struct wake_counts {
    uint64_t ticks;
    uint64_t deferred; /* ticks that came when writes were paused */
    uint64_t overruns; /* ticks that left something for the next one */
    uint64_t evicted;  /* keys */
};
extern struct wake_counts wake_counts;
/* How late keys were looked at, in us: from when an event was due, or from when
 * the server could have looked: after a pause, a load, or the key's coming. */
extern struct lawn_histogram wake_late;

#endif
