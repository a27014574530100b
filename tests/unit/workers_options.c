/* workers_options.c - creating a set, also without memory; extreme times [P9];
 * and the resolution. */
#include "workers_common.h"

#include <errno.h>
#include <string.h>

TEST(options_of_a_set_that_make_no_sense_are_refused)
{
    struct lawn_workers_options options = {.route = (enum lawn_workers_route)2};

    errno = 0;
    CHECK(lawn_workers_new(&options) == NULL);
    CHECK_EQ(errno, EINVAL);
    memset(&options, 0, sizeof(options));
    options.route = LAWN_WORKERS_BY_TTL;
    options.shards = LAWN_WORKERS_SHARDS_MAX + 1;
    errno = 0;
    CHECK(lawn_workers_new(&options) == NULL);
    CHECK_EQ(errno, EINVAL);
}

TEST(options_of_a_set_may_all_be_left_out)
{
    struct lawn_workers_options options = {0};
    struct lawn_workers *set = lawn_workers_new(NULL);
    struct lawn_workers_timer timer = {0};

    (void)lawn_workers_be(NULL);
    CHECK(set != NULL);
    struct lawn_worker *worker = lawn_workers_attach(set);
    CHECK(worker != NULL);
    timer.fire = hand_fire;
    CHECK_EQ(lawn_workers_start(set, &timer, UINT64_C(3600) * 1000000000), 0);
    CHECK(lawn_workers_stop_sync(set, &timer));
    lawn_worker_detach(worker);
    lawn_workers_free(set);
    set = lawn_workers_new(&options);
    CHECK(set != NULL);
    lawn_workers_free(set);
}

TEST(a_set_may_have_the_most_lawns_there_can_be)
{
    struct lawn_workers_options options = {
        .route = LAWN_WORKERS_BY_TTL,
        .shards = LAWN_WORKERS_SHARDS_MAX,
        .lawn = {.blades = 8, .slot_bits = 4},
    };
    struct crew c;

    crew_begin(&c, 3, &options);
    c.unchecked = true;
    CHECK_EQ(stats_all(&c).shards, LAWN_WORKERS_SHARDS_MAX);
    for (unsigned i = 0; i < HANDS; i++) {
        go(&c, i, 1 + i);
    }
    c.clock += HANDS;
    all_turn(&c);
    CHECK_EQ(c.fires, HANDS);
    crew_end(&c);
}

/* Refuses the k-th request, once or permanently, for every k until none is
 * refused. Existing workers continue, and a second try succeeds. */
TEST(memory_that_runs_out_while_a_set_is_made_or_grows_does_no_harm)
{
    static const struct lawn_workers_options kinds[] = {
        {.route = LAWN_WORKERS_BY_OWNER},
        {.route = LAWN_WORKERS_BY_TTL, .shards = 3},
    };

    for (unsigned kind = 0; kind < COUNT(kinds); kind++) {
        for (unsigned good = 0; good < 2; good++) {
            struct crew c;
            size_t k = 0;

            crew_begin(&c, 0, &kinds[kind]);
            lawn_workers_free(c.set);
            struct lawn_workers_options options =
                crew_options(&c, &kinds[kind]);
            bool refused = false;
            do {
                size_t before = c.ledger.refused;

                c.ledger.refuse = k++;
                c.ledger.for_good = good == 1;
                errno = 0;
                c.set = lawn_workers_new(&options);
                refused = c.ledger.refused != before;
                CHECK_EQ(c.set == NULL, refused);
                CHECK_EQ(errno == ENOMEM, refused);
                CHECK(!refused || c.ledger.blocks == 0);
                c.ledger.refuse = SIZE_MAX;
            } while (refused);
            CHECK(k > 1);
            crew_end(&c);
        }
    }
}

TEST(memory_that_runs_out_while_a_worker_is_added_does_no_harm)
{
    static const struct lawn_workers_options kinds[] = {
        {.route = LAWN_WORKERS_BY_OWNER},
        {.route = LAWN_WORKERS_BY_TTL, .shards = 3},
    };

    for (unsigned kind = 0; kind < 4; kind++) {
        struct crew c;
        size_t k = 0;

        crew_begin(&c, 1, &kinds[kind % 2]);
        bool refused = false;
        do {
            size_t refusals = c.ledger.refused;
            size_t blocks = c.ledger.blocks;

            c.ledger.refuse = k++;
            c.ledger.for_good = true;
            if (kind / 2 == 0) {
                errno = 0;
                c.worker[1] = lawn_workers_attach(c.set);
                refused = c.worker[1] == NULL;
                CHECK_EQ(errno == ENOMEM, refused);
            } else {
                int number = lawn_workers_add(c.set);

                refused = number < 0;
                CHECK(!refused || number == -ENOMEM);
                CHECK(refused ||
                      lawn_workers_remove(c.set, (unsigned)number) == 0);
            }
            CHECK_EQ(refused, c.ledger.refused != refusals);
            c.ledger.refuse = SIZE_MAX;
            as(&c, NOBODY);
            CHECK(!refused || c.ledger.blocks <= blocks + 1); /* a seat */
            CHECK_EQ(stats_all(&c).workers,
                     1u + (!refused && kind / 2 == 0 ? 1 : 0));
            go(&c, 0, 10); /* it still works */
            c.clock += 10;
            all_turn(&c);
            CHECK_CREW(&c, 0);
        } while (refused);
        CHECK(k > 1);
        crew_end(&c);
    }
}

/* [P9] */
TEST(a_worker_knows_the_extremes_of_ttls_and_deadlines)
{
    static const unsigned whos[] = {0, 1, NOBODY};

    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, whos[i]);
        go_on(&c, 0, 0, 0);
        go_on(&c, 1, 1, 0);
        go_on(&c, 2, UINT64_MAX, 0);
        go_on(&c, 3, UINT64_MAX - 1, 0);
        go_on(&c, 4, LAST - 1000, 0);
        go_on(&c, 5, LAST - 1001, 0);
        go_at(&c, 6, UINT64_MAX);
        go_at(&c, 7, LAST);
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1001; /* a TTL of 0 counts as 1 */
        all_turn(&c);
        CHECK_CREW(&c, 0, 1);
        c.clock = LAST - 2;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = LAST - 1;
        all_turn(&c);
        CHECK_CREW(&c, 5);
        c.clock = LAST;
        all_turn(&c);
        CHECK_EQ(c.fired, 5);
        CHECK_EQ(stats_all(&c).held, 0);
        crew_end(&c);
    }
}

static void
start_once_more(struct crew *crew, struct hand *hand)
{
    crew->act = NULL;
    CHECK_EQ(hand_start(crew, hand, 10), 0);
}

TEST(a_clock_at_the_end_of_time_fires_timers_started_there)
{
    static const uint64_t ends[] = {LAST, UINT64_MAX};

    for (unsigned i = 0; i < COUNT(ends); i++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        as(&c, 0);
        go(&c, 0, UINT64_MAX);
        c.clock = ends[i];
        c.act = start_once_more;
        (void)turn(&c, 0);
        (void)turn(&c, 0);
        CHECK_CREW(&c, 0, 0); /* again in a later turn */
        as(&c, NOBODY);
        go_on(&c, 1, 5, 0);
        go_on(&c, 2, 0, 1);
        (void)turn(&c, 0);
        (void)turn(&c, 1);
        (void)turn(&c, 0);
        (void)turn(&c, 1);
        CHECK_EQ(c.fires, 4);
        as(&c, 1);
        go(&c, 3, 1);
        CHECK(halt(&c, 3));
        crew_end(&c);
    }
}

TEST(a_set_may_be_made_at_any_time)
{
    static const uint64_t times[] = {0, 1, UINT64_C(1) << 32,
                                     UINT64_C(1) << 63};

    for (unsigned i = 0; i < COUNT(times); i++) {
        struct crew c;

        crew_begin(&c, 0, NULL);
        lawn_workers_free(c.set);
        struct lawn_workers_options options = crew_options(&c, NULL);
        c.clock = times[i];
        options.lawn.now = 12345; /* ignored: the clock is read instead */
        c.set = lawn_workers_new(&options);
        CHECK(c.set != NULL);
        CHECK_EQ(crew_attach(&c), 0);
        CHECK_EQ(lawn_worker_now(c.worker[0]), times[i]);
        go(&c, 0, 10);
        CHECK_EQ(turns(&c, 0), times[i] + 10);
        c.clock += 10;
        all_turn(&c);
        CHECK_CREW(&c, 0);
        crew_end(&c);
    }
}

TEST(a_worker_added_later_starts_from_the_clock)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.clock = 5000;
    CHECK_EQ(crew_attach(&c), 1);
    CHECK_EQ(lawn_worker_now(c.worker[1]), 5000);
    as(&c, 1);
    go(&c, 0, 10);
    CHECK_EQ(turns(&c, 1), 5010);
    crew_end(&c);
}

TEST(the_resolution_of_a_set_rounds_deadlines_up_in_any_thread)
{
    static const unsigned whos[] = {0, 1, NOBODY};
    struct lawn_workers_options options = {.lawn = {.resolution = 100}};

    for (unsigned i = 0; i < COUNT(whos); i++) {
        struct crew c;

        crew_begin(&c, 2, &options);
        c.clock = 1050;
        all_turn(&c);
        as(&c, whos[i]);
        go_on(&c, 0, 10, 0);
        go_on(&c, 1, 50, 0);
        go_on(&c, 2, 51, 0);
        c.clock = 1099;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1100;
        all_turn(&c);
        CHECK_CREW(&c, 0, 1);
        c.clock = 1199;
        all_turn(&c);
        CHECK_CREW_NONE(&c);
        c.clock = 1200;
        all_turn(&c);
        CHECK_CREW(&c, 2);
        crew_end(&c);
    }
}
