/* sdevent.c - systemd's sd-event as a host. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): RTLD_NEXT */
#include "host.h"
#include "kit.h"

#include <dlfcn.h>
#include <errno.h>
#include <lawn_sdevent.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <time.h>

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
    struct sd_host *sd = calloc(1, sizeof(*sd));

    if (sd == NULL || sd_event_new(&sd->event) < 0) {
        abort();
    }
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

/* sd_event_loop() cannot run again after it ended, so this is a loop of our
 * own. */
static void
sd_host_run(void *context)
{
    struct sd_host *sd = context;

    sd->stopped = false;
    while (!sd->stopped) {
        (void)sd_event_run(sd->event, UINT64_MAX);
    }
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
        0) {
        abort();
    }
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
    .free = lawn_sdevent_free,
    .run = sd_host_run,
    .stop = sd_host_stop,
    .poll = sd_host_poll,
    .watch = sd_host_watch,
    .unwatch = sd_host_unwatch,
};

/* Intercepts the times that the adapter sets. */
static uint64_t time_set;
static clockid_t clock_asked;
static int refusal;

int
sd_event_source_set_time(sd_event_source *source, uint64_t when)
{
    int (*real)(sd_event_source *, uint64_t) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "sd_event_source_set_time");
    time_set = when;
    return real(source, when);
}

int
sd_event_add_time(sd_event *event, sd_event_source **source, clockid_t clock,
                  uint64_t when, uint64_t accuracy,
                  sd_event_time_handler_t callback, void *context)
{
    int (*real)(sd_event *, sd_event_source **, clockid_t, uint64_t, uint64_t,
                sd_event_time_handler_t, void *) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "sd_event_add_time");
    clock_asked = clock;
    return refusal != 0
               ? refusal
               : real(event, source, clock, when, accuracy, callback, context);
}

static void
never(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer;
    (void)loop;
    CHECK(false);
}

TEST(the_time_is_rounded_up_and_on_the_loops_clock)
{
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME};
    struct lawn_loop_timer timer = {.fire = never};

    for (unsigned id = LAWN_LOOP_MONOTONIC; id <= LAWN_LOOP_BOOTTIME; id++) {
        struct sd_host *sd = sd_host_open();
        struct lawn_loop_options options = {.clock_id =
                                                (enum lawn_loop_clock)id};
        struct lawn_loop *loop = lawn_sdevent_new(sd->event, &options);

        CHECK(loop != NULL);
        CHECK_EQ(clock_asked, clocks[id]);
        for (unsigned i = 0; i < 100; i++) {
            lawn_loop_start(loop, &timer, 3600 * LAWN_LOOP_SECOND + i);
            CHECK(time_set * 1000 >= lawn_loop_next(loop));
            CHECK(lawn_loop_stop(loop, &timer));
        }
        CHECK(lawn_sdevent_free(loop));
        sd_host_close(sd);
    }
}

TEST(a_call_that_sd_event_rejects_is_reported)
{
    struct sd_host *sd = sd_host_open();

    refusal = -ESTALE;
    errno = 0;
    CHECK(lawn_sdevent_new(sd->event, NULL) == NULL);
    CHECK_EQ(errno, ESTALE);
    refusal = 0;
    sd_host_close(sd);
}
