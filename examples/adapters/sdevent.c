/* sdevent.c - an echo server with sd-event that disconnects clients that are
 * silent for 500 ms.
 *
 *     sdevent [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one time source, which a restart does not change.
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

#include <lawn_sdevent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

struct connection {
    struct lawn_loop_timer idle;
    unsigned number, lines;
    sd_event_source *source;
    int fd;
};

static sd_event *event;
static sd_event_source *server;
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
    struct connection *c = timer->arg;

    (void)self;
    if (!loopback_spoke(c->fd)) {
        hang_up(c, "was silent");
    }
}

static int
on_read(sd_event_source *source, int fd, uint32_t events, void *arg)
{
    struct connection *c = arg;
    const char *why = loopback_echo(fd, &c->lines);

    (void)source, (void)events;
    if (why != NULL) {
        hang_up(c, why);
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
    return 0;
}

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    (void)sd_event_source_set_enabled(server, SD_EVENT_ON);
}

static struct lawn_loop_timer door = {.fire = open_door};

static int
on_connection(sd_event_source *source, int listener, uint32_t events, void *arg)
{
    bool full = false;
    int fd = loopback_accept(listener, &full);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof(*c));

    (void)events, (void)arg;
    if (full) {
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
        lawn_loop_start(loop, &door, PAUSE);
    }
    if (c == NULL ||
        sd_event_add_io(event, &c->source, fd, EPOLLIN, on_read, c) < 0) {
        (void)(fd < 0 ? 0 : close(fd));
        free(c);
        return 0;
    }
    c->fd = fd;
    c->number = ++came;
    c->idle = (struct lawn_loop_timer){.fire = on_idle, .arg = c};
    lawn_loop_start(loop, &c->idle, IDLE);
    return 0;
}

/* Converts the result of an sd-event function for perror(). */
static bool
good(int result)
{
    errno = result < 0 ? -result : 0;
    return result >= 0;
}

int
main(int argc, char **argv)
{
    int fd = loopback_listen(argc, argv);

    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    if (!good(sd_event_default(&event)) ||
        (loop = lawn_sdevent_new(event, NULL)) == NULL ||
        !good(sd_event_add_io(event, &server, fd, EPOLLIN, on_connection,
                              NULL)) ||
        (guests > 0 && !loopback_clients(loop, fd))) {
        perror("sdevent: cannot serve");
        return 1;
    }
    (void)sd_event_loop(event);
    lawn_sdevent_free(loop);
    (void)sd_event_source_unref(server);
    (void)sd_event_unref(event);
    return 0;
}
