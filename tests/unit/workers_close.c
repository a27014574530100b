/* workers_close.c - closing a set: which timers fire, are left, or are
 * refused. */
#include "workers_common.h"

#include <errno.h>
#include <stdlib.h>

TEST(no_set_can_be_freed)
{
    lawn_workers_free(NULL);
}

TEST(a_set_that_was_not_used_is_closed_and_freed)
{
    struct crew c;

    crew_begin(&c, 0, NULL);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 0);
    crew_end(&c);
    crew_begin(&c, 2, NULL);
    crew_end(&c);
}

/* Starts timers on the lawn and in the mailbox, and stops some of both. */
static void
fill(struct crew *c)
{
    for (unsigned i = 0; i < 32; i++) {
        as(c, i % 4 == 0 ? NOBODY : i % 2);
        go(c, i, 10 + i);
    }
    all_turn(c);
    for (unsigned i = 16; i < 48; i++) {
        as(c, i % 4 == 0 ? 1 : NOBODY);
        go(c, i, 100 + i);
    }
    for (unsigned i = 0; i < 48; i += 5) {
        as(c, i % 3 == 0 ? 0 : NOBODY);
        CHECK(halt(c, i));
    }
    as(c, NOBODY);
}

/* 48 without every fifth. */
#define FILLED 38u

TEST(a_set_closed_at_once_reports_each_timer_that_is_left_once)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    fill(&c);
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), FILLED);
    CHECK_EQ(c.left, FILLED);
    for (unsigned i = 0; i < HANDS; i++) {
        CHECK(!goes(&c, i));
    }
    CHECK_CREW_NONE(&c);
    CHECK(lawn_workers_check(c.set, stdout));
    crew_end(&c);
}

TEST(the_timers_that_are_left_are_counted_without_a_left_function)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    fill(&c);
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, NULL, NULL), FILLED);
    for (unsigned i = 0; i < HANDS; i++) {
        CHECK(!lawn_workers_pending(&c.hand[i].timer));
    }
    crew_end(&c);
}

static void
free_left(struct lawn_workers_timer *timer, void *arg)
{
    hand_left(timer, arg);
    free(LAWN_CONTAINER(timer, struct hand, timer));
}

/* [C3] A sanitizer would report an access. */
TEST(timers_that_are_left_may_be_freed_in_left)
{
    struct hand *hands[40];
    struct crew c;

    crew_begin(&c, 2, NULL);
    for (unsigned i = 0; i < COUNT(hands); i++) {
        hands[i] = malloc(sizeof(*hands[i]));
        CHECK(hands[i] != NULL);
        hand_init(&c, hands[i], i);
        as(&c, i % 3 == 2 ? NOBODY : i % 3);
        CHECK_EQ(hand_start(&c, hands[i], 10 + i % 4), 0);
        if (i % 2 == 0) {
            (void)turns(&c, i / 2 % 2);
        }
    }
    as(&c, NOBODY);
    for (unsigned i = 0; i < COUNT(hands); i += 3) {
        CHECK_EQ(hand_start(&c, hands[i], 50), 0);
    }
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, free_left, &c), COUNT(hands));
    crew_end(&c);
}

TEST(a_set_that_is_closed_refuses_starts_and_changes_nothing)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    crew_detach(&c, 0);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 1);
    CHECK_EQ((uint64_t)-hand_start(&c, &c.hand[0], 10), ESHUTDOWN);
    CHECK_EQ((uint64_t)-hand_start(&c, &c.hand[1], 10), ESHUTDOWN);
    CHECK_EQ((uint64_t)-lawn_workers_start_at(c.set, &c.hand[1].timer, 2000),
             ESHUTDOWN);
    CHECK(lawn_workers_start_on(c.set, &c.hand[1].timer, 10, c.number[0]) < 0);
    CHECK(!goes(&c, 0));
    CHECK(!goes(&c, 1));
    CHECK(!halt(&c, 0));
    CHECK(!halt_sync(&c, 1));
    CHECK(lawn_workers_attach(c.set) == NULL);
    CHECK_EQ(errno, ESHUTDOWN);
    CHECK_EQ((uint64_t)-lawn_workers_add(c.set), ESHUTDOWN);
    CHECK_EQ(stats_all(&c).workers, 0);
    lawn_workers_wake(c.set);
    crew_end(&c);
}

TEST(a_set_that_is_closed_already_has_nothing_left)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    crew_detach(&c, 0);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 0);
    CHECK_EQ(lawn_workers_close(c.set, LAWN_NEVER, hand_left, &c), 0);
    CHECK_EQ(c.left, 1);
    crew_end(&c);
}

/* No worker can fire them, and there is no worker to wait for. */
TEST(a_set_without_workers_is_closed_at_once_whatever_it_is_asked_to_wait_for)
{
    static const uint64_t untils[] = {0, 1000, 1010, LAWN_NEVER};

    for (unsigned i = 0; i < COUNT(untils); i++) {
        struct crew c;

        crew_begin(&c, 1, NULL);
        as(&c, 0);
        go(&c, 0, 10);
        crew_detach(&c, 0);
        go(&c, 1, 500);
        c.clock = 1020;
        CHECK_EQ(lawn_workers_close(c.set, untils[i], hand_left, &c) + c.fires,
                 2);
        CHECK(!goes(&c, 0));
        CHECK(!goes(&c, 1));
        crew_end(&c);
    }
}

TEST(timers_of_a_set_that_was_freed_are_idle_and_may_be_used_in_another)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    fill(&c);
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    lawn_workers_free(c.set);
    for (unsigned i = 0; i < HANDS; i++) {
        c.hand[i].running = false;
        CHECK(!goes(&c, i));
    }
    struct lawn_workers_options options = crew_options(&c, NULL);
    c.set = lawn_workers_new(&options);
    CHECK(c.set != NULL);
    (void)crew_attach(&c);
    for (unsigned i = 0; i < HANDS; i++) {
        as(&c, i % 2 == 0 ? 0 : NOBODY);
        go(&c, i, 10);
    }
    c.clock += 10;
    all_turn(&c);
    CHECK_EQ(c.fires, HANDS);
    crew_end(&c);
}
