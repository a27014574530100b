/* gate_workers.h - how workers scale, and what a mutex would cost instead. */
#ifndef LAWN_BENCH_GATE_WORKERS_H
#define LAWN_BENCH_GATE_WORKERS_H

#include "bench.h"

/* Of one n, medians of runs in turn, millions of pairs in a second of all
 * threads together. Negative: not measured. */
struct gate_workers {
    uint64_t n;         /* timers per thread */
    double local_one;   /* one worker on its own timers, */
    double local_two;   /* and two */
    double remote;      /* two threads on timers that two workers keep, */
    double remote_lock; /* or on one lawn behind a mutex, */
    double remote_spin; /* or behind one of the adaptive kind */
    double alone_one;   /* as local, with lawns that no other thread reaches */
    double alone_two;
};

/* The numbers of timers that are measured without options->n. */
#define GATE_WORKERS_N "1k,100k"
#define GATE_WORKERS_MAX 8u

/* For each n; *count of them. False: it was interrupted, or contenders disagree;
 * a message has been printed. */
bool gate_workers_measure(const struct bench_options *options,
                          struct gate_workers *out, size_t *count);

/* Processors that threads can run on. */
unsigned gate_workers_processors(void);

#endif
