/* clock.c - a wall clock that a test sets. The server preloads this library:
 * see block.py.
 *
 * LAWN_CLOCK names a file of 8 bytes: the number of milliseconds by which the
 * clock is ahead. A kernel timer with an absolute time is moved with it. The
 * timer also fires when the clock is set, at the next reading of the clock; in
 * the kernel this is so with TFD_TIMER_CANCEL_ON_SET. With LAWN_NO_TIMER there
 * are no kernel timers.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

static const volatile int64_t *clock_ahead;
static int64_t clock_seen;
static int clock_timer = -1;
static const int64_t clock_none;

static int (*clock_real)(clockid_t, struct timespec *);
static int (*clock_set)(int, int, const struct itimerspec *,
                        struct itimerspec *);

__attribute__((constructor)) static void
clock_init(void)
{
    const char *path = getenv("LAWN_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY) : -1;
    void *at = fd < 0
                   ? MAP_FAILED
                   : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    clock_ahead = at == MAP_FAILED ? &clock_none : at;
    *(void **)&clock_real = dlsym(RTLD_NEXT, "clock_gettime");
    *(void **)&clock_set = dlsym(RTLD_NEXT, "timerfd_settime");
    clock_seen = *clock_ahead;
}

static int64_t
clock_now(void)
{
    if (clock_ahead == NULL) {
        clock_init();
    }
    int64_t ahead = *clock_ahead;
    if (ahead != clock_seen) {
        struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
        clock_seen = ahead;
        if (clock_timer >= 0) {
            clock_set(clock_timer, 0, &at_once, NULL);
        }
    }
    return ahead;
}

static void
clock_shift(struct timespec *time, int64_t ms)
{
    int64_t ns = time->tv_nsec + ms % 1000 * 1000000;
    time->tv_sec += ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
    time->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
}

int
clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t ahead = clock_now();
    int got = clock_real(clock, time);
    if (got == 0 &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        clock_shift(time, ahead);
    }
    return got;
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

time_t
time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

int
timerfd_create(int clock, int flags)
{
    int (*create)(int, int) = NULL;
    *(void **)&create = dlsym(RTLD_NEXT, "timerfd_create");
    if (getenv("LAWN_NO_TIMER") == NULL) {
        return create(clock, flags);
    }
    errno = EMFILE;
    return -1;
}

int
timerfd_settime(int fd, int flags, const struct itimerspec *at,
                struct itimerspec *before)
{
    struct itimerspec real = *at;
    int64_t ahead = clock_now();
    clock_timer = at->it_value.tv_sec || at->it_value.tv_nsec ? fd : -1;
    if (flags & TFD_TIMER_ABSTIME && clock_timer >= 0) {
        clock_shift(&real.it_value, -ahead);
    }
    if (real.it_value.tv_sec < 0) {
        real.it_value = (struct timespec){0, 1};
    }
    return clock_set(fd, flags, &real, before);
}
