/* ev.c - an echo server with libev that disconnects clients that are silent for
 * 500 ms.
 *
 *     ev [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one libev timer, which a restart does not change.
 * Without a port, three test clients connect, and the server ends when they are
 * gone.
 */
/* prints:
 * 3 left, lines: 1
 * 2 was silent, lines: 0
 * 1 was silent, lines: 12
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "loopback.h"

#include <ev.h>
#include <lawn_ev.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

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
        ev_io_stop(EV_DEFAULT, &server); /* then the loop ends */
    }
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);

    (void)self;
    if (!loopback_spoke(c->io.fd)) {
        hang_up(c, "was silent");
    }
}

static void
on_read(struct ev_loop *ev, ev_io *io, int events)
{
    struct connection *c = io->data;
    const char *why = loopback_echo(io->fd, &c->lines);

    (void)ev, (void)events;
    if (why != NULL) {
        hang_up(c, why);
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
}

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    ev_io_start(EV_DEFAULT, &server);
}

static struct lawn_loop_timer door = {.fire = open_door};

static void
on_connection(struct ev_loop *ev, ev_io *io, int events)
{
    bool full = false;
    int fd = loopback_accept(io->fd, &full);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof(*c));

    (void)events;
    if (full) {
        ev_io_stop(ev, io);
        lawn_loop_start(loop, &door, PAUSE);
    }
    if (c == NULL) {
        (void)(fd < 0 ? 0 : close(fd));
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
    int fd = loopback_listen(argc, argv);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    loop = lawn_ev_new(ev, NULL);
    if (loop == NULL || (guests > 0 && !loopback_clients(loop, fd))) {
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
