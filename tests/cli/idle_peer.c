/* idle_peer.c - a plug-in for the benchmark that does nothing, and is faster
 * than all timers, under the name of a peer. bench.bats builds it. */
#include "contender.h"

#include <stdlib.h>

static void *
idle_make(const struct contender_setup *setup)
{
    (void)setup;
    return malloc(1);
}

static void
idle_start(void *self, struct object *object, uint64_t ttl)
{
    (void)self;
    (void)object;
    (void)ttl;
}

static bool
idle_stop(void *self, struct object *object)
{
    (void)self;
    (void)object;
    return true;
}

static size_t
idle_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    (void)self;
    (void)now;
    (void)budget;
    (void)fire;
    (void)arg;
    return 0;
}

extern const struct contender CONTENDER_PLUGIN;
/* Not exact, so its firings are not checked. */
const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "uv",
    .title = "idle",
    .about = "Does nothing.",
    .kind = CONTENDER_PEER,
    .make = idle_make,
    .free = free,
    .start = idle_start,
    .stop = idle_stop,
    .mow = idle_mow,
};
