/* workloads.h - the workloads: W1 to W12; for stores S1 to S7, for crews T1 to
 * T6, for hosts A1 to A3. */
#ifndef LAWN_BENCH_WORKLOADS_H
#define LAWN_BENCH_WORKLOADS_H

#include "run.h"

struct workload {
    const char *name;       /* "W4" */
    const char *title;      /* "churn" */
    const char *imitates;   /* the real case that it imitates */
    const char *operation;  /* the operation that is counted */
    const char *parameters; /* TTLs and clock */
    enum contender_part part;
    bool uses_t;      /* otherwise it has its own TTLs, and cell->t is 0; for
                         crews, t is threads */
    unsigned least_t; /* the smallest t */
    unsigned stage;   /* the stage of play() that it measures */
    unsigned first;   /* the first stage that a recorded trace of it contains */
    uint64_t longest; /* the longest TTL; 0 if it uses t */
    /* Assigns the first TTL to each object; NULL if it uses t. */
    void (*ttls)(struct run *run);
    void (*play)(struct run *run);
    const char *tick; /* what a tick is: "ms" if NULL */
};

/* Returns the workloads of a part; *count is their number. */
const struct workload *workloads_all(enum contender_part part, size_t *count);

/* The TTLs of a cell that uses t are spread evenly up to this value. */
uint64_t workloads_longest(const struct cell *cell);

/* Finds a workload by name or title, ignoring case. Returns NULL if there is
 * none. */
const struct workload *workloads_find(const char *name,
                                      enum contender_part part);

#endif
