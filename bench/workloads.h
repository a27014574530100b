/* workloads.h - what is measured: W1 to W11; of stores, S1 to S7; of
 * crews, T1 to T6; of hosts, A1 to A3. */
#ifndef LAWN_BENCH_WORKLOADS_H
#define LAWN_BENCH_WORKLOADS_H

#include "run.h"

struct workload {
    const char *name;       /* "W4" */
    const char *title;      /* "churn" */
    const char *imitates;   /* what in the world it is like */
    const char *operation;  /* what is counted */
    const char *parameters; /* how the TTLs and the clock go */
    enum contender_part part;
    bool uses_t;      /* else it has TTLs of its own, and cell->t is 0;
                               of crews, t are threads */
    unsigned least_t; /* and no fewer than these */
    unsigned stage;   /* which of play's stages it is */
    unsigned first;   /* the stage that a trace of it begins with */
    uint64_t longest; /* TTL; 0 if it uses t */
    /* Gives each object its first TTL; NULL if it uses t. */
    void (*ttls)(struct run *run);
    void (*play)(struct run *run);
    const char *tick; /* what a tick is: "ms" if NULL */
};

/* Those of a part; *count of them. */
const struct workload *workloads_all(enum contender_part part, size_t *count);

/* The TTLs of a cell that uses t are spread evenly up to this. */
uint64_t workloads_longest(const struct cell *cell);

/* By name or title, in any case of letters; or NULL. */
const struct workload *workloads_find(const char *name,
                                      enum contender_part part);

#endif
