/* event.c - an echo server with libevent that disconnects clients that are
 * silent for 500 ms.
 *
 *     event [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one libevent event, which a restart does not change.
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

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <lawn_event.h>
#include <signal.h>
#include <stdlib.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PENDING (64 << 10)         /* bytes that a client has not read yet */
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

struct connection {
    struct bufferevent *stream;
    struct lawn_loop_timer idle;
    unsigned number, lines;
};

static struct lawn_loop *loop;
static struct evconnlistener *listener;
static unsigned came, guests;

static void
hang_up(struct connection *c, const char *why)
{
    printf("%u %s, lines: %u\n", c->number, why, c->lines);
    (void)lawn_loop_stop(loop, &c->idle);
    bufferevent_free(c->stream);
    free(c);
    if (guests > 0 && --guests == 0) {
        (void)evconnlistener_disable(listener); /* then the loop ends */
    }
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);

    (void)self;
    if (!(bufferevent_get_enabled(c->stream) & EV_READ)) {
        hang_up(c, "does not listen");
    } else if (!loopback_spoke(bufferevent_getfd(c->stream))) {
        hang_up(c, "was silent");
    }
}

static void
on_read(struct bufferevent *stream, void *arg)
{
    struct connection *c = arg;
    char data[4096];
    size_t length = 0;

    while ((length = bufferevent_read(stream, data, sizeof(data))) > 0) {
        (void)bufferevent_write(stream, data, length);
        c->lines += loopback_lines(data, length);
    }
    if (evbuffer_get_length(bufferevent_get_output(stream)) > PENDING) {
        (void)bufferevent_disable(stream, EV_READ);
    }
    lawn_loop_start(loop, &c->idle, IDLE);
}

/* The client has read everything. */
static void
on_written(struct bufferevent *stream, void *arg)
{
    (void)arg;
    (void)bufferevent_enable(stream, EV_READ);
}

static void
on_end(struct bufferevent *stream, short events, void *c)
{
    (void)stream, (void)events;
    hang_up(c, "left");
}

static void
on_connection(struct evconnlistener *self, evutil_socket_t fd,
              struct sockaddr *address, int size, void *base)
{
    struct connection *c = calloc(1, sizeof(*c));

    (void)self, (void)address, (void)size;
    if (c == NULL || (c->stream = bufferevent_socket_new(
                          base, fd, BEV_OPT_CLOSE_ON_FREE)) == NULL) {
        (void)evutil_closesocket(fd);
        free(c);
        return;
    }
    c->number = ++came;
    c->idle.fire = on_idle;
    bufferevent_setcb(c->stream, on_read, on_written, on_end, c);
    (void)bufferevent_enable(c->stream, EV_READ | EV_WRITE);
    lawn_loop_start(loop, &c->idle, IDLE);
}

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    (void)evconnlistener_enable(listener);
}

static struct lawn_loop_timer door = {.fire = open_door};

/* Out of descriptors or memory: the listener would remain ready. */
static void
on_full(struct evconnlistener *self, void *base)
{
    (void)base;
    (void)evconnlistener_disable(self);
    lawn_loop_start(loop, &door, PAUSE);
}

int
main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    int fd = loopback_listen(argc, argv);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    loop = lawn_event_new(base, NULL);
    listener = evconnlistener_new(base, on_connection, base,
                                  LEV_OPT_CLOSE_ON_FREE, 0, fd);
    if (loop == NULL || listener == NULL ||
        (guests > 0 && !loopback_clients(loop, fd))) {
        perror("event: cannot serve");
        return 1;
    }
    evconnlistener_set_error_cb(listener, on_full);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)event_base_dispatch(base);
    evconnlistener_free(listener);
    lawn_event_free(loop);
    event_base_free(base);
    return 0;
}
