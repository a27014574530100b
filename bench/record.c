/* record.c - "lawn-bench --record": writes a workload as a trace.
 *
 * The workload runs on a lawn behind a tap, which reports each start and stop
 * when it happens. The ids are the numbers of the benchmark's objects. Nothing
 * is stored.
 */
#include "record.h"
#include "contenders/all.h"
#include "output.h"
#include "run.h"
#include "tap.h"
#include "text.h"
#include "trace_write.h"
#include "verbs.h"
#include "workloads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
put_event(const struct tap_event *event, void *arg)
{
    char id[24];
    size_t length = sizeof(id);
    uint32_t rest = event->id;
    bool good = true;
    const struct run *run = (const struct run *)arg;
    if (run->stage < run->cell->workload->first) {
        return; /* an earlier stage of the life */
    }
    do {
        id[--length] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (event->kind == TAP_START) {
        good = trace_write_start(event->now, id + length, sizeof(id) - length,
                                 event->ttl);
    } else if (event->kind == TAP_STOP) {
        good = trace_write_stop(event->now, id + length, sizeof(id) - length);
    }
    if (!good) {
        run_interrupt();
    }
}

/* Runs the cell on a lawn, and reports to put_event(). */
static enum run_end
play(const struct cell *cell)
{
    static struct tap tap;
    static struct run run;
    enum run_end end =
        run_play(&run, cell, tap_wrap(&tap, &lawn_contender, put_event, &run),
                 cell->workload->stage, UINT64_MAX / 2);
    run_release();
    return end;
}

/* Redirects stdout to the file, unless it is "-". */
static bool
open_output(const char *path)
{
    if (strcmp(path, "-") == 0) {
        return true;
    }
    if (freopen(path, "w", stdout) == NULL) {
        fprintf(stderr, "lawn-bench: cannot write %s: %s\n", path,
                strerror(errno));
        return false;
    }
    output_open();
    return true;
}

/* Writes the unit, and how to reproduce this trace. */
static void
put_head(const struct cell *cell)
{
    const struct workload *workload = cell->workload;
    trace_write_head(workload->tick != NULL ? workload->tick : "ms");
    printf("# workload %s %s, n %" PRIu64, workload->name, workload->title,
           cell->n);
    if (workload->uses_t) {
        printf(", t %" PRIu64, cell->t);
    }
    printf(", seed %" PRIu64 "\n# %s\n# %s\n", cell->seed, workload->imitates,
           workload->parameters);
}

/* Finds the selected cell. Returns false after printing an error message if
 * there are several cells or none. */
static bool
choose_cell(const struct bench_options *options, struct cell *cell)
{
    struct bench_choice choice = {.contender_count = 0};
    struct bench_options one = *options;
    one.contenders = lawn_contender.name;
    one.workloads = one.workloads != NULL ? one.workloads : "W5";
    one.n = one.n != NULL ? one.n : "10k";
    one.t = one.t != NULL ? one.t : "20";
    if (!bench_choose(&one, &choice)) {
        return false;
    }
    bool single = choice.cell_count == 1;
    *cell = choice.cells[0];
    free(choice.cells);
    if (!single) {
        fputs("lawn-bench: --record: more than one cell; select one workload, "
              "one --n and one --t\n",
              stderr);
    }
    return single;
}

int
record_run(const struct bench_options *options)
{
    struct cell cell;
    if (!choose_cell(options, &cell)) {
        return VERBS_USAGE;
    }
    if (!open_output(options->record)) {
        return VERBS_OUTPUT;
    }
    put_head(&cell);
    if (play(&cell) == RUN_MEMORY) {
        fprintf(stderr, "lawn-bench: --record: out of memory for %s timers\n",
                text_count(cell.n).s);
        return VERBS_FAILED;
    }
    return VERBS_OK;
}
