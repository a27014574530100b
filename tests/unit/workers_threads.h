/* workers_threads.h - helpers for tests with threads: assertions in any thread,
 * waiting for a condition, and timers that count their own events.
 *
 * The names of these tests begin with between_threads, so that tools for
 * threads can run them alone. One test that takes too long for such tools has
 * another name. No test
 * sleeps to let time pass: tests wait for conditions. If a condition is not met
 * after a long time, or an assertion fails, the program ends, because running
 * threads would make a failed test a danger to the next.
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

/* An assertion for any thread. */
#define SURE(condition)                                                        \
    ((condition) ? (void)0 : troop_abort(__FILE__, __LINE__, #condition))
_Noreturn void troop_abort(const char *file, int line, const char *what);

/* Yields to other threads until the condition is true. */
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

/* A timer that counts its own events. */
struct item {
    struct lawn_workers_timer timer;
    struct troop *troop;
    atomic_uint inside; /* running callbacks: 0 or 1 [C4] */
    atomic_uint fires;
    atomic_uint starts; /* successful ones */
    atomic_uint stops;  /* that returned true */
};

/* A set with library-created threads, and the test's clock or the real one. */
struct troop {
    struct lawn_workers *set;
    atomic_uint_fast64_t clock; /* of the test */
    bool real;
    void (*act)(struct item *item, struct lawn_worker *worker);
    atomic_uint fires;      /* by all items */
    atomic_bool over;       /* ends the threads of the test */
    atomic_uint numbers[8]; /* of workers, for start_on */
};

void troop_begin(struct troop *troop, unsigned workers, bool real,
                 enum lawn_workers_route route);

/* Closes at once and frees the set; returns the number of timers left. */
uint64_t troop_end(struct troop *troop);

/* Moves the test's clock and notifies the workers. */
void troop_advance(struct troop *troop, uint64_t ticks);

/* Returns the time of the troop's clock. */
uint64_t troop_now(struct troop *troop);

void item_init(struct troop *troop, struct item *item);
void item_start(struct item *item, uint64_t ttl);
void item_start_on(struct item *item, uint64_t ttl, unsigned worker);
bool item_stop(struct item *item);
bool item_stop_sync(struct item *item);

/* The fire function of all items. */
lawn_workers_fire_fn item_fire;

/* Threads that run body with arg and their number, from 0. */
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

/* Returns the number of rounds: as_shipped in a release build, fewer with
 * assertions, and far fewer with a sanitizer or valgrind. */
unsigned rounds(unsigned as_shipped);

#endif
