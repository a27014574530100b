/* crew.h - the interface of contenders with timers for several threads: a crew
 * of workers, as in lawn_workers.h.
 *
 * A worker is a thread of the benchmark that has joined the crew. It calls
 * turn() from time to time, as an event loop does, or calls serve() and does
 * nothing else. Other threads, and workers on timers of another worker, call
 * start_on() and stop_on(). The face of a crew has the members that all
 * contenders have: name, version, make and free. It has CONTENDER_CREW set;
 * start, stop and mow are NULL.
 *
 * TIME is CLOCK_MONOTONIC in nanoseconds. For most crews, a local start counts
 * from the time at which the worker's last turn began and reads no clock, as in
 * libuv; start_on() reads the clock in the calling thread each time.
 *
 * Timers are objects as in contender.h. Two threads never use a timer at once,
 * except that it may fire meanwhile. No timer is started while it runs.
 */
#ifndef LAWN_BENCH_CREW_H
#define LAWN_BENCH_CREW_H

#include "contender.h"

#include <time.h>

/* The result of stopping a timer from another thread. */
enum crew_stop {
    CREW_ENDED,   /* it had fired, or was never started */
    CREW_STOPPED, /* it was running, and does not fire */
    CREW_LATER,   /* its worker is notified, and calls stopped() if it was
                     still running */
};

/* The callbacks of a worker, called in its thread without locks. fire may start
 * the timer again on this worker. */
struct crew_calls {
    contender_fire_fn *fire;
    contender_fire_fn *stopped;
    void *arg;
};

struct crew {
    struct contender face;

    /* Called for each object before it is used. NULL: nothing to do. */
    void (*prepare)(void *self, struct object *object);

    /* join() makes the calling thread the worker with this number, which is
     * below setup->workers. *calls must remain valid. Returns NULL if there is
     * no memory. leave() ends this. */
    void *(*join)(void *self, unsigned number, const struct crew_calls *calls);
    void (*leave)(void *worker);

    /* Runs one round of the worker's loop: processes posted messages, fires due
     * timers, does not sleep. */
    void (*turn)(void *worker);

    /* serve() runs such rounds, and sleeps in between, until dismiss() is
     * called. dismiss() is called by a thread that is not a worker, and may
     * wait until all workers have left. Either all workers of a crew turn, or
     * all serve. */
    void (*serve)(void *worker);
    void (*dismiss)(void *self);

    /* Called in the worker's thread, on its own timers. */
    void (*start)(void *worker, struct object *object, uint64_t ttl);
    bool (*stop)(void *worker, struct object *object);

    /* Called in any other thread, on timers of the worker with this number.
     * NULL: not supported. */
    void (*start_on)(void *self, unsigned number, struct object *object,
                     uint64_t ttl);
    enum crew_stop (*stop_on)(void *self, unsigned number,
                              struct object *object);

    /* Called once, when all workers have left: calls tell() for each timer that
     * still runs, and returns their number. */
    uint64_t (*left)(void *self, contender_fire_fn *tell, void *arg);
};

/* Returns the crew of a face with CONTENDER_CREW. */
static inline const struct crew *
crew_of(const struct contender *contender)
{
    return (const struct crew *)(const void *)contender;
}

/* Returns the time. */
static inline uint64_t
crew_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
