/* peer.h - shared by the peers: a clock that advances only when it is set.
 *
 * An event loop reads the system's clock and waits in the system's poll. Here
 * both are replaced: the entries of the library's global offset table for
 * clock_gettime(), epoll_wait() and similar functions are set to functions of
 * peer.c, which return the benchmark's time, or return at once. So a library
 * runs as it was packaged, without any system call while it is measured, and
 * the rest of the program keeps its clock.
 *
 * (Loading it with RTLD_DEEPBIND would do the same with less code, but not for
 * a library that is already loaded, and not under AddressSanitizer.)
 *
 * peer.c is linked into a shared object of its own, peer.so. So peers that use
 * the same library share the clock.
 */
#ifndef LAWN_BENCH_PEER_H
#define LAWN_BENCH_PEER_H

#include "../contender.h"

#include <time.h>

/* The time that all clocks return. All contenders that use a library share it:
 * set it before each call of the library that may read it. */
extern struct timespec peer_clock;

/* Sets the clock to a number of ticks; per_second is a power of ten. */
static inline void
peer_set_clock(uint64_t ticks, uint64_t per_second)
{
    peer_clock.tv_sec = (time_t)(ticks / per_second);
    peer_clock.tv_nsec = (long)(ticks % per_second * (1000000000 / per_second));
}

/* Returns the object of a node. */
static inline struct object *
peer_object(void *node)
{
    return (struct object *)(void *)((char *)node -
                                     offsetof(struct object, node));
}

typedef void peer_fn(void);

struct peer_patch {
    const char *name; /* the function that a library calls */
    peer_fn *instead; /* its replacement */
};

/* Makes a loaded library call other functions. library is the beginning of its
 * file name, such as "libuv.so". Returns how many of the functions the library
 * calls. */
size_t peer_apply(const char *library, const struct peer_patch *patches,
                  size_t count);

/* Gives a loaded library the clock above, and polls that find nothing. Returns
 * NULL, or why that is impossible. */
const char *peer_take_clock(const char *library);

/* Lets a loaded library call the system's clock and poll functions, while it is
 * used as a host or as a crew. */
void peer_give_clock(const char *library);

/* Calls act for each loaded segment of a library that has these PF_ flags. */
void peer_segments(const char *library, unsigned flags,
                   void (*act)(char *start, size_t size, void *arg), void *arg);

/* Makes memory writable, or restores its flags. */
bool peer_protect(void *start, size_t size, unsigned flags);

#endif
