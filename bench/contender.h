/* contender.h - what every timer scheme of the benchmark looks like.
 *
 * A contender keeps timers that are part of the benchmark's objects, as a
 * server keeps them in its connections: an object is a struct object, and
 * behind it, at object->node, as many bytes as the contender wants. All-zero
 * bytes there are an idle timer.
 *
 * Stores, which keep their timers by id, have a vtable of their own: store.h;
 * and so have crews, which keep timers for several threads: crew.h; and hosts,
 * which are event loops on the real clock: host.h.
 *
 * Contenders of this tree stand in contenders/, one file each; real libraries
 * in peers/, each built as a shared object that is loaded if it is there.
 *
 * TIME is in ticks, as in lawn.h, and each call has the meaning of its namesake
 * there. A mow fires what is due by now and nothing else; what it fires may be
 * started again from the callback and then waits for a later mow, being due
 * one tick later at the earliest. Time never runs back.
 */
#ifndef LAWN_BENCH_CONTENDER_H
#define LAWN_BENCH_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bumped when anything here changes: a plug-in of another number is refused. */
#define CONTENDER_ABI 5u

/* The user's part of an object is as small as can be; objects are padded to
 * 128 bytes, or to whole cache lines where the node is larger. */
struct object {
    uint64_t ttl;   /* what start() was or will be called with */
    uint32_t id;    /* its place among the objects */
    uint32_t which; /* its TTL's place in setup->ttls, or CONTENDER_ANY */
    _Alignas(16) char node[];
};

#define CONTENDER_ANY UINT32_MAX

/* What a user of the scheme would know beforehand. Nobody has to use it. */
struct contender_setup {
    uint64_t now;
    size_t objects;       /* so many timers at most */
    const uint64_t *ttls; /* the TTLs that will be used, if they are few */
    size_t ttl_count;     /* 0: any */
    uint64_t longest;     /* no TTL is above it */
    unsigned workers;     /* of a crew */
};

enum contender_kind {
    CONTENDER_OURS,
    CONTENDER_PAPER, /* a scheme that the paper compares, written here */
    CONTENDER_PEER,  /* a library that people use */
    CONTENDER_FLOOR, /* no timer store at all: what cannot be beaten */
};

enum {
    CONTENDER_EXACT = 1,    /* fires at the first mow with now >= deadline */
    CONTENDER_ORDERED = 2,  /* within a mow, in the order of deadlines */
    CONTENDER_FIFO = 4,     /* equal TTL and deadline: in the order of starts */
    CONTENDER_BUDGET = 8,   /* mow() honours its budget; else it ignores it */
    CONTENDER_ONE_TTL = 16, /* all timers must have one TTL */
    CONTENDER_NO_STOP = 32, /* stop() and restarts are not for real */
    CONTENDER_LINEAR = 64,  /* start() is O(n) where TTLs differ */
    CONTENDER_STORE = 128,  /* it is the face of a struct store */
    CONTENDER_WATCHED = 256, /* each call is timed: set by stopwatch.c alone */
    CONTENDER_CREW = 512,    /* it is the face of a struct crew */
    CONTENDER_HOST = 1024,   /* it is the face of a struct host */
};

typedef void contender_fire_fn(struct object *object, void *arg);

struct contender {
    unsigned abi;     /* CONTENDER_ABI */
    const char *name; /* one lower-case word */
    const char *title;
    const char *about; /* a sentence or two: what it is, what it costs */
    enum contender_kind kind;
    unsigned flags;
    size_t node;                   /* bytes in the object */
    const char *(*version)(void);  /* of a library; else NULL */
    const char *(*unusable)(void); /* why it cannot run here, or NULL; the
                                      pointer is NULL if it always can */

    /* NULL: no memory. */
    void *(*make)(const struct contender_setup *setup);
    void (*free)(void *self);

    /* Starts a timer, or restarts a running one, at now + ttl, now being that
     * of the last mow; ttl >= 1. If there is no memory for it, nothing changes
     * but what failed() tells. */
    void (*start)(void *self, struct object *object, uint64_t ttl);

    /* Whether any start has failed; NULL: none ever does. */
    bool (*failed)(void *self);

    /* True: it was running. */
    bool (*stop)(void *self, struct object *object);

    /* How many fired. */
    size_t (*mow)(void *self, uint64_t now, size_t budget,
                  contender_fire_fn *fire, void *arg);

    /* The earliest deadline, UINT64_MAX if there is none; NULL: it cannot
     * tell. */
    uint64_t (*next)(void *self);

    /* Bytes that it holds elsewhere than in malloc's heap; NULL: none. */
    size_t (*elsewhere)(void *self);
};

/* The parts of the benchmark: each has contenders and workloads of its own. */
enum contender_part { PART_TIMERS, PART_STORES, PART_CREWS, PART_HOSTS };

static inline enum contender_part
contender_part_of(const struct contender *contender)
{
    return (contender->flags & CONTENDER_STORE) != 0  ? PART_STORES
           : (contender->flags & CONTENDER_CREW) != 0 ? PART_CREWS
           : (contender->flags & CONTENDER_HOST) != 0 ? PART_HOSTS
                                                      : PART_TIMERS;
}

/* What a plug-in exports. */
#define CONTENDER_PLUGIN lawn_bench_contender

#endif
