/* bench.h - the options of lawn-bench, and the steps of a run. */
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
    bool tails;
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
    uint64_t budget;
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
    char *const *arguments; /* of the command, up to NULL */
    size_t completion;      /* in completion_kinds; SIZE_MAX: none */
};

/* Returns the part of the benchmark that the options select. */
static inline enum contender_part
bench_part(const struct bench_options *options)
{
    return options->store      ? PART_STORES
           : options->workers  ? PART_CREWS
           : options->adapters ? PART_HOSTS
                               : PART_TIMERS;
}

/* Returns the budget of mows when single calls are measured. */
static inline size_t
bench_budget(const struct bench_options *options)
{
    return options->budget != 0 ? (size_t)options->budget : SIZE_MAX;
}

/* Sets the options of a run that were not given: runs, and the limit of
 * --quick. */
void bench_set_defaults(struct bench_options *options);

/* The selected cells and contenders. */
struct bench_choice {
    const struct contender *contenders[CONTENDERS_MAX];
    size_t contender_count;
    struct cell *cells;
    size_t cell_count;
};

/* Parses the lists of names and numbers. Returns false after printing the valid
 * names. choice->cells must be freed with free(). */
bool bench_choose(const struct bench_options *options,
                  struct bench_choice *choice);

/* Checks all contenders before anything is timed. Returns false after printing
 * which ones fail. */
bool bench_agree(const struct bench_choice *choice, uint64_t seed);

/* Checks that a file can be written, if path is not NULL, so that an error
 * shows before an hour of measuring. Returns false after printing why not. */
bool bench_save_can(const char *path);

/* Writes the page and the picture. Returns false after printing why not. */
bool bench_save(const struct bench_options *options,
                const struct results *results);
/* Makes the page from saved JSON. Returns an exit code. */
int bench_save_again(const char *from, const char *path);

/* For measure_plan.progress: draws a progress bar on stderr if it is a
 * terminal. */
void bench_progress(const struct cell *cell, const struct contender *contender,
                    unsigned done, unsigned all);
/* Removes the progress bar. */
void bench_progress_end(void);

#endif
