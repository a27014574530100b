/* gate_workers.c - compares workers with each other and with a mutex: see
 * gate_workers.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "gate_workers.h"
#include "workloads.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

unsigned
gate_workers_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? (unsigned)CPU_COUNT(&set)
               : 0;
}

/* Returns the median of all rounds, in millions of pairs per second. */
static double
find_rate(const struct results *results, const char *title, uint64_t n,
          uint64_t threads, const char *contender)
{
    double ns[RESULTS_RUNS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];

        if (strcmp(cell->cell.workload->title, title) != 0 ||
            cell->cell.n != n || cell->cell.t != threads) {
            continue;
        }
        for (size_t k = 0; k < cell->rows; k++) {
            if (strcmp(cell->row[k].contender->name, contender) == 0 &&
                cell->row[k].runs > 0 && count < RESULTS_RUNS_MAX) {
                ns[count++] = cell->row[k].ns[0];
            }
        }
    }
    if (count == 0) {
        return -1;
    }
    qsort(ns, count, sizeof(ns[0]), results_compare);
    return 2e3 * (double)threads / (ns[(count - 1) / 2] + ns[count / 2]);
}

/* Keeps the contenders that the limits need, if they are selected. */
static void
keep_compared(struct bench_choice *choice)
{
    size_t count = 0;

    for (size_t i = 0; i < choice->contender_count; i++) {
        const char *name = choice->contenders[i]->name;

        if (strcmp(name, "lawn") == 0 || strcmp(name, "mutex") == 0 ||
            strcmp(name, "adaptive") == 0 || strcmp(name, "alone") == 0) {
            choice->contenders[count++] = choice->contenders[i];
        }
    }
    choice->contender_count = count;
}

static void
compare_crews(const struct results *results, struct gate_workers *out)
{
    uint64_t n = out->n;

    out->local_one = find_rate(results, "local", n, 1, "lawn");
    out->local_two = find_rate(results, "local", n, 2, "lawn");
    out->remote = find_rate(results, "remote", n, 2, "lawn");
    out->remote_lock = find_rate(results, "remote", n, 2, "mutex");
    out->remote_spin = find_rate(results, "remote", n, 2, "adaptive");
    out->alone_one = find_rate(results, "local", n, 1, "alone");
    out->alone_two = find_rate(results, "local", n, 2, "alone");
}

bool
gate_workers_measure(const struct bench_options *options,
                     struct gate_workers *out, size_t *count)
{
    struct bench_options grid = *options;
    struct results results = {.part = PART_CREWS};
    struct measure_plan plan = {
        .runs = 1, .limit_ns = options->limit_ns, .progress = bench_progress};

    *count = 0;
    if (!options->workers) {
        grid.contenders = grid.n = NULL;
    }
    grid.workers = true;
    grid.store = grid.quick = false;
    grid.t = NULL;
    grid.workloads = "local,remote";
    grid.threads = "1,2";
    grid.n = grid.n != NULL ? grid.n : GATE_WORKERS_N;
    struct bench_choice choice;
    if (!bench_choose(&grid, &choice)) {
        return false;
    }
    keep_compared(&choice);
    plan.contenders = choice.contenders;
    plan.contender_count = choice.contender_count;
    plan.cells = choice.cells;
    plan.cell_count = choice.cell_count;
    bool agrees = bench_agree(&choice, options->seed);
    /* Each round runs all cells, since they are compared with each other. */
    for (uint64_t i = 0; agrees && i < options->runs && !run_interrupted();
         i++) {
        agrees = measure(&plan, &results);
    }
    bench_progress_end();
    for (size_t i = 0; agrees && i < choice.cell_count; i++) {
        bool again = false;

        for (size_t k = 0; k < *count; k++) {
            again = again || out[k].n == choice.cells[i].n;
        }
        if (again || *count == GATE_WORKERS_MAX) {
            continue;
        }
        out[*count].n = choice.cells[i].n;
        compare_crews(&results, &out[(*count)++]);
    }
    results_free(&results);
    free(choice.cells);
    return agrees && results.complete;
}
