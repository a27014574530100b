/* loop_class.c - classes of a loop, with the clock and host of a bench. */
#include "../../src/loop/loop.h"
#include "loop_common.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3 }; /* classes of a bench */

/* The classes that callbacks use. */
static struct lawn_loop_class *one;
static struct lawn_loop_class *two;

static void
begin(struct bench *bench, uint64_t ttl_1, uint64_t ttl_2)
{
    struct lawn_loop_options options = {.lawn.classes = MOST};

    bench_begin(bench, &options);
    one = lawn_loop_class_new(bench->loop, ttl_1, "one");
    two = lawn_loop_class_new(bench->loop, ttl_2, "two");
    CHECK(one != NULL && two != NULL);
}

static struct lawn_loop_class_counters
counters(const struct lawn_loop_class *cls)
{
    struct lawn_loop_class_counters now;

    lawn_loop_class_stats(cls, &now);
    return now;
}

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
    CHECK(lawn_loop_pending(timer));
    CHECK(lawn_loop_stop(bench->loop, timer));
    timer->fire = NULL; /* simulates free() */
}

static void
clear_its_class(struct bench *bench, struct lawn_loop_timer *timer)
{
    (void)bench;
    CHECK_EQ(lawn_loop_class_clear(one), 2);
    CHECK(!lawn_loop_pending(timer));
    timer->fire = NULL;
}

static void
free_class_one(struct bench *bench, struct lawn_loop_timer *timer)
{
    (void)timer;
    bench->clock += 10;
    CHECK(lawn_loop_class_free(one));
    one = lawn_loop_class_new(bench->loop, 50, "a new one");
    CHECK(one != NULL);
}

static void
keep_class_one(struct bench *bench, struct lawn_loop_timer *timer)
{
    (void)bench;
    (void)timer;
    CHECK(!lawn_loop_class_free(one));
}

static void
start_1_in_class_two(struct bench *bench, struct lawn_loop_timer *timer)
{
    if (timer == &bench->timer[0]) {
        bench->clock += 10;
        lawn_loop_start_in(two, &bench->timer[1]);
        CHECK_EQ(bench->armed, 1100); /* not changed in a turn */
    }
}

static void
double_the_ttl(struct bench *bench, struct lawn_loop_timer *timer)
{
    CHECK_EQ(lawn_loop_deadline(timer), bench->clock + 100);
    take_ten(bench, timer);
    lawn_loop_class_scale(one, 2, 1);
    CHECK_EQ(lawn_loop_deadline(timer), bench->clock + 190);
}

static void
shorten_the_ttl(struct bench *bench, struct lawn_loop_timer *timer)
{
    if (timer == &bench->timer[0]) {
        lawn_loop_class_set_ttl(two, 100);
    }
}

static void
leave_the_class(struct bench *bench, struct lawn_loop_timer *timer)
{
    take_ten(bench, timer);
    lawn_loop_start(bench->loop, timer, 5);
}

static void
pause_class_one(struct bench *bench, struct lawn_loop_timer *timer)
{
    take_ten(bench, timer);
    lawn_loop_class_pause(one);
}

/* Starting and stopping. */

TEST(a_timer_of_a_class_of_a_loop_fires_once_when_it_is_due)
{
    struct bench bench;

    begin(&bench, 30, 30);
    struct lawn_loop_timer *timer = &bench.timer[0];
    timer->missed = 7;
    lawn_loop_start_in(one, timer);
    CHECK(lawn_loop_pending(timer));
    CHECK_EQ(lawn_loop_deadline(timer), 1030);
    CHECK_EQ(lawn_loop_count(bench.loop), 1);
    CHECK_EQ(bench.armed, 1030);
    CHECK_EQ(turn_at(&bench, 1029), 1030);
    CHECK_NONE_RANG(&bench);
    CHECK_EQ(turn_at(&bench, 1031), LAWN_NEVER);
    CHECK_EQ(bench.due[0], 1030);
    CHECK_EQ(bench.missed[0], 0);
    CHECK_RANG(&bench, 0);
    CHECK(!lawn_loop_pending(timer));
    CHECK_EQ(lawn_loop_deadline(timer), LAWN_NEVER);
    CHECK(!lawn_loop_stop(bench.loop, timer));
    CHECK_EQ(bench.armed, LAWN_NEVER);
    bench_end(&bench);
}

/* [L10] */
TEST(a_start_in_a_class_counts_from_the_clock)
{
    struct bench bench;

    begin(&bench, 30, 40);
    bench.clock = 5000;
    CHECK_EQ(lawn_loop_now(bench.loop), 1000);
    lawn_loop_start_in(one, &bench.timer[0]);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 5030);
    bench.clock = 6000;
    lawn_loop_every_in(two, &bench.timer[1]);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[1]), 6040);
    bench.clock = 6010;
    lawn_loop_start_in(one, &bench.timer[0]);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 6040);
    CHECK_EQ(counters(one).timers.starts, 1);
    bench_end(&bench);
}

/* [L9] */
TEST(a_period_of_a_class_counts_from_the_return_of_the_callback)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = take_ten;
    lawn_loop_every_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1130), 1240);
    CHECK_EQ(turn_at(&bench, 1240), 1350);
    CHECK_RANG(&bench, 0, 0);
    CHECK_EQ(bench.due[0], 1100);
    CHECK_EQ(bench.due[1], 1240);
    CHECK_EQ(counters(one).timers.fires, 2);
    CHECK_EQ(counters(one).timers.count, 1);
    CHECK(lawn_loop_stop(bench.loop, &bench.timer[0]));
    CHECK_EQ(bench.armed, LAWN_NEVER);
    CHECK_EQ(turn_at(&bench, 2000), LAWN_NEVER);
    CHECK_NONE_RANG(&bench);
    bench_end(&bench);
}

/* [L9] */
TEST(the_period_of_a_class_is_its_present_ttl)
{
    struct bench bench;

    begin(&bench, 100, 100);
    lawn_loop_every_in(one, &bench.timer[0]);
    lawn_loop_class_set_ttl(one, 50);
    CHECK_EQ(turn_at(&bench, 1050), 1100);
    lawn_loop_class_set_ttl(one, 100);
    CHECK_EQ(turn_at(&bench, 1100), 1150);
    CHECK_RANG(&bench, 0);
    bench.act = double_the_ttl;
    CHECK_EQ(turn_at(&bench, 1150), 1160 + 200);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* [L7] */
TEST(a_periodic_timer_of_a_class_may_stop_itself)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = stop_itself;
    lawn_loop_every_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1100), LAWN_NEVER);
    CHECK_EQ(turn_at(&bench, 2000), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

TEST(a_periodic_timer_of_a_class_may_leave_it_in_its_callback)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = leave_the_class;
    lawn_loop_every_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1100), 1115);
    CHECK_EQ(counters(one).timers.count, 0);
    bench.act = NULL;
    CHECK_EQ(turn_at(&bench, 1115), LAWN_NEVER);
    CHECK_RANG(&bench, 0, 0);
    bench_end(&bench);
}

TEST(a_running_timer_may_be_started_in_a_class_and_outside_of_it)
{
    struct bench bench;

    begin(&bench, 100, 200);
    struct lawn_loop *loop = bench.loop;
    struct lawn_loop_timer *timer = &bench.timer[0];
    lawn_loop_every(loop, timer, 300, LAWN_LOOP_DELAY);
    lawn_loop_start_in(one, timer);
    CHECK_EQ(lawn_loop_deadline(timer), 1100);
    lawn_loop_start_in(two, timer);
    CHECK_EQ(lawn_loop_deadline(timer), 1200);
    CHECK_EQ(counters(one).timers.stops, 1);
    lawn_loop_start(loop, timer, 10);
    CHECK_EQ(lawn_loop_deadline(timer), 1010);
    CHECK_EQ(counters(two).timers.stops, 1);
    lawn_loop_every_in(two, timer);
    lawn_loop_start_at(loop, timer, 1020);
    CHECK_EQ(lawn_loop_deadline(timer), 1020);
    lawn_loop_every_in(two, timer);
    lawn_loop_every(loop, timer, 30, LAWN_LOOP_SKIP);
    CHECK_EQ(lawn_loop_deadline(timer), 1030);
    CHECK_EQ(counters(two).timers.count, 0);
    CHECK_EQ(lawn_loop_count(loop), 1);
    CHECK_EQ(turn_at(&bench, 1030), 1060);
    CHECK_RANG(&bench, 0);
    lawn_loop_start_in(one, timer);
    CHECK_EQ(turn_at(&bench, 1130), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* The wake-up. */

/* [L2] [L10] */
TEST(a_start_in_a_callback_sets_the_wake_up_at_the_end_of_the_turn)
{
    struct bench bench;

    begin(&bench, 100, 20);
    bench.act = start_1_in_class_two;
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_start(bench.loop, &bench.timer[2], 1000);
    CHECK_EQ(turn_at(&bench, 1100), 1130);
    CHECK_EQ(bench.armed, 1130);
    CHECK_EQ(turn_at(&bench, 1130), 2000);
    CHECK_RANG(&bench, 0, 1);
    bench_end(&bench);
}

/* [L2] [L10] */
TEST(an_operation_on_a_class_sets_the_wake_up_only_if_it_must_be_earlier)
{
    struct bench bench;

    begin(&bench, 100, 100);
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_start_in(one, &bench.timer[1]);
    lawn_loop_start_in(two, &bench.timer[2]);
    CHECK_EQ(bench.arms, 1);
    lawn_loop_class_set_ttl(one, 90);
    CHECK_EQ(bench.armed, 1090);
    lawn_loop_class_scale(one, 1, 2);
    CHECK_EQ(bench.armed, 1045);
    CHECK_EQ(bench.arms, 3);
    lawn_loop_class_set_ttl(two, 50);
    lawn_loop_class_set_ttl(one, 100);
    lawn_loop_class_scale(one, 2, 1);
    lawn_loop_class_postpone(one, 100);
    lawn_loop_class_pause(one);
    CHECK_EQ(lawn_loop_class_clear(two), 1);
    CHECK_EQ(bench.arms, 3);
    CHECK_EQ(turn_at(&bench, 1045), LAWN_NEVER);
    CHECK_EQ(bench.armed, LAWN_NEVER); /* only paused timers */
    lawn_loop_class_resume(one);
    CHECK_EQ(bench.armed, 1300 + 45);
    CHECK_EQ(lawn_loop_class_clear(one), 2);
    CHECK_EQ(bench.armed, LAWN_NEVER); /* no timers */
    bench_end(&bench);
}

/* [L2] [P13] */
TEST(timers_of_a_paused_class_need_no_wake_up_and_keep_their_time)
{
    struct bench bench;

    begin(&bench, 100, 100);
    lawn_loop_class_pause(one);
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_class_set_ttl(one, 50);
    CHECK_EQ(bench.arms, 0);
    CHECK_EQ(lawn_loop_count(bench.loop), 1);
    CHECK_EQ(lawn_loop_next(bench.loop), LAWN_NEVER);
    CHECK_EQ(turn_at(&bench, 5000), LAWN_NEVER);
    CHECK_NONE_RANG(&bench);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 5050);
    bench.clock = 6000;
    lawn_loop_class_resume(one);
    CHECK_EQ(bench.armed, 6050);
    CHECK_EQ(turn_at(&bench, 6050), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* [L10] */
TEST(operations_on_a_class_count_from_the_clock)
{
    struct bench bench;

    begin(&bench, 100, 100);
    lawn_loop_start_in(one, &bench.timer[0]);
    bench.clock = 1010;
    lawn_loop_class_pause(one);
    bench.clock = 1050;
    lawn_loop_class_resume(one);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 1140);
    bench.clock = 1060;
    lawn_loop_class_postpone(one, 5);
    CHECK_EQ(lawn_loop_now(bench.loop), 1060);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 1145);
    bench.clock = 1070;
    lawn_loop_class_set_ttl(one, 50);
    CHECK_EQ(lawn_loop_now(bench.loop), 1070);
    bench.clock = 1080;
    lawn_loop_class_scale(one, 1, 5);
    CHECK_EQ(lawn_loop_now(bench.loop), 1080);
    CHECK_EQ(bench.armed, 1055); /* overdue */
    CHECK_EQ(turn_at(&bench, 1080), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    CHECK_EQ(bench.due[0], 1055);
    bench_end(&bench);
}

/* [L2] The wake-up is set at the end of the turn. */
TEST(timers_may_become_due_by_an_operation_of_a_callback)
{
    struct bench bench;

    begin(&bench, 100, 1000);
    bench.act = shorten_the_ttl;
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_start_in(two, &bench.timer[1]);
    bench.clock = 1050;
    lawn_loop_start_in(two, &bench.timer[2]);
    CHECK_EQ(turn_at(&bench, 1100), 1150);
    CHECK_RANG(&bench, 0, 1);
    CHECK_EQ(bench.armed, 1150);
    bench_end(&bench);
}

TEST(a_class_may_be_paused_by_a_callback_of_its_periodic_timer)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = pause_class_one;
    lawn_loop_every_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1100), LAWN_NEVER);
    bench.clock = 2000;
    lawn_loop_class_resume(one);
    CHECK_EQ(lawn_loop_deadline(&bench.timer[0]), 2100);
    CHECK_RANG(&bench, 0);
    bench_end(&bench);
}

/* [L2] A smaller resolution makes deadlines of classes earlier. */
TEST(a_turn_after_a_change_of_the_resolution_sets_the_wake_up)
{
    struct bench bench;

    begin(&bench, 30, 100);
    lawn_set_resolution(lawn_loop_lawn(bench.loop), 100);
    lawn_loop_start_in(one, &bench.timer[0]);
    CHECK_EQ(bench.armed, 1100);
    lawn_set_resolution(lawn_loop_lawn(bench.loop), 1);
    CHECK_EQ(turn_at(&bench, 1000), 1030);
    CHECK_EQ(bench.armed, 1030);
    bench_end(&bench);
}

#if defined __linux__
static void
do_nothing(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer;
    (void)loop;
}

/* It would wait forever. */
TEST(a_loop_without_watchers_ends_if_all_timers_are_paused)
{
    struct lawn_loop_options options = {.lawn.classes = 1};
    struct lawn_loop *loop = lawn_loop_new(&options);
    struct lawn_loop_class *cls = lawn_loop_class_new(loop, 1, NULL);
    struct lawn_loop_timer timer = {.fire = do_nothing};

    CHECK(cls != NULL);
    lawn_loop_class_pause(cls);
    lawn_loop_start_in(cls, &timer);
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(lawn_loop_once(loop, true), 0);
    CHECK_EQ(lawn_loop_count(loop), 1);
    lawn_loop_free(loop);
}
#endif

/* Classes. */

TEST(a_loop_has_at_most_the_classes_of_its_options)
{
    struct bench bench;

    begin(&bench, 10, 20);
    struct lawn_loop_class *three = lawn_loop_class_new(bench.loop, 30, NULL);
    CHECK(three != NULL);
    CHECK(lawn_loop_class_new(bench.loop, 40, NULL) == NULL);
    CHECK(strcmp(counters(two).timers.name, "two") == 0);
    lawn_loop_start_in(two, &bench.timer[0]);
    CHECK(!lawn_loop_class_free(two));
    CHECK_EQ(turn_at(&bench, 1020), LAWN_NEVER);
    CHECK(lawn_loop_class_free(two));
    CHECK(lawn_loop_check(bench.loop, stdout));
    two = lawn_loop_class_new(bench.loop, 40, NULL);
    CHECK(two != NULL);
    CHECK_EQ(counters(two).timers.ttl, 40);
    CHECK_EQ(counters(two).timers.fires, 0);
    CHECK_EQ(counters(three).timers.ttl, 30);
    bench_end(&bench);
}

TEST(a_loop_has_no_classes_unless_asked)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    CHECK(lawn_loop_class_new(bench.loop, 10, NULL) == NULL);
    bench_end(&bench);
}

TEST(a_loop_may_have_65535_classes_and_no_more)
{
    struct lawn_loop_options options = {
        .lawn.classes = SIZE_MAX, .lawn.blades = 8, .lawn.slot_bits = 4};
    struct bench bench;

    bench_begin(&bench, &options);
    CHECK_EQ(bench.loop->class_max, 65535);
    for (unsigned i = 0; i < bench.loop->class_max; i++) {
        bench.loop->classes[i].core =
            lawn_class_new(bench.loop->lawn, 10, NULL);
        CHECK(bench.loop->classes[i].core != NULL);
    }
    CHECK(lawn_loop_class_new(bench.loop, 10, NULL) == NULL);
    bench_end(&bench);
}

TEST(cleared_timers_of_a_loop_are_idle)
{
    struct bench bench;

    begin(&bench, 100, 100);
    CHECK_EQ(lawn_loop_class_clear(one), 0);
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_every_in(one, &bench.timer[1]);
    lawn_loop_start_in(two, &bench.timer[2]);
    CHECK_EQ(lawn_loop_class_clear(one), 2);
    CHECK_EQ(bench.armed, 1100);
    CHECK(lawn_loop_check(bench.loop, stdout));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(!lawn_loop_pending(&bench.timer[i]));
        CHECK_EQ(lawn_loop_deadline(&bench.timer[i]), LAWN_NEVER);
        CHECK(!lawn_loop_stop(bench.loop, &bench.timer[i]));
    }
    CHECK(lawn_loop_class_free(one));
    lawn_loop_start(bench.loop, &bench.timer[0], 50);
    CHECK_EQ(turn_at(&bench, 1100), LAWN_NEVER);
    CHECK_RANG(&bench, 0, 2);
    bench_end(&bench);
}

/* [L7] */
TEST(a_periodic_timer_may_clear_its_class_in_its_callback)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = clear_its_class;
    lawn_loop_every_in(one, &bench.timer[0]);
    lawn_loop_every_in(one, &bench.timer[1]);
    CHECK_EQ(turn_at(&bench, 1100), LAWN_NEVER);
    CHECK_RANG(&bench, 0);
    CHECK_EQ(bench.armed, LAWN_NEVER);
    CHECK_EQ(counters(one).timers.count, 0);
    bench_end(&bench);
}

TEST(a_callback_may_free_the_class_of_its_timer)
{
    struct bench bench;

    begin(&bench, 100, 100);
    bench.act = free_class_one;
    lawn_loop_start_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1100), LAWN_NEVER);
    CHECK_EQ(counters(one).time, 0); /* the new class */
    bench.act = keep_class_one;
    lawn_loop_every_in(one, &bench.timer[0]);
    CHECK_EQ(turn_at(&bench, 1160), 1210);
    CHECK_RANG(&bench, 0, 0);
    bench_end(&bench);
}

/* Figures. */

/* [L11] */
TEST(the_time_in_callbacks_of_a_class_is_counted)
{
    struct bench bench;

    begin(&bench, 100, 200);
    bench.act = take_ten;
    lawn_loop_start_in(one, &bench.timer[0]);
    lawn_loop_every_in(one, &bench.timer[1]);
    lawn_loop_start(bench.loop, &bench.timer[2], 100);
    lawn_loop_start_in(two, &bench.timer[3]);
    (void)turn_at(&bench, 1150);
    CHECK_EQ(counters(one).timers.fires, 2);
    CHECK_EQ(counters(one).time, 20);
    CHECK_EQ(counters(one).time_max, 10);
    CHECK_EQ(counters(two).time, 0);
    bench.act = NULL;
    (void)turn_at(&bench, 1290);
    CHECK_EQ(counters(one).timers.fires, 3);
    CHECK_EQ(counters(one).time, 20);
    CHECK_EQ(counters(two).timers.fires, 1);
    CHECK_EQ(counters(two).time, 0);
    bench.act =
        leave_the_class; /* the callback makes the loop read the clock */
    lawn_loop_start_in(two, &bench.timer[3]);
    (void)turn_at(&bench, 1600);
    CHECK_EQ(counters(two).time, 10);
    CHECK_EQ(counters(two).time_max, 10);
    bench_end(&bench);
}

/* [L12] [L8] */
TEST(a_class_records_how_late_its_timers_fire_if_it_has_a_histogram)
{
    struct lawn_histogram *late = calloc(1, sizeof(*late));
    struct bench bench;

    CHECK(late != NULL);
    begin(&bench, 100, 100);
    lawn_loop_every_in(one, &bench.timer[0]);
    lawn_loop_start_in(two, &bench.timer[1]);
    (void)turn_at(&bench, 1150);
    CHECK_EQ(late->count, 0);
    lawn_loop_class_set_lateness(one, late);
    lawn_loop_class_set_lateness(two, late);
    lawn_loop_start_in(two, &bench.timer[1]);
    (void)turn_at(&bench, 1260);
    CHECK_EQ(late->count, 2);
    CHECK_EQ(late->max, 10);
    lawn_loop_class_set_lateness(one, NULL);
    (void)turn_at(&bench, 1500);
    CHECK_EQ(late->count, 2);
    CHECK_EQ(lawn_loop_lateness(bench.loop)->count, 5);
    CHECK_EQ(lawn_loop_lateness(bench.loop)->max, 140);
    CHECK_EQ(counters(one).timers.late, 50 + 10 + 140);
    CHECK_EQ(counters(one).timers.late_max, 140);
    bench_end(&bench);
    free(late);
}

/* [P16] */
TEST(a_class_of_a_loop_may_have_a_weight_and_a_forecast)
{
    struct lawn_loop_options options = {.lawn.classes = 1, .budget = 2};
    struct bench bench;

    bench_begin(&bench, &options);
    one = lawn_loop_class_new(bench.loop, 50, NULL);
    CHECK(one != NULL);
    lawn_class_set_weight(lawn_loop_class_core(one), 1);
    for (unsigned i = 0; i < 4; i++) {
        lawn_loop_start(bench.loop, &bench.timer[i], 10);
        lawn_loop_start_in(one, &bench.timer[4 + i]);
    }
    CHECK_EQ(lawn_class_forecast(lawn_loop_class_core(one), 50, 10), 4);
    CHECK_EQ(turn_at(&bench, 1100), 1010);
    CHECK_RANG(&bench, 4, 0);
    CHECK_EQ(counters(one).timers.weight, 1);
    bench_end(&bench);
}
