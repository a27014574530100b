/* evhost.c - unmodified libev: with its own timers, and with lawn's. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <ev.h>
#include <lawn_ev.h>
#include <stdio.h>
#include <stdlib.h>

struct evhost {
    struct adapted adapted;
    struct ev_loop *ev;
};

static const char *
version(void)
{
    static char text[16];

    (void)snprintf(text, sizeof(text), "%d.%d", ev_version_major(),
                   ev_version_minor());
    return text;
}

static const char *
unusable(void)
{
    return peer_take_clock("libev.so");
}

static void *
make_own(const struct contender_setup *setup)
{
    struct evhost *host = calloc(1, sizeof(*host));

    (void)setup;
    peer_give_clock("libev.so");
    if (host != NULL) {
        host->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    }
    if (host == NULL || host->ev == NULL) {
        free(host);
        return NULL;
    }
    ev_set_userdata(host->ev, host);
    return host;
}

static void
free_host(void *self)
{
    struct evhost *host = self;

    lawn_ev_free(host->adapted.loop);
    ev_loop_destroy(host->ev);
    free(host);
    (void)peer_take_clock("libev.so");
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct evhost *host = make_own(setup);

    if (host != NULL) {
        host->adapted.loop = lawn_ev_new(host->ev, NULL);
    }
    return adapted_made(host, free_host);
}

static void
on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    const struct evhost *host = ev_userdata(loop);

    (void)events;
    host->adapted.self.fire(peer_object(timer), host->adapted.self.arg);
}

/* As in ev.c. */
static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    struct evhost *host = self;
    ev_timer *timer = (void *)object->node;

    if (ev_cb(timer) == NULL) {
        ev_timer_init(timer, on_timer, 0., 0.);
    }
    timer->repeat = (double)ttl * 1e-9;
    ev_timer_again(host->ev, timer);
    timer->repeat = 0.;
}

static bool
stop_own(void *self, struct object *object)
{
    struct evhost *host = self;
    ev_timer *timer = (void *)object->node;
    bool active = ev_is_active(timer);

    ev_timer_stop(host->ev, timer);
    return active;
}

static void
turn(void *self)
{
    (void)ev_run(((struct evhost *)self)->ev, EVRUN_NOWAIT);
}

static void
serve(void *self)
{
    (void)ev_run(((struct evhost *)self)->ev, 0);
}

static void
quit(void *self)
{
    ev_break(((struct evhost *)self)->ev, EVBREAK_ALL);
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "ev",
             .title = "libev",
             .about = "ev_timer, in a 4-ary heap.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(ev_timer),
             .version = version,
             .unusable = unusable,
             .make = make_own,
             .free = free_host,
             .start = start_own,
             .stop = stop_own},
    .adapted = "ev+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "ev+lawn", .title = "Lawn in libev",
             .about = "lawn_ev.h.", .version = version, .unusable = unusable,
             .make = make_adapted, .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &adapted, NULL};
