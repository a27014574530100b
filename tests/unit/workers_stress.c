/* workers_stress.c - many threads use shared timers. Every start ends in
 * exactly one way [C1], and a timer may be freed after stop_sync [C3]. */
#include "workers_threads.h"

#include "rng.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 64u
#define PRODUCERS 3u
#define MICROSECOND UINT64_C(1000)

static struct troop troop;
static struct item items[ITEMS];
static unsigned operations;

static void
begin(unsigned workers, enum lawn_workers_route route)
{
    troop_begin(&troop, workers, true, route);
    for (unsigned i = 0; i < ITEMS; i++) {
        item_init(&troop, &items[i]);
    }
}

static uint64_t
some_ttl(struct rng *rng)
{
    return rng_below(rng, 4) == 0 ? rng_below(rng, 3)
                                  : rng_below(rng, 100) * MICROSECOND;
}

static unsigned
some_number(struct rng *rng)
{
    return atomic_load(&troop.numbers[rng_below(rng, 2)]);
}

/* Checks that each start has ended in one way; the last may still be
 * running. */
static void
check_account(bool exact)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        struct item *item = &items[i];

        (void)item_stop_sync(item);
        SURE(!lawn_workers_pending(&item->timer));
        SURE(atomic_load(&item->inside) == 0);
        unsigned ends = atomic_load(&item->fires) + atomic_load(&item->stops);
        SURE(ends <= atomic_load(&item->starts));
        SURE(!exact || ends == atomic_load(&item->starts));
    }
}

/* Checks that all timers still work: each fires once more. */
static void
check_all_alive(void)
{
    unsigned fires = atomic_load(&troop.fires);

    for (unsigned i = 0; i < ITEMS; i++) {
        item_start(&items[i], i * MICROSECOND);
    }
    WAIT_FOR(atomic_load(&troop.fires) == fires + ITEMS);
    for (unsigned i = 0; i < ITEMS; i++) {
        SURE(!lawn_workers_pending(&items[i].timer));
    }
}

/* Starts only its own timers, and stops them first, so that no start is a
 * restart; stops the timers of other threads. It does not use stop_sync for
 * these: that repeats until the timer is stopped, and may stop more than one
 * start. */
static void
start_own_stop_all(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < operations; i++) {
        unsigned own =
            (unsigned)rng_below(&rng, ITEMS / PRODUCERS) * PRODUCERS + which;
        uint64_t what = rng_below(&rng, 16);

        if (what < 8) {
            (void)item_stop(&items[own]);
            item_start(&items[own], some_ttl(&rng));
        } else if (what < 10) {
            (void)item_stop(&items[own]);
            item_start_on(&items[own], some_ttl(&rng), some_number(&rng));
        } else if (what < 11) {
            (void)item_stop_sync(&items[own]);
        } else {
            (void)item_stop(&items[rng_below(&rng, ITEMS)]);
        }
    }
}

TEST(between_threads_every_start_ends_in_a_fire_or_a_stop_that_is_reported)
{
    static const enum lawn_workers_route routes[] = {LAWN_WORKERS_BY_OWNER,
                                                     LAWN_WORKERS_BY_TTL};

    for (unsigned r = 0; r < COUNT(routes); r++) {
        uint64_t seed = 17;
        struct squad squad;

        begin(2, routes[r]);
        operations = rounds(100000);
        squad_start(&squad, PRODUCERS, start_own_stop_all, &seed);
        squad_join(&squad);
        check_account(true);
        check_all_alive();
        check_account(true);
        SURE(troop_end(&troop) == 0);
    }
}

/* Does anything with any timer. */
static void
do_anything(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < operations; i++) {
        struct item *item = &items[rng_below(&rng, ITEMS)];
        uint64_t what = rng_below(&rng, 16);

        if (what < 7) {
            item_start(item, some_ttl(&rng));
        } else if (what < 10) {
            item_start_on(item, some_ttl(&rng), some_number(&rng));
        } else if (what < 11) {
            atomic_fetch_add(&item->starts, 1);
            SURE(lawn_workers_start_at(troop.set, &item->timer,
                                       troop_now(&troop) + some_ttl(&rng)) ==
                 0);
        } else if (what < 12) {
            (void)item_stop_sync(item);
        } else {
            (void)item_stop(item);
        }
    }
}

TEST(between_threads_shared_timers_end_at_most_once_per_start)
{
    static const enum lawn_workers_route routes[] = {LAWN_WORKERS_BY_OWNER,
                                                     LAWN_WORKERS_BY_TTL};

    for (unsigned r = 0; r < COUNT(routes); r++) {
        uint64_t seed = 99;
        struct squad squad;

        begin(2, routes[r]);
        operations = rounds(100000);
        squad_start(&squad, PRODUCERS, do_anything, &seed);
        squad_join(&squad);
        check_account(false);
        check_all_alive();
        SURE(troop_end(&troop) == 0);
    }
}

static void
come_and_go(void *arg, unsigned which)
{
    struct rng rng = {*(const uint64_t *)arg};

    (void)which;
    while (!atomic_load(&troop.over)) {
        unsigned at = (unsigned)rng_below(&rng, 2);
        int number = lawn_workers_add(troop.set);

        SURE(number >= 0);
        SURE(lawn_workers_remove(troop.set, atomic_load(&troop.numbers[at])) ==
             0);
        atomic_store(&troop.numbers[at], (unsigned)number);
    }
}

/* [C8] */
TEST(between_threads_every_start_ends_while_workers_come_and_go)
{
    static const enum lawn_workers_route routes[] = {LAWN_WORKERS_BY_OWNER,
                                                     LAWN_WORKERS_BY_TTL};

    for (unsigned r = 0; r < 2 * COUNT(routes); r++) {
        uint64_t seed = 5;
        struct squad squad;

        begin(2, routes[r % 2]);
        operations = rounds(50000);
        struct squad changes;
        squad_start(&changes, 1, come_and_go, &seed);
        squad_start(&squad, PRODUCERS, r < 2 ? start_own_stop_all : do_anything,
                    &seed);
        squad_join(&squad);
        check_account(r < 2);
        check_all_alive();
        atomic_store(&troop.over, true);
        squad_join(&changes);
        SURE(troop_end(&troop) == 0);
    }
}

/* A worker's own timer restarts itself and stops and starts timers that no
 * other thread has used before; the first access from another thread comes
 * while this runs [C6]. */
static struct item driver[2];
static atomic_uint epoch;

static void
drive(struct item *item, struct lawn_worker *worker)
{
    static _Thread_local struct rng rng = {3};
    unsigned which = item == &driver[0] ? 0 : 1;

    (void)worker;
    if (item != &driver[0] && item != &driver[1]) {
        return;
    }
    for (unsigned i = 0; i < 64; i++) {
        struct item *mine = &items[rng_below(&rng, ITEMS / 2) * 2 + which];

        (void)item_stop(mine);
        item_start(mine, rng_below(&rng, 2000));
    }
    atomic_fetch_add(&epoch, 1);
    if (!atomic_load(&troop.over)) {
        item_start(item, 1);
    }
}

/* A callback that has not yet seen the end restarts its driver. */
static void
wait_for_drivers(void)
{
    for (unsigned i = 0; i < 4; i++) {
        WAIT_FOR(!lawn_workers_pending(&driver[i % 2].timer));
        (void)item_stop_sync(&driver[i % 2]);
    }
}

static void
interfere(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < 200; i++) {
        (void)item_stop(&items[rng_below(&rng, ITEMS)]);
    }
}

/* Workers drive their own timers while two threads interfere. */
static void
meddle(void (*how)(void *seed, unsigned which), bool exact)
{
    unsigned many = rounds(300);

    for (unsigned round = 0; round < many; round++) {
        uint64_t seed = round;
        struct squad squad;

        begin(2, LAWN_WORKERS_BY_OWNER);
        troop.act = drive;
        atomic_store(&epoch, 0);
        for (unsigned i = 0; i < 2; i++) {
            item_init(&troop, &driver[i]);
            item_start_on(&driver[i], 1, atomic_load(&troop.numbers[i]));
        }
        WAIT_FOR(atomic_load(&epoch) > round % 8);
        squad_start(&squad, 2, how, &seed);
        squad_join(&squad);
        atomic_store(&troop.over, true);
        wait_for_drivers();
        check_account(exact);
        if (!exact) {
            troop.act = NULL;
            check_all_alive();
        }
        SURE(troop_end(&troop) == 0);
    }
}

TEST(between_threads_a_timer_that_was_its_workers_alone_can_be_stopped_by_all)
{
    meddle(interfere, true);
}

/* The same with starts from all threads; the counts are checked as
 * inequalities. No thread uses stop_sync: the drivers would restart the timers
 * forever. */
static void
restart_too(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < 200; i++) {
        struct item *item = &items[rng_below(&rng, ITEMS)];

        switch (rng_below(&rng, 8)) {
        case 0:
        case 1:
            (void)item_stop(item);
            break;
        case 2:
        case 3:
            item_start_on(item, rng_below(&rng, 2000), some_number(&rng));
            break;
        default:
            item_start(item, rng_below(&rng, 2000));
            break;
        }
    }
}

TEST(between_threads_a_timer_that_was_its_workers_alone_can_be_started_by_all)
{
    meddle(restart_too, false);
}

/* Memory that is allocated and freed. */

static void
start_and_free(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < operations; i++) {
        struct item *item = malloc(sizeof(*item));
        uint64_t how = rng_below(&rng, 16);

        SURE(item != NULL);
        item_init(&troop, item);
        item_start(item, some_ttl(&rng));
        if ((how & 1) != 0) {
            item_start_on(item, some_ttl(&rng), some_number(&rng));
        }
        if ((how & 2) != 0) {
            (void)item_stop(item);
        }
        if ((how & 12) == 12) {
            item_start(item, some_ttl(&rng));
        } else if ((how & 4) != 0) {
            (void)sched_yield();
        }
        (void)item_stop_sync(item);
        SURE(atomic_load(&item->inside) == 0);
        SURE(atomic_load(&item->fires) + atomic_load(&item->stops) <=
             atomic_load(&item->starts));
        memset(item, 0xA5, sizeof(*item));
        free(item);
    }
}

/* [C3] */
TEST(between_threads_timers_may_be_freed_after_stop_sync)
{
    uint64_t seed = 7;
    struct squad squad;

    begin(2, LAWN_WORKERS_BY_OWNER);
    operations = rounds(20000);
    squad_start(&squad, PRODUCERS, start_and_free, &seed);
    squad_join(&squad);
    SURE(troop_end(&troop) == 0);
}

TEST(between_threads_timers_may_be_freed_while_workers_come_and_go)
{
    uint64_t seed = 8;
    struct squad squad;

    begin(2, LAWN_WORKERS_BY_TTL);
    operations = rounds(10000);
    struct squad changes;
    squad_start(&changes, 1, come_and_go, &seed);
    squad_start(&squad, PRODUCERS, start_and_free, &seed);
    squad_join(&squad);
    atomic_store(&troop.over, true);
    squad_join(&changes);
    SURE(troop_end(&troop) == 0);
}

static atomic_uint freed;

static void
free_in_callback(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    struct item *item = LAWN_CONTAINER(timer, struct item, timer);

    SURE(lawn_workers_self() == worker);
    memset(item, 0xA5, sizeof(*item));
    free(item);
    atomic_fetch_add(&freed, 1);
}

/* Each timer is started, perhaps moved or stopped and restarted, and then left
 * to its callback. The last start is far enough ahead that no thread accesses
 * it later. */
static void
start_and_forget(void *arg, unsigned which)
{
    struct rng rng = {which + *(const uint64_t *)arg};

    for (unsigned i = 0; i < operations; i++) {
        struct item *item = malloc(sizeof(*item));
        uint64_t how = rng_below(&rng, 4);

        SURE(item != NULL);
        item_init(&troop, item);
        item->timer.fire = free_in_callback;
        if ((how & 1) != 0) {
            item_start(item, UINT64_C(1) << 50);
        }
        if ((how & 2) != 0) {
            (void)item_stop(item);
        }
        SURE(lawn_workers_start(troop.set, &item->timer, some_ttl(&rng)) == 0);
    }
}

TEST(between_threads_callbacks_may_free_their_timers)
{
    uint64_t seed = 9;
    struct squad squad;

    begin(2, LAWN_WORKERS_BY_OWNER);
    atomic_store(&freed, 0);
    operations = rounds(20000);
    squad_start(&squad, PRODUCERS, start_and_forget, &seed);
    squad_join(&squad);
    WAIT_FOR(atomic_load(&freed) == PRODUCERS * operations);
    SURE(troop_end(&troop) == 0);
}
