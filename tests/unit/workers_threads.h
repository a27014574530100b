/* workers_threads.h - for the tests with threads of their own: what is so in any
 * thread, waiting for what will be, and timers that keep account.
 *
 * Names of these tests begin with between_threads, so that tools which look at
 * threads can run them alone, but for one that takes too long for them. Nothing sleeps to let time pass: what has to
 * happen is waited for, and if it has not happened after a long time, the
 * program ends, as it does if something is not so: threads that go on make a
 * test that has failed a danger to the next.
 */
#ifndef LAWN_TESTS_UNIT_WORKERS_THREADS_H
#define LAWN_TESTS_UNIT_WORKERS_THREADS_H

#include "workers_common.h"

#include <pthread.h>
#if defined LAWN_TESTS_LOCKED
#include "../helgrind/locked.h"
#else
#include <stdatomic.h>
#endif

/* In any thread. */
#define SURE(condition)                                                        \
    ((condition) ? (void)0 : troop_abort(__FILE__, __LINE__, #condition))
_Noreturn void troop_abort(const char *file, int line, const char *what);

/* Lets other threads go on until it is so. */
#define WAIT_FOR(condition)                                                    \
    do {                                                                       \
        struct patience patience_ = {0, 0};                                    \
        while (!(condition)) {                                                 \
            patience_lose(&patience_, __FILE__, __LINE__, #condition);         \
        }                                                                      \
    } while (0)

struct patience {
    uint64_t since;
    unsigned times;
};
void patience_lose(struct patience *patience, const char *file, int line,
                   const char *what);

/* A timer that keeps account of itself. */
struct item {
    struct lawn_workers_timer timer;
    struct troop *troop;
    atomic_uint inside; /* callbacks under way: 0 or 1 [C4] */
    atomic_uint fires;
    atomic_uint starts; /* that succeeded */
    atomic_uint stops;  /* that were told true */
};

/* A set with library-made threads, and a clock: that of the test, or the real
 * one. */
struct troop {
    struct lawn_workers *set;
    atomic_uint_fast64_t clock; /* of the test */
    bool real;
    void (*act)(struct item *item, struct lawn_worker *worker);
    atomic_uint fires;      /* of all items */
    atomic_bool over;       /* for threads that go on until then */
    atomic_uint numbers[8]; /* of workers, for start_on */
};

void troop_begin(struct troop *troop, unsigned workers, bool real,
                 enum lawn_workers_route route);

/* Closes at once and frees; returns how many timers were left. */
uint64_t troop_end(struct troop *troop);

/* Moves the test's clock, and tells the workers. */
void troop_advance(struct troop *troop, uint64_t ticks);

/* As the troop's clock has it. */
uint64_t troop_now(struct troop *troop);

void item_init(struct troop *troop, struct item *item);
void item_start(struct item *item, uint64_t ttl);
void item_start_on(struct item *item, uint64_t ttl, unsigned worker);
bool item_stop(struct item *item);
bool item_stop_sync(struct item *item);

/* The fire function of all items. */
lawn_workers_fire_fn item_fire;

/* Threads that run body with arg; they are told which they are, from 0. */
#define SQUAD_MAX 128u
struct squad {
    unsigned count;
    struct squad_member {
        pthread_t thread;
        void (*body)(void *arg, unsigned which);
        void *arg;
        unsigned which;
    } member[SQUAD_MAX];
};
void squad_start(struct squad *squad, unsigned count,
                 void (*body)(void *arg, unsigned which), void *arg);
void squad_join(struct squad *squad);

/* How often, in a program as shipped; less in one with assertions, and much less
 * in one that is looked at by a sanitizer or by valgrind. */
unsigned rounds(unsigned as_shipped);

#endif
