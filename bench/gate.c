/* gate.c - the performance limits that a lawn must meet; n: timers, t: TTLs.
 *
 *   B1  in each cell of W1 to W5 with n = 10^4 and 10^6, t = 1, 20, 1000 and n:
 *       at most 1.10 x the time of the best other contender, lawn-class aside;
 *       in the geometric mean of these cells, at most 0.90 x
 *   B2  a mow that finds nothing due: at most 12 instructions, for any number
 *       of timers
 *   B3  at most 30 instructions per start, 12 per stop, 40 for stop and start
 *   B4  a timer is 24 bytes; the default lawn has at most 256 KiB, the
 *       smallest 12 KiB
 *   B5  churn of 10^6 timers: with 10^5 TTLs at most twice the time of 20 TTLs
 *   B6  a call that fires nothing processes at most 512 index entries, if mows
 *       have a budget of 8: with n = 10^6 and 10^7, t = 1, 1000 and n, and for
 *       timers that an adversary has started
 *
 *   B7  a store of 10^6 timers, ids of 16 bytes and payloads of 32: start and
 *       stop take at most twice as long as insert and erase in a hash table
 *       without timers, the faster of uthash and GHashTable; at most 64 bytes
 *       per timer in addition to id and payload
 *
 *   B8  on two processors: two workers do at least 1.8 x as many local starts
 *       and stops as one worker; two other threads start and stop timers of two
 *       workers at least 3 x as often as timers of one lawn behind a mutex
 *
 *   B9  n = 10^6, W4 with t = n, and W12, one mow per tick: the slowest call
 *       takes at most 4 x as long as the slowest one of heap4, and each timer
 *       fires at its tick. Mows have no budget here: a budget of 8 would limit
 *       heap4 to 8 timers per call, but a lawn to 512 entries (B6), so the
 *       ratio would be larger (lawn-bench --tails)
 *
 *   B10 in the geometric mean of all cells of lawn-bench --quick: at most as
 *       long as one other contender, the one with the least mean of those that
 *       finished all cells
 *
 * If workloads, n or t are selected: B1 for these cells, and B4. With --quick:
 * B10; with --tails: B6 and B9; with --store: B7; with --workers: B8.
 */
#include "gate.h"
#include "gate_store.h"
#include "gate_tail.h"
#include "gate_workers.h"
#include "lawn.h"
#include "loop.h"
#include "stopwatch.h"
#include "text.h"
#include "verbs.h"
#include "workloads.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATE_MARGIN 1.10
#define GATE_MEAN 0.90
#define GATE_SINGLE 1.00
#define GATE_FEW 1000u
#define GATE_MANY 10000000u
#define GATE_LIST_MAX 64u
#define GATE_WORKLOADS "W1,W2,W3,W4,W5"
#define GATE_T "1,20,1k,N"
#define GATE_T_B5 100000u /* for B5 only */
#define GATE_TOUCHED 512u /* B6: promise P8 of lawn.h, with a budget of 8 */
#define GATE_SLOWEST 4    /* B9 */
/* Long, so that a busy machine does not end a run of B9. */
#define GATE_LIMIT UINT64_C(600000000000)

/* The terms of a geometric mean. */
struct gate_mean {
    double logarithms;
    unsigned count;
};

/* The results so far. */
struct gate {
    unsigned limits;
    unsigned held;
    unsigned cells; /* of B1 */
    unsigned cells_held;
    struct gate_mean best; /* ratios to the best other contender */
    struct gate_mean floor;
    char failed[GATE_LIST_MAX][192];
    unsigned failures;
};

static void
add_ratio(struct gate_mean *mean, double ratio)
{
    mean->logarithms += log(ratio);
    mean->count++;
}

/* Returns -1 if there are no terms. */
static double
mean_of(const struct gate_mean *mean)
{
    return mean->count > 0 ? exp(mean->logarithms / mean->count) : -1;
}

/* Formats "0.65", or "-" if there are no terms. */
static struct text
format_mean(const struct gate_mean *mean)
{
    struct text text = {"-"};

    if (mean->count > 0) {
        snprintf(text.s, sizeof(text.s), "%.2f", mean_of(mean));
    }
    return text;
}

/* Stores a failure, to be printed again at the end. */
__attribute__((format(printf, 2, 3))) static void
note_failure(struct gate *gate, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (gate->failures < GATE_LIST_MAX) {
        (void)vsnprintf(gate->failed[gate->failures++], sizeof(gate->failed[0]),
                        format, args);
    }
    va_end(args);
}

static void
judge(struct gate *gate, const char *name, const char *what, double value,
      const char *unit, double limit)
{
    bool holds = value >= 0 && value <= limit;

    printf("%-3s %-52s %9.2f %-12s <= %-7g %s\n", name, what, value, unit,
           limit, holds ? "ok" : "FAILS");
    fflush(stdout);
    gate->limits++;
    gate->held += holds;
    if (!holds) {
        note_failure(gate, "%s %s: %.2f %s", name, what, value, unit);
    }
}

/* The same for a lower limit, without a unit. */
static void
judge_least(struct gate *gate, const char *name, const char *what, double value,
            double least)
{
    bool holds = value >= least;

    if (value < 0) {
        printf("%s  %-52s not measured  FAILS\n", name, what);
    } else {
        printf("%s  %-52s %9.2f %-12s >= %-7g %s\n", name, what, value, "x",
               least, holds ? "ok" : "FAILS");
    }
    fflush(stdout);
    gate->limits++;
    gate->held += holds;
    if (value < 0) {
        note_failure(gate, "%s %s: not measured", name, what);
    } else if (!holds) {
        note_failure(gate, "%s %s: %.2f x", name, what, value);
    }
}

/* Prints a figure without a limit. */
static void
print_figure(const char *name, const char *what, double value, const char *unit)
{
    printf("%s  %-52s %9.2f %s\n", name, what, value, unit);
    fflush(stdout);
}

/* Judges a cell of B1: prints lawn and the best other contender. */
static void
judge_cell(struct gate *gate, const struct results_cell *cell, double floor)
{
    const struct results_row *ours = NULL;
    const struct results_row *best = NULL;

    for (size_t i = 0; i < cell->rows; i++) {
        const struct results_row *row = &cell->row[i];

        if (row->runs == 0) {
            continue;
        }
        if (row->contender == contenders_find("lawn")) {
            ours = row;
        } else if (row->contender->kind != CONTENDER_OURS &&
                   row->contender->kind != CONTENDER_FLOOR &&
                   (best == NULL ||
                    results_median(row) < results_median(best))) {
            best = row;
        }
    }
    gate->cells++;
    char what[128];
    snprintf(what, sizeof(what), "%s %s, n %s, t %s", cell->cell.workload->name,
             cell->cell.workload->title, text_count(cell->cell.n).s,
             text_count(cell->cell.t).s);
    if (ours == NULL || best == NULL) {
        const char *who = ours == NULL ? "lawn" : "the others";

        printf("B1  %-36s not measured: %s  FAILS\n", what, who);
        note_failure(gate, "B1 %s: not measured: %s", what, who);
        return;
    }
    double ratio = results_median(ours) / results_median(best);
    bool holds = ratio <= GATE_MARGIN;
    printf("B1  %-36s %7.1f ns  %-7s %7.1f ns %6.2f x  <= %.2f  %s\n", what,
           results_median(ours), best->contender->name, results_median(best),
           ratio, GATE_MARGIN, holds ? "ok" : "FAILS");
    gate->cells_held += holds;
    add_ratio(&gate->best, ratio);
    if (floor > 0) {
        add_ratio(&gate->floor, results_median(ours) / floor);
    }
    if (!holds) {
        note_failure(gate, "B1 %s: %.2f x %s", what, ratio,
                     best->contender->name);
    }
}

static const struct results_row *
find_row(const struct results *results, const char *workload, uint64_t n,
         uint64_t t, const char *contender)
{
    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];

        if (strcmp(cell->cell.workload->name, workload) != 0 ||
            cell->cell.n != n || cell->cell.t != t) {
            continue;
        }
        for (size_t k = 0; k < cell->rows; k++) {
            const struct results_row *row = &cell->row[k];

            if (row->contender == contenders_find(contender) && row->runs > 0) {
                return row;
            }
        }
    }
    return NULL;
}

/* Returns whether the user selected cells. Then only those cells are judged,
 * and the limits that take no time. */
static bool
is_restricted(const struct bench_options *options)
{
    return options->workloads != NULL || options->n != NULL ||
           options->t != NULL;
}

static void
judge_ttls(struct gate *gate, const struct results *results)
{
    const struct results_row *few =
        find_row(results, "W4", 1000000, 20, "lawn");
    const struct results_row *many =
        find_row(results, "W4", 1000000, GATE_T_B5, "lawn");

    judge(gate, "B5", "churn of 1,000,000: 100,000 TTLs over 20",
          few != NULL && many != NULL
              ? results_median(many) / results_median(few)
              : -1,
          "x", 2);
}

/* Measures the cells of a grid. Returns false if contenders disagree, or not
 * all cells were measured. */
static bool
measure_grid(const struct bench_options *grid, const struct bench_choice *all,
             struct results *results)
{
    struct bench_choice choice;
    struct measure_plan plan = {.runs = (unsigned)grid->runs,
                                .tails = grid->report != NULL,
                                .limit_ns = grid->limit_ns,
                                .progress = bench_progress};

    *results =
        (struct results){.seed = grid->seed, .runs = (unsigned)grid->runs};
    if (!bench_choose(grid, &choice)) {
        return false;
    }
    plan.contenders = all->contenders;
    plan.contender_count = all->contender_count;
    plan.cells = choice.cells;
    plan.cell_count = choice.cell_count;
    bool agrees = measure(&plan, results);
    bench_progress_end();
    agrees = bench_save(grid, results) && agrees;
    free(choice.cells);
    return agrees && results->complete;
}

/* Judges B1, and B5 from the same measurements. */
static bool
judge_times(struct gate *gate, const struct bench_options *options,
            const struct bench_choice *all)
{
    struct bench_options grid = *options;
    struct results results;
    bool all_cells = is_restricted(options);

    grid.workloads = grid.workloads != NULL ? grid.workloads : GATE_WORKLOADS;
    grid.n = grid.n != NULL ? grid.n : "10k,1M";
    grid.t = grid.t != NULL ? grid.t : all_cells ? GATE_T : GATE_T ",100k";
    bool whole = measure_grid(&grid, all, &results);
    for (size_t i = 0; i < results.cells; i++) {
        const struct cell *cell = &results.cell[i].cell;
        const struct results_row *floor =
            find_row(&results, cell->workload->name, cell->n, 1, "floor");

        if (all_cells || cell->t != GATE_T_B5) {
            judge_cell(gate, &results.cell[i],
                       floor != NULL ? results_median(floor) : 0);
        }
    }
    judge(gate, "B1", "geometric mean over the best other contenders",
          mean_of(&gate->best), "x", GATE_MEAN);
    if (!all_cells) {
        judge_ttls(gate, &results);
    }
    results_free(&results);
    return whole;
}

/* Returns the geometric mean of the ratios of a lawn's times to those of row
 * `which`, or -1 if one of them has a cell without figures. */
static double
mean_over(const struct results *results, size_t which)
{
    struct gate_mean mean = {0};

    for (size_t i = 0; i < results->cells; i++) {
        const struct results_cell *cell = &results->cell[i];
        const struct results_row *other = &cell->row[which];
        const struct results_row *ours =
            find_row(results, cell->cell.workload->name, cell->cell.n,
                     cell->cell.t, "lawn");

        if (ours == NULL || other->runs == 0) {
            return -1;
        }
        add_ratio(&mean, results_median(ours) / results_median(other));
    }
    return mean_of(&mean);
}

/* Judges B10. Its cells differ from those of B1 in the number of operations. */
static bool
judge_quick(struct gate *gate, const struct bench_options *options,
            const struct bench_choice *all)
{
    struct bench_options grid = *options;
    struct results results;
    const char *best = "the best other contender";
    double most = -1;
    char what[128];

    if (!options->quick) {
        grid.quick = true;
        grid.report = NULL;
        grid.svg = NULL;
        bench_set_defaults(&grid);
    }
    bool whole = measure_grid(&grid, all, &results);
    for (size_t i = 0; results.cells > 0 && i < results.cell[0].rows; i++) {
        const struct contender *contender = results.cell[0].row[i].contender;
        double mean = mean_over(&results, i);

        if (contender->kind != CONTENDER_OURS &&
            contender->kind != CONTENDER_FLOOR && mean > most) {
            most = mean;
            best = contender->name;
        }
    }
    snprintf(what, sizeof(what), "geometric mean over %s, %zu cells", best,
             results.cells);
    judge(gate, "B10", what, most, "x", GATE_SINGLE);
    results_free(&results);
    return whole;
}

/* Returns the instructions of one call, counted by callgrind. */
static double
count_instructions(const char *function, enum loop_operation operation,
                   uint64_t n)
{
    const char *why = NULL;
    double count =
        loop_count(contenders_find("lawn"), operation, n, function, &why);

    if (why != NULL) {
        fprintf(stderr, "lawn-bench: instructions are not counted: %s\n", why);
    }
    return count;
}

static void
judge_instructions(struct gate *gate)
{
    double start = count_instructions("lawn_start", LOOP_START, GATE_FEW);
    double stop = count_instructions("lawn_stop", LOOP_STOP, GATE_FEW);
    double few = count_instructions("lawn_mow", LOOP_IDLE, GATE_FEW);
    double many = count_instructions("lawn_mow", LOOP_IDLE, GATE_MANY);

    judge(gate, "B2", "mow with nothing due, 1,000 timers", few, "instructions",
          12);
    judge(gate, "B2", "mow with nothing due, 10,000,000 timers", many,
          "instructions", 12);
    judge(gate, "B2", "the difference between them",
          few < 0 || many < 0 ? -1 : fabs(many - few), "instructions", 0);
    judge(gate, "B3", "start", start, "instructions", 30);
    judge(gate, "B3", "stop", stop, "instructions", 12);
    judge(gate, "B3", "stop and start",
          start < 0 || stop < 0 ? -1 : start + stop, "instructions", 40);
    print_figure("B3", "start of a running timer",
                 count_instructions("lawn_start", LOOP_RESTART, GATE_FEW),
                 "instructions");
}

static void
judge_sizes(struct gate *gate)
{
    const struct lawn_options smallest = {.blades = 1, .slot_bits = 1};

    judge(gate, "B4", "sizeof(struct lawn_timer)", sizeof(struct lawn_timer),
          "bytes", 24);
    judge(gate, "B4", "default lawn", (double)lawn_size(NULL) / 1024, "KiB",
          256);
    judge(gate, "B4", "smallest lawn", (double)lawn_size(&smallest) / 1024,
          "KiB", 12);
}

/* Judges B6. */
static void
judge_work(struct gate *gate, const uint64_t *n, size_t count, size_t budget)
{
    char what[128];

    for (size_t i = 0; i < count; i++) {
        const uint64_t ttls[] = {1, 1000, n[i]};

        for (unsigned k = 0; k < sizeof(ttls) / sizeof(ttls[0]); k++) {
            snprintf(what, sizeof(what), "idle call, %s timers, %s TTL%s",
                     text_count(n[i]).s, text_count(ttls[k]).s,
                     ttls[k] == 1 ? "" : "s");
            judge(gate, "B6", what, gate_tail_lived(n[i], ttls[k], budget),
                  "entries", GATE_TOUCHED);
        }
    }
    snprintf(what, sizeof(what), "the same, %s in slots of all levels",
             text_count(n[0]).s);
    judge(gate, "B6", what, gate_tail_built(n[0], budget), "entries",
          GATE_TOUCHED);
    snprintf(what, sizeof(what), "the same, %s timers in one far slot",
             text_count(n[0]).s);
    judge(gate, "B6", what, gate_tail_crowded(n[0], budget), "entries",
          GATE_TOUCHED);
}

/* Judges a cell of B9: a lawn and heap4, in this order. Returns false if it was
 * not measured. */
static bool
judge_slowest(struct gate *gate, const struct results_cell *cell)
{
    const struct results_row *ours = &cell->row[0];
    const struct results_row *heap = &cell->row[1];
    bool measured = ours->runs > 0 && heap->runs > 0;
    char what[128];

    snprintf(what, sizeof(what), "%s %s, %s timers: slowest over heap4's",
             cell->cell.workload->name, cell->cell.workload->title,
             text_count(cell->cell.n).s);
    judge(gate, "B9", what,
          measured ? (double)ours->tails->cycles.max /
                         (double)heap->tails->cycles.max
                   : -1,
          "x", GATE_SLOWEST);
    judge(gate, "B9", "the greatest lateness of the lawn's timers",
          measured ? (double)ours->tails->late : -1, "ticks", 0);
    if (measured) {
        double us = stopwatch_cycle() / 1e3;

        print_figure("B9", "the slowest call of the lawn",
                     (double)ours->tails->cycles.max * us, "us");
        print_figure("B9", "the slowest call of heap4",
                     (double)heap->tails->cycles.max * us, "us");
        print_figure("B9", "the longest pause of the machine meanwhile",
                     fmax((double)ours->tails->spinner.max,
                          (double)heap->tails->spinner.max) *
                         us,
                     "us");
        print_figure("B9", "most entries of one call of the lawn",
                     (double)ours->tails->entries.max, "entries");
    }
    return measured;
}

/* Judges B6 and B9. Returns false if not all of it was measured. */
static bool
judge_tails(struct gate *gate, const struct bench_options *options)
{
    struct bench_options grid = *options;
    struct results results = {.runs = (unsigned)options->runs};
    struct measure_plan plan = {
        .runs = (unsigned)options->runs,
        .budget = SIZE_MAX,
        .limit_ns = options->limit_ns != 0 ? options->limit_ns : GATE_LIMIT,
        .progress = bench_progress};
    uint64_t n[] = {1000000, GATE_MANY};
    struct bench_choice choice;

    grid.tails = true;
    grid.contenders = "lawn,heap4";
    grid.workloads = "W4,W12";
    grid.n = grid.n != NULL ? grid.n : "1M";
    grid.t = "N";
    if (!bench_choose(&grid, &choice)) {
        return false;
    }
    if (options->n != NULL) {
        n[0] = choice.cells[0].n;
    }
    judge_work(gate, n, options->n != NULL ? 1 : 2, bench_budget(options));
    plan.contenders = choice.contenders;
    plan.contender_count = choice.contender_count;
    plan.cells = choice.cells;
    plan.cell_count = choice.cell_count;
    bool whole = measure(&plan, &results);
    bench_progress_end();
    for (size_t i = 0; i < results.cells; i++) {
        whole = judge_slowest(gate, &results.cell[i]) && whole;
    }
    whole = whole && results.complete;
    results_free(&results);
    free(choice.cells);
    return whole;
}

/* Judges B7. Returns false if not all of it was measured. */
static bool
judge_stores(struct gate *gate, const struct bench_options *options)
{
    struct gate_store store;

    if (!gate_store_measure(options, &store)) {
        return false;
    }
    if (store.table == NULL) {
        puts("B7  start and stop over a hash table without timers: not "
             "measured  FAILS\n    uplain and gplain are not available; to "
             "build them, run: tools/deps bench; make");
        gate->limits++;
        note_failure(gate, "B7 start and stop: not measured: uplain, gplain");
    } else {
        char what[128];
        snprintf(what, sizeof(what), "start and stop over %s, %s timers",
                 store.table, text_count(store.n).s);
        judge(gate, "B7", what,
              store.pair < 0 ? -1 : store.pair / store.table_pair, "x", 2);
        print_figure("B7", "start and stop", store.pair, "ns");
        print_figure("B7", "insert and erase", store.table_pair, "ns");
        print_figure("B7", "stop and start while all others run", store.churn,
                     "ns");
        print_figure("B7", "erase and insert while all others stay",
                     store.table_churn, "ns");
    }
    judge(gate, "B7", "per timer beyond id and payload", store.bytes, "bytes",
          64);
    print_figure("B7", "the same, by the growth of the process", store.resident,
                 "bytes");
    if (store.table != NULL) {
        print_figure("B7", "the same, of the table without timers",
                     store.table_resident, "bytes");
    }
    return store.table != NULL;
}

static double
ratio_of(double over, double under)
{
    return over < 0 || under <= 0 ? -1 : over / under;
}

/* Judges B8 with one number of timers. Returns false if not all of it was
 * measured. The limit applies to the smallest number, where timers fit into the
 * caches of each processor: there threads wait for each other and not for
 * memory. Other figures are printed, together with those of lawns without
 * workers. */
static bool
judge_crew(struct gate *gate, const struct gate_workers *w, bool first)
{
    double two = ratio_of(w->local_two, w->local_one);
    double lock = ratio_of(w->remote, w->remote_lock);
    char what[128];

    snprintf(what, sizeof(what), "local, 2 workers over 1, %s timers each",
             text_count(w->n).s);
    if (first) {
        judge_least(gate, "B8", what, two, 1.8);
    } else {
        print_figure("B8", what, two, "x");
    }
    print_figure("B8", "two lawns without workers over one",
                 ratio_of(w->alone_two, w->alone_one), "x");
    print_figure("B8", "one worker on its own timers", w->local_one, "M/s");
    print_figure("B8", "two workers", w->local_two, "M/s");
    print_figure("B8", "one lawn without workers", w->alone_one, "M/s");
    print_figure("B8", "two lawns without workers", w->alone_two, "M/s");
    snprintf(what, sizeof(what),
             "remote workers over one mutex, %s timers each",
             text_count(w->n).s);
    if (first) {
        judge_least(gate, "B8", what, lock, 3);
    } else {
        print_figure("B8", what, lock, "x");
    }
    print_figure("B8", "the same over an adaptive mutex",
                 ratio_of(w->remote, w->remote_spin), "x");
    print_figure("B8", "two threads on timers of workers", w->remote, "M/s");
    print_figure("B8", "the same behind one mutex", w->remote_lock, "M/s");
    print_figure("B8", "behind one adaptive mutex", w->remote_spin, "M/s");
    return !first || (two >= 0 && lock >= 0);
}

/* Judges B8. Returns false if not all of it was measured. */
static bool
judge_crews(struct gate *gate, const struct bench_options *options)
{
    bool whole = true;

    if (gate_workers_processors() < 2) {
        puts("B8  workers: not measured  FAILS\n    two processors are needed");
        gate->limits++;
        note_failure(gate,
                     "B8 workers: not measured: two processors are needed");
        return false;
    }
    struct gate_workers found[GATE_WORKERS_MAX];
    size_t count = 0;
    if (!gate_workers_measure(options, found, &count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        whole = judge_crew(gate, &found[i], i == 0) && whole;
    }
    return whole;
}

static void
sum_up(const struct gate *gate, bool part)
{
    if (gate->failures > 0) {
        puts("\nnot met:");
    }
    for (unsigned i = 0; i < gate->failures; i++) {
        printf("  %s\n", gate->failed[i]);
    }
    printf("%u of %u performance limits met%s\n", gate->held, gate->limits,
           part ? "" : ", the cells of B1 aside");
    if (part) {
        return;
    }
    printf(
        "%u of %u cells meet B1; geometric mean %s x the best other contender, "
        "%s x the floor\n",
        gate->cells_held, gate->cells, format_mean(&gate->best).s,
        format_mean(&gate->floor).s);
}

int
gate_run(const struct bench_options *options, const struct bench_choice *choice)
{
    static struct gate gate;
    bool part =
        options->store || options->workers || options->tails || options->quick;
    bool whole = false;

    if (options->store) {
        whole = judge_stores(&gate, options);
    } else if (options->workers) {
        whole = judge_crews(&gate, options);
    } else if (options->tails) {
        whole = judge_tails(&gate, options);
    } else if (!bench_agree(choice, options->seed)) {
        return VERBS_FAILED;
    } else if (options->quick) {
        whole = judge_quick(&gate, options, choice);
    } else {
        whole = judge_times(&gate, options, choice) &&
                (is_restricted(options) || judge_quick(&gate, options, choice));
    }
    if (whole && !part && !is_restricted(options)) {
        judge_instructions(&gate);
        whole = judge_tails(&gate, options);
        whole = judge_stores(&gate, options) && whole;
        whole = judge_crews(&gate, options) && whole;
    }
    if (!part) {
        judge_sizes(&gate);
    }
    sum_up(&gate, part);
    if (!whole) {
        puts("some limits were not measured");
    }
    if (run_interrupted()) {
        return BENCH_INTERRUPTED;
    }
    return whole && gate.failures == 0 ? VERBS_OK : VERBS_FAILED;
}
