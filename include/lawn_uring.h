/* lawn_uring.h - the timers of a loop in an io_uring.
 *
 * One IORING_OP_TIMEOUT wakes the ring for all of them: there is at most one in
 * flight, and none while no timer is running. It is moved as L2 of lawn_loop.h
 * says, not for each timer. Timers fire where you hand in the ring's completions:
 *
 *     struct lawn_loop *loop = lawn_uring_new(&ring, NULL);
 *     struct io_uring_cqe *cqe;
 *
 *     lawn_loop_start(loop, &timer, 30 * LAWN_LOOP_SECOND);
 *     while (io_uring_submit_and_wait(&ring, 1) >= 0 &&
 *            io_uring_peek_cqe(&ring, &cqe) == 0) {
 *         struct io_uring_cqe copy = *cqe;
 *
 *         io_uring_cqe_seen(&ring, cqe);
 *         if (!lawn_uring_handle(loop, &copy)) {
 *             // it is one of yours
 *         }
 *     }
 *
 * A start or stop that moves the wake-up takes an entry of the submission queue;
 * you submit it with your own, before you wait. The kernel counts from then: a
 * timer is late by as long as its entry has lain there. When the queue is full, it
 * is submitted at once. So start and stop no timer while an entry that you have got
 * is not prepared yet, nor between the entries of a chain (IOSQE_IO_LINK), of
 * which ours would become part. The upper half of our user_data is
 * LAWN_URING_MARK, which no pointer and no small number has.
 *
 * Needs Linux 5.11, for LAWN_LOOP_BOOTTIME 5.15. Link with -llawn_uring -llawn
 * -luring. The calls are for the thread that submits to the ring.
 */
#ifndef LAWN_URING_H
#define LAWN_URING_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAWN_URING_MARK UINT32_C(0x6c61776e)

struct io_uring;
struct io_uring_cqe;

/* A new loop whose timers fire in lawn_uring_handle(); or NULL with errno, as
 * lawn_loop_new() says, or EINVAL if the ring was made with
 * IORING_SETUP_IOPOLL, which has no timeouts. The options may be NULL; a clock
 * of your own must count nanoseconds, arm is the adapter's, and its own
 * memory is malloc's. */
struct lawn_loop *lawn_uring_new(struct io_uring *ring,
                                 const struct lawn_loop_options *options);

/* Hand in a copy of each completion, once that is marked as seen: a callback may
 * then take completions itself. True: it is the loop's, and what is due has
 * fired; or the kernel refused the wake-up, if res is neither -ETIME nor
 * -ECANCELED nor -ENOENT nor -EALREADY but negative, as -EACCES of a ring with
 * restrictions, or -EINVAL of a kernel that is too old. Then no timer wakes the
 * ring, until one is started that is due earlier: turn the loop yourself. False:
 * it is not, and nothing was done with it. For a loop of NULL: whether it is any
 * loop's, such as one that was freed. */
bool lawn_uring_handle(struct lawn_loop *loop, const struct io_uring_cqe *cqe);

/* In place of lawn_loop_free(), before io_uring_queue_exit(). If a timeout was in
 * flight, it is cancelled: that submits what is in the queue, and up to three
 * completions are still to come, for which see lawn_uring_handle(). loop may be
 * NULL. False in a callback of a timer: nothing was done. */
bool lawn_uring_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
