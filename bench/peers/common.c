/* common.c - libevent's common timeouts: a queue for each TTL that was
 * registered with event_base_init_common_timeout(), at most 256, and the heap
 * for the heads of the queues and all other TTLs. */
#include "libevent.h"

static void *
make_common(const struct contender_setup *setup)
{
    struct peer *peer = peer_make(setup);

    while (peer != NULL && peer->common_count < COMMON_MAX &&
           peer->common_count < setup->ttl_count) {
        const struct timeval wait = {
            .tv_sec = (time_t)setup->ttls[peer->common_count],
        };
        const struct timeval *common =
            event_base_init_common_timeout(peer->base, &wait);

        if (common == NULL) {
            peer_free(peer);
            return NULL;
        }
        peer->common[peer->common_count++] = common;
    }
    return peer;
}

static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    struct peer *peer = self;
    const struct timeval wait = {.tv_sec = (time_t)ttl};

    peer_add(peer, object,
             object->which < peer->common_count ? peer->common[object->which]
                                                : &wait);
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "common",
    .title = "libevent, common timeouts",
    .about = "libevent with a queue for each of up to 256 TTLs registered "
             "beforehand, O(1), and its heap for the rest, O(log n). A mow is "
             "that of the contender event.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT,
    .node = sizeof(struct event),
    .version = event_get_version,
    .unusable = peer_unusable,
    .make = make_common,
    .free = peer_free,
    .start = peer_start,
    .failed = peer_failed,
    .stop = peer_stop,
    .mow = peer_mow,
};
