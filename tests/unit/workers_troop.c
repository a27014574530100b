/* workers_troop.c - implements workers_threads.h. */
#include "workers_threads.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_SECONDS 120u
#define PATIENCE_YIELDS 200u
#define SECOND UINT64_C(1000000000)

static uint64_t
real_time(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void
troop_abort(const char *file, int line, const char *what)
{
    printf("  %s:%d: not so between threads: %s\n", file, line, what);
    (void)fflush(stdout);
    abort();
}

void
patience_lose(struct patience *patience, const char *file, int line,
              const char *what)
{
    static const struct timespec moment = {0, 50000};

    if (patience->times++ < PATIENCE_YIELDS) {
        (void)sched_yield();
        return;
    }
    if (patience->since == 0) {
        patience->since = real_time();
    } else if (real_time() - patience->since > PATIENCE_SECONDS * SECOND) {
        printf("  waited in vain\n");
        troop_abort(file, line, what);
    }
    (void)nanosleep(&moment, NULL);
}

static uint64_t
troop_clock(void *context)
{
    return atomic_load(&((struct troop *)context)->clock);
}

void
troop_begin(struct troop *troop, unsigned workers, bool real,
            enum lawn_workers_route route)
{
    struct lawn_workers_options options = {.route = route};

    (void)lawn_workers_be(NULL);
    memset(troop, 0, sizeof(*troop));
    troop->real = real;
    atomic_store(&troop->clock, 1000);
    if (!real) {
        options.clock = troop_clock;
        options.clock_context = troop;
    }
    troop->set = lawn_workers_new(&options);
    SURE(troop->set != NULL);
    for (unsigned i = 0; i < workers; i++) {
        int number = lawn_workers_add(troop->set);

        SURE(number >= 0 && number < (int)LAWN_WORKERS_MAX);
        atomic_store(&troop->numbers[i], (unsigned)number);
    }
}

uint64_t
troop_end(struct troop *troop)
{
    uint64_t left = lawn_workers_close(troop->set, 0, NULL, NULL);

    SURE(lawn_workers_check(troop->set, stdout));
    lawn_workers_free(troop->set);
    return left;
}

void
troop_advance(struct troop *troop, uint64_t ticks)
{
    atomic_fetch_add(&troop->clock, ticks);
    lawn_workers_wake(troop->set);
}

uint64_t
troop_now(struct troop *troop)
{
    return troop->real ? real_time() : atomic_load(&troop->clock);
}

void
item_init(struct troop *troop, struct item *item)
{
    memset(item, 0, sizeof(*item));
    item->timer.fire = item_fire;
    item->troop = troop;
}

void
item_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    struct item *item = LAWN_CONTAINER(timer, struct item, timer);
    struct troop *troop = item->troop;

    SURE(lawn_workers_self() == worker); /* [C4] */
    SURE(lawn_worker_set(worker) == troop->set);
    SURE(atomic_fetch_add(&item->inside, 1) == 0); /* [C4] */
    atomic_fetch_add(&item->fires, 1);
    if (troop->act != NULL) {
        troop->act(item, worker);
    }
    SURE(atomic_fetch_sub(&item->inside, 1) == 1);
    atomic_fetch_add(&troop->fires, 1); /* last: the test may be waiting */
}

void
item_start(struct item *item, uint64_t ttl)
{
    atomic_fetch_add(&item->starts, 1);
    SURE(lawn_workers_start(item->troop->set, &item->timer, ttl) == 0);
}

void
item_start_on(struct item *item, uint64_t ttl, unsigned worker)
{
    atomic_fetch_add(&item->starts, 1);
    if (lawn_workers_start_on(item->troop->set, &item->timer, ttl, worker) !=
        0) {
        atomic_fetch_sub(&item->starts, 1);
    }
}

bool
item_stop(struct item *item)
{
    bool stopped = lawn_workers_stop(item->troop->set, &item->timer);

    atomic_fetch_add(&item->stops, stopped);
    return stopped;
}

bool
item_stop_sync(struct item *item)
{
    bool stopped = lawn_workers_stop_sync(item->troop->set, &item->timer);

    atomic_fetch_add(&item->stops, stopped);
    return stopped;
}

static void *
squad_run(void *arg)
{
    const struct squad_member *member = (const struct squad_member *)arg;

    member->body(member->arg, member->which);
    return NULL;
}

void
squad_start(struct squad *squad, unsigned count,
            void (*body)(void *arg, unsigned which), void *arg)
{
    SURE(count <= SQUAD_MAX);
    squad->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct squad_member *member = &squad->member[i];

        member->body = body;
        member->arg = arg;
        member->which = i;
        SURE(pthread_create(&member->thread, NULL, squad_run, member) == 0);
    }
}

void
squad_join(struct squad *squad)
{
    for (unsigned i = 0; i < squad->count; i++) {
        SURE(pthread_join(squad->member[i].thread, NULL) == 0);
    }
}

static bool
under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

unsigned
rounds(unsigned as_shipped)
{
    unsigned divisor = how_many(3, 6, 12);

    if (under_valgrind()) {
        divisor = 100;
    }
    return as_shipped / divisor + 1;
}
