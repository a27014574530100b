/* wait.c - the timerfd, and the small event loop on epoll.
 *
 * The timerfd is not changed if its time is early enough. It may then wake the
 * loop without a due timer, which costs less than a system call for each
 * stopped timer. If only the loop waits for it, it is set just before the wait.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): CLOCK_BOOTTIME */
#include "loop.h"

#include <errno.h>

#if defined __linux__
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LAWN_WAIT_ROUND 64

/* The results of epoll_wait(). data.ptr is NULL for the timerfd and for
 * descriptors that were unwatched meanwhile. */
struct lawn_loop_round {
    struct epoll_event ready[LAWN_WAIT_ROUND];
    int many;
};

/* Disarms the timerfd if `when` is LAWN_NEVER. It becomes unreadable, unless
 * `when` has passed. */
static void
set_timerfd(struct lawn_loop *loop, uint64_t when)
{
    struct itimerspec at = {{0, 0}, {0, 0}};
    uint64_t most = sizeof(time_t) > 4 ? LAWN_NEVER : INT32_MAX;
    uint64_t seconds = when / LAWN_LOOP_SECOND;

    if (when != LAWN_NEVER) {
        at.it_value.tv_sec = (time_t)(seconds < most ? seconds : most);
        /* 0 would disarm it. */
        at.it_value.tv_nsec = (long)(when % LAWN_LOOP_SECOND) + (when == 0);
    }
    loop->set = when;
    loop->stats.arms++;
    (void)timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void
sync_timerfd(struct lawn_loop *loop)
{
    uint64_t now = lawn_now(loop->lawn);

    if (loop->set <= now ? loop->armed > now : loop->armed < loop->set) {
        set_timerfd(loop, loop->armed);
    }
}

/* Sets even a time that has passed: for an edge-triggered wait the timerfd must
 * become readable again. */
void
lawn__wait_arm(struct lawn_loop *loop)
{
    if (loop->shown &&
        (loop->armed < loop->set || loop->set <= lawn_now(loop->lawn))) {
        set_timerfd(loop, loop->armed);
    }
}

void
lawn__wait_fini(struct lawn_loop *loop)
{
    if (loop->epoll_fd >= 0) {
        (void)close(loop->epoll_fd);
    }
    if (loop->timer_fd >= 0) {
        (void)close(loop->timer_fd);
    }
}

static int
open_timerfd(struct lawn_loop *loop)
{
    int clock =
        loop->clock_id == LAWN_LOOP_BOOTTIME ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;

    if (loop->own_clock || loop->arm != NULL) {
        return -EINVAL;
    }
    if (loop->timer_fd < 0) {
        loop->timer_fd = timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
    }
    return loop->timer_fd < 0 ? -errno : 0;
}

int
lawn_loop_fd(struct lawn_loop *loop)
{
    int error = open_timerfd(loop);

    if (error != 0) {
        return error;
    }
    loop->shown = true;
    sync_timerfd(loop);
    return loop->timer_fd;
}

static int
open_epoll(struct lawn_loop *loop)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    int error = open_timerfd(loop);

    if (error != 0 || loop->epoll_fd >= 0) {
        return error;
    }
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0) {
        return -errno;
    }
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &event) != 0) {
        error = -errno;
        (void)close(loop->epoll_fd);
        loop->epoll_fd = -1;
    }
    return error;
}

int
lawn_loop_watch(struct lawn_loop *loop, struct lawn_loop_watcher *watch, int fd,
                unsigned events)
{
    unsigned known = LAWN_LOOP_READ | LAWN_LOOP_WRITE;
    struct epoll_event event = {.data.ptr = watch};
    bool more = watch->events != 0;

    if (events == 0 || (events & ~known) != 0 || (more && watch->fd != fd)) {
        return -EINVAL;
    }
    LAWN_ASSERT(
        watch->ready != NULL,
        "[P10] a descriptor is watched without a callback (ready is NULL)");
    int error = open_epoll(loop);
    if (error != 0) {
        return error;
    }
    event.events = ((events & LAWN_LOOP_READ) != 0 ? EPOLLIN : 0u) |
                   ((events & LAWN_LOOP_WRITE) != 0 ? EPOLLOUT : 0u);
    if (epoll_ctl(loop->epoll_fd, more ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
                  &event) != 0) {
        return -errno;
    }
    loop->watches += !more;
    watch->fd = fd;
    watch->events = events;
    return 0;
}

void
lawn_loop_unwatch(struct lawn_loop *loop, struct lawn_loop_watcher *watch)
{
    struct lawn_loop_round *round = loop->round;

    if (watch->events == 0) {
        return;
    }
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->events = 0;
    loop->watches--;
    for (int i = 0; round != NULL && i < round->many; i++) {
        if (round->ready[i].data.ptr == watch) {
            round->ready[i].data.ptr = NULL;
        }
    }
}

/* Returns false if the descriptor is no longer watched for these events. */
static bool
dispatch(struct lawn_loop *loop, struct lawn_loop_watcher *watch,
         uint32_t events)
{
    bool gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
    unsigned ready = gone ? LAWN_LOOP_HANGUP : 0;

    /* Callbacks that check only the events they wait for must notice a
     * hang-up. */
    if (gone || (events & EPOLLIN) != 0) {
        ready |= watch->events & LAWN_LOOP_READ;
    }
    if (gone || (events & EPOLLOUT) != 0) {
        ready |= watch->events & LAWN_LOOP_WRITE;
    }
    if (ready == 0) {
        return false;
    }
    watch->ready(watch, ready, loop);
    return true;
}

/* Returns false if a wait would not end, because only timers of paused classes
 * or none are running [K1]. */
static bool
can_wake(const struct lawn_loop *loop)
{
    return loop->watches > 0 || loop->armed != LAWN_NEVER;
}

/* Descriptors precede timers, so that a connection that has just received data
 * is not considered idle. Returns the number of callbacks, or -errno. */
static int
run_round(struct lawn_loop *loop, bool wait)
{
    uint64_t fires = loop->stats.fires;
    int served = 0;

    if (loop->armed <= lawn_now(loop->lawn) || !can_wake(loop)) {
        wait = false;
    }
    if (wait) {
        sync_timerfd(loop);
    }
    struct lawn_loop_round round;
    round.many =
        epoll_wait(loop->epoll_fd, round.ready, LAWN_WAIT_ROUND, wait ? -1 : 0);
    if (round.many < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    loop->round = &round;
    for (int i = 0; i < round.many && !loop->quit; i++) {
        if (round.ready[i].data.ptr != NULL) {
            served +=
                dispatch(loop, round.ready[i].data.ptr, round.ready[i].events);
        }
    }
    loop->round = NULL;
    if (!loop->quit) {
        (void)lawn_loop_turn(loop);
    }
    return served + (int)(loop->stats.fires - fires);
}

static int
prepare_run(struct lawn_loop *loop)
{
    if (loop->running || loop->turning) {
        return -EDEADLK;
    }
    return open_epoll(loop);
}

int
lawn_loop_once(struct lawn_loop *loop, bool wait)
{
    int done = prepare_run(loop);

    if (done == 0) {
        loop->running = true;
        done = loop->quit ? 0 : run_round(loop, wait);
        loop->running = false;
        loop->quit = false;
    }
    return done;
}

int
lawn_loop_run(struct lawn_loop *loop)
{
    int done = prepare_run(loop);

    if (done != 0) {
        return done;
    }
    loop->running = true;
    while (done >= 0 && !loop->quit && can_wake(loop)) {
        done = run_round(loop, true);
    }
    loop->running = false;
    loop->quit = false;
    return done < 0 ? done : 0;
}

void
lawn_loop_quit(struct lawn_loop *loop)
{
    loop->quit = true;
    lawn_halt(loop->lawn);
}

#else /* no epoll and no timerfd */

void
lawn__wait_arm(struct lawn_loop *loop)
{
    (void)loop;
}

void
lawn__wait_fini(struct lawn_loop *loop)
{
    (void)loop;
}

int
lawn_loop_fd(struct lawn_loop *loop)
{
    (void)loop;
    return -ENOSYS;
}

int
lawn_loop_watch(struct lawn_loop *loop, struct lawn_loop_watcher *watch, int fd,
                unsigned events)
{
    (void)loop;
    (void)watch;
    (void)fd;
    (void)events;
    return -ENOSYS;
}

void
lawn_loop_unwatch(struct lawn_loop *loop, struct lawn_loop_watcher *watch)
{
    (void)loop;
    (void)watch;
}

int
lawn_loop_once(struct lawn_loop *loop, bool wait)
{
    (void)loop;
    (void)wait;
    return -ENOSYS;
}

int
lawn_loop_run(struct lawn_loop *loop)
{
    (void)loop;
    return -ENOSYS;
}

void
lawn_loop_quit(struct lawn_loop *loop)
{
    (void)loop;
}
#endif
