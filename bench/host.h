/* host.h - the interface of contenders that are event loops: with their own
 * timers, or with lawn's timers in them, through an adapter.
 *
 * The face of a host has the members that all contenders have. It has
 * CONTENDER_HOST set, and mow is NULL. start() and stop() are as in
 * contender.h, but TTLs are nanoseconds on the real clock, and a host may round
 * them as its event loop does.
 *
 * A plug-in exports the hosts of one event loop as HOST_PLUGIN, NULL after the
 * last.
 */
#ifndef LAWN_BENCH_HOST_H
#define LAWN_BENCH_HOST_H

#include "contender.h"

struct host {
    struct contender face;

    /* The name of the host with lawn's timers in the same event loop. NULL: it
     * is this host. */
    const char *adapted;

    /* Runs one round without waiting. */
    void (*turn)(void *self);

    /* serve() runs rounds until a callback calls quit(), or until there is
     * nothing to wait for. */
    void (*serve)(void *self);
    void (*quit)(void *self);
};

/* The beginning of the struct that face.make() returns. The benchmark sets the
 * callback. */
struct host_self {
    contender_fire_fn *fire;
    void *arg;
};

/* Returns the host of a face with CONTENDER_HOST. */
static inline const struct host *
host_of(const struct contender *contender)
{
    return (const struct host *)(const void *)contender;
}

#define HOST_PLUGIN lawn_bench_hosts

#endif
