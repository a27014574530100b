/* work.c - a clock that stops while the server's thread is runnable but does
 * not run. The server preloads this library: see million.py.
 *
 * Other processes use the cores, too. By this clock, the duration of a command
 * is the time that the thread worked, without waiting for a core. The clock
 * follows the thread's CPU time, and the real clock while the thread waits for
 * work. So it falls behind the real clock by the time that others took; a
 * kernel timer with an absolute time is set later by the same amount.
 *
 * LAWN_CLOCK names a file of 8 bytes: the number of milliseconds by which the
 * wall clock is ahead. A test sets it, to let hours pass. It is read only while
 * the thread is idle, so that no work seems to take hours. A timer with an
 * absolute time then fires, as the kernel does for timers that request it. With
 * LAWN_WALL the clock is the real clock, ahead by these milliseconds.
 *
 * Other threads and child processes use the real clock.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

static int (*work_real)(clockid_t, struct timespec *);
static int (*work_wait)(int, struct epoll_event *, int, int);
static int (*work_set)(int, int, const struct itimerspec *,
                       struct itimerspec *);
static pthread_t work_thread;
static int work_on;
static int work_plain;    /* LAWN_WALL */
static int64_t work_idle; /* ns: neither working nor waiting for a core */
/* ns by which the wall clock is ahead of the other one */
static int64_t work_wall;
static const volatile int64_t *work_ahead; /* ms, in the file */
static int64_t work_ahead_seen;
static int work_timer = -1; /* the timer that was set */

static int64_t
work_read(clockid_t clock)
{
    struct timespec time;
    work_real(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static struct timespec
work_time(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static void
work_child(void)
{
    work_on = 0;
}

/* An allocator may ask for the time before this has run. */
static void
work_find(void)
{
    if (work_real == NULL) {
        *(void **)&work_real = dlsym(RTLD_NEXT, "clock_gettime");
    }
}

static const int64_t *
work_map(void)
{
    static const int64_t none;
    const char *path = getenv("LAWN_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY) : -1;
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, sizeof(none), PROT_READ, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? &none : at;
}

__attribute__((constructor)) static void
work_init(void)
{
    work_find();
    work_ahead = work_map();
    work_plain = getenv("LAWN_WALL") != NULL;
    *(void **)&work_wait = dlsym(RTLD_NEXT, "epoll_wait");
    *(void **)&work_set = dlsym(RTLD_NEXT, "timerfd_settime");
    work_thread = pthread_self();
    work_idle = work_read(CLOCK_MONOTONIC) - work_read(CLOCK_THREAD_CPUTIME_ID);
    work_wall = work_read(CLOCK_REALTIME) - work_read(CLOCK_MONOTONIC);
    work_on = pthread_atfork(NULL, NULL, work_child) == 0;
}

static int
work_here(void)
{
    return work_on && pthread_equal(pthread_self(), work_thread);
}

/* Reads only one clock: between two readings the thread might have to wait. */
static int64_t
work_done(void)
{
    return work_plain ? work_read(CLOCK_MONOTONIC)
                      : work_read(CLOCK_THREAD_CPUTIME_ID) + work_idle;
}

int
clock_gettime(clockid_t clock, struct timespec *time)
{
    work_find();
    if (!work_here() || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) {
        return work_real(clock, time);
    }
    *time = work_time(work_done() + (clock == CLOCK_REALTIME ? work_wall : 0));
    return 0;
}

int
gettimeofday(struct timeval *restrict value, void *restrict zone)
{
    (void)zone;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *value = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

static void
work_look(void)
{
    const struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
    int64_t ahead = *work_ahead;
    if (ahead == work_ahead_seen) {
        return;
    }
    work_wall += (ahead - work_ahead_seen) * 1000000;
    work_ahead_seen = ahead;
    if (work_timer >= 0) {
        work_set(work_timer, 0, &at_once, NULL);
    }
}

int
epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
    if (!work_here()) {
        return work_wait(fd, events, most, ms);
    }
    int64_t before = work_read(CLOCK_MONOTONIC) - work_done();
    int got = work_wait(fd, events, most, ms);
    work_idle += work_read(CLOCK_MONOTONIC) - work_done() - before;
    work_look();
    return got;
}

int
timerfd_settime(int fd, int flags, const struct itimerspec *at,
                struct itimerspec *before)
{
    struct itimerspec real = *at;
    if (!work_here()) {
        return work_set(fd, flags, at, before);
    }
    work_timer = at->it_value.tv_sec || at->it_value.tv_nsec ? fd : -1;
    if (flags & TFD_TIMER_ABSTIME && work_timer >= 0) {
        int64_t ns = at->it_value.tv_sec * INT64_C(1000000000) +
                     at->it_value.tv_nsec + work_read(CLOCK_REALTIME) -
                     work_done() - work_wall;
        real.it_value = work_time(ns > 0 ? ns : 1);
    }
    return work_set(fd, flags, &real, before);
}
