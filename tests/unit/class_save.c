/* class_save.c - visiting the timers of a class, and starting them as of other
 * times [P11 P12 P13]. */
#include "class_common.h"

#include <stdio.h>

static bool
append_id(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    unsigned **next = arg;

    CHECK_EQ(ttl, 10);
    *(*next)++ = LAWN_CONTAINER(timer, struct post, timer)->id;
    return timer->link.next != NULL && (*next)[-1] != 2;
}

TEST(the_timers_of_a_class_are_visited_in_the_order_of_their_starts)
{
    unsigned ids[8] = {0};
    unsigned *next = ids;
    struct yard y;

    yard_begin(&y, 0, 10, 10, 30);
    CHECK(lawn_class_each_timer(y.cls[0], append_id, &next));
    CHECK(next == ids);
    start_in(&y, 1, 0);
    start_in(&y, 4, 0);
    start_in(&y, 3, 0);
    start_in(&y, 5, 1);
    start_in(&y, 1, 0);
    CHECK(lawn_class_each_timer(y.cls[0], append_id, &next));
    CHECK_EQ(next - ids, 3);
    CHECK(ids[0] == 4 && ids[1] == 3 && ids[2] == 1);
    start_in(&y, 2, 0);
    start_in(&y, 6, 0);
    next = ids;
    CHECK(!lawn_class_each_timer(y.cls[0], append_id, &next)); /* 2 ends it */
    CHECK_EQ(next - ids, 4);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 5);
    next = ids;
    CHECK(lawn_class_each_timer(y.cls[0], append_id, &next));
    CHECK(next == ids);
    while (lawn_class_take(y.cls[0]) != NULL) {
    }
    yard_end(&y);
}

static uint64_t
started(const struct yard *y, unsigned id, unsigned cls)
{
    return lawn_class_started(y->cls[cls], &y->post[id].timer);
}

static void
start_as(struct yard *y, unsigned id, unsigned cls, uint64_t start)
{
    y->post[id].id = id;
    y->post[id].cls = y->cls[cls];
    lawn_class_start_as(y->cls[cls], &y->post[id].timer, start);
    CHECK(lawn_check(y->lawn, stdout));
}

TEST(the_time_of_a_start_includes_pauses_and_postponements)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    CHECK_EQ(started(&y, 0, 0), LAWN_NEVER);
    start_in(&y, 0, 0);
    CHECK_EQ(started(&y, 0, 0), 100);
    lawn_class_postpone(y.cls[0], 7);
    CHECK_EQ(started(&y, 0, 0), 107);
    lawn_class_set_ttl(y.cls[0], 1000);
    CHECK_EQ(started(&y, 0, 0), 107);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 103);
    CHECK_EQ(started(&y, 0, 0), 110);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(started(&y, 0, 0), 110);
    (void)lawn_class_clear(y.cls[0]);
    CHECK_EQ(started(&y, 0, 0), LAWN_NEVER);
    CHECK(lawn_class_take(y.cls[0]) != NULL);
    yard_end(&y);
}

TEST(a_timer_may_be_started_as_of_an_earlier_or_later_time)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    start_as(&y, 0, 0, 0);
    start_as(&y, 1, 0, 95);
    start_as(&y, 2, 0, 200);
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 0), 10);
    CHECK_EQ(deadline_of(&y, 1), 105);
    CHECK_EQ(deadline_of(&y, 2), 210);
    CHECK_EQ(deadline_of(&y, 3), 210); /* [P12] */
    CHECK_EQ(lawn_next(y.lawn), 10);
    CHECK_EQ(mow_yard(&y, 104), 1);
    CHECK_EQ(mow_yard(&y, 105), 1);
    CHECK_EQ(mow_yard(&y, 209), 0);
    CHECK_EQ(mow_yard(&y, 210), 2);
    CHECK_FIRES(&y, 0, 1, 2, 3);
    CHECK_EQ(counters(&y, 0).starts, 4);
    yard_end(&y);
}

TEST(a_start_as_of_a_time_before_that_of_the_last_timer_counts_as_that_time)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    start_as(&y, 0, 0, 50);
    start_as(&y, 1, 0, 20);
    CHECK_EQ(started(&y, 1, 0), 50);
    start_as(&y, 0, 0, 30); /* restarted: it follows timer 1 */
    CHECK_EQ(started(&y, 0, 0), 50);
    start_as(&y, 1, 0, LAWN_NEVER);
    CHECK_EQ(started(&y, 1, 0), LAST);
    CHECK_EQ(deadline_of(&y, 1), LAST);
    CHECK_EQ(counters(&y, 0).starts, 2);
    CHECK_EQ(mow_yard(&y, 100), 1);
    CHECK_FIRES(&y, 0);
    yard_end(&y);
}

TEST(a_start_as_of_a_time_in_a_paused_class_is_not_before_the_pause)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 130);
    start_as(&y, 0, 0, 12);
    CHECK_EQ(started(&y, 0, 0), 30); /* the duration of the pause */
    start_as(&y, 1, 0, 125);
    CHECK_EQ(started(&y, 1, 0), 125);
    CHECK_EQ(deadline_of(&y, 1), 135);
    lawn_set_now(y.lawn, 140);
    CHECK_EQ(deadline_of(&y, 1), 145);
    CHECK_EQ(mow_yard(&y, 150), 0);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(deadline_of(&y, 1), 155);
    CHECK_EQ(mow_yard(&y, 150), 1);
    CHECK_EQ(mow_yard(&y, 155), 1);
    CHECK_FIRES(&y, 0, 1);
    yard_end(&y);
}

TEST(a_start_as_of_a_time_leaves_detached_timers_detached)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    start_in(&y, 0, 0);
    lawn_set_now(y.lawn, 104);
    start_in(&y, 1, 0);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 2);
    start_as(&y, 2, 0, 102);
    start_as(&y, 3, 0, 103);
    start_as(&y, 1, 0, 103);
    CHECK_EQ(started(&y, 0, 0), LAWN_NEVER);
    CHECK_EQ(started(&y, 1, 0), 103);
    CHECK_EQ(started(&y, 2, 0), 102);
    CHECK_EQ(counters(&y, 0).detached, 1);
    CHECK(lawn_class_take(y.cls[0]) == &y.post[0].timer);
    CHECK(lawn_class_take(y.cls[0]) == NULL);
    CHECK_EQ(mow_yard(&y, 113), 3);
    CHECK_FIRES(&y, 2, 3, 1);
    yard_end(&y);
}

/* [I13] [P15] The stamp of the only running timer follows those of detached
 * ones, also if the timer was started as of an earlier time. */
TEST(a_timer_started_as_of_an_earlier_time_is_not_taken_for_a_detached_one)
{
    struct lawn_class_counters stats;
    struct yard y;

    yard_begin(&y, 0, 10, 10, 30);
    lawn_set_now(y.lawn, 1000);
    start_in(&y, 0, 0);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 1);
    start_as(&y, 1, 0, 500);
    CHECK_EQ(started(&y, 1, 0), 500);
    start_in(&y, 2, 0);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 2);
    CHECK(lawn_check(y.lawn, stdout));
    CHECK_EQ(lawn_class_deadline(y.cls[0], &y.post[1].timer), LAWN_NEVER);
    CHECK(!lawn_class_stop(y.cls[0], &y.post[1].timer));
    lawn_class_stats(y.cls[0], &stats);
    CHECK_EQ(stats.count, 0);
    CHECK_EQ(stats.detached, 2);
    CHECK_EQ(lawn_count(y.lawn), 0);
    while (lawn_class_take(y.cls[0]) != NULL) {
    }
    yard_end(&y);
}
