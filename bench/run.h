/* run.h - one run of one workload on one contender.
 *
 * A workload is a function that runs a stream of operations. The stream depends
 * only on the cell (workload, n, t, seed), not on the contender or on the order
 * in which timers of one tick fire. So all exact contenders get the same
 * stream, fire the same timers at the same ticks, and end with the same
 * checksum.
 */
#ifndef LAWN_BENCH_RUN_H
#define LAWN_BENCH_RUN_H

#include "contender.h"
#include "random.h"

struct lawn_histogram;
struct workload;

/* A cell of the grid. */
struct cell {
    const struct workload *workload;
    uint64_t n; /* timers */
    uint64_t t; /* distinct TTLs; 0: the workload has its own */
    uint64_t seed;
    uint64_t ops; /* approximate number of operations to measure; 0: by n */
};

enum run_end {
    RUN_OK,      /* no error so far */
    RUN_MEMORY,  /* out of memory */
    RUN_SLOW,    /* it exceeded the time limit and was given up */
    RUN_STOPPED, /* interrupted by the user */
    RUN_UNFIT,   /* the contender does not support the workload */
};

/* A workload may have several stages that are measured separately: W1 to W5 are
 * the stages of the life of a server; those of a store are similar. */
#define RUN_STAGES 7

struct run_stage {
    uint64_t ops; /* 0: not measured */
    uint64_t ns;
    uint64_t checksum; /* of all timers that fired up to its end */
};

struct run {
    const struct cell *cell;
    const struct contender *contender;
    void *self; /* of the contender */

    char *objects;       /* stride bytes each; not for stores */
    size_t object_count; /* n; for crews and hosts more */
    size_t stride;
    const uint32_t *order; /* a permutation of the objects */
    const uint32_t *again; /* its inverse, which is as random */
    uint64_t *ttls;        /* the TTLs in use, ascending, if there are few */
    size_t ttl_count;      /* otherwise 0 */
    struct random random;
    uint64_t now;

    contender_fire_fn *fire; /* called for a timer that fires; at first it
                                only records the timer */
    uint64_t stamp;          /* a hash of now, for the checksum */
    uint64_t checksum;       /* of the timers that fired and when,
                                independent of the order within a mow */
    void *own;               /* of the workload */

    unsigned last_stage; /* later stages may be skipped */
    struct run_stage stages[RUN_STAGES];
    bool watching;    /* time is being measured */
    unsigned stage;   /* the current stage */
    uint64_t watch;   /* start of the measurement */
    uint64_t limit;   /* stop at this time of run_clock() */
    enum run_end end; /* RUN_OK while there is no error */
    bool wrong;       /* the contender fired or stopped the wrong timers */
    const struct lawn_histogram
        *latency;   /* NULL if the workload measures none */
    uint64_t early; /* early timers, which are in latency as 0 */
    size_t heap;    /* malloc's bytes before the contender was created */
    size_t bytes;   /* of the contender, without nodes; of a store, without
                       ids and payloads */
};

/* Objects of each worker of a crew, after all others, for the benchmark
 * itself. */
#define RUN_CREW_OWN 2u

/* Objects of a host, for the benchmark itself. */
#define RUN_HOST_OWN 1024u

/* Returns the real time in ns. */
uint64_t run_clock(void);

static inline struct object *
run_object(const struct run *run, size_t i)
{
    return (struct object *)(void *)(run->objects + i * run->stride);
}

/* Starts object i with its TTL. */
static inline void
run_start(struct run *run, size_t i)
{
    struct object *object = run_object(run, i);

    run->contender->start(run->self, object, object->ttl);
}

static inline bool
run_stop(struct run *run, size_t i)
{
    return run->contender->stop(run->self, run_object(run, i));
}

/* Records a timer that fired; run->fire must call it for each timer. */
static inline void
run_note(struct run *run, const struct object *object)
{
    uint64_t x = run->stamp + object->id * UINT64_C(0xBF58476D1CE4E5B9);

    run->checksum += x * x;
}

/* Advances the clock to now and fires due timers, at most budget. */
static inline size_t
run_mow(struct run *run, uint64_t now, size_t budget)
{
    run->now = now;
    run->stamp = (now * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    return run->contender->mow(run->self, now, budget, run->fire, run);
}

/* Advances the clock by one tick. */
static inline size_t
run_tick(struct run *run)
{
    return run_mow(run, run->now + 1, SIZE_MAX);
}

/* Begin and end the measurement of a number of operations of a stage. */
void run_begin(struct run *run, unsigned stage);
void run_finish(struct run *run, uint64_t ops);

/* Returns false if memory or time has run out, or if the user has interrupted
 * the run. Must be called from time to time. */
bool run_goes_on(struct run *run);

/* Allocates run->ttls for a number of TTLs. Returns false if there is no
 * memory. */
bool run_list_ttls(struct run *run, size_t count);

/* Assigns one of these TTLs to an object. */
static inline void
run_choose(struct run *run, uint64_t i, uint64_t which)
{
    run_object(run, i)->which = (uint32_t)which;
    run_object(run, i)->ttl = run->ttls[which];
}

/* A fire callback that starts the timer again with its TTL. */
void run_fire_again(struct object *object, void *arg);

/* Returns zeroed memory for the workload, not counted as the contender's, to be
 * freed with free(). Returns NULL and sets run->end if there is none. */
void *run_alloc(struct run *run, size_t count, size_t size);

/* Measures run->bytes; to be called when the contender has the most timers. */
void run_weigh(struct run *run);

/* Runs a cell on a contender, from make to free, for at most limit_ns. Returns
 * how it ended. */
enum run_end run_play(struct run *run, const struct cell *cell,
                      const struct contender *contender, unsigned last_stage,
                      uint64_t limit_ns);

/* Frees the memory of the objects, which is kept between runs. */
void run_release(void);

/* Makes all runs stop, now and later. Safe in a signal handler. */
void run_interrupt(void);
bool run_interrupted(void);

#endif
