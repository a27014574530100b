/* uv.c - libuv as a host. */
#include "host.h"

#include <lawn_uv.h>
#include <stdlib.h>
#include <uv.h>

struct uv_host {
    uv_loop_t uv;
    uv_poll_t *watch; /* freed when it is closed */
    host_ready_fn *ready;
    void *arg;
    int fd;
};

static void *
uv_host_open(void)
{
    struct uv_host *uv = calloc(1, sizeof(*uv));

    (void)uv_loop_init(&uv->uv);
    return uv;
}

static void
uv_host_close(void *context)
{
    struct uv_host *uv = context;

    (void)uv_run(&uv->uv, UV_RUN_NOWAIT); /* completes pending closes */
    if (uv_loop_close(&uv->uv) != 0) {
        abort();
    }
    free(uv);
}

static struct lawn_loop *
uv_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct uv_host *uv = context;

    return lawn_uv_new(&uv->uv, options);
}

static void
uv_host_run(void *context)
{
    struct uv_host *uv = context;

    (void)uv_run(&uv->uv, UV_RUN_DEFAULT);
}

static void
uv_host_stop(void *context)
{
    struct uv_host *uv = context;

    uv_stop(&uv->uv);
}

static bool
uv_host_poll(void *context)
{
    struct uv_host *uv = context;

    return uv_run(&uv->uv, UV_RUN_NOWAIT) != 0;
}

static void
uv_host_ready(uv_poll_t *watch, int status, int events)
{
    struct uv_host *uv = watch->data;

    (void)status;
    (void)events;
    uv->ready(uv->fd, uv->arg);
}

static void
uv_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    struct uv_host *uv = context;

    uv->ready = ready;
    uv->arg = arg;
    uv->fd = fd;
    uv->watch = malloc(sizeof(*uv->watch));
    if (uv->watch == NULL) {
        abort();
    }
    (void)uv_poll_init(&uv->uv, uv->watch, fd);
    uv->watch->data = uv;
    (void)uv_poll_start(uv->watch, UV_READABLE, uv_host_ready);
}

static void
uv_host_closed(uv_handle_t *watch)
{
    free(watch);
}

static void
uv_host_unwatch(void *context)
{
    struct uv_host *uv = context;

    uv_close((uv_handle_t *)uv->watch, uv_host_closed);
}

const struct host host = {
    .name = "libuv",
    .grain = 1000000,
    .ends = true,
    .open = uv_host_open,
    .close = uv_host_close,
    .attach = uv_host_attach,
    .detach = lawn_uv_free,
    .free = lawn_uv_free,
    .run = uv_host_run,
    .stop = uv_host_stop,
    .poll = uv_host_poll,
    .watch = uv_host_watch,
    .unwatch = uv_host_unwatch,
};
