/* main.c - walks through the schedules of all scenarios.
 *
 *     explore [OPTIONS] [PART OF A NAME]
 *         --schedules N   number per scenario, in order of cost 0, 1, 2, ...
 *         --random N      in addition, N random schedules per scenario
 *         --seconds S     instead, S seconds for all scenarios together
 *         --cost N        maximum cost
 *         --delays 0      no delayed stores: memory is sequentially consistent
 *         --seed S
 *     explore --replay NAME CHOICES
 *         runs one schedule and prints each operation
 *
 * Ends with "N passed, N failed". */
#include "choose.h"
#include "run.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAIN_MAX 256u

struct walk {
    uint64_t schedules; /* different ones, except random ones */
    uint64_t random;
    unsigned cost; /* all schedules of lower cost have been walked */
    bool complete; /* all schedules have been walked */
    bool failed;
};

static const struct explore_scenario *scenarios[MAIN_MAX];
static unsigned scenario_count;

static uint64_t schedules = 30000;
static uint64_t randoms = 20000;
static double seconds;
static unsigned cost_most = 100;
static uint64_t seed = 1;
static const char *shard = "";

void
explore_add(const struct explore_scenario *scenario)
{
    if (scenario_count == MAIN_MAX) {
        abort();
    }
    scenarios[scenario_count++] = scenario;
}

static double
clock_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool
is_over(uint64_t done, uint64_t most, double end)
{
    return end > 0 ? done % 256 == 0 && clock_now() > end : done >= most;
}

/* Walks all schedules of a cost. Returns false if the time ran out, or one
 * failed, or new steps with a choice became known and the walk must start
 * over. */
static bool
walk_cost(struct walk *walk, double end)
{
    uint64_t before = walk->schedules;

    choose_all(walk->cost);
    do {
        walk->failed = !run_schedule(RUN_WALK);
        walk->schedules += choose_was_new();
        if (walk->failed || is_over(walk->schedules, schedules, end)) {
            return false;
        }
        if (words_learned()) {
            walk->schedules = 0;
            walk->cost = 0;
            return true;
        }
    } while (choose_next(run_steps()));
    walk->complete = walk->schedules == before;
    walk->cost++;
    return true;
}

static void
walk_random(struct walk *walk, uint64_t most, double end)
{
    choose_random(seed);
    while (!walk->failed && !is_over(walk->random, most, end)) {
        walk->failed = !run_schedule(RUN_WALK);
        walk->random++;
        (void)choose_next(run_steps());
    }
}

/* Walks in order until there are enough schedules, or no more. */
static void
walk_in_order(struct walk *walk, double end)
{
    while (walk->cost <= cost_most && !walk->complete && !walk->failed &&
           walk_cost(walk, end)) {
    }
}

/* A random schedule failed: searches for a failing one in order, which is
 * easier to understand; otherwise repeats the random one. */
static void
find_shorter(double end)
{
    struct walk shorter = {.schedules = 0};
    char *choices = strdup(choose_text());

    walk_in_order(&shorter, end);
    if (!shorter.failed && choices != NULL && choose_as_given(choices)) {
        (void)run_schedule(RUN_GIVEN);
    }
    free(choices);
}

/* First at random, to learn which words fibres share, then in order: for half
 * of the time each, if there is a time limit. */
static void
walk_scenario(const struct explore_scenario *scenario, struct walk *walk,
              double share)
{
    double now = clock_now();

    memset(walk, 0, sizeof(*walk));
    if (!run_prepare(scenario)) {
        walk->failed = true;
        return;
    }
    walk_random(walk, randoms, share > 0 ? now + share / 2 : 0);
    (void)words_learned();
    if (walk->failed) {
        find_shorter(share > 0 ? now + share : 0);
    } else {
        walk_in_order(walk, share > 0 ? now + share : 0);
    }
}

/* Returns whether a schedule fails as expected. */
static bool
fails_again(const char *choices)
{
    return choose_as_given(choices) && !run_schedule(RUN_GIVEN);
}

static void
report(const struct explore_scenario *scenario, const struct walk *walk,
       bool good)
{
    char in_order[100] = "";

    if (walk->complete) {
        (void)snprintf(in_order, sizeof(in_order), ", complete");
    } else if (walk->cost > 0) {
        (void)snprintf(in_order, sizeof(in_order), ", all of cost %u",
                       walk->cost - 1);
    }
    printf("%s %s  %llu schedules at random, %llu in order%s%s\n",
           good ? "ok" : "FAILED", scenario->name,
           (unsigned long long)walk->random,
           (unsigned long long)walk->schedules, in_order,
           walk->failed ? "; the last one failed" : "");
}

static bool
test(const struct explore_scenario *scenario, double share, uint64_t *sum)
{
    struct walk walk;
    char why[1000] = "no failure was found";

    walk_scenario(scenario, &walk, share);
    *sum += walk.schedules + walk.random;
    bool good = walk.failed == scenario->broken;
    if (walk.failed) {
        (void)snprintf(why, sizeof(why), "%s", run_message());
        if (!fails_again(choose_text())) {
            good = false;
            printf("  the failure is not reproducible:\n");
        }
    }
    if (!good) {
        printf("  %s\n", why);
    }
    if (!good && walk.failed) {
        printf("  explore --replay %s '%s'\n", scenario->name, choose_text());
    }
    report(scenario, &walk, good);
    return good;
}

static int
test_all(void)
{
    unsigned passed = 0;
    unsigned failures = 0;
    unsigned count = 0;
    uint64_t sum = 0;

    for (unsigned i = 0; i < scenario_count; i++) {
        count += strstr(scenarios[i]->name, shard) != NULL;
    }
    for (unsigned i = 0; i < scenario_count; i++) {
        if (strstr(scenarios[i]->name, shard) == NULL) {
            continue;
        }
        if (test(scenarios[i], seconds / count, &sum)) {
            passed++;
        } else {
            failures++;
        }
    }
    printf("%llu schedules\n", (unsigned long long)sum);
    printf("%u passed, %u failed\n", passed, failures);
    return failures != 0 || passed == 0;
}

static int
replay(const char *name, const char *choices)
{
    unsigned i = 0;

    for (i = 0; i < scenario_count; i++) {
        if (strcmp(scenarios[i]->name, name) == 0) {
            break;
        }
    }
    if (i == scenario_count || !choose_as_given(choices)) {
        (void)fprintf(stderr,
                      "explore: unknown scenario or invalid schedule\n");
        return 2;
    }
    if (!run_prepare(scenarios[i]) || !run_schedule(RUN_TRACE)) {
        printf("%s\n", run_message());
        return 1;
    }
    printf("no failure\n");
    return 0;
}

static int
by_name(const void *a, const void *b)
{
    const struct explore_scenario *const *first = a;
    const struct explore_scenario *const *second = b;

    return strcmp((*first)->name, (*second)->name);
}

static bool
parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (strncmp(argv[i], "--", 2) != 0) {
            shard = argv[i];
            continue;
        }
        if (value == NULL) {
            return false;
        }
        if (strcmp(argv[i], "--schedules") == 0) {
            schedules = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--random") == 0) {
            randoms = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            seconds = strtod(value, NULL);
        } else if (strcmp(argv[i], "--cost") == 0) {
            cost_most = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--delays") == 0) {
            run_without_delays = strcmp(value, "0") == 0;
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(value, NULL, 10);
        } else {
            return false;
        }
        i++;
    }
    return true;
}

int
main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    run_catch_signals();
    qsort(scenarios, scenario_count, sizeof(*scenarios), by_name);
    if (argc == 4 && strcmp(argv[1], "--replay") == 0) {
        return replay(argv[2], argv[3]);
    }
    if (!parse(argc, argv)) {
        (void)fprintf(stderr, "explore: invalid option; see the beginning of "
                              "tests/explore/main.c\n");
        return 2;
    }
    return test_all();
}
