/* tails.c - how single calls are timed, on a clock that the test sets. */
#include "stopwatch.h"

static uint64_t read_cycles(void);

#define stopwatch_read read_cycles
#include "../../bench/tails.c" /* NOLINT(bugprone-suspicious-include) */

#include "kit.h"

#define CALLS 3u
#define RUNS 3u
#define READ 1000000u /* cycles between two readings of the clock */

static uint64_t cycles;      /* the time of the stopwatch */
static uint64_t took[CALLS]; /* by the calls of a run */
static uint64_t next_call;
static uint64_t pause;    /* of the machine, in cycles */
static unsigned readings; /* until the pause; 0: none */
static uint64_t turns;    /* of the spinner, before the last call of a run */

static uint64_t
read_cycles(void)
{
    if (readings > 0 && --readings == 0) {
        cycles += pause;
    }
    return cycles += READ;
}

/* What tails.c needs from run.c and stopwatch.c. */

uint64_t
run_clock(void)
{
    return cycles;
}

bool
run_interrupted(void)
{
    return false;
}

void
stopwatch_calibrate(void)
{
}

uint64_t
stopwatch_cost(void)
{
    return READ;
}

static void
ignore_fire(struct object *object, void *arg)
{
    (void)object;
    (void)arg;
}

enum run_end
run_play(struct run *run, const struct cell *cell,
         const struct contender *contender, unsigned last_stage,
         uint64_t limit_ns)
{
    (void)limit_ns;
    run->cell = cell;
    run->stage = last_stage;
    run->watching = true;
    for (next_call = 0; next_call < CALLS;) {
        (void)contender->mow(NULL, run->now, SIZE_MAX, ignore_fire, NULL);
    }
    return run->end = RUN_OK;
}

/* The mow of a contender: takes as long as the test set. */
static size_t
slow_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    (void)self;
    (void)now;
    (void)budget;
    (void)fire;
    (void)arg;
    cycles += took[next_call++];
    turns = watch.spun;
    return 0;
}

/* Runs one cell: a run that counts, and timed runs. */
static struct tails
measure_calls(void)
{
    static const struct contender slow = {.mow = slow_mow};
    static const struct workload workload = {.name = "W4"};
    const struct cell cell = {.workload = &workload, .n = 1};
    struct tails tails = {0};

    for (unsigned round = 0; round <= RUNS; round++) {
        struct run run = {.end = RUN_OK};

        CHECK_EQ(tails_play(&tails, &run, &cell, &slow, SIZE_MAX, round, RUNS,
                            UINT64_MAX),
                 RUN_OK);
        CHECK(!run.wrong);
    }
    CHECK_EQ(tails.calls, CALLS);
    tails_end(&tails, RUNS);
    return tails;
}

TEST(the_spinner_sees_a_pause_that_is_shorter_than_the_call)
{
    took[0] = took[1] = took[2] = 100 * TAILS_TURN;
    pause = 50 * TAILS_TURN;
    /* Six by the calls of the run that counts, two by a timed call; then the
     * spinner reads the time at its start, and again. */
    readings = 2 * CALLS + 2 + 2;
    struct tails tails = measure_calls();
    CHECK_EQ(tails.spinner.max, pause);
    CHECK_EQ(tails.any.max, took[0]);
    CHECK_EQ(tails.paused.count, RUNS * CALLS);
}

TEST(the_spinner_takes_turns_with_the_calls)
{
    took[0] = took[1] = took[2] = TAILS_TURN + 1;
    (void)measure_calls();
    CHECK_EQ(turns, CALLS - 1);
    took[0] = took[1] = took[2] = TAILS_TURN / CALLS;
    (void)measure_calls();
    CHECK_EQ(turns, 0);
}

TEST(a_call_longer_than_2_to_the_32_cycles_is_reported_with_its_length)
{
    took[0] = 1;
    took[1] = UINT64_C(7000000000);
    took[2] = UINT64_C(5000000000);
    struct tails tails = measure_calls();
    CHECK_EQ(tails.cycles.max, UINT64_C(7000000000));
    CHECK_EQ(tails.any.max, UINT64_C(7000000000));
    CHECK(tails.cycles.p50 >= UINT64_C(5000000000));
}
