/* workloads.h - what is measured: W1 to W11. */
#ifndef LAWN_BENCH_WORKLOADS_H
#define LAWN_BENCH_WORKLOADS_H

#include "run.h"

struct workload {
    const char *name;       /* "W4" */
    const char *title;      /* "churn" */
    const char *imitates;   /* what in the world it is like */
    const char *operation;  /* what is counted */
    const char *parameters; /* how the TTLs and the clock go */
    bool uses_t;            /* else it has TTLs of its own, and cell->t is 0 */
    void (*ttls)(struct run *run); /* sets each object's ttl; NULL: t TTLs
                                      spread evenly up to longest */
    uint64_t (*longest)(const struct cell *cell); /* NULL: the usual */
    void (*play)(struct run *run);
};

extern const struct workload workloads[];
extern const size_t workloads_count;

/* By name or title, or NULL. */
const struct workload *workloads_find(const char *name);

#endif
