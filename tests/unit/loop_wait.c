/* loop_wait.c - the timerfd of a loop and lawn_loop_run(), with the real clock.
 *
 * No test sleeps to let time pass: the tests wait for events, and use the clock
 * only to check that nothing is early.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): unshare() */
#include "kit.h"
#include "store_common.h"

#include <errno.h>
#include <fcntl.h>
#include <lawn_loop.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !defined CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static uint64_t
monotonic(void)
{
    struct timespec now;

    CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * LAWN_LOOP_SECOND + (uint64_t)now.tv_nsec;
}

static void
count(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    ++*(unsigned *)timer->arg;
}

static void
quit(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer;
    lawn_loop_quit(loop);
}

static bool
readable(int fd, int wait_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, wait_ms) == 1;
}

static uint64_t
arms(const struct lawn_loop *loop)
{
    struct lawn_loop_counters stats;

    lawn_loop_stats(loop, &stats);
    return stats.arms;
}

TEST(the_descriptor_of_a_loop_is_readable_when_a_turn_is_due)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};
    uint64_t begin = monotonic();

    lawn_loop_start(loop, &timer, 2 * LAWN_LOOP_MS);
    int fd = lawn_loop_fd(loop);
    CHECK(fd >= 0);
    CHECK_EQ(lawn_loop_fd(loop), fd);
    CHECK(readable(fd, -1));
    CHECK(monotonic() - begin >= 2 * LAWN_LOOP_MS);
    CHECK_EQ(lawn_loop_turn(loop), LAWN_NEVER);
    CHECK_EQ(fired, 1);
    CHECK(!readable(fd, 0)); /* and no needless wake-up */
    lawn_loop_start(loop, &timer, 0);
    CHECK(readable(fd, -1));
    (void)lawn_loop_turn(loop);
    CHECK_EQ(fired, 2);
    lawn_loop_free(loop);
    CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
}

/* A wake-up that is too early for the remaining timers happens once, not
 * repeatedly. */
TEST(the_descriptor_of_a_loop_does_not_stay_readable_for_a_timer_that_is_gone)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer soon = {.fire = count, .arg = &fired};
    struct lawn_loop_timer far = {.fire = count, .arg = &fired};
    int fd = lawn_loop_fd(loop);

    lawn_loop_start(loop, &soon, LAWN_LOOP_MS);
    lawn_loop_start(loop, &far, 3600 * LAWN_LOOP_SECOND);
    CHECK(lawn_loop_stop(loop, &soon));
    CHECK(readable(fd, -1));
    CHECK(lawn_loop_turn(loop) > monotonic());
    CHECK(!readable(fd, 0));
    lawn_loop_start(loop, &soon, LAWN_LOOP_MS);
    CHECK(lawn_loop_stop(loop, &far));
    CHECK(lawn_loop_stop(loop, &soon)); /* the last timer: nothing is armed */
    CHECK(readable(fd, -1));
    CHECK_EQ(lawn_loop_turn(loop), LAWN_NEVER);
    CHECK(!readable(fd, 0));
    CHECK_EQ(fired, 0);
    lawn_loop_free(loop);
}

/* [L3] */
TEST(the_descriptor_of_a_loop_stays_readable_while_timers_are_left)
{
    struct lawn_loop_options options = {.budget = 1};
    struct lawn_loop *loop = lawn_loop_new(&options);
    unsigned fired = 0;
    struct lawn_loop_timer one = {.fire = count, .arg = &fired};
    struct lawn_loop_timer two = {.fire = count, .arg = &fired};
    int fd = lawn_loop_fd(loop);

    lawn_loop_start(loop, &one, 0);
    lawn_loop_start(loop, &two, 0);
    CHECK(readable(fd, -1));
    (void)lawn_loop_turn(loop);
    CHECK_EQ(fired, 1);
    CHECK(readable(fd, -1));
    (void)lawn_loop_turn(loop);
    CHECK_EQ(fired, 2);
    CHECK(!readable(fd, 0));
    lawn_loop_free(loop);
}

TEST(the_descriptor_of_a_loop_may_be_watched_by_its_edges)
{
    struct lawn_loop_options options = {.budget = 1};
    struct lawn_loop *loop = lawn_loop_new(&options);
    unsigned fired = 0;
    struct lawn_loop_timer timer[3];
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int epoll = epoll_create1(0);

    CHECK_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, lawn_loop_fd(loop), &event), 0);
    for (unsigned i = 0; i < COUNT(timer); i++) {
        timer[i] = (struct lawn_loop_timer){.fire = count, .arg = &fired};
        lawn_loop_start(loop, &timer[i], 0);
    }
    while (fired < COUNT(timer)) { /* a lost edge would block forever */
        CHECK_EQ(epoll_wait(epoll, &event, 1, 20000), 1);
        (void)lawn_loop_turn(loop);
    }
    (void)close(epoll);
    (void)lawn_loop_free(loop);
}

static void
check_itself(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    count(timer, loop);
    CHECK(lawn_loop_check(loop, stdout));
}

TEST(a_loop_whose_descriptor_is_watched_may_be_checked_at_any_time)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = check_itself, .arg = &fired};
    int fd = lawn_loop_fd(loop);

    CHECK(lawn_loop_check(loop, stdout));
    lawn_loop_start(loop, &timer, 0);
    CHECK(lawn_loop_check(loop, stdout));
    CHECK(readable(fd, -1));
    (void)lawn_loop_turn(loop);
    CHECK_EQ(fired, 1);
    CHECK(lawn_loop_check(loop, stdout));
    (void)lawn_loop_free(loop);
}

/* [L2] */
TEST(the_timerfd_is_not_set_for_each_timer)
{
    static struct lawn_loop_timer timers[1000];
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;

    CHECK(lawn_loop_fd(loop) >= 0);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT(timers); i++) {
            timers[i].fire = count;
            timers[i].arg = &fired;
            lawn_loop_start(loop, &timers[i], (3600 + i) * LAWN_LOOP_SECOND);
        }
        for (size_t i = 0; i < COUNT(timers); i++) {
            (void)lawn_loop_stop(loop, &timers[i]);
        }
    }
    CHECK(arms(loop) <= 2);
    lawn_loop_free(loop);
}

static bool
fd_has_clock(int fd, int clock)
{
    char path[64];
    bool has = false;

    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    char line[128];
    while (fgets(line, sizeof(line), file) != NULL) {
        int id = 0;

        has |= sscanf(line, "clockid: %d", &id) == 1 && id == clock;
    }
    (void)fclose(file);
    return has;
}

/* A test cannot suspend the machine, but it can check which clock the timerfd
 * uses. */
TEST(a_loop_waits_by_the_clock_that_it_has)
{
    struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    struct lawn_loop *loop = lawn_loop_new(NULL);
    struct lawn_loop *boot = lawn_loop_new(&options);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};

    CHECK(fd_has_clock(lawn_loop_fd(loop), CLOCK_MONOTONIC));
    CHECK(fd_has_clock(lawn_loop_fd(boot), 7)); /* CLOCK_BOOTTIME */
    struct timespec now;
    CHECK_EQ(clock_gettime(7, &now), 0);
    CHECK(lawn_loop_update(boot) / LAWN_LOOP_SECOND - (uint64_t)now.tv_sec <=
          60);
    lawn_loop_start(boot, &timer, LAWN_LOOP_MS);
    CHECK_EQ(lawn_loop_run(boot), 0);
    CHECK_EQ(fired, 1);
    lawn_loop_free(loop);
    lawn_loop_free(boot);
}

/* Runs in a child whose CLOCK_BOOTTIME is 1000 s ahead, as after a suspension
 * of that length. */
static int
wait_after_suspension(void)
{
    struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};
    int status = 0;

    if (unshare(CLONE_NEWTIME) != 0) {
        return 0; /* permission denied: nothing to test */
    }
    int file = open("/proc/self/timens_offsets", O_WRONLY);
    if (file < 0 || write(file, "boottime 1000 0", 15) != 15) {
        return 1;
    }
    (void)close(file);
    pid_t child = fork();
    if (child != 0) {
        return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
    }
    struct lawn_loop *boot = lawn_loop_new(&options);
    uint64_t begin = monotonic();
    lawn_loop_start(boot, &timer, LAWN_LOOP_MS);
    if (lawn_loop_update(boot) < begin + 999 * LAWN_LOOP_SECOND ||
        lawn_loop_run(boot) != 0 || fired != 1) {
        _exit(1);
    }
    _exit(0);
}

TEST(a_loop_counts_a_suspension_if_it_is_to)
{
    check_child(wait_after_suspension);
}

static uint64_t
still(void *context)
{
    (void)context;
    return 5;
}

static void
never_ready(struct lawn_loop_watcher *watch, unsigned ready,
            struct lawn_loop *loop)
{
    (void)watch;
    (void)ready;
    (void)loop;
    CHECK(false);
}

static void
no_arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    (void)loop;
    (void)when;
    (void)context;
}

TEST(a_loop_cannot_wait_by_a_clock_or_a_host_that_is_not_its_own)
{
    struct lawn_loop_options clock = {.clock = still};
    struct lawn_loop_options host = {.arm = no_arm};
    const struct lawn_loop_options *options[] = {&clock, &host};
    struct lawn_loop_watcher watch = {.ready = never_ready};

    for (unsigned i = 0; i < COUNT(options); i++) {
        struct lawn_loop *loop = lawn_loop_new(options[i]);

        CHECK_EQ(lawn_loop_fd(loop), (uint64_t)-EINVAL);
        CHECK_EQ(lawn_loop_run(loop), (uint64_t)-EINVAL);
        CHECK_EQ(lawn_loop_once(loop, false), (uint64_t)-EINVAL);
        CHECK_EQ(lawn_loop_watch(loop, &watch, 0, LAWN_LOOP_READ),
                 (uint64_t)-EINVAL);
        lawn_loop_free(loop);
    }
}

TEST(a_run_ends_when_nothing_is_left)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer once = {.fire = count, .arg = &fired};
    struct lawn_loop_timer more = {.fire = count, .arg = &fired};

    CHECK_EQ(lawn_loop_run(loop), 0); /* no timers */
    CHECK_EQ(lawn_loop_once(loop, true), 0);
    lawn_loop_start(loop, &once, LAWN_LOOP_MS);
    lawn_loop_start(loop, &more, 2 * LAWN_LOOP_MS);
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(fired, 2);
    lawn_loop_start(loop, &once, LAWN_LOOP_MS); /* and again */
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(fired, 3);
    lawn_loop_free(loop);
}

TEST(a_run_ends_when_it_is_asked_to_and_may_be_run_again)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer ender = {.fire = quit};
    struct lawn_loop_timer same = {.fire = count, .arg = &fired};

    lawn_loop_start_at(loop, &ender, 1);
    lawn_loop_start_at(loop, &same, 1); /* also due, after the first */
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(fired, 0);
    CHECK(lawn_loop_pending(&same));
    lawn_loop_quit(loop); /* before a run, which returns at once */
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(fired, 0);
    CHECK_EQ(lawn_loop_once(loop, true), 1);
    CHECK_EQ(fired, 1);
    lawn_loop_quit(loop);
    lawn_loop_start(loop, &same, 0);
    CHECK_EQ(lawn_loop_once(loop, true), 0);
    lawn_loop_free(loop);
}

/* Watched descriptors. */

struct party {
    struct lawn_loop *loop;
    struct lawn_loop_watcher watch[2];
    int fd[2];
    unsigned calls;
    unsigned ready;
};

static void
party_begin(struct party *party)
{
    memset(party, 0, sizeof(*party));
    party->loop = lawn_loop_new(NULL);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, party->fd), 0);
}

static void
party_end(struct party *party)
{
    for (unsigned i = 0; i < 2; i++) {
        lawn_loop_unwatch(party->loop, &party->watch[i]);
        (void)close(party->fd[i]);
    }
    lawn_loop_free(party->loop);
}

static void
note(struct lawn_loop_watcher *watch, unsigned ready, struct lawn_loop *loop)
{
    struct party *party = watch->arg;

    CHECK(loop == party->loop);
    party->calls++;
    party->ready = ready;
}

static void
note_and_read(struct lawn_loop_watcher *watch, unsigned ready,
              struct lawn_loop *loop)
{
    note(watch, ready, loop);
    char byte = 0;
    CHECK_EQ(read(watch->fd, &byte, 1), 1);
}

static void
unwatch_both(struct lawn_loop_watcher *watch, unsigned ready,
             struct lawn_loop *loop)
{
    struct party *party = watch->arg;

    note(watch, ready, loop);
    lawn_loop_unwatch(party->loop, &party->watch[0]);
    lawn_loop_unwatch(party->loop, &party->watch[1]);
    memset(party->watch, 0xFF, sizeof(party->watch)); /* simulates free() */
}

static void
quit_loop(struct lawn_loop_watcher *watch, unsigned ready,
          struct lawn_loop *loop)
{
    struct party *party = watch->arg;

    note(watch, ready, loop);
    lawn_loop_quit(party->loop);
    CHECK(!lawn_loop_free(party->loop));
    CHECK_EQ(lawn_loop_run(party->loop), (uint64_t)-EDEADLK);
}

TEST(a_watch_reports_what_a_descriptor_is_ready_for)
{
    struct party party;

    party_begin(&party);
    party.watch[0] = (struct lawn_loop_watcher){.ready = note, .arg = &party};
    CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[0], party.fd[0],
                             LAWN_LOOP_READ),
             0);
    CHECK_EQ(lawn_loop_once(party.loop, false), 0);
    CHECK_EQ(write(party.fd[1], "x", 1), 1);
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.ready, LAWN_LOOP_READ);
    CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[0], party.fd[0],
                             LAWN_LOOP_READ | LAWN_LOOP_WRITE),
             0);
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.ready, LAWN_LOOP_READ | LAWN_LOOP_WRITE);
    CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[0], party.fd[0],
                             LAWN_LOOP_WRITE),
             0);
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.ready, LAWN_LOOP_WRITE);
    lawn_loop_unwatch(party.loop, &party.watch[0]);
    CHECK_EQ(lawn_loop_once(party.loop, false), 0);
    CHECK_EQ(lawn_loop_run(party.loop), 0); /* no watch and no timer is left */
    party_end(&party);
}

/* Watches one end of a pipe instead. */
static void
party_pipe(struct party *party, int end, unsigned events)
{
    (void)close(party->fd[0]);
    (void)close(party->fd[1]);
    CHECK_EQ(pipe(party->fd), 0);
    party->watch[0] = (struct lawn_loop_watcher){.ready = note, .arg = party};
    CHECK_EQ(
        lawn_loop_watch(party->loop, &party->watch[0], party->fd[end], events),
        0);
}

/* epoll never reports a pipe without a writer as readable, only as hung up. A
 * watch for READ alone must be called as well, or the loop spins. */
TEST(a_watch_reports_the_other_end_that_is_gone)
{
    struct party party;

    party_begin(&party);
    party_pipe(&party, 0, LAWN_LOOP_READ);
    (void)close(party.fd[1]);
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.ready, LAWN_LOOP_READ | LAWN_LOOP_HANGUP);
    party.fd[1] = dup(party.fd[0]);
    party_end(&party);
}

TEST(a_watch_reports_an_error)
{
    struct party party;

    party_begin(&party);
    party_pipe(&party, 1, LAWN_LOOP_WRITE);
    (void)close(party.fd[0]); /* no reader is left */
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.ready, LAWN_LOOP_WRITE | LAWN_LOOP_HANGUP);
    party.fd[0] = dup(party.fd[1]);
    party_end(&party);
}

/* iotivity-lite#8, qpid-dispatch#1170, and most epoll loops at some time. */
TEST(a_watch_that_is_taken_back_in_a_callback_is_not_called_any_more)
{
    struct party party;

    party_begin(&party);
    for (unsigned i = 0; i < 2; i++) {
        party.watch[i] =
            (struct lawn_loop_watcher){.ready = unwatch_both, .arg = &party};
        CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[i], party.fd[i],
                                 LAWN_LOOP_WRITE),
                 0);
    }
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.calls, 1);
    CHECK_EQ(lawn_loop_run(party.loop), 0);
    memset(party.watch, 0, sizeof(party.watch));
    party_end(&party);
}

static void
move_later(struct lawn_loop_watcher *watch, unsigned ready,
           struct lawn_loop *loop)
{
    struct lawn_loop_timer *timer = watch->arg;

    (void)ready;
    CHECK(lawn_loop_stop(loop, timer)); /* the last timer: no wake-up needed */
    lawn_loop_start(loop, timer, 3600 * LAWN_LOOP_SECOND);
}

/* If the caller does not have the timerfd, a wait sets it, and an earlier timer
 * does not. Once both times have passed, it is readable and need not be set. */
TEST(a_loop_may_be_checked_whose_descriptor_is_requested_after_a_wait)
{
    struct party party;
    unsigned fired = 0;
    struct lawn_loop_timer first = {.fire = count, .arg = &fired};
    struct lawn_loop_timer earlier = {.fire = count, .arg = &fired};

    party_begin(&party);
    party.watch[0] = (struct lawn_loop_watcher){.ready = note, .arg = &party};
    CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[0], party.fd[0],
                             LAWN_LOOP_WRITE),
             0);
    lawn_loop_start(party.loop, &first, 5 * LAWN_LOOP_MS);
    uint64_t due = lawn_loop_deadline(&first);
    CHECK(lawn_loop_once(party.loop, true) >= 1);
    lawn_loop_start_at(party.loop, &earlier, due - 1);
    while (lawn_loop_update(party.loop) < due) {
    }
    int fd = lawn_loop_fd(party.loop);
    CHECK(lawn_loop_check(party.loop, stdout));
    CHECK(readable(fd, -1));
    (void)lawn_loop_turn(party.loop);
    CHECK_EQ(fired, 2);
    CHECK(!readable(fd, 0));
    CHECK(lawn_loop_check(party.loop, stdout));
    party_end(&party);
}

/* [L2] */
TEST(the_timerfd_is_not_set_in_each_round)
{
    struct party party;
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};

    party_begin(&party);
    party.watch[0] =
        (struct lawn_loop_watcher){.ready = move_later, .arg = &timer};
    lawn_loop_start(party.loop, &timer, 3600 * LAWN_LOOP_SECOND);
    CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[0], party.fd[0],
                             LAWN_LOOP_WRITE),
             0);
    for (unsigned i = 0; i < 100; i++) {
        CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    }
    CHECK_EQ(arms(party.loop), 1);
    party_end(&party);
}

static void
rather_write(struct lawn_loop_watcher *watch, unsigned ready,
             struct lawn_loop *loop)
{
    struct party *party = watch->arg;
    struct lawn_loop_watcher *other = &party->watch[watch == party->watch];

    note(watch, ready, loop);
    CHECK_EQ(lawn_loop_watch(loop, other, other->fd, LAWN_LOOP_WRITE), 0);
}

TEST(a_watch_is_not_called_for_events_that_it_no_longer_requests)
{
    struct party party;

    party_begin(&party);
    for (unsigned i = 0; i < 2; i++) {
        party.watch[i] =
            (struct lawn_loop_watcher){.ready = rather_write, .arg = &party};
        CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[i], party.fd[i],
                                 LAWN_LOOP_READ),
                 0);
        CHECK_EQ(write(party.fd[i], "x", 1), 1);
    }
    CHECK_EQ(lawn_loop_once(party.loop, true), 1);
    CHECK_EQ(party.calls, 1);
    CHECK_EQ(party.ready, LAWN_LOOP_READ);
    party_end(&party);
}

TEST(a_callback_of_a_watch_may_end_the_run)
{
    struct party party;
    unsigned fired = 0;
    struct lawn_loop_timer due = {.fire = count, .arg = &fired};

    party_begin(&party);
    lawn_loop_start_at(party.loop, &due, 1);
    for (unsigned i = 0; i < 2; i++) {
        party.watch[i] =
            (struct lawn_loop_watcher){.ready = quit_loop, .arg = &party};
        CHECK_EQ(lawn_loop_watch(party.loop, &party.watch[i], party.fd[i],
                                 LAWN_LOOP_WRITE),
                 0);
    }
    CHECK_EQ(lawn_loop_run(party.loop), 0);
    CHECK_EQ(party.calls, 1);
    CHECK_EQ(fired, 0); /* the run returns at once */
    party_end(&party);
}

struct keeper {
    struct party party;
    struct lawn_loop_timer idle;
    unsigned idled;
};

static void
keep_alive(struct lawn_loop_watcher *watch, unsigned ready,
           struct lawn_loop *loop)
{
    struct keeper *keeper = LAWN_CONTAINER(watch->arg, struct keeper, party);

    note_and_read(watch, ready, loop);
    lawn_loop_start(loop, &keeper->idle, 3600 * LAWN_LOOP_SECOND);
}

TEST(ready_descriptors_are_served_before_due_timers)
{
    struct keeper keeper = {.idled = 0};

    party_begin(&keeper.party);
    struct lawn_loop *loop = keeper.party.loop;
    keeper.party.watch[0] =
        (struct lawn_loop_watcher){.ready = keep_alive, .arg = &keeper.party};
    keeper.idle = (struct lawn_loop_timer){.fire = count, .arg = &keeper.idled};
    CHECK_EQ(lawn_loop_watch(loop, &keeper.party.watch[0], keeper.party.fd[0],
                             LAWN_LOOP_READ),
             0);
    lawn_loop_start_at(loop, &keeper.idle, 1);
    CHECK_EQ(write(keeper.party.fd[1], "x", 1), 1);
    CHECK_EQ(lawn_loop_once(loop, true), 1);
    CHECK_EQ(keeper.party.calls, 1);
    CHECK_EQ(keeper.idled, 0); /* the byte came first */
    CHECK(lawn_loop_stop(loop, &keeper.idle));
    party_end(&keeper.party);
}

TEST(events_have_the_numbers_that_programs_were_compiled_with)
{
    CHECK_EQ(LAWN_LOOP_READ, 1);
    CHECK_EQ(LAWN_LOOP_WRITE, 2);
    CHECK_EQ(LAWN_LOOP_HANGUP, 4);
}

TEST(a_watch_that_makes_no_sense_is_refused)
{
    struct party party;
    struct lawn_loop_watcher *watch = party.watch;
    int file = open("/proc/self/exe", O_RDONLY);

    party_begin(&party);
    watch[0].ready = note;
    watch[1].ready = note;
    CHECK_EQ(lawn_loop_watch(party.loop, &watch[0], party.fd[0], 0),
             (uint64_t)-EINVAL);
    CHECK_EQ(
        lawn_loop_watch(party.loop, &watch[0], party.fd[0], LAWN_LOOP_HANGUP),
        (uint64_t)-EINVAL);
    CHECK_EQ(lawn_loop_watch(party.loop, &watch[0], -1, LAWN_LOOP_READ),
             (uint64_t)-EBADF);
    CHECK_EQ(lawn_loop_watch(party.loop, &watch[0], file, LAWN_LOOP_READ),
             (uint64_t)-EPERM);
    CHECK_EQ(watch[0].events, 0);
    CHECK_EQ(
        lawn_loop_watch(party.loop, &watch[0], party.fd[0], LAWN_LOOP_READ), 0);
    CHECK_EQ(
        lawn_loop_watch(party.loop, &watch[0], party.fd[1], LAWN_LOOP_READ),
        (uint64_t)-EINVAL);
    CHECK_EQ(
        lawn_loop_watch(party.loop, &watch[1], party.fd[0], LAWN_LOOP_READ),
        (uint64_t)-EEXIST);
    (void)close(file);
    party_end(&party);
}

static void
nothing(int signal)
{
    (void)signal;
}

TEST(a_signal_does_not_end_a_run)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};
    struct sigaction action;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGALRM};

    memset(&action, 0, sizeof(action));
    action.sa_handler = nothing;
    struct sigaction old;
    CHECK_EQ(sigaction(SIGALRM, &action, &old), 0);
    timer_t alarm_timer = NULL;
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &alarm_timer), 0);
    CHECK_EQ(timer_settime(alarm_timer, 0, &soon, NULL), 0);
    lawn_loop_start(loop, &timer, 4 * LAWN_LOOP_MS);
    CHECK_EQ(lawn_loop_run(loop), 0);
    CHECK_EQ(fired, 1);
    (void)timer_delete(alarm_timer);
    CHECK_EQ(sigaction(SIGALRM, &old, NULL), 0);
    lawn_loop_free(loop);
}

/* Runs in a child: each wait ends as if interrupted by a signal. */
static int
interrupted(void)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};

    lawn_loop_start(loop, &timer, 3600 * LAWN_LOOP_SECOND);
    if (!refuse(SYS_epoll_wait, EINTR)) {
        lawn_loop_free(loop);
        return 0;
    }
    bool well = lawn_loop_once(loop, true) == 0 &&
                lawn_loop_once(loop, false) == 0 && fired == 0 &&
                lawn_loop_pending(&timer);
    lawn_loop_free(loop);
    return well ? 0 : 1;
}

/* Tests the same without a race between the signal and the wait. */
TEST(a_wait_that_a_signal_ends_serves_nothing_and_is_no_error)
{
    check_child(interrupted);
}

/* Runs in a child: returns the loop's error when the system refuses a call. */
static int
refused_so(unsigned call, int error)
{
    struct lawn_loop *loop = lawn_loop_new(NULL);
    unsigned fired = 0;
    struct lawn_loop_timer timer = {.fire = count, .arg = &fired};

    lawn_loop_start(loop, &timer, LAWN_LOOP_MS);
    if (!refuse(call, (unsigned)error)) {
        lawn_loop_free(loop);
        return 0;
    }
    bool told =
        lawn_loop_run(loop) == -error && lawn_loop_run(loop) == -error &&
        (lawn_loop_fd(loop) == -error) == (call == SYS_timerfd_create) &&
        fired == 0;
    lawn_loop_free(loop);
    return told ? 0 : 1;
}

static int
refused_timerfd(void)
{
    return refused_so(SYS_timerfd_create, EMFILE);
}

static int
refused_epoll(void)
{
    return refused_so(SYS_epoll_create1, ENFILE);
}

static int
refused_epoll_ctl(void)
{
    return refused_so(SYS_epoll_ctl, ENOMEM);
}

static int
refused_epoll_wait(void)
{
    return refused_so(SYS_epoll_wait, EINVAL);
}

TEST(a_system_that_refuses_descriptors_is_reported)
{
    check_child(refused_timerfd);
    check_child(refused_epoll);
    check_child(refused_epoll_ctl);
    check_child(refused_epoll_wait);
}
