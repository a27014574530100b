/* tails.h - the slowest single calls of a contender in a cell.
 *
 * The first run counts: how many calls there are, how many entries each of them
 * touches, and how late timers fire. These figures do not depend on the
 * machine. The other runs time each call, in cycles of the time stamp counter
 * if there is one. All runs make the same calls. The time of a call is the
 * median of its times in all runs. So a pause of the machine has no effect,
 * because it hits another call in each run.
 *
 * A spinner shows the pauses of the machine in the same seconds. It has a turn
 * after each 10^6 cycles of timed calls, about half a millisecond, or after a
 * longer call. For each of these calls it reads the clock in a loop, for as
 * long as the call took, and records the longest pause between two readings.
 *
 * A mow whose budget is larger than that of the tails is made as several calls,
 * at the same tick, until no due timer is left.
 */
#ifndef LAWN_BENCH_TAILS_H
#define LAWN_BENCH_TAILS_H

#include "run.h"
#include <lawn_histogram.h>

/* With this budget, a mow of a lawn processes at most 512 timers and
 * entries. */
#define TAILS_BUDGET 8u

struct tails_figures {
    uint64_t p50, p99, p999, p9999, max;
};

struct tails {
    uint64_t calls; /* of each run */
    uint64_t late;  /* the most ticks between a deadline and its firing */
    uint64_t idle;  /* the most entries of a call that fired nothing */
    bool counted;   /* the contender counts entries */
    uint64_t checksum;
    struct tails_figures cycles; /* of each call the median of its runs */
    struct tails_figures any;    /* all calls of all runs */
    struct tails_figures spinner;
    struct tails_figures entries;

    /* While measuring. */
    uint64_t *log; /* cycles of each call, run by run */
    struct lawn_histogram paused;
};

/* Runs a cell once; round 0 counts, and rounds 1 to runs time each call. A
 * round must not follow one that failed. */
enum run_end tails_play(struct tails *tails, struct run *run,
                        const struct cell *cell,
                        const struct contender *contender, size_t budget,
                        unsigned round, unsigned runs, uint64_t limit_ns);

/* Computes the figures of the timed runs, and frees the log. */
void tails_end(struct tails *tails, unsigned runs);

#endif
