/* sim.h - a whole set of workers, for a long time, with all possible faults.
 *
 * The seed of a run determines everything: which threads take part, what they
 * do, which one runs at each step, when time passes for each, and the faults. A
 * run has a few phases. In each phase the actors, which are threads of the
 * application, perform random operations on timers and sometimes become
 * workers; a manager adds and removes workers; and callbacks perform operations
 * as well. Then all wait for each other, and when no thread can run, the whole
 * state is checked. In the end there are no more faults, time passes, all
 * timers must have been served, and the set is closed.
 *
 *     weather.c   scheduling, clocks, and faults
 *     system.c    system functions of the library: threads, files, memory
 *     judge.c     checks whether the events of a timer were possible
 *     world.c     the set, the timers, and their required properties
 *     actors.c    what the threads do
 *     main.c      seeds
 *
 * The fibres, the atomic operations and the memory are those of
 * tests/explore. */
#ifndef LAWN_SIM_SIM_H
#define LAWN_SIM_SIM_H

/* As set by mk/variants.mk for all files of the simulator. */
#if !defined EXPLORE_FIBRES
#define EXPLORE_FIBRES 10
#endif

#include "../explore/explore.h"

#include "lawn_workers.h"
#include "rng.h"

#define SIM_TIMERS 16
#define SIM_MANAGER 0u
#define SIM_ACTORS 5u               /* fibres from 1 on */
#define SIM_SEATS (1u + SIM_ACTORS) /* library threads are from here on */

/* Adds times with saturation. */
static inline uint64_t
sim_sum(uint64_t a, uint64_t b)
{
    return b < LAWN_NEVER - 1 - a ? a + b : LAWN_NEVER - 1;
}

/* Faults. */
enum sim_fault {
    SIM_STALL,    /* a thread does not run, for up to a million ticks */
    SIM_SKEW,     /* threads have different clocks */
    SIM_JUMP,     /* all clocks jump forward */
    SIM_LATE,     /* a woken thread continues much later */
    SIM_SPURIOUS, /* a sleeping thread is woken without a reason */
    SIM_DELAY,    /* stores are delayed */
    SIM_BUDGET,   /* workers have very small budgets */
    SIM_MEMORY,   /* allocations fail */
    SIM_THREADS,  /* creating threads and files fails */
    SIM_GO,       /* workers are added and removed */
    SIM_CLOSE,    /* the set is closed during a phase */
    SIM_FAULTS
};
extern const char *const sim_fault_names[SIM_FAULTS];

/* The decisions that a seed makes in advance, reduced by options. */
struct sim_plan {
    uint64_t seed;
    unsigned faults; /* a bit for each */
    unsigned phases;
    unsigned operations; /* of each actor in a phase */
    unsigned actors;
    unsigned timers;
    unsigned seats;
    unsigned ttl_count;
    uint64_t ttls[6];
    unsigned close_phase;
    bool anchored;   /* one worker is never removed */
    bool symmetric;  /* LAWN_FENCE_HEAVY is not available */
    bool eager;      /* callbacks perform many operations */
    unsigned one_in; /* threads are interrupted at one step in n; 0: they have
                      * priorities */
    unsigned tempo;  /* time moves at one step in n */
    struct lawn_workers_options options;
};

/* Counts of events. */
struct sim_counts {
    uint64_t seeds, failed, choices, operations, starts, fires, stops, left;
    uint64_t frees, turns, faults[SIM_FAULTS];
    uint64_t lost; /* the judge lost track of a timer */
};

extern struct sim_plan sim_plan;
extern struct sim_counts sim_counts;

/* Computes the plan of a seed. */
void sim_make_plan(uint64_t seed);

/* weather.c. weather_calm: no faults, as in setup and at the end. */
void weather_begin(void);
extern bool weather_calm;
bool weather_fault(enum sim_fault fault, unsigned one_in);
/* Return the caller's time, without counting as a read of the clock; the latest
 * and earliest time of all threads; advance time. */
uint64_t weather_time(void);
uint64_t weather_latest(void);
uint64_t weather_earliest(void);
void weather_pass(uint64_t ticks);
/* Ends all faults: all clocks are the same. */
void weather_clear_up(void);
/* Number of actors that are not waiting for the others; while it is not 0, time
 * passes. */
extern unsigned weather_busy;
/* Steps since the last phase began. */
extern uint64_t weather_steps;

/* system.c */
void system_begin(void);
/* The function of a seat: runs threads that the library creates. */
void system_take_seat(void);
/* Memory for the set's options; only within a call that may need it. */
void *system_alloc(size_t size, void *context);
void system_release(void *memory, void *context);
extern bool system_may_alloc[EXPLORE_FIBRES + 1];
unsigned system_blocks(void); /* that are allocated */
/* Returns the word of a file from lawn_worker_fd(); sleeps until it is
 * readable. */
uint32_t *system_file(int fd);
void system_poll(int fd, uint64_t until);

/* world.c */
extern struct lawn_workers *world_set;
extern uint32_t world_phase;
extern uint64_t world_left;
extern bool world_closing;
void world_begin(void);
bool world_make_set(void);
unsigned world_pick(struct rng *rng);
int world_start(unsigned timer, uint64_t ttl);
void world_start_at(unsigned timer, uint64_t deadline);
void world_start_on(unsigned timer, uint64_t ttl, unsigned worker);
bool world_stop(unsigned timer);
bool world_stop_sync(unsigned timer);
void world_free(unsigned timer);
/* Starts a new timer that only the caller knows and whose callback frees it; or
 * one like the others. */
void world_throw(struct rng *rng);
bool world_is_thrown(unsigned timer);
void world_close(uint64_t until);
uint64_t world_ttl(struct rng *rng);
/* The worker that a fibre serves as, or NULL. */
extern struct lawn_worker *world_serves[EXPLORE_FIBRES];
/* Checks that no worker sleeps that has work to do [C7]. */
void world_expect_no_lost_wake(void);
/* No thread can run: checks everything; timers before `due` must have fired. */
void world_expect_quiet(uint64_t due);
void world_end(void);

/* actors.c: the scenario; and the action of a callback. */
extern const struct explore_scenario actors_scenario;
void actors_callback(unsigned timer, struct lawn_worker *worker);
void actors_on_left(unsigned timer);

/* Writes a line to the log, if there is one. */
extern bool sim_logging;
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* main.c: runs a seed. Returns a hash of its log. */
uint64_t sim_digest(uint64_t seed);

/* self.c */
int sim_test_self(void);

#endif
