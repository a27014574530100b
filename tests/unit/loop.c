/* loop.c - a loop whose clock and host belong to the test. */
#include "loop_common.h"

#include <errno.h>
#include <lawn_loop.h>
#include <stdlib.h>

static const enum lawn_loop_mode modes[] = {LAWN_LOOP_SKIP, LAWN_LOOP_CATCH_UP,
                                            LAWN_LOOP_DELAY};

/* Actions of callbacks. */

static void
take_ten(struct bench *bench, struct lawn_loop_timer *timer)
{
    (void)timer;
    bench->clock += 10;
}

static void
stop_itself(struct bench *bench, struct lawn_loop_timer *timer)
{
    CHECK(lawn_loop_pending(timer)); /* for its next fire */
    CHECK(lawn_loop_stop(bench->loop, timer));
    timer->fire = NULL; /* simulates free() */
}

static void
take_ten_and_stop_itself(struct bench *bench, struct lawn_loop_timer *timer)
{
    take_ten(bench, timer);
    stop_itself(bench, timer);
}

static void
start_itself_once(struct bench *bench, struct lawn_loop_timer *timer)
{
    bench->clock += 10;
    lawn_loop_start(bench->loop, timer, 5);
}

static void
start_1_and_stop_2(struct bench *bench, struct lawn_loop_timer *timer)
{
    if (timer == &bench->timer[0]) {
        lawn_loop_start(bench->loop, &bench->timer[1], 5);
        CHECK(lawn_loop_stop(bench->loop, &bench->timer[2]));
    }
}

static void
misuse(struct bench *bench, struct lawn_loop_timer *timer)
{
    (void)timer;
    CHECK_EQ(lawn_loop_turn(bench->loop), LAWN_NEVER);
    CHECK_EQ(lawn_loop_woken(bench->loop), LAWN_NEVER);
    CHECK_EQ(lawn_loop_run(bench->loop), (uint64_t)-EDEADLK);
    CHECK_EQ(lawn_loop_once(bench->loop, false), (uint64_t)-EDEADLK);
    CHECK(!lawn_loop_free(bench->loop));
}

TEST(a_loop_fires_a_timer_once_when_it_is_due)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    CHECK(lawn_loop_pending(&bench.timer[0]));
    CHECK_EQ(turn_at(&bench, 1029), 1030);
    CHECK_NONE_RANG(&bench);
    CHECK_EQ(turn_at(&bench, 1030), LAWN_NEVER);
    CHECK_EQ(bench.due[0], 1030);
    CHECK_RANG(&bench, 0);
    CHECK(!lawn_loop_pending(&bench.timer[0]));
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), LAWN_NEVER);
    CHECK_EQ(turn_at(&bench, 2000), LAWN_NEVER);
    CHECK_NONE_RANG(&bench);
    bench_end(&bench);
}

/* libuv, libev: a TTL counts from the wake-up of the loop and is too short. */
TEST(a_ttl_counts_from_the_clock_and_not_from_the_last_turn)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    (void)turn_at(&bench, 1000);
    bench.clock = 5000;
    CHECK_EQ(lawn_loop_now(bench.loop), 1000);
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    CHECK_EQ(lawn_loop_next(bench.loop), 5030);
    bench.clock = 6000;
    lawn_loop_every(bench.loop, &bench.timer[1], 40, LAWN_LOOP_DELAY);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[1]), 6040);
    bench.clock = 7000;
    lawn_loop_start_at(bench.loop, &bench.timer[2], 6500);
    CHECK_EQ(lawn_loop_now(bench.loop), 6000); /* not read from the clock */
    CHECK_EQ(lawn_loop_update(bench.loop), 7000);
    bench_end(&bench);
}

TEST(a_ttl_in_a_slow_callback_counts_from_the_clock_too)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = start_itself_once;
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    CHECK_EQ(turn_at(&bench, 1030), 1045);
    bench_end(&bench);
}

TEST(timers_may_be_started_and_stopped_in_callbacks_of_a_loop)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = start_1_and_stop_2;
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    lawn_loop_start(bench.loop, &bench.timer[2], 30);
    CHECK_EQ(turn_at(&bench, 1030), 1035);
    CHECK_RANG(&bench, 0);
    CHECK_EQ(turn_at(&bench, 1040), LAWN_NEVER);
    CHECK_RANG(&bench, 1);
    bench_end(&bench);
}

TEST(calls_that_a_callback_of_a_loop_must_not_make_do_nothing)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = misuse;
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    CHECK_EQ(turn_at(&bench, 1030), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* [L4] libuv#1381, #2259: a repeated timer drifts. */
TEST(a_fixed_rate_does_not_drift_however_late_it_is)
{
    struct bench bench;
    uint64_t state = 1;
    uint64_t due = 1000;

    bench_begin(&bench, NULL);
    lawn_loop_every(bench.loop, &bench.timer[0], 100, LAWN_LOOP_SKIP);
    lawn_loop_every(bench.loop, &bench.timer[1], 100, LAWN_LOOP_CATCH_UP);
    for (unsigned i = 0; i < 500; i++) {
        due += 100;
        (void)turn_at(&bench, due + chance(&state) % 99);
        CHECK_EQ(bench.due[0], due);
        CHECK_EQ(bench.due[1], due);
        CHECK_EQ(bench.missed[0], 0);
        CHECK_RANG(&bench, 0, 1);
    }
    bench_end(&bench);
}

/* [L5] */
TEST(skipping_fires_once_for_all_missed_periods_and_counts_them)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_every(bench.loop, &bench.timer[0], 100, LAWN_LOOP_SKIP);
    CHECK_EQ(turn_at(&bench, 1000 + 100 * 7 + 30), 1800);
    CHECK_EQ(bench.missed[0], 6);
    CHECK_EQ(bench.due[0], 1700);
    CHECK_RANG(&bench, 0);
    CHECK_EQ(turn_at(&bench, 1800), 1900);
    CHECK_EQ(bench.missed[0], 0);
    CHECK_RANG(&bench, 0);
    struct lawn_loop_counters stats;
    lawn_loop_stats(bench.loop, &stats);
    CHECK_EQ(stats.missed, 6);
    /* Lateness counts from the first missed period [L8]. */
    CHECK_EQ(lawn_loop_lateness(bench.loop)->max, 630);
    bench_end(&bench);
}

TEST(more_missed_periods_than_can_be_counted_are_as_many_as_can)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_every(bench.loop, &bench.timer[0], 1, LAWN_LOOP_SKIP);
    CHECK_EQ(turn_at(&bench, UINT64_C(1) << 40), (UINT64_C(1) << 40) + 1);
    CHECK_EQ(bench.missed[0], UINT32_MAX);
    CHECK_EQ(bench.due[0], UINT64_C(1) << 40);
    bench_end(&bench);
}

/* [L5] */
TEST(catching_up_fires_every_period_one_in_a_turn)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_every(bench.loop, &bench.timer[0], 100, LAWN_LOOP_CATCH_UP);
    for (unsigned i = 1; i <= 7; i++) {
        CHECK(turn_at(&bench, 1730) <= 1730 || i == 7);
        CHECK_EQ(bench.due[0], 1000 + 100 * i);
        CHECK_EQ(bench.missed[0], 0);
        CHECK_RANG(&bench, 0);
        CHECK(bench.armed <= 1730 || i == 7);
    }
    CHECK_EQ(turn_at(&bench, 1730), 1800);
    CHECK_NONE_RANG(&bench);
    bench_end(&bench);
}

/* [L5] The clock is as coarse as the period, or moved by a test. */
TEST(catching_up_continues_while_the_clock_does_not_move)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    unsigned i = 0;
    for (i = 0; i < BENCH_TIMERS; i++) {
        lawn_loop_every(bench.loop, &bench.timer[i], 1, LAWN_LOOP_CATCH_UP);
    }
    for (uint64_t now = 1050; now < 1053; now++) {
        for (i = 0; i < 200 && turn_at(&bench, now) <= now; i++) {
        }
        CHECK(i < 200);
    }
    CHECK_EQ(bench.fired, BENCH_TIMERS * 52); /* in groups of 16 */
    bench_end(&bench);
}

/* [L3] Otherwise a slow job that lags behind would delay all others forever. */
TEST(timers_left_by_the_budget_fire_before_those_that_catch_up)
{
    struct bench bench;
    struct lawn_loop_options options = {.budget = 1};

    bench_begin(&bench, &options);
    lawn_loop_every(bench.loop, &bench.timer[0], 10, LAWN_LOOP_CATCH_UP);
    lawn_loop_start(bench.loop, &bench.timer[1], 300);
    (void)turn_at(&bench, 1400);
    (void)turn_at(&bench, 1400);
    (void)turn_at(&bench, 1400);
    CHECK_RANG(&bench, 0, 1, 0);
    struct lawn_loop_counters stats;
    lawn_loop_stats(bench.loop, &stats);
    CHECK_EQ(stats.truncated, 2); /* one from catching up in the second turn */
    bench_end(&bench);
}

/* [P4] */
TEST(timers_catch_up_in_their_order)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    for (unsigned i = 0; i < 4; i++) {
        lawn_loop_every_at(bench.loop, &bench.timer[i], 1010 + i, 10,
                           LAWN_LOOP_CATCH_UP);
    }
    for (unsigned i = 0; i < 5; i++) {
        (void)turn_at(&bench, 1500);
        CHECK_RANG(&bench, 0, 1, 2, 3);
    }
    bench_end(&bench);
}

static void
stop_0_and_restart_1(struct bench *bench, struct lawn_loop_timer *timer)
{
    if (timer == &bench->timer[2]) {
        CHECK(lawn_loop_stop(bench->loop, &bench->timer[0]));
        lawn_loop_start(bench->loop, &bench->timer[1], 100);
    }
}

TEST(a_timer_catching_up_may_be_stopped_and_restarted_in_the_same_turn)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = stop_0_and_restart_1;
    for (unsigned i = 0; i < 3; i++) {
        lawn_loop_every(bench.loop, &bench.timer[i], 10, LAWN_LOOP_CATCH_UP);
    }
    CHECK(turn_at(&bench, 1050) <= 1050);
    CHECK_RANG(&bench, 0, 1, 2);
    bench.act = NULL;
    for (unsigned i = 0; i < 4; i++) {
        (void)turn_at(&bench, 1050);
        CHECK_RANG(&bench, 2);
    }
    CHECK_EQ(turn_at(&bench, 1050), 1060);
    CHECK(!lawn_loop_pending(&bench.timer[0]));
    CHECK_EQ(lawn_loop_deadline(&bench.timer[1]), 1150);
    bench_end(&bench);
}

/* [L6] */
TEST(a_fixed_delay_counts_from_the_end_of_the_callback)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = take_ten;
    lawn_loop_every(bench.loop, &bench.timer[0], 100, LAWN_LOOP_DELAY);
    CHECK_EQ(turn_at(&bench, 1150), 1260);
    CHECK_EQ(turn_at(&bench, 1260), 1370);
    CHECK_EQ(bench.due[1], 1260);
    CHECK_RANG(&bench, 0, 0);
    bench_end(&bench);
}

TEST(a_fixed_rate_begins_when_it_is_asked_to)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_every_at(bench.loop, &bench.timer[0], 5000, 100, LAWN_LOOP_SKIP);
    lawn_loop_every_at(bench.loop, &bench.timer[1], 5000, 100, LAWN_LOOP_DELAY);
    CHECK_EQ(turn_at(&bench, 4999), 5000);
    CHECK_NONE_RANG(&bench);
    CHECK_EQ(turn_at(&bench, 5010), 5100);
    CHECK_EQ(bench.fired, 2);
    CHECK_EQ(bench.due[0], 5000);
    CHECK_EQ(bench.due[1], 5000);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[1]), 5110);
    bench_end(&bench);
}

/* The schedule started in the past and continues on its grid after a
 * restart. */
TEST(a_fixed_rate_that_began_in_the_past_keeps_its_times)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_every_at(bench.loop, &bench.timer[0], 30, 100, LAWN_LOOP_SKIP);
    lawn_loop_every_at(bench.loop, &bench.timer[1], 830, 100,
                       LAWN_LOOP_CATCH_UP);
    CHECK(bench.armed <= 1000);
    (void)turn_at(&bench, 1000);
    CHECK_EQ(bench.due[0], 930);
    CHECK_EQ(bench.missed[0], 9);
    CHECK_EQ(bench.due[1], 830);
    CHECK_RANG(&bench, 0, 1);
    (void)turn_at(&bench, 1001);
    CHECK_EQ(bench.due[0], 930);
    CHECK_RANG(&bench, 1);
    CHECK_EQ(turn_at(&bench, 1002), 1030);
    bench_end(&bench);
}

TEST(a_period_of_0_counts_as_one_tick)
{
    struct bench bench;

    for (unsigned i = 0; i < COUNT(modes); i++) {
        bench_begin(&bench, NULL);
        lawn_loop_every(bench.loop, &bench.timer[0], 0, modes[i]);
        CHECK_EQ(turn_at(&bench, 1001), 1002);
        CHECK_RANG(&bench, 0);
        lawn_loop_every_at(bench.loop, &bench.timer[0], 0, 0, modes[i]);
        (void)turn_at(&bench, 1002);
        CHECK_RANG(&bench, 0);
        bench_end(&bench);
    }
}

/* [L7] */
TEST(a_periodic_timer_may_stop_itself_and_be_freed_in_its_callback)
{
    struct bench bench;

    for (unsigned i = 0; i < COUNT(modes); i++) {
        bench_begin(&bench, NULL);
        bench.act = take_ten_and_stop_itself;
        lawn_loop_every(bench.loop, &bench.timer[0], 5, modes[i]);
        CHECK_EQ(turn_at(&bench, 1030), LAWN_NEVER);
        CHECK_EQ(turn_at(&bench, 2030), LAWN_NEVER);
        CHECK_RANG(&bench, 0);
        bench_end(&bench);
    }
}

TEST(a_periodic_timer_may_start_itself_again_in_its_callback)
{
    struct bench bench;

    for (unsigned i = 0; i < COUNT(modes); i++) {
        bench_begin(&bench, NULL);
        bench.act = start_itself_once;
        lawn_loop_every(bench.loop, &bench.timer[0], 100, modes[i]);
        CHECK_EQ(turn_at(&bench, 1100), 1115);
        bench.act = NULL;
        CHECK_EQ(turn_at(&bench, 1115), LAWN_NEVER); /* no longer periodic */
        CHECK_RANG(&bench, 0, 0);
        bench_end(&bench);
    }
}

TEST(stop_of_a_loop_returns_whether_the_timer_was_running)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    CHECK(!lawn_loop_stop(bench.loop, &bench.timer[0]));
    lawn_loop_every(bench.loop, &bench.timer[0], 10, LAWN_LOOP_CATCH_UP);
    (void)turn_at(&bench, 1050);
    CHECK_RANG(&bench, 0);
    CHECK(lawn_loop_stop(bench.loop, &bench.timer[0]));
    CHECK(!lawn_loop_stop(bench.loop, &bench.timer[0]));
    (void)turn_at(&bench, 2000);
    CHECK_NONE_RANG(&bench);
    bench_end(&bench);
}

/* [L2] erlang/otp#10681: half of the time was spent setting the system's
 * timer. */
TEST(the_wake_up_is_set_only_when_the_earliest_deadline_moves_earlier)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 100);
    CHECK_EQ(bench.armed, 1100);
    for (unsigned i = 1; i < BENCH_TIMERS;
         i++) { /* starts later ones, and moves them later */
        lawn_loop_start(bench.loop, &bench.timer[i], 100 + i);
        lawn_loop_start(bench.loop, &bench.timer[i], 200);
        CHECK(lawn_loop_stop(bench.loop, &bench.timer[i]));
        lawn_loop_start(bench.loop, &bench.timer[i], 300);
    }
    lawn_loop_start(bench.loop, &bench.timer[0], 400); /* the earliest, too */
    CHECK_EQ(bench.arms, 1);
    CHECK_EQ(turn_at(&bench, 1050), 1300); /* early: it stays set */
    CHECK_EQ(bench.arms, 1);
    CHECK_EQ(turn_at(&bench, 1100), 1300); /* woken without a due timer */
    CHECK_EQ(bench.armed, 1300);
    CHECK_EQ(bench.arms, 2);
    lawn_loop_start(bench.loop, &bench.timer[1], 50);
    CHECK_EQ(bench.armed, 1150);
    CHECK_EQ(bench.arms, 3);
    bench_end(&bench);
}

/* [L2] */
TEST(the_wake_up_is_taken_back_with_the_last_timer)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 100);
    lawn_loop_start(bench.loop, &bench.timer[1], 100);
    CHECK(lawn_loop_stop(bench.loop, &bench.timer[0]));
    CHECK_EQ(bench.armed, 1100);
    CHECK(lawn_loop_stop(bench.loop, &bench.timer[1]));
    CHECK_EQ(bench.armed, LAWN_NEVER);
    CHECK_EQ(bench.arms, 2);
    CHECK(!lawn_loop_stop(bench.loop, &bench.timer[1]));
    (void)turn_at(&bench, 5000);
    CHECK_EQ(bench.arms, 2);
    lawn_loop_start(bench.loop, &bench.timer[1], 100);
    CHECK_EQ(turn_at(&bench, 6000), LAWN_NEVER); /* the last timer fired */
    CHECK_EQ(bench.armed, LAWN_NEVER);
    bench_end(&bench);
}

/* libuv#4773: the wake-up was up to a millisecond early. */
TEST(a_host_that_wakes_early_is_called_again)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 100);
    bench.armed = LAWN_NEVER; /* the host's wake-up fires only once */
    bench.clock = 1099;
    CHECK_EQ(lawn_loop_woken(bench.loop), 1100);
    CHECK_NONE_RANG(&bench);
    CHECK_EQ(bench.armed, 1100);
    bench.clock = 1100;
    CHECK_EQ(lawn_loop_woken(bench.loop), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* [L3] */
TEST(a_turn_ends_when_its_budget_of_timers_is_used_up)
{
    struct bench bench;
    struct lawn_loop_options options = {.budget = 2};

    bench_begin(&bench, &options);
    for (unsigned i = 0; i < 4; i++) {
        lawn_loop_start(bench.loop, &bench.timer[i], 10 + i);
    }
    CHECK(turn_at(&bench, 1100) <= 1100);
    CHECK_RANG(&bench, 0, 1);
    CHECK(bench.armed <= 1100);
    CHECK_EQ(turn_at(&bench, 1101), LAWN_NEVER);
    CHECK_RANG(&bench, 2, 3);
    struct lawn_loop_counters stats;
    lawn_loop_stats(bench.loop, &stats);
    CHECK_EQ(stats.truncated, 1);
    CHECK_EQ(stats.turns, 2);
    CHECK_EQ(stats.fires, 4);
    CHECK_EQ(stats.idle, 0);
    bench_end(&bench);
}

TEST(a_budget_may_be_as_large_as_there_are_numbers)
{
    struct bench bench;
    struct lawn_loop_options options = {.budget = SIZE_MAX,
                                        .budget_time = LAWN_NEVER};

    bench_begin(&bench, &options);
    lawn_loop_start(bench.loop, &bench.timer[0], 10);
    lawn_loop_start(bench.loop, &bench.timer[1], 10);
    CHECK_EQ(turn_at(&bench, 1010), LAWN_NEVER);
    CHECK_RANG(&bench, 0, 1);
    bench_end(&bench);
}

/* [L3] valkey#2595: the time was checked only at every 16th timer. */
TEST(a_turn_ends_after_the_callback_that_used_up_its_time)
{
    struct bench bench;
    struct lawn_loop_options options = {.budget_time = 25};

    bench_begin(&bench, &options);
    bench.act = take_ten;
    for (unsigned i = 0; i < 5; i++) {
        lawn_loop_start(bench.loop, &bench.timer[i], 10);
    }
    CHECK(turn_at(&bench, 1100) <= 1130);
    CHECK_RANG(&bench, 0, 1, 2);
    CHECK(bench.armed <= 1130);
    CHECK_EQ(turn_at(&bench, 1130), LAWN_NEVER);
    CHECK_RANG(&bench, 3, 4);
    bench_end(&bench);
}

TEST(a_turn_without_a_time_limit_continues)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = take_ten;
    for (unsigned i = 0; i < BENCH_TIMERS; i++) {
        lawn_loop_start(bench.loop, &bench.timer[i], 10);
    }
    (void)turn_at(&bench, LAWN_NEVER - 1000);
    CHECK_EQ(bench.fired, BENCH_TIMERS);
    bench_end(&bench);
}

/* [L8] */
TEST(lateness_is_reported_for_every_fire_and_counts_slow_callbacks)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = take_ten;
    lawn_loop_start(bench.loop, &bench.timer[0], 10);
    lawn_loop_start(bench.loop, &bench.timer[1], 10);
    lawn_loop_start(bench.loop, &bench.timer[2], 10);
    (void)turn_at(&bench, 1011);
    const struct lawn_histogram *late = lawn_loop_lateness(bench.loop);
    CHECK_EQ(late->count, 3);
    CHECK_EQ(lawn_histogram_at(late, 33000), 1);
    CHECK_EQ(lawn_histogram_at(late, 66000), 11);
    CHECK_EQ(late->max, 21);
    *lawn_loop_lateness(bench.loop) = (struct lawn_histogram){0};
    lawn_loop_start(bench.loop, &bench.timer[0], 10);
    (void)turn_at(&bench, 2000);
    CHECK_EQ(late->count, 1);
    bench_end(&bench);
}

/* [P9] libevent#46, h2o#2321. */
TEST(a_clock_that_runs_back_does_not_move)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 100);
    bench.clock = 500;
    lawn_loop_start(bench.loop, &bench.timer[1], 50); /* from 1000 on */
    CHECK_EQ(lawn_loop_now(bench.loop), 1000);
    CHECK_EQ(turn_at(&bench, 600), 1050);
    CHECK_NONE_RANG(&bench);
    (void)turn_at(&bench, 1050);
    CHECK_RANG(&bench, 1);
    (void)turn_at(&bench, 1100);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* The machine was suspended, on a clock that counts suspension; or a long
 * stall. */
TEST(a_clock_that_jumps_ahead_fires_each_timer_once)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    lawn_loop_start(bench.loop, &bench.timer[0], 10);
    lawn_loop_every(bench.loop, &bench.timer[1], 10, LAWN_LOOP_SKIP);
    lawn_loop_every(bench.loop, &bench.timer[2], 10, LAWN_LOOP_CATCH_UP);
    lawn_loop_every(bench.loop, &bench.timer[3], 10, LAWN_LOOP_DELAY);
    (void)turn_at(&bench, 1000 + 86400 * LAWN_LOOP_SECOND);
    CHECK_EQ(bench.fired, 4);
    bench_end(&bench);
}

TEST(a_resolution_rounds_timers_that_fire_once_but_no_fixed_rate)
{
    struct bench bench;
    struct lawn_loop_options options = {.lawn = {.resolution = 100}};

    bench_begin(&bench, &options);
    lawn_loop_start(bench.loop, &bench.timer[0], 30);
    lawn_loop_every(bench.loop, &bench.timer[1], 30, LAWN_LOOP_SKIP);
    CHECK_EQ(turn_at(&bench, 1030), 1060);
    CHECK_RANG(&bench, 1);
    (void)turn_at(&bench, 1100);
    CHECK_RANG(&bench, 1, 0);
    bench_end(&bench);
}

TEST(a_loop_cannot_be_made_with_a_clock_that_is_unknown)
{
    struct lawn_loop_options options = {.clock_id = (enum lawn_loop_clock)77};

    errno = 0;
    CHECK(lawn_loop_new(&options) == NULL);
    CHECK_EQ(errno, EINVAL);
}

TEST(a_loop_without_memory_reports_it)
{
    struct ledger ledger;
    struct lawn_loop_options options = {.lawn = {.alloc = trial_alloc,
                                                 .release = trial_release,
                                                 .context = &ledger}};

    for (unsigned i = 0; i < 2; i++) {
        ledger = (struct ledger){.refuse = i};
        errno = 0;
        CHECK(lawn_loop_new(&options) == NULL);
        CHECK_EQ(errno, ENOMEM);
        CHECK_EQ(ledger.blocks, 0);
    }
}

/* Allocates from a buffer of the test. */
static void *
from_the_pile(size_t size, void *context)
{
    static _Alignas(64) char pile[1 << 19];
    size_t *used = context;
    char *piece = pile + *used;

    size = (size + 63) & ~(size_t)63;
    if (size > sizeof(pile) - *used) {
        return NULL;
    }
    *used += size;
    return piece;
}

TEST(a_loop_may_live_in_memory_that_is_never_given_back)
{
    size_t used = 0;
    struct lawn_loop_options options = {
        .lawn = {.alloc = from_the_pile, .context = &used}};
    struct lawn_loop *loop = lawn_loop_new(&options);

    CHECK(loop != NULL);
    CHECK(used >= lawn_size(NULL));
    CHECK(lawn_loop_lawn(loop) != NULL);
    CHECK(lawn_loop_free(loop));
    CHECK(lawn_loop_free(NULL));
}

#if !defined NDEBUG
static void
start_without_fire(void)
{
    struct lawn_loop_timer timer = {.arg = NULL};

    lawn_loop_start(lawn_loop_new(NULL), &timer, 1);
}

static void
start_at_without_fire(void)
{
    struct lawn_loop_timer timer = {.arg = NULL};

    lawn_loop_start_at(lawn_loop_new(NULL), &timer, 1);
}

static void
start_every_without_fire(void)
{
    struct lawn_loop_timer timer = {.arg = NULL};

    lawn_loop_every(lawn_loop_new(NULL), &timer, 1, LAWN_LOOP_SKIP);
}

static void
watch_without_ready(void)
{
    struct lawn_loop_watcher watch = {.arg = NULL};

    (void)lawn_loop_watch(lawn_loop_new(NULL), &watch, 0, LAWN_LOOP_READ);
}

/* [P10] */
TEST(a_timer_or_a_watch_without_a_callback_is_named)
{
    CHECK(kit_aborts_with(start_without_fire, "[P10]"));
    CHECK(kit_aborts_with(start_without_fire, "lawn: src/loop/loop.c:"));
    CHECK(kit_aborts_with(start_without_fire,
                          ": lawn_loop_start: assertion failed: [P10]"));
    CHECK(kit_aborts_with(start_at_without_fire, "[P10]"));
    CHECK(kit_aborts_with(start_every_without_fire, "[P10]"));
    CHECK(kit_aborts_with(watch_without_ready, "[P10]"));
}
#endif

static void
count_crowd(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    ++*(unsigned *)timer->arg;
}

/* [P8] The timers have different TTLs, and the clock jumps to their deadlines.
 * The first turns only move index entries, and each asks for another turn at
 * once. */
TEST(a_turn_that_only_moves_entries_is_idle_and_the_next_one_continues)
{
    enum { CROWD = 4000, FAR = 1000000 };
    struct lawn_loop_options options = {.budget = 1};
    struct lawn_loop_timer *crowd = calloc(CROWD, sizeof(*crowd));
    struct lawn_loop_counters stats;
    struct bench bench;
    unsigned fired = 0;
    unsigned idle = 0;

    CHECK(crowd != NULL);
    bench_begin(&bench, &options);
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i].fire = count_crowd;
        crowd[i].arg = &fired;
        lawn_loop_start(bench.loop, &crowd[i], FAR + i);
    }
    bench.clock += FAR + CROWD;
    while (fired < CROWD) {
        unsigned before = fired;
        uint64_t next = lawn_loop_turn(bench.loop);

        idle += fired == before;
        CHECK(fired == CROWD ? next == LAWN_NEVER : next <= bench.clock);
    }
    lawn_loop_stats(bench.loop, &stats);
    CHECK(idle > 2);
    CHECK_EQ(stats.idle, idle);
    CHECK_EQ(stats.truncated, stats.turns - 1);
    bench_end(&bench);
    free(crowd);
}
