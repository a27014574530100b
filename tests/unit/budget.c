/* budget.c - mowing in portions [P2], and the clock and mowing position
 * [P1]. */
#include "common.h"

#include <string.h>

TEST(a_mow_fires_no_more_than_its_budget_and_the_next_takes_the_rest)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 10; i++) {
            start(&s, i, 50);
        }
        CHECK_EQ(mow_some(&s, 60, 4), 4);
        CHECK_FIRED(&s, 0, 1, 2, 3);
        CHECK_EQ(running(&s), 6);
        CHECK_EQ(lawn_next(s.lawn), 50);
        CHECK_EQ(mow_some(&s, 60, 4), 4);
        CHECK_FIRED(&s, 4, 5, 6, 7);
        CHECK_EQ(mow_some(&s, 60, 4), 2);
        CHECK_FIRED(&s, 8, 9);
        scene_end(&s);
    }
}

TEST(a_budget_of_zero_moves_the_clock_and_fires_nothing)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    CHECK_EQ(mow_some(&s, 10, 0), 0);
    CHECK_EQ(lawn_now(s.lawn), 10);
    CHECK(pending(&s, 0));
    CHECK_EQ(mow_some(&s, 10, 1), 1);
    scene_end(&s);
}

TEST(a_budget_met_exactly_leaves_nothing_for_the_next_mow)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 20);
        CHECK_EQ(mow_some(&s, 30, 2), 2);
        CHECK_EQ(mow_some(&s, 30, 2), 0);
        CHECK_EQ(mow_some(&s, 30, 0), 0);
        scene_end(&s);
    }
}

/* Fires 200 timers with a budget. Returns the number of mows needed. */
static unsigned
run_with_budget(struct scene *s, enum ground ground, size_t budget)
{
    static struct probe probes[200];
    uint64_t state = 7046029254386353131u;
    unsigned mows = 0;

    memset(probes, 0, sizeof(probes));
    scene_begin(s, ground);
    for (unsigned i = 0; i < COUNT(probes); i++) {
        probes[i].id = i;
        start_probe(s, &probes[i], chance(&state) % 40 * 25);
    }
    while (running(s) > 0) {
        size_t fired = mow_some(s, 1000, budget);

        mows++;
        CHECK_EQ(fired,
                 running(s) == 0 ? s->fired - (mows - 1) * budget : budget);
    }
    scene_end(s);
    return mows;
}

TEST(any_budget_fires_the_same_deadlines_in_the_same_order)
{
    static const size_t budgets[] = {1, 2, 3, 7, 16, 17, 100, 199, 200, 201};
    struct scene whole;
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        CHECK_EQ(run_with_budget(&whole, (enum ground)ground, SIZE_MAX), 1);
        for (size_t i = 0; i < COUNT(budgets); i++) {
            CHECK_EQ(run_with_budget(&s, (enum ground)ground, budgets[i]),
                     (200 + budgets[i] - 1) / budgets[i]);
            CHECK(memcmp(s.due, whole.due, 200 * sizeof(s.due[0])) == 0);
        }
    }
}

/* [P1]: the mowing position lags behind the clock; a start counts from the
 * clock. */
TEST(timers_started_while_others_are_overdue_count_from_the_clock)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 4; i++) {
            start(&s, i, 100 + i);
        }
        CHECK_EQ(mow_some(&s, 5000, 2), 2);
        start(&s, 8, 100); /* the TTL of timer 0, which has fired */
        start(&s, 9, 102); /* the TTL of timer 2, which is overdue */
        CHECK_EQ(lawn_deadline(&s.probe[8].timer), 5100);
        CHECK_EQ(lawn_deadline(&s.probe[9].timer), 5102);
        CHECK_EQ(mow_some(&s, 5099, 10), 2);
        CHECK_FIRED(&s, 0, 1, 2, 3);
        CHECK_EQ(mow(&s, 5100), 1);
        CHECK_EQ(mow(&s, 5102), 1);
        CHECK_FIRED(&s, 8, 9);
        scene_end(&s);
    }
}

TEST(an_overdue_timer_can_be_stopped_and_restarted_between_portions)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 6; i++) {
            start(&s, i, 50);
        }
        CHECK_EQ(mow_some(&s, 500, 2), 2);
        CHECK(stop(&s, 3));
        start(&s, 2, 50);
        CHECK_EQ(mow_some(&s, 500, 100), 2);
        CHECK_FIRED(&s, 0, 1, 4, 5);
        CHECK_EQ(lawn_next(s.lawn), 550);
        CHECK_EQ(mow(&s, 550), 1);
        CHECK_FIRED(&s, 2);
        scene_end(&s);
    }
}

TEST(a_mow_that_returns_less_than_its_budget_leaves_nothing_due)
{
    struct scene s;
    int ground = 0;
    uint64_t state = 1;

    for (ground = 0; ground < GROUNDS; ground++) {
        uint64_t now = 0;

        scene_begin(&s, (enum ground)ground);
        for (unsigned round = 0; round < 300; round++) {
            for (unsigned i = 0; i < 8; i++) {
                start(&s, (unsigned)(chance(&state) % PROBES),
                      chance(&state) % 600);
            }
            now += chance(&state) % 100;
            if (mow_some(&s, now, 5) < 5) {
                for (unsigned i = 0; i < PROBES; i++) {
                    CHECK(lawn_deadline(&s.probe[i].timer) > now);
                }
                CHECK(lawn_next(s.lawn) > now);
            }
            s.fired = 0;
        }
        scene_end(&s);
    }
}
