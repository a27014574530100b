/* server_wakeup.c - see server_wakeup.h. */
#include "server_wakeup.h"

#include <errno.h>
#include <lawn.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* A time in the far future must not wrap to one in the past. */
_Static_assert(sizeof(time_t) >= 8, "time_t has 64 bits");

static RedisModuleCtx *detached_ctx;
static RedisModuleTimerProc tick;
static bool is_master;
static int fd = -1;
static uint64_t set_for = LAWN_NEVER;
static RedisModuleTimerID server_timer;
static bool server_timer_runs;

RedisModuleCtx *
wakeup_ctx(void)
{
    return detached_ctx;
}

static void
stop_server_timer(void)
{
    if (server_timer_runs) {
        RedisModule_StopTimer(detached_ctx, server_timer, NULL);
    }
    server_timer_runs = false;
}

static void
start_server_timer(uint64_t ms)
{
    stop_server_timer();
    server_timer =
        RedisModule_CreateTimer(detached_ctx, (long long)ms, tick, NULL);
    server_timer_runs = true;
}

static void
fd_readable(int readable_fd, void *user_data, int mask)
{
    (void)user_data;
    (void)mask;
    uint64_t count = 0;
    /* If the timer was set again meanwhile, there is nothing to read. If the
     * clock was set, all times must be checked again. */
    if (read(readable_fd, &count, sizeof(count)) == (ssize_t)sizeof(count) ||
        errno == ECANCELED) {
        start_server_timer(0);
    }
}

/* A timer that is set too early is kept: it costs one tick. */
void
wakeup_set(uint64_t when)
{
    if (!is_master || when >= set_for) {
        return;
    }
    set_for = when;
    uint64_t now = (uint64_t)RedisModule_Milliseconds();
    /* Plus 1 ns, because zero means "disarm" to the kernel. */
    struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(when / 1000),
                     .tv_nsec = (long)(when % 1000) * 1000000 + 1}};
    if (fd < 0 ||
        timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at,
                        NULL) != 0) {
        start_server_timer(when > now ? when - now : 0);
    }
}

void
wakeup_set_in(uint64_t ms)
{
    wakeup_set((uint64_t)RedisModule_Milliseconds() + ms);
}

void
wakeup_fired(void)
{
    set_for = LAWN_NEVER;
    server_timer_runs = false;
}

void
wakeup_set_master(bool master)
{
    is_master = master;
    if (master) {
        return;
    }
    stop_server_timer();
    if (fd >= 0) {
        struct itimerspec never = {{0, 0}, {0, 0}};
        timerfd_settime(fd, 0, &never, NULL);
    }
    set_for = LAWN_NEVER;
}

void
wakeup_init(RedisModuleCtx *ctx, RedisModuleTimerProc when_due)
{
    tick = when_due;
    detached_ctx = RedisModule_GetDetachedThreadSafeContext(ctx);
    is_master =
        (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_MASTER) != 0;
    fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd >= 0 &&
        (RedisModule_EventLoopAdd == NULL ||
         RedisModule_EventLoopAdd(fd, REDISMODULE_EVENTLOOP_READABLE,
                                  fd_readable, NULL) != REDISMODULE_OK)) {
        close(fd);
        fd = -1;
    }
}
