/* uring.c - an io_uring as a host. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): syscall() */
#include "host.h"
#include "kit.h"

#include <errno.h>
#include <lawn_uring.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Few enough entries that a test can fill them. */
#define RING_ENTRIES 8

/* Loops in one ring. */
#define LOOPS 5

/* user_data of the watched descriptor, of the request that ends the watch, and
 * of counted requests. */
enum { WATCH = 1, UNWATCH, REAPED };

struct ring_host {
    struct io_uring ring;
    struct lawn_loop *loops[LOOPS];
    host_ready_fn *ready;
    void *arg;
    int fd;
    unsigned reaped;
    bool stopped;
};

/* detach does not get the host as an argument. */
static struct ring_host *opened;

static void *
ring_host_open(void)
{
    struct ring_host *uring = calloc(1, sizeof(*uring));

    if (uring == NULL ||
        io_uring_queue_init(RING_ENTRIES, &uring->ring, 0) != 0) {
        abort();
    }
    uring->fd = -1;
    opened = uring;
    return uring;
}

static void
ring_host_close(void *context)
{
    struct ring_host *uring = context;

    io_uring_queue_exit(&uring->ring);
    free(uring);
}

static struct lawn_loop *
ring_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct ring_host *uring = context;
    struct lawn_loop **loop = uring->loops;

    while (*loop != NULL) {
        loop++;
    }
    *loop = lawn_uring_new(&uring->ring, options);
    return *loop;
}

static bool
ring_host_detach(struct lawn_loop *loop)
{
    for (int i = 0; i < LOOPS; i++) {
        if (opened->loops[i] == loop) {
            opened->loops[i] = NULL;
        }
    }
    return lawn_uring_free(loop);
}

static void
ring_host_poll_add(struct ring_host *uring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);

    CHECK(sqe != NULL);
    io_uring_prep_poll_add(sqe, uring->fd, POLLIN);
    io_uring_sqe_set_data64(sqe, WATCH);
}

/* Returns whether a completion concerns the host. Completions of changed or
 * canceled timeouts concern only the adapter. */
static bool
ring_host_serve(struct ring_host *uring, const struct io_uring_cqe *cqe)
{
    for (int i = 0; i < LOOPS; i++) {
        struct lawn_loop *loop = uring->loops[i];

        if (loop == NULL) {
            continue;
        }
        struct lawn_loop_counters before;
        lawn_loop_stats(loop, &before);
        struct lawn_loop_counters after;
        if (lawn_uring_handle(loop, cqe)) {
            lawn_loop_stats(loop, &after);
            return after.turns > before.turns;
        }
    }
    uring->reaped += cqe->user_data == REAPED;
    if (lawn_uring_handle(NULL, cqe) || cqe->user_data != WATCH ||
        uring->fd < 0) {
        return false;
    }
    uring->ready(uring->fd, uring->arg);
    if (uring->fd >= 0) {
        ring_host_poll_add(uring);
    }
    return true;
}

static bool
ring_host_round(struct ring_host *uring)
{
    struct io_uring_cqe *cqe = NULL;
    bool served = false;

    while (!uring->stopped && io_uring_peek_cqe(&uring->ring, &cqe) == 0) {
        struct io_uring_cqe copy = *cqe;

        io_uring_cqe_seen(&uring->ring, cqe);
        served = ring_host_serve(uring, &copy) || served;
    }
    return served;
}

/* Tries again after a signal, such as the SIGCONT of a stopped process. */
static int
ring_wait(struct io_uring *ring)
{
    int got = -EINTR;

    while (got == -EINTR) {
        got = io_uring_submit_and_wait(ring, 1);
    }
    return got;
}

static void
ring_host_run(void *context)
{
    struct ring_host *uring = context;

    uring->stopped = false;
    while (!uring->stopped) {
        CHECK(ring_wait(&uring->ring) >= 0);
        (void)ring_host_round(uring);
    }
}

static void
ring_host_stop(void *context)
{
    struct ring_host *uring = context;

    uring->stopped = true;
}

static bool
ring_host_poll(void *context)
{
    struct ring_host *uring = context;

    uring->stopped = false;
    CHECK(io_uring_submit(&uring->ring) >= 0);
    return ring_host_round(uring);
}

static void
ring_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    struct ring_host *uring = context;

    uring->ready = ready;
    uring->arg = arg;
    uring->fd = fd;
    ring_host_poll_add(uring);
}

static void
ring_host_unwatch(void *context)
{
    struct ring_host *uring = context;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);

    CHECK(sqe != NULL);
    uring->fd = -1;
    io_uring_prep_poll_remove(sqe, WATCH);
    io_uring_sqe_set_data64(sqe, UNWATCH);
    CHECK(io_uring_submit(&uring->ring) >= 0);
}

const struct host host = {
    .name = "io_uring",
    .grain = 0,
    .ends = false,
    .open = ring_host_open,
    .close = ring_host_close,
    .attach = ring_host_attach,
    .detach = ring_host_detach,
    .free = lawn_uring_free,
    .run = ring_host_run,
    .stop = ring_host_stop,
    .poll = ring_host_poll,
    .watch = ring_host_watch,
    .unwatch = ring_host_unwatch,
};

/* A ring with a loop, for the tests of this adapter. */
struct stage {
    struct ring_host *uring;
    struct lawn_loop *loop;
    unsigned fired;
};

static void
stage_open(struct stage *stage, const struct lawn_loop_options *options)
{
    *stage = (struct stage){.uring = ring_host_open()};
    stage->loop = ring_host_attach(stage->uring, options);
    CHECK(stage->loop != NULL);
}

static void
stage_close(struct stage *stage)
{
    CHECK(lawn_loop_check(stage->loop, stderr));
    CHECK(ring_host_detach(stage->loop));
    ring_host_close(stage->uring);
}

static void
fire_and_stop(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;

    CHECK(lawn_loop_now(loop) >= timer->due);
    stage->fired++;
    ring_host_stop(stage->uring);
}

static uint64_t
stage_turns(const struct stage *stage)
{
    struct lawn_loop_counters stats;

    lawn_loop_stats(stage->loop, &stats);
    return stats.turns;
}

/* Waits for the next completion without consuming it. */
static const struct io_uring_cqe *
stage_wait(struct stage *stage)
{
    CHECK(ring_wait(&stage->uring->ring) >= 0);
    struct io_uring_cqe *cqe = NULL;
    CHECK(io_uring_peek_cqe(&stage->uring->ring, &cqe) == 0);
    return cqe;
}

/* Prepares requests that complete at once, until the queue is full. */
static unsigned
stage_fill(struct stage *stage)
{
    struct io_uring_sqe *sqe = NULL;
    unsigned many = 0;

    while ((sqe = io_uring_get_sqe(&stage->uring->ring)) != NULL) {
        io_uring_prep_nop(sqe);
        io_uring_sqe_set_data64(sqe, UNWATCH);
        many++;
    }
    return many;
}

TEST(completions_of_others_are_left_alone)
{
    struct io_uring ring = {.flags = 0};
    struct lawn_loop *one = lawn_uring_new(&ring, NULL);
    struct lawn_loop *two = lawn_uring_new(&ring, NULL);
    uint64_t others[] = {0, LAWN_URING_MARK, (uintptr_t)one, UINT64_MAX};
    struct io_uring_cqe cqe = {.res = 0};
    int owned = 0;

    CHECK(one != NULL && two != NULL);
    for (int i = 0; i < 4; i++) {
        cqe.user_data = others[i];
        CHECK(!lawn_uring_handle(one, &cqe));
        CHECK(!lawn_uring_handle(NULL, &cqe));
    }
    /* Each of two loops owns two values, and none is owned by both. */
    for (cqe.user_data = (uint64_t)LAWN_URING_MARK << 32; owned < 4;
         cqe.user_data++) {
        bool first = lawn_uring_handle(one, &cqe);
        bool second = lawn_uring_handle(two, &cqe);

        CHECK(!(first && second));
        CHECK(lawn_uring_handle(NULL, &cqe));
        owned += first + second;
    }
    CHECK(lawn_uring_free(one));
    CHECK(lawn_uring_free(two));
    CHECK(lawn_uring_free(NULL));
}

TEST(a_ring_that_polls_devices_is_refused)
{
    struct io_uring ring = {.flags = IORING_SETUP_IOPOLL};

    errno = 0;
    CHECK(lawn_uring_new(&ring, NULL) == NULL);
    CHECK_EQ(errno, EINVAL);
}

TEST(a_full_submission_queue_is_submitted)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};

    stage_open(&stage, NULL);
    CHECK_EQ(stage_fill(&stage), RING_ENTRIES);
    lawn_loop_start(stage.loop, &timer, LAWN_LOOP_MS);
    CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), 1);
    ring_host_run(stage.uring);
    CHECK_EQ(stage.fired, 1);
    stage_close(&stage);
}

TEST(the_timeout_is_moved_earlier_whatever_is_under_way)
{
    struct stage stage;

    stage_open(&stage, NULL);
    struct lawn_loop_timer timers[4];
    for (unsigned i = 0; i < 4; i++) {
        timers[i] = (struct lawn_loop_timer){.fire = fire_and_stop, &stage};
        lawn_loop_start(stage.loop, &timers[i],
                        i < 3 ? (100 - i) * LAWN_LOOP_SECOND : LAWN_LOOP_MS);
    }
    /* The timeout, and its first change: later changes wait for that. */
    CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), 2);
    ring_host_run(stage.uring);
    CHECK_EQ(stage.fired, 1);
    CHECK(!lawn_loop_pending(&timers[3]));
    CHECK_EQ(lawn_loop_count(stage.loop), 3);
    stage_close(&stage);
}

TEST(with_the_last_timer_the_timeout_is_canceled)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};
    int canceled = 0;

    stage_open(&stage, NULL);
    lawn_loop_start(stage.loop, &timer, 100 * LAWN_LOOP_SECOND);
    CHECK(io_uring_submit(&stage.uring->ring) >= 0);
    CHECK(lawn_loop_stop(stage.loop, &timer));
    for (int i = 0; i < 2; i++) {
        const struct io_uring_cqe *cqe = stage_wait(&stage);

        canceled += cqe->res == -ECANCELED;
        CHECK(lawn_uring_handle(stage.loop, cqe));
        io_uring_cq_advance(&stage.uring->ring, 1);
    }
    CHECK_EQ(canceled, 1);
    CHECK_EQ(io_uring_submit(&stage.uring->ring), 0);
    CHECK_EQ(io_uring_cq_ready(&stage.uring->ring), 0);
    stage_close(&stage);
}

/* By a user that cancels all requests in flight. */
TEST(a_timeout_that_others_cancel_is_set_again)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};

    stage_open(&stage, NULL);
    lawn_loop_start(stage.loop, &timer, 3 * LAWN_LOOP_MS);
    struct io_uring_sqe *sqe = io_uring_get_sqe(&stage.uring->ring);
    io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY);
    io_uring_sqe_set_data64(sqe, UNWATCH);
    ring_host_run(stage.uring);
    CHECK_EQ(stage.fired, 1);
    CHECK_EQ(stage_turns(&stage), 1);
    stage_close(&stage);
}

TEST(a_timer_stopped_and_started_again_fires_once)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};

    for (unsigned submitted = 0; submitted < 8; submitted++) {
        stage_open(&stage, NULL);
        lawn_loop_start(stage.loop, &timer, LAWN_LOOP_MS);
        if ((submitted & 1) != 0) {
            CHECK(io_uring_submit(&stage.uring->ring) >= 0);
        }
        CHECK(lawn_loop_stop(stage.loop, &timer));
        if ((submitted & 2) != 0) {
            CHECK(io_uring_submit(&stage.uring->ring) >= 0);
        }
        lawn_loop_start(stage.loop, &timer, LAWN_LOOP_MS);
        if ((submitted & 4) != 0) {
            CHECK(io_uring_submit(&stage.uring->ring) >= 0);
        }
        ring_host_run(stage.uring);
        CHECK_EQ(stage.fired, 1);
        CHECK_EQ(lawn_loop_count(stage.loop), 0);
        stage_close(&stage);
    }
}

/* The timeout is changed after it completed but before the loop gets the
 * completion. */
TEST(a_timeout_that_expired_is_not_lost_when_it_is_changed)
{
    struct stage stage;
    struct lawn_loop_timer first = {.fire = fire_and_stop, .arg = &stage};
    struct lawn_loop_timer second = {.fire = fire_and_stop, .arg = &stage};
    struct lawn_loop_timer third = {.fire = fire_and_stop, .arg = &stage};
    static const unsigned fires[] = {0, 3, 2};

    for (int how = 0; how < 3; how++) {
        stage_open(&stage, NULL);
        lawn_loop_start(stage.loop, &first, LAWN_LOOP_MS);
        CHECK_EQ(stage_wait(&stage)->res, -ETIME);
        if (how != 1) {
            CHECK(lawn_loop_stop(stage.loop, &first));
        }
        if (how != 0) {
            lawn_loop_start(stage.loop, &second, 0);
        }
        CHECK(io_uring_submit(&stage.uring->ring) >= 0);
        if (how != 0) {
            lawn_loop_start(stage.loop, &third, 10 * LAWN_LOOP_MS);
        }
        while (lawn_loop_count(stage.loop) > 0) {
            ring_host_run(stage.uring);
        }
        while (ring_host_poll(stage.uring)) {
        }
        CHECK_EQ(stage.fired, fires[how]);
        stage_close(&stage);
    }
}

/* The timeout completes in vain, which is cheaper than changing it. */
TEST(a_timeout_that_is_too_early_is_left_as_it_is)
{
    struct stage stage;
    struct lawn_loop_timer first = {.fire = fire_and_stop, .arg = &stage};
    struct lawn_loop_timer second = {.fire = fire_and_stop, .arg = &stage};

    stage_open(&stage, NULL);
    lawn_loop_start(stage.loop, &first, LAWN_LOOP_MS);
    lawn_loop_start(stage.loop, &second, 100 * LAWN_LOOP_SECOND);
    CHECK_EQ(stage_wait(&stage)->res, -ETIME);
    (void)lawn_loop_turn(stage.loop);
    CHECK_EQ(stage.fired, 1);
    CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), 0);
    CHECK(ring_host_poll(stage.uring));
    CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), 1);
    CHECK(lawn_loop_pending(&second));
    stage_close(&stage);
}

static uint64_t
clock_at_zero(void *context)
{
    (void)context;
    return 0;
}

TEST(the_end_of_time_is_far_on_any_clock)
{
    struct lawn_loop_options options = {.clock = clock_at_zero};
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};

    stage_open(&stage, &options);
    lawn_loop_start(stage.loop, &timer, LAWN_NEVER - 1);
    for (int i = 0; i < 3; i++) {
        (void)ring_host_poll(stage.uring);
    }
    CHECK_EQ(stage_turns(&stage), 0);
    stage_close(&stage);
}

TEST(a_loop_is_freed_with_a_timeout_under_way)
{
    struct stage stage;

    for (int submitted = 0; submitted < 2; submitted++) {
        struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};
        struct lawn_loop_timer other = {.fire = fire_and_stop, .arg = &stage};

        stage_open(&stage, NULL);
        lawn_loop_start(stage.loop, &timer, 100 * LAWN_LOOP_SECOND);
        if (submitted) {
            CHECK(io_uring_submit(&stage.uring->ring) >= 0);
        }
        CHECK(ring_host_detach(stage.loop));
        /* Another loop does not treat pending completions as its own. */
        stage.loop = ring_host_attach(stage.uring, NULL);
        for (unsigned late = 0; late < 2; late++) {
            const struct io_uring_cqe *cqe = stage_wait(&stage);

            CHECK(!lawn_uring_handle(stage.loop, cqe));
            CHECK(lawn_uring_handle(NULL, cqe));
            io_uring_cq_advance(&stage.uring->ring, 1);
        }
        lawn_loop_start(stage.loop, &other, LAWN_LOOP_MS);
        ring_host_run(stage.uring);
        CHECK_EQ(stage.fired, 1);
        stage_close(&stage);
    }
}

TEST(a_timeout_on_the_clock_that_counts_suspension_is_moved_as_well)
{
    struct lawn_loop_options options = {.clock_id = LAWN_LOOP_BOOTTIME};
    struct stage stage;
    struct lawn_loop_timer far = {.fire = fire_and_stop, .arg = &stage};
    struct lawn_loop_timer near = {.fire = fire_and_stop, .arg = &stage};

    stage_open(&stage, &options);
    lawn_loop_start(stage.loop, &far, LAWN_NEVER - 1);
    CHECK_EQ(stage.uring->ring.sq.sqes[0].timeout_flags,
             IORING_TIMEOUT_BOOTTIME);
    lawn_loop_start(stage.loop, &near, LAWN_LOOP_MS);
    ring_host_run(stage.uring);
    CHECK_EQ(stage.fired, 1);
    CHECK(lawn_loop_pending(&far));
    stage_close(&stage);
}

/* Replaces the ring of a stage. */
static void
stage_open_in(struct stage *stage, const struct io_uring *ring)
{
    stage_open(stage, NULL);
    CHECK(ring_host_detach(stage->loop));
    io_uring_queue_exit(&stage->uring->ring);
    stage->uring->ring = *ring;
    stage->loop = ring_host_attach(stage->uring, NULL);
    CHECK(stage->loop != NULL);
}

/* A kernel thread takes its submissions. */
TEST(a_ring_with_a_thread_of_its_own_fires_as_well)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_stop, .arg = &stage};
    struct io_uring ring;

    if (io_uring_queue_init(RING_ENTRIES, &ring, IORING_SETUP_SQPOLL) != 0) {
        printf("  skipped: the system has no thread for a ring\n");
        return;
    }
    stage_open_in(&stage, &ring);
    (void)stage_fill(&stage);
    lawn_loop_start(stage.loop, &timer, LAWN_LOOP_MS);
    ring_host_run(stage.uring);
    CHECK_EQ(stage.fired, 1);
    lawn_loop_start(stage.loop, &timer, LAWN_LOOP_SECOND);
    stage_close(&stage);
}

/* The same happens with a kernel that does not support the clock. */
TEST(a_timeout_that_is_refused_is_not_set_again_at_once)
{
    struct io_uring_restriction only_nops = {
        .opcode = IORING_RESTRICTION_SQE_OP,
        .sqe_op = IORING_OP_NOP,
    };
    struct stage stage;
    struct lawn_loop_timer far = {.fire = fire_and_stop, .arg = &stage};
    struct lawn_loop_timer near = {.fire = fire_and_stop, .arg = &stage};
    struct io_uring ring;

    CHECK_EQ(io_uring_queue_init(RING_ENTRIES, &ring, IORING_SETUP_R_DISABLED),
             0);
    /* Some versions of liburing declare these calls but do not define them. */
    CHECK_EQ(syscall(SYS_io_uring_register, ring.ring_fd,
                     IORING_REGISTER_RESTRICTIONS, &only_nops, 1),
             0);
    CHECK_EQ(syscall(SYS_io_uring_register, ring.ring_fd,
                     IORING_REGISTER_ENABLE_RINGS, NULL, 0),
             0);
    stage_open_in(&stage, &ring);
    lawn_loop_start(stage.loop, &far, 100 * LAWN_LOOP_SECOND);
    for (int i = 0; i < 2; i++) {
        const struct io_uring_cqe *cqe = stage_wait(&stage);

        CHECK_EQ(cqe->res, -EACCES);
        CHECK(lawn_uring_handle(stage.loop, cqe));
        io_uring_cq_advance(&stage.uring->ring, 1);
        CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), 0);
        CHECK_EQ(stage_turns(&stage), 0);
        /* An earlier deadline is tried again. */
        lawn_loop_start(stage.loop, &near, LAWN_LOOP_SECOND);
        CHECK_EQ(io_uring_sq_ready(&stage.uring->ring), i == 0);
    }
    /* A user that knows about this may turn the loop. */
    lawn_loop_start(stage.loop, &near, 0);
    (void)lawn_loop_turn(stage.loop);
    CHECK_EQ(stage.fired, 1);
    stage_close(&stage);
}

/* Waits for its own request, and handles earlier completions. */
static void
fire_and_reap(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct stage *stage = timer->arg;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&stage->uring->ring);
    unsigned ready = stage->uring->reaped;

    CHECK(sqe != NULL);
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data64(sqe, REAPED);
    lawn_loop_start(loop, timer, 100 * LAWN_LOOP_SECOND);
    while (stage->uring->reaped == ready) {
        CHECK(ring_wait(&stage->uring->ring) >= 0);
        (void)ring_host_round(stage->uring);
    }
    stage->fired++;
    ring_host_stop(stage->uring);
}

TEST(a_callback_may_take_completions_itself)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = fire_and_reap, .arg = &stage};

    stage_open(&stage, NULL);
    for (unsigned i = 1; i <= 20; i++) {
        lawn_loop_start(stage.loop, &timer, i % 2 * LAWN_LOOP_MS);
        ring_host_run(stage.uring);
        CHECK_EQ(stage.fired, i);
        CHECK_EQ(stage.uring->reaped, i);
        CHECK_EQ(io_uring_cq_ready(&stage.uring->ring), 0);
    }
    stage_close(&stage);
}

/* Without io_uring, or without permission to use it: runs the tests that need
 * none, and reports the others as skipped in TAP. */
__attribute__((constructor)) static void
skip_without_io_uring(void)
{
    struct io_uring ring;
    int error = io_uring_queue_init(RING_ENTRIES, &ring, 0);

    if (error == 0) {
        io_uring_queue_exit(&ring);
        return;
    }
    completions_of_others_are_left_alone();
    a_ring_that_polls_devices_is_refused();
    printf("1..3\n"
           "ok 1 completions_of_others_are_left_alone\n"
           "ok 2 a_ring_that_polls_devices_is_refused\n"
           "ok 3 timers in an io_uring # skip io_uring_queue_init(): %s\n",
           strerror(-error));
    (void)fflush(stdout);
    _exit(0);
}
