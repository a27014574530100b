/* glib.c - an echo server with GLib that disconnects clients that are silent
 * for 500 ms.
 *
 *     glib [PORT]
 *
 * Each connection has its own timer, which is restarted whenever data arrives.
 * All these timers share one GLib source, which a restart does not change.
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

#include <glib-unix.h>
#include <lawn_glib.h>
#include <unistd.h>

#define IDLE (500 * LAWN_LOOP_MS)
#define PAUSE (100 * LAWN_LOOP_MS) /* while out of resources */

struct connection {
    struct lawn_loop_timer idle;
    unsigned number, lines;
    guint source;
    int fd;
};

static GMainLoop *main_loop;
static struct lawn_loop *loop;
static int listener;
static unsigned came, guests;

static void
hang_up(struct connection *c, const char *why)
{
    printf("%u %s, lines: %u\n", c->number, why, c->lines);
    (void)lawn_loop_stop(loop, &c->idle);
    (void)g_source_remove(c->source);
    (void)close(c->fd);
    g_free(c);
    if (guests > 0 && --guests == 0) {
        g_main_loop_quit(main_loop);
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

static gboolean
on_read(gint fd, GIOCondition condition, gpointer arg)
{
    struct connection *c = arg;
    const char *why = loopback_echo(fd, &c->lines);

    (void)condition;
    if (why != NULL) {
        hang_up(c, why);
    } else {
        lawn_loop_start(loop, &c->idle, IDLE);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean on_connection(gint self, GIOCondition condition, gpointer arg);

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *self)
{
    (void)timer, (void)self;
    (void)g_unix_fd_add(listener, G_IO_IN, on_connection, NULL);
}

static struct lawn_loop_timer door = {.fire = open_door};

static gboolean
on_connection(gint self, GIOCondition condition, gpointer arg)
{
    bool full = false;
    int fd = loopback_accept(self, &full);
    struct connection *c = fd < 0 ? NULL : g_new0(struct connection, 1);

    (void)condition, (void)arg;
    if (full) {
        lawn_loop_start(loop, &door, PAUSE);
        return G_SOURCE_REMOVE;
    }
    if (c != NULL) {
        c->fd = fd;
        c->number = ++came;
        c->idle = (struct lawn_loop_timer){.fire = on_idle, .arg = c};
        c->source = g_unix_fd_add(fd, G_IO_IN, on_read, c);
        lawn_loop_start(loop, &c->idle, IDLE);
    }
    return G_SOURCE_CONTINUE;
}

int
main(int argc, char **argv)
{
    listener = loopback_listen(argc, argv);
    guests = argc > 1 ? 0 : LOOPBACK_CLIENTS;
    main_loop = g_main_loop_new(NULL, FALSE);
    loop = lawn_glib_new(NULL, NULL);
    if (loop == NULL || (guests > 0 && !loopback_clients(loop, listener))) {
        perror("glib: cannot serve");
        return 1;
    }
    open_door(NULL, loop);
    g_main_loop_run(main_loop);
    lawn_glib_free(loop);
    g_main_loop_unref(main_loop);
    return 0;
}
