/* uv.c - an echo server with libuv that disconnects clients that are silent for
 * 500 ms.
 *
 *     uv [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one libuv timer, which a restart does not change.
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

#include <lawn_uv.h>
#include <signal.h>
#include <stdlib.h>
#include <uv.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

struct connection {
    uv_tcp_t tcp;
    struct lawn_loop_timer idle;
    unsigned number, lines;
};

static struct lawn_loop *loop;
static uv_tcp_t server;
static unsigned came, guests;

static void
on_closed(uv_handle_t *tcp)
{
    free(tcp->data);
}

static void
hang_up(struct connection *c, const char *why)
{
    printf("%u %s, lines: %u\n", c->number, why, c->lines);
    (void)lawn_loop_stop(loop, &c->idle);
    uv_close((uv_handle_t *)&c->tcp, on_closed);
    if (guests > 0 && --guests == 0) {
        uv_close((uv_handle_t *)&server, NULL); /* then the loop ends */
    }
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);
    uv_os_fd_t fd = -1;

    (void)self;
    (void)uv_fileno((uv_handle_t *)&c->tcp, &fd);
    if (!loopback_spoke(fd)) {
        hang_up(c, "was silent");
    }
}

static void
on_alloc(uv_handle_t *tcp, size_t size, uv_buf_t *buf)
{
    static char data[4096]; /* echoed before the next read */

    (void)tcp, (void)size;
    *buf = uv_buf_init(data, sizeof(data));
}

static void
on_read(uv_stream_t *tcp, ssize_t length, const uv_buf_t *buf)
{
    struct connection *c = tcp->data;
    uv_buf_t echo = uv_buf_init(buf->base, length > 0 ? (unsigned)length : 0);

    c->lines += loopback_lines(echo.base, echo.len);
    if (length < 0) {
        hang_up(c, "left");
    } else if (length > 0 && uv_try_write(tcp, &echo, 1) != length) {
        hang_up(c, "does not listen");
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
}

static void on_connection(uv_stream_t *listener, int status);

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    on_connection((uv_stream_t *)&server, 0);
}

static struct lawn_loop_timer door = {.fire = open_door};

/* Handles running out of memory. If descriptors run out, libuv closes the
 * connection. */
static void
on_connection(uv_stream_t *listener, int status)
{
    struct connection *c = status < 0 ? NULL : calloc(1, sizeof(*c));

    if (c == NULL && status == 0) {
        lawn_loop_start(loop, &door, PAUSE); /* libuv waits for uv_accept() */
    } else if (c != NULL) {
        c->number = ++came;
        c->idle.fire = on_idle;
        (void)uv_tcp_init(listener->loop, &c->tcp);
        c->tcp.data = c;
        (void)uv_accept(listener, (uv_stream_t *)&c->tcp);
        (void)uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
        lawn_loop_start(loop, &c->idle, IDLE);
    }
}

int
main(int argc, char **argv)
{
    uv_loop_t *uv = uv_default_loop();
    int fd = loopback_listen(argc, argv);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    loop = lawn_uv_new(uv, NULL);
    (void)uv_tcp_init(uv, &server);
    if (loop == NULL || (errno = -uv_tcp_open(&server, fd)) != 0 ||
        (errno = -uv_listen((uv_stream_t *)&server, 128, on_connection)) != 0 ||
        (guests > 0 && !loopback_clients(loop, fd))) {
        perror("uv: cannot serve");
        return 1;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)uv_run(uv, UV_RUN_DEFAULT);
    lawn_uv_free(loop);
    (void)uv_run(uv, UV_RUN_DEFAULT); /* for closing handles */
    return uv_loop_close(uv) != 0;
}
