/* workers_come_go.c - workers are added and removed while timers run [C8]. */
#include "workers_common.h"

#include <errno.h>

TEST(a_thread_cannot_become_a_worker_twice)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    as(&c, 0);
    errno = 0;
    CHECK(lawn_workers_attach(c.set) == NULL);
    CHECK_EQ(errno, EBUSY);
    CHECK(lawn_workers_self() == c.worker[0]);
    CHECK_EQ(stats_all(&c).workers, 1);
    crew_end(&c);
}

TEST(workers_have_numbers_of_their_own_and_are_counted)
{
    struct crew c;

    crew_begin(&c, CREW_MAX, NULL);
    CHECK_EQ(stats_all(&c).workers, CREW_MAX);
    for (unsigned i = 0; i < CREW_MAX; i++) {
        CHECK_EQ(stats_of(&c, i).workers, 1);
        for (unsigned j = 0; j < i; j++) {
            CHECK(c.number[i] != c.number[j]);
        }
    }
    crew_detach(&c, 3);
    CHECK_EQ(stats_all(&c).workers, CREW_MAX - 1);
    CHECK(!lawn_workers_stats_of(c.set, c.number[3],
                                 &(struct lawn_workers_counters){0}));
    CHECK(!lawn_workers_stats_of(c.set, LAWN_WORKERS_MAX,
                                 &(struct lawn_workers_counters){0}));
    crew_end(&c);
}

TEST(a_set_has_at_most_LAWN_WORKERS_MAX_workers)
{
    static struct lawn_worker *many[LAWN_WORKERS_MAX];
    struct lawn_workers_options options = {
        .lawn = {.blades = 8, .slot_bits = 4}};
    struct crew c;

    crew_begin(&c, 0, &options);
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        (void)lawn_workers_be(NULL);
        many[i] = lawn_workers_attach(c.set);
        CHECK(many[i] != NULL);
    }
    (void)lawn_workers_be(NULL);
    CHECK(lawn_workers_attach(c.set) == NULL);
    CHECK_EQ(errno, ENOSPC);
    CHECK_EQ((uint64_t)-lawn_workers_add(c.set), ENOSPC);
    CHECK_EQ(stats_all(&c).workers, LAWN_WORKERS_MAX);
    go(&c, 0, 10);
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        (void)lawn_workers_be(many[i]);
        lawn_worker_detach(many[i]);
    }
    c.worker[0] = lawn_workers_attach(c.set); /* there is room again */
    CHECK(c.worker[0] != NULL);
    c.clock = 1010;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    crew_end(&c);
}

TEST(a_set_without_workers_keeps_timers_for_the_next_one)
{
    struct crew c;

    crew_begin(&c, 0, NULL);
    for (unsigned i = 0; i < 10; i++) {
        go(&c, i, 10 + i);
    }
    CHECK(halt(&c, 3));
    go(&c, 4, 100);
    c.clock = 1015;
    (void)crew_attach(&c);
    CHECK_EQ(turns(&c, 0), 1016);
    CHECK_CREW(&c, 0, 1, 2, 5);
    c.clock = 1100;
    (void)turns(&c, 0);
    CHECK_EQ(c.fires, 9);
    crew_end(&c);
}

TEST(timers_of_the_last_worker_wait_for_the_next_one)
{
    for (unsigned how = 0; how < 4; how++) {
        struct crew c;

        crew_begin(&c, 1, NULL);
        as(&c, (how & 1) == 0 ? 0 : NOBODY);
        go(&c, 0, 10);
        go(&c, 1, 20);
        go(&c, 2, 30);
        if ((how & 2) == 0) {
            all_turn(&c);
        }
        crew_detach(&c, 0);
        CHECK(goes(&c, 0));
        as(&c, NOBODY);
        go(&c, 1, 40);
        CHECK(halt(&c, 2));
        go(&c, 3, 5);
        c.clock = 1020;
        CHECK_EQ(stats_all(&c).workers, 0);
        (void)crew_attach(&c);
        all_turn(&c);
        CHECK_EQ(c.fired, 2);
        CHECK(!goes(&c, 0) && !goes(&c, 3));
        c.clock = 1040;
        all_turn(&c);
        CHECK_EQ(c.fires, 3);
        CHECK_EQ(stats_all(&c).held, 0);
        crew_end(&c);
    }
}

/* [C8] */
TEST(timers_of_a_removed_worker_fire_on_the_others_in_time)
{
    for (unsigned how = 0; how < 4; how++) {
        struct crew c;

        crew_begin(&c, 3, NULL);
        for (unsigned i = 0; i < 30; i++) {
            as(&c, (how & 1) == 0 ? 1 : NOBODY);
            go_on(&c, i, 10 + i, 1);
        }
        if ((how & 2) == 0) {
            all_turn(&c);
        }
        crew_detach(&c, 1);
        all_turn(&c);
        for (unsigned i = 0; i < 30; i++) {
            c.clock = 1009 + i;
            all_turn(&c);
            CHECK_EQ(c.fires, i);
            c.clock = 1010 + i;
            all_turn(&c);
            CHECK_EQ(c.fires, i + 1);
            CHECK(fired_on(&c, i) == 0 || fired_on(&c, i) == 2);
        }
        crew_end(&c);
    }
}

TEST(timers_that_have_changed_hands_can_be_started_and_stopped)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    for (unsigned i = 0; i < 24; i++) {
        as(&c, 1);
        go(&c, i, 10);
    }
    (void)turns(&c, 1);
    crew_detach(&c, 1);
    for (unsigned i = 0; i < 24; i++) {
        as(&c, i % 2 == 0 ? 0 : NOBODY);
        switch (i % 3) {
        case 0:
            CHECK(halt(&c, i));
            break;
        case 1:
            go(&c, i, 20);
            break;
        default:
            break;
        }
    }
    c.clock = 1010;
    all_turn(&c);
    CHECK_EQ(c.fires, 8);
    c.clock = 1019;
    all_turn(&c);
    CHECK_EQ(c.fires, 8);
    c.clock = 1020;
    all_turn(&c);
    CHECK_EQ(c.fires, 16);
    CHECK_EQ(stats_all(&c).held, 0);
    crew_end(&c);
}

/* Workers are added and removed all the time; all timers fire at their tick. */
TEST(no_timer_is_lost_early_or_late_while_workers_come_and_go)
{
    static const enum lawn_workers_route routes[] = {LAWN_WORKERS_BY_OWNER,
                                                     LAWN_WORKERS_BY_TTL};

    for (unsigned r = 0; r < COUNT(routes); r++) {
        struct lawn_workers_options options = {.route = routes[r]};
        uint64_t state = 1;
        struct crew c;

        crew_begin(&c, 2, &options);
        for (unsigned t = 0; t < 400; t++) {
            unsigned w = (unsigned)(chance(&state) % CREW_MAX);

            if (c.worker[w] != NULL) {
                crew_detach(&c, w);
            } else {
                (void)crew_attach(&c);
            }
            unsigned i = (unsigned)(chance(&state) % HANDS);
            w = (unsigned)(chance(&state) % CREW_MAX);
            as(&c, c.worker[w] != NULL ? w : NOBODY);
            go(&c, i, 1 + chance(&state) % 30);
            all_turn(&c);
            all_turn(&c); /* takes over the timers */
            c.clock++;
            all_turn(&c);
            if (stats_all(&c).workers == 0) {
                continue;
            }
            for (i = 0; i < HANDS; i++) {
                CHECK(!c.hand[i].running || c.hand[i].late > c.clock);
            }
            c.fired = 0;
        }
        crew_end(&c);
    }
}

TEST(the_number_of_lawns_does_not_grow_as_workers_come_and_go)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        unsigned w = crew_attach(&c);

        as(&c, w);
        go(&c, i % HANDS, 5);
        c.clock++;
        all_turn(&c);
        crew_detach(&c, w);
        all_turn(&c);
    }
    CHECK(stats_all(&c).shards <= 4);
    crew_end(&c);
}

TEST(a_worker_cannot_be_removed_if_it_is_the_last_or_oneself_or_not_there)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, c.number[0]), EBUSY);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, LAWN_WORKERS_MAX), ENOENT);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, UINT32_MAX), ENOENT);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, c.number[0] + 1), ENOENT);
    (void)crew_attach(&c);
    as(&c, 1);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, c.number[1]), EDEADLK);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, c.number[0]), EDEADLK);
    as(&c, NOBODY);
    crew_detach(&c, 1);
    CHECK_EQ((uint64_t)-lawn_workers_remove(c.set, c.number[1]), ENOENT);
    go_on(&c, 0, 10, 0);
    c.clock = 1010;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    crew_end(&c);
}

/* The worker is asked to end, and finishes its work at its next turn. */
TEST(a_callers_worker_that_is_removed_ends_at_its_next_turn)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 1);
    go(&c, 0, 10);
    go(&c, 1, 20);
    (void)turns(&c, 1);
    CHECK(!called(&c, 1));
    as(&c, NOBODY);
    CHECK_EQ(lawn_workers_remove(c.set, c.number[1]), 0);
    CHECK(called(&c, 1));
    (void)turn(&c, 1);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0);
    crew_detach(&c, 1);
    c.clock = 1020;
    all_turn(&c);
    CHECK_CREW(&c, 1);
    CHECK_EQ(fired_on(&c, 1), 0);
    crew_end(&c);
}

TEST(a_callers_worker_that_is_removed_may_be_detached_without_a_turn)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 1);
    go(&c, 0, 10);
    as(&c, NOBODY);
    go_on(&c, 1, 10, 1);
    CHECK_EQ(lawn_workers_remove(c.set, c.number[1]), 0);
    go(&c, 2, 10);
    go(&c, 3, 10);
    crew_detach(&c, 1);
    c.clock = 1010;
    all_turn(&c);
    CHECK_EQ(c.fires, 4);
    crew_end(&c);
}

/* lawn_worker_run() returns at once on a worker that has been removed. */
TEST(a_worker_that_was_removed_does_not_run)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    CHECK_EQ(lawn_workers_remove(c.set, c.number[1]), 0);
    as(&c, 1);
    CHECK_EQ(lawn_worker_run(c.worker[1]), 0);
    crew_end(&c);
}
