/* workers_museum.c - bugs of other libraries that workers could have. The
 * numbers are those of museum.c. */
#include "workers_common.h"

/* 12. libevent 59be8942: a queue of one duration, filled by several threads,
 * was out of order. The first start may be taken last. */
TEST(starts_received_out_of_order_fire_in_the_order_of_deadlines)
{
    struct lawn_workers_options options = {.budget = 1};
    struct crew c;

    crew_begin(&c, 1, &options);
    (void)turns(&c, 0);
    as(&c, NOBODY);
    for (unsigned i = 0; i < 10; i++) {
        c.clock++;
        go_on(&c, i, 100, 0); /* waits in the mailbox */
    }
    as(&c, 0);
    for (unsigned i = 10; i < 20; i++) {
        c.clock++;
        (void)turn(&c, 0); /* takes one of the messages */
        go(&c, i, 100);
    }
    CHECK_CREW_NONE(&c);
    for (; c.clock < 1200; c.clock++) {
        (void)turns(&c, 0);
    }
    CHECK_CREW(&c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
               18, 19);
    crew_end(&c);
}

/* 16. libevent PR #46: after a suspension, with all timers overdue, a short
 * timer from another thread did not wake the loop. */
TEST(a_short_start_from_elsewhere_after_a_long_stall_wakes_its_worker)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, NOBODY);
    go_on(&c, 0, 1000000, 0);
    CHECK_EQ(turns(&c, 0), 1001000);
    CHECK(!called(&c, 0));
    c.clock = 900000; /* no worker has turned since */
    go_on(&c, 1, 1, 0);
    CHECK(called(&c, 0));
    c.clock++;
    CHECK_EQ(turns(&c, 0), 1001000);
    CHECK_CREW(&c, 1);
    c.clock = 5000000;
    go_on(&c, 2, 1, 0); /* also long after it should have woken */
    c.clock++;
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK_CREW(&c, 0, 2);
    crew_end(&c);
}

/* 17. libevent #1727, PR #1730: another thread stopped the earliest timer, and
 * from then on the loop slept for the wrong time. */
TEST(a_worker_whose_earliest_timer_was_stopped_elsewhere_wakes_once_for_nothing)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 1);
    go_on(&c, 0, 100, 0);
    go_on(&c, 1, 500, 0);
    CHECK_EQ(turns(&c, 0), 1100);
    CHECK(halt(&c, 0));
    CHECK(!called(&c, 0));
    c.clock = 1100;
    CHECK_EQ(turns(&c, 0), 1500);
    CHECK_CREW_NONE(&c);
    c.clock = 1500;
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK_CREW(&c, 1);
    crew_end(&c);
}

static void
command_from_elsewhere(struct crew *crew, struct hand *hand)
{
    if (hand->id != 0) {
        return;
    }
    as(crew, NOBODY);
    go_on(crew, 1, 5, 0);    /* due now */
    CHECK(halt(crew, 2));    /* due now */
    go_on(crew, 3, 1, 1);    /* due now, and to another worker */
    go_on(crew, 4, 1, 0);    /* was idle */
    CHECK(!halt(crew, 0));   /* its callback is running */
    go_on(crew, 0, 1000, 0); /* again */
    as(crew, 0);
}

/* 18, 43. libevent PR #1734, #1530: a timeout dropped other pending work; DPDK
 * a4b7a5a45cf5: another core restarted a timer on the list of expiring ones,
 * which was then on two lists; tests/explore has the interleavings. */
TEST(commands_from_elsewhere_in_a_callback_hold_for_all_that_are_due)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 0);
    for (unsigned i = 0; i < 4; i++) {
        go(&c, i, 10);
    }
    c.act = command_from_elsewhere;
    c.clock = 1010;
    (void)turn(&c, 0);
    CHECK_CREW(&c, 0);
    c.act = NULL;
    c.clock = 1011;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 4);
    (void)turns(&c, 1);
    CHECK_CREW(&c, 3);
    CHECK_EQ(fired_on(&c, 3), 1);
    c.clock = 1015;
    all_turn(&c);
    CHECK_CREW(&c, 1);
    c.clock = 2010;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    CHECK_EQ(stats_all(&c).fires, 5);
    crew_end(&c);
}
