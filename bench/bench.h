/* bench.h - what "lawn bench" was asked for. */
#ifndef LAWN_BENCH_BENCH_H
#define LAWN_BENCH_BENCH_H

#include "contenders.h"
#include "measure.h"
#include "options.h"

/* The options of lawn-bench, and its run(). */
extern const struct options_verb bench_verb;

#define BENCH_INTERRUPTED 130 /* an exit code */

struct bench_options {
    bool store;
    bool workers;
    bool adapters;
    bool quick;
    bool gate;
    bool instructions;
    bool json;
    bool csv;
    bool list;
    bool version;
    uint64_t runs;
    uint64_t seed;
    uint64_t limit_ns;
    const char *workloads;
    const char *contenders;
    const char *n;
    const char *t;
    const char *threads;
    const char *trace;
    const char *record;
    const char *report;
    const char *from;
    const char *svg;
    const char *loop;
    char *const *arguments; /* the command's, up to NULL */
    size_t completion;      /* in completion_kinds; SIZE_MAX: none */
};

/* Which part of the benchmark is meant. */
static inline enum contender_part
bench_part(const struct bench_options *options)
{
    return options->store      ? PART_STORES
           : options->workers  ? PART_CREWS
           : options->adapters ? PART_HOSTS
                               : PART_TIMERS;
}

/* The cells and contenders that were asked for. */
struct bench_choice {
    const struct contender *contenders[CONTENDERS_MAX];
    size_t contender_count;
    struct cell *cells;
    size_t cell_count;
};

/* Reads the lists of names and numbers; false: a message names what is known.
 * The cells are malloc's. */
bool bench_choose(const struct bench_options *options,
                  struct bench_choice *choice);

/* Before anything is timed: whether all contenders do what they say. If not, a
 * message names those that do not. */
bool bench_agree(const struct bench_choice *choice, uint64_t seed);

/* Whether a file can be written, if path is not NULL: better known before than
 * after an hour. False: a message tells why not. */
bool bench_save_can(const char *path);

/* Write the page and the picture; false: a message tells why not. */
bool bench_save(const struct bench_options *options,
                const struct results *results);
/* Makes the page from saved JSON; an exit code. */
int bench_save_again(const char *from, const char *path);

/* For measure_plan.progress: a bar on stderr, if that is a terminal. */
void bench_progress(const struct cell *cell, const struct contender *contender,
                    unsigned done, unsigned all);
/* Removes it. */
void bench_progress_end(void);

#endif
