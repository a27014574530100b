/* workers_start_stop.c - one worker, or two: start, restart, stop, stop_sync,
 * on the owning worker and from other threads. */
#include "workers_common.h"

#include <stdlib.h>

/* The calling thread: the owning worker, another worker, no worker. */
static const unsigned whos[] = {0, 1, NOBODY};

TEST(a_timer_of_a_worker_fires_at_its_deadline_and_not_a_tick_before)
{
    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, whos[i]);
        go_on(&c, 0, 10, 0);
        CHECK(goes(&c, 0));
        CHECK_EQ(turns(&c, 0), 1010);
        c.clock = 1009;
        CHECK_EQ(turns(&c, 0), 1010);
        CHECK_CREW_NONE(&c);
        c.clock = 1010;
        CHECK_EQ(turns(&c, 0), LAWN_NEVER);
        CHECK_CREW(&c, 0);
        CHECK_EQ(lawn_last_deadline(&c.hand[0].timer.timer), 1010);
        CHECK_EQ(fired_on(&c, 0), 0);
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        crew_end(&c);
    }
}

TEST(a_deadline_set_on_a_worker_is_kept_to_the_tick)
{
    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, whos[i]);
        go_at(&c, 0, 1500);
        all_turn(&c);
        c.clock = 1499;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1500;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        CHECK_EQ(lawn_last_deadline(&c.hand[0].timer.timer), 1500);
        crew_end(&c);
    }
}

/* A deadline in the past counts as now + 1. */
TEST(a_deadline_in_the_past_fires_a_tick_later_at_most)
{
    static const uint64_t past[] = {0, 1, 999, 1000, 1001};

    for (unsigned i = 0; i < COUNT(whos); i++) {
        for (unsigned j = 0; j < COUNT(past); j++) {
            struct crew c;

            crew_begin(&c, 2, NULL);
            as(&c, whos[i]);
            go_at(&c, 0, past[j]);
            c.clock = 1001;
            all_turn(&c);
            CHECK_CREW(&c, 0);
            crew_end(&c);
        }
    }
}

/* The message waits, but the TTL still counts from the start. */
TEST(a_ttl_counts_from_the_start_and_not_from_when_its_message_is_taken)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, NOBODY);
    go(&c, 0, 10);
    c.clock = 1007;
    CHECK_EQ(turns(&c, 0), 1010);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0);
    go(&c, 1, 10);
    c.clock = 1500; /* overdue when the worker takes the message */
    (void)turns(&c, 0);
    CHECK_CREW(&c, 1);
    crew_end(&c);
}

TEST(a_worker_counts_from_the_time_of_its_round)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    (void)turns(&c, 0);
    c.clock = 1100;
    as(&c, 0);
    CHECK_EQ(lawn_workers_start(c.set, &c.hand[0].timer, 10), 0);
    c.hand[0].running = true; /* the first start after a turn reads the clock */
    c.hand[0].due = 1110;
    CHECK_EQ(lawn_worker_now(c.worker[0]), 1100);
    c.clock = 1105;
    CHECK_EQ(lawn_workers_start(c.set, &c.hand[1].timer, 10), 0);
    CHECK_EQ(lawn_worker_now(c.worker[0]), 1100);
    c.hand[1].running = true; /* the next one does not */
    c.hand[1].due = 1110;
    lawn_worker_update(c.worker[0]);
    CHECK_EQ(lawn_worker_now(c.worker[0]), 1105);
    go(&c, 2, 10);
    c.clock = 1110;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1);
    CHECK_EQ(lawn_worker_now(c.worker[0]), 1110);
    c.clock = 1115;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 2);
    crew_end(&c);
}

TEST(a_restart_moves_the_deadline_from_wherever_it_comes)
{

    for (unsigned i = 0; i < COUNT(whos) * COUNT(whos); i++) {
        for (unsigned j = 0; j < 4; j++) {
            uint64_t ttl = j % 2 == 0 ? 50 : 5; /* later, or earlier */
            struct crew c;

            crew_begin(&c, 2, NULL);
            as(&c, whos[i / COUNT(whos)]);
            go_on(&c, 0, 10, 0);
            if (j / 2 == 1) {
                (void)turns(&c, 0); /* its message was taken */
            }
            as(&c, whos[i % COUNT(whos)]);
            go(&c, 0, ttl);
            CHECK(goes(&c, 0));
            for (unsigned k = 1; k < ttl; k++) {
                c.clock++;
                all_turn(&c);
            }
            CHECK_CREW_NONE(&c);
            c.clock++;
            all_turn(&c);
            CHECK_CREW(&c, 0);
            CHECK_EQ(fired_on(&c, 0), 0); /* it stayed on its worker */
            c.clock += 100;
            all_turn(&c);
            CHECK_CREW_NONE(&c);
            crew_end(&c);
        }
    }
}

/* [C2] */
TEST(a_stop_from_anywhere_returns_true_once_and_the_timer_does_not_fire)
{

    for (unsigned i = 0; i < COUNT(whos) * COUNT(whos); i++) {
        for (unsigned taken = 0; taken < 2; taken++) {
            struct crew c;

            crew_begin(&c, 2, NULL);
            as(&c, whos[i / COUNT(whos)]);
            go_on(&c, 0, 10, 0);
            if (taken == 1) {
                (void)turns(&c, 0);
            }
            as(&c, whos[i % COUNT(whos)]);
            CHECK(halt(&c, 0));
            CHECK(!halt(&c, 0));
            c.clock = 1010;
            CHECK(!halt(&c, 0)); /* although it would be due */
            all_turn(&c);
            CHECK_CREW_NONE(&c);
            CHECK(!halt(&c, 0));
            CHECK_EQ(stats_all(&c).held, 0);
            crew_end(&c);
        }
    }
}

TEST(a_stop_of_a_due_timer_whose_worker_has_not_turned_yet_holds)
{
    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, 0);
        go(&c, 0, 10);
        go(&c, 1, 10);
        (void)turns(&c, 0);
        c.clock = 2000;
        as(&c, whos[i]);
        CHECK(halt(&c, 0)); /* [P5] */
        all_turn(&c);
        CHECK_CREW(&c, 1);
        CHECK(!halt(&c, 1)); /* it has fired */
        crew_end(&c);
    }
}

TEST(a_stop_of_an_idle_timer_does_nothing)
{
    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, whos[i]);
        CHECK(!halt(&c, 0)); /* all-zero bytes */
        CHECK(!halt_sync(&c, 0));
        go_on(&c, 0, 10, 0);
        c.clock = 1010;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        CHECK(!halt(&c, 0)); /* fired */
        CHECK(!halt_sync(&c, 0));
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        crew_end(&c);
    }
}

TEST(a_timer_stopped_and_started_again_keeps_only_the_last_deadline)
{

    for (unsigned i = 0; i < COUNT(whos) * COUNT(whos); i++) {
        for (unsigned taken = 0; taken < 2; taken++) {
            struct crew c;

            crew_begin(&c, 2, NULL);
            for (unsigned k = 0; k < 10; k++) {
                as(&c, whos[i / COUNT(whos)]);
                go_on(&c, 0, 10 + k, 0);
                if (taken == 1) {
                    (void)turns(&c, 0);
                }
                as(&c, whos[i % COUNT(whos)]);
                CHECK(halt(&c, 0));
            }
            go_on(&c, 0, 30, 0);
            c.clock = 1029;
            all_turn(&c);
            CHECK_CREW_NONE(&c);
            c.clock = 1030;
            all_turn(&c);
            CHECK_CREW(&c, 0);
            CHECK_EQ(stats_all(&c).held, 0);
            crew_end(&c);
        }
    }
}

/* [C3] Each timer has its own block of memory, so that a sanitizer reports an
 * access. */
TEST(a_timer_may_be_freed_after_stop_sync_on_its_worker)
{
    for (unsigned how = 0; how < 16; how++) {
        struct crew c;
        struct hand *hand = malloc(sizeof(*hand));

        crew_begin(&c, 2, NULL);
        CHECK(hand != NULL);
        hand_init(&c, hand, 1);
        as(&c, 0);
        go(&c, 0, 20); /* a neighbor on its blade */
        if ((how & 1) == 0) {
            as(&c, NOBODY);
        }
        CHECK_EQ(lawn_workers_start_on(c.set, &hand->timer, 20, c.number[0]),
                 0);
        if ((how & 2) != 0) {
            (void)turns(&c, 0);
        }
        if ((how & 4) != 0) {
            as(&c, 1);
            CHECK_EQ(lawn_workers_start(c.set, &hand->timer, 10), 0);
        }
        if ((how & 8) != 0) {
            as(&c, NOBODY);
            CHECK(lawn_workers_stop(c.set, &hand->timer));
        }
        as(&c, 0);
        CHECK_EQ(lawn_workers_stop_sync(c.set, &hand->timer), (how & 8) == 0);
        free(hand);
        go(&c, 2, 20);
        c.clock = 1020;
        all_turn(&c);
        CHECK_CREW(&c, 0, 2);
        crew_end(&c);
    }
}

TEST(a_timer_may_be_freed_after_stop_sync_by_anyone_once_it_has_fired)
{
    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;
        struct hand *hand = malloc(sizeof(*hand));

        crew_begin(&c, 2, NULL);
        CHECK(hand != NULL);
        hand_init(&c, hand, 1);
        as(&c, NOBODY);
        go_on(&c, 0, 20, 0);
        CHECK_EQ(hand_start(&c, hand, 10), 0);
        CHECK_EQ(hand_start(&c, hand, 5), 0);
        c.clock = 1005;
        all_turn(&c);
        CHECK_CREW(&c, 1);
        as(&c, whos[i]);
        CHECK(!lawn_workers_stop_sync(c.set, &hand->timer));
        free(hand);
        c.clock = 1020;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        crew_end(&c);
    }
}

TEST(timers_of_one_worker_fire_in_the_order_of_their_deadlines)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, 0);
    go(&c, 3, 20);
    go(&c, 0, 10);
    go(&c, 1, 10);
    as(&c, NOBODY);
    go(&c, 4, 20); /* also in the order of the messages */
    go(&c, 5, 20);
    go(&c, 2, 10);
    (void)turns(&c, 0);
    c.clock = 1030;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1, 2, 3, 4, 5); /* [P4] */
    crew_end(&c);
}

TEST(a_thread_is_the_worker_that_it_was_made_or_none)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    CHECK(lawn_workers_self() == NULL);
    CHECK(lawn_workers_be(c.worker[1]) == NULL);
    CHECK(lawn_workers_self() == c.worker[1]);
    CHECK(lawn_workers_be(c.worker[0]) == c.worker[1]);
    CHECK(lawn_workers_be(NULL) == c.worker[0]);
    CHECK(c.number[0] != c.number[1]);
    crew_end(&c);
}
