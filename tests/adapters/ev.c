/* ev.c - libev as a host. */
#include "host.h"

#include <ev.h>
#include <lawn_ev.h>
#include <stdlib.h>

struct ev_host {
    struct ev_loop *ev;
    ev_io watch;
    host_ready_fn *ready;
    void *arg;
};

static void *
ev_host_open(void)
{
    struct ev_host *ev = calloc(1, sizeof(*ev));

    ev->ev = ev_loop_new(EVFLAG_AUTO);
    return ev;
}

static void
ev_host_close(void *context)
{
    struct ev_host *ev = context;

    ev_loop_destroy(ev->ev);
    free(ev);
}

static struct lawn_loop *
ev_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct ev_host *ev = context;

    return lawn_ev_new(ev->ev, options);
}

static void
ev_host_run(void *context)
{
    struct ev_host *ev = context;

    (void)ev_run(ev->ev, 0);
}

static void
ev_host_stop(void *context)
{
    struct ev_host *ev = context;

    ev_break(ev->ev, EVBREAK_ONE);
}

static bool
ev_host_poll(void *context)
{
    struct ev_host *ev = context;

    return ev_run(ev->ev, EVRUN_NOWAIT) != 0;
}

static void
ev_host_ready(struct ev_loop *loop, ev_io *watch, int events)
{
    struct ev_host *ev = watch->data;

    (void)loop;
    (void)events;
    ev->ready(watch->fd, ev->arg);
}

static void
ev_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    struct ev_host *ev = context;

    ev->ready = ready;
    ev->arg = arg;
    ev_io_init(&ev->watch, ev_host_ready, fd, EV_READ);
    ev->watch.data = ev;
    ev_io_start(ev->ev, &ev->watch);
}

static void
ev_host_unwatch(void *context)
{
    struct ev_host *ev = context;

    ev_io_stop(ev->ev, &ev->watch);
}

const struct host host = {
    .name = "libev",
    .grain = 1000000,
    .ends = true,
    .open = ev_host_open,
    .close = ev_host_close,
    .attach = ev_host_attach,
    .detach = lawn_ev_free,
    .free = lawn_ev_free,
    .run = ev_host_run,
    .stop = ev_host_stop,
    .poll = ev_host_poll,
    .watch = ev_host_watch,
    .unwatch = ev_host_unwatch,
};
