/* workers_callbacks.c - what callbacks of workers may do and observe. */
#include "workers_common.h"

#include <errno.h>
#include <stdlib.h>

static void
start_again(struct crew *crew, struct hand *hand)
{
    CHECK_EQ(hand_start(crew, hand, 10), 0);
    CHECK(lawn_workers_pending(&hand->timer));
}

TEST(a_callback_of_a_worker_may_start_its_own_timer_again)
{
    for (unsigned far = 0; far < 2; far++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        c.act = start_again;
        as(&c, far == 0 ? 0 : NOBODY);
        go_on(&c, 0, 10, 0);
        for (uint64_t i = 1; i <= 100; i++) {
            c.clock = 1000 + 10 * i;
            CHECK_EQ(turns(&c, 0), c.clock + 10);
            CHECK_CREW(&c, 0);
            CHECK_EQ(lawn_last_deadline(&c.hand[0].timer.timer), c.clock + 10);
        }
        CHECK_EQ(stats_all(&c).fires, 100);
        crew_end(&c);
    }
}

static void
start_at_once(struct crew *crew, struct hand *hand)
{
    CHECK_EQ(hand_start(crew, hand, 0), 0);
}

/* [P6] Otherwise a round would never end. */
TEST(a_timer_that_a_callback_of_a_worker_starts_waits_for_a_later_tick)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = start_at_once;
    as(&c, 0);
    go(&c, 0, 1);
    c.clock = 1001;
    CHECK_EQ(turns(&c, 0), 1002);
    CHECK_CREW(&c, 0);
    c.clock = 1002;
    CHECK_EQ(turns(&c, 0), 1003);
    CHECK_CREW(&c, 0);
    crew_end(&c);
}

static void
free_it(struct crew *crew, struct hand *hand)
{
    crew->any = hand;
    free(hand);
}

static void
stop_sync_and_free_it(struct crew *crew, struct hand *hand)
{
    CHECK(!lawn_workers_stop_sync(crew->set, &hand->timer));
    free_it(crew, hand);
}

/* [C3] Whatever way its start took, and whatever preceded it. */
TEST(a_callback_of_a_worker_may_free_its_timer)
{
    for (unsigned how = 0; how < 32; how++) {
        struct crew c;
        struct hand *hand = malloc(sizeof(*hand));

        crew_begin(&c, 2, NULL);
        c.act = (how & 1) == 0 ? free_it : stop_sync_and_free_it;
        CHECK(hand != NULL);
        hand_init(&c, hand, 7);
        as(&c, (how & 2) == 0 ? 0 : NOBODY);
        CHECK_EQ(lawn_workers_start_on(c.set, &hand->timer, 10, c.number[0]),
                 0);
        if ((how & 4) != 0) {
            (void)turns(&c, 0);
        }
        if ((how & 8) != 0) {
            as(&c, 1);
            CHECK(lawn_workers_stop(c.set, &hand->timer));
        }
        as(&c, (how & 16) == 0 ? 0 : NOBODY);
        CHECK_EQ(lawn_workers_start_on(c.set, &hand->timer, 10, c.number[0]),
                 0);
        hand->running = true;
        hand->due = 1010;
        c.clock = 1010;
        all_turn(&c);
        CHECK_CREW(&c, 7);
        c.clock = 2000;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        crew_end(&c);
    }
}

/* More messages than the budget precede the message of the timer, which is also
 * on the lawn and due. When its callback runs, it must have left both. */
TEST(a_timer_whose_message_still_waits_may_be_freed_when_it_fires)
{
    for (unsigned how = 0; how < 4; how++) {
        struct lawn_workers_options options = {.budget = 2};
        struct hand *hand = malloc(sizeof(*hand));
        struct crew c;

        crew_begin(&c, 1, &options);
        c.act = free_it;
        CHECK(hand != NULL);
        hand_init(&c, hand, 7);
        as(&c, NOBODY);
        for (unsigned i = 0; i < 10; i++) {
            CHECK_EQ(lawn_workers_start(c.set, &c.hand[i].timer, 9000), 0);
        }
        CHECK_EQ(hand_start(&c, hand, 500), 0);
        if ((how & 1) != 0) {
            CHECK(lawn_workers_stop(c.set, &hand->timer));
        }
        for (unsigned i = 20; (how & 2) != 0 && i < 30; i++) {
            CHECK_EQ(lawn_workers_start(c.set, &c.hand[i].timer, 9000), 0);
        }
        as(&c, 0);
        CHECK_EQ(hand_start(&c, hand, 10), 0); /* on its worker */
        c.clock = 1010;
        (void)turns(&c, 0);
        CHECK_CREW(&c, 7);
        crew_end(&c);
    }
}

static void
stop_the_other(struct crew *crew, struct hand *hand)
{
    CHECK(halt(crew, hand->id ^ 1));
}

TEST(a_timer_stopped_by_an_earlier_callback_of_the_turn_does_not_fire)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = stop_the_other;
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 1, 10);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0);
    CHECK_EQ(stats_all(&c).held, 0);
    crew_end(&c);
}

static void
free_the_other(struct crew *crew, struct hand *hand)
{
    (void)hand;
    CHECK(lawn_workers_stop_sync(crew->set, &crew->any->timer));
    free(crew->any);
    crew->any = NULL;
    crew->act = NULL;
}

TEST(a_callback_may_free_another_due_timer_of_its_worker)
{
    for (unsigned far = 0; far < 2; far++) {
        struct crew c;

        crew_begin(&c, 1, NULL);
        c.act = free_the_other;
        c.any = malloc(sizeof(*c.any));
        CHECK(c.any != NULL);
        hand_init(&c, c.any, 7);
        as(&c, far == 0 ? 0 : NOBODY);
        go(&c, 0, 10);
        CHECK_EQ(hand_start(&c, c.any, 10), 0);
        go(&c, 1, 10);
        c.clock = 1010;
        (void)turns(&c, 0);
        CHECK_CREW(&c, 0, 1);
        crew_end(&c);
    }
}

static void
see_that_it_is_over(struct crew *crew, struct hand *hand)
{
    struct lawn_worker *self = lawn_workers_self();

    CHECK(!lawn_workers_stop(crew->set, &hand->timer)); /* [C2] */
    CHECK(!lawn_workers_stop_sync(crew->set, &hand->timer));
    (void)lawn_workers_be(NULL); /* as another thread */
    CHECK(!lawn_workers_pending(&hand->timer));
    CHECK(!lawn_workers_stop(crew->set, &hand->timer));
    (void)lawn_workers_be(self);
    CHECK_EQ(lawn_worker_turn(self), LAWN_NEVER);
    CHECK_EQ((uint64_t)-lawn_worker_run(self), EDEADLK);
    CHECK_EQ((uint64_t)-lawn_workers_remove(crew->set, crew->number[0]),
             EDEADLK);
    CHECK(lawn_workers_attach(crew->set) == NULL);
    CHECK_EQ(errno, EBUSY);
    CHECK_EQ(lawn_worker_now(self), crew->clock);
}

TEST(a_callback_cannot_stop_its_own_timer_nor_turn_nor_run)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    c.act = see_that_it_is_over;
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 1, 10);
    c.clock = 1015;
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    CHECK_CREW(&c, 0, 1); /* the nested turn fired nothing */
    crew_end(&c);
}

static void
start_from_elsewhere(struct crew *crew, struct hand *hand)
{
    struct lawn_worker *self = lawn_workers_be(NULL);

    crew->act = NULL;
    CHECK_EQ(hand_start(crew, hand, 0), 0);
    crew->clock += 100;
    CHECK(lawn_workers_pending(&hand->timer));
    (void)lawn_workers_be(self);
    CHECK_EQ(lawn_worker_turn(self), LAWN_NEVER); /* not while it runs [C4] */
}

TEST(a_start_from_elsewhere_during_the_callback_makes_it_run_again_after_it)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = start_from_elsewhere;
    as(&c, 0);
    go(&c, 0, 10);
    c.clock = 1010;
    (void)turn(&c, 0);
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 0);
    CHECK_EQ(turns(&c, 0), LAWN_NEVER);
    crew_end(&c);
}

static void
start_and_stop_from_elsewhere(struct crew *crew, struct hand *hand)
{
    struct lawn_worker *self = lawn_workers_be(NULL);

    CHECK_EQ(lawn_workers_start(crew->set, &hand->timer, 1), 0);
    CHECK(lawn_workers_stop(crew->set, &hand->timer));
    (void)lawn_workers_be(self);
}

TEST(a_start_during_the_callback_can_be_stopped)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = start_and_stop_from_elsewhere;
    as(&c, 0);
    go(&c, 0, 10);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0);
    c.clock = 2000;
    (void)turns(&c, 0);
    CHECK_CREW_NONE(&c);
    crew_end(&c);
}

static void
take_long(struct crew *crew, struct hand *hand)
{
    struct lawn_worker *self = lawn_workers_self();

    (void)hand;
    crew->act = NULL;
    crew->clock += 500;
    CHECK_EQ(lawn_worker_now(self), crew->clock - 500);
    lawn_worker_update(self);
    CHECK_EQ(lawn_worker_now(self), crew->clock);
    go(crew, 1, 10);
}

TEST(a_callback_that_took_long_may_look_at_the_clock)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = take_long;
    as(&c, 0);
    go(&c, 0, 10);
    c.clock = 1010;
    CHECK_EQ(turns(&c, 0), 1520);
    CHECK_CREW(&c, 0);
    c.clock = 1520;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 1);
    crew_end(&c);
}

static void
look_at_due(struct crew *crew, struct hand *hand)
{
    (void)crew;
    CHECK_EQ(lawn_last_deadline(&hand->timer.timer), hand->due);
}

/* However late the worker is, and whichever thread restarted the timer. */
TEST(lawn_last_deadline_in_a_callback_is_that_of_the_last_start)
{
    static const unsigned whos[] = {0, 1, NOBODY};

    for (unsigned i = 0; i < COUNT(whos) * COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        c.act = look_at_due;
        all_turn(&c);
        as(&c, whos[i / COUNT(whos)]);
        go_on(&c, 0, 10, 0);
        all_turn(&c);
        as(&c, whos[i % COUNT(whos)]);
        go(&c, 0, 20);
        all_turn(&c);
        go(&c, 0, 30);
        c.clock = 1100;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        crew_end(&c);
    }
}

static void
come_and_go(struct crew *crew, struct hand *hand)
{
    unsigned added = crew_attach(crew);

    go_on(crew, 20 + hand->id, 10, added);
    crew_detach(crew, added);
    as(crew, 0);
}

/* Other threads may also do this while a callback runs. */
TEST(workers_may_come_and_go_while_a_callback_runs)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = come_and_go;
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 1, 10);
    go(&c, 2, 10);
    c.clock = 1010;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1, 2);
    c.act = NULL;
    c.clock = 1020;
    all_turn(&c);
    CHECK_EQ(c.fired, 3);
    crew_end(&c);
}

/* Time passes in a round for one of two lawns. A start in the mailbox of the
 * other is rewritten. A callback that waits takes those messages. */
static void
pass_time_or_wait(struct crew *c, struct hand *hand)
{
    if (hand->id == 0) {
        c->clock += 3;
        return;
    }
    as(c, NOBODY);
    go(c, 3, 1000);
    as(c, 0);
    CHECK(halt_sync(c, 4));
    CHECK(lawn_workers_check(c->set, stdout)); /* M5 */
}

TEST(a_callback_that_waits_takes_mail_that_is_newer_than_a_lawns_clock)
{
    struct lawn_workers_options options = {.budget = 2};
    struct crew c;

    crew_begin(&c, 2, &options);
    all_turn(&c);
    as(&c, 0);
    go(&c, 0, 5);
    go(&c, 1, 5);
    as(&c, NOBODY);
    for (unsigned i = 2; i < 5; i++) {
        go_on(&c, i, 1000, 1);
    }
    crew_detach(&c, 1);
    c.act = pass_time_or_wait;
    c.clock += 5;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1);
    c.act = NULL;
    c.clock += 1000;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 2, 3);
    crew_end(&c);
}
