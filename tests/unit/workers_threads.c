/* workers_threads.c - sets with threads: wake-ups, calls while callbacks run,
 * adding and removing workers, closing. */
#include "workers_threads.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MICROSECOND UINT64_C(1000)
#define HOUR (UINT64_C(3600) * 1000000000)

static struct troop troop;
static struct item items[256];

static void
init_items(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        item_init(&troop, &items[i]);
    }
}

/* Wake-ups [C7]. */

TEST(between_threads_workers_fire_when_the_tests_clock_has_moved)
{
    unsigned many = rounds(4000);

    troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
    init_items(2);
    for (unsigned i = 0; i < many; i++) {
        item_start(&items[0], 10);
        item_start(&items[1], 11);
        troop_advance(&troop, 9);
        SURE(atomic_load(&troop.fires) == 2 * i); /* [P1] */
        SURE(lawn_workers_pending(&items[0].timer));
        troop_advance(&troop, 1);
        WAIT_FOR(atomic_load(&troop.fires) == 2 * i + 1);
        SURE(lawn_workers_pending(&items[1].timer));
        troop_advance(&troop, 1);
        WAIT_FOR(atomic_load(&troop.fires) == 2 * i + 2);
    }
    SURE(troop_end(&troop) == 0);
}

static void
check_on_time(struct item *item, struct lawn_worker *worker)
{
    (void)worker;
    SURE(lawn_last_deadline(&item->timer.timer) <=
         troop_now(&troop)); /* [P1] */
}

TEST(between_threads_a_start_wakes_a_sleeping_worker_on_the_real_clock)
{
    unsigned many = rounds(30000);

    troop_begin(&troop, 1, true, LAWN_WORKERS_BY_OWNER);
    troop.act = check_on_time;
    init_items(2);
    item_start(&items[1], HOUR); /* it would sleep that long */
    for (unsigned i = 0; i < many; i++) {
        uint64_t now = troop_now(&troop);

        item_start(&items[0], i % 3 * 10 * MICROSECOND);
        WAIT_FOR(atomic_load(&troop.fires) == i + 1);
        SURE(lawn_last_deadline(&items[0].timer.timer) >= now);
    }
    SURE(troop_end(&troop) == 1);
}

static atomic_uint pings;

static void
to_the_other(struct item *item, struct lawn_worker *worker)
{
    unsigned mine = lawn_worker_number(worker);
    unsigned first = atomic_load(&troop.numbers[0]);
    unsigned other = mine == first ? atomic_load(&troop.numbers[1]) : first;

    check_on_time(item, worker);
    if (atomic_fetch_sub(&pings, 1) > 1) {
        item_start_on(item, 1, other);
    }
}

TEST(between_threads_two_workers_play_ping_pong_and_no_wake_up_is_lost)
{
    unsigned many = rounds(30000);

    for (unsigned real = 0; real < 2; real++) {
        troop_begin(&troop, 2, real == 1, LAWN_WORKERS_BY_OWNER);
        troop.act = to_the_other;
        atomic_store(&pings, many);
        init_items(1);
        item_start(&items[0], 1);
        if (real == 0) {
            /* Each start is a tick ahead of the clock. */
            struct patience patience = {0, 0};

            while (atomic_load(&troop.fires) < many) {
                if (lawn_workers_pending(&items[0].timer)) {
                    troop_advance(&troop, 1);
                }
                patience_lose(&patience, __FILE__, __LINE__, "ping");
            }
        } else {
            WAIT_FOR(atomic_load(&troop.fires) == many);
        }
        SURE(atomic_load(&items[0].fires) == many);
        SURE(troop_end(&troop) == 0);
    }
}

/* A caller-owned loop, which sleeps only on the descriptor. */
static void
loop_of_its_own(void *arg, unsigned which)
{
    struct lawn_worker *worker = lawn_workers_attach(troop.set);
    struct pollfd poller = {.events = POLLIN};

    (void)arg;
    SURE(worker != NULL);
    atomic_store(&troop.numbers[which], lawn_worker_number(worker));
    poller.fd = lawn_worker_fd(worker);
    SURE(poller.fd >= 0);
    while (!atomic_load(&troop.over)) {
        uint64_t next = lawn_worker_turn(worker);
        uint64_t now = troop_now(&troop);
        int wait = next <= now ? 0
                   : next - now > 1000 * 1000000
                       ? -1
                       : (int)((next - now) / 1000000 + 1);

        SURE(poll(&poller, 1, wait) >= 0);
    }
    lawn_worker_detach(worker);
}

TEST(between_threads_a_descriptor_wakes_a_loop_of_the_callers)
{
    unsigned many = rounds(5000);
    struct squad squad;

    troop_begin(&troop, 0, true, LAWN_WORKERS_BY_OWNER);
    troop.act = check_on_time;
    init_items(1);
    squad_start(&squad, 1, loop_of_its_own, NULL);
    for (unsigned i = 0; i < many; i++) {
        item_start(&items[0], 1);
        WAIT_FOR(atomic_load(&troop.fires) == i + 1);
    }
    atomic_store(&troop.over, true);
    lawn_workers_wake(troop.set);
    squad_join(&squad);
    SURE(troop_end(&troop) == 0);
}

/* Calls while callbacks run. */

static atomic_bool entered;
static atomic_bool let_go;

static void
wait_to_be_let_go(struct item *item, struct lawn_worker *worker)
{
    (void)worker;
    if (item != &items[0]) {
        return;
    }
    atomic_store(&entered, true);
    WAIT_FOR(atomic_load(&let_go));
}

static void
stop_and_wait(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    SURE(!lawn_workers_stop(troop.set, &items[0].timer));
    SURE(!lawn_workers_stop_sync(troop.set, &items[0].timer));
    SURE(atomic_load(&let_go)); /* [C3] */
    SURE(atomic_load(&items[0].inside) == 0);
}

TEST(between_threads_stop_sync_returns_when_the_callback_has)
{
    unsigned many = rounds(300);

    troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
    troop.act = wait_to_be_let_go;
    init_items(1);
    for (unsigned i = 0; i < many; i++) {
        struct squad squad;

        atomic_store(&entered, false);
        atomic_store(&let_go, false);
        item_start(&items[0], 1);
        troop_advance(&troop, 1);
        WAIT_FOR(atomic_load(&entered));
        SURE(!lawn_workers_pending(&items[0].timer));
        squad_start(&squad, 3, stop_and_wait, NULL);
        for (unsigned j = 0; j < i % 50; j++) {
            (void)sched_yield(); /* they may be waiting by now */
        }
        atomic_store(&let_go, true);
        squad_join(&squad);
    }
    SURE(troop_end(&troop) == 0);
}

TEST(between_threads_a_stuck_worker_shows_and_does_not_hold_up_the_others)
{

    troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
    troop.act = wait_to_be_let_go;
    unsigned stuck = atomic_load(&troop.numbers[0]);
    unsigned free_one = atomic_load(&troop.numbers[1]);
    atomic_store(&entered, false);
    atomic_store(&let_go, false);
    init_items(32);
    item_start_on(&items[0], 1, stuck);
    item_start_on(&items[1], 50, stuck);
    troop_advance(&troop, 1);
    WAIT_FOR(atomic_load(&entered));
    for (unsigned i = 2; i < 32; i++) {
        item_start_on(&items[i], 1, free_one);
    }
    troop_advance(&troop, 500);
    WAIT_FOR(atomic_load(&troop.fires) == 30);
    SURE(lawn_workers_pending(&items[1].timer));
    struct lawn_workers_counters stats;
    SURE(lawn_workers_stats_of(troop.set, stuck, &stats));
    SURE(stats.behind == 500);
    lawn_workers_stats(troop.set, &stats);
    SURE(stats.behind == 500);
    atomic_store(&let_go, true);
    WAIT_FOR(atomic_load(&troop.fires) == 32);
    WAIT_FOR(lawn_workers_stats_of(troop.set, stuck, &stats) &&
             stats.behind == 0);
    SURE(stats.late_most == 451);
    SURE(troop_end(&troop) == 0);
}

static void
linger(struct item *item, struct lawn_worker *worker)
{
    check_on_time(item, worker);
    for (unsigned i = 0; i < 3; i++) {
        (void)sched_yield(); /* another thread may start it now */
    }
}

static void
start_it_all_the_time(void *arg, unsigned which)
{
    unsigned many = *(const unsigned *)arg;

    for (unsigned i = 0; i < many; i++) {
        if (which == 0) {
            item_start_on(&items[0], i % 2,
                          atomic_load(&troop.numbers[i / 3 % 2]));
        } else {
            item_start(&items[0], i % 4 * MICROSECOND);
        }
        if (i % 4 == 0) {
            (void)sched_yield();
        }
    }
}

/* [C4] item_fire() checks this. */
TEST(between_threads_a_timer_has_one_callback_at_a_time_however_it_is_started)
{
    unsigned many = rounds(40000);
    struct squad squad;

    troop_begin(&troop, 2, true, LAWN_WORKERS_BY_OWNER);
    troop.act = linger;
    init_items(1);
    squad_start(&squad, 3, start_it_all_the_time, &many);
    squad_join(&squad);
    WAIT_FOR(!lawn_workers_pending(&items[0].timer));
    SURE(!item_stop_sync(&items[0]));
    unsigned fires = atomic_load(&items[0].fires);
    SURE(fires >= 1);
    SURE(fires <= atomic_load(&items[0].starts));
    SURE(troop_end(&troop) == 0);
}

static atomic_uint blocked;

static void
look_at_signals(struct item *item, struct lawn_worker *worker)
{
    static const int some[] = {SIGTERM, SIGINT, SIGUSR1, SIGALRM, SIGCHLD};

    (void)item;
    (void)worker;
    sigset_t now;
    SURE(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    for (unsigned i = 0; i < COUNT(some); i++) {
        atomic_fetch_add(&blocked, sigismember(&now, some[i]) == 1);
    }
}

TEST(between_threads_signals_do_not_go_to_threads_of_the_library)
{
    atomic_store(&blocked, 0);
    troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
    troop.act = look_at_signals;
    init_items(1);
    item_start(&items[0], 1);
    troop_advance(&troop, 1);
    WAIT_FOR(atomic_load(&troop.fires) == 1);
    SURE(atomic_load(&blocked) == 5);
    sigset_t now;
    SURE(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    SURE(sigismember(&now, SIGTERM) == 0); /* unchanged in this thread */
    SURE(troop_end(&troop) == 0);
}

/* Adding and removing workers [C8]. */

TEST(between_threads_timers_of_a_removed_worker_fire_on_the_others)
{
    unsigned many = rounds(200);

    for (unsigned round = 0; round < many; round++) {
        troop_begin(&troop, 3, false, LAWN_WORKERS_BY_OWNER);
        init_items(60);
        for (unsigned i = 0; i < 60; i++) {
            item_start_on(&items[i], 10 + i, atomic_load(&troop.numbers[1]));
        }
        SURE(lawn_workers_remove(troop.set, atomic_load(&troop.numbers[1])) ==
             0);
        SURE(lawn_workers_remove(troop.set, atomic_load(&troop.numbers[1])) ==
             -ENOENT);
        troop_advance(&troop, 9);
        SURE(atomic_load(&troop.fires) == 0);
        troop_advance(&troop, 30);
        WAIT_FOR(atomic_load(&troop.fires) == 30);
        SURE(lawn_workers_remove(troop.set, atomic_load(&troop.numbers[0])) ==
             0);
        SURE(lawn_workers_remove(troop.set, atomic_load(&troop.numbers[2])) ==
             -EBUSY);
        troop_advance(&troop, 30);
        WAIT_FOR(atomic_load(&troop.fires) == 60);
        SURE(troop_end(&troop) == 0);
    }
}

static void
run_until_told(void *arg, unsigned which)
{
    struct lawn_worker *worker = lawn_workers_attach(troop.set);

    (void)arg;
    SURE(worker != NULL);
    atomic_store(&troop.numbers[which], lawn_worker_number(worker));
    atomic_fetch_add(&pings, 1);
    SURE(lawn_worker_run(worker) == 0);
    lawn_worker_detach(worker);
    SURE(lawn_workers_self() == NULL);
}

TEST(between_threads_a_callers_thread_runs_until_it_is_removed_or_all_is_closed)
{
    unsigned many = rounds(200);

    for (unsigned round = 0; round < many; round++) {
        struct squad squad;

        troop_begin(&troop, 0, false, LAWN_WORKERS_BY_OWNER);
        init_items(20);
        atomic_store(&pings, 0);
        squad_start(&squad, 2, run_until_told, NULL);
        WAIT_FOR(atomic_load(&pings) == 2);
        for (unsigned i = 0; i < 20; i++) {
            item_start(&items[i], 1 + i);
        }
        troop_advance(&troop, 10);
        WAIT_FOR(atomic_load(&troop.fires) == 10);
        SURE(lawn_workers_remove(troop.set,
                                 atomic_load(&troop.numbers[round % 2])) == 0);
        troop_advance(&troop, 5);
        WAIT_FOR(atomic_load(&troop.fires) == 15);
        SURE(troop_end(&troop) == 5); /* waits until both are detached */
        squad_join(&squad);
    }
}

/* Closing. */

static void
close_when_all_is_done(void *arg, unsigned which)
{
    (void)which;
    SURE(lawn_workers_close(troop.set, *(const uint64_t *)arg, NULL, NULL) ==
         3);
    atomic_store(&troop.over, true);
}

/* Ten are due by the time until, which is in the future; three are not. */
TEST(between_threads_a_set_is_closed_when_timers_due_until_then_have_fired)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        uint64_t until = 1050;
        struct squad squad;

        troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
        init_items(13);
        for (unsigned i = 0; i < 13; i++) {
            item_start(&items[i], i < 10 ? 41 + i : 51);
        }
        squad_start(&squad, 1, close_when_all_is_done, &until);
        troop_advance(&troop, 45);
        WAIT_FOR(atomic_load(&troop.fires) == 5);
        SURE(!atomic_load(&troop.over)); /* still waiting */
        SURE(lawn_workers_pending(&items[9].timer));
        troop_advance(&troop, 5);
        squad_join(&squad);
        SURE(atomic_load(&troop.fires) == 10);
        SURE(lawn_workers_start(troop.set, &items[0].timer, 1) == -ESHUTDOWN);
        for (unsigned i = 0; i < 13; i++) {
            SURE(!lawn_workers_pending(&items[i].timer));
            SURE(atomic_load(&items[i].fires) == (i < 10));
        }
        lawn_workers_free(troop.set);
    }
}

TEST(between_threads_a_set_closed_now_fires_due_timers_and_no_more)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
        init_items(40);
        for (unsigned i = 0; i < 40; i++) {
            item_start(&items[i], 1 + i);
        }
        atomic_fetch_add(&troop.clock, 30); /* without a notification */
        SURE(lawn_workers_close(troop.set, 1030, NULL, NULL) == 10);
        SURE(atomic_load(&troop.fires) == 30);
        SURE(lawn_workers_check(troop.set, stdout));
        lawn_workers_free(troop.set);
    }
}

TEST(between_threads_a_set_closed_in_the_end_fires_all)
{
    unsigned many = rounds(100);

    for (unsigned round = 0; round < many; round++) {
        troop_begin(&troop, 2, true, LAWN_WORKERS_BY_OWNER);
        troop.act = check_on_time;
        init_items(40);
        for (unsigned i = 0; i < 40; i++) {
            item_start(&items[i], i * 10 * MICROSECOND);
        }
        SURE(lawn_workers_close(troop.set, LAWN_NEVER, NULL, NULL) == 0);
        SURE(atomic_load(&troop.fires) == 40);
        lawn_workers_free(troop.set);
    }
}

static void
count_left(struct lawn_workers_timer *timer, void *arg)
{
    struct item *item = LAWN_CONTAINER(timer, struct item, timer);

    SURE(!lawn_workers_pending(timer));
    atomic_fetch_add(&item->stops, 1);
    (*(unsigned *)arg)++;
}

static void
start_until_refused(void *arg, unsigned which)
{
    unsigned threads = *(const unsigned *)arg;

    for (unsigned i = which;; i = (i + threads) % 256) {
        (void)item_stop(&items[i]); /* so that a start is not a restart */
        int error = lawn_workers_start(troop.set, &items[i].timer,
                                       i % 50 * MICROSECOND);
        if (error != 0) {
            SURE(error == -ESHUTDOWN);
            break;
        }
        atomic_fetch_add(&items[i].starts, 1);
    }
}

/* [C1] A started timer fires, is stopped, or is left. */
static void
close_while_threads_start(unsigned threads, unsigned many)
{
    for (unsigned round = 0; round < many; round++) {
        struct squad squad;
        unsigned left = 0;

        troop_begin(&troop, 2, true,
                    round % 2 == 0 ? LAWN_WORKERS_BY_OWNER
                                   : LAWN_WORKERS_BY_TTL);
        init_items(256);
        squad_start(&squad, threads, start_until_refused, &threads);
        WAIT_FOR(atomic_load(&troop.fires) > round % 32);
        SURE(lawn_workers_close(troop.set,
                                round % 3 == 0   ? 0
                                : round % 3 == 1 ? troop_now(&troop)
                                                 : LAWN_NEVER,
                                count_left, &left) == left);
        squad_join(&squad);
        for (unsigned i = 0; i < 256; i++) {
            SURE(!lawn_workers_pending(&items[i].timer));
            SURE(atomic_load(&items[i].starts) ==
                 atomic_load(&items[i].fires) + atomic_load(&items[i].stops));
        }
        lawn_workers_free(troop.set);
    }
}

TEST(between_threads_starts_while_a_set_is_closed_are_refused_or_accounted_for)
{
    close_while_threads_start(4, rounds(200));
}

/* More threads than gates, see src/workers/gate.h; in each round, new threads
 * reuse the memory of earlier ones. */
TEST(starts_of_very_many_threads_are_accounted_for_at_the_end)
{
    close_while_threads_start(SQUAD_MAX, rounds(30));
}

static void
close_now(void *arg, unsigned which)
{
    (void)which;
    *(uint64_t *)arg =
        lawn_workers_close(troop.set, troop_now(&troop), NULL, NULL);
}

/* More messages than the budget are waiting when the set is closed, all for due
 * timers. */
TEST(between_threads_a_set_closed_now_fires_timers_that_wait_in_the_mail)
{
    static struct item many[3000];
    uint64_t left = UINT64_MAX;
    struct squad squad;

    troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
    troop.act = wait_to_be_let_go;
    atomic_store(&entered, false);
    atomic_store(&let_go, false);
    init_items(2);
    item_start(&items[0], 1);
    troop_advance(&troop, 1);
    WAIT_FOR(atomic_load(&entered));
    for (unsigned i = 0; i < COUNT(many); i++) {
        item_init(&troop, &many[i]);
        item_start(&many[i], 1);
    }
    troop_advance(&troop, 1);
    squad_start(&squad, 1, close_now, &left);
    WAIT_FOR(lawn_workers_start(troop.set, &items[1].timer, 1000) ==
             -ESHUTDOWN);
    atomic_store(&let_go, true);
    squad_join(&squad);
    SURE(left <= 1); /* items[1], started above */
    SURE(atomic_load(&troop.fires) == 1 + COUNT(many));
    lawn_workers_free(troop.set);
}

/* left() waits for a timer of another set, whose worker waits for a timer of
 * the set that is being closed. */

static struct lawn_workers *closing;
static struct lawn_workers_timer closing_timers[2];

static void
wait_for_what_is_left(struct item *item, struct lawn_worker *worker)
{
    (void)item;
    (void)worker;
    atomic_store(&entered, true);
    WAIT_FOR(atomic_load(&let_go));
    (void)lawn_workers_stop_sync(closing, &closing_timers[1]);
}

static void
never_fires(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    (void)timer;
    (void)worker;
    SURE(false);
}

static void
left_waits(struct lawn_workers_timer *timer, void *arg)
{
    (void)arg;
    if (timer == &closing_timers[0]) {
        atomic_store(&let_go, true);
        (void)lawn_workers_stop_sync(troop.set, &items[1].timer);
    }
}

TEST(between_threads_two_sets_wait_for_each_others_timers_at_the_end_of_one)
{
    unsigned many = rounds(50);

    for (unsigned i = 0; i < many; i++) {
        troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
        troop.act = wait_for_what_is_left;
        atomic_store(&entered, false);
        atomic_store(&let_go, false);
        init_items(2);
        item_start(&items[0], 1);
        item_start(&items[1], 1000);
        troop_advance(&troop, 1);
        WAIT_FOR(atomic_load(&entered));

        closing = lawn_workers_new(NULL);
        SURE(closing != NULL);
        memset(closing_timers, 0, sizeof(closing_timers));
        closing_timers[0].fire = never_fires;
        closing_timers[1].fire = never_fires;
        SURE(lawn_workers_start(closing, &closing_timers[0], HOUR) == 0);
        SURE(lawn_workers_start(closing, &closing_timers[1], 2 * HOUR) == 0);
        SURE(lawn_workers_close(closing, 0, left_waits, NULL) <= 2);
        SURE(troop_end(&troop) == 0);
        lawn_workers_free(closing);
    }
}
