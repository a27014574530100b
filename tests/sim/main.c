/* main.c - runs seeds, one after the other, in several processes (jobs).
 *
 *     sim [--seeds N] [--seed S] [--jobs N]
 *         runs N seeds from S on; prints the figures, then "N passed, N failed"
 *     sim --seed S [--without FAULT,...] [--operations N] [--timers N]
 *         [--actors N] [--phases N] [--log N] [--trace 1]
 *         one run, reduced as given; prints the last N lines of its log, or
 *         each operation on a word
 *     sim --self
 *         tests the simulator itself: see self.c
 *
 * A failing seed is reduced: faults, operations, timers, actors and phases are
 * removed as long as it still fails. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "sim.h"

#include "../explore/run.h"
#include "../explore/run_threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAIN_LOG 400
#define MAIN_LINE 120
#define MAIN_FAILURES 5 /* printed by each process */
#define MAIN_JOBS 64

/* The reductions of a run. */
struct reduction {
    unsigned without;
    unsigned operations, timers, actors, phases; /* at most */
};

struct sim_counts sim_counts;
bool sim_logging;

static char lines[MAIN_LOG][MAIN_LINE];
static uint64_t line_count;
static uint64_t digest; /* of the log and of all choices */
static bool digesting;

static struct reduction cut_given = {0, ~0u, ~0u, ~0u, ~0u};
static uint64_t first_seed = 1;
static uint64_t seed_count = 1;
static unsigned jobs = 1;
static unsigned log_lines = 0;
static bool tracing;

void
sim_log(const char *format, ...)
{
    char *line = lines[line_count % MAIN_LOG];

    if (!sim_logging) {
        return;
    }
    int used = snprintf(
        line, MAIN_LINE, "%8llu %6llu %c ", (unsigned long long)weather_time(),
        (unsigned long long)weather_steps,
        explore_me() < EXPLORE_FIBRES ? 'a' + (int)explore_me() : '-');
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line + used, (size_t)(MAIN_LINE - used), format, args);
    va_end(args);
    for (const char *at = line; digesting && *at != '\0'; at++) {
        digest = (digest ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    line_count++;
    if (tracing) {
        printf("%s\n", line);
    }
}

static void
cut_plan(const struct reduction *cut)
{
    struct sim_plan *plan = &sim_plan;

    plan->faults &= ~cut->without;
    plan->operations =
        plan->operations < cut->operations ? plan->operations : cut->operations;
    plan->timers = plan->timers < cut->timers ? plan->timers : cut->timers;
    plan->actors = plan->actors < cut->actors ? plan->actors : cut->actors;
    plan->phases = plan->phases < cut->phases ? plan->phases : cut->phases;
    if (plan->close_phase > plan->phases) {
        plan->close_phase = plan->phases;
    }
    if ((plan->faults >> SIM_CLOSE & 1) == 0) {
        plan->close_phase = 0;
    }
}

static bool
run_seed(uint64_t seed, const struct reduction *cut)
{
    struct explore_scenario scenario = actors_scenario;

    sim_make_plan(seed);
    cut_plan(cut);
    scenario.delays = (sim_plan.faults >> SIM_DELAY & 1) != 0;
    scenario.symmetric = sim_plan.symmetric;
    line_count = 0;
    digest = UINT64_C(0xcbf29ce484222325);
    return run_prepare(&scenario) &&
           run_schedule(tracing ? RUN_SHOW : RUN_WALK);
}

/* Reducing. */

static bool
fails(uint64_t seed, const struct reduction *cut)
{
    struct sim_counts before = sim_counts;
    bool failed = !run_seed(seed, cut);

    sim_counts = before;
    return failed;
}

static void
cut_number(uint64_t seed, struct reduction *cut, unsigned *number,
           unsigned most)
{
    unsigned low = 1;

    while (low < most) {
        unsigned middle = low + (most - low) / 2;

        *number = middle;
        if (fails(seed, cut)) {
            most = middle;
        } else {
            low = middle + 1;
        }
    }
    *number = most;
    if (!fails(seed, cut)) {
        *number = ~0u;
    }
}

static struct reduction
cut_down(uint64_t seed, struct reduction cut)
{
    sim_make_plan(seed);
    for (unsigned i = 0; i < SIM_FAULTS; i++) {
        unsigned without = cut.without;

        sim_make_plan(seed);
        cut.without |= 1u << i;
        if ((sim_plan.faults >> i & 1) == 0 || !fails(seed, &cut)) {
            cut.without = without;
        }
    }
    sim_make_plan(seed);
    cut_plan(&cut);
    cut_number(seed, &cut, &cut.phases, sim_plan.phases);
    sim_make_plan(seed);
    cut_plan(&cut);
    cut_number(seed, &cut, &cut.actors, sim_plan.actors);
    sim_make_plan(seed);
    cut_plan(&cut);
    cut_number(seed, &cut, &cut.operations, sim_plan.operations);
    sim_make_plan(seed);
    cut_plan(&cut);
    cut_number(seed, &cut, &cut.timers, sim_plan.timers);
    return cut;
}

/* Printing. */

static void
print_log(void)
{
    uint64_t from = line_count > log_lines ? line_count - log_lines : 0;

    if (line_count - from > MAIN_LOG) {
        from = line_count - MAIN_LOG;
    }
    for (; from < line_count; from++) {
        printf("  %s\n", lines[from % MAIN_LOG]);
    }
}

static void
print_number(const char *name, unsigned number)
{
    if (number != ~0u) {
        printf(" --%s %u", name, number);
    }
}

static void
print_command(uint64_t seed, const struct reduction *cut)
{
    const char *between = " --without ";

    printf("  build/sim/sim --seed %llu", (unsigned long long)seed);
    for (unsigned i = 0; i < SIM_FAULTS; i++) {
        if ((cut->without >> i & 1) != 0) {
            printf("%s%s", between, sim_fault_names[i]);
            between = ",";
        }
    }
    print_number("operations", cut->operations);
    print_number("timers", cut->timers);
    print_number("actors", cut->actors);
    print_number("phases", cut->phases);
    printf(" --log 40\n");
}

/* Reduces the seed and runs it once more with a log. */
static void
print_failure(uint64_t seed)
{
    struct reduction cut;

    printf("FAILED seed %llu: %s\n", (unsigned long long)seed, run_message());
    (void)fflush(stdout);
    cut = cut_down(seed, cut_given);
    sim_logging = true;
    log_lines = 40;
    if (!fails(seed, &cut)) {
        printf("  the failure is not reproducible\n");
    }
    print_log();
    sim_logging = false;
    printf("  %s\n", run_message());
    print_command(seed, &cut);
    (void)fflush(stdout);
}

static void
add_counts(struct sim_counts *to, const struct sim_counts *from)
{
    uint64_t *sums = (uint64_t *)(void *)to;
    const uint64_t *more = (const uint64_t *)(const void *)from;

    for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++) {
        sums[i] += more[i];
    }
}

static void
print_counts(const struct sim_counts *counts, double seconds)
{
    printf("counted %llu seeds, %llu choices, %llu operations, %llu starts, "
           "%llu fires, %llu stops, %llu left, %llu frees, %llu not judged, "
           "%.0f s\n",
           (unsigned long long)counts->seeds,
           (unsigned long long)counts->choices,
           (unsigned long long)counts->operations,
           (unsigned long long)counts->starts,
           (unsigned long long)counts->fires, (unsigned long long)counts->stops,
           (unsigned long long)counts->left, (unsigned long long)counts->frees,
           (unsigned long long)counts->lost, seconds);
    printf("counted faults:");
    for (unsigned i = 0; i < SIM_FAULTS; i++) {
        printf("%s %llu %s", i > 0 ? "," : "",
               (unsigned long long)counts->faults[i], sim_fault_names[i]);
    }
    printf("\n%llu passed, %llu failed\n",
           (unsigned long long)(counts->seeds - counts->failed),
           (unsigned long long)counts->failed);
}

/* Seeds. */

static void
run_share(unsigned job)
{
    run_catch_signals();
    for (uint64_t i = job; i < seed_count; i += jobs) {
        bool good = run_seed(first_seed + i, &cut_given);

        sim_counts.seeds++;
        if (!good && ++sim_counts.failed <= MAIN_FAILURES) {
            print_failure(first_seed + i);
        }
    }
}

static double
clock_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
run_seeds(void)
{
    struct sim_counts *shares =
        mmap(NULL, MAIN_JOBS * sizeof(*shares), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sim_counts all = {0};
    double began = clock_now();
    unsigned broken = 0;

    if (shares == MAP_FAILED) {
        perror("sim");
        return 2;
    }
    for (unsigned i = 0; i < jobs; i++) {
        if (fork() == 0) {
            run_share(i);
            shares[i] = sim_counts;
            (void)fflush(stdout);
            _exit(0);
        }
    }
    int status = 0;
    while (wait(&status) > 0) {
        broken += status != 0;
    }
    for (unsigned i = 0; i < jobs; i++) {
        add_counts(&all, &shares[i]);
    }
    if (broken != 0) {
        printf("FAILED %u of %u processes\n", broken, jobs);
        all.seeds += broken;
        all.failed += broken;
    }
    print_counts(&all, clock_now() - began);
    return all.failed != 0 || all.seeds == 0;
}

uint64_t
sim_digest(uint64_t seed)
{
    sim_logging = true;
    digesting = true;
    (void)run_seed(seed, &cut_given);
    return digest;
}

/* Runs one seed with its log. */
static int
run_one(void)
{
    run_catch_signals();
    sim_logging = true;
    digesting = true;
    bool good = run_seed(first_seed, &cut_given);
    print_log();
    printf("%s\nseed %llu, %llu choices, digest %016llx\n",
           good ? "no failure" : run_message(), (unsigned long long)first_seed,
           (unsigned long long)sim_counts.choices, (unsigned long long)digest);
    return !good;
}

static bool
parse_without(const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, ",");
        unsigned i = 0;

        while (i < SIM_FAULTS &&
               (strlen(sim_fault_names[i]) != size ||
                strncmp(sim_fault_names[i], text, size) != 0)) {
            i++;
        }
        if (i == SIM_FAULTS) {
            return false;
        }
        cut_given.without |= 1u << i;
        text += size + (text[size] == ',');
    }
    return true;
}

static bool
parse_option(const char *name, const char *value)
{
    struct {
        const char *name;
        unsigned *number;
    } numbers[] = {{"--operations", &cut_given.operations},
                   {"--timers", &cut_given.timers},
                   {"--actors", &cut_given.actors},
                   {"--phases", &cut_given.phases},
                   {"--jobs", &jobs},
                   {"--log", &log_lines}};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].number = (unsigned)strtoul(value, NULL, 10);
            return true;
        }
    }
    if (strcmp(name, "--seed") == 0) {
        first_seed = strtoull(value, NULL, 10);
    } else if (strcmp(name, "--seeds") == 0) {
        seed_count = strtoull(value, NULL, 10);
    } else if (strcmp(name, "--trace") == 0) {
        tracing = strcmp(value, "0") != 0;
    } else if (strcmp(name, "--without") == 0) {
        return parse_without(value);
    } else {
        return false;
    }
    return true;
}

int
main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--self") == 0) {
        return sim_test_self();
    }
    int i = 0;
    for (i = 1; i + 1 < argc && parse_option(argv[i], argv[i + 1]); i += 2) {
    }
    if (i != argc || jobs == 0 || jobs > MAIN_JOBS || cut_given.timers == 0 ||
        cut_given.phases == 0) {
        (void)fprintf(
            stderr,
            "sim: invalid option; see the beginning of tests/sim/main.c\n");
        return 2;
    }
    return seed_count == 1 ? run_one() : run_seeds();
}
