/* class_ops.c - operations on all timers of a class [P11 P12 P13 P15]. */
#include "class_common.h"

#include <stdio.h>

/* Starts timers 0, 1, 2 through class 0, at times 0, 3 and 6. */
static void
begin_three(struct yard *y, uint64_t ttl)
{
    yard_begin(y, 0, ttl, 20, 30);
    for (unsigned i = 0; i < 3; i++) {
        lawn_set_now(y->lawn, 3 * i);
        start_in(y, i, 0);
    }
}

TEST(a_lower_ttl_makes_running_timers_of_a_class_due_at_once_in_order)
{
    struct yard y;

    begin_three(&y, 1000);
    lawn_class_set_ttl(y.cls[0], 2);
    CHECK_EQ(deadline_of(&y, 0), 2);
    CHECK_EQ(deadline_of(&y, 1), 5);
    CHECK_EQ(deadline_of(&y, 2), 8);
    CHECK_EQ(mow_yard(&y, 6), 2);
    CHECK_FIRES(&y, 0, 1);
    CHECK_EQ(y.due[1], 5);
    CHECK_EQ(lawn_next(y.lawn), 8);
    CHECK_EQ(mow_yard(&y, 8), 1);
    yard_end(&y);
}

TEST(a_higher_ttl_delays_running_and_future_timers_of_a_class)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_set_ttl(y.cls[0], 100);
    start_in(&y, 3, 0);
    CHECK_EQ(mow_yard(&y, 99), 0);
    CHECK_EQ(lawn_next(y.lawn), 100);
    CHECK_EQ(mow_yard(&y, 105), 2);
    CHECK_FIRES(&y, 0, 1);
    CHECK_EQ(mow_yard(&y, 106), 2);
    CHECK_FIRES(&y, 2, 3);
    yard_end(&y);
}

TEST(other_timers_keep_their_deadlines_when_the_ttl_of_a_class_changes)
{
    struct yard y;

    begin_three(&y, 10);
    start_in(&y, 5, 1);
    start_alone(&y, 6, 10);
    lawn_class_set_ttl(y.cls[0], 1000);
    CHECK_EQ(deadline_of(&y, 5), 26);
    CHECK_EQ(lawn_deadline(&y.post[6].timer), 16);
    CHECK_EQ(lawn_next(y.lawn), 16);
    CHECK_EQ(mow_yard(&y, 26), 2);
    CHECK_FIRES(&y, 6, 5);
    yard_end(&y);
}

TEST(scaling_multiplies_the_ttl_and_rounds_down)
{
    static const struct {
        uint64_t ttl;
        uint32_t numerator, denominator;
        uint64_t result;
    } rows[] = {
        {1000, 1, 2, 500},
        {1000, 3, 2, 1500},
        {7, 2, 3, 4},
        {1, 1, 2, 1},
        {1000, 0, 5, 1},
        {1000, 3, 0, 3000},
        {LAST, 1, 1, LAST},
        {LAWN_NEVER, 1, 1, LAST},
        {LAST, 2, 1, LAST},
        {LAST, UINT32_MAX, 1, LAST},
        {LAST, UINT32_MAX, UINT32_MAX, LAST},
        {LAST, 1, UINT32_MAX, (UINT64_C(1) << 32)},
        {(UINT64_C(1) << 63) - 1, 2, 1, LAST},
        {UINT64_C(1) << 63, 2, 1, LAST},
        {LAST, UINT32_MAX - 1, UINT32_MAX, UINT64_C(18446744069414584317)},
    };
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    for (unsigned i = 0; i < COUNT(rows); i++) {
        lawn_class_set_ttl(y.cls[0], rows[i].ttl);
        lawn_class_scale(y.cls[0], rows[i].numerator, rows[i].denominator);
        CHECK_EQ(counters(&y, 0).ttl, rows[i].result);
    }
    lawn_class_set_ttl(y.cls[0], 100);
    start_in(&y, 0, 0);
    lawn_class_scale(y.cls[0], 1, 4);
    CHECK_EQ(mow_yard(&y, 24), 0);
    CHECK_EQ(mow_yard(&y, 25), 1);
    yard_end(&y);
}

TEST(a_postponed_class_fires_later_by_that_number_of_ticks)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_postpone(y.cls[0], 100);
    CHECK_EQ(deadline_of(&y, 0), 110);
    CHECK_EQ(lawn_next(y.lawn), 110);
    CHECK_EQ(mow_yard(&y, 109), 0);
    CHECK_EQ(mow_yard(&y, 113), 2);
    CHECK_FIRES(&y, 0, 1);
    yard_end(&y);
}

TEST(timers_started_after_a_postponement_are_not_delayed_by_it)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_postpone(y.cls[0], 5);
    CHECK_EQ(deadline_of(&y, 2), 21);
    /* A start at 11 or later is not before that of timer 2. */
    lawn_set_now(y.lawn, 12);
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 22);
    /* An empty class has forgotten its postponements. */
    for (unsigned i = 0; i < 4; i++) {
        CHECK(stop_post(&y, i));
    }
    lawn_class_postpone(y.cls[0], 1000);
    start_in(&y, 0, 0);
    CHECK_EQ(deadline_of(&y, 0), 22);
    yard_end(&y);
}

TEST(a_timer_is_not_due_before_postponed_timers_of_its_class)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_postpone(y.cls[0], 100);
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 116);
    lawn_set_now(y.lawn, 50);
    start_in(&y, 0, 0); /* a restart, too */
    CHECK_EQ(deadline_of(&y, 0), 116);
    CHECK(stop_post(&y, 0));
    CHECK(stop_post(&y, 3));
    CHECK(stop_post(&y, 2));
    /* Now only timer 1 is earlier, started at 3 and postponed by 100. */
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 113);
    CHECK_EQ(mow_yard(&y, 200), 2);
    CHECK_FIRES(&y, 1, 3);
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 210);
    yard_end(&y);
}

TEST(a_start_after_all_postponed_timers_were_stopped_is_due_as_usual)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_postpone(y.cls[0], 100);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(stop_post(&y, i));
    }
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 16);
    CHECK_EQ(lawn_next(y.lawn), 16);
    CHECK_EQ(mow_yard(&y, 16), 1);
    yard_end(&y);
}

TEST(a_postponement_beyond_the_last_tick_adds_fewer_ticks)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_postpone(y.cls[0], UINT64_MAX);
    /* Timer 2, the last one, starts at the last tick; the others keep their
     * distance. */
    CHECK_EQ(deadline_of(&y, 0), LAST);
    lawn_class_set_ttl(y.cls[0], 1);
    CHECK_EQ(deadline_of(&y, 0), LAST - 5);
    CHECK_EQ(deadline_of(&y, 1), LAST - 2);
    CHECK_EQ(deadline_of(&y, 2), LAST);
    lawn_class_postpone(y.cls[0], 1);
    CHECK_EQ(deadline_of(&y, 0), LAST - 5);
    CHECK_EQ(mow_yard(&y, LAST - 3), 1);
    CHECK_EQ(mow_yard(&y, LAST), 2);
    CHECK_FIRES(&y, 0, 1, 2);
    yard_end(&y);
}

TEST(no_timer_of_a_paused_class_fires)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_pause(y.cls[0]);
    CHECK(counters(&y, 0).paused);
    CHECK_EQ(lawn_next(y.lawn), LAWN_NEVER);
    CHECK_EQ(lawn_count(y.lawn), 3);
    CHECK_EQ(mow_yard(&y, 1000), 0);
    CHECK_EQ(mow_class(&y, 0, 1000, SIZE_MAX), 0);
    lawn_class_set_ttl(y.cls[0], 1);
    CHECK_EQ(mow_yard(&y, 1001), 0);
    yard_end(&y);
}

TEST(a_pause_does_not_change_the_time_that_remains)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 500);
    lawn_class_pause(y.cls[0]); /* does nothing */
    CHECK_EQ(deadline_of(&y, 0), 504);
    lawn_set_now(y.lawn, 1006);
    CHECK_EQ(deadline_of(&y, 0), 1010);
    CHECK_EQ(counters(&y, 0).next, 1010);
    CHECK_EQ(counters(&y, 0).last, 1016);
    lawn_class_resume(y.cls[0]);
    lawn_class_resume(y.cls[0]); /* does nothing */
    CHECK(!counters(&y, 0).paused);
    CHECK_EQ(lawn_next(y.lawn), 1010);
    CHECK_EQ(mow_yard(&y, 1009), 0);
    CHECK_EQ(mow_yard(&y, 1013), 2);
    CHECK_FIRES(&y, 0, 1);
    yard_end(&y);
}

TEST(a_timer_started_in_a_pause_counts_from_the_resumption)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 100);
    start_in(&y, 3, 0);
    start_in(&y, 0, 0); /* restarted */
    CHECK(stop_post(&y, 1));
    CHECK_EQ(deadline_of(&y, 3), 110);
    lawn_set_now(y.lawn, 206);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(deadline_of(&y, 2), 216);
    CHECK_EQ(deadline_of(&y, 3), 216);
    CHECK_EQ(deadline_of(&y, 0), 216);
    CHECK_EQ(mow_yard(&y, 216), 3);
    CHECK_FIRES(&y, 2, 3, 0);
    yard_end(&y);
}

TEST(an_empty_class_may_be_paused_and_resumed)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 50);
    start_in(&y, 0, 0);
    CHECK_EQ(lawn_next(y.lawn), LAWN_NEVER);
    lawn_set_now(y.lawn, 70);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(lawn_next(y.lawn), 80);
    CHECK(stop_post(&y, 0));
    lawn_class_pause(y.cls[0]);
    lawn_class_resume(y.cls[0]);
    start_in(&y, 1, 0);
    CHECK_EQ(deadline_of(&y, 1), 80);
    yard_end(&y);
}

TEST(a_paused_class_can_be_postponed)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_class_pause(y.cls[0]);
    lawn_class_postpone(y.cls[0], 50);
    lawn_set_now(y.lawn, 10);
    start_in(&y, 3, 0);
    CHECK_EQ(deadline_of(&y, 3), 70);
    lawn_set_now(y.lawn, 16);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(deadline_of(&y, 0), 70);
    CHECK_EQ(deadline_of(&y, 2), 76);
    CHECK_EQ(deadline_of(&y, 3), 76);
    yard_end(&y);
}

TEST(a_resumption_does_not_move_starts_beyond_the_last_tick)
{
    struct yard y;

    begin_three(&y, 1);
    lawn_class_postpone(y.cls[0], LAST - 10);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 1000);
    /* Timer 2, started at 6, has 4 ticks to the last one. */
    CHECK_EQ(deadline_of(&y, 0), LAST - 10 + 4 + 1);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(deadline_of(&y, 0), LAST - 10 + 4 + 1);
    CHECK_EQ(deadline_of(&y, 2), LAST);
    yard_end(&y);
}

TEST(a_cleared_class_fires_nothing_and_gives_each_timer_back_once)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 0);
    CHECK_EQ(lawn_count(y.lawn), 0);
    CHECK_EQ(counters(&y, 0).detached, 3);
    CHECK(lawn_pending(&y.post[0].timer));
    CHECK_EQ(deadline_of(&y, 0), LAWN_NEVER);
    CHECK_EQ(lawn_next(y.lawn), LAWN_NEVER);
    CHECK_EQ(mow_yard(&y, 100), 0);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(lawn_class_take(y.cls[0]) == &y.post[i].timer);
        CHECK(!lawn_pending(&y.post[i].timer));
        CHECK(lawn_check(y.lawn, stdout));
    }
    CHECK(lawn_class_take(y.cls[0]) == NULL);
    yard_end(&y);
}

TEST(a_detached_timer_can_be_stopped_or_restarted)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    CHECK(!stop_post(&y, 1));
    start_in(&y, 0, 0);
    CHECK_EQ(deadline_of(&y, 0), 16);
    CHECK_EQ(deadline_of(&y, 2), LAWN_NEVER);
    CHECK_EQ(counters(&y, 0).detached, 1);
    CHECK_EQ(counters(&y, 0).count, 1);
    CHECK(lawn_check(y.lawn, stdout));
    start_in(&y, 1, 0);
    CHECK(stop_post(&y, 0)); /* it runs, although another one is detached */
    CHECK(lawn_class_take(y.cls[0]) == &y.post[2].timer);
    start_in(&y, 3, 0);
    CHECK_EQ(mow_yard(&y, 16), 2);
    CHECK_FIRES(&y, 1, 3);
    yard_end(&y);
}

TEST(a_detached_timer_can_be_restarted_behind_running_ones)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    start_in(&y, 3, 0);
    start_in(&y, 1, 0);
    CHECK_EQ(counters(&y, 0).detached, 2);
    CHECK_EQ(counters(&y, 0).count, 2);
    CHECK_EQ(lawn_count(y.lawn), 2);
    CHECK_EQ(mow_yard(&y, 16), 2);
    CHECK_FIRES(&y, 3, 1);
    yard_end(&y);
}

TEST(a_class_may_be_cleared_again_while_timers_are_detached)
{
    struct yard y;

    begin_three(&y, 10);
    for (unsigned round = 0; round < 5; round++) {
        /* At the same tick: their stamps must differ nevertheless. */
        CHECK(lawn_class_clear(y.cls[0]) > 0);
        start_in(&y, 10 + round, 0);
        start_in(&y, 20 + round, 0);
        CHECK_EQ(deadline_of(&y, 10 + round), 16);
        CHECK(lawn_check(y.lawn, stdout));
    }
    CHECK_EQ(lawn_class_clear(y.cls[0]), 2);
    CHECK_EQ(counters(&y, 0).detached, 13);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(lawn_class_take(y.cls[0]) == &y.post[i].timer);
    }
    for (unsigned round = 0; round < 5; round++) {
        CHECK(lawn_class_take(y.cls[0]) == &y.post[10 + round].timer);
        CHECK(lawn_class_take(y.cls[0]) == &y.post[20 + round].timer);
    }
    CHECK(lawn_class_take(y.cls[0]) == NULL);
    yard_end(&y);
}

TEST(a_class_whose_last_detached_timer_was_taken_fires_in_time)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    start_in(&y, 3, 0);
    lawn_class_postpone(y.cls[0], 100);
    CHECK(stop_post(&y, 3));
    for (unsigned i = 0; i < 3; i++) {
        CHECK(lawn_class_take(y.cls[0]) == &y.post[i].timer);
    }
    start_in(&y, 4, 0);
    CHECK_EQ(mow_yard(&y, 16), 1);
    CHECK_FIRES(&y, 4);
    yard_end(&y);
}

TEST(detached_timers_do_not_follow_their_class)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    start_in(&y, 3, 0);
    lawn_class_postpone(y.cls[0], 7);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 9);
    start_in(&y, 4, 0);
    lawn_class_resume(y.cls[0]);
    lawn_class_set_ttl(y.cls[0], 1);
    CHECK_EQ(deadline_of(&y, 1), LAWN_NEVER);
    CHECK_EQ(deadline_of(&y, 3), 6 + 7 + 3 + 1);
    CHECK_EQ(deadline_of(&y, 4), 6 + 7 + 3 + 1);
    CHECK_EQ(mow_yard(&y, 100), 2);
    CHECK_FIRES(&y, 3, 4);
    CHECK_EQ(counters(&y, 0).detached, 3);
    lawn_class_clear(y.cls[0]);
    CHECK(!stop_post(&y, 0));
    CHECK(!stop_post(&y, 2));
    CHECK(lawn_class_take(y.cls[0]) == &y.post[1].timer);
    yard_end(&y);
}

TEST(detached_timers_of_2_to_the_64_ticks_ago_do_not_run_again)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 1);
    start_in(&y, 1, 0);
    lawn_class_set_ttl(y.cls[0], LAST);
    CHECK_EQ(mow_yard(&y, LAST - 1), 0);
    start_in(&y, 2, 0);
    lawn_set_now(y.lawn, LAST);
    for (unsigned i = 3; i < 9; i++) {
        start_in(&y, i, 0);
        CHECK(lawn_check(y.lawn, stdout));
    }
    CHECK_EQ(counters(&y, 0).count, 8);
    CHECK_EQ(deadline_of(&y, 0), LAWN_NEVER);
    CHECK_EQ(deadline_of(&y, 2), LAST);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 8);
    for (unsigned i = 9; i < 20; i++) {
        start_in(&y, i, 0);
        CHECK(lawn_check(y.lawn, stdout));
        CHECK_EQ(deadline_of(&y, i), LAST);
        CHECK_EQ(lawn_class_clear(y.cls[0]), 1);
        CHECK_EQ(deadline_of(&y, i), LAWN_NEVER);
    }
    start_in(&y, 1, 0);
    CHECK(stop_post(&y, 1));
    CHECK(!stop_post(&y, 2));
    for (unsigned i = 0; i < 20; i++) {
        if (i != 1 && i != 2) {
            CHECK(lawn_class_take(y.cls[0]) == &y.post[i].timer);
        }
    }
    yard_end(&y);
}

TEST(all_times_and_ttls_are_valid_in_a_class)
{
    static const uint64_t values[] = {0,        1,    2,          100,
                                      LAST - 1, LAST, LAWN_NEVER, 1ULL << 63};
    struct yard y;

    for (unsigned i = 0; i < COUNT(values); i++) {
        for (unsigned j = 0; j < COUNT(values); j++) {
            uint64_t now = values[i] < LAST ? values[i] : LAST;
            uint64_t ttl = values[j] != 0 ? values[j] : 1;
            uint64_t due = ttl < LAST - now ? now + ttl : LAST;

            yard_begin(&y, values[i], values[j], 20, 30);
            start_in(&y, 0, 0);
            CHECK_EQ(deadline_of(&y, 0), due);
            CHECK_EQ(lawn_next(y.lawn), due);
            CHECK_EQ(mow_yard(&y, due - 1), 0);
            CHECK_EQ(mow_yard(&y, due), 1);
            CHECK_EQ(y.due[0], due);
            lawn_class_postpone(y.cls[0], values[j]);
            start_in(&y, 1, 0);
            lawn_class_pause(y.cls[0]);
            lawn_set_now(y.lawn, LAWN_NEVER);
            lawn_class_postpone(y.cls[0], values[j]);
            lawn_class_resume(y.cls[0]);
            CHECK_EQ(deadline_of(&y, 1), LAST);
            CHECK_EQ(mow_yard(&y, LAWN_NEVER), 1);
            yard_end(&y);
        }
    }
}

TEST(deadlines_of_a_class_are_rounded_up_to_the_present_resolution)
{
    struct yard y;

    begin_three(&y, 10);
    lawn_set_resolution(y.lawn, 100);
    CHECK_EQ(deadline_of(&y, 0), 100);
    CHECK_EQ(lawn_next(y.lawn), 100);
    CHECK_EQ(mow_yard(&y, 99), 0);
    lawn_class_set_ttl(y.cls[0], 95);
    CHECK_EQ(deadline_of(&y, 0), 100);
    CHECK_EQ(deadline_of(&y, 1), 100);
    CHECK_EQ(deadline_of(&y, 2), 200);
    CHECK_EQ(counters(&y, 0).last, 200);
    CHECK_EQ(mow_yard(&y, 100), 2);
    CHECK_EQ(y.due[0], 100);
    lawn_set_resolution(y.lawn, 0);
    CHECK_EQ(deadline_of(&y, 2), 101);
    CHECK_EQ(lawn_next(y.lawn), 101);
    CHECK_EQ(mow_yard(&y, 101), 1);
    CHECK_FIRES(&y, 0, 1, 2);
    lawn_set_resolution(y.lawn, UINT64_C(1) << 63);
    lawn_class_set_ttl(y.cls[0], LAST);
    start_in(&y, 0, 0);
    CHECK_EQ(deadline_of(&y, 0), LAST);
    yard_end(&y);
}

TEST(a_forecast_counts_the_timers_due_within_a_time)
{
    struct yard y;

    begin_three(&y, 10);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 0, 100), 0);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 3, 100), 0);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 4, 100), 1);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 10, 100), 3);
    CHECK_EQ(lawn_class_forecast(y.cls[0], UINT64_MAX, 100), 3);
    CHECK_EQ(lawn_class_forecast(y.cls[0], UINT64_MAX, 2), 2);
    CHECK_EQ(lawn_class_forecast(y.cls[0], UINT64_MAX, 0), 0);
    CHECK_EQ(lawn_class_forecast(y.cls[1], UINT64_MAX, 5), 0);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 1000);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 3, 100), 0);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 7, 100), 2);
    lawn_set_resolution(y.lawn, 10);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 9, 100), 0);
    CHECK_EQ(lawn_class_forecast(y.cls[0], 10, 100), 3);
    yard_end(&y);
}

TEST(two_classes_of_one_ttl_are_independent)
{
    struct yard y;

    yard_begin(&y, 0, 10, 10, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 1);
    lawn_class_pause(y.cls[0]);
    CHECK_EQ(mow_yard(&y, 10), 1);
    CHECK_FIRES(&y, 1);
    lawn_class_resume(y.cls[0]);
    CHECK_EQ(deadline_of(&y, 0), 20);
    CHECK_EQ(lawn_class_clear(y.cls[1]), 0);
    CHECK_EQ(mow_yard(&y, 20), 1);
    CHECK_FIRES(&y, 0);
    yard_end(&y);
}
