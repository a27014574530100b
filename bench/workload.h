/* workload.h - the functions of the workloads, for their table. */
#ifndef LAWN_BENCH_WORKLOAD_H
#define LAWN_BENCH_WORKLOAD_H

#include "run.h"

/* Operations between two calls of run_goes_on(). */
#define WORKLOAD_STEP 256u
/* Operations per tick: with ticks of 1 ms, a million per second. */
#define WORKLOAD_PER_TICK 1000u

/* Returns the number of operations to measure: enough to be timed, and few
 * enough for n = 10^7 to be practical. */
static inline uint64_t
workload_ops(const struct run *run)
{
    return run->cell->ops != 0     ? run->cell->ops
           : run->cell->n < 500000 ? 200000
                                   : 500000;
}

/* Starts all objects in random order, 1000 per tick. Returns false if the run
 * has ended. */
static inline bool
workload_fill(struct run *run)
{
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_start(run, run->order[i]);
        if (i % WORKLOAD_PER_TICK == 0) {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return false;
        }
    }
    return true;
}

enum { LIFE_START, LIFE_STOP, LIFE_RESTART, LIFE_DEADLINES, LIFE_CHURN };
void life_play(struct run *run);

/* The stages of the life of a store, in the order in which they run. */
enum {
    STORE_START,
    STORE_STOP,
    STORE_PAIR,
    STORE_GET,
    STORE_CHURN,
    STORE_TOUCH,
    STORE_FIRE,
};
void store_ttls(struct run *run);
void store_play(struct run *run);

/* The longest TTL for crews, in ns. TTLs are a minute or more, so that no timer
 * is due while time is measured. */
#define CREW_LONGEST UINT64_C(240000000000)
void crew_ttls(struct run *run);
void crew_play_local(struct run *run);
void crew_play_remote(struct run *run);
void crew_play_mixed(struct run *run);
void crew_play_fires(struct run *run);
void crew_play_wake(struct run *run);
void crew_play_busy(struct run *run);

/* The longest TTL for hosts, in ns. In A1 and A2, no timer is due while time is
 * measured. */
#define HOST_LONGEST UINT64_C(240000000000)
void host_ttls_far(struct run *run);
void host_ttls_near(struct run *run);
void host_play_restart(struct run *run);
void host_play_pair(struct run *run);
void host_play_fire(struct run *run);

void connections_ttls(struct run *run);
void connections_play(struct run *run);
void queue_ttls(struct run *run);
void queue_play(struct run *run);
void idle_ttls(struct run *run);
void idle_play(struct run *run);
void expiry_ttls(struct run *run);
void expiry_play(struct run *run);
void random_ttls_uniform(struct run *run);
void random_ttls_lognormal(struct run *run);
void random_ttls_backoff(struct run *run);
void random_play(struct run *run);
void cache_ttls(struct run *run);
void cache_play(struct run *run);
void storm_ttls(struct run *run);
void storm_play(struct run *run);

#endif
