/* park.c - futex(2), membarrier(2) and the clock. On systems other than Linux,
 * and with LAWN_WORKERS_PORTABLE: POSIX only, with one condition variable for
 * all sleeping threads and without the fence for all threads. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#if defined __linux__ && !defined LAWN_WORKERS_PORTABLE
#define LAWN_PARK_LINUX
#endif

#include "park.h"

#if !defined LAWN_EXPLORE

#include "atomic.h"
#include "lawn_workers.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAWN_PARK_SECOND 1000000000u

#if defined LAWN_PARK_LINUX

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

void
lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until)
{
    /* The struct that this system call expects. On 32-bit systems, struct
     * timespec may differ from it. */
    struct {
        long seconds, nanoseconds;
    } time = {LONG_MAX, 0};
    if (until / LAWN_PARK_SECOND < LONG_MAX) {
        time.seconds = (long)(until / LAWN_PARK_SECOND);
        time.nanoseconds = (long)(until % LAWN_PARK_SECOND);
    }
    /* FUTEX_WAIT_BITSET takes an absolute time. */
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                  until == LAWN_NEVER ? NULL : &time, NULL,
                  FUTEX_BITSET_MATCH_ANY);
}

void
lawn__park_wake(uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool
lawn__park_asymmetric(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                   0) == 0;
}

void
lawn__park_heavy(void)
{
    while (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
        /* Without the fence, two threads could change a timer at the same
         * time. */
        if (errno != ENOMEM) {
            (void)fprintf(
                stderr,
                "lawn: membarrier() failed although it is supported: %s\n",
                strerror(errno));
            abort();
        }
        lawn__park_yield();
    }
}

#else

#include <pthread.h>

static pthread_mutex_t park_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t park_changed;
static pthread_once_t park_once = PTHREAD_ONCE_INIT;

static void
init_condition(void)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&park_changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void
lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until)
{
    int before;
    (void)pthread_once(&park_once, init_condition);
    /* A thread canceled below would keep the mutex locked. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    (void)pthread_mutex_lock(&park_mutex);
    /* The waking thread changes the word before it locks the mutex. */
    if (LAWN_ATOMIC_LOAD(word, LAWN_SEQ_CST) == value) {
        struct timespec time = {.tv_sec = (time_t)(until / LAWN_PARK_SECOND),
                                .tv_nsec = (long)(until % LAWN_PARK_SECOND)};
        if (until == LAWN_NEVER) {
            (void)pthread_cond_wait(&park_changed, &park_mutex);
        } else {
            (void)pthread_cond_timedwait(&park_changed, &park_mutex, &time);
        }
    }
    (void)pthread_mutex_unlock(&park_mutex);
    (void)pthread_setcancelstate(before, &before);
}

void
lawn__park_wake(uint32_t *word)
{
    (void)word;
    (void)pthread_once(&park_once, init_condition);
    (void)pthread_mutex_lock(&park_mutex);
    (void)pthread_cond_broadcast(&park_changed);
    (void)pthread_mutex_unlock(&park_mutex);
}

bool
lawn__park_asymmetric(void)
{
    return false;
}

void
lawn__park_heavy(void)
{
}

#endif

void
lawn__park_yield(void)
{
    (void)sched_yield();
}

/* Values of the word: 0 is unlocked, 1 is locked, 2 is locked and threads may
 * be sleeping. */
void
lawn__park_lock(uint32_t *word)
{
    uint32_t seen = 0;
    if (LAWN_ATOMIC_CAS(word, &seen, 1, LAWN_ACQUIRE)) {
        return;
    }
    while (LAWN_ATOMIC_XCHG(word, 2, LAWN_ACQUIRE) != 0) {
        lawn__park_wait(word, 2, LAWN_NEVER);
    }
}

void
lawn__park_unlock(uint32_t *word)
{
    if (LAWN_ATOMIC_XCHG(word, 0, LAWN_RELEASE) == 2) {
        lawn__park_wake(word);
    }
}

uint64_t
lawn__park_clock(void *context)
{
    (void)context;
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * LAWN_PARK_SECOND + (uint64_t)time.tv_nsec;
}

#endif
