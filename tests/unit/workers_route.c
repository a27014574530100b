/* workers_route.c - which worker gets a timer: the starting one, each in turn,
 * a named one, or one selected by TTL. */
#include "workers_common.h"

#include <errno.h>

TEST(a_timer_started_by_a_worker_fires_on_it)
{
    struct crew c;

    crew_begin(&c, 4, NULL);
    for (unsigned i = 0; i < 32; i++) {
        as(&c, i * 7 % 4);
        go(&c, i, 10);
    }
    c.clock = 1010;
    all_turn(&c);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(fired_on(&c, i), i * 7 % 4);
    }
    crew_end(&c);
}

TEST(timers_started_by_no_worker_go_to_one_after_the_other)
{
    struct crew c;
    unsigned count[4] = {0};

    crew_begin(&c, 4, NULL);
    for (unsigned i = 0; i < 40; i++) {
        go(&c, i, 10);
    }
    c.clock = 1010;
    all_turn(&c);
    for (unsigned i = 0; i < 40; i++) {
        CHECK(fired_on(&c, i) < 4);
        count[fired_on(&c, i)]++;
        if (i >= 4) {
            CHECK_EQ(fired_on(&c, i), fired_on(&c, i - 4));
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(count[i], 10);
    }
    crew_end(&c);
}

TEST(a_running_timer_stays_where_it_is_when_it_is_started_again)
{
    struct crew c;

    crew_begin(&c, 4, NULL);
    as(&c, 2);
    go(&c, 0, 10);
    for (unsigned i = 0; i < 20; i++) {
        as(&c, i % 5 == 4 ? NOBODY : i % 5);
        go(&c, 0, 10 + i);
        if (i % 3 == 0) {
            (void)turns(&c, 2);
        }
    }
    c.clock = 1100;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    CHECK_EQ(fired_on(&c, 0), 2);
    crew_end(&c);
}

/* An idle timer moves to the worker that starts it. If another thread starts
 * it, it returns to its previous worker. */
TEST(a_timer_that_has_ended_moves_to_the_worker_that_starts_it_next)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    c.clock = 1010;
    all_turn(&c);
    CHECK_EQ(fired_on(&c, 0), 0);
    as(&c, 1);
    go(&c, 0, 10);
    c.clock = 1020;
    all_turn(&c);
    CHECK_EQ(fired_on(&c, 0), 1);
    as(&c, NOBODY);
    for (unsigned i = 0; i < 5; i++) {
        c.hand[0].fired_on = NULL;
        go(&c, 0, 10);
        c.clock += 10;
        all_turn(&c);
        CHECK_EQ(fired_on(&c, 0), 1);
    }
    crew_end(&c);
}

/* After a stop by another thread, it is still on its worker's lawn. */
TEST(a_stopped_timer_started_elsewhere_fires_once_on_any_worker)
{
    for (unsigned how = 0; how < 18; how++) {
        struct crew c;

        crew_begin(&c, 3, NULL);
        as(&c, 0);
        go(&c, 0, 10);
        (void)turns(&c, 0);
        as(&c, how % 3 == 0 ? 1 : how % 3 == 1 ? 0 : NOBODY);
        CHECK(halt(&c, 0));
        as(&c, how / 3 % 3 == 0 ? 1 : how / 3 % 3 == 1 ? 2 : NOBODY);
        go(&c, 0, 20);
        if (how / 9 == 1) {
            all_turn(&c);
        }
        c.clock = 1019;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1020;
        all_turn(&c);
        all_turn(&c);
        CHECK_CREW(&c, 0);
        CHECK_EQ(stats_all(&c).held, 0);
        crew_end(&c);
    }
}

TEST(a_worker_by_name_gets_the_timer_from_any_thread)
{
    struct crew c;

    crew_begin(&c, 4, NULL);
    for (unsigned i = 0; i < 20; i++) {
        as(&c, i % 5 == 4 ? NOBODY : i % 5);
        go_on(&c, i, 10, i / 5);
    }
    c.clock = 1010;
    all_turn(&c);
    CHECK_EQ(c.fires, 20);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQ(fired_on(&c, i), i / 5);
    }
    crew_end(&c);
}

/* Whichever thread calls it, and in whatever order the two workers turn. */
TEST(a_running_timer_moves_to_the_worker_that_start_on_names)
{
    for (unsigned how = 0; how < 16; how++) {
        struct crew c;

        crew_begin(&c, 3, NULL);
        as(&c, 0);
        go(&c, 0, 10);
        go(&c, 1, 10);
        go(&c, 2, 30);
        if ((how & 8) != 0) {
            all_turn(&c);
        }
        as(&c, how % 4 == 3 ? NOBODY : how % 4);
        go_on(&c, 0, 30, 1);
        CHECK(goes(&c, 0));
        if ((how & 4) != 0) {
            (void)turns(&c, 1);
            (void)turns(&c, 0);
        } else {
            (void)turns(&c, 0);
            (void)turns(&c, 1);
        }
        c.clock = 1029;
        all_turn(&c);
        CHECK_CREW(&c, 1); /* its old deadline was dropped */
        c.clock = 1030;
        all_turn(&c);
        all_turn(&c);
        CHECK_EQ(c.fires, 3);
        CHECK_EQ(fired_on(&c, 0), 1);
        CHECK_EQ(fired_on(&c, 2), 0);
        CHECK_EQ(stats_all(&c).held, 0);
        crew_end(&c);
    }
}

TEST(a_restart_of_a_timer_on_its_way_does_not_turn_it_back)
{
    static const unsigned whos[] = {0, 1, 2, NOBODY};

    for (unsigned i = 0; i < COUNT(whos) * COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 3, NULL);
        all_turn(&c);
        as(&c, 0);
        go(&c, 0, 10);
        as(&c, whos[i / COUNT(whos)]);
        go_on(&c, 0, 30, 1);
        as(&c, whos[i % COUNT(whos)]);
        go(&c, 0, 20);
        all_turn(&c);
        all_turn(&c);
        c.clock = 1019;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1020;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        CHECK_EQ(fired_on(&c, 0), 1);
        crew_end(&c);
    }
}

/* The old worker is slow; no start is lost on the way, whatever follows. */
TEST(a_timer_that_moves_repeatedly_fires_once_where_it_was_sent_last)
{
    struct crew c;

    crew_begin(&c, 3, NULL);
    for (unsigned i = 0; i < 30; i++) {
        as(&c, NOBODY);
        go_on(&c, 0, 100, i % 3);
        if (i % 4 == 1) {
            (void)turns(&c, (i + 1) % 3);
        }
        if (i % 7 == 3) {
            CHECK(halt(&c, 0));
        }
    }
    c.clock = 1099;
    all_turn(&c);
    all_turn(&c);
    CHECK_CREW_NONE(&c);
    c.clock = 1100;
    all_turn(&c);
    all_turn(&c);
    all_turn(&c);
    CHECK_CREW(&c, 0);
    CHECK_EQ(fired_on(&c, 0), 29 % 3);
    CHECK_EQ(stats_all(&c).held, 0);
    crew_end(&c);
}

TEST(a_worker_that_is_not_there_cannot_be_named_and_nothing_changes)
{
    struct crew c;

    crew_begin(&c, 3, NULL);
    unsigned gone = c.number[2];
    crew_detach(&c, 2);
    for (unsigned i = 0; i < 3; i++) {
        const unsigned bad[] = {gone, LAWN_WORKERS_MAX, UINT32_MAX};

        for (unsigned who = 0; who < 3; who++) {
            as(&c, who == 2 ? NOBODY : who);
            CHECK_EQ((uint64_t)-lawn_workers_start_on(c.set, &c.hand[0].timer,
                                                      10, bad[i]),
                     ENOENT);
            CHECK(!lawn_workers_pending(&c.hand[0].timer));
        }
    }
    as(&c, 0);
    go(&c, 1, 10);
    CHECK_EQ(
        (uint64_t)-lawn_workers_start_on(c.set, &c.hand[1].timer, 500, gone),
        ENOENT);
    CHECK(goes(&c, 1));
    c.clock = 1010;
    all_turn(&c);
    CHECK_CREW(&c, 1);
    crew_end(&c);
}

/* By TTL. */

static const struct lawn_workers_options by_ttl = {
    .route = LAWN_WORKERS_BY_TTL,
};

/* Checks that each TTL has one worker, and that not all have the same. */
static void
check_ttls(struct crew *c, unsigned workers)
{
    unsigned worker_of[16] = {0};
    unsigned seen = 0;

    for (unsigned i = 0; i < 64; i++) {
        unsigned who = i * 5 % (workers + 1);

        as(c, who == workers ? NOBODY : who);
        go(c, i, 100 + i % 16);
    }
    all_turn(c);
    c->clock += 200;
    all_turn(c);
    CHECK_EQ(c->fired, 64);
    c->fired = 0;
    for (unsigned i = 0; i < 64; i++) {
        CHECK(fired_on(c, i) != NOBODY);
        if (i < 16) {
            worker_of[i] = fired_on(c, i);
            seen |= 1u << worker_of[i];
        }
        CHECK_EQ(fired_on(c, i), worker_of[i % 16]);
    }
    CHECK(workers < 2 || (seen & (seen - 1)) != 0);
}

TEST(by_ttl_all_timers_of_a_ttl_go_to_one_worker)
{
    struct crew c;

    crew_begin(&c, 3, &by_ttl);
    check_ttls(&c, 3);
    crew_end(&c);
}

TEST(by_ttl_it_stays_so_when_workers_come_and_go)
{
    struct crew c;

    crew_begin(&c, 2, &by_ttl);
    check_ttls(&c, 2);
    (void)crew_attach(&c);
    (void)crew_attach(&c);
    check_ttls(&c, 4);
    crew_detach(&c, 3);
    check_ttls(&c, 3);
    crew_detach(&c, 1);
    (void)crew_attach(&c);
    check_ttls(&c, 3);
    crew_end(&c);
}

/* Running timers move as well: whole lawns move. */
TEST(by_ttl_running_timers_fire_where_their_ttl_has_gone)
{
    struct crew c;

    crew_begin(&c, 1, &by_ttl);
    for (unsigned i = 0; i < 32; i++) {
        as(&c, i % 2 == 0 ? 0 : NOBODY);
        go(&c, i, 100 + i % 16);
    }
    all_turn(&c);
    (void)crew_attach(&c);
    (void)crew_attach(&c);
    for (unsigned i = 32; i < 64; i++) {
        as(&c, i % 3);
        go(&c, i, 100 + i % 16);
    }
    all_turn(&c);
    all_turn(&c);
    c.clock = 1200;
    all_turn(&c);
    CHECK_EQ(c.fires, 64);
    for (unsigned i = 0; i < 64; i++) {
        CHECK_EQ(fired_on(&c, i), fired_on(&c, i % 16));
    }
    crew_end(&c);
}

TEST(by_ttl_a_restart_with_another_ttl_moves_to_the_worker_of_that_ttl)
{
    struct crew c;
    unsigned moved = 0;

    crew_begin(&c, 4, &by_ttl);
    for (unsigned i = 0; i < 32; i++) {
        as(&c, i % 4);
        go(&c, i, 100 + i);
    }
    all_turn(&c);
    for (unsigned i = 0; i < 32; i++) {
        as(&c, i % 5 == 4 ? NOBODY : i % 5);
        go(&c, i, 300 - i);      /* a restart with another TTL, */
        go(&c, 32 + i, 300 - i); /* and a new timer of that TTL */
    }
    all_turn(&c);
    all_turn(&c);
    c.clock = 1200;
    all_turn(&c);
    CHECK_CREW_NONE(&c);
    c.clock = 1300;
    all_turn(&c);
    all_turn(&c);
    CHECK_EQ(c.fires, 64);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(fired_on(&c, i), fired_on(&c, 32 + i));
        moved += fired_on(&c, i) != fired_on(&c, 0);
    }
    CHECK(moved > 0);
    CHECK_EQ(stats_all(&c).held, 0);
    crew_end(&c);
}

TEST(by_ttl_the_worker_of_start_on_is_ignored)
{
    struct crew c;

    crew_begin(&c, 4, &by_ttl);
    for (unsigned i = 0; i < 32; i++) {
        go_on(&c, i, 100 + i % 4, i / 4 % 4);
    }
    c.clock = 1200;
    all_turn(&c);
    CHECK_EQ(c.fires, 32);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(fired_on(&c, i), fired_on(&c, i % 4));
    }
    crew_end(&c);
}

TEST(by_ttl_there_are_as_many_lawns_as_configured)
{
    struct lawn_workers_options options = by_ttl;
    struct crew c;

    crew_begin(&c, 2, &by_ttl);
    CHECK_EQ(stats_all(&c).shards, 16);
    CHECK_EQ(stats_of(&c, 0).shards + stats_of(&c, 1).shards, 16);
    CHECK_EQ(stats_of(&c, 0).shards, 8); /* its share */
    crew_end(&c);
    options.shards = 3;
    crew_begin(&c, 5, &options);
    CHECK_EQ(stats_all(&c).shards, 3);
    check_ttls(&c, 5);
    crew_end(&c);
}
