/* run.h - one run of one workload on one contender.
 *
 * A workload is a function that plays an operation stream on a run. The stream
 * depends on the cell (workload, n, t, seed) alone, never on the contender or
 * on the order in which timers of one tick fire; so all exact contenders get
 * the same stream, fire the same timers at the same ticks, and end with the
 * same checksum.
 */
#ifndef LAWN_BENCH_RUN_H
#define LAWN_BENCH_RUN_H

#include "contender.h"
#include "random.h"

struct workload;

/* What is run: a cell of the grid. */
struct cell {
    const struct workload *workload;
    uint64_t n; /* timers */
    uint64_t t; /* distinct TTLs; 0: the workload has its own */
    uint64_t seed;
};

enum run_end {
    RUN_OK,
    RUN_MEMORY,  /* there was not enough */
    RUN_SLOW,    /* it took longer than allowed, and was given up */
    RUN_STOPPED, /* the user had enough */
    RUN_UNFIT,   /* the contender is not made for the workload */
};

struct run {
    const struct cell *cell;
    const struct contender *contender;
    void *self; /* the contender's */

    char *objects; /* cell->n of them, stride bytes each */
    size_t stride;
    const uint32_t *order; /* two permutations of them */
    const uint32_t *again;
    uint64_t *ttls; /* t of them, ascending; NULL if any */
    struct random random;
    uint64_t now;

    contender_fire_fn *fire; /* what the workload does when a timer fires; */
    void *fire_arg;          /* by default it stays idle */
    uint64_t fired;
    uint64_t checksum; /* of what fired when */

    uint64_t ops; /* counted by the workload while the watch runs */
    uint64_t ns;  /* how long they took */
    uint64_t watch;
    uint64_t limit; /* give up at this time of run_clock() */
    enum run_end end;
    size_t bytes; /* most memory held beyond the nodes, where it was asked */
};

/* Real time in ns. */
uint64_t run_clock(void);

static inline struct object *
run_object(const struct run *run, size_t i)
{
    return (struct object *)(void *)(run->objects + i * run->stride);
}

/* Starts object i with its own TTL. */
static inline void
run_start(struct run *run, size_t i)
{
    struct object *object = run_object(run, i);

    if (!run->contender->start(run->self, object, object->ttl))
        run->end = RUN_MEMORY;
}

static inline bool
run_stop(struct run *run, size_t i)
{
    return run->contender->stop(run->self, run_object(run, i));
}

/* Moves the clock to now and fires what is due. */
size_t run_mow(struct run *run, uint64_t now);
size_t run_mow_some(struct run *run, uint64_t now, size_t budget);

/* Between these the time counts. */
void run_begin(struct run *run);
void run_finish(struct run *run, uint64_t ops);

/* Whether to go on: false once memory, time or the user's patience is at an
 * end. To be asked now and then. */
bool run_goes_on(struct run *run);

/* Measures run->bytes. */
void run_weigh(struct run *run);

/* Plays a cell on a contender, from make to free: the objects are set up, the
 * workload is run. limit_ns: how long it may take in all. */
enum run_end run_play(struct run *run, const struct cell *cell,
                      const struct contender *contender, uint64_t limit_ns);

/* Gives the run's memory for objects back; it is kept between plays. */
void run_release(void);

#endif
