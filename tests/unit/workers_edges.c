/* workers_edges.c - rare combinations of events in a set. */
#include "../../src/workers/workers.h"
#include "workers_threads.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static struct troop troop;
static struct troop other;
static struct item items[8];

/* Descriptors, and threads that do not wait on them [C7]. */

static void
take_turns_with_sleep(unsigned times)
{
    struct lawn_worker *worker = troop.set->workers[0];
    struct lawn_shard *start_shard =
        LAWN_ATOMIC_LOAD(&worker->start_shard, LAWN_ACQUIRE);

    for (unsigned i = 0; i < times; i++) {
        unsigned fires = atomic_load(&troop.fires);

        WAIT_FOR(LAWN_ATOMIC_LOAD(&start_shard->wake_at, LAWN_ACQUIRE) ==
                 LAWN_NEVER);
        item_start(&items[0], 1);
        WAIT_FOR(atomic_load(&troop.fires) == fires + 1);
    }
}

TEST(between_threads_a_thread_wakes_in_a_place_that_had_a_descriptor)
{
    troop_begin(&troop, 0, true, LAWN_WORKERS_BY_OWNER);
    item_init(&troop, &items[0]);
    struct lawn_worker *worker = lawn_workers_attach(troop.set);
    SURE(worker != NULL);
    SURE(lawn_worker_fd(worker) >= 0);
    lawn_worker_detach(worker);
    SURE(lawn_workers_add(troop.set) == 0); /* the same place */
    take_turns_with_sleep(rounds(1000));
    SURE(troop_end(&troop) == 0);
}

/* A canceled thread does not unwind its stack; sanitizers report that as an
 * error. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
static void *
start_and_be_canceled(void *arg)
{
    (void)arg;
    (void)pthread_cancel(pthread_self());
    item_start(&items[0], 1); /* write(): a cancellation point */
    pthread_testcancel();
    return NULL;
}

static void *
add_and_be_canceled(void *added)
{
    (void)pthread_cancel(pthread_self());
    *(int *)added =
        lawn_workers_add(troop.set); /* the same, with the set locked */
    pthread_testcancel();
    return NULL;
}

/* Runs one of these threads next to a worker. Returns whether the worker's
 * descriptor is then readable. */
static bool
be_woken_by(void *(*doomed)(void *), enum lawn_workers_route route,
            struct lawn_worker **worker, void *arg)
{
    struct pollfd file = {.events = POLLIN};

    troop_begin(&troop, 0, true, route);
    item_init(&troop, &items[0]);
    *worker = lawn_workers_attach(troop.set);
    SURE(*worker != NULL);
    file.fd = lawn_worker_fd(*worker);
    SURE(file.fd >= 0);
    (void)lawn_worker_turn(*worker);
    SURE(poll(&file, 1, 0) == 0);
    pthread_t thread = 0;
    SURE(pthread_create(&thread, NULL, doomed, arg) == 0);
    void *end = NULL;
    SURE(pthread_join(thread, &end) == 0 && end == PTHREAD_CANCELED);
    return poll(&file, 1, 0) == 1;
}

TEST(between_threads_a_thread_that_is_canceled_in_a_start_has_woken_the_worker)
{
    struct lawn_worker *worker = NULL;

    SURE(be_woken_by(start_and_be_canceled, LAWN_WORKERS_BY_OWNER, &worker,
                     NULL));
    lawn_worker_detach(worker);
    SURE(lawn_workers_close(troop.set, 0, NULL, NULL) == 1);
    lawn_workers_free(troop.set);
}

TEST(between_threads_a_thread_that_is_canceled_adding_a_worker_leaves_no_lock)
{
    struct lawn_worker *worker = NULL;
    int added = -1;

    SURE(
        be_woken_by(add_and_be_canceled, LAWN_WORKERS_BY_TTL, &worker, &added));
    SURE(added >= 0);
    struct lawn_workers_counters stats;
    lawn_workers_stats(troop.set, &stats);
    lawn_worker_detach(worker);
    SURE(lawn_workers_close(troop.set, 0, NULL, NULL) == 0);
    lawn_workers_free(troop.set);
}
#endif

static void
ask_for_descriptor(struct item *item, struct lawn_worker *worker)
{
    (void)item;
    SURE(lawn_worker_fd(worker) >= 0);
}

TEST(between_threads_a_thread_of_the_library_wakes_though_it_has_a_descriptor)
{
    troop_begin(&troop, 1, true, LAWN_WORKERS_BY_OWNER);
    troop.act = ask_for_descriptor;
    item_init(&troop, &items[0]);
    take_turns_with_sleep(rounds(1000));
    SURE(troop_end(&troop) == 0);
}

/* Lateness. */

static void
take_7_ticks(struct crew *crew, struct hand *hand)
{
    (void)hand;
    crew->clock += 7;
}

TEST(a_timer_counts_as_late_by_the_callbacks_before_it)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    c.act = take_7_ticks;
    for (unsigned i = 0; i < 4; i++) {
        as(&c, i % 2 == 0 ? 0 : NOBODY);
        go(&c, i, 10);
    }
    (void)turn(&c, 0);
    c.clock = 1012;
    (void)turn(&c, 0);
    CHECK_EQ(stats_of(&c, 0).fires, 4);
    CHECK_EQ(stats_of(&c, 0).late_most, 2 + 3 * 7);
    CHECK_EQ(stats_of(&c, 0).late_sum, 2 + 9 + 16 + 23);
    CHECK_EQ(stats_all(&c).late_most, 23);
    crew_end(&c);
}

/* A timer that is posted again keeps its place in the mailbox, before one that
 * was started earlier. */
static void
check_overtaken(uint64_t ttl, uint64_t late)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    (void)turns(&c, 0);
    go(&c, 0, 1);
    go(&c, 1, ttl);
    c.clock = 1100;
    go(&c, 0, ttl);
    CHECK_EQ(turns(&c, 0), 1000 + ttl + late);
    c.clock = 1000 + ttl + late - 1;
    (void)turns(&c, 0);
    CHECK_CREW_NONE(&c);
    c.clock++;
    (void)turns(&c, 0);
    CHECK_EQ(lawn_last_deadline(&c.hand[1].timer.timer), 1000 + ttl + late);
    if (late == 0) {
        CHECK_CREW(&c, 1);
    } else {
        CHECK_EQ(c.fires, 2); /* both are on one blade */
    }
    c.clock = 1100 + ttl;
    (void)turns(&c, 0);
    CHECK_EQ(c.fires, 2);
    crew_end(&c);
}

TEST(a_start_that_was_overtaken_is_late_by_a_1024th_of_its_ttl_at_most)
{
    check_overtaken(500, 0);
    check_overtaken(10000, 0);
    check_overtaken(100 * 1024 - 1, 0);
    check_overtaken(100 * 1024, 100);
    check_overtaken(1000 * 1024, 100);
}

/* The end of a worker. */

TEST(a_worker_has_ended_when_it_was_removed_and_has_turned)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    all_turn(&c);
    CHECK(!lawn_worker_ended(c.worker[0]));
    CHECK(!lawn_worker_ended(c.worker[1]));
    CHECK_EQ(lawn_workers_remove(c.set, c.number[0]), 0);
    CHECK(!lawn_worker_ended(c.worker[0]));
    CHECK(called(&c, 0));
    (void)turn(&c, 0);
    CHECK(lawn_worker_ended(c.worker[0]));
    (void)turn(&c, 1);
    CHECK(!lawn_worker_ended(c.worker[1]));
    crew_detach(&c, 0);
    CHECK_EQ(crew_attach(&c), 0);
    CHECK(!lawn_worker_ended(c.worker[0]));
    crew_end(&c);
}

static atomic_uint looping;

/* As the example in the header. */
static void
loop_until_ended(void *arg, unsigned which)
{
    struct lawn_worker *worker = lawn_workers_attach(troop.set);
    struct pollfd poller = {.events = POLLIN};

    (void)arg;
    (void)which;
    SURE(worker != NULL);
    poller.fd = lawn_worker_fd(worker);
    SURE(poller.fd >= 0);
    atomic_fetch_add(&looping, 1);
    for (;;) {
        uint64_t next = lawn_worker_turn(worker);

        if (lawn_worker_ended(worker)) {
            break;
        }
        SURE(poll(&poller, 1, next <= troop_now(&troop) ? 0 : -1) >= 0);
    }
    lawn_worker_detach(worker);
}

static void
close_in_the_end(void *arg, unsigned which)
{
    (void)which;
    SURE(lawn_workers_close(troop.set, LAWN_NEVER, NULL, NULL) == 0);
    atomic_store((atomic_bool *)arg, true);
}

TEST(between_threads_loops_of_the_callers_end_when_the_set_is_closed)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        atomic_bool closed;
        struct squad squad;

        atomic_store(&closed, false);
        troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
        item_init(&troop, &items[0]);
        item_init(&troop, &items[1]);
        atomic_store(&looping, 0);
        squad_start(&squad, 2, loop_until_ended, NULL);
        WAIT_FOR(atomic_load(&looping) == 2);
        item_start(&items[0], 10);
        item_start(&items[1], 20);
        struct squad closer;
        squad_start(&closer, 1, close_in_the_end, &closed);
        WAIT_FOR(LAWN_ATOMIC_LOAD(&troop.set->closing, LAWN_ACQUIRE) != 0);
        troop_advance(&troop, 10);
        WAIT_FOR(atomic_load(&troop.fires) == 1);
        SURE(!atomic_load(&closed));
        troop_advance(&troop, 10);
        squad_join(&closer);
        squad_join(&squad);
        SURE(atomic_load(&troop.fires) == 2);
        lawn_workers_free(troop.set);
    }
}

static uint64_t turns_before;

static uint64_t
turns_of(unsigned number)
{
    struct lawn_workers_counters stats;

    SURE(lawn_workers_stats_of(troop.set, number, &stats));
    return stats.turns;
}

/* Has a timer, and stays busy until it was removed, the set was closed, and the
 * other worker has noticed that. */
static void
be_busy_elsewhere(void *arg, unsigned which)
{
    struct lawn_worker *worker = lawn_workers_attach(troop.set);

    (void)arg;
    (void)which;
    SURE(worker != NULL);
    item_start(&items[0], 10);
    (void)lawn_worker_turn(worker);
    atomic_store(&looping, 1);
    WAIT_FOR(LAWN_ATOMIC_LOAD(&troop.set->closing, LAWN_ACQUIRE) != 0);
    const struct lawn_worker *second = troop.set->workers[1];
    WAIT_FOR(LAWN_ATOMIC_LOAD(&second->counts.turns, LAWN_RELAXED) >
             turns_before);
    SURE(lawn_worker_run(worker) == 0);
    lawn_worker_detach(worker);
    atomic_fetch_add(&troop.clock, 10);
    lawn_workers_wake(troop.set);
}

TEST(between_threads_the_end_waits_for_the_lawn_of_a_worker_that_was_removed)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        struct squad squad;

        troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
        item_init(&troop, &items[0]);
        atomic_store(&looping, 0);
        squad_start(&squad, 1, be_busy_elsewhere, NULL);
        WAIT_FOR(atomic_load(&looping) == 1);
        SURE(lawn_workers_add(troop.set) == 1);
        struct lawn_shard *start_shard =
            LAWN_ATOMIC_LOAD(&troop.set->workers[1]->start_shard, LAWN_ACQUIRE);
        WAIT_FOR(
            LAWN_ATOMIC_LOAD(&start_shard->wake_at, LAWN_ACQUIRE) ==
                LAWN_NEVER &&
            LAWN_ATOMIC_LOAD(&troop.set->workers[1]->token, LAWN_ACQUIRE) == 0);
        SURE(lawn_workers_remove(troop.set, 0) == 0);
        turns_before = turns_of(1);
        SURE(lawn_workers_close(troop.set, LAWN_NEVER, NULL, NULL) == 0);
        SURE(atomic_load(&troop.fires) == 1);
        squad_join(&squad);
        lawn_workers_free(troop.set);
    }
}

/* Works until the set is closed. */
static void
work_on(void *arg, unsigned which)
{
    struct lawn_worker *worker = lawn_workers_attach(troop.set);

    (void)arg;
    (void)which;
    SURE(worker != NULL);
    atomic_fetch_add(&looping, 1);
    WAIT_FOR(atomic_load(&looping) == 3);
    SURE(lawn_worker_run(worker) == 0);
    lawn_worker_detach(worker);
}

static void
close_it(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    SURE(lawn_workers_close(troop.set, 0, NULL, NULL) == 0);
}

/* Otherwise two threads would wait for the end of one thread. */
TEST(between_threads_no_worker_is_removed_while_the_set_is_closed)
{
    troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
    atomic_store(&looping, 0);
    struct squad workers;
    squad_start(&workers, 2, work_on, NULL);
    WAIT_FOR(atomic_load(&looping) == 2);
    struct squad closer;
    squad_start(&closer, 1, close_it, NULL);
    WAIT_FOR(LAWN_ATOMIC_LOAD(&troop.set->closing, LAWN_ACQUIRE) != 0);
    SURE(lawn_workers_remove(troop.set, 0) == -ESHUTDOWN);
    atomic_store(&looping, 3);
    squad_join(&workers);
    squad_join(&closer);
    lawn_workers_free(troop.set);
}

TEST(a_thread_that_frees_the_set_it_works_for_is_detached)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    crew_detach(&c, 1);
    as(&c, 0);
    go(&c, 0, 10);
    lawn_workers_free(c.set);
    CHECK(lawn_workers_self() == NULL);
    CHECK_EQ(c.ledger.blocks, 0);
    CHECK(!lawn_workers_pending(&c.hand[0].timer));
    c.set = NULL;
    c.worker[0] = NULL;
    crew_end(&c);
}

/* Objects with two timers, one of which is left when the set is closed. */

struct pair {
    struct hand hands[2];
};

static struct lawn_workers *set_of_pairs;

static void
free_pair(struct lawn_workers_timer *timer, void *arg)
{
    struct hand *hand = LAWN_CONTAINER(timer, struct hand, timer);
    struct pair *pair = LAWN_CONTAINER(hand - hand->id, struct pair, hands[0]);
    struct hand *second = &pair->hands[1 - hand->id];

    hand_left(timer, arg);
    CHECK_EQ(lawn_workers_stop_sync(set_of_pairs, &second->timer),
             second->running);
    free(pair);
}

static struct pair *
new_pair(struct crew *c)
{
    struct pair *pair = malloc(sizeof(*pair));

    CHECK(pair != NULL);
    hand_init(c, &pair->hands[0], 0);
    hand_init(c, &pair->hands[1], 1);
    return pair;
}

/* Each timer is on one of two lawns, in the mailbox of either, both, or
 * stopped. A sanitizer would report an access [C3]. */
TEST(a_timer_that_is_left_may_be_freed_with_the_other_timer_of_its_object)
{
    struct pair *pairs[72];
    struct crew c;

    crew_begin(&c, 2, NULL);
    set_of_pairs = c.set;
    for (unsigned i = 0; i < COUNT(pairs); i++) {
        pairs[i] = new_pair(&c);
        for (unsigned k = 0; k < 2; k++) {
            unsigned where = k == 0 ? i % 6 : i / 6 % 6;
            struct hand *hand = &pairs[i]->hands[k];

            if (where < 4) { /* on a lawn, at least for a time */
                as(&c, where % 2);
                CHECK_EQ(hand_start(&c, hand, 10 + i % 5 + k), 0);
            }
        }
    }
    as(&c, NOBODY);
    for (unsigned i = 0; i < COUNT(pairs); i++) {
        for (unsigned k = 0; k < 2; k++) {
            unsigned where = k == 0 ? i % 6 : i / 6 % 6;

            if (where >= 2) {
                CHECK_EQ(hand_start(&c, &pairs[i]->hands[k], 5 + i % 3), 0);
            }
        }
        if (i >= 36) {
            CHECK(lawn_workers_stop(c.set, &pairs[i]->hands[i % 2].timer));
            pairs[i]->hands[i % 2].running = false;
        }
    }
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, free_pair, &c), COUNT(pairs));
    CHECK_EQ(c.left, COUNT(pairs));
    crew_end(&c);
}

/* A set is closed by a worker of another set, which remains that worker. */

static struct crew closes;

static void
work_for_the_other(struct lawn_workers_timer *timer, void *arg)
{
    hand_left(timer, arg);
    CHECK(halt_sync(&closes, 0)); /* does not wait: this is its worker */
    go(&closes, 1, 10);           /* on its own lawn */
    CHECK_EQ(lawn_workers_close(closes.set, 0, NULL, NULL), 0);
}

TEST(a_thread_in_left_is_still_the_worker_of_another_set)
{
    crew_begin(&closes, 1, NULL);
    struct crew c;
    crew_begin(&c, 0, NULL);
    go(&c, 0, 10);
    as(&closes, 0);
    go(&closes, 0, 10);
    CHECK_EQ(lawn_workers_close(c.set, 0, work_for_the_other, &c), 1);
    CHECK(lawn_workers_self() == closes.worker[0]);
    closes.clock += 10;
    (void)turn(&closes, 0);
    CHECK_CREW(&closes, 1);
    CHECK_EQ(stats_of(&closes, 0).messages, 0);
    as(&closes, NOBODY);
    crew_end(&c);
    crew_end(&closes);
}

static void
free_the_other(struct lawn_workers_timer *timer, void *arg)
{
    hand_left(timer, arg);
    lawn_workers_free(closes.set);
    CHECK_EQ(closes.ledger.blocks, 0);
    closes.set = NULL;
    closes.worker[0] = NULL;
}

TEST(a_thread_in_left_may_cease_to_be_the_worker_of_another_set)
{
    crew_begin(&closes, 1, NULL);
    struct crew c;
    crew_begin(&c, 0, NULL);
    go(&c, 0, 10);
    as(&closes, 0);
    CHECK_EQ(lawn_workers_close(c.set, 0, free_the_other, &c), 1);
    CHECK(lawn_workers_self() == NULL);
    crew_end(&c);
    crew_end(&closes);
}

/* Two sets whose workers wait for each other's timers. */

static atomic_uint met;

static void
stop_the_others(struct item *item, struct lawn_worker *worker)
{
    struct item *lies = item == &items[0] ? &items[3] : &items[2];

    (void)worker;
    atomic_fetch_add(&met, 1);
    WAIT_FOR(atomic_load(&met) == 2);
    SURE(item_stop_sync(lies));
    memset(&lies->timer, 0xA5, sizeof(lies->timer)); /* [C3] */
}

TEST(between_threads_workers_of_two_sets_stop_timers_of_each_others)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
        troop_begin(&other, 1, false, LAWN_WORKERS_BY_OWNER);
        troop.act = stop_the_others;
        other.act = stop_the_others;
        atomic_store(&met, 0);
        for (unsigned i = 0; i < 4; i++) {
            item_init(i % 2 == 0 ? &troop : &other, &items[i]);
            item_start(&items[i], i < 2 ? 1 : 1000);
        }
        troop_advance(&troop, 1);
        troop_advance(&other, 1);
        WAIT_FOR(atomic_load(&troop.fires) == 1 &&
                 atomic_load(&other.fires) == 1);
        SURE(troop_end(&troop) == 0);
        SURE(troop_end(&other) == 0);
    }
}

/* Timers that were on many lawns of one set, while another set gets its
 * lawns. */

static void
start_all_elsewhere(void *arg, unsigned which)
{
    struct item *foreign = arg;

    (void)which;
    for (unsigned i = 0; i < 64; i++) {
        foreign[i].troop = &other;
        item_start(&foreign[i], 1000);
    }
}

TEST(between_threads_timers_of_another_set_are_started_as_lawns_are_made)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        static struct item foreign[64];
        struct squad squad;

        troop_begin(&troop, 1, false, LAWN_WORKERS_BY_TTL); /* 16 lawns */
        for (unsigned i = 0; i < COUNT(foreign); i++) {
            item_init(&troop, &foreign[i]);
            item_start(&foreign[i], 1 + i);
        }
        troop_advance(&troop, 100);
        WAIT_FOR(atomic_load(&troop.fires) == COUNT(foreign));
        SURE(troop_end(&troop) == 0);
        troop_begin(&other, 1, false, LAWN_WORKERS_BY_OWNER);
        squad_start(&squad, 1, start_all_elsewhere, foreign);
        for (unsigned i = 0; i < 4; i++) {
            SURE(lawn_workers_add(other.set) > 0);
        }
        squad_join(&squad);
        SURE(troop_end(&other) == COUNT(foreign));
    }
}

static void
fire_otherwise(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    item_fire(timer, worker);
}

/* A timer stopped by another thread is idle, but stays on its lawn until its
 * old deadline. ThreadSanitizer must not report a race if the timer then gets
 * another callback. */
TEST(between_threads_a_timer_that_was_stopped_gets_another_callback)
{
    unsigned many = rounds(100000);

    troop_begin(&troop, 1, true, LAWN_WORKERS_BY_OWNER);
    item_init(&troop, &items[0]);
    for (unsigned round = 0; round < many; round++) {
        struct item *item = &items[0];

        if (item_stop(item) || !lawn_workers_pending(&item->timer)) {
            bool usual = item->timer.fire == item_fire;
            item->timer.fire = usual ? fire_otherwise : item_fire;
        }
        item_start(item, 1000 * (1 + round % 64));
    }
    (void)item_stop_sync(&items[0]);
    SURE(troop_end(&troop) == 0);
}

/* Moving from a lawn to another that is cleared before it, or after it. */
TEST(timers_on_their_way_to_another_worker_are_left_when_a_set_is_closed)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    as(&c, 1);
    go(&c, 1, 10);
    as(&c, NOBODY);
    go_on(&c, 0, 20, 1);
    go_on(&c, 1, 20, 0);
    crew_detach(&c, 0);
    crew_detach(&c, 1);
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 2);
    CHECK_EQ(c.left, 2);
    CHECK(!goes(&c, 0));
    CHECK(!goes(&c, 1));
    crew_end(&c);
}
