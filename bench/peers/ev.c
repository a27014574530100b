/* ev.c - libev's timers: a 4-ary heap with the keys in the array. */
#include "peer.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

/* libev counts seconds in a double, and does not yet fire timers that are due
 * exactly now. So all timers are due half a tick earlier, and rounding has no
 * effect in the first 2^50 ticks. With longer ticks, libev would check for
 * jumps of the clock in each mow. */
#define TICKS_PER_SECOND 1000u
#define EARLIER 0.5

struct peer {
    struct ev_loop *loop;
    uint64_t origin; /* libev's time 0 */
    contender_fire_fn *fire;
    void *arg;
    size_t fired;
};

static const char *
peer_version(void)
{
    static char text[16];

    (void)snprintf(text, sizeof(text), "%d.%d", ev_version_major(),
                   ev_version_minor());
    return text;
}

static const char *
peer_unusable(void)
{
    return peer_take_clock("libev.so");
}

static void *
peer_make(const struct contender_setup *setup)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) {
        return NULL;
    }
    peer->origin = setup->now;
    peer_set_clock(0, TICKS_PER_SECOND);
    peer->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (peer->loop == NULL) {
        free(peer);
        return NULL;
    }
    ev_set_userdata(peer->loop, peer);
    return peer;
}

static void
peer_free(void *self)
{
    struct peer *peer = self;

    ev_loop_destroy(peer->loop);
    free(peer);
}

static void
on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct peer *peer = ev_userdata(loop);

    (void)events;
    peer->fired++;
    peer->fire(peer_object(timer), peer->arg);
}

/* ev_timer_again() moves a running timer within the heap once; stopping and
 * starting it would do so twice. Setting repeat to 0 after that makes it fire
 * once. */
static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    struct peer *peer = self;
    ev_timer *timer = (void *)object->node;

    if (ev_cb(timer) == NULL) {
        ev_timer_init(timer, on_timer, 0., 0.);
    }
    timer->repeat = ((double)ttl - EARLIER) * (1. / TICKS_PER_SECOND);
    ev_timer_again(peer->loop, timer);
    timer->repeat = 0.;
}

static bool
peer_stop(void *self, struct object *object)
{
    struct peer *peer = self;
    ev_timer *timer = (void *)object->node;

    /* Pending: it is due in the current mow, and has not fired yet. */
    if (!ev_is_active(timer) && !ev_is_pending(timer)) {
        return false;
    }
    ev_timer_stop(peer->loop, timer);
    return true;
}

static size_t
peer_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct peer *peer = self;

    (void)budget;
    peer->fire = fire;
    peer->arg = arg;
    peer->fired = 0;
    peer_set_clock(now - peer->origin, TICKS_PER_SECOND);
    (void)ev_run(peer->loop, EVRUN_NOWAIT);
    return peer->fired;
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "ev",
    .title = "libev",
    .about = "libev's timers, a 4-ary heap with the keys in its array: "
             "O(log n). A mow is ev_run(EVRUN_NOWAIT). Its calls of the clock "
             "and of poll are replaced by functions that return at once. A "
             "restart is ev_timer_again().",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED,
    .node = sizeof(ev_timer),
    .version = peer_version,
    .unusable = peer_unusable,
    .make = peer_make,
    .free = peer_free,
    .start = peer_start,
    .stop = peer_stop,
    .mow = peer_mow,
};
