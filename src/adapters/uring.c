/* uring.c - the wake-up of a loop is a timeout of an io_uring's.
 *
 * A timeout in flight is changed by a request of its own, which fails when the
 * timeout has come meanwhile; the two complete in any order. To stay out of that
 * race, one change is under way at a time, and what is wanted next waits for it:
 *
 *   flight    the timeout was prepared, and has not completed
 *   changing  a change of it was prepared, and has not completed
 *   dying     it was taken back, and is about to complete
 *
 * Each change completes as soon as it is submitted, so that nothing waits long.
 * The kernel reads how long to wait when the request is submitted, which may be
 * long after it was prepared: timeout and change have one each, that is not touched
 * until the request has completed.
 */
#include <lawn_uring.h>

#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct lawn_uring {
    struct io_uring *ring;
    struct lawn_loop *loop;
    uint64_t timeout; /* user_data of the timeout, and of what changes it */
    uint64_t change;
    uint64_t wanted; /* LAWN_NEVER: none */
    uint64_t set;    /* of the timeout in flight */
    bool boottime;
    bool flight;
    bool changing;
    bool removing; /* the change takes it back */
    bool dying;
    struct __kernel_timespec timeout_wait;
    struct __kernel_timespec change_wait;
};

/* Completions of a loop that was freed are not taken for those of another. */
static atomic_uint last_number;

/* How long it is until a time of the loop's. The kernel counts that from when it
 * is submitted, so that it is not early. A time on its clock would be wrong where
 * ours is another: in a time namespace. */
static struct __kernel_timespec
time_until(const struct lawn_uring *host, uint64_t when)
{
    uint64_t now = lawn_loop_update(host->loop);
    uint64_t wait = when > now ? when - now : 0;

    return (struct __kernel_timespec){
        .tv_sec = (long long)(wait / LAWN_LOOP_SECOND),
        .tv_nsec = (long long)(wait % LAWN_LOOP_SECOND)};
}

/* An entry of the submission queue; NULL if that is full and the kernel does not
 * take it now, as when completions are waiting. */
static struct io_uring_sqe *
get_entry(struct io_uring *ring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

    if (sqe == NULL && io_uring_submit(ring) >= 0) {
        (void)io_uring_sqring_wait(ring);
        sqe = io_uring_get_sqe(ring);
    }
    return sqe;
}

/* Brings the timeout in line with what is wanted; if it cannot now, it will when
 * the next completion is handed in. */
static void
sync_timeout(struct lawn_uring *host)
{
    bool remove = host->flight && host->wanted == LAWN_NEVER;
    bool earlier = host->wanted < (host->flight ? host->set : LAWN_NEVER);
    struct io_uring_sqe *sqe = NULL;

    if (!host->changing && !host->dying && (remove || earlier)) {
        sqe = get_entry(host->ring);
    }
    if (sqe == NULL) {
        return;
    }
    if (remove) {
        io_uring_prep_timeout_remove(sqe, host->timeout, 0);
    } else if (host->flight) {
        host->change_wait = time_until(host, host->wanted);
        io_uring_prep_timeout_update(sqe, &host->change_wait, host->timeout, 0);
    } else {
        host->timeout_wait = time_until(host, host->wanted);
        io_uring_prep_timeout(sqe, &host->timeout_wait, 0,
                              host->boottime ? IORING_TIMEOUT_BOOTTIME : 0);
    }
    io_uring_sqe_set_data64(sqe, host->flight ? host->change : host->timeout);
    host->changing = host->flight;
    host->removing = remove;
    host->flight = true;
    host->set = host->wanted;
}

static void
arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct lawn_uring *host = context;

    (void)loop;
    host->wanted = when;
    sync_timeout(host);
}

bool
lawn_uring_handle(struct lawn_loop *loop, const struct io_uring_cqe *cqe)
{
    int res = cqe->res;

    if (loop == NULL) {
        return cqe->user_data >> 32 == LAWN_URING_MARK;
    }
    struct lawn_uring *host = lawn_loop_arm_context(loop);
    bool ours =
        cqe->user_data == host->timeout || cqe->user_data == host->change;
    if (cqe->user_data == host->change) {
        /* If it failed, the timeout had come before, and wakes us anyway. */
        host->changing = false;
        host->dying = host->flight && host->removing;
    } else if (ours) {
        host->flight = host->dying = false;
        bool woken = host->wanted != LAWN_NEVER && (res == -ETIME || res == 0);
        if (res != -ECANCELED) {
            /* If it was refused, it would be again: that waits for the loop to
             * ask for another. */
            host->wanted = LAWN_NEVER;
        }
        if (woken) {
            (void)lawn_loop_woken(loop);
        }
    }
    sync_timeout(host);
    return ours;
}

struct lawn_loop *
lawn_uring_new(struct io_uring *ring, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o =
        options != NULL ? *options : (struct lawn_loop_options){.arm = NULL};
    struct lawn_uring *host = malloc(sizeof(*host));

    if (host == NULL || (ring->flags & IORING_SETUP_IOPOLL) != 0) {
        errno = host == NULL ? ENOMEM : EINVAL;
        free(host);
        return NULL;
    }
    o.arm = arm;
    o.arm_context = host;
    *host = (struct lawn_uring){
        .ring = ring,
        .loop = lawn_loop_new(&o),
        .timeout = (uint64_t)LAWN_URING_MARK << 32 |
                   (uint32_t)(2 * atomic_fetch_add(&last_number, 1)),
        .wanted = LAWN_NEVER,
        .boottime = o.clock == NULL && o.clock_id == LAWN_LOOP_BOOTTIME,
    };
    host->change = host->timeout + 1;
    if (host->loop == NULL) {
        free(host);
        return NULL;
    }
    return host->loop;
}

bool
lawn_uring_free(struct lawn_loop *loop)
{
    int submitted = 0;

    if (loop == NULL) {
        return true;
    }
    struct lawn_uring *host = lawn_loop_arm_context(loop);
    if (!lawn_loop_free(loop)) {
        return false;
    }
    if (host->flight || host->changing) {
        struct io_uring_sqe *sqe = get_entry(host->ring);
        if (sqe != NULL) {
            io_uring_prep_timeout_remove(sqe, host->timeout, 0);
            io_uring_sqe_set_data64(sqe, host->change);
        }
        do {
            submitted = io_uring_submit(host->ring);
            (void)sched_yield(); /* a kernel's thread may have to take it */
        } while (submitted >= 0 && io_uring_sq_ready(host->ring) > 0);
    }
    /* What the kernel did not take still has the address of a time. */
    if (submitted >= 0) {
        free(host);
    }
    return true;
}
