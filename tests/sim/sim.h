/* sim.h - a whole set of workers, for long, with all that can go wrong.
 *
 * A run is decided by its seed: who takes shard, what they do, who goes on at each
 * step, when time passes for whom, and which faults there are. It has a few
 * phases. In each, the actors, which are threads of the program that uses the
 * library, do some random things to some timers, and become workers at times; a
 * manager adds and removes workers; and callbacks do things of their own. Then
 * all wait for each other, and when nobody can go on, everything is looked at.
 * In the end there are no more faults, time passes, and all must have been
 * served; and the set is closed.
 *
 *     weather.c   who goes on, clocks, and faults
 *     system.c    what the library asks the system for: threads, files, memory
 *     judge.c     was what happened to a timer possible?
 *     world.c     the set, the timers, and what must hold of them
 *     actors.c    what the threads do
 *     main.c      seeds
 *
 * The fibres, the atomic operations and the memory are those of tests/explore. */
#ifndef LAWN_SIM_SIM_H
#define LAWN_SIM_SIM_H

/* As mk/variants.mk has it for all that the simulator is made of. */
#if !defined EXPLORE_FIBRES
#define EXPLORE_FIBRES 10
#endif

#include "../explore/explore.h"

#include "lawn_workers.h"
#include "rng.h"

#define SIM_TIMERS 16
#define SIM_MANAGER 0u
#define SIM_ACTORS 5u               /* from 1 on */
#define SIM_SEATS (1u + SIM_ACTORS) /* the library's threads, from here on */

/* Times do not run over. */
static inline uint64_t
sim_sum(uint64_t a, uint64_t b)
{
    return b < LAWN_NEVER - 1 - a ? a + b : LAWN_NEVER - 1;
}

/* Faults. */
enum sim_fault {
    SIM_STALL,    /* a thread does not go on, for up to a million ticks */
    SIM_SKEW,     /* threads have clocks of their own */
    SIM_JUMP,     /* all clocks jump forward */
    SIM_LATE,     /* who is woken goes on much later */
    SIM_SPURIOUS, /* who sleeps is woken for no reason */
    SIM_DELAY,    /* stores are delayed */
    SIM_BUDGET,   /* workers take very little at a time */
    SIM_MEMORY,   /* there is none when one asks */
    SIM_THREADS,  /* nor threads, nor files */
    SIM_GO,       /* workers come and go */
    SIM_CLOSE,    /* the set is closed in the middle of everything */
    SIM_FAULTS
};
extern const char *const sim_fault_names[SIM_FAULTS];

/* What a seed decides beforehand; and what is left out of it on demand. */
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
    bool anchored;   /* there is a worker that is never removed */
    bool symmetric;  /* there is no LAWN_FENCE_HEAVY */
    bool eager;      /* callbacks do a lot */
    unsigned one_in; /* threads are interrupted at one step in so many; 0: they
                        have priorities */
    unsigned tempo;  /* time goes on at one step in so many */
    struct lawn_workers_options options;
};

/* What happened. */
struct sim_counts {
    uint64_t seeds, failed, choices, operations, starts, fires, stops, left;
    uint64_t frees, turns, faults[SIM_FAULTS];
    uint64_t lost; /* times that the judge lost track of a timer */
};

extern struct sim_plan sim_plan;
extern struct sim_counts sim_counts;

/* The plan of a seed. */
void sim_make_plan(uint64_t seed);

/* weather.c. Whether there are faults now: none in setup and at the end. */
void weather_begin(void);
extern bool weather_calm;
bool weather_fault(enum sim_fault fault, unsigned one_in);
/* The time of the caller, without a look at it; and the latest and earliest of
 * all; time goes on. */
uint64_t weather_time(void);
uint64_t weather_latest(void);
uint64_t weather_earliest(void);
void weather_pass(uint64_t ticks);
/* No more faults: all clocks are the same. */
void weather_clear_up(void);
/* Who is not waiting for the others; while there is anyone, time passes. */
extern unsigned weather_busy;
/* Steps since the last phase began. */
extern uint64_t weather_steps;

/* system.c */
void system_begin(void);
/* What a seat does: runs the threads that the library makes. */
void system_take_seat(void);
/* Memory, for the set's options; only within a call that may need it. */
void *system_alloc(size_t size, void *context);
void system_release(void *memory, void *context);
extern bool system_may_alloc[EXPLORE_FIBRES + 1];
unsigned system_blocks(void); /* that are allocated */
/* What a file that lawn_worker_fd() gave is; and sleeps until it is readable. */
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
/* A new timer, which only the caller knows, is started, and freed by its callback;
 * or it is one as the others. */
void world_throw(struct rng *rng);
bool world_is_thrown(unsigned timer);
void world_close(uint64_t until);
uint64_t world_ttl(struct rng *rng);
/* The worker that a fibre serves as, or NULL. */
extern struct lawn_worker *world_serves[EXPLORE_FIBRES];
/* Nobody sleeps who has something to do [C7]. */
void world_expect_no_lost_wake(void);
/* Nobody can go on: everything is looked at; what was due before has fired. */
void world_expect_quiet(uint64_t due);
void world_end(void);

/* actors.c: the scenario; and what a callback does. */
extern const struct explore_scenario actors_scenario;
void actors_callback(unsigned timer, struct lawn_worker *worker);
void actors_on_left(unsigned timer);

/* The log: a line for what happened, if there is one. */
extern bool sim_logging;
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* main.c: runs a seed; a number that distinguishes its log from others. */
uint64_t sim_digest(uint64_t seed);

/* self.c */
int sim_test_self(void);

#endif
