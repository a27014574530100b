/* class_mow.c - mows fire timers of classes and others in order, within their
 * budget, and with the shares of weighted classes [P1 P2 P6 P12 P14 P16]. */
#include "class_common.h"

#include <stdio.h>
#include <stdlib.h>

TEST(timers_of_classes_and_others_fire_in_the_order_of_deadlines)
{
    struct yard y;

    yard_begin(&y, 0, 10, 13, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 1);
    start_in(&y, 2, 2);
    start_alone(&y, 3, 11);
    start_alone(&y, 4, 500);
    start_alone(&y, 5, 14);
    lawn_set_now(y.lawn, 2);
    start_in(&y, 6, 0);
    start_in(&y, 7, 1);
    CHECK_EQ(lawn_next(y.lawn), 10);
    CHECK_EQ(mow_yard(&y, 499), 7);
    CHECK_FIRES(&y, 0, 3, 6, 1, 5, 7, 2);
    CHECK_EQ(mow_yard(&y, 500), 1);
    yard_end(&y);
}

TEST(a_budget_divides_a_mow_without_changing_the_order)
{
    static struct yard y;

    for (size_t budget = 1; budget < 5; budget++) {
        yard_begin(&y, 0, 100, 130, 70);
        for (unsigned i = 0; i < 60; i++) {
            lawn_set_now(y.lawn, i);
            if (i % 4 < 3) {
                start_in(&y, i, i % 4);
            } else {
                start_alone(&y, i, 64 + i % 3 * 40);
            }
        }
        size_t fired = 0;
        do {
            fired = mow_budget(&y, 150, budget);
        } while (fired == budget);
        CHECK(lawn_next(y.lawn) > 150);
        uint64_t last = 0;
        for (unsigned i = 0; i < y.fired; i++) {
            CHECK(y.due[i] >= last);
            last = y.due[i];
        }
        CHECK(y.fired > 40 && y.fired < 60);
        yard_end(&y);
    }
}

TEST(a_mow_to_an_earlier_time_fires_only_timers_due_by_then)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 1);
    lawn_set_now(y.lawn, 100);
    CHECK_EQ(mow_yard(&y, 15), 1);
    CHECK_FIRES(&y, 0);
    CHECK_EQ(lawn_now(y.lawn), 100);
    CHECK_EQ(counters(&y, 0).late, 90);
    CHECK_EQ(mow_class(&y, 1, 19, 5), 0);
    CHECK_EQ(mow_class(&y, 1, 20, 5), 1);
    yard_end(&y);
}

TEST(a_class_whose_first_timer_was_stopped_costs_one_correction)
{
    struct yard y;
    struct lawn_counters stats;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    lawn_set_now(y.lawn, 5);
    start_in(&y, 1, 0);
    CHECK(stop_post(&y, 0));
    CHECK(lawn_check(y.lawn, stdout));
    CHECK_EQ(lawn_next(y.lawn), 15);
    lawn_stats(y.lawn, &stats);
    CHECK_EQ(stats.looked, 1);
    CHECK_EQ(stats.touched_idle, 1);
    start_in(&y, 1, 0);
    lawn_set_now(y.lawn, 16);
    start_in(&y, 2, 0);
    CHECK(stop_post(&y, 1));
    CHECK_EQ(mow_yard(&y, 20), 0);
    CHECK_EQ(lawn_next_exact(y.lawn), 26);
    CHECK(stop_post(&y, 2));
    CHECK_EQ(lawn_next(y.lawn), LAWN_NEVER);
    CHECK_EQ(mow_yard(&y, 100), 0);
    yard_end(&y);
}

TEST(lawn_next_is_the_earliest_of_classes_and_others)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_alone(&y, 0, 15);
    CHECK_EQ(lawn_next(y.lawn), 15);
    start_in(&y, 1, 1);
    CHECK_EQ(lawn_next(y.lawn), 15);
    start_in(&y, 2, 0);
    CHECK_EQ(lawn_next(y.lawn), 10);
    CHECK(lawn_next_timer(y.lawn) == &y.post[0].timer);
    lawn_class_pause(y.cls[0]);
    CHECK_EQ(lawn_next(y.lawn), 15);
    CHECK(lawn_stop(y.lawn, &y.post[0].timer));
    CHECK_EQ(lawn_next(y.lawn), 20);
    lawn_class_resume(y.cls[0]);
    lawn_class_set_ttl(y.cls[0], 1);
    CHECK_EQ(lawn_next(y.lawn), 1);
    lawn_class_postpone(y.cls[0], 30);
    CHECK_EQ(lawn_next_exact(y.lawn), 20);
    yard_end(&y);
}

static void
restart(struct yard *y, struct post *post)
{
    CHECK_EQ(counters(y, 0).count, 0);
    lawn_class_start(post->cls, &post->timer);
    CHECK_EQ(lawn_next(y->lawn), lawn_now(y->lawn) + 10);
}

TEST(a_class_timer_restarted_in_its_callback_fires_in_a_later_mow)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    y.act = restart;
    CHECK_EQ(mow_yard(&y, 10), 1);
    CHECK_EQ(mow_yard(&y, 35), 1);
    CHECK_EQ(deadline_of(&y, 0), 45);
    CHECK_EQ(mow_class(&y, 0, 45, SIZE_MAX), 1);
    CHECK_EQ(deadline_of(&y, 0), 55);
    yard_end(&y);
}

static void
change_classes(struct yard *y, struct post *post)
{
    if (post->id != 0) {
        return;
    }
    lawn_class_set_ttl(y->cls[1], 1);
    CHECK(stop_post(y, 2));
    CHECK_EQ(lawn_class_clear(y->cls[2]), 2);
    start_in(y, 20, 0);
}

TEST(a_callback_may_change_all_classes)
{
    struct yard y;

    yard_begin(&y, 0, 10, 1000, 12);
    for (unsigned i = 0; i < 3; i++) {
        start_in(&y, i, 0);
    }
    for (unsigned i = 3; i < 6; i++) {
        start_in(&y, i, 1);
    }
    start_in(&y, 6, 2);
    start_in(&y, 7, 2);
    start_alone(&y, 8, 11);
    y.act = change_classes;
    CHECK_EQ(mow_yard(&y, 50), 6);
    /* Timers 3 to 5 have become due at 1, so they are the next ones. */
    CHECK_FIRES(&y, 0, 3, 4, 5, 1, 8);
    CHECK_EQ(deadline_of(&y, 20), 60);
    yard_end(&y);
}

static void
lower_ttl(struct yard *y, struct post *post)
{
    if (post->id == 8) {
        lawn_class_set_ttl(y->cls[1], 1);
    }
}

static void
lower_ttl_and_halt(struct yard *y, struct post *post)
{
    lower_ttl(y, post);
    lawn_halt(y->lawn);
}

static void
pause_class(struct yard *y, struct post *post)
{
    if (post->id == 8) {
        lawn_class_pause(y->cls[1]);
    }
}

TEST(timers_that_a_callback_makes_due_earlier_fire_before_later_ones)
{
    struct yard y;

    yard_begin(&y, 0, 10, 60, 12);
    start_in(&y, 3, 1);
    start_alone(&y, 8, 50);
    start_alone(&y, 9, 55);
    y.act = lower_ttl;
    CHECK_EQ(mow_budget(&y, 100, 3), 3);
    CHECK_FIRES(&y, 8, 3, 9);
    lawn_class_set_ttl(y.cls[1], 60);
    start_in(&y, 3, 1);
    start_alone(&y, 8, 50);
    start_alone(&y, 9, 55);
    y.act = lower_ttl_and_halt;
    CHECK_EQ(mow_yard(&y, 200), 1);
    CHECK_FIRES(&y, 8);
    yard_end(&y);
}

TEST(a_mow_continues_after_a_callback_has_paused_the_class_due_next)
{
    struct yard y;

    yard_begin(&y, 0, 10, 60, 12);
    start_in(&y, 3, 1);
    start_alone(&y, 8, 50);
    start_alone(&y, 9, 70);
    y.act = pause_class;
    CHECK_EQ(mow_yard(&y, 100), 2);
    CHECK_FIRES(&y, 8, 9);
    yard_end(&y);
}

TEST(timers_that_another_timer_makes_due_fire_in_the_same_mow)
{
    struct yard y;

    yard_begin(&y, 0, 10, 1000, 12);
    start_in(&y, 3, 1);
    start_alone(&y, 8, 50);
    y.act = lower_ttl;
    CHECK_EQ(mow_yard(&y, 50), 2);
    CHECK_FIRES(&y, 8, 3);
    yard_end(&y);
}

static void
replace_class(struct yard *y, struct post *post)
{
    unsigned number = post->id / 10;

    if (lawn_class_free(post->cls)) {
        y->cls[number] = lawn_class_new(y->lawn, 1, "again");
        start_in(y, 30 + number, number);
    }
}

TEST(a_callback_may_free_the_class_of_its_timer)
{
    struct yard y;

    for (unsigned way = 0; way < 3; way++) {
        yard_begin(&y, 0, 10, 10, 10);
        start_in(&y, 0, 0);
        start_in(&y, 1, 0);
        start_in(&y, 10, 1);
        y.act = replace_class;
        if (way == 0) {
            CHECK_EQ(mow_yard(&y, 20), 3);
        } else if (way == 1) {
            lawn_class_set_weight(y.cls[0], 1);
            lawn_class_set_weight(y.cls[1], 1);
            CHECK_EQ(mow_budget(&y, 20, 30), 3);
        } else {
            CHECK_EQ(mow_class(&y, 0, 20, 30), 2);
            CHECK_EQ(mow_class(&y, 1, 20, 30), 1);
        }
        CHECK_EQ(deadline_of(&y, 30), 21);
        CHECK_EQ(deadline_of(&y, 31), 21);
        y.act = NULL;
        CHECK_EQ(mow_yard(&y, 21), 2);
        yard_end(&y);
    }
}

static void
free_for_good(struct yard *y, struct post *post)
{
    (void)y;
    CHECK(lawn_class_free(post->cls));
}

TEST(a_callback_may_free_the_class_that_is_mown)
{
    struct yard y;

    yard_begin(&y, 0, 10, 10, 10);
    start_in(&y, 0, 0);
    y.act = free_for_good;
    CHECK_EQ(mow_class(&y, 0, 10, 5), 1);
    start_in(&y, 0, 1);
    lawn_class_set_weight(y.cls[1], 7);
    CHECK_EQ(mow_budget(&y, 20, 5), 1);
    start_in(&y, 0, 2);
    CHECK_EQ(mow_yard(&y, 30), 1);
    CHECK(lawn_class_each(y.lawn, NULL) == NULL);
    yard_end(&y);
}

static void
restart_at_last_tick(struct yard *y, struct post *post)
{
    if (post->cls == NULL) {
        lawn_start(y->lawn, &post->timer, 1);
    } else {
        lawn_class_start(post->cls, &post->timer);
    }
    CHECK_EQ(lawn_next(y->lawn), LAST);
    CHECK_EQ(lawn_next_exact(y->lawn), LAST);
}

TEST(a_class_timer_started_at_the_last_tick_in_a_callback_fires_in_the_next_mow)
{
    struct yard y;

    yard_begin(&y, LAST - 5, 3, 100, LAWN_NEVER);
    for (unsigned i = 0; i < 3; i++) {
        start_in(&y, i, i);
    }
    start_in(&y, 3, 2);
    start_alone(&y, 4, 100);
    y.act = restart_at_last_tick;
    for (unsigned round = 0; round < 4; round++) {
        CHECK_EQ(mow_yard(&y, LAWN_NEVER), 5);
        CHECK_EQ(lawn_next(y.lawn), LAST);
        CHECK_EQ(counters(&y, 2).count, 2);
    }
    y.fired = 0;
    CHECK_EQ(mow_class(&y, 2, LAST, SIZE_MAX), 2);
    CHECK_EQ(mow_budget(&y, LAST, 3), 3);
    CHECK_EQ(mow_class(&y, 2, LAST, 1), 1);
    CHECK_EQ(mow_class(&y, 2, LAST, 1), 1);
    y.act = NULL;
    CHECK_EQ(mow_yard(&y, LAST), 5);
    CHECK_EQ(mow_yard(&y, LAST), 0);
    yard_end(&y);
}

static void
ask_at_last_tick(struct yard *y, struct post *post)
{
    lawn_class_start(post->cls, &post->timer);
    CHECK_EQ(lawn_next(y->lawn), LAST);
    lawn_class_pause(post->cls);
    CHECK_EQ(lawn_next(y->lawn), LAWN_NEVER);
    lawn_class_resume(post->cls);
    CHECK_EQ(lawn_next_exact(y->lawn), LAST);
}

TEST(lawn_next_sees_a_class_timer_that_was_started_at_the_last_tick)
{
    struct yard y;

    yard_begin(&y, LAST, 1, 1, 1);
    start_in(&y, 0, 0);
    y.act = ask_at_last_tick;
    CHECK_EQ(mow_yard(&y, LAST), 1);
    CHECK_EQ(lawn_next(y.lawn), LAST);
    CHECK_EQ(mow_class(&y, 0, LAST, 9), 1);
    CHECK_EQ(lawn_count(y.lawn), 1);
    yard_end(&y);
}

static void
meddle_at_last_tick(struct yard *y, struct post *post)
{
    if (post->id != 0) {
        return;
    }
    start_in(y, 10, 0);
    start_in(y, 11, 0);
    start_in(y, 10, 0);
    CHECK(stop_post(y, 11));
    CHECK_EQ(counters(y, 0).next, LAST);
    CHECK_EQ(counters(y, 0).last, LAST);
    CHECK_EQ(lawn_class_forecast(y->cls[0], 0, 9), counters(y, 0).count);
    lawn_class_postpone(y->cls[0], 5);
    lawn_class_set_ttl(y->cls[0], 7);
    /* A pause, a start and a resumption at once. */
    lawn_class_pause(y->cls[1]);
    start_in(y, 20, 1);
    CHECK_EQ(lawn_next(y->lawn), LAST);
    lawn_class_resume(y->cls[1]);
    start_in(y, 30, 2);
    CHECK_EQ(lawn_class_clear(y->cls[2]), 2);
    CHECK(lawn_check(y->lawn, stdout));
}

TEST(classes_can_be_changed_during_a_mow_at_the_last_tick)
{
    struct yard y;

    yard_begin(&y, LAST, 1, 1, 1);
    start_in(&y, 0, 0);
    start_in(&y, 1, 0);
    start_in(&y, 31, 2);
    y.act = meddle_at_last_tick;
    CHECK_EQ(mow_class(&y, 0, LAST, 9), 2);
    CHECK_FIRES(&y, 0, 1);
    CHECK_EQ(counters(&y, 2).detached, 2);
    CHECK(lawn_class_take(y.cls[2]) == &y.post[31].timer);
    CHECK(lawn_class_take(y.cls[2]) == &y.post[30].timer);
    CHECK_EQ(mow_yard(&y, LAST), 2);
    yard_end(&y);
}

TEST(a_class_can_be_mown_alone)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_alone(&y, 5, 5);
    start_in(&y, 6, 1);
    for (unsigned i = 0; i < 4; i++) {
        start_in(&y, i, 0);
    }
    CHECK_EQ(mow_class(&y, 0, 9, SIZE_MAX), 0);
    CHECK_EQ(lawn_now(y.lawn), 9);
    CHECK_EQ(mow_class(&y, 0, 25, 3), 3);
    CHECK_EQ(lawn_now(y.lawn), 25);
    CHECK_FIRES(&y, 0, 1, 2);
    CHECK_EQ(mow_class(&y, 0, 25, 3), 1);
    CHECK_FIRES(&y, 3);
    CHECK_EQ(lawn_next(y.lawn), 5);
    CHECK_EQ(mow_yard(&y, 25), 2);
    CHECK_FIRES(&y, 5, 6);
    yard_end(&y);
}

static void
end_mow(struct yard *y, struct post *post)
{
    if (post->id == 1) {
        lawn_halt(y->lawn);
    }
}

TEST(lawn_halt_ends_a_mow_in_a_class)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    for (unsigned i = 0; i < 4; i++) {
        start_in(&y, i, 0);
    }
    y.act = end_mow;
    CHECK_EQ(mow_yard(&y, 10), 2);
    CHECK_FIRES(&y, 0, 1);
    start_in(&y, 1, 0);
    CHECK_EQ(mow_class(&y, 0, 20, SIZE_MAX), 3);
    CHECK_FIRES(&y, 2, 3, 1);
    yard_end(&y);
}

/* Starts many timers outside of classes, due at 1, and many of class 0, due at
 * 2. */
static struct lawn_timer *
begin_backlog(struct yard *y, size_t many)
{
    struct lawn_timer *timers = calloc(2 * many, sizeof(*timers));

    CHECK(timers != NULL);
    yard_begin(y, 0, 2, 3, 2);
    for (size_t i = 0; i < many; i++) {
        lawn_start(y->lawn, &timers[i], 1);
        lawn_class_start(y->cls[0], &timers[many + i]);
    }
    return timers;
}

static void
ignore(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

TEST(a_class_with_a_weight_is_served_in_spite_of_a_backlog)
{
    struct yard y;
    struct lawn_timer *timers = begin_backlog(&y, 100000);

    lawn_class_set_weight(y.cls[0], 1);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1000, ignore, NULL), 1000);
    CHECK_EQ(counters(&y, 0).fires, 500);
    lawn_class_set_weight(y.cls[0], 3);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1000, ignore, NULL), 1000);
    CHECK_EQ(counters(&y, 0).fires, 1250);
    lawn_class_set_weight(y.cls[0], 0);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1000, ignore, NULL), 1000);
    CHECK_EQ(counters(&y, 0).fires, 1250);
    /* A budget of 2^32 or more has no shares. */
    if (SIZE_MAX > UINT32_MAX) {
        lawn_class_set_weight(y.cls[0], 65535);
        CHECK_EQ(lawn_class_clear(y.cls[0]), 98750);
        lawn_class_start(y.cls[0], &timers[100000]);
        lawn_set_now(y.lawn, 4);
        CHECK_EQ(lawn_mow(y.lawn, 4, (size_t)UINT64_C(1) << 32, ignore, NULL),
                 100000 - 1750 + 1);
    }
    CHECK(lawn_check(y.lawn, stdout));
    lawn_free(y.lawn);
    free(timers);
}

TEST(fractions_of_a_share_are_carried_over_to_the_next_mow)
{
    struct yard y;
    struct lawn_timer *timers = begin_backlog(&y, 1000);

    lawn_class_set_weight(y.cls[0], 1);
    lawn_class_set_weight(y.cls[1], 2); /* no timers: its share is unused */
    for (unsigned i = 1; i <= 400; i++) {
        CHECK_EQ(lawn_mow(y.lawn, 2, 1, ignore, NULL), 1);
        CHECK_EQ(counters(&y, 0).fires, i / 4);
    }
    /* Without due timers nothing is carried over. */
    CHECK_EQ(lawn_mow(y.lawn, 2, 3, ignore, NULL), 3);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 900);
    CHECK_EQ(lawn_mow(y.lawn, 2, 3, ignore, NULL), 3);
    lawn_class_start(y.cls[0], &timers[1999]);
    lawn_class_start(y.cls[0], &timers[1998]);
    lawn_class_set_ttl(y.cls[0], 1);
    for (unsigned i = 1; i <= 5; i++) {
        CHECK_EQ(lawn_mow(y.lawn, 3, 1, ignore, NULL), 1);
        CHECK_EQ(counters(&y, 0).fires, 100 + i / 4);
    }
    lawn_free(y.lawn);
    free(timers);
}

TEST(classes_with_weights_share_a_budget_that_is_smaller_than_their_number)
{
    struct lawn_options options = {.classes = 10};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_timer *timers = calloc(22000, sizeof(*timers));
    struct lawn_class *cls[10];
    struct lawn_class_counters stats;

    CHECK(lawn != NULL && timers != NULL);
    for (unsigned i = 0; i < 10; i++) {
        cls[i] = lawn_class_new(lawn, 2, NULL);
        lawn_class_set_weight(cls[i], i == 9 ? 10 : 1);
    }
    for (unsigned i = 0; i < 2000; i++) {
        lawn_start(lawn, &timers[20000 + i], 1);
        for (unsigned j = 0; j < 10; j++) {
            lawn_class_start(cls[j], &timers[2000 * j + i]);
        }
    }
    /* W is 20. All classes have a whole part at the same time. */
    for (unsigned i = 0; i < 2000; i++) {
        CHECK_EQ(lawn_mow(lawn, 2, 1, ignore, NULL), 1);
    }
    for (unsigned i = 0; i < 10; i++) {
        lawn_class_stats(cls[i], &stats);
        CHECK(stats.fires <= (i == 9 ? 1000 : 100));
        CHECK(stats.fires + 1 >= (i == 9 ? 1000 : 100));
    }
    CHECK(lawn_check(lawn, stdout));
    lawn_free(lawn);
    free(timers);
}

TEST(a_change_of_weights_does_not_multiply_what_is_carried_over)
{
    struct yard y;
    struct lawn_timer *timers = begin_backlog(&y, 1000);

    lawn_class_set_weight(y.cls[0], 32000);
    lawn_class_set_weight(y.cls[1], 65535);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1, ignore, NULL), 1);
    CHECK_EQ(counters(&y, 0).fires, 0);
    lawn_class_set_weight(y.cls[0], 1);
    lawn_class_set_weight(y.cls[1], 0);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1, ignore, NULL), 1);
    CHECK_EQ(counters(&y, 0).fires, 0);
    CHECK_EQ(lawn_mow(y.lawn, 2, 1, ignore, NULL), 1);
    CHECK_EQ(counters(&y, 0).fires, 1);
    lawn_free(y.lawn);
    free(timers);
}

static void
halt_at_once(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    lawn_halt(arg);
}

TEST(mows_that_are_halted_pile_up_little_credit)
{
    struct yard y;
    struct lawn_timer *timers = begin_backlog(&y, 1000);

    lawn_class_set_weight(y.cls[0], 1);
    lawn_class_set_weight(y.cls[2], 1);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQ(lawn_mow(y.lawn, 2, 300, halt_at_once, y.lawn), 1);
    }
    CHECK_EQ(counters(&y, 0).fires, 20);
    /* Three classes have fractions of at most three timers. */
    CHECK_EQ(lawn_mow(y.lawn, 2, 300, ignore, NULL), 300);
    CHECK_EQ(counters(&y, 0).fires, 20 + 100 + 3);
    lawn_free(y.lawn);
    free(timers);
}

TEST(a_paused_class_has_no_share)
{
    struct yard y;
    struct lawn_timer *timers = begin_backlog(&y, 1000);

    lawn_class_set_weight(y.cls[0], 1);
    lawn_class_pause(y.cls[0]);
    CHECK_EQ(lawn_mow(y.lawn, 2, 100, ignore, NULL), 100);
    CHECK_EQ(counters(&y, 0).fires, 0);
    lawn_free(y.lawn);
    free(timers);
}

TEST(a_mow_with_a_budget_corrects_each_class_once)
{
    enum { CLASSES = 1000 };
    struct lawn_options options = {.classes = CLASSES};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_timer *timers = calloc(2 * CLASSES, sizeof(*timers));
    struct lawn_class *cls[CLASSES];
    struct lawn_counters stats;

    CHECK(lawn != NULL && timers != NULL);
    for (unsigned i = 0; i < CLASSES; i++) {
        cls[i] = lawn_class_new(lawn, 10, NULL);
        lawn_class_start(cls[i], &timers[i]);
    }
    lawn_set_now(lawn, 5);
    for (unsigned i = 0; i < CLASSES; i++) {
        lawn_class_start(cls[i], &timers[CLASSES + i]);
        CHECK(lawn_class_stop(cls[i], &timers[i]));
    }
    CHECK_EQ(lawn_mow(lawn, 12, 1, ignore, NULL), 0);
    lawn_stats(lawn, &stats);
    CHECK_EQ(stats.touched_idle, CLASSES);
    CHECK_EQ(lawn_mow(lawn, 15, 10, ignore, NULL), 10);
    CHECK_EQ(lawn_mow(lawn, 15, CLASSES, ignore, NULL), CLASSES - 10);
    CHECK(lawn_check(lawn, stdout));
    lawn_free(lawn);
    free(timers);
}
