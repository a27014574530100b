/* consumer.c - a program of a user of the library, in the common subset of C11
 * and C++17: uses each level, and exits with 0 if that works.
 *
 * With ONE_FILE or SINGLE_HEADER it uses an amalgamation, with the levels that
 * LAWN_WITH_STORE and similar macros select. Otherwise it uses all levels. */
#if defined ONE_FILE
#include "lawn.h"
#elif defined SINGLE_HEADER
#include "lawn_single.h"
#else
#define LAWN_WITH_ALL
#include <lawn.h>
#include <lawn_loop.h>
#include <lawn_store.h>
#include <lawn_workers.h>
#endif
#include <stdio.h>

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "line %d: not so: %s\n", __LINE__,           \
                          #condition);                                         \
            return 1;                                                          \
        }                                                                      \
    } while (0)

static void
count(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    ++*(unsigned *)arg;
}

static int
use_core(void)
{
    struct lawn *lawn = lawn_new(NULL);
    struct lawn_timer timers[2] = {{{NULL, NULL}, 0}, {{NULL, NULL}, 0}};
    unsigned fired = 0;

    EXPECT(lawn != NULL);
    lawn_start(lawn, &timers[0], 10);
    lawn_start(lawn, &timers[1], 10);
    EXPECT(lawn_stop(lawn, &timers[1]));
    EXPECT(lawn_next(lawn) == 10);
    EXPECT(lawn_mow(lawn, 9, SIZE_MAX, count, &fired) == 0);
    EXPECT(lawn_mow(lawn, 10, SIZE_MAX, count, &fired) == 1 && fired == 1);
    EXPECT(lawn_check(lawn, stderr));
    lawn_free(lawn);
    return 0;
}

#if defined LAWN_WITH_ALL || defined LAWN_WITH_STORE
static void
count_stored(const struct lawn_store_timer *timer, void *arg)
{
    *(unsigned *)arg += (unsigned)timer->payload_size;
}

static int
use_store(void)
{
    struct lawn_store *store = lawn_store_new(NULL);
    unsigned fired = 0;

    EXPECT(store != NULL);
    EXPECT(lawn_store_start(store, "cart", 4, 30, "lamps", 5, 0) == 0);
    EXPECT(lawn_store_mow(store, 30, SIZE_MAX, count_stored, &fired) == 1);
    EXPECT(fired == 5);
    lawn_store_free(store);
    return 0;
}
#endif

#if defined LAWN_WITH_ALL || defined LAWN_WITH_WORKERS
static unsigned fires; /* set by one worker, and read after that has ended */

static void
count_worked(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    (void)timer;
    (void)worker;
    fires++;
}

static int
use_workers(void)
{
    static struct lawn_workers_timer timer;
    struct lawn_workers *set = lawn_workers_new(NULL);

    EXPECT(set != NULL);
    EXPECT(lawn_workers_add(set) >= 0);
    timer.fire = count_worked;
    EXPECT(lawn_workers_start(set, &timer, 1000) == 0);
    lawn_workers_close(set, LAWN_NEVER, NULL, NULL);
    EXPECT(fires == 1);
    lawn_workers_free(set);
    return 0;
}
#endif

#if defined LAWN_WITH_ALL || defined LAWN_WITH_LOOP
static void
count_looped(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    ++*(unsigned *)timer->arg;
}

static int
use_loop(void)
{
    static struct lawn_loop_timer timer;
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;

    EXPECT(loop != NULL);
    timer.fire = count_looped;
    timer.arg = &fired;
    lawn_loop_start(loop, &timer, 1000);
    EXPECT(lawn_loop_run(loop) == 0);
    EXPECT(fired == 1 && lawn_loop_lateness(loop)->count == 1);
    lawn_loop_free(loop);
    return 0;
}
#endif

int
main(void)
{
    int status = use_core();
#if defined LAWN_WITH_ALL || defined LAWN_WITH_STORE
    status |= use_store();
#endif
#if defined LAWN_WITH_ALL || defined LAWN_WITH_WORKERS
    status |= use_workers();
#endif
#if defined LAWN_WITH_ALL || defined LAWN_WITH_LOOP
    status |= use_loop();
#endif
    return status;
}
