/* host.h - an event loop of another library, as the tests of adapters use it.
 *
 * Each file of this folder that is named like an adapter defines the host of
 * its program; adapters.c has the tests.
 */
#ifndef LAWN_TESTS_HOST_H
#define LAWN_TESTS_HOST_H

#include <lawn_loop.h>

typedef void host_ready_fn(int fd, void *arg);

struct host {
    const char *name;

    /* How late its own timers may be by design, in ns: a millisecond if it
     * counts in milliseconds. */
    uint64_t grain;

    /* Whether its wake-ups are sometimes too early, because its clock is
     * coarse. */
    bool early;

    /* Whether its run returns when there is nothing to wait for. */
    bool ends;

    void *(*open)(void);
    void (*close)(void *context);

    /* The adapter's new and free. */
    struct lawn_loop *(*attach)(void *context,
                                const struct lawn_loop_options *options);
    bool (*detach)(struct lawn_loop *loop);
    bool (*free)(struct lawn_loop *loop); /* frees only the loop */

    /* Runs until stop, or until there is nothing to wait for, if it ends
     * then. */
    void (*run)(void *context);
    void (*stop)(void *context); /* in a callback */

    /* Runs one round without waiting; returns true if it handled anything. Not
     * used for hosts that end. */
    bool (*poll)(void *context);

    /* Calls ready when the descriptor is readable, until unwatch. At most one
     * is watched at a time. */
    void (*watch)(void *context, int fd, host_ready_fn *ready, void *arg);
    void (*unwatch)(void *context);
};

extern const struct host host;

#endif
