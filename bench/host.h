/* host.h - what every contender looks like that is an event loop: with timers of
 * its own, or with ours in it, through an adapter.
 *
 * Its face is what a host has in common with the other contenders; there
 * CONTENDER_HOST is set and mow is NULL. start() and stop() are as in
 * contender.h, but that TTLs are nanoseconds on the real clock, and may be
 * rounded as the event loop does it.
 *
 * A plug-in has the hosts of one event loop, as HOST_PLUGIN, ended by NULL.
 */
#ifndef LAWN_BENCH_HOST_H
#define LAWN_BENCH_HOST_H

#include "contender.h"

struct host {
    struct contender face;

    /* The host with our timers in the same event loop; NULL: it is that. */
    const char *adapted;

    /* A round that does not wait. */
    void (*turn)(void *self);

    /* Rounds until quit(), which a callback calls, or until there is nothing to
     * wait for. */
    void (*serve)(void *self);
    void (*quit)(void *self);
};

/* What face.make() returns begins with: whom to tell what fires, set by the
 * benchmark. */
struct host_self {
    contender_fire_fn *fire;
    void *arg;
};

/* The host that a contender with CONTENDER_HOST is the face of. */
static inline const struct host *
host_of(const struct contender *contender)
{
    return (const struct host *)(const void *)contender;
}

#define HOST_PLUGIN lawn_bench_hosts

#endif
