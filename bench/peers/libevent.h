/* libevent.h - libevent's timers, shared by event.c and common.c, which differ
 * in the use of common timeouts.
 *
 * A tick is a second, so that a TTL needs no conversion to a struct timeval. */
#ifndef LAWN_BENCH_LIBEVENT_H
#define LAWN_BENCH_LIBEVENT_H

#include "peer.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

/* The limit of libevent. */
#define COMMON_MAX 256u

struct peer {
    struct event_base *base;
    uint64_t origin; /* libevent's time 0 */
    uint64_t now;
    contender_fire_fn *fire;
    void *arg;
    size_t fired;
    bool failed;
    size_t common_count;
    const struct timeval *common[COMMON_MAX];
};

static const char *
peer_unusable(void)
{
    return peer_take_clock("libevent");
}

static void
peer_free(void *self)
{
    struct peer *peer = self;

    event_base_free(peer->base);
    free(peer);
}

static void *
peer_make(const struct contender_setup *setup)
{
    struct peer *peer = calloc(1, sizeof(*peer));
    struct event_config *config = event_config_new();

    if (peer != NULL && config != NULL) {
        peer->origin = setup->now;
        peer->now = setup->now;
        peer_set_clock(0, 1);
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK |
                                                EVENT_BASE_FLAG_IGNORE_ENV);
        peer->base = event_base_new_with_config(config);
    }
    if (config != NULL) {
        event_config_free(config);
    }
    if (peer != NULL && peer->base != NULL) {
        return peer;
    }
    free(peer);
    return NULL;
}

/* The peer whose mow is running: an event has room for one pointer. */
static struct peer *mowing;

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    mowing->fired++;
    mowing->fire(arg, mowing->arg);
}

static inline void
peer_add(struct peer *peer, struct object *object, const struct timeval *ttl)
{
    struct event *event = (void *)object->node;

    if (event->ev_base == NULL) {
        (void)evtimer_assign(event, peer->base, on_event, object);
    }
    peer_set_clock(peer->now - peer->origin, 1);
    if (evtimer_add(event, ttl) != 0) {
        peer->failed = true;
    }
}

static bool
peer_failed(void *self)
{
    const struct peer *peer = self;

    return peer->failed;
}

static bool
peer_stop(void *self, struct object *object)
{
    struct event *event = (void *)object->node;

    (void)self;
    /* Active: it is due in the current mow, and has not fired yet. */
    if (!(event->ev_evcallback.evcb_flags & (EVLIST_TIMEOUT | EVLIST_ACTIVE))) {
        return false;
    }
    (void)evtimer_del(event);
    return true;
}

static size_t
peer_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct peer *peer = self;

    (void)budget;
    peer->now = now;
    peer->fire = fire;
    peer->arg = arg;
    peer->fired = 0;
    mowing = peer;
    peer_set_clock(now - peer->origin, 1);
    (void)event_base_loop(peer->base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
    return peer->fired;
}

#endif
