/* bench.c - the options of lawn-bench, and the steps that they select. */
#include "bench.h"
#include "agree.h"
#include "build.h"
#include "completion.h"
#include "crew_agree.h"
#include "gate.h"
#include "host_agree.h"
#include "loop.h"
#include "options.h"
#include "print.h"
#include "record.h"
#include "replay.h"
#include "store_agree.h"
#include "verbs.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_RUNS 5u
#define BENCH_QUICK_RUNS 3u
#define BENCH_QUICK_LIMIT UINT64_C(200000000)
#define BENCH_CROWD                                                            \
    50000u                   /* from this number of timers on, contenders
                                are also checked with crowds */
#define BENCH_COUNT_N 10000u /* timers for counting instructions */

static const struct options_spec bench_specs[] = {
    {.name = "quick",
     .help = "measure a small part, in under a minute",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, quick)},
    {.name = "gate",
     .help = "check the performance limits B1 to B10 of lawn-bench(1); exit "
             "with status 1 if one is not met or cannot be measured",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, gate)},
    {.name = "store",
     .help = "measure stores (timers by id, with payload), which have their "
             "own contenders and workloads",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, store)},
    {.name = "workers",
     .help = "measure timers of several threads, with their own contenders and "
             "workloads",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, workers)},
    {.name = "adapters",
     .help = "measure timers of event loops, and lawn adapters in them, with "
             "their own contenders and workloads",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, adapters)},
    {.name = "tails",
     .help = "measure the slowest single calls, and how many timers and index "
             "entries they process; has other defaults, see lawn-bench(1)",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, tails)},
    {.name = "workload",
     .value = "LIST",
     .help = "workloads by name or title, such as W1,churn (default all)",
     .accepts = "a list of workloads",
     .parse = options_text,
     .offset = offsetof(struct bench_options, workloads)},
    {.name = "contender",
     .value = "LIST",
     .help = "contenders, such as lawn,heap4 (default all)",
     .accepts = "a list of contenders",
     .parse = options_text,
     .offset = offsetof(struct bench_options, contenders)},
    {.name = "n",
     .value = "LIST",
     .help = "numbers of timers (default 1k,10k,100k,1M,10M; for stores "
             "10k,100k,1M; for workers and adapters 1k,100k)",
     .accepts = "a list of numbers",
     .parse = options_text,
     .offset = offsetof(struct bench_options, n)},
    {.name = "t",
     .value = "LIST",
     .help = "numbers of TTLs; N means as many as timers (default "
             "1,4,20,100,1k,10k,N)",
     .accepts = "a list of numbers",
     .parse = options_text,
     .offset = offsetof(struct bench_options, t)},
    {.name = "threads",
     .value = "LIST",
     .help = "numbers of threads, with --workers (default 1,2,4)",
     .accepts = "a list of numbers",
     .parse = options_text,
     .offset = offsetof(struct bench_options, threads)},
    {.name = "budget",
     .value = "N",
     .initial = "8",
     .help = "with --tails: budget of each of the calls into which a mow is "
             "divided; 0: one call per mow, with the budget of the workload",
     .accepts = "a number",
     .parse = options_number,
     .max = UINT32_MAX,
     .offset = offsetof(struct bench_options, budget)},
    {.name = "trace",
     .value = "FILE",
     .help = "replay a trace instead of the workloads",
     .accepts = "a file name",
     .parse = options_text,
     .offset = offsetof(struct bench_options, trace)},
    {.name = "record",
     .value = "FILE",
     .help = "do not measure; write the timers of one workload as a trace to "
             "FILE; - is standard output",
     .accepts = "a file name",
     .parse = options_text,
     .offset = offsetof(struct bench_options, record)},
    {.name = "runs",
     .value = "N",
     .initial = "0",
     .help = "number of runs of each cell, up to 31; 0 means 5, or 3 with "
             "--quick",
     .accepts = "a number from 0 to 31",
     .parse = options_number,
     .max = RESULTS_RUNS_MAX,
     .offset = offsetof(struct bench_options, runs)},
    {.name = "limit",
     .value = "TIME",
     .initial = "0",
     .help = "time limit of one run; 0 means the defaults of lawn-bench(1)",
     .accepts = "a time from 0 to 1h, such as 10s",
     .parse = options_seconds,
     .max = UINT64_C(3600000000000),
     .offset = offsetof(struct bench_options, limit_ns)},
    {.name = "seed",
     .value = "N",
     .initial = "1",
     .help = "seed of all random numbers",
     .accepts = "a number",
     .parse = options_number,
     .max = UINT64_MAX,
     .offset = offsetof(struct bench_options, seed)},
    {.name = "instructions",
     .help = "also count instructions (requires valgrind)",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, instructions)},
    {.name = "json",
     .help = "print JSON",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, json)},
    {.name = "csv",
     .help = "print CSV",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, csv)},
    {.name = "report",
     .value = "FILE",
     .help = "write an HTML page with charts to FILE",
     .accepts = "a file name",
     .parse = options_text,
     .offset = offsetof(struct bench_options, report)},
    {.name = "from",
     .value = "FILE",
     .help = "do not measure; make the --report from saved JSON",
     .accepts = "a file name",
     .parse = options_text,
     .offset = offsetof(struct bench_options, from)},
    {.name = "svg",
     .value = "FILE",
     .help = "write an SVG chart to FILE: a bar chart or, with several --t or "
             "--n, a chart of the time per operation over the number of TTLs",
     .accepts = "a file name",
     .parse = options_text,
     .offset = offsetof(struct bench_options, svg)},
    {.name = "list",
     .help = "describe contenders and workloads, and exit",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, list)},
    {.name = "loop",
     .value = "WHAT",
     .help =
         "for a profiler: run CONTENDER/OPERATION, such as lawn/start; the "
         "operations start, stop, restart, idle and fire run in a loop; "
         "one more operation, 'last', replays the --trace once, with its final "
         "--n events in the function play_last_block of lawn-bench",
     .accepts = "CONTENDER/OPERATION",
     .parse = options_text,
     .offset = offsetof(struct bench_options, loop)},
    {.name = "completion",
     .value = "SHELL",
     .words = completion_kinds,
     .help = "print a completion script for a shell, or a table of the "
             "options, one per line, for other tools, and exit",
     .parse = options_word,
     .offset = offsetof(struct bench_options, completion)},
    {.name = "version",
     .help = "print the version and exit",
     .parse = options_flag,
     .offset = offsetof(struct bench_options, version)},
    {0},
};

static options_run_fn run_bench;

const struct options_verb bench_verb = {
    .name = "bench",
    .summary = "compare timer schemes and libraries",
    .details = "Runs the same operations on a lawn, on the timer schemes of "
               "the paper\n"
               "\"Timer Lawn\" and on the timers of real libraries, checks "
               "that all of them\n"
               "fire the same timers at the same times, and prints the time "
               "per operation.\n"
               "Measuring all workloads takes hours; --quick, --workload, "
               "--n or --t\n"
               "select a part.\n",
    .example = "lawn bench --workload churn --n 10k --t 20",
    .specs = bench_specs,
    .standalone = true,
    .run = run_bench,
};

/* The first interrupt ends the measurement, the second the process. */
static void
on_interrupt(int signal)
{
    (void)signal;
    run_interrupt();
}

static void
catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};

    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool
bench_agree(const struct bench_choice *choice, uint64_t seed)
{
    bool agree = true;
    bool crowd = false;

    for (size_t i = 0; i < choice->cell_count; i++) {
        crowd = crowd || choice->cells[i].n >= BENCH_CROWD;
    }
    for (size_t i = 0; i < choice->contender_count; i++) {
        const struct contender *contender = choice->contenders[i];

        if (contender_part_of(contender) == PART_STORES) {
            agree =
                store_agree_check(store_of(contender), seed, stderr) && agree;
            continue;
        }
        if (contender_part_of(contender) == PART_CREWS) {
            agree = crew_agree_check(crew_of(contender), seed, stderr) && agree;
            continue;
        }
        if (contender_part_of(contender) == PART_HOSTS) {
            agree = host_agree_check(host_of(contender), stderr) && agree;
            continue;
        }
        agree = agree_check(contender, seed, stderr) && agree;
        agree = (!crowd || agree_check_crowd(contender, seed, stderr)) && agree;
    }
    if (!agree) {
        fputs("lawn-bench: contenders disagree; nothing was measured\n",
              stderr);
    }
    return agree;
}

/* Prints the number of operations. Returns an exit code. */
static int
report_loop(const struct bench_options *options, uint64_t done)
{
    if (done == 0) {
        fprintf(stderr,
                "lawn-bench: --loop %s: given up: out of memory, or too slow\n",
                options->loop);
        return VERBS_FAILED;
    }
    printf("%" PRIu64 "\n", done);
    return VERBS_OK;
}

/* Runs the last --n events of a trace. */
static int
run_loop_last(const struct bench_options *options,
              const struct contender *contender)
{
    struct options_spec range = {.min = 1, .max = 100000000};
    uint64_t events = 1;
    int code = VERBS_USAGE;

    if (options->trace != NULL) {
        code = replay_load("lawn-bench", options->trace);
    } else {
        fputs("lawn-bench: --loop CONTENDER/last requires --trace FILE\n",
              stderr);
    }
    if (code != VERBS_OK) {
        return code;
    }
    range.max = replay_events();
    if (options->n != NULL && !options_count(&range, options->n, &events)) {
        fprintf(stderr,
                "lawn-bench: --n: '%s' is not a number from 1 to %" PRIu64
                ", the number of events in the trace\n",
                options->n, range.max);
        return VERBS_USAGE;
    }
    return report_loop(options, loop_run_last(contender, events));
}

static int
run_loop(const struct bench_options *options)
{
    char name[64];
    size_t length = strcspn(options->loop, "/");
    const char *word = options->loop + length + (options->loop[length] == '/');

    snprintf(name, sizeof(name), "%.*s", (int)length, options->loop);
    const struct contender *contender = contenders_find(name);
    if (contender != NULL && strcmp(word, LOOP_LAST) == 0) {
        return run_loop_last(options, contender);
    }
    unsigned operation = 0;
    while (operation < LOOP_OPERATIONS &&
           strcmp(word, loop_names[operation]) != 0) {
        operation++;
    }
    if (contender == NULL || operation == LOOP_OPERATIONS ||
        options->trace != NULL) {
        fprintf(stderr,
                "lawn-bench: --loop: '%s' is not CONTENDER/OPERATION; "
                "operations are:",
                options->loop);
        for (unsigned i = 0; i < LOOP_OPERATIONS; i++) {
            fprintf(stderr, " %s", loop_names[i]);
        }
        fputs(", and " LOOP_LAST
              " with --trace; for contenders see 'lawn-bench --list'\n",
              stderr);
        return VERBS_USAGE;
    }
    const struct options_spec range = {.min = 1000, .max = 100000000};
    uint64_t n = BENCH_COUNT_N;
    if (options->n != NULL && !options_count(&range, options->n, &n)) {
        fprintf(stderr,
                "lawn-bench: --n: '%s' is not a number of timers from 1k to "
                "100M\n",
                options->n);
        return VERBS_USAGE;
    }
    return report_loop(options,
                       loop_run(contender, (enum loop_operation)operation, n));
}

static void
count_instructions(const struct bench_choice *choice, struct results *results)
{
    results->count = calloc(choice->contender_count, sizeof(*results->count));
    for (size_t i = 0; results->count != NULL && i < choice->contender_count;
         i++) {
        const struct contender *contender = choice->contenders[i];
        struct results_count *count = &results->count[results->counts];
        double *figures[LOOP_OPERATIONS] = {
            [LOOP_START] = &count->start,     [LOOP_STOP] = &count->stop,
            [LOOP_RESTART] = &count->restart, [LOOP_IDLE] = &count->idle,
            [LOOP_FIRE] = &count->fire,
        };
        const char *why = NULL;

        if ((contender->flags & CONTENDER_EXACT) == 0 || run_interrupted()) {
            continue;
        }
        count->contender = contender;
        for (unsigned k = 0; k < LOOP_OPERATIONS; k++) {
            *figures[k] = loop_count(contender, (enum loop_operation)k,
                                     BENCH_COUNT_N, NULL, &why);
        }
        if (why != NULL) {
            fprintf(stderr,
                    "lawn-bench: instructions of %s are incomplete: %s\n",
                    contender->name, why);
        }
        results->counts++;
    }
}

static int
write_output(const struct bench_options *options, const struct results *results)
{
    if (options->json) {
        print_json(stdout, results);
    } else if (options->csv) {
        print_csv(stdout, results);
    } else if (options->tails) {
        print_tails(stdout, results);
    } else {
        print_text(stdout, results);
    }
    if (!results->complete) {
        fputs("lawn-bench: interrupted; the last cell may have fewer runs\n",
              stderr);
    }
    if (!bench_save(options, results)) {
        return VERBS_OUTPUT;
    }
    return results->complete ? VERBS_OK : BENCH_INTERRUPTED;
}

static int
measure_choice(const struct bench_options *options, struct bench_choice *choice)
{
    struct results results = {.seed = options->seed,
                              .runs = (unsigned)options->runs,
                              .part = bench_part(options),
                              .budget =
                                  options->tails ? bench_budget(options) : 0};
    struct measure_plan plan = {
        .contenders = choice->contenders,
        .contender_count = choice->contender_count,
        .cells = choice->cells,
        .cell_count = choice->cell_count,
        .runs = (unsigned)options->runs,
        /* The workloads of crews and hosts measure latencies themselves. */
        .tails = !options->workers && !options->adapters && !options->tails,
        .budget = results.budget,
        .limit_ns = options->limit_ns,
        .progress = bench_progress,
    };

    if (!bench_agree(choice, options->seed)) {
        return VERBS_FAILED;
    }
    bool agrees = measure(&plan, &results);
    bench_progress_end();
    if (options->instructions) {
        count_instructions(choice, &results);
    }
    results.complete = !run_interrupted();
    int code = write_output(options, &results);
    results_free(&results);
    return agrees ? code : VERBS_FAILED;
}

/* Makes one cell whose workload replays the trace. */
static int
choose_trace(const struct bench_options *options, struct bench_choice *choice)
{
    int code = replay_load("lawn-bench", options->trace);

    if (code != VERBS_OK) {
        return code;
    }
    free(choice->cells);
    choice->cells = calloc(1, sizeof(*choice->cells));
    if (choice->cells == NULL) {
        fputs("lawn-bench: out of memory\n", stderr);
        return VERBS_FAILED;
    }
    choice->cells[0] = (struct cell){.workload = &replay_workload,
                                     .n = replay_objects(),
                                     .seed = options->seed};
    choice->cell_count = 1;
    return VERBS_OK;
}

static int
report_again(const struct bench_options *options)
{
    if (options->report != NULL && options->svg == NULL) {
        return bench_save_again(options->from, options->report);
    }
    fputs("lawn-bench: --from requires --report FILE and excludes --svg\n"
          "see 'lawn-bench --help'\n",
          stderr);
    return VERBS_USAGE;
}

void
bench_set_defaults(struct bench_options *options)
{
    if (options->runs == 0) {
        options->runs = options->quick ? BENCH_QUICK_RUNS : BENCH_RUNS;
    }
    if (options->limit_ns == 0 && options->quick) {
        options->limit_ns =
            (bench_part(options) != PART_TIMERS ? 10 : 1) * BENCH_QUICK_LIMIT;
    }
}

/* Returns why options cannot be combined with --tails, or NULL. */
static const char *
find_tails_conflict(const struct bench_options *o)
{
    if (!o->tails) {
        return o->budget != TAILS_BUDGET ? "--budget requires --tails" : NULL;
    }
    if (bench_part(o) != PART_TIMERS || o->quick || o->record != NULL ||
        o->loop != NULL) {
        return "--tails cannot be combined with --store, --workers, "
               "--adapters, "
               "--quick, --record or --loop";
    }
    if (o->csv || o->instructions || o->report != NULL || o->svg != NULL) {
        return "--tails cannot be combined with --csv, --instructions, "
               "--report "
               "or --svg";
    }
    if (o->gate &&
        (o->workloads != NULL || o->contenders != NULL || o->t != NULL)) {
        return "--tails --gate cannot be combined with --workload, --contender "
               "or --t";
    }
    return NULL;
}

/* Returns false, after printing a message, if options cannot be combined. */
static bool
options_fit(const struct bench_options *o)
{
    const char *message = NULL;

    if (o->json && o->csv) {
        message = "--json and --csv cannot be combined";
    } else if (o->gate && o->trace != NULL) {
        message = "--gate and --trace cannot be combined";
    } else if (o->gate && o->quick && (o->store || o->workers)) {
        message = "--gate --quick cannot be combined with --store or --workers";
    } else if (o->gate && (o->json || o->csv || o->instructions)) {
        message =
            "--gate cannot be combined with --json, --csv or --instructions";
    } else if (o->store &&
               (o->trace != NULL || o->t != NULL || o->report != NULL ||
                o->svg != NULL || o->loop != NULL)) {
        message = "--store cannot be combined with --trace, --t, --report, "
                  "--svg or --loop";
    } else if (o->store && o->gate &&
               (o->workloads != NULL ||
                (o->n != NULL && strchr(o->n, ',') != NULL))) {
        message = "--store --gate cannot be combined with --workload or "
                  "several numbers of timers";
    } else if (o->store && o->instructions) {
        message = "--store and --instructions cannot be combined";
    } else if (o->workers && o->store) {
        message = "--workers and --store cannot be combined";
    } else if (o->workers &&
               (o->trace != NULL || o->t != NULL || o->report != NULL ||
                o->svg != NULL || o->loop != NULL || o->instructions)) {
        message = "--workers cannot be combined with --trace, --t, --report, "
                  "--svg, --loop or --instructions";
    } else if (o->workers && o->gate &&
               (o->workloads != NULL || o->threads != NULL)) {
        message =
            "--workers --gate cannot be combined with --workload or --threads";
    } else if (o->adapters && (o->store || o->workers || o->gate)) {
        message =
            "--adapters cannot be combined with --store, --workers or --gate";
    } else if (o->adapters &&
               (o->trace != NULL || o->t != NULL || o->report != NULL ||
                o->svg != NULL || o->loop != NULL || o->instructions)) {
        message = "--adapters cannot be combined with --trace, --t, --report, "
                  "--svg, --loop or --instructions";
    } else if (o->record != NULL &&
               (bench_part(o) != PART_TIMERS || o->gate || o->quick ||
                o->trace != NULL || o->loop != NULL || o->from != NULL)) {
        message = "--record cannot be combined with --store, --workers, "
                  "--adapters, --gate, --quick, --trace, --loop or --from";
    } else if (o->record != NULL &&
               (o->contenders != NULL || o->json || o->csv || o->instructions ||
                o->report != NULL || o->svg != NULL)) {
        message = "--record cannot be combined with --contender, --json, "
                  "--csv, --instructions, --report or --svg";
    } else if (!o->workers && o->threads != NULL) {
        message = "--threads requires --workers";
    } else if (o->trace != NULL &&
               (o->workloads != NULL || (o->n != NULL && o->loop == NULL) ||
                o->t != NULL || o->quick)) {
        message =
            "--trace cannot be combined with --workload, --n, --t or --quick";
    } else {
        message = find_tails_conflict(o);
    }
    if (message != NULL) {
        fprintf(stderr,
                "lawn-bench: %s\n"
                "see 'lawn-bench --help'\n",
                message);
    }
    return message == NULL;
}

/* Prints the version or a completion script. Returns false if neither was
 * requested. */
static bool
print_self(const struct bench_options *options)
{
    static const struct completion_program program = {
        .command = "lawn-bench",
        .stem = "lawn_bench",
        .made_by = "lawn-bench --completion",
        .root = &bench_verb,
    };
    if (options->version) {
        puts("lawn-bench " BUILD_VERSION);
        return true;
    }
    if (options->completion == SIZE_MAX) {
        return false;
    }
    completion_write(&program, options->completion);
    return true;
}

static int
run_bench(const struct options_verb *verb, int argc, char **argv)
{
    struct bench_options options = {0};
    struct bench_choice choice = {.contender_count = 0};
    int code = 0;

    if (!options_read(verb, argc, argv, &options, &code)) {
        return code;
    }
    options.arguments = argv + 1;
    if (print_self(&options)) {
        return VERBS_OK;
    }
    if (!options_fit(&options)) {
        return VERBS_USAGE;
    }
    bench_set_defaults(&options);
    if (options.list) {
        print_list(stdout);
        return VERBS_OK;
    }
    if (options.record != NULL) {
        return record_run(&options);
    }
    if (options.loop != NULL) {
        return run_loop(&options);
    }
    if (options.from != NULL) {
        return report_again(&options);
    }
    if (!bench_choose(&options, &choice)) {
        return VERBS_USAGE;
    }
    catch_interrupt();
    if (!bench_save_can(options.report) || !bench_save_can(options.svg)) {
        code = VERBS_OUTPUT;
    } else if (options.trace != NULL) {
        code = choose_trace(&options, &choice);
    } else {
        code = VERBS_OK;
    }
    if (code == VERBS_OK) {
        code = options.gate ? gate_run(&options, &choice)
                            : measure_choice(&options, &choice);
    }
    free(choice.cells);
    return code;
}
