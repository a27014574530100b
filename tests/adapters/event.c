/* event.c - libevent as a host. */
#include "host.h"
#include "kit.h"

#include <event2/event.h>
#include <lawn_event.h>
#include <stdlib.h>

struct event_host {
    struct event_base *base;
    struct event *watch;
    host_ready_fn *ready;
    void *arg;
};

static bool poor; /* allocations of libevent fail */

static void *
event_host_realloc(void *memory, size_t size)
{
    return poor ? NULL : realloc(memory, size);
}

static void *
event_host_open(void)
{
    struct event_host *event = calloc(1, sizeof(*event));

    event_set_mem_functions(malloc, event_host_realloc, free);
    event->base = event_base_new();
    return event;
}

static void
event_host_close(void *context)
{
    struct event_host *event = context;

    event_base_free(event->base);
    free(event);
}

static struct lawn_loop *
event_host_attach(void *context, const struct lawn_loop_options *options)
{
    struct event_host *event = context;

    return lawn_event_new(event->base, options);
}

static void
event_host_run(void *context)
{
    struct event_host *event = context;

    (void)event_base_dispatch(event->base);
}

static void
event_host_stop(void *context)
{
    struct event_host *event = context;

    (void)event_base_loopbreak(event->base);
}

static bool
event_host_poll(void *context)
{
    struct event_host *event = context;

    return event_base_loop(event->base, EVLOOP_NONBLOCK) == 0;
}

static void
event_host_ready(evutil_socket_t fd, short events, void *context)
{
    struct event_host *event = context;

    (void)events;
    event->ready(fd, event->arg);
}

static void
event_host_watch(void *context, int fd, host_ready_fn *ready, void *arg)
{
    struct event_host *event = context;

    event->ready = ready;
    event->arg = arg;
    event->watch = event_new(event->base, fd, EV_READ | EV_PERSIST,
                             event_host_ready, event);
    (void)event_add(event->watch, NULL);
}

static void
event_host_unwatch(void *context)
{
    struct event_host *event = context;

    event_free(event->watch);
}

const struct host host = {
    .name = "libevent",
    .grain = 11000000, /* a millisecond plus the resolution of its clock */
    .early = true,
    .ends = true,
    .open = event_host_open,
    .close = event_host_close,
    .attach = event_host_attach,
    .detach = lawn_event_free,
    .free = lawn_event_free,
    .run = event_host_run,
    .stop = event_host_stop,
    .poll = event_host_poll,
    .watch = event_host_watch,
    .unwatch = event_host_unwatch,
};

static void
fire_once(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    *(bool *)timer->arg = true;
}

/* Takes two milliseconds, unnoticed by the base, and restarts itself. */
static void
fire_slowly(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    unsigned *fired = timer->arg;
    uint64_t begin = lawn_loop_update(loop);

    while (lawn_loop_update(loop) - begin < 2 * LAWN_LOOP_MS) {
    }
    if (++*fired < 20) {
        lawn_loop_start(loop, timer, *fired * 33331);
    }
}

/* The clock of this base is precise, so no wake-up is too early. */
TEST(a_precise_base_wakes_for_each_timer_once)
{
    struct event_config *config = event_config_new();
    unsigned fired = 0;
    struct lawn_loop_timer slow = {.fire = fire_slowly, .arg = &fired};

    (void)event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    struct lawn_loop *loop = lawn_event_new(base, NULL);
    lawn_loop_start(loop, &slow, 0);
    (void)event_base_dispatch(base);
    struct lawn_loop_counters stats;
    lawn_loop_stats(loop, &stats);
    CHECK_EQ(stats.fires, 20);
    CHECK_EQ(stats.idle, 0);
    CHECK(lawn_event_free(loop));
    event_base_free(base);
}

TEST(a_timer_fires_though_libevent_has_no_memory_for_it)
{
    struct event_host *event = event_host_open();
    struct lawn_loop *loop = lawn_event_new(event->base, NULL);
    bool fired = false;
    struct lawn_loop_timer timer = {.fire = fire_once, .arg = &fired};

    poor = true;
    lawn_loop_start(loop, &timer, 2 * LAWN_LOOP_MS);
    event_host_run(event);
    poor = false;
    CHECK(fired);
    CHECK(lawn_event_free(loop));
    event_host_close(event);
}
