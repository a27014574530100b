/* ev.c - an echo server in libev that hangs up on who is silent for half a second.
 *
 *     ev [PORT]
 *
 * Each connection has a timer of its own, which is started again whenever
 * something comes; the one timer of libev's behind them all is not. Without a
 * port, the server has three clients of its own, and ends when they are gone.
 */
/* prints:
 * 3 left, lines: 1
 * 2 was silent, lines: 0
 * 1 was silent, lines: 12
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "loopback.h"

#include <errno.h>
#include <ev.h>
#include <lawn_ev.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)

struct connection {
    ev_io io;
    struct lawn_loop_timer idle;
    unsigned number, lines;
};

static struct lawn_loop *loop;
static ev_io server;
static unsigned came, guests;

static void
hang_up(struct connection *c, const char *why)
{
    printf("%u %s, lines: %u\n", c->number, why, c->lines);
    (void)lawn_loop_stop(loop, &c->idle);
    ev_io_stop(EV_DEFAULT, &c->io);
    (void)close(c->io.fd);
    free(c);
    if (guests > 0 && --guests == 0) {
        ev_io_stop(EV_DEFAULT, &server); /* and nothing is left to do */
    }
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)self;
    hang_up(LAWN_CONTAINER(timer, struct connection, idle), "was silent");
}

static void
on_read(struct ev_loop *ev, ev_io *io, int events)
{
    struct connection *c = io->data;
    char data[4096];
    ssize_t length = recv(io->fd, data, sizeof data, 0);
    ssize_t i;

    (void)ev, (void)events;
    for (i = 0; i < length; i++) {
        c->lines += data[i] == '\n';
    }
    if (length == 0 || (length < 0 && errno != EAGAIN)) {
        hang_up(c, "left");
    } else if (length > 0 &&
               send(io->fd, data, (size_t)length, MSG_NOSIGNAL) != length) {
        hang_up(c, "does not listen");
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
}

static void
on_connection(struct ev_loop *ev, ev_io *io, int events)
{
    int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof *c);

    (void)events;
    if (c == NULL) {
        (void)close(fd);
        return;
    }
    c->number = ++came;
    c->idle.fire = on_idle;
    ev_io_init(&c->io, on_read, fd, EV_READ);
    c->io.data = c;
    ev_io_start(ev, &c->io);
    lawn_loop_start(loop, &c->idle, IDLE);
}

int
main(int argc, char **argv)
{
    struct ev_loop *ev = EV_DEFAULT;
    int fd = loopback_listen(argc > 1 ? atoi(argv[1]) : 0);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    loop = lawn_ev_new(ev, NULL);
    if (fd < 0 || loop == NULL || (guests > 0 && !loopback_clients(loop, fd))) {
        perror("ev: cannot serve");
        return 1;
    }
    ev_io_init(&server, on_connection, fd, EV_READ);
    ev_io_start(ev, &server);
    (void)ev_run(ev, 0);
    lawn_ev_free(loop);
    ev_loop_destroy(ev);
    return 0;
}
