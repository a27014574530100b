/* uring.c - wakes a loop by a timeout of an io_uring.
 *
 * A timeout in flight is changed by another request, which fails if the timeout
 * has expired meanwhile. The two complete in any order. So at most one change
 * is in progress, and further changes wait for its completion. Flags:
 *
 *   flight    the timeout was prepared and has not completed
 *   changing  a change of the timeout was prepared and has not completed
 *   dying     the timeout was canceled and is about to complete
 *
 * A change completes as soon as it is submitted. The kernel reads the timespec
 * of a request when the request is submitted, possibly long after it was
 * prepared. So timeout and change have separate timespecs, which do not change
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
    uint64_t timeout; /* user_data of the timeout */
    uint64_t change;  /* user_data of the changes */
    uint64_t wanted;  /* wake-up that the loop requested; LAWN_NEVER if none */
    uint64_t set;     /* time of the timeout in flight */
    bool boottime;
    bool flight;
    bool changing;
    bool removing; /* the change cancels the timeout */
    bool dying;
    struct __kernel_timespec timeout_wait;
    struct __kernel_timespec change_wait;
};

/* Each loop has its own user_data, because completions of a freed loop may
 * still arrive. */
static atomic_uint last_number;

/* An absolute time would be wrong if the kernel's clock differs, as in a time
 * namespace. */
static struct __kernel_timespec
time_until(const struct lawn_uring *host, uint64_t when)
{
    uint64_t now = lawn_loop_update(host->loop);
    uint64_t wait = when > now ? when - now : 0;

    return (struct __kernel_timespec){
        .tv_sec = (long long)(wait / LAWN_LOOP_SECOND),
        .tv_nsec = (long long)(wait % LAWN_LOOP_SECOND)};
}

/* Returns NULL if the queue is full and the kernel does not accept entries now.
 */
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

/* Starts the timeout, makes it earlier, or removes it; at once, or after the
 * next completion. */
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
        /* If the change failed, the timeout has expired and wakes the loop
         * anyway. */
        host->changing = false;
        host->dying = host->flight && host->removing;
    } else if (ours) {
        host->flight = host->dying = false;
        bool woken = host->wanted != LAWN_NEVER && (res == -ETIME || res == 0);
        if (res != -ECANCELED) {
            /* The timeout has expired, or the kernel has rejected it and would
             * do so again. Wait until the loop requests another wake-up. */
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
            /* With IORING_SETUP_SQPOLL, a kernel thread takes the requests. */
            (void)sched_yield();
        } while (submitted >= 0 && io_uring_sq_ready(host->ring) > 0);
    }
    /* Requests that the kernel did not accept still point into host: leak it
     * rather than free it. */
    if (submitted >= 0) {
        free(host);
    }
    return true;
}
