/* peer.h - what the peers share: a clock that stands still until it is told.
 *
 * An event loop reads the system's clock and waits in the system's poll. Here
 * both are taken from it: the entries of the library's global offset table
 * that lead to clock_gettime(), epoll_wait() and the like are set to functions
 * of peer.c, which tell the benchmark's time and return at once. So a library
 * runs as it was packaged, without a single system call while it is measured,
 * and the rest of the program keeps its clock.
 *
 * (Loading it with RTLD_DEEPBIND would do the same with less code, but not for
 * a library that is loaded already, and not under AddressSanitizer.)
 *
 * This is a shared object of its own, since two peers may be of one library.
 */
#ifndef LAWN_BENCH_PEER_H
#define LAWN_BENCH_PEER_H

#include "../contender.h"

#include <time.h>

/* What time it is, for all clocks. Time is per library, not per instance: set
 * it before each call that may read it. */
extern struct timespec peer_clock;

/* Ticks of which there are per_second, a power of ten. */
static inline void
peer_set_clock(uint64_t ticks, uint64_t per_second)
{
    peer_clock.tv_sec = (time_t)(ticks / per_second);
    peer_clock.tv_nsec = (long)(ticks % per_second * (1000000000 / per_second));
}

/* The object that a node is part of. */
static inline struct object *
peer_object(void *node)
{
    return (struct object *)(void *)((char *)node -
                                     offsetof(struct object, node));
}

typedef void peer_fn(void);

struct peer_patch {
    const char *name; /* what a library calls */
    peer_fn *instead; /* what it is to call */
};

/* Lets a loaded library call other functions; library is how its file's name
 * begins, such as "libuv.so". Returns how many of the names it calls. */
size_t peer_apply(const char *library, const struct peer_patch *patches,
                  size_t count);

/* Gives a loaded library the clock above, and polls that find nothing; NULL,
 * or why that cannot be done. */
const char *peer_take_clock(const char *library);

/* Gives a loaded library the system's clock and polls, for as long as it is used
 * as a host or as a crew. */
void peer_give_clock(const char *library);

/* Calls act for each loaded part of a library that has these PF_ flags. */
void peer_segments(const char *library, unsigned flags,
                   void (*act)(char *start, size_t size, void *arg), void *arg);

/* Makes memory writable, and undoes that with flags from above. */
bool peer_protect(void *start, size_t size, unsigned flags);

#endif
