/* trace_gen.c - "lawn trace gen": a workload of the benchmark as a trace.
 *
 * The workload is played on a lawn behind a tap, which tells of each start and
 * stop as it happens; ids are the numbers of the benchmark's objects. Nothing
 * is kept.
 */
#include "contenders/all.h"
#include "options.h"
#include "output.h"
#include "run.h"
#include "tap.h"
#include "text.h"
#include "trace.h"
#include "verbs.h"
#include "workloads.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct trace_gen_options {
    const struct workload *workload;
    uint64_t n;
    uint64_t t;
    uint64_t seed;
    const char *output;
};

static void
trace_gen_note(const struct tap_event *event, void *arg)
{
    char id[24];
    size_t length = sizeof id;
    uint32_t rest = event->id;
    bool good = true;
    const struct run *run = (const struct run *)arg;
    if (run->stage < run->cell->workload->first)
        return; /* what comes before it in the life of a server */
    do {
        id[--length] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (event->kind == TAP_START)
        good = trace_put_start(event->now, id + length, sizeof id - length,
                               event->ttl);
    else if (event->kind == TAP_STOP)
        good = trace_put_stop(event->now, id + length, sizeof id - length);
    if (!good)
        run_interrupt();
}

/* Plays the cell on a lawn, telling trace_gen_note. */
static enum run_end
trace_gen_play(const struct cell *cell)
{
    static struct tap tap;
    static struct run run;
    enum run_end end = run_play(
        &run, cell, tap_wrap(&tap, &lawn_contender, trace_gen_note, &run),
        cell->workload->stage, UINT64_MAX / 2);
    run_release();
    return end;
}

/* Lets stdout be a file, if one is named. */
static bool
trace_gen_open(const char *path)
{
    if (path == NULL)
        return true;
    if (freopen(path, "w", stdout) == NULL) {
        fprintf(stderr, "lawn trace gen: cannot write %s: %s\n", path,
                strerror(errno));
        return false;
    }
    output_open();
    return true;
}

/* Tells the unit, and how to make this trace again. */
static void
trace_gen_put_head(const struct cell *cell)
{
    const struct workload *workload = cell->workload;
    trace_put_head(workload->tick != NULL ? workload->tick : "ms");
    printf("# workload %s %s, n %" PRIu64, workload->name, workload->title,
           cell->n);
    if (workload->uses_t)
        printf(", t %" PRIu64, cell->t);
    printf(", seed %" PRIu64 "\n# %s\n# %s\n", cell->seed, workload->imitates,
           workload->parameters);
}

static int
trace_gen_main(const struct options_verb *verb, int argc, char **argv)
{
    struct trace_gen_options options;
    int code = VERBS_OK;
    if (!options_read(verb, argc, argv, &options, &code))
        return code;
    if (!trace_gen_open(options.output))
        return VERBS_OUTPUT;
    struct cell cell = {
        .workload = options.workload, .n = options.n, .seed = options.seed};
    if (options.workload->uses_t)
        cell.t = options.t < options.n ? options.t : options.n;
    trace_gen_put_head(&cell);
    if (trace_gen_play(&cell) == RUN_MEMORY) {
        fprintf(stderr, "lawn trace gen: not enough memory for %s timers\n",
                text_count(options.n).s);
        return VERBS_FAILED;
    }
    return VERBS_OK;
}

/* A const struct workload *. */
static bool
trace_gen_parse_workload(const struct options_spec *spec, const char *text,
                         void *out)
{
    const struct workload *workload = workloads_find(text, PART_TIMERS);
    (void)spec;
    memcpy(out, &workload, sizeof workload);
    return workload != NULL;
}

static const struct options_spec trace_gen_specs[] = {
    {
        .name = "workload",
        .value = "W",
        .initial = "W5",
        .help = "which: see 'lawn bench --list'",
        .accepts = "a workload: W1 to W9, W10u, W10l, W10b or W11",
        .parse = trace_gen_parse_workload,
        .offset = offsetof(struct trace_gen_options, workload),
    },
    {
        .name = "n",
        .value = "N",
        .initial = "10k",
        .help = "how many timers",
        .accepts = "a count from 1000 to 100M, such as 5000, 250k or 1M",
        .parse = options_count,
        .min = 1000,
        .max = 100000000,
        .offset = offsetof(struct trace_gen_options, n),
    },
    {
        .name = "t",
        .value = "N",
        .initial = "20",
        .help = "how many TTLs; W6 to W11 have their own",
        .accepts = "a count from 1 to 100M, such as 20 or 1k",
        .parse = options_count,
        .min = 1,
        .max = 100000000,
        .offset = offsetof(struct trace_gen_options, t),
    },
    {
        .name = "seed",
        .value = "N",
        .initial = "1",
        .help = "of all random numbers",
        .accepts = "a whole number from 0 to 18446744073709551615",
        .parse = options_number,
        .max = UINT64_MAX,
        .offset = offsetof(struct trace_gen_options, seed),
    },
    {
        .name = "output",
        .value = "FILE",
        .help = "where to write it, instead of standard output",
        .accepts = "the name of a file",
        .parse = options_text,
        .offset = offsetof(struct trace_gen_options, output),
    },
    {.name = NULL},
};

const struct options_verb trace_gen_verb = {
    .name = "trace gen",
    .summary = "make a trace from a workload of the benchmark",
    .details =
        "Plays a workload of 'lawn bench' and writes down which timers it\n"
        "starts and stops, and when. The same options make the same trace.\n",
    .example = "lawn trace gen --workload W4 --n 10k --output churn.trace",
    .specs = trace_gen_specs,
    .run = trace_gen_main,
};
