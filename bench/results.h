/* results.h - the measurements. */
#ifndef LAWN_BENCH_RESULTS_H
#define LAWN_BENCH_RESULTS_H

#include "run.h"
#include "tails.h"

#define RESULTS_RUNS_MAX 31

/* One contender in one cell. */
struct results_row {
    const struct contender *contender;
    enum run_end end; /* RUN_OK, or why there are no figures */
    const char *why;  /* the reason, for people */
    bool differs;     /* its runs fired different timers */
    unsigned runs;
    double ns[RESULTS_RUNS_MAX]; /* per operation, ascending */
    uint64_t ops;
    uint64_t checksum;
    double bytes; /* per timer, including the node; 0: not measured */
    bool has_tail;
    uint64_t p50, p99, p9999, max;  /* of single operations, ns */
    uint64_t p999;                  /* for crews and hosts */
    uint64_t sampled, early;        /* A3: number of samples, and of early
                                       ones */
    struct lawn_histogram *latency; /* of T4, T5 and A3, while measuring */
    struct tails *tails;            /* of single calls; NULL: not measured */
};

struct results_cell {
    struct cell cell;
    size_t rows;
    struct results_row *row;
};

/* Instructions per operation with warm caches; negative: not counted. */
struct results_count {
    const struct contender *contender;
    double start, stop, restart, idle, fire;
};

struct results {
    uint64_t seed;
    unsigned runs;
    enum contender_part part;
    size_t budget; /* of mows, if single calls were measured; otherwise 0 */
    bool complete; /* false: interrupted by the user */
    size_t cells;
    struct results_cell *cell;
    size_t counts;
    struct results_count *count;
};

/* Returns the median of a row's runs. */
double results_median(const struct results_row *row);

/* For qsort() of doubles. */
int results_compare(const void *a, const void *b);

/* Frees the results of measure(). */
void results_free(struct results *results);

#endif
