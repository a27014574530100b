/* crew.h - what every contender looks like that keeps timers for several
 * threads: a crew of workers, as in lawn_workers.h.
 *
 * A worker is a thread of the benchmark's that has joined the crew; it takes a
 * turn now and then, as an event loop does, or serves and does nothing else.
 * Other threads, and workers on timers that another one keeps, go through
 * start_on() and stop_on(). Its face is what a crew has in common with the
 * other contenders: name, version, make and free; there CONTENDER_CREW is set,
 * and start, stop and mow are NULL.
 *
 * TIME is CLOCK_MONOTONIC in nanoseconds, the real one. For all crews alike: a
 * local start counts from the time at which the worker's last turn began, and
 * reads no clock, as in any event loop; start_on() reads the clock in the
 * calling thread, each time.
 *
 * Timers are objects as in contender.h. None is used by two threads at once, but
 * that it may fire meanwhile, and none is started while it runs.
 */
#ifndef LAWN_BENCH_CREW_H
#define LAWN_BENCH_CREW_H

#include "contender.h"

#include <time.h>

/* What becomes of a timer that is stopped by another thread. */
enum crew_stop {
    CREW_ENDED,   /* it had fired, or was never started */
    CREW_STOPPED, /* it was running, and does not fire */
    CREW_LATER,   /* the worker that keeps it is told, and calls stopped() if it
                     was running then */
};

/* How a worker tells the benchmark. Both are called in its thread, without
 * locks; fire may start the timer again, on this worker. */
struct crew_calls {
    contender_fire_fn *fire;
    contender_fire_fn *stopped;
    void *arg;
};

struct crew {
    struct contender face;

    /* For each object, before it is used; NULL: nothing has to be done. */
    void (*prepare)(void *self, struct object *object);

    /* Makes the calling thread worker number, which is below setup->workers;
     * calls stays valid. NULL: no memory. And ends that. */
    void *(*join)(void *self, unsigned number, const struct crew_calls *calls);
    void (*leave)(void *worker);

    /* A round of the worker's loop: takes what others have posted, fires what is
     * due, does not sleep. */
    void (*turn)(void *worker);

    /* Such rounds, asleep in between, until dismiss(), which a thread calls that
     * is no worker: all workers of a crew turn, or all serve. It may wait until
     * they have left. */
    void (*serve)(void *worker);
    void (*dismiss)(void *self);

    /* In a worker's own thread, on timers that it keeps. */
    void (*start)(void *worker, struct object *object, uint64_t ttl);
    bool (*stop)(void *worker, struct object *object);

    /* In any other thread, on timers that worker number keeps. NULL: it cannot
     * be done. */
    void (*start_on)(void *self, unsigned number, struct object *object,
                     uint64_t ttl);
    enum crew_stop (*stop_on)(void *self, unsigned number,
                              struct object *object);

    /* When all workers have left, once: how many timers are running still, each
     * of which is told. */
    uint64_t (*left)(void *self, contender_fire_fn *tell, void *arg);
};

/* The crew that a contender with CONTENDER_CREW is the face of. */
static inline const struct crew *
crew_of(const struct contender *contender)
{
    return (const struct crew *)(const void *)contender;
}

/* The time. */
static inline uint64_t
crew_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
