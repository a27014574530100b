/* workers_faults.c - the system refuses resources to workers; calls without
 * effect in states where they make no sense. */
#if defined __linux__
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#endif
#include "../../src/workers/park.h"
#include "../../src/workers/workers.h"
#include "workers_threads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#if defined __linux__
#include <linux/sched.h>
#include <sys/syscall.h>
#endif

/* Memory that is never released. */

static char field[1 << 20];
static size_t field_used;

static void *
field_alloc(size_t size, void *context)
{
    char *memory = field + field_used;

    (void)context;
    size += -size % sizeof(uint64_t);
    CHECK(sizeof(field) - field_used >= size);
    field_used += size;
    return memory;
}

TEST(memory_of_a_set_need_not_be_released)
{
    struct crew c;

    crew_begin(&c, 0, NULL);
    lawn_workers_free(c.set);
    struct lawn_workers_options options = crew_options(&c, NULL);
    options.lawn.alloc = field_alloc;
    options.lawn.release = NULL;
    field_used = 0;
    c.set = lawn_workers_new(&options);
    CHECK(c.set != NULL);
    CHECK_EQ(crew_attach(&c), 0);
    CHECK_EQ(crew_attach(&c), 1);
    CHECK(field_used > 0);
    go(&c, 0, 10);
    c.clock = 1010;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    crew_end(&c);
}

TEST(a_budget_of_workers_may_be_without_bounds)
{
    static struct hand many[1000];
    struct lawn_workers_options options = {.budget = SIZE_MAX};
    struct crew c;

    crew_begin(&c, 1, &options);
    for (unsigned i = 0; i < COUNT(many); i++) {
        hand_init(&c, &many[i], i % HANDS);
        CHECK_EQ(hand_start(&c, &many[i], 10), 0);
    }
    CHECK_EQ(turn(&c, 0), 1010); /* all messages at once */
    CHECK_EQ(stats_of(&c, 0).messages, COUNT(many));
    c.clock = 1010;
    CHECK_EQ(turn(&c, 0), LAWN_NEVER);
    CHECK_EQ(c.fires, COUNT(many));
    crew_end(&c);
}

/* Calls without effect. */

static void
detach_and_close(struct crew *crew, struct hand *hand)
{
    (void)hand;
    lawn_worker_detach(crew->worker[0]);
    CHECK(lawn_workers_self() == crew->worker[0]);
    CHECK_EQ(stats_all(crew).workers, 2);
    CHECK_EQ(stats_of(crew, 0).shards, 1);
    CHECK_EQ(lawn_workers_close(crew->set, 0, hand_left, crew), 0);
    CHECK_EQ(crew->left, 0);
    go(crew, 1, 10); /* works as usual */
}

TEST(a_worker_cannot_be_detached_nor_a_set_closed_in_a_callback)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    as(&c, 0);
    go(&c, 0, 10);
    go(&c, 2, 30);
    c.act = detach_and_close;
    c.clock = 1010;
    (void)turns(&c, 0);
    c.act = NULL;
    as(&c, 0); /* nor outside a callback, on a worker */
    CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 0);
    as(&c, NOBODY);
    c.clock = 1030;
    (void)turns(&c, 0);
    CHECK_CREW(&c, 0, 1, 2);
    CHECK_EQ(c.left, 0);
    crew_end(&c);
}

TEST(a_worker_may_be_detached_by_a_thread_that_is_another_or_none)
{
    struct crew c;

    crew_begin(&c, 3, NULL);
    as(&c, 1);
    go(&c, 0, 10);
    as(&c, 2);
    go(&c, 1, 10);
    lawn_worker_detach(c.worker[1]);
    c.worker[1] = NULL;
    CHECK(lawn_workers_self() == c.worker[2]);
    as(&c, NOBODY);
    lawn_worker_detach(c.worker[2]);
    c.worker[2] = NULL;
    CHECK(lawn_workers_self() == NULL);
    CHECK_EQ(stats_all(&c).workers, 1);
    c.clock = 1010;
    all_turn(&c);
    CHECK_EQ(c.fires, 2);
    CHECK_EQ(fired_on(&c, 0), 0);
    CHECK_EQ(fired_on(&c, 1), 0);
    crew_end(&c);
}

/* For the other set it is an ordinary thread. */
TEST(a_worker_of_one_set_is_an_ordinary_thread_for_another)
{
    struct crew c;

    crew_begin(&c, 1, NULL);
    struct crew other;
    crew_begin(&other, 2, NULL);
    as(&c, 0);
    lawn_worker_update(c.worker[0]);
    go_on(&other, 0, 10, 0);
    go(&other, 1, 10);
    CHECK(halt(&other, 1));
    CHECK_EQ(lawn_workers_remove(other.set, other.number[1]), 0);
    CHECK_EQ(stats_all(&other).held, 0); /* it was sent as a message */
    all_turn(&other);
    CHECK(stats_of(&other, 0).messages >= 1);
    CHECK(lawn_workers_self() == c.worker[0]);
    crew_detach(&other, 1);
    other.clock = 1010;
    all_turn(&other);
    CHECK_CREW(&other, 0);
    crew_detach(&other, 0);
    as(&c, 0);
    go(&other, 2, 10);
    CHECK_EQ(lawn_workers_close(other.set, 0, hand_left, &other), 1);
    CHECK(lawn_workers_self() == c.worker[0]);
    go(&c, 0, 10);
    c.clock = 1010;
    all_turn(&c);
    CHECK_CREW(&c, 0);
    crew_end(&other);
    crew_end(&c);
}

/* A timer that is deferred while its callback runs is left like any other. */

static void
move_and_take_the_mail(struct crew *crew, struct hand *hand)
{
    as(crew, NOBODY);
    go_on(crew, 1, 500, 0);
    as(crew, 0);
    go_on(crew, hand->id, 50, 1); /* after the callback has returned */
    CHECK(halt_sync(crew, 1));
    CHECK(goes(crew, hand->id));
}

TEST(a_timer_that_moves_in_its_callback_is_put_aside_while_that_runs)
{
    for (unsigned closed = 0; closed < 2; closed++) {
        struct crew c;

        crew_begin(&c, 2, NULL);
        struct lawn_shard *shard = c.worker[0]->shards;
        as(&c, 0);
        go(&c, 0, 10);
        as(&c, NOBODY);
        c.act = move_and_take_the_mail;
        c.clock = 1010;
        CHECK(turn(&c, 0) <= c.clock); /* more work at once */
        CHECK_CREW(&c, 0);
        CHECK(shard->again == &c.hand[0].timer);
        c.act = NULL;
        if (closed == 1) {
            crew_detach(&c, 1);
            crew_detach(&c, 0);
            CHECK(shard->again == &c.hand[0].timer);
            CHECK_EQ(lawn_workers_close(c.set, 0, hand_left, &c), 1);
            CHECK_EQ(c.left, 1);
            CHECK(!goes(&c, 0));
        } else {
            all_turn(&c);
            c.clock = 1060;
            all_turn(&c);
            CHECK_CREW(&c, 0);
            CHECK_EQ(fired_on(&c, 0), 1);
        }
        crew_end(&c);
    }
}

/* Two callbacks are stuck at a time: the one stuck longer is reported. */

static void
get_stuck_within(struct crew *crew, struct hand *hand)
{
    if (hand->id == 0) {
        crew->clock += 100;
        as(crew, 1);
        (void)lawn_worker_turn(crew->worker[1]);
        as(crew, 0);
    } else {
        crew->clock += 30;
        CHECK_EQ(stats_of(crew, 0).behind, 130);
        CHECK_EQ(stats_of(crew, 1).behind, 30);
        CHECK_EQ(stats_all(crew).behind, 130);
    }
}

TEST(of_two_stuck_workers_the_one_that_is_stuck_longer_shows)
{
    struct crew c;

    crew_begin(&c, 2, NULL);
    c.act = get_stuck_within;
    as(&c, 0);
    go(&c, 0, 10);
    as(&c, 1);
    go(&c, 1, 20);
    as(&c, NOBODY);
    c.clock = 1010;
    (void)turn(&c, 0);
    CHECK_CREW(&c, 0, 1);
    CHECK_EQ(stats_all(&c).behind, 0);
    crew_end(&c);
}

/* Threads: each next step of a test waits for an event. */

static struct troop troop;
static struct item items[8];

static void
start_until_closed(struct item *item, struct lawn_worker *worker)
{
    (void)worker;
    if (item == &items[0]) {
        WAIT_FOR(lawn_workers_start(troop.set, &items[1].timer, 1000) ==
                 -ESHUTDOWN);
        SURE(lawn_workers_pending(&items[1].timer)); /* still pending */
    }
}

/* [C1] */
TEST(between_threads_a_callback_cannot_start_timers_of_a_set_that_is_closed)
{
    troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
    troop.act = start_until_closed;
    item_init(&troop, &items[0]);
    item_init(&troop, &items[1]);
    item_start(&items[0], 1);
    troop_advance(&troop, 1);
    WAIT_FOR(lawn_workers_pending(&items[1].timer));
    SURE(lawn_workers_close(troop.set, 0, NULL, NULL) == 1);
    SURE(!lawn_workers_pending(&items[1].timer));
    SURE(atomic_load(&items[0].fires) == 1);
    SURE(atomic_load(&items[1].fires) == 0);
    lawn_workers_free(troop.set);
}

/* The worker has closed its mailbox, and waits for the other like any
 * thread. */
TEST(between_threads_a_worker_that_has_left_can_wait_for_a_timer)
{
    troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
    item_init(&troop, &items[0]);
    struct lawn_worker *gone = lawn_workers_attach(troop.set);
    SURE(gone != NULL);
    (void)lawn_workers_be(NULL);
    SURE(lawn_workers_remove(troop.set, lawn_worker_number(gone)) == 0);
    (void)lawn_workers_be(gone);
    (void)lawn_worker_turn(gone);
    item_start_on(&items[0], 1000, atomic_load(&troop.numbers[0]));
    SURE(item_stop_sync(&items[0]));
    memset(&items[0], 0xA5, sizeof(items[0])); /* [C3] */
    lawn_worker_detach(gone);
    SURE(lawn_workers_self() == NULL);
    troop_advance(&troop, 2000);
    SURE(troop_end(&troop) == 0);
}

/* The lock of a set, and its futex wait. */

static uint32_t locked;
static unsigned within;

static void
lock_and_look(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    lawn__park_lock(&locked);
    SURE(++within > 1);
    lawn__park_unlock(&locked);
}

TEST(between_threads_a_lock_that_is_held_is_waited_for)
{
    struct squad squad;

    within = 0;
    lawn__park_lock(&locked);
    uint32_t held = LAWN_ATOMIC_LOAD(&locked, LAWN_RELAXED);
    squad_start(&squad, 2, lock_and_look, NULL);
    WAIT_FOR(LAWN_ATOMIC_LOAD(&locked, LAWN_RELAXED) !=
             held); /* a thread waits */
    SURE(++within == 1);
    lawn__park_unlock(&locked);
    squad_join(&squad);
    SURE(within == 3);
    SURE(LAWN_ATOMIC_LOAD(&locked, LAWN_RELAXED) == 0);
}

TEST(a_worker_does_not_sleep_until_a_time_that_has_passed)
{
    uint32_t word = 0;

    lawn__park_wait(&word, 0, 1);
    lawn__park_wait(&word, 1, LAWN_NEVER); /* nor if the value differs */
    CHECK(lawn__park_clock(NULL) > 1);
}

#if defined __linux__
/* Child processes in which the system refuses calls. */

static void
start_some(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        item_init(&troop, &items[i]);
        item_start(&items[i], 10);
    }
}

/* With and without an existing worker. */
static int
get_no_thread(void)
{
    struct lawn_workers_counters stats;

    /* Refuses only threads: LeakSanitizer needs a process. */
    if (!refuse_if(SYS_clone, EAGAIN, 0, CLONE_THREAD, CLONE_THREAD)) {
        return 0;
    }
#if defined SYS_clone3
    if (!refuse(SYS_clone3, ENOSYS)) { /* libc then falls back to clone */
        return 0;
    }
#endif
    for (unsigned had = 0; had < 2; had++) {

        troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
        struct lawn_worker *worker =
            had == 1 ? lawn_workers_attach(troop.set) : NULL;
        SURE(worker != NULL || had == 0);
        (void)lawn_workers_be(NULL);
        start_some(4);
        for (unsigned i = 0; i < 3; i++) {
            SURE(lawn_workers_add(troop.set) == -EAGAIN);
        }
        lawn_workers_stats(troop.set, &stats);
        SURE(stats.workers == had);
        SURE(lawn_workers_check(troop.set, stdout));
        for (unsigned i = 4; i < COUNT(items); i++) {
            item_init(&troop, &items[i]);
            item_start(&items[i], 10);
        }
        if (had == 0) {
            worker = lawn_workers_attach(troop.set);
            SURE(worker != NULL);
        }
        troop_advance(&troop, 10);
        (void)lawn_worker_turn(worker);
        (void)lawn_worker_turn(worker);
        SURE(atomic_load(&troop.fires) == COUNT(items)); /* [C8] */
        lawn_worker_detach(worker);
        SURE(troop_end(&troop) == 0);
    }
    return 0;
}

TEST(a_worker_that_gets_no_thread_is_not_added_and_nothing_is_lost)
{
    check_child(get_no_thread);
}

static int
get_no_descriptor(void)
{
    if (!refuse(SYS_eventfd2, EMFILE)) {
        return 0;
    }
    troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
    struct lawn_worker *worker = lawn_workers_attach(troop.set);
    SURE(worker != NULL);
    SURE(lawn_worker_fd(worker) == -EMFILE);
    SURE(lawn_worker_fd(worker) == -EMFILE);
    (void)lawn_worker_turn(worker);
    (void)lawn_workers_be(NULL);
    start_some(2); /* these wake it without a descriptor */
    troop_advance(&troop, 10);
    (void)lawn_worker_turn(worker);
    SURE(atomic_load(&troop.fires) == 2);
    lawn_worker_detach(worker);
    SURE(troop_end(&troop) == 0);
    return 0;
}

TEST(a_worker_that_gets_no_descriptor_reports_it_and_serves)
{
    check_child(get_no_descriptor);
}

/* Without membarrier(2), every change of a timer is a compare-and-swap. */

static atomic_bool entered;
static atomic_bool let_go;

/* Item 0 restarts itself a few times, and starts and stops other timers of its
 * worker; item 1 waits. */
static void
be_busy(struct item *item, struct lawn_worker *worker)
{
    (void)worker;
    if (item == &items[0] && atomic_load(&item->starts) < 100) {
        item_start(item, 1);
        item_start(&items[2], 5);
        item_start(&items[3], 500);
        item_start(&items[3], 600);
        SURE(item_stop(&items[3]));
        SURE(!item_stop(&items[3]));
    } else if (item == &items[1]) {
        atomic_store(&entered, true);
        WAIT_FOR(atomic_load(&let_go));
    }
}

static void
wait_for_item_1(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    SURE(!item_stop_sync(&items[1]));
    SURE(atomic_load(&let_go)); /* [C3] */
    SURE(atomic_load(&items[1].inside) == 0);
}

static int
have_no_fence(void)
{
    struct squad squad;

    if (!refuse(SYS_membarrier, ENOSYS)) {
        return 0;
    }
    troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
    SURE(!troop.set->asymmetric);
    troop.act = be_busy;
    for (unsigned i = 0; i < COUNT(items); i++) {
        item_init(&troop, &items[i]);
    }
    item_start_on(&items[0], 1, atomic_load(&troop.numbers[0]));
    for (unsigned i = 1; i <= 100; i++) {
        troop_advance(&troop, 1);
        WAIT_FOR(atomic_load(&items[0].fires) == i);
    }
    SURE(item_stop_sync(&items[2])); /* used only by its worker until now */
    SURE(!lawn_workers_pending(&items[3].timer));
    SURE(atomic_load(&items[3].fires) == 0);
    struct lawn_shard *shard =
        troop.set->workers[atomic_load(&troop.numbers[1])]->start_shard;
    item_start_on(&items[1], 1, atomic_load(&troop.numbers[1]));
    troop_advance(&troop, 1);
    WAIT_FOR(atomic_load(&entered));
    squad_start(&squad, 3, wait_for_item_1, NULL);
    WAIT_FOR(LAWN_ATOMIC_LOAD(&shard->waiters, LAWN_RELAXED) == 3);
    atomic_store(&let_go, true);
    squad_join(&squad);
    SURE(troop_end(&troop) == 0);
    return 0;
}

TEST(workers_serve_without_a_fence_for_all_threads)
{
    check_child(have_no_fence);
}
#endif
