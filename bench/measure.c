/* measure.c - interleaved runs of cells on contenders: see measure.h. */
#include "measure.h"
#include "stopwatch.h"
#include "workloads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A second, plus 4 microseconds per timer: forty times as long as good
 * contenders need. */
#define MEASURE_LIMIT UINT64_C(1000000000)
#define MEASURE_LIMIT_EACH UINT64_C(4000)
/* A database takes longer. */
#define MEASURE_LIMIT_STORE (10 * MEASURE_LIMIT)
#define MEASURE_LIMIT_STORE_EACH (10 * MEASURE_LIMIT_EACH)

/* Millions of pairs, possibly with many threads on few processors. */
#define MEASURE_LIMIT_CREW (60 * MEASURE_LIMIT)
/* Event loops that examine all their timers take seconds. */
#define MEASURE_LIMIT_HOST (2 * MEASURE_LIMIT)

/* The cells of one life that are being measured. */
struct measure_group {
    const struct measure_plan *plan;
    struct results_cell *cells; /* in the results */
    size_t count;
    unsigned last_stage;
    unsigned done; /* runs of the whole plan so far */
};

int
results_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double
results_median(const struct results_row *row)
{
    unsigned middle = row->runs / 2;

    return row->runs % 2 != 0 ? row->ns[middle]
                              : (row->ns[middle - 1] + row->ns[middle]) / 2;
}

void
results_free(struct results *results)
{
    for (size_t i = 0; i < results->cells; i++) {
        for (size_t k = 0; k < results->cell[i].rows; k++) {
            free(results->cell[i].row[k].tails);
        }
        free(results->cell[i].row);
    }
    free(results->cell);
    free(results->count);
}

static void
set_excuse(struct results_row *row, enum run_end end)
{
    static const char *const why[] = {
        [RUN_MEMORY] = "out of memory",
        [RUN_SLOW] = "given up: too slow",
        [RUN_STOPPED] = "interrupted",
        [RUN_UNFIT] = "made for one TTL only",
    };

    row->end = end;
    row->why = why[end];
    if (end == RUN_UNFIT && contender_part_of(row->contender) == PART_STORES) {
        row->why = "has no timers";
    }
    if (end == RUN_UNFIT && contender_part_of(row->contender) == PART_CREWS) {
        row->why = "does not support other threads";
    }
}

static uint64_t
time_limit(const struct measure_plan *plan, const struct cell *cell)
{
    if (plan->limit_ns != 0) {
        return plan->limit_ns;
    }
    if (cell->workload->part == PART_CREWS) {
        return MEASURE_LIMIT_CREW;
    }
    if (cell->workload->part == PART_HOSTS) {
        return MEASURE_LIMIT_HOST + cell->n * MEASURE_LIMIT_EACH;
    }
    return cell->workload->part == PART_STORES
               ? MEASURE_LIMIT_STORE + cell->n * MEASURE_LIMIT_STORE_EACH
               : MEASURE_LIMIT + cell->n * MEASURE_LIMIT_EACH;
}

/* Adds the latencies of a run to those of earlier runs. */
static void
keep_latency(struct results_row *row, const struct lawn_histogram *latency)
{
    if (row->latency == NULL) {
        row->latency = calloc(1, sizeof(*row->latency));
    }
    if (row->latency != NULL) {
        lawn_histogram_merge(row->latency, latency);
    }
}

/* Stores the results of a run in the rows of all its cells. */
static void
keep_run(struct measure_group *group, size_t which, const struct run *run)
{
    for (size_t i = 0; i < group->count; i++) {
        struct results_row *row = &group->cells[i].row[which];
        const struct run_stage *stage =
            &run->stages[group->cells[i].cell.workload->stage];

        if (stage->ops == 0) {
            /* If a run fails, earlier successful runs are not representative,
             * unless the user interrupted it. */
            if (run->end != RUN_STOPPED) {
                row->runs = 0;
            }
            if (row->runs == 0) {
                set_excuse(row, run->end);
            }
            continue;
        }
        if (row->runs > 0 && stage->checksum != row->checksum) {
            row->differs = true;
        }
        row->differs = row->differs || run->wrong;
        row->checksum = stage->checksum;
        row->ops = stage->ops;
        row->ns[row->runs++] = (double)stage->ns / (double)stage->ops;
        if (run->latency != NULL) {
            keep_latency(row, run->latency);
        }
        row->early += run->early;
        row->bytes =
            fmax(row->bytes, (double)run->contender->node +
                                 (double)run->bytes / (double)run->cell->n);
    }
}

/* Returns whether any of a contender's rows can still be measured. */
static bool
is_wanted(const struct measure_group *group, size_t which)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->cells[i].row[which].end == RUN_OK) {
            return true;
        }
    }
    return false;
}

static void
measure_tail(struct measure_group *group, size_t which)
{
    static struct stopwatch watch;
    const struct measure_plan *plan = group->plan;
    const struct cell *cell = &group->cells[0].cell;
    struct run run;

    stopwatch_wrap(&watch, plan->contenders[which], &run);
    run_play(&run, cell, &watch.store.face, group->last_stage,
             2 * time_limit(plan, cell));
    for (size_t i = 0; i < group->count; i++) {
        struct results_row *row = &group->cells[i].row[which];
        unsigned stage = group->cells[i].cell.workload->stage;
        const struct lawn_histogram *histogram = &watch.stages[stage];

        row->has_tail = run.stages[stage].ops != 0 && histogram->count > 0;
        row->p50 = lawn_histogram_at(histogram, 50000);
        row->p99 = lawn_histogram_at(histogram, 99000);
        row->p9999 = lawn_histogram_at(histogram, 99990);
        row->max = histogram->max;
    }
}

/* Runs a contender once, and counts or times each call. */
static void
measure_calls(struct measure_group *group, size_t which, unsigned round)
{
    const struct measure_plan *plan = group->plan;
    const struct cell *cell = &group->cells[0].cell;
    struct results_row *row = &group->cells[0].row[which];
    /* Counting is slow. */
    uint64_t limit = time_limit(plan, cell) * (plan->limit_ns != 0 ? 1 : 4);
    struct run run = {.end = RUN_MEMORY};
    const struct run_stage *stage = &run.stages[cell->workload->stage];

    if (round == 0) {
        row->tails = calloc(1, sizeof(*row->tails));
    }
    if (row->tails != NULL) {
        tails_play(row->tails, &run, cell, plan->contenders[which],
                   plan->budget, round, plan->runs, limit);
        run.wrong = run.wrong || (run.end == RUN_OK &&
                                  stage->checksum != row->tails->checksum);
    }
    if (run.end != RUN_OK) {
        run.stages[cell->workload->stage].ops = 0;
    }
    if (run.end != RUN_OK || round > 0) {
        keep_run(group, which, &run);
    }
}

/* Returns the number of times that each contender runs. */
static unsigned
count_rounds(const struct measure_plan *plan)
{
    return plan->runs + (plan->tails || plan->budget != 0);
}

/* Runs each remaining contender once, beginning with another one each time. */
static void
measure_round(struct measure_group *group, unsigned round)
{
    const struct measure_plan *plan = group->plan;
    const struct cell *cell = &group->cells[0].cell;
    unsigned all = count_rounds(plan) *
                   (unsigned)(plan->cell_count * plan->contender_count);

    for (size_t i = 0; i < plan->contender_count; i++) {
        size_t which = (i + round) % plan->contender_count;
        struct run run;

        if (!run_interrupted() && is_wanted(group, which)) {
            if (plan->progress != NULL) {
                plan->progress(cell, plan->contenders[which], group->done, all);
            }
            if (plan->budget != 0) {
                measure_calls(group, which, round);
            } else if (round < plan->runs) {
                run_play(&run, cell, plan->contenders[which], group->last_stage,
                         time_limit(plan, cell));
                keep_run(group, which, &run);
            } else {
                measure_tail(group, which);
            }
        }
        group->done += (unsigned)group->count;
    }
}

/* Returns whether all exact contenders fired the same timers at the same
 * times. */
static bool
check_agreement(struct results_cell *cell)
{
    const struct results_row *first = NULL;
    bool agrees = true;

    for (size_t i = 0; i < cell->rows; i++) {
        struct results_row *row = &cell->row[i];

        if ((row->contender->flags & CONTENDER_EXACT) == 0 || row->runs == 0) {
            continue;
        }
        first = first != NULL ? first : row;
        if (row->checksum == first->checksum && !row->differs) {
            continue;
        }
        fprintf(stderr,
                "lawn-bench: %s n=%" PRIu64 " t=%" PRIu64 " seed=%" PRIu64
                ": %s fired other timers, or at other times, than %s "
                "(%016" PRIx64 ", %016" PRIx64 ")\n",
                cell->cell.workload->name, cell->cell.n, cell->cell.t,
                cell->cell.seed, row->contender->name, first->contender->name,
                row->checksum, first->checksum);
        /* A bug, so there is no result. */
        row->runs = 0;
        row->why = "fired other timers than the other contenders";
        agrees = false;
    }
    return agrees;
}

/* Excludes contenders that were given up in this workload with fewer timers. */
static void
skip_hopeless(const struct results *results, struct results_cell *cell)
{
    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *other = &results->cell[i];

        if (other->cell.workload != cell->cell.workload ||
            other->cell.n >= cell->cell.n ||
            (other->cell.t != cell->cell.t &&
             !(other->cell.t == other->cell.n &&
               cell->cell.t == cell->cell.n))) {
            continue;
        }
        for (size_t k = 0; k < cell->rows; k++) {
            if (other->row[k].end == RUN_SLOW) {
                cell->row[k].end = RUN_SLOW;
                cell->row[k].why = "not run: too slow with fewer timers";
            }
        }
    }
}

/* Adds a cell with empty rows. */
static bool
add_cell(const struct measure_plan *plan, struct results *results,
         const struct cell *cell)
{
    struct results_cell *added = &results->cell[results->cells];

    added->cell = *cell;
    added->rows = plan->contender_count;
    added->row = calloc(added->rows, sizeof(*added->row));
    if (added->row == NULL) {
        return false;
    }
    for (size_t i = 0; i < added->rows; i++) {
        added->row[i].contender = plan->contenders[i];
    }
    skip_hopeless(results, added);
    results->cells++;
    return true;
}

static void
end_latency(struct results_row *row)
{
    if (row->latency == NULL) {
        return;
    }
    row->has_tail = row->latency->count > 0;
    row->sampled = row->latency->count;
    row->p50 = lawn_histogram_at(row->latency, 50000);
    row->p99 = lawn_histogram_at(row->latency, 99000);
    row->p999 = lawn_histogram_at(row->latency, 99900);
    row->p9999 = lawn_histogram_at(row->latency, 99990);
    row->max = row->latency->max;
    free(row->latency);
    row->latency = NULL;
}

static void
end_group(struct measure_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        for (size_t k = 0; k < group->cells[i].rows; k++) {
            struct results_row *row = &group->cells[i].row[k];

            /* The user interrupted before this row ran. */
            if (row->runs == 0 && row->end == RUN_OK) {
                set_excuse(row, RUN_STOPPED);
            }
            end_latency(row);
            if (row->tails != NULL) {
                tails_end(row->tails, row->runs);
            }
            qsort(row->ns, row->runs, sizeof(row->ns[0]), results_compare);
        }
    }
}

/* Returns the number of cells that run together, from `first` on. */
static size_t
group_size(const struct measure_plan *plan, size_t first)
{
    const struct cell *cells = plan->cells;
    size_t i = first + 1;

    while (i < plan->cell_count && plan->budget == 0 &&
           cells[i].workload->play == cells[first].workload->play &&
           cells[i].workload != cells[i - 1].workload &&
           cells[i].workload->ttls == cells[first].workload->ttls &&
           cells[i].n == cells[first].n && cells[i].t == cells[first].t) {
        i++;
    }
    return i - first;
}

static bool
report_no_memory(void)
{
    fputs("lawn-bench: out of memory for the results\n", stderr);
    return false;
}

/* Allocates room for the cells of one more plan. */
static bool
reserve(const struct measure_plan *plan, struct results *results)
{
    size_t count = results->cells + plan->cell_count;
    struct results_cell *cell = realloc(results->cell, count * sizeof(*cell));

    if (cell != NULL) {
        results->cell = cell;
    }
    return cell != NULL || count == 0;
}

bool
measure(const struct measure_plan *plan, struct results *results)
{
    struct measure_group group = {.plan = plan};
    bool agrees = true;
    size_t i = 0;

    if (!reserve(plan, results)) {
        return report_no_memory();
    }
    while (i < plan->cell_count && !run_interrupted()) {
        group.cells = &results->cell[results->cells];
        group.count = group_size(plan, i);
        group.last_stage = 0;
        for (size_t k = 0; k < group.count; k++, i++) {
            unsigned stage = plan->cells[i].workload->stage;

            if (stage > group.last_stage) {
                group.last_stage = stage;
            }
            if (!add_cell(plan, results, &plan->cells[i])) {
                return report_no_memory();
            }
        }
        for (unsigned round = 0; round < count_rounds(plan); round++) {
            measure_round(&group, round);
        }
        end_group(&group);
        for (size_t k = 0; k < group.count; k++) {
            agrees = check_agreement(&group.cells[k]) && agrees;
        }
    }
    run_release();
    results->complete = !run_interrupted();
    return agrees;
}
