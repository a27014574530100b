/* sdevent.c - systemd's sd-event as a host. */
#include "host.h"

#include <lawn_sdevent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

struct sd_host {
    sd_event *event;
    sd_event_source *watch;
    host_ready_fn *ready;
    void *arg;
    bool stopped;
};

static void *
sd_host_open(void)
{
    struct sd_host *sd = calloc(1, sizeof *sd);

    if (sd == NULL || sd_event_new(&sd->event) < 0)
        abort();
    return sd;
}

static void
sd_host_close(void *context)
{
    struct sd_host *sd = context;

    (void)sd_event_unref(sd->event);
    free(sd);
}

static struct lawn_loop *
sd_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct sd_host *sd = context;

    return lawn_sdevent_new(sd->event, options);
}

/* sd_event_loop() ends for good, so this one is spelled out. */
static void
sd_host_run(void *context)
{
    struct sd_host *sd = context;

    sd->stopped = false;
    while (!sd->stopped)
        (void)sd_event_run(sd->event, UINT64_MAX);
}

static void
sd_host_stop(void *context)
{
    struct sd_host *sd = context;

    sd->stopped = true;
}

static bool
sd_host_poll(void *context)
{
    struct sd_host *sd = context;

    return sd_event_run(sd->event, 0) > 0;
}

static int
sd_host_ready(sd_event_source *source, int fd, uint32_t events, void *arg)
{
    struct sd_host *sd = arg;

    (void)source;
    (void)events;
    sd->ready(fd, sd->arg);
    return 0;
}

static void
sd_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    struct sd_host *sd = context;

    sd->ready = ready;
    sd->arg = arg;
    if (sd_event_add_io(sd->event, &sd->watch, fd, EPOLLIN, sd_host_ready, sd) <
        0)
        abort();
}

static void
sd_host_unwatch(void *context)
{
    struct sd_host *sd = context;

    sd->watch = sd_event_source_disable_unref(sd->watch);
}

const struct host host = {
    .name = "sd-event",
    .grain = 1000,
    .ends = false,
    .open = sd_host_open,
    .close = sd_host_close,
    .attach = sd_host_attach,
    .detach = lawn_sdevent_free,
    .run = sd_host_run,
    .stop = sd_host_stop,
    .poll = sd_host_poll,
    .watch = sd_host_watch,
    .unwatch = sd_host_unwatch,
};
