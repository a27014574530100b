/* event.c - libevent's timers in its heap, the default. */
#include "libevent.h"

static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    const struct timeval wait = {.tv_sec = (time_t)ttl};

    peer_add(self, object, &wait);
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "event",
    .title = "libevent, heap",
    .about = "libevent's timers, a binary heap in an array: O(log n). A mow is "
             "event_base_loop(EVLOOP_NONBLOCK). Its calls of the clock and of "
             "poll are replaced by functions that return at once; locks are "
             "off.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED,
    .node = sizeof(struct event),
    .version = event_get_version,
    .unusable = peer_unusable,
    .make = peer_make,
    .free = peer_free,
    .start = peer_start,
    .failed = peer_failed,
    .stop = peer_stop,
    .mow = peer_mow,
};
