/* self.c - tests of the simulator: histories of a timer that the judge must
 * reject, and others that it must accept; and a seed gives the same run each
 * time. The mutants show which bugs of the library it finds. */
#include "sim.h"

#include "../explore/run.h"
#include "judge.h"

#include <stdio.h>
#include <string.h>

#define SELF_SEEDS 50

struct self_case {
    const char *name; /* a sentence */
    void (*happens)(void);
    bool possible;
};

static void
start(uint64_t earliest)
{
    judge_return(0, judge_invoke(0, JUDGE_START, earliest), earliest, true);
}

static void
stop(bool result)
{
    judge_return(0, judge_invoke(0, JUDGE_STOP, 0), 0, result);
}

static void
fire(uint64_t due)
{
    judge_fired(0, due);
    judge_callback_over(0);
}

static void
quiet(bool runs, uint64_t by)
{
    const char *why = NULL;

    if (!judge_quiet(0, runs, by, &why)) {
        explore_fail("timer 0 %s", why);
    }
}

static void
start_and_fire(void)
{
    start(10);
    fire(10);
    quiet(false, 100);
}

static void
fire_twice(void)
{
    start_and_fire();
    fire(10);
}

static void
fire_early(void)
{
    start(10);
    fire(9);
}

static void
fire_for_the_start_before(void)
{
    start(10);
    start(20);
    fire(10); /* the callback begins late */
    quiet(false, 0);
}

static void
stop_and_fire(void)
{
    start(10);
    stop(true);
    fire(10);
}

static void
stop_twice(void)
{
    start(10);
    stop(true);
    stop(true);
}

static void
stop_what_runs_in_vain(void)
{
    start(10);
    stop(false);
    quiet(true, 0);
}

/* The timer has fired, and its callback begins later. */
static void
stop_in_vain_and_fire(void)
{
    start(10);
    stop(false);
    fire(10);
    quiet(false, 100);
}

static void
stop_in_vain_within_a_start(void)
{
    start(10);
    unsigned op = judge_invoke(0, JUDGE_START, 20);
    stop(false);
    judge_return(0, op, 20, true);
    quiet(true, 0);
}

static void
two_stops_at_once_return_true(void)
{
    start(10);
    unsigned op = judge_invoke(0, JUDGE_STOP, 0);
    stop(true);
    judge_return(0, op, 0, true);
}

static void
end_without_a_reason(void)
{
    start(10);
    quiet(false, 0);
}

static void
run_for_too_long(void)
{
    start(10);
    quiet(true, 11);
}

/* The set is closed meanwhile. */
static void
end_with_a_start_that_is_refused(void)
{
    unsigned other = judge_invoke(0, JUDGE_START, 5);

    start(10);
    judge_refused(0, other);
    quiet(false, 100);
}

static void
end_by_a_start_that_is_refused(void)
{
    start(10);
    judge_refused(0, judge_invoke(0, JUDGE_START, 5));
    quiet(false, 100);
}

static void
stop_in_vain_of_a_start_that_is_refused(void)
{
    start(10);
    unsigned other = judge_invoke(0, JUDGE_START, 20);
    stop(false);
    judge_refused(0, other);
    quiet(true, 0);
}

static const struct self_case cases[] = {
    {"a_timer_may_start_and_fire", start_and_fire, true},
    {"a_timer_does_not_fire_twice", fire_twice, false},
    {"a_timer_does_not_fire_early", fire_early, false},
    {"a_restart_counts", fire_for_the_start_before, false},
    {"a_stopped_timer_does_not_fire", stop_and_fire, false},
    {"a_timer_is_stopped_once", stop_twice, false},
    {"a_stop_returns_what_it_does", stop_what_runs_in_vain, false},
    {"a_stop_may_come_too_late", stop_in_vain_and_fire, true},
    {"a_start_may_undo_a_stop", stop_in_vain_within_a_start, true},
    {"one_of_two_stops_returns_true", two_stops_at_once_return_true, false},
    {"a_timer_does_not_end_for_no_reason", end_without_a_reason, false},
    {"a_start_that_is_refused_ends_none_that_meets_it",
     end_with_a_start_that_is_refused, false},
    {"a_start_that_is_refused_ends_none_before_it",
     end_by_a_start_that_is_refused, false},
    {"a_start_that_is_refused_undoes_no_stop",
     stop_in_vain_of_a_start_that_is_refused, false},
    {"a_timer_that_is_due_fires", run_for_too_long, false}};

static void (*happens)(void);

static void
set_up(void)
{
    weather_begin();
    world_begin();
}

static void
happen(void)
{
    happens();
}

static bool
test_case(const struct self_case *test)
{
    struct explore_scenario scenario = {
        .name = test->name, .setup = set_up, .threads = {happen}};

    sim_make_plan(1);
    happens = test->happens;
    return (run_prepare(&scenario) && run_schedule(RUN_WALK)) == test->possible;
}

static bool
test_digests(void)
{
    uint64_t digests[SELF_SEEDS];
    bool good = true;

    for (unsigned i = 0; i < SELF_SEEDS; i++) {
        digests[i] = sim_digest(i + 1);
    }
    for (unsigned i = SELF_SEEDS; i-- > 0;) {
        if (sim_digest(i + 1) != digests[i] ||
            (i > 0 && digests[i] == digests[i - 1])) {
            printf("  seed %u\n", i + 1);
            good = false;
        }
    }
    return good;
}

static bool
report(const char *name, bool good)
{
    printf("%s %s\n", good ? "ok" : "FAILED", name);
    return good;
}

int
sim_test_self(void)
{
    unsigned count = sizeof(cases) / sizeof(*cases);
    unsigned passed = 0;

    run_catch_signals();
    for (unsigned i = 0; i < count; i++) {
        passed += report(cases[i].name, test_case(&cases[i]));
    }
    passed += report("a_seed_is_the_same_run_each_time", test_digests());
    printf("%u passed, %u failed\n", passed, count + 1 - passed);
    return passed != count + 1;
}
