/* sdevent.c - an echo server in sd-event that hangs up on who is silent for half a
 * second.
 *
 *     sdevent [PORT]
 *
 * Each connection has a timer of its own, which is started again whenever
 * something comes; the one time source behind them all is not touched. Without a
 * port, the server has three clients of its own, and ends when they are gone.
 */
/* prints:
 * 3 left, lines: 1
 * 2 was silent, lines: 0
 * 1 was silent, lines: 12
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "loopback.h"

#include <lawn_sdevent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)

struct connection {
    struct lawn_loop_timer idle;
    unsigned number, lines;
    sd_event_source *source;
    int fd;
};

static sd_event *event;
static struct lawn_loop *loop;
static unsigned came, guests;

static void
hang_up(struct connection *c, const char *why)
{
    printf("%u %s, lines: %u\n", c->number, why, c->lines);
    (void)lawn_loop_stop(loop, &c->idle);
    (void)sd_event_source_disable_unref(c->source);
    (void)close(c->fd);
    free(c);
    if (guests > 0 && --guests == 0) {
        (void)sd_event_exit(event, 0);
    }
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)self;
    hang_up(timer->arg, "was silent");
}

static int
on_read(sd_event_source *source, int fd, uint32_t events, void *arg)
{
    struct connection *c = arg;
    char data[4096];
    ssize_t length = recv(fd, data, sizeof data, MSG_DONTWAIT);
    ssize_t i;

    (void)source, (void)events;
    for (i = 0; i < length; i++) {
        c->lines += data[i] == '\n';
    }
    if (length <= 0) {
        hang_up(c, "left");
    } else if (send(fd, data, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) !=
               length) {
        hang_up(c, "does not listen");
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
    return 0;
}

static int
on_connection(sd_event_source *source, int listener, uint32_t events, void *arg)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof *c);

    (void)source, (void)events, (void)arg;
    if (c == NULL ||
        sd_event_add_io(event, &c->source, fd, EPOLLIN, on_read, c) < 0) {
        (void)close(fd);
        free(c);
        return 0;
    }
    c->fd = fd;
    c->number = ++came;
    c->idle = (struct lawn_loop_timer){.fire = on_idle, .arg = c};
    lawn_loop_start(loop, &c->idle, IDLE);
    return 0;
}

int
main(int argc, char **argv)
{
    int fd = loopback_listen(argc > 1 ? atoi(argv[1]) : 0);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    if (fd < 0 || sd_event_default(&event) < 0 ||
        (loop = lawn_sdevent_new(event, NULL)) == NULL ||
        sd_event_add_io(event, NULL, fd, EPOLLIN, on_connection, NULL) < 0 ||
        (guests > 0 && !loopback_clients(loop, fd))) {
        perror("sdevent: cannot serve");
        return 1;
    }
    (void)sd_event_loop(event);
    lawn_sdevent_free(loop);
    (void)sd_event_unref(event);
    return 0;
}
