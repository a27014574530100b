/* workers_later.c - a timer that another thread restarts for a later deadline
 * stays in place on the lawn, without a message, until its old deadline; and
 * all short sequences of operations on one timer. */
#include "workers_common.h"

/* The timer is on the lawn of the first worker, due in 100. */
static void
begin(struct crew *c)
{
    crew_begin(c, 2, NULL);
    all_turn(c);
    as(c, NOBODY);
    go_on(c, 0, 100, 0);
    all_turn(c);
}

/* Checks that nothing fires a tick before, and that it fires then. */
static void
check_fires_at(struct crew *c, uint64_t time)
{
    c->clock = time - 1;
    all_turn(c);
    CHECK_CREW_NONE(c);
    c->clock = time;
    all_turn(c);
    CHECK_CREW(c, 0);
    c->clock += 1000;
    all_turn(c);
    CHECK_CREW_NONE(c);
    CHECK_EQ(stats_all(c).held, 0);
}

TEST(a_later_start_from_elsewhere_sends_no_message)
{
    struct crew c;

    begin(&c);
    uint64_t messages = stats_of(&c, 0).messages;
    for (unsigned i = 1; i <= 50; i++) {
        go(&c, 0, 100 + i);
        CHECK(!called(&c, 0));
    }
    CHECK(halt(&c, 0));
    go(&c, 0, 160);
    CHECK(!called(&c, 0));
    (void)turns(&c, 0);
    CHECK_EQ(stats_of(&c, 0).messages, messages);
    CHECK_EQ(stats_of(&c, 0).held, 1);
    check_fires_at(&c, 1160);
    crew_end(&c);
}

TEST(a_start_that_is_earlier_than_the_last_but_later_than_the_first_is_kept)
{
    static const uint64_t ttls[] = {101, 120, 149, 150, 151, 199, 200};

    for (unsigned i = 0; i < COUNT(ttls); i++) {
        struct crew c;

        begin(&c);
        go(&c, 0, 200);
        go(&c, 0, ttls[i]);
        check_fires_at(&c, 1000 + ttls[i]);
        crew_end(&c);
    }
}

TEST(a_start_that_is_earlier_than_all_is_reported_to_the_worker)
{
    struct crew c;

    begin(&c);
    go(&c, 0, 200);
    CHECK(!called(&c, 0));
    go(&c, 0, 50);
    CHECK(called(&c, 0));
    check_fires_at(&c, 1050);
    crew_end(&c);
}

/* At its first deadline it was put back for the second. */
TEST(a_timer_that_was_put_back_can_be_started_for_any_time)
{
    static const uint64_t ttls[] = {1, 20, 89, 90, 91, 200};

    for (unsigned i = 0; i < COUNT(ttls); i++) {
        struct crew c;

        begin(&c);
        go(&c, 0, 200);
        c.clock = 1110;
        CHECK_EQ(turns(&c, 0), 1200);
        CHECK_CREW_NONE(&c);
        go(&c, 0, ttls[i]);
        check_fires_at(&c, 1110 + ttls[i]);
        crew_end(&c);
    }
}

#define OVERTAKEN_TTL (UINT64_C(100) * 1024)

/* The timer was started at 1000 with OVERTAKEN_TTL. A start of 1100 has
 * overtaken it, so it is on the lawn as if started at 1100. */
static void
begin_overtaken(struct crew *c)
{
    crew_begin(c, 2, NULL);
    all_turn(c);
    as(c, NOBODY);
    go_on(c, 1, 1, 0);
    go_on(c, 0, OVERTAKEN_TTL, 0);
    c->clock = 1100;
    go(c, 1, OVERTAKEN_TTL);
    CHECK_EQ(turns(c, 0), 1100 + OVERTAKEN_TTL);
    CHECK(halt(c, 1));
}

TEST(an_overtaken_timer_is_started_again_without_a_message)
{
    static const uint64_t ttls[] = {OVERTAKEN_TTL, OVERTAKEN_TTL + 1,
                                    2 * OVERTAKEN_TTL, LAWN_NEVER};

    for (unsigned i = 0; i < COUNT(ttls) * 2; i++) {
        struct crew c;
        uint64_t ttl = ttls[i / 2];

        begin_overtaken(&c);
        uint64_t messages = stats_of(&c, 0).messages;
        c.clock += i % 2;
        CHECK(halt(&c, 0));
        go(&c, 0, ttl);
        CHECK(!called(&c, 0));
        (void)turns(&c, 0);
        CHECK_EQ(stats_of(&c, 0).messages, messages);
        if (ttl != LAWN_NEVER) {
            check_fires_at(&c, 1100 + i % 2 + ttl);
        }
        crew_end(&c);
    }
}

/* The lawn would fire the timer too late. */
TEST(an_overtaken_timer_that_is_due_earlier_again_is_reported_to_the_worker)
{
    struct crew c;

    begin_overtaken(&c);
    go(&c, 0, OVERTAKEN_TTL - 1);
    CHECK(called(&c, 0));
    check_fires_at(&c, 1100 + OVERTAKEN_TTL - 1);
    crew_end(&c);

    begin_overtaken(&c);
    go_at(&c, 0, 1050 + OVERTAKEN_TTL);
    CHECK(called(&c, 0));
    check_fires_at(&c, 1050 + OVERTAKEN_TTL);
    crew_end(&c);

    /* Without a message, and then earlier than that. */
    begin_overtaken(&c);
    go(&c, 0, OVERTAKEN_TTL + 10);
    CHECK(!called(&c, 0));
    go(&c, 0, OVERTAKEN_TTL + 5);
    check_fires_at(&c, 1100 + OVERTAKEN_TTL + 5);
    crew_end(&c);

    /* Put back on the lawn, where it is no longer overtaken. */
    begin_overtaken(&c);
    go(&c, 0, 3 * OVERTAKEN_TTL);
    c.clock = 1100 + OVERTAKEN_TTL;
    CHECK_EQ(turns(&c, 0), 1100 + 3 * OVERTAKEN_TTL);
    go(&c, 0, OVERTAKEN_TTL);
    CHECK(called(&c, 0));
    check_fires_at(&c, 1100 + 2 * OVERTAKEN_TTL);
    crew_end(&c);
}

/* Another thread restarts the first timer for later, and the callback runs
 * until then. */
static void
take_long(struct crew *c, struct hand *hand)
{
    if (hand->id == 1) {
        as(c, NOBODY);
        go(c, 0, 50);
        as(c, 0);
        c->clock += 50;
        lawn_worker_update(c->worker[0]);
    }
}

/* [P2] It fires in this round, not a tick later in the next one. */
TEST(a_start_for_later_that_becomes_due_before_its_timer_is_reached_fires_then)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    all_turn(&c);
    c.act = take_long;
    go_on(&c, 1, 100, 0);
    go_on(&c, 0, 100, 0);
    all_turn(&c);
    c.clock = 1100;
    (void)turn(&c, 0);
    CHECK_CREW(&c, 1, 0);
    CHECK_EQ(lawn_last_deadline(&c.hand[0].timer.timer), 1150);
    crew_end(&c);
}

/* [C2] */
TEST(a_timer_started_for_later_from_elsewhere_can_be_stopped_by_anyone)
{
    static const unsigned whos[] = {0, 1, NOBODY};

    for (unsigned i = 0; i < COUNT(whos) * 3; i++) {
        struct crew c;

        begin(&c);
        go(&c, 0, 200);
        if (i % 3 != 0) {
            c.clock = i % 3 == 1 ? 1099 : 1100;
            (void)turns(&c, 0);
        }
        as(&c, whos[i / 3]);
        CHECK(halt(&c, 0));
        CHECK(!halt(&c, 0));
        c.clock = 3000;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        CHECK_EQ(stats_all(&c).held, 0);
        crew_end(&c);
    }
}

TEST(a_timer_started_for_later_from_elsewhere_can_be_started_by_its_worker)
{
    static const uint64_t ttls[] = {50, 100, 150, 200, 250};

    for (unsigned i = 0; i < COUNT(ttls); i++) {
        struct crew c;

        begin(&c);
        go(&c, 0, 200);
        as(&c, 0);
        go(&c, 0, ttls[i]);
        check_fires_at(&c, 1000 + ttls[i]);
        crew_end(&c);
    }
}

TEST(
    a_timer_started_for_later_from_elsewhere_fires_on_the_new_owner_of_its_lawn)
{
    struct crew c;

    begin(&c);
    go(&c, 0, 200);
    crew_detach(&c, 0);
    check_fires_at(&c, 1200);
    CHECK_EQ(fired_on(&c, 0), 1);
    crew_end(&c);
}

TEST(a_timer_started_for_later_from_elsewhere_is_left_when_the_set_is_closed)
{
    struct crew c;

    begin(&c);
    go(&c, 0, 200);
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 1);
    CHECK_EQ(c.left, 1);
    CHECK(!goes(&c, 0));
    crew_end(&c);
}

/* All short sequences of operations. */

enum {
    LATER,
    EARLIER,
    HERE,
    ELSEWHERE,
    STOP,
    STOP_HERE,
    STOP_SYNC,
    TURN,
    STEP
};
enum { STEP_UNSEEN = STEP + 1, MOVE, GO_AWAY, DEEDS };

struct story {
    struct crew crew;
    bool moved; /* the first worker may no longer own it */
    bool taken; /* all workers have turned since its last start */
    uint64_t ttl;
};

static void
story_start(struct story *s, unsigned who, uint64_t ttl)
{
    s->ttl = ttl;
    s->taken = false;
    as(&s->crew, s->crew.worker[who % CREW_MAX] != NULL ? who : NOBODY);
    go(&s->crew, 0, ttl);
}

static void
story_start_on(struct story *s, uint64_t ttl, unsigned worker)
{
    s->ttl = ttl;
    s->taken = false;
    as(&s->crew, NOBODY);
    go_on(&s->crew, 0, ttl, worker);
}

/* A message counts from when it is taken, at the latest. After three rounds no
 * due timer remains. */
static void
story_turn(struct story *s)
{
    struct hand *hand = &s->crew.hand[0];

    if (!s->taken) {
        s->taken = true;
        hand->late = s->crew.clock + s->ttl;
    }
    all_turn(&s->crew);
    all_turn(&s->crew);
    all_turn(&s->crew);
    CHECK(!hand->running || hand->late > s->crew.clock);
}

static void
story_stop(struct story *s, unsigned who, bool sync)
{
    as(&s->crew, s->crew.worker[who % CREW_MAX] != NULL ? who : NOBODY);
    if (sync) {
        (void)halt_sync(&s->crew, 0);
    } else {
        (void)halt(&s->crew, 0);
    }
}

static void
story_do(struct story *s, unsigned deed)
{
    struct crew *c = &s->crew;

    switch (deed) {
    case LATER:
        story_start(s, NOBODY, 20);
        break;
    case EARLIER:
        story_start(s, NOBODY, 5);
        break;
    case HERE:
        story_start(s, 0, 15);
        break;
    case ELSEWHERE:
        s->moved = true;
        story_start(s, 1, 8);
        break;
    case STOP:
        story_stop(s, NOBODY, false);
        break;
    case STOP_HERE:
        story_stop(s, 0, false);
        break;
    case STOP_SYNC:
        story_stop(s, 0, !s->moved);
        break;
    case TURN:
        if (c->worker[0] != NULL) {
            (void)turns(c, 0);
        }
        break;
    case STEP:
        c->clock += 6;
        story_turn(s);
        break;
    case STEP_UNSEEN:
        c->clock += 6;
        break;
    case MOVE:
        s->moved = true;
        story_start_on(s, 12, 1);
        break;
    default:
        s->moved = true;
        if (c->worker[0] != NULL) {
            crew_detach(c, 0);
        } else {
            (void)crew_attach(c);
        }
        break;
    }
}

/* Whatever the sequence, a running timer fires once, neither early nor late. */
TEST(all_short_stories_of_a_timer_of_workers_end_well)
{
    static const struct lawn_workers_options options = {
        .lawn = {.blades = 8, .slot_bits = 4}};
    unsigned many = DEEDS * DEEDS * DEEDS * how_many(DEEDS, DEEDS, 1);

    for (unsigned number = 0; number < many; number++) {
        struct story s;

        crew_begin(&s.crew, 2, &options);
        s.moved = false;
        all_turn(&s.crew);
        s.crew.unchecked = true;
        story_start_on(&s, 10, 0);
        for (unsigned rest = number; rest > 0; rest /= DEEDS) {
            story_do(&s, rest % DEEDS);
        }
        for (unsigned tick = 0; tick < 30; tick++) {
            story_turn(&s);
            s.crew.clock++;
        }
        CHECK(!goes(&s.crew, 0));
        CHECK_EQ(stats_all(&s.crew).held, 0);
        crew_end(&s.crew);
    }
}
