/* gate_store.c - compares a store with hash tables without timers: see
 * gate_store.h. */
#include "gate_store.h"
#include "run.h"
#include "workloads.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GATE_STORE_N "1M"
#define GATE_STORE_WORKLOADS "churn,pair"

static double
find_median(const struct results *results, const char *title,
            const struct contender *contender)
{
    for (size_t i = 0; i < results->cells && contender != NULL; i++) {
        const struct results_cell *cell = &results->cell[i];

        if (strcmp(cell->cell.workload->title, title) != 0) {
            continue;
        }
        for (size_t k = 0; k < cell->rows; k++) {
            if (cell->row[k].contender == contender && cell->row[k].runs > 0) {
                return results_median(&cell->row[k]);
            }
        }
    }
    return -1;
}

/* Returns the resident pages of this process. */
static double
count_pages(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu %lu", &size, &resident) != 2) {
        resident = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)resident;
}

/* Fills a store. Returns by how many bytes per timer the process grew. */
static double
measure_growth(const struct cell *cell, const struct contender *contender)
{
    struct contender_setup setup = {.now = 0};
    const struct store *store = store_of(contender);
    struct random random = {cell->seed};

    malloc_trim(0);
    double before = count_pages();
    void *self = contender->make(&setup);
    for (uint64_t i = 0; self != NULL && i < cell->n; i++) {
        uint64_t words[6] = {i, random_next(&random)};

        if (!store->start(self, words, 1000 + 1000 * (words[1] % 20),
                          words + 2)) {
            return -1;
        }
    }
    if (self == NULL || before == 0) {
        return -1;
    }
    return (count_pages() - before) * (double)sysconf(_SC_PAGESIZE) /
               (double)cell->n -
           (STORE_ID + STORE_PAYLOAD);
}

/* The same in a separate process, so that no freed memory is reused. */
static double
measure_resident(const struct cell *cell, const struct contender *contender)
{
    double figure = -1;
    int ends[2];

    if (contender == NULL || pipe(ends) != 0) {
        return -1;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        figure = measure_growth(cell, contender);
        _exit(write(ends[1], &figure, sizeof(figure)) != sizeof(figure));
    }
    close(ends[1]);
    if (read(ends[0], &figure, sizeof(figure)) != sizeof(figure)) {
        figure = -1;
    }
    close(ends[0]);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    return figure;
}

static void
compare_stores(const struct results *results, const struct bench_choice *choice,
               struct gate_store *out)
{
    const struct contender *ours = NULL;
    const struct contender *table = NULL;

    out->table_pair = -1;
    for (size_t i = 0; i < choice->contender_count; i++) {
        const struct contender *one = choice->contenders[i];
        double pair = find_median(results, "pair", one);

        if (one->kind == CONTENDER_OURS) {
            ours = one;
        }
        if (one->kind != CONTENDER_FLOOR || pair < 0 ||
            (table != NULL && pair >= out->table_pair)) {
            continue;
        }
        table = one;
        out->table_pair = pair;
    }
    out->table = table != NULL ? table->name : NULL;
    out->pair = find_median(results, "pair", ours);
    out->churn = find_median(results, "churn", ours);
    out->table_churn = find_median(results, "churn", table);
    out->bytes = -1;
    for (size_t i = 0; i < results->cells && ours != NULL; i++) {
        const struct results_cell *cell = &results->cell[i];

        for (size_t k = 0; k < cell->rows; k++) {
            if (cell->row[k].contender == ours && cell->row[k].runs > 0) {
                out->bytes = cell->row[k].bytes;
            }
        }
    }
    out->resident = measure_resident(&choice->cells[0], ours);
    out->table_resident = measure_resident(&choice->cells[0], table);
}

/* Keeps the lawn store and the tables without timers, if they are selected. */
static void
keep_compared(struct bench_choice *choice)
{
    size_t count = 0;

    for (size_t i = 0; i < choice->contender_count; i++) {
        if (choice->contenders[i]->kind != CONTENDER_PEER) {
            choice->contenders[count++] = choice->contenders[i];
        }
    }
    choice->contender_count = count;
}

bool
gate_store_measure(const struct bench_options *options, struct gate_store *out)
{
    struct bench_options grid = *options;
    struct results results = {.part = PART_STORES};
    struct measure_plan plan = {.runs = (unsigned)options->runs,
                                .limit_ns = options->limit_ns,
                                .progress = bench_progress};

    if (!options->store) {
        grid.contenders = grid.n = NULL;
    }
    grid.store = true;
    grid.workers = false;
    grid.quick = false;
    grid.t = NULL;
    grid.workloads = GATE_STORE_WORKLOADS;
    grid.n = grid.n != NULL ? grid.n : GATE_STORE_N;
    struct bench_choice choice;
    if (!bench_choose(&grid, &choice)) {
        return false;
    }
    keep_compared(&choice);
    plan.contenders = choice.contenders;
    plan.contender_count = choice.contender_count;
    plan.cells = choice.cells;
    plan.cell_count = choice.cell_count < 2 ? choice.cell_count : 2;
    bool agrees =
        bench_agree(&choice, options->seed) && measure(&plan, &results);
    bench_progress_end();
    out->n = choice.cells[0].n;
    if (agrees) {
        compare_stores(&results, &choice, out);
    }
    results_free(&results);
    free(choice.cells);
    return agrees && results.complete;
}
