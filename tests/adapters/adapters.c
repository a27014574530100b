/* adapters.c - tests that every adapter to an event loop must pass.
 *
 * These tests use the real clock. They wait for events, and check by the clock
 * that nothing is early. A single late event proves nothing on a busy machine;
 * an event that is late every time does.
 */
#include "host.h"
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HOUR (3600 * LAWN_LOOP_SECOND)
#define MICROSECOND UINT64_C(1000)

/* A program that hangs has failed. */
#define PATIENCE_SECONDS 600

struct stage {
    void *host;
    struct lawn_loop *loop;
    unsigned fired;
    unsigned wanted; /* stops the host after this number of fires; 0: never */
    uint64_t last;   /* the deadline of the last timer that fired */

    int pipe[2]; /* readable, until it is drained */
    unsigned ready;
    void (*act)(struct stage *stage); /* called when first readable */
    struct lawn_loop_timer *timers;   /* for act */
};

static uint64_t
clock_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * LAWN_LOOP_SECOND + (uint64_t)now.tv_nsec;
}

/* Lets time pass without the host noticing. */
static void
burn(uint64_t ticks)
{
    uint64_t begin = clock_now();

    while (clock_now() - begin < ticks) {
    }
}

static void
stage_begin_with(struct stage *stage, const struct lawn_loop_options *options)
{
    (void)alarm(PATIENCE_SECONDS);
    *stage = (struct stage){.host = host.open(), .pipe = {-1, -1}};
    stage->loop = host.attach(stage->host, options);
    CHECK(stage->loop != NULL);
}

static void
stage_begin(struct stage *stage)
{
    stage_begin_with(stage, NULL);
}

static void
stage_end(struct stage *stage)
{
    CHECK(lawn_loop_check(stage->loop, stderr));
    CHECK(host.detach(stage->loop));
    if (stage->pipe[0] >= 0) {
        (void)close(stage->pipe[0]);
        (void)close(stage->pipe[1]);
    }
    host.close(stage->host);
    (void)alarm(0);
}

static struct lawn_loop_counters
stage_stats(const struct stage *stage)
{
    struct lawn_loop_counters stats;

    lawn_loop_stats(stage->loop, &stats);
    return stats;
}

/* Runs the host until this number of further timers have fired. */
static void
stage_run(struct stage *stage, unsigned fires)
{
    stage->wanted = stage->fired + fires;
    host.run(stage->host);
    CHECK_EQ(stage->fired, stage->wanted);
    stage->wanted = 0;
}

/* Returns whether the host has nothing to do, once it has handled stopped
 * timers. */
static bool
idles(void *context)
{
    unsigned rounds = 0;

    while (host.poll(context)) {
        if (++rounds == 10) {
            return false;
        }
    }
    return true;
}

/* Runs the host until no timers are left. If its run() does not return then, it
 * is polled instead. After `over` nanoseconds, when all wake-ups that were set
 * have passed, it must have nothing to do. */
static void
stage_run_out(struct stage *stage, uint64_t over)
{
    if (host.ends) {
        host.run(stage->host);
        return;
    }
    do {
        (void)host.poll(stage->host);
    } while (lawn_loop_count(stage->loop) > 0);
    uint64_t turns = stage_stats(stage).turns;
    burn(over);
    CHECK(idles(stage->host));
    CHECK_EQ(stage_stats(stage).turns, turns);
}

static void
ready(int fd, void *arg)
{
    struct stage *stage = arg;

    CHECK_EQ(fd, stage->pipe[0]);
    if (stage->ready++ == 0 && stage->act != NULL) {
        stage->act(stage);
    }
}

/* Makes the host watch a readable pipe, so that it calls ready() as soon as it
 * runs. The first call calls act, if not NULL. stage->ready counts the
 * calls. */
static void
stage_watch(struct stage *stage, void (*act)(struct stage *))
{
    CHECK_EQ(pipe(stage->pipe), 0);
    CHECK_EQ(write(stage->pipe[1], "x", 1), 1);
    stage->act = act;
    host.watch(stage->host, stage->pipe[0], ready, stage);
}

/* The callback of all timers: checks that none is early or out of order. */
static void
note(const struct lawn_loop_timer *timer, struct stage *stage)
{
    CHECK(lawn_loop_now(stage->loop) >= timer->due);
    CHECK(timer->due >= stage->last);
    stage->last = timer->due;
    if (++stage->fired == stage->wanted) {
        host.stop(stage->host);
    }
}

static void
fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;

    CHECK(loop == stage->loop);
    note(timer, stage);
}

/* The time of a timer's start, to check that it does not fire early. */
struct witness {
    struct lawn_loop_timer timer;
    struct stage *stage;
    uint64_t begin;
    uint64_t ttl;
    uint64_t fired;
};

static void
witness_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct witness *witness = timer->arg;

    witness->fired = clock_now();
    CHECK(witness->fired - witness->begin >= witness->ttl);
    CHECK(loop == witness->stage->loop);
    note(timer, witness->stage);
}

static void
witness_start(struct witness *witness, struct stage *stage, uint64_t ttl)
{
    witness->timer.fire = witness_fire;
    witness->timer.arg = witness;
    witness->stage = stage;
    witness->ttl = ttl;
    witness->begin = clock_now();
    lawn_loop_start(stage->loop, &witness->timer, ttl);
}

/* A delay from 0 to 30 ms, with offsets around milliseconds. */
static uint64_t
some_ttl(unsigned n)
{
    static const uint64_t odd[] = {0, 1, MICROSECOND - 1, 999999, 1, 500000};

    return n / 6 * LAWN_LOOP_MS + odd[n % 6];
}

TEST(a_timer_fires_when_it_is_due_and_not_before)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    for (unsigned i = 0; i < 60; i++) {
        witness_start(&witness, &stage, some_ttl(i));
        stage_run(&stage, 1);
    }
    stage_end(&stage);
}

TEST(timers_of_many_ttls_fire_in_the_order_of_their_deadlines)
{
    enum { COUNT = 180 };
    static struct witness witnesses[COUNT];
    struct stage stage;

    stage_begin(&stage);
    for (unsigned i = 0; i < COUNT; i++) {
        witness_start(&witnesses[i], &stage, some_ttl(i * 77 % COUNT));
    }
    stage_run(&stage, COUNT);
    stage_end(&stage);
}

/* On the busiest machine one in two hundred fires in time; if the adapter is
 * wrong, none. */
TEST(a_timer_is_not_always_late)
{
    struct stage stage;
    struct witness witness = {.begin = 0};
    uint64_t late = LAWN_NEVER;

    stage_begin(&stage);
    for (unsigned i = 0; i < 200 && late > host.grain + LAWN_LOOP_MS; i++) {
        witness_start(&witness, &stage, 2 * LAWN_LOOP_MS + i * MICROSECOND);
        stage_run(&stage, 1);
        late = witness.fired - witness.timer.due;
    }
    CHECK(late <= host.grain + LAWN_LOOP_MS);
    stage_end(&stage);
}

TEST(a_deadline_is_kept_after_long_without_a_reading_of_the_clock)
{
    struct stage stage;
    struct witness witness = {.begin = 0};
    uint64_t late = LAWN_NEVER;

    stage_begin(&stage);
    for (unsigned i = 0; i < 200 && late > host.grain + LAWN_LOOP_MS; i++) {
        witness_start(&witness, &stage, HOUR);
        CHECK(lawn_loop_stop(stage.loop, &witness.timer));
        witness.ttl = 0;
        burn(2 * (host.grain + LAWN_LOOP_MS));
        lawn_loop_start_at(stage.loop, &witness.timer,
                           clock_now() + LAWN_LOOP_MS);
        stage_run(&stage, 1);
        late = witness.fired - witness.timer.due;
    }
    CHECK(late <= host.grain + LAWN_LOOP_MS);
    stage_end(&stage);
}

TEST(no_wake_up_is_for_nothing)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    for (unsigned i = 0; i < 60; i++) {
        (void)host.poll(stage.host); /* the host may read the clock here */
        burn(i * 7 * MICROSECOND);
        witness_start(&witness, &stage, some_ttl(i) / 4);
        stage_run(&stage, 1);
    }
    CHECK(host.early || stage_stats(&stage).idle == 0);
    CHECK(stage_stats(&stage).idle <= 4 * 60);
    stage_end(&stage);
}

TEST(a_host_sleeps_until_the_wake_up)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    witness_start(&witness, &stage, 50 * LAWN_LOOP_MS);
    stage_run(&stage, 1);
    CHECK(stage_stats(&stage).turns <= 5);
    stage_end(&stage);
}

TEST(a_stopped_timer_does_not_fire)
{
    struct stage stage;
    struct lawn_loop_timer a = {.fire = fire, .arg = &stage};
    struct lawn_loop_timer b = {.fire = fire, .arg = &stage};

    stage_begin(&stage);
    lawn_loop_start(stage.loop, &a, LAWN_LOOP_MS);
    lawn_loop_start(stage.loop, &b, 3 * LAWN_LOOP_MS);
    CHECK(lawn_loop_stop(stage.loop, &a));
    stage_run(&stage, 1);
    CHECK(!lawn_loop_pending(&b));
    CHECK(!lawn_loop_stop(stage.loop, &a));
    stage_end(&stage);
}

static void
restart_sooner(struct stage *stage)
{
    host.unwatch(stage->host);
    lawn_loop_start(stage->loop, &stage->timers[0], 2 * LAWN_LOOP_MS);
}

TEST(a_timer_restarted_to_an_earlier_time_wakes_the_host_earlier)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire, .arg = &stage};

    stage_begin(&stage);
    stage.timers = &timer;
    lawn_loop_start(stage.loop, &timer, HOUR);
    stage_watch(&stage, restart_sooner);
    stage_run(&stage, 1);
    CHECK_EQ(stage.ready, 1);
    stage_end(&stage);
}

TEST(a_timer_started_before_a_far_one_wakes_the_host_earlier)
{
    struct stage stage;
    struct lawn_loop_timer far = {.fire = fire, .arg = &stage};
    struct lawn_loop_timer near = {.fire = fire, .arg = &stage};

    stage_begin(&stage);
    stage.timers = &near;
    lawn_loop_start(stage.loop, &far, HOUR);
    stage_watch(&stage, restart_sooner);
    stage_run(&stage, 1);
    CHECK(lawn_loop_pending(&far));
    CHECK(lawn_loop_stop(stage.loop, &far));
    stage_end(&stage);
}

static void
restart_later(struct stage *stage)
{
    host.unwatch(stage->host);
    witness_start((struct witness *)stage->timers, stage, 20 * LAWN_LOOP_MS);
}

TEST(a_timer_restarted_to_a_later_time_fires_then)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    stage.timers = &witness.timer;
    witness_start(&witness, &stage, 5 * LAWN_LOOP_MS);
    stage_watch(&stage, restart_later);
    stage_run(&stage, 1);
    CHECK_EQ(stage_stats(&stage).fires, 1);
    stage_end(&stage);
}

static void
fire_and_stop(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;

    fire(timer, loop);
    host.stop(stage->host);
}

TEST(a_host_that_was_stopped_in_a_callback_runs_again)
{
    enum { COUNT = 40 };
    struct stage stage;

    stage_begin(&stage);
    struct lawn_loop_timer timers[COUNT];
    unsigned i = 0;
    for (i = 0; i < COUNT; i++) {
        timers[i] = (struct lawn_loop_timer){
            .fire = fire_and_stop,
            .arg = &stage,
        };
    }
    for (i = 0; i < COUNT / 2; i++) {
        lawn_loop_start(stage.loop, &timers[i], i * LAWN_LOOP_MS / 2);
    }
    unsigned runs = 0;
    for (runs = 0; stage.fired < COUNT; runs++) {
        unsigned before = stage.fired;

        host.run(stage.host);
        CHECK(stage.fired > before);
        for (; runs == 0 && i < COUNT; i++) { /* these cannot all be due */
            lawn_loop_start(stage.loop, &timers[i], i * LAWN_LOOP_MS / 2);
        }
        burn(LAWN_LOOP_MS); /* so that some are due before it runs again */
    }
    CHECK(runs > 1);
    stage_run_out(&stage, LAWN_LOOP_MS);
    CHECK_EQ(stage.fired, COUNT);
    stage_end(&stage);
}

TEST(a_host_that_has_ended_runs_again)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    for (unsigned i = 0; i < 5; i++) {
        stage_run_out(&stage, 0);
        witness_start(&witness, &stage, i * LAWN_LOOP_MS);
        stage_run_out(&stage, 0);
        CHECK_EQ(stage.fired, i + 1);
    }
    stage_end(&stage);
}

TEST(a_host_without_timers_is_not_kept_alive)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire, .arg = &stage};

    stage_begin(&stage);
    stage_run_out(&stage, 0);
    lawn_loop_start(stage.loop, &timer, 2 * LAWN_LOOP_MS);
    CHECK(lawn_loop_stop(stage.loop, &timer));
    stage_run_out(&stage, 4 * LAWN_LOOP_MS);
    lawn_loop_start(stage.loop, &timer, 0);
    CHECK(lawn_loop_stop(stage.loop, &timer));
    stage_run_out(&stage, 0);
    lawn_loop_start(stage.loop, &timer, HOUR);
    CHECK(lawn_loop_stop(stage.loop, &timer));
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, 0);
    CHECK_EQ(stage_stats(&stage).turns, 0);
    stage_end(&stage);
}

static void
stop_and_unwatch(struct stage *stage)
{
    host.unwatch(stage->host);
    CHECK(lawn_loop_stop(stage->loop, &stage->timers[0]));
    CHECK(lawn_loop_stop(stage->loop, &stage->timers[1]));
}

TEST(a_host_ends_when_a_ready_descriptor_stops_its_last_timer)
{
    struct stage stage;
    struct lawn_loop_timer timers[2] = {{.fire = fire}, {.fire = fire}};

    stage_begin(&stage);
    stage.timers = timers;
    timers[0].arg = timers[1].arg = &stage;
    lawn_loop_start(stage.loop, &timers[0], HOUR);
    lawn_loop_start(stage.loop, &timers[1], 2 * HOUR);
    stage_watch(&stage, stop_and_unwatch);
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, 0);
    stage_end(&stage);
}

static void
stop_the_other(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;

    fire(timer, loop);
    CHECK(lawn_loop_stop(loop, &stage->timers[1]));
}

TEST(a_host_ends_when_another_timer_stops_its_last_timer)
{
    struct stage stage;
    struct lawn_loop_timer timers[2] = {{.fire = stop_the_other},
                                        {.fire = fire}};

    stage_begin(&stage);
    stage.timers = timers;
    timers[0].arg = timers[1].arg = &stage;
    lawn_loop_start(stage.loop, &timers[0], LAWN_LOOP_MS);
    lawn_loop_start(stage.loop, &timers[1], HOUR);
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, 1);
    stage_end(&stage);
}

/* Hosts do not read the clock for each of their callbacks. */
static void
start_after_a_while(struct stage *stage)
{
    host.unwatch(stage->host);
    burn(10 * LAWN_LOOP_MS);
    witness_start((struct witness *)stage->timers, stage, 6 * LAWN_LOOP_MS);
}

TEST(a_timer_started_long_after_the_host_woke_is_not_early)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    stage.timers = &witness.timer;
    stage_watch(&stage, start_after_a_while);
    stage_run(&stage, 1);
    CHECK(host.early || stage_stats(&stage).idle == 0);
    CHECK(stage_stats(&stage).turns <= 5);
    stage_end(&stage);
}

static void
burn_and_start(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;

    (void)loop;
    burn(10 * LAWN_LOOP_MS);
    witness_start((struct witness *)stage->timers, stage, 6 * LAWN_LOOP_MS);
}

TEST(a_timer_started_by_a_slow_callback_is_not_early)
{
    struct stage stage;
    struct witness witness = {.begin = 0};
    struct lawn_loop_timer slow = {.fire = burn_and_start, .arg = &stage};

    stage_begin(&stage);
    stage.timers = &witness.timer;
    lawn_loop_start(stage.loop, &slow, LAWN_LOOP_MS);
    stage_run(&stage, 1);
    CHECK(host.early || stage_stats(&stage).idle == 0);
    CHECK(stage_stats(&stage).turns <= 7);
    stage_end(&stage);
}

TEST(a_timer_started_long_before_the_host_runs_is_not_early)
{
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin(&stage);
    (void)host.poll(stage.host);
    burn(5 * LAWN_LOOP_MS);
    witness_start(&witness, &stage, 4 * LAWN_LOOP_MS);
    burn(2 * LAWN_LOOP_MS);
    stage_run(&stage, 1);
    stage_end(&stage);
}

struct crowd {
    struct stage stage;
    unsigned since;      /* fires since the descriptor was last ready */
    unsigned ready_then; /* how often it had been ready by then */
    unsigned most;
};

static void
crowd_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct crowd *crowd = timer->arg;

    (void)loop;
    if (crowd->ready_then != crowd->stage.ready) {
        crowd->ready_then = crowd->stage.ready;
        crowd->since = 0;
    }
    if (++crowd->since > crowd->most) {
        crowd->most = crowd->since;
    }
    note(timer, &crowd->stage);
}

TEST(ready_descriptors_are_served_while_more_timers_than_the_budget_are_due)
{
    enum { COUNT = 200, BUDGET = 10 };
    const struct lawn_loop_options options = {.budget = BUDGET};
    static struct lawn_loop_timer timers[COUNT];
    struct crowd crowd = {.since = 0};

    stage_begin_with(&crowd.stage, &options);
    stage_watch(&crowd.stage, NULL);
    for (unsigned i = 0; i < COUNT; i++) {
        timers[i].fire = crowd_fire;
        timers[i].arg = &crowd;
        lawn_loop_start(crowd.stage.loop, &timers[i], 0);
    }
    stage_run(&crowd.stage, COUNT);
    CHECK_EQ(stage_stats(&crowd.stage).truncated, COUNT / BUDGET - 1);
    CHECK(crowd.most <= 2 * BUDGET);
    CHECK(crowd.stage.ready >= COUNT / BUDGET / 2 - 1);
    host.unwatch(crowd.stage.host);
    stage_end(&crowd.stage);
}

/* Each round fires one timer. If the host rounded an immediate wake-up up to a
 * millisecond, each round would take that long. */
TEST(timers_left_by_the_budget_fire_without_a_wait)
{
    enum { COUNT = 1000 };
    const struct lawn_loop_options options = {.budget = 1};
    static struct lawn_loop_timer timers[COUNT];
    struct stage stage;
    uint64_t took = LAWN_NEVER;

    stage_begin_with(&stage, &options);
    for (unsigned try = 0; try < 100 && took >= COUNT * LAWN_LOOP_MS / 2;
         try++) {
        uint64_t begin = clock_now();

        for (unsigned i = 0; i < COUNT; i++) {
            timers[i].fire = fire;
            timers[i].arg = &stage;
            lawn_loop_start(stage.loop, &timers[i], 0);
        }
        stage_run(&stage, COUNT);
        took = clock_now() - begin;
    }
    CHECK(took < COUNT * LAWN_LOOP_MS / 2);
    stage_end(&stage);
}

enum { PERIODS = 20 };

struct beat {
    struct lawn_loop_timer timer;
    enum lawn_loop_mode mode;
    uint64_t first;
    uint64_t period;
    uint64_t gone; /* periods, fired or missed */
    uint64_t end;  /* of its last callback */
    unsigned fired;
};

static void
beat_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct beat *beat = timer->arg;
    uint64_t now = clock_now();

    CHECK(now >= timer->due);
    if (beat->mode == LAWN_LOOP_DELAY) {
        CHECK(beat->fired == 0 || now - beat->end >= beat->period);
    } else {
        beat->gone += timer->missed;
        CHECK_EQ(timer->due, beat->first + beat->gone++ * beat->period);
        CHECK(beat->mode == LAWN_LOOP_SKIP || timer->missed == 0);
    }
    if (++beat->fired == PERIODS) {
        CHECK(lawn_loop_stop(loop, timer));
    } else if (beat->fired % 7 == 0) {
        burn(3 * beat->period);
    }
    beat->end = clock_now();
}

TEST(periodic_timers_beat_in_every_mode)
{
    static const enum lawn_loop_mode modes[] = {
        LAWN_LOOP_SKIP, LAWN_LOOP_CATCH_UP, LAWN_LOOP_DELAY};
    struct stage stage;

    stage_begin(&stage);
    struct beat beats[3];
    for (unsigned i = 0; i < 3; i++) {
        beats[i] = (struct beat){
            .timer = {.fire = beat_fire, .arg = &beats[i]},
            .mode = modes[i],
            .period = LAWN_LOOP_MS + i * 100 * MICROSECOND,
        };
        beats[i].first = lawn_loop_update(stage.loop) + beats[i].period;
        lawn_loop_every_at(stage.loop, &beats[i].timer, beats[i].first,
                           beats[i].period, modes[i]);
    }
    stage_run_out(&stage, 4 * LAWN_LOOP_MS);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(beats[i].fired, PERIODS);
    }
    stage_end(&stage);
}

TEST(a_hundred_thousand_timers_fire_once_each_and_in_order)
{
    enum { COUNT = 100000, TTLS = 1000 };
    struct lawn_loop_timer *timers = calloc(COUNT, sizeof(*timers));
    struct stage stage;

    CHECK(timers != NULL);
    stage_begin(&stage);
    for (unsigned i = 0; i < COUNT; i++) {
        timers[i].fire = fire;
        timers[i].arg = &stage;
        lawn_loop_start(stage.loop, &timers[i],
                        i * UINT64_C(7919) % TTLS * 50 * MICROSECOND);
    }
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, COUNT);
    stage_end(&stage);
    free(timers);
}

TEST(a_start_later_than_the_earliest_deadline_does_not_set_the_wake_up)
{
    enum { COUNT = 10000 };
    static struct lawn_loop_timer timers[COUNT];
    struct stage stage;
    struct lawn_loop_timer first = {.fire = fire, .arg = &stage};

    stage_begin(&stage);
    lawn_loop_start(stage.loop, &first, HOUR);
    for (unsigned i = 0; i < COUNT; i++) {
        timers[i].fire = fire;
        timers[i].arg = &stage;
        lawn_loop_start(stage.loop, &timers[i], (2 + i % 100) * HOUR);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        lawn_loop_start(stage.loop, &timers[i], (2 + i % 77) * HOUR);
    }
    lawn_loop_start(stage.loop, &first, 2 * HOUR);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK(lawn_loop_stop(stage.loop, &timers[i]));
    }
    CHECK_EQ(stage_stats(&stage).arms, 1);
    CHECK(lawn_loop_stop(stage.loop, &first));
    CHECK_EQ(stage_stats(&stage).arms, 2);
    stage_run_out(&stage, 0);
    stage_end(&stage);
}

TEST(loops_share_a_host_and_do_not_disturb_each_other)
{
    enum { LOOPS = 5 };
    struct stage stages[LOOPS];
    struct witness witnesses[LOOPS] = {{.begin = 0}};

    stage_begin(&stages[0]);
    for (unsigned i = 1; i < LOOPS; i++) {
        stages[i] = (struct stage){.host = stages[0].host, .pipe = {-1, -1}};
        stages[i].loop = host.attach(stages[0].host, NULL);
        CHECK(stages[i].loop != NULL);
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        witness_start(&witnesses[i], &stages[i], (LOOPS - i) * LAWN_LOOP_MS);
    }
    CHECK(host.detach(stages[1].loop));
    for (unsigned i = 0; i < LOOPS; i++) {
        stages[i].wanted = i != 1; /* whichever is next */
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        while (stages[i].fired < stages[i].wanted) {
            host.run(stages[0].host);
        }
    }
    CHECK_EQ(stages[1].fired, 0);
    for (unsigned i = 2; i < LOOPS; i++) {
        CHECK(host.detach(stages[i].loop));
    }
    stage_end(&stages[0]);
}

TEST(a_loop_that_is_detached_with_timers_leaves_no_wake_up)
{
    static const uint64_t ttls[] = {0, 2 * LAWN_LOOP_MS, HOUR};
    struct stage stage;
    struct lawn_loop_timer timers[3];

    for (unsigned i = 0; i < 3; i++) {
        stage_begin(&stage);
        timers[i] = (struct lawn_loop_timer){.fire = fire, .arg = &stage};
        lawn_loop_start(stage.loop, &timers[i], ttls[i]);
        CHECK(host.detach(stage.loop));
        burn(3 * LAWN_LOOP_MS);
        if (host.ends) {
            host.run(stage.host);
        } else {
            CHECK(idles(stage.host));
        }
        CHECK_EQ(stage.fired, 0);
        host.close(stage.host);
    }
}

static void
detach_another(struct stage *stage)
{
    struct lawn_loop *other = lawn_loop_arm_context(stage->loop) == NULL
                                  ? NULL
                                  : host.attach(stage->host, NULL);

    host.unwatch(stage->host);
    CHECK(other != NULL);
    lawn_loop_start(other, &stage->timers[0], 0);
    CHECK(host.detach(other));
    lawn_loop_start(stage->loop, &stage->timers[1], 2 * LAWN_LOOP_MS);
}

TEST(a_loop_is_made_and_freed_while_the_host_runs)
{
    struct stage stage;
    struct lawn_loop_timer timers[2] = {{.fire = fire}, {.fire = fire}};

    stage_begin(&stage);
    stage.timers = timers;
    timers[0].arg = timers[1].arg = &stage;
    stage_watch(&stage, detach_another);
    stage_run(&stage, 1);
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, 1);
    stage_end(&stage);
}

TEST(a_far_deadline_is_not_near)
{
    static const uint64_t ttls[] = {
        UINT64_C(0x7fffffff) * MICROSECOND,
        UINT64_C(0x100000000) + LAWN_LOOP_MS,
        UINT64_C(0x100000000) * MICROSECOND,
        UINT64_C(0x7fffffff) * LAWN_LOOP_MS,
        UINT64_C(0x80000000) * LAWN_LOOP_MS,
        UINT64_C(0x100000000) * LAWN_LOOP_MS,
        UINT64_C(0x7fffffff) * LAWN_LOOP_SECOND,
        UINT64_C(0x80000000) * LAWN_LOOP_SECOND,
        UINT64_C(0x100000000) * LAWN_LOOP_SECOND,
        (UINT64_C(1) << 48) + LAWN_LOOP_MS,
        (uint64_t)INT64_MAX - 1,
        (uint64_t)INT64_MAX,
        (uint64_t)INT64_MAX + 1,
        LAWN_NEVER - 2 * LAWN_LOOP_MS,
        LAWN_NEVER - 1,
        LAWN_NEVER,
    };
    struct stage stage;
    struct lawn_loop_timer far = {.fire = fire, .arg = &stage};
    struct witness near = {.begin = 0};

    stage_begin(&stage);
    for (unsigned i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++) {
        struct lawn_loop_counters before = stage_stats(&stage);

        lawn_loop_start(stage.loop, &far, ttls[i]);
        for (unsigned n = 0; n < 3; n++) {
            (void)host.poll(stage.host);
            burn(LAWN_LOOP_MS);
        }
        CHECK_EQ(stage_stats(&stage).turns, before.turns);
        witness_start(&near, &stage, LAWN_LOOP_MS);
        stage_run(&stage, 1);
        for (unsigned n = 0; n < 5; n++) {
            (void)host.poll(stage.host);
        }
        CHECK(stage_stats(&stage).turns - before.turns <= 5);
        CHECK(lawn_loop_stop(stage.loop, &far));
    }
    stage_run_out(&stage, 0);
    stage_end(&stage);
}

/* A clock years ahead of the host's, with nanoseconds. */
static uint64_t
another_clock(void *context)
{
    uint64_t *begin = context;

    if (*begin == 0) {
        *begin = clock_now();
    }
    return clock_now() - *begin + 100 * 365 * 24 * HOUR;
}

TEST(a_clock_of_another_origin_is_kept)
{
    uint64_t begin = 0;
    const struct lawn_loop_options options = {.clock = another_clock,
                                              .clock_context = &begin};
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin_with(&stage, &options);
    for (unsigned i = 0; i < 10; i++) {
        witness_start(&witness, &stage, i * LAWN_LOOP_MS);
        stage_run(&stage, 1);
    }
    CHECK(stage_stats(&stage).turns <= 50);
    stage_end(&stage);
}

/* A clock half as fast as the host's, so each wake-up is too early. */
static uint64_t
slow_clock(void *context)
{
    (void)context;
    return clock_now() / 2;
}

TEST(a_wake_up_that_comes_too_early_is_set_again)
{
    const struct lawn_loop_options options = {.clock = slow_clock};
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin_with(&stage, &options);
    witness_start(&witness, &stage, 8 * LAWN_LOOP_MS);
    witness.ttl *= 2;
    stage_run(&stage, 1);
    CHECK(stage_stats(&stage).turns <= 50);
    stage_end(&stage);
}

TEST(the_clock_that_counts_suspended_time_is_kept)
{
    const struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    struct stage stage;
    struct witness witness = {.begin = 0};

    stage_begin_with(&stage, &options);
    for (unsigned i = 0; i < 5; i++) {
        witness_start(&witness, &stage, i * LAWN_LOOP_MS);
        stage_run(&stage, 1);
    }
    stage_end(&stage);
}

static void
fire_and_free(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    fire(timer, loop);
    free(timer);
}

TEST(a_timer_is_freed_in_its_callback)
{
    struct stage stage;

    stage_begin(&stage);
    for (unsigned i = 0; i < 20; i++) {
        struct lawn_loop_timer *timer = calloc(1, sizeof(*timer));

        CHECK(timer != NULL);
        timer->fire = fire_and_free;
        timer->arg = &stage;
        lawn_loop_start(stage.loop, timer, i / 4 * LAWN_LOOP_MS);
    }
    stage_run_out(&stage, 0);
    CHECK_EQ(stage.fired, 20);
    stage_end(&stage);
}

static void
fire_and_free_the_loop(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    fire(timer, loop);
    CHECK(!host.free(loop));
}

TEST(a_loop_is_not_freed_by_a_callback_of_its_own)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_free_the_loop,
                                    .arg = &stage};

    stage_begin(&stage);
    for (unsigned i = 0; i < 2; i++) {
        lawn_loop_start(stage.loop, &timer, LAWN_LOOP_MS);
        stage_run(&stage, 1);
    }
    CHECK_EQ(stage.fired, 2);
    stage_end(&stage);
}

static void
again_at_once(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    const struct crowd *crowd = timer->arg;

    if (crowd->stage.fired < 100) {
        lawn_loop_start(loop, timer, 0);
    }
    crowd_fire(timer, loop);
}

TEST(a_timer_that_starts_itself_at_once_lets_others_in)
{
    struct crowd crowd = {.since = 0};
    struct lawn_loop_timer timer = {.fire = again_at_once, .arg = &crowd};

    stage_begin(&crowd.stage);
    stage_watch(&crowd.stage, NULL);
    lawn_loop_start(crowd.stage.loop, &timer, 0);
    stage_run(&crowd.stage, 101);
    CHECK(crowd.most <= 4);
    host.unwatch(crowd.stage.host);
    stage_end(&crowd.stage);
}

struct poverty {
    unsigned left; /* allocations that succeed */
    unsigned blocks;
};

static void *
poverty_alloc(size_t size, void *context)
{
    struct poverty *poverty = context;
    void *memory = NULL;

    if (poverty->left > 0) {
        poverty->left--;
        memory = malloc(size);
    }
    poverty->blocks += memory != NULL;
    return memory;
}

static void
poverty_release(void *memory, void *context)
{
    struct poverty *poverty = context;

    poverty->blocks -= memory != NULL;
    free(memory);
}

TEST(without_memory_there_is_no_loop_and_the_host_is_as_before)
{
    struct poverty poverty = {.left = 0};
    const struct lawn_loop_options options = {
        .lawn = {.alloc = poverty_alloc,
                 .release = poverty_release,
                 .context = &poverty},
    };
    void *context = host.open();
    struct lawn_loop *loop = NULL;

    (void)alarm(PATIENCE_SECONDS);
    unsigned enough = 0;
    for (enough = 0; loop == NULL && enough < 10; enough++) {
        poverty.left = enough;
        errno = 0;
        loop = host.attach(context, &options);
        if (loop == NULL) {
            CHECK_EQ(errno, ENOMEM);
            CHECK_EQ(poverty.blocks, 0);
            if (host.ends) {
                host.run(context);
            } else {
                CHECK(idles(context));
            }
        }
    }
    CHECK(loop != NULL);
    CHECK(enough > 1);
    CHECK(host.detach(loop));
    CHECK_EQ(poverty.blocks, 0);
    CHECK(host.detach(NULL));
    host.close(context);
    (void)alarm(0);
}

TEST(an_unknown_clock_makes_no_loop)
{
    const struct lawn_loop_options options = {.clock_id =
                                                  (enum lawn_loop_clock)77};
    void *context = host.open();

    errno = 0;
    CHECK(host.attach(context, &options) == NULL);
    CHECK_EQ(errno, EINVAL);
    host.close(context);
}
