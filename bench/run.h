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

struct lawn_histogram;
struct workload;

/* What is run: a cell of the grid. */
struct cell {
    const struct workload *workload;
    uint64_t n; /* timers */
    uint64_t t; /* distinct TTLs; 0: the workload has its own */
    uint64_t seed;
    uint64_t ops; /* about how many to measure; 0: by n */
};

enum run_end {
    RUN_OK,      /* so far, or to the end */
    RUN_MEMORY,  /* there was not enough */
    RUN_SLOW,    /* it took longer than allowed, and was given up */
    RUN_STOPPED, /* the user had enough */
    RUN_UNFIT,   /* the contender is not made for the workload */
};

/* A workload may have several stages that are measured one by one: one life of
 * a server, of which W1 to W5 are a stage each, or of a store. */
#define RUN_STAGES 7

struct run_stage {
    uint64_t ops; /* 0: not measured */
    uint64_t ns;
    uint64_t checksum; /* of all that has fired up to its end */
};

struct run {
    const struct cell *cell;
    const struct contender *contender;
    void *self; /* the contender's */

    char *objects;       /* stride bytes each; stores have none */
    size_t object_count; /* n of them; for crews and hosts more */
    size_t stride;
    const uint32_t *order; /* a permutation of them, */
    const uint32_t *again; /* and its inverse, as random as it */
    uint64_t *ttls;        /* the TTLs that are used, ascending, if they are */
    size_t ttl_count;      /* few; else 0 */
    struct random random;
    uint64_t now;

    contender_fire_fn *fire; /* what is done with a timer that fires; at first
                                it is noted and stays idle */
    uint64_t stamp;          /* of now, for the checksum */
    uint64_t checksum;       /* of what fired when, whatever the order within
                                a mow */
    void *own;               /* the workload's */

    unsigned last_stage; /* later ones need not be played */
    struct run_stage stages[RUN_STAGES];
    bool watching;    /* the time counts, */
    unsigned stage;   /* the one under way */
    uint64_t watch;   /* since when */
    uint64_t limit;   /* give up at this time of run_clock() */
    enum run_end end; /* RUN_OK while all is well */
    bool wrong;       /* what it did to timers is not what it should be */
    const struct lawn_histogram
        *latency;   /* of a workload that has one; else NULL */
    uint64_t early; /* of those in it, which are in it as 0 */
    size_t heap;    /* malloc's bytes before the contender was made */
    size_t bytes;   /* of the contender, beyond the nodes; of a store, beyond
                         ids and payloads */
};

/* Of each worker of a crew: objects behind all others, for the benchmark's own
 * use. */
#define RUN_CREW_OWN 2u

/* Of a host: likewise. */
#define RUN_HOST_OWN 1024u

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

    run->contender->start(run->self, object, object->ttl);
}

static inline bool
run_stop(struct run *run, size_t i)
{
    return run->contender->stop(run->self, run_object(run, i));
}

/* To be called by run->fire for each timer. */
static inline void
run_note(struct run *run, const struct object *object)
{
    uint64_t x = run->stamp + object->id * UINT64_C(0xBF58476D1CE4E5B9);

    run->checksum += x * x;
}

/* Moves the clock to now and fires what is due, at most budget timers. */
static inline size_t
run_mow(struct run *run, uint64_t now, size_t budget)
{
    run->now = now;
    run->stamp = (now * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    return run->contender->mow(run->self, now, budget, run->fire, run);
}

/* A tick. */
static inline size_t
run_tick(struct run *run)
{
    return run_mow(run, run->now + 1, SIZE_MAX);
}

/* Between these the time counts, for so many operations of a stage. */
void run_begin(struct run *run, unsigned stage);
void run_finish(struct run *run, uint64_t ops);

/* Whether to go on: false once memory, time or the user's patience is at an
 * end. To be asked now and then. */
bool run_goes_on(struct run *run);

/* Room for a list of so many TTLs, in run->ttls; false: no memory. */
bool run_list_ttls(struct run *run, size_t count);

/* Gives an object one of them. */
static inline void
run_choose(struct run *run, uint64_t i, uint64_t which)
{
    run_object(run, i)->which = (uint32_t)which;
    run_object(run, i)->ttl = run->ttls[which];
}

/* For fire: the timer is started again with its TTL. */
void run_fire_again(struct object *object, void *arg);

/* Zeroed memory for the workload itself, which is not the contender's; NULL, and
 * run->end tells, if there is none. For free(). */
void *run_alloc(struct run *run, size_t count, size_t size);

/* Measures run->bytes: to be called when the contender holds most timers. */
void run_weigh(struct run *run);

/* Plays a cell on a contender, from make to free; tells how it ended. limit_ns
 * is how long that may take. */
enum run_end run_play(struct run *run, const struct cell *cell,
                      const struct contender *contender, unsigned last_stage,
                      uint64_t limit_ns);

/* Gives back the memory for objects, which is kept between plays. */
void run_release(void);

/* Makes all runs stop, now and later: safe in a signal handler. */
void run_interrupt(void);
bool run_interrupted(void);

#endif
