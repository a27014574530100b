/* eventhost.c - unmodified libevent: with its own timers, in its heap or in the
 * queues of its common timeouts, and with lawn's. Its clock is the default,
 * which is coarse. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <lawn_event.h>
#include <stdlib.h>

/* The limit of libevent. */
#define COMMON_MAX 256u

struct eventhost {
    struct adapted adapted;
    struct event_base *base;
    bool failed;
    size_t common_count;
    const struct timeval *common[COMMON_MAX];
};

static const char *
unusable(void)
{
    return peer_take_clock("libevent");
}

static struct timeval
timeval_of(uint64_t ns)
{
    return (struct timeval){.tv_sec = (time_t)(ns / 1000000000),
                            .tv_usec = (suseconds_t)(ns % 1000000000 / 1000)};
}

static void *
make_own(const struct contender_setup *setup)
{
    struct eventhost *host = calloc(1, sizeof(*host));

    (void)setup;
    peer_give_clock("libevent");
    if (host != NULL) {
        host->base = event_base_new();
    }
    if (host == NULL || host->base == NULL) {
        free(host);
        return NULL;
    }
    return host;
}

static void *
make_common(const struct contender_setup *setup)
{
    struct eventhost *host = make_own(setup);

    while (host != NULL && host->common_count < setup->ttl_count &&
           host->common_count < COMMON_MAX) {
        struct timeval ttl = timeval_of(setup->ttls[host->common_count]);

        host->common[host->common_count++] =
            event_base_init_common_timeout(host->base, &ttl);
    }
    return host;
}

static void
free_host(void *self)
{
    struct eventhost *host = self;

    lawn_event_free(host->adapted.loop);
    event_base_free(host->base);
    free(host);
    (void)peer_take_clock("libevent");
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct eventhost *host = make_own(setup);

    if (host != NULL) {
        host->adapted.loop = lawn_event_new(host->base, NULL);
    }
    return adapted_made(host, free_host);
}

static bool
failed(void *self)
{
    return ((struct eventhost *)self)->failed;
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
    struct event *event = arg;

    (void)fd;
    (void)what;
    const struct host_self *self = *(struct host_self **)(void *)(event + 1);
    self->fire(peer_object(event), self->arg);
}

/* The node is an event, followed by its host. */
static void
add(struct eventhost *host, struct object *object, const struct timeval *ttl)
{
    struct event *event = (void *)object->node;

    if (!event_initialized(event)) {
        (void)event_assign(event, host->base, -1, 0, on_event, event);
        *(void **)(void *)(event + 1) = host;
    }
    host->failed = event_add(event, ttl) != 0 || host->failed;
}

static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    struct timeval time = timeval_of(ttl);

    add(self, object, &time);
}

static void
start_common(void *self, struct object *object, uint64_t ttl)
{
    struct eventhost *host = self;

    if (object->which < host->common_count) {
        add(host, object, host->common[object->which]);
    } else {
        start_own(host, object, ttl);
    }
}

static bool
stop_own(void *self, struct object *object)
{
    struct event *event = (void *)object->node;

    (void)self;
    if (!event_initialized(event) || !event_pending(event, EV_TIMEOUT, NULL)) {
        return false;
    }
    (void)event_del(event);
    return true;
}

static void
turn(void *self)
{
    (void)event_base_loop(((struct eventhost *)self)->base, EVLOOP_NONBLOCK);
}

static void
serve(void *self)
{
    (void)event_base_dispatch(((struct eventhost *)self)->base);
}

static void
quit(void *self)
{
    (void)event_base_loopbreak(((struct eventhost *)self)->base);
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "event",
             .title = "libevent",
             .about = "evtimer_add(), in a heap of pointers.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct event) + sizeof(void *),
             .version = event_get_version,
             .unusable = unusable,
             .make = make_own,
             .free = free_host,
             .failed = failed,
             .start = start_own,
             .stop = stop_own},
    .adapted = "event+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host common = {
    .face = {.abi = CONTENDER_ABI,
             .name = "common",
             .title = "libevent, common timeouts",
             .about = "evtimer_add() with a queue for each TTL, announced by "
                      "event_base_init_common_timeout().",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct event) + sizeof(void *),
             .version = event_get_version,
             .unusable = unusable,
             .make = make_common,
             .free = free_host,
             .failed = failed,
             .start = start_common,
             .stop = stop_own},
    .adapted = "event+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "event+lawn", .title = "Lawn in libevent",
             .about = "lawn_event.h.", .version = event_get_version,
             .unusable = unusable, .make = make_adapted, .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &common, &adapted, NULL};
