/* plan.c - the decisions that a seed makes in advance. */
#include "sim.h"

#include <string.h>

const char *const sim_fault_names[SIM_FAULTS] = {
    "stall",  "skew",   "jump",    "late", "spurious", "delay",
    "budget", "memory", "threads", "go",   "close"};

struct sim_plan sim_plan;

static void
plan_ttls(struct rng *rng)
{
    static const uint64_t some[] = {1,   2,    3,    7,      10,      50,
                                    100, 1000, 5000, 100000, 1000000, 1 << 22};

    sim_plan.ttl_count = 1 + (unsigned)rng_below(rng, 6);
    for (unsigned i = 0; i < sim_plan.ttl_count; i++) {
        sim_plan.ttls[i] = some[rng_below(rng, sizeof(some) / sizeof(*some))];
    }
}

static void
plan_options(struct rng *rng)
{
    struct lawn_workers_options *options = &sim_plan.options;

    options->lawn.blades = 1 + rng_below(rng, 8);
    options->lawn.slot_bits = 4;
    options->lawn.resolution =
        rng_below(rng, 3) == 0 ? 1 + rng_below(rng, 10) : 1;
    options->route =
        rng_below(rng, 3) == 0 ? LAWN_WORKERS_BY_TTL : LAWN_WORKERS_BY_OWNER;
    options->shards = 1 + (unsigned)rng_below(rng, 6);
    options->budget = 8 + rng_below(rng, 100);
    if ((sim_plan.faults >> SIM_BUDGET & 1) != 0) {
        options->budget = 1 + rng_below(rng, 3);
        sim_counts.faults[SIM_BUDGET]++;
    }
}

void
sim_make_plan(uint64_t seed)
{
    struct rng rng = {seed};

    memset(&sim_plan, 0, sizeof(sim_plan));
    sim_plan.seed = rng_next(&rng);
    /* Each fault is in half of the runs: too many would hide each other. */
    for (unsigned i = 0; i < SIM_FAULTS; i++) {
        sim_plan.faults |= (unsigned)rng_below(&rng, 2) << i;
    }
    if (rng_below(&rng, 4) != 0) {
        sim_plan.faults &= ~(1u << SIM_CLOSE);
    }
    sim_plan.phases = 1 + (unsigned)rng_below(&rng, 5);
    sim_plan.operations = 4 + (unsigned)rng_below(&rng, 60);
    sim_plan.actors = 1 + (unsigned)rng_below(&rng, SIM_ACTORS);
    sim_plan.timers = 1 + (unsigned)rng_below(&rng, SIM_TIMERS);
    sim_plan.seats = 1 + (unsigned)rng_below(&rng, EXPLORE_FIBRES - SIM_SEATS);
    sim_plan.anchored = rng_below(&rng, 4) != 0;
    sim_plan.symmetric = rng_below(&rng, 4) == 0;
    sim_plan.eager = rng_below(&rng, 2) == 0;
    sim_plan.one_in = rng_below(&rng, 3) == 0 ? 0 : 2u << rng_below(&rng, 6);
    sim_plan.tempo = 4u << rng_below(&rng, 8);
    sim_plan.close_phase = 1 + (unsigned)rng_below(&rng, sim_plan.phases);
    plan_ttls(&rng);
    plan_options(&rng);
}
