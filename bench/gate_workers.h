/* gate_workers.h - how workers scale, and the cost of a mutex instead. */
#ifndef LAWN_BENCH_GATE_WORKERS_H
#define LAWN_BENCH_GATE_WORKERS_H

#include "bench.h"

/* Medians of alternating runs with one n, in millions of pairs per second of
 * all threads together. Negative: not measured. */
struct gate_workers {
    uint64_t n;         /* timers per thread */
    double local_one;   /* one worker on its own timers */
    double local_two;   /* two workers */
    double remote;      /* two threads on timers of two workers */
    double remote_lock; /* two threads on one lawn behind a mutex */
    double remote_spin; /* the same with an adaptive mutex */
    double alone_one;   /* as local, with lawns that no other thread uses */
    double alone_two;
};

/* The numbers of timers if options->n is not given. */
#define GATE_WORKERS_N "1k,100k"
#define GATE_WORKERS_MAX 8u

/* Measures each n; *count is their number. Returns false after printing a
 * message if it was interrupted or contenders disagree. */
bool gate_workers_measure(const struct bench_options *options,
                          struct gate_workers *out, size_t *count);

/* Returns the number of processors that threads can run on. */
unsigned gate_workers_processors(void);

#endif
