/* uring.c - an echo server with io_uring that disconnects clients that are
 * silent for 500 ms.
 *
 *     uring [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one timeout, which a restart does not change. Without
 * a port, three test clients connect, and the server ends when they are gone.
 */
/* prints:
 * 3 left, lines: 1
 * 2 was silent, lines: 0
 * 1 was silent, lines: 12
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "loopback.h"

#include <fcntl.h>
#include <lawn_uring.h>
#include <liburing.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

/* One request is in flight per connection. */
struct connection {
    struct lawn_loop_timer idle;
    unsigned number, lines;
    int fd;
    bool silent, sending;
    char data[4096];
};

static struct io_uring ring;
static struct lawn_loop *loop;
static bool accepting;
static unsigned came, guests;

/* Returns an entry of the submission queue. */
static struct io_uring_sqe *
get_sqe(void)
{
    struct io_uring_sqe *sqe = NULL;

    while ((sqe = io_uring_get_sqe(&ring)) == NULL) {
        (void)io_uring_submit(&ring);
    }
    return sqe;
}

static void
receive(struct connection *c)
{
    struct io_uring_sqe *sqe = get_sqe();

    io_uring_prep_recv(sqe, c->fd, c->data, sizeof(c->data), 0);
    io_uring_sqe_set_data(sqe, c);
    c->sending = false;
}

static void
reply(struct connection *c, size_t length)
{
    struct io_uring_sqe *sqe = get_sqe();

    io_uring_prep_send(sqe, c->fd, c->data, length, MSG_NOSIGNAL | MSG_WAITALL);
    io_uring_sqe_set_data(sqe, c);
    c->sending = true;
}

/* Cancels the request in flight, which ends the connection; unless a recv has
 * already completed. */
static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    struct connection *c = timer->arg;

    (void)self;
    if (c->sending || !loopback_spoke(c->fd)) {
        struct io_uring_sqe *sqe = get_sqe();
        io_uring_prep_cancel(sqe, c, 0);
        io_uring_sqe_set_data(sqe, &ring); /* marks completions to ignore */
        c->silent = true;
    }
}

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    accepting = false;
}

static struct lawn_loop_timer door = {.fire = open_door};

static void
on_connection(int fd)
{
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof(*c));

    accepting = false;
    if (fd < 0 && fd != -ECONNABORTED) { /* out of descriptors: pause */
        accepting = true;
        lawn_loop_start(loop, &door, PAUSE);
    }
    if (c == NULL) {
        (void)(fd < 0 ? 0 : close(fd));
    } else {
        c->fd = fd;
        c->number = ++came;
        c->idle = (struct lawn_loop_timer){.fire = on_idle, .arg = c};
        lawn_loop_start(loop, &c->idle, IDLE);
        receive(c);
    }
}

static void
on_done(struct connection *c, int length)
{
    if (length <= 0 || (c->silent && c->sending)) {
        printf("%u %s, lines: %u\n", c->number,
               c->silent ? "was silent" : "left", c->lines);
        (void)lawn_loop_stop(loop, &c->idle);
        (void)close(c->fd);
        free(c);
        guests -= guests > 0;
    } else if (c->sending) {
        receive(c);
    } else {
        c->lines += loopback_lines(c->data, (size_t)length);
        c->silent = false;
        lawn_loop_start(loop, &c->idle, IDLE);
        reply(c, (size_t)length);
    }
}

static void
serve(int listener, bool forever)
{
    struct io_uring_cqe *cqe = NULL;

    while (forever || guests > 0) {
        if (!accepting) {
            struct io_uring_sqe *sqe = get_sqe();
            io_uring_prep_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
            io_uring_sqe_set_data(sqe, NULL);
            accepting = true;
        }
        (void)io_uring_submit_and_wait(&ring, 1);
        while (io_uring_peek_cqe(&ring, &cqe) == 0) {
            struct io_uring_cqe done = *cqe;

            io_uring_cqe_seen(&ring, cqe);
            if (lawn_uring_handle(loop, &done)) {
                continue;
            }
            if (done.user_data == 0) {
                on_connection(done.res);
            } else if (io_uring_cqe_get_data(&done) != &ring) {
                on_done(io_uring_cqe_get_data(&done), done.res);
            }
        }
    }
}

int
main(int argc, char **argv)
{
    int fd = loopback_listen(argc, argv);
    int error = io_uring_queue_init(64, &ring, 0);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    errno = -error;
    /* A request on a non-blocking socket would not wait. */
    if (error != 0 || fcntl(fd, F_SETFL, 0) != 0 ||
        (loop = lawn_uring_new(&ring, NULL)) == NULL ||
        (guests > 0 && !loopback_clients(loop, fd))) {
        perror("uring: cannot serve");
        return 1;
    }
    serve(fd, guests == 0);
    lawn_uring_free(loop);
    io_uring_queue_exit(&ring);
    return 0;
}
