/* lawn_uring.h - a lawn_loop in an io_uring.
 *
 * Rules of all adapters: see ADAPTERS in lawn_loop.h or lawn_loop(3).
 * In a ring, the wake-up is an IORING_OP_TIMEOUT. The caller passes the ring's
 * completions to lawn_uring_handle(), which fires the timers.
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
 *             // a completion of the application
 *         }
 *     }
 *
 * A start, stop or turn that sets or cancels the wake-up adds an entry to the
 * submission queue. The caller must submit this entry before waiting for
 * completions. The time until the wake-up counts from the submission: if the
 * entry remains in the queue for 1 ms, the timer fires 1 ms late. If the queue
 * is full, the adapter submits all entries in it, including those of the
 * caller.
 *
 * So there are two places where you must not start or stop timers or run turns:
 * between io_uring_get_sqe() and the preparation of the entry, because it might
 * be submitted too early; and between the entries of a chain (IOSQE_IO_LINK),
 * because the adapter's entry would become part of it.
 *
 * The adapter needs Linux 5.11, or 5.15 for LAWN_LOOP_BOOTTIME. Link with
 * -llawn_uring -llawn -luring.
 */
#ifndef LAWN_URING_H
#define LAWN_URING_H

#include <lawn_loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The upper half of the user_data of the adapter's entries. No user-space
 * pointer and no number below 2^32 has this upper half. */
#define LAWN_URING_MARK UINT32_C(0x6c61776e)

struct io_uring;
struct io_uring_cqe;

/* Creates a loop whose timers fire in lawn_uring_handle(). Returns NULL and
 * sets errno on failure: an error of lawn_loop_new(), or EINVAL if the ring was
 * created with IORING_SETUP_IOPOLL, which does not support timeouts. The cost
 * is that of lawn_loop_new(). */
struct lawn_loop *lawn_uring_new(struct io_uring *ring,
                                 const struct lawn_loop_options *options);

/* Handles a completion of the ring. Mark the completion as seen before the call
 * and pass a copy of it, so that a callback may take completions itself.
 * Returns true if the completion belongs to the loop; if it was the wake-up,
 * due timers have fired. Otherwise returns false. If loop is NULL, returns true
 * if the completion belongs to any loop, including a freed one. The cost is
 * that of lawn_loop_turn(). If the queue is full and the kernel does not accept
 * its entries, a request of the adapter fails; each following call repeats it
 * until it succeeds.
 *
 * If a completion of the loop has a res that is negative and not -ETIME,
 * -ECANCELED, -ENOENT or -EALREADY, the kernel refused the wake-up: for example
 * -EACCES if the ring has restrictions, -EINVAL if the kernel is too old. Then
 * the caller must call lawn_loop_turn() when timers are due, because the
 * adapter does not repeat the request. A start with an earlier deadline than
 * the refused wake-up makes another request. */
bool lawn_uring_handle(struct lawn_loop *loop, const struct io_uring_cqe *cqe);

/* Frees a loop created by lawn_uring_new(). Cancels a timeout in flight; this
 * submits all entries of the submission queue. Returns as lawn_loop_free()
 * does. The cost is that of lawn_loop_free() and io_uring_submit(3), plus the
 * wait until the kernel has taken the entries. After a cancellation, up to
 * three completions of the freed loop follow; lawn_uring_handle() with a loop
 * of NULL returns true for them. Free the loop before io_uring_queue_exit(). */
bool lawn_uring_free(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
