/* workers_wake.c - when a worker is woken [C7], how it handles a flood of
 * messages [C9], and its counters. */
#include "workers_common.h"

#include <stdlib.h>

TEST(a_worker_that_has_nothing_to_do_is_not_called)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK(!called(&c, 0));
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK(!called(&c, 0));
    crew_end(&c);
}

/* [C7] */
TEST(a_worker_is_called_exactly_when_it_must_wake_earlier)
{
    static const unsigned whos[] = {1, NOBODY};

    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, whos[i]);
        CHECK_EQ(turns(&c, 0), LAWN_NEVER);
        CHECK(!called(&c, 0));
        go_on(&c, 0, 100, 0);
        CHECK(called(&c, 0));
        CHECK_EQ(turns(&c, 0), 1100);
        CHECK(!called(&c, 0));
        go_on(&c, 1, 200, 0); /* it wakes earlier anyway */
        CHECK(!called(&c, 0));
        go_on(&c, 2, 100, 0); /* exactly then */
        CHECK(!called(&c, 0));
        go_on(&c, 3, 99, 0);
        CHECK(called(&c, 0));
        CHECK(called(&c, 0)); /* until it turns */
        CHECK_EQ(turns(&c, 0), 1099);
        CHECK(!called(&c, 0));
        CHECK(halt(&c, 3)); /* no reason to wake */
        CHECK(!called(&c, 0));
        go_on(&c, 0, 150, 0);
        CHECK(!called(&c, 0));
        CHECK(!called(&c, 1));
        c.clock = 1100;
        all_turn(&c);
        CHECK_CREW(&c, 2);
        c.clock = 1150;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        c.clock = 1200;
        all_turn(&c);
        CHECK_CREW(&c, 1);
        CHECK(!called(&c, 0));
        crew_end(&c);
    }
}

TEST(a_worker_is_not_called_for_what_it_starts_itself)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    all_turn(&c);
    CHECK(!called(&c, 0));
    uint64_t before = stats_of(&c, 0).wakes;
    as(&c, 0);
    go(&c, 0, 10);
    CHECK(!called(&c, 1));
    CHECK_EQ(turns(&c, 0), 1010);
    CHECK(halt(&c, 0));
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK(!called(&c, 0));
    CHECK_EQ(stats_of(&c, 0).wakes, before);
    CHECK_EQ(stats_of(&c, 0).messages, 0); /* [C5] */
    crew_end(&c);
}

TEST(a_burst_of_starts_wakes_a_worker_once)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    (void)turns(&c, 0);
    uint64_t before = stats_of(&c, 0).wakes;
    for (unsigned i = 0; i < HANDS; i++) {
        go(&c, i, 1000 - i); /* each earlier than the one before */
    }
    (void)turns(&c, 0);
    CHECK_EQ(stats_of(&c, 0).wakes, before + 1);
    CHECK_EQ(stats_of(&c, 0).messages, HANDS);
    for (unsigned i = 0; i < HANDS; i++) {
        go(&c, i, 2000 + i); /* none of them is earlier */
    }
    (void)turns(&c, 0);
    CHECK_EQ(stats_of(&c, 0).wakes, before + 1);
    c.clock = 4000;
    (void)turns(&c, 0);
    CHECK_EQ(stats_of(&c, 0).fires, HANDS);
    CHECK_EQ(stats_of(&c, 0).wakes, before + 1);
    CHECK_EQ(stats_all(&c).wakes, before + 1);
    crew_end(&c);
}

TEST(all_workers_look_at_the_clock_when_they_are_asked_to)
{
    struct crew c;

    crew_begin(&c, 3, NULL);
    all_turn(&c);
    lawn_workers_wake(c.set);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(called(&c, i));
        (void)turns(&c, i);
        CHECK(!called(&c, i));
    }
    crew_end(&c);
}

/* The lawns of a removed worker may wake the workers that take them over. */
TEST(a_worker_is_called_if_a_lawn_it_takes_over_is_due_earlier)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 0);
    go(&c, 0, 100);
    as(&c, 1);
    go(&c, 1, 10);
    all_turn(&c);
    CHECK(!called(&c, 0));
    crew_detach(&c, 1);
    CHECK(called(&c, 0));
    CHECK_EQ(turns(&c, 0), 1010);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 1);
    crew_end(&c);
}

/* A worker may sleep until the time that the turn returned. Here the message
 * came before the first call of lawn_worker_fd(). */
TEST(a_descriptor_requested_late_reports_earlier_wake_ups)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    (void)turns(&c, 0);
    go(&c, 0, 100);
    CHECK(called(&c, 0));
    (void)turns(&c, 0);
    CHECK(!called(&c, 0));
    crew_end(&c);
}

TEST(a_turn_fires_no_more_than_its_budget_and_returns_that_there_is_more)
{
    struct lawn_workers_options options = {.budget = 10};
    struct crew c;

    crew_begin(&c, 1, &options);
    as(&c, 0);
    for (unsigned i = 0; i < 25; i++) {
        go(&c, i, 10);
    }
    CHECK_EQ(turn(&c, 0), 1010);
    c.clock = 1012;
    CHECK(turn(&c, 0) <= c.clock);
    CHECK_EQ(c.fires, 10);
    CHECK(turn(&c, 0) <= c.clock);
    CHECK_EQ(c.fires, 20);
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK_EQ(c.fires, 25);
    CHECK_EQ(stats_of(&c, 0).late_most, 2);
    CHECK_EQ(stats_of(&c, 0).late_sum, 50);
    crew_end(&c);
}

/* [C9] */
TEST(a_flood_of_messages_does_not_keep_a_due_timer_from_firing)
{
    static const size_t budgets[] = {0, 1, 16, 1000};
    unsigned many = how_many(100000, 100000, 20000);
    struct hand *flood = calloc(many, sizeof(*flood));

    CHECK(flood != NULL);
    for (unsigned b = 0; b < COUNT(budgets); b++) {
        struct lawn_workers_options options = {.budget = budgets[b]};
        uint64_t budget = budgets[b] != 0 ? budgets[b] : 256;
        struct crew c;
        unsigned rounds = 0;

        crew_begin(&c, 1, &options);
        c.unchecked = true;
        as(&c, 0);
        go(&c, 0, 10);
        (void)turns(&c, 0);
        as(&c, NOBODY);
        for (unsigned i = 0; i < many; i++) {
            hand_init(&c, &flood[i], 1);
            CHECK_EQ(hand_start(&c, &flood[i], 10000000), 0);
        }
        c.clock = 1010;
        CHECK(turn(&c, 0) <= c.clock); /* more work at once */
        CHECK_CREW(&c, 0);
        CHECK(stats_of(&c, 0).messages <= budget);
        for (; stats_of(&c, 0).messages < many; rounds++) {
            uint64_t before = stats_of(&c, 0).messages;

            c.clock++; /* one more due timer each time */
            as(&c, 0);
            go(&c, 2, 1);
            c.clock++;
            CHECK(turn(&c, 0) <= c.clock || stats_of(&c, 0).messages == many);
            CHECK_CREW(&c, 2);
            /* The worker's own start has taken some messages as well. */
            CHECK(stats_of(&c, 0).messages <= before + 2 * budget);
            CHECK(rounds <= 3 * (many / budget + 1));
        }
        as(&c, NOBODY);
        c.clock = 20000000;
        (void)turns(&c, 0);
        CHECK_EQ(c.fires, many + 1 + rounds);
        crew_end(&c);
    }
    free(flood);
}

/* A timer in a long queue of messages is a single message, however often it is
 * started. */
TEST(a_timer_restarted_a_thousand_times_is_one_message)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    (void)turns(&c, 0);
    for (unsigned i = 0; i < 1000; i++) {
        go(&c, 0, 10 + i);
    }
    CHECK_EQ(turn(&c, 0), 1000 + 10 + 999);
    CHECK_EQ(stats_of(&c, 0).messages, 1);
    CHECK_EQ(stats_of(&c, 0).held, 1);
    crew_end(&c);
}

static void
get_stuck(struct crew *crew, struct hand *hand)
{
    (void)hand;
    crew->act = NULL;
    crew->clock += 700;
    CHECK_EQ(stats_of(crew, 0).behind, 700);
    CHECK_EQ(stats_of(crew, 1).behind, 0);
    CHECK_EQ(stats_all(crew).behind, 700);
    as(crew, 1); /* the others continue */
    (void)lawn_worker_turn(crew->worker[1]);
    as(crew, 0);
    CHECK_EQ(crew->hand[1].fired_on == crew->worker[1], true);
}

TEST(a_worker_stuck_in_a_callback_shows_and_does_not_hold_up_the_others)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    c.act = get_stuck;
    as(&c, 1);
    go(&c, 1, 300);
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 2, 20);
    all_turn(&c);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1, 2);
    CHECK_EQ(stats_of(&c, 0).late_most, 690); /* the one that waited */
    CHECK_EQ(stats_of(&c, 0).late_sum, 690);
    CHECK_EQ(stats_of(&c, 0).behind, 0); /* it is asleep */
    CHECK_EQ(stats_of(&c, 1).late_most, 410);
    crew_end(&c);
}

TEST(the_counters_of_the_workers_add_up)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    for (unsigned i = 0; i < 40; i++) {
        as(&c, i % 4 == 0 ? NOBODY : i % 2);
        go(&c, i, 10 + i);
    }
    all_turn(&c);
    CHECK_EQ(stats_all(&c).held, 40);
    c.clock = 1030;
    all_turn(&c);
    struct lawn_workers_counters one = stats_of(&c, 0);
    struct lawn_workers_counters two = stats_of(&c, 1);
    struct lawn_workers_counters all = stats_all(&c);
    CHECK_EQ(all.workers, 2);
    CHECK_EQ(all.shards, one.shards + two.shards);
    CHECK_EQ(all.fires, c.fires);
    CHECK_EQ(all.fires, one.fires + two.fires);
    CHECK_EQ(all.held, 40 - c.fires);
    CHECK_EQ(all.held, one.held + two.held);
    CHECK_EQ(all.messages, 10);
    CHECK_EQ(all.messages, one.messages + two.messages);
    CHECK_EQ(all.turns, one.turns + two.turns);
    CHECK(all.turns >= 4);
    CHECK_EQ(all.late_sum, one.late_sum + two.late_sum);
    CHECK_EQ(all.late_most, 20);
    crew_detach(&c, 1); /* the totals still include it */
    CHECK_EQ(stats_all(&c).fires, all.fires);
    CHECK_EQ(stats_all(&c).held, all.held);
    CHECK_EQ(stats_all(&c).messages, all.messages);
    CHECK_EQ(stats_all(&c).late_most, all.late_most);
    CHECK_EQ(crew_attach(&c), 1);
    CHECK_EQ(stats_of(&c, 1).fires, 0);
    CHECK_EQ(stats_of(&c, 1).turns, 0);
    crew_end(&c);
}

TEST(a_timer_stopped_from_elsewhere_is_held_until_its_deadline)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 1, 20);
    (void)turns(&c, 0);
    as(&c, NOBODY);
    CHECK(halt(&c, 0));
    CHECK(stats_all(&c).held <= 2);
    CHECK(stats_all(&c).held >= 1);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW_NONE(&c);
    CHECK_EQ(stats_all(&c).held, 1);
    CHECK_EQ(stats_all(&c).fires, 0);
    crew_end(&c);
}
