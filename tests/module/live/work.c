/* work.c - a clock that stands still while the server's thread wants to run and
 * may not, for a server that this library is loaded into before all others: see
 * million.py.
 *
 * Others have the machine's cores as well. What a command takes by this clock is
 * what the thread worked, not how long it had to wait for a core in the middle of
 * it. The clock goes by the thread's CPU time, and by the real one while it waits
 * for something to do. So it falls behind the real one, by what others took: a
 * timer of the kernel's that is set for a time is set by as much later.
 *
 * LAWN_CLOCK names a file of 8 bytes, a number of milliseconds by which the wall
 * clock is ahead: a test sets it, so that hours pass. That is looked at where the
 * thread has nothing to do, and nowhere else: nothing that it does seems to take
 * hours. A timer that was set for a time fires then, as the kernel does it for
 * those who want to be told. LAWN_WALL: only that, and else the real clock.
 *
 * Other threads, and children, have the real clock.
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
static int64_t work_idle; /* ns: what is neither work nor in others' hands */
static int64_t work_wall; /* ns by which the wall clock is ahead of the other */
static const volatile int64_t *work_ahead; /* ms, as the file has it */
static int64_t work_ahead_seen;
static int work_timer = -1; /* that was set */

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

/* One clock is read, and no other: between two the thread might have to wait. */
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
