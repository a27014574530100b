/* contender.h - the interface of every timer scheme of the benchmark.
 *
 * The timers of a contender are part of the benchmark's objects, as in the
 * connections of a server. An object is a struct object, followed at
 * object->node by as many bytes as the contender needs. All-zero bytes there
 * are an idle timer.
 *
 * Other kinds of contenders have their own interfaces: stores, with timers by
 * id, in store.h; crews, with timers for several threads, in crew.h; hosts,
 * which are event loops on the real clock, in host.h. Each begins with a struct
 * contender, called its face, which has the members that all contenders have.
 *
 * Contenders of this tree are in contenders/, one file each. Real libraries are
 * in peers/, each built as a shared object that is loaded if it exists.
 *
 * TIME is in ticks, as in lawn.h, and each call means the same as the call of
 * that name there. A mow fires the timers due by now and no others. The
 * callback may start a timer again; it then fires in a later mow, at least one
 * tick later. Time never goes back.
 */
#ifndef LAWN_BENCH_CONTENDER_H
#define LAWN_BENCH_CONTENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Incremented when anything here changes: a plug-in with another number is
 * rejected. */
#define CONTENDER_ABI 6u

/* This part of an object is as small as possible. Objects are padded to 128
 * bytes, or to whole cache lines if the node is larger. */
struct object {
    uint64_t ttl;   /* the TTL of the last or the next start() */
    uint32_t id;    /* index among the objects */
    uint32_t which; /* index of its TTL in setup->ttls, or CONTENDER_ANY */
    _Alignas(16) char node[];
};

#define CONTENDER_ANY UINT32_MAX

/* Facts that a user of the scheme would know beforehand. Contenders may ignore
 * them. */
struct contender_setup {
    uint64_t now;
    size_t objects;       /* maximum number of timers */
    const uint64_t *ttls; /* the TTLs that will be used, if there are few */
    size_t ttl_count;     /* 0: any TTL */
    uint64_t longest;     /* the longest TTL */
    unsigned workers;     /* of a crew */
};

enum contender_kind {
    CONTENDER_OURS,
    CONTENDER_PAPER, /* a scheme compared in the paper, implemented here */
    CONTENDER_PEER,  /* a library in use */
    CONTENDER_FLOOR, /* not a timer store: the lower bound */
};

enum {
    CONTENDER_EXACT = 1,    /* fires at the first mow with now >= deadline */
    CONTENDER_ORDERED = 2,  /* within a mow, in the order of deadlines */
    CONTENDER_FIFO = 4,     /* equal TTL and deadline: in the order of starts */
    CONTENDER_BUDGET = 8,   /* mow() honors its budget; otherwise it ignores
                               it */
    CONTENDER_ONE_TTL = 16, /* all timers must have one TTL */
    CONTENDER_NO_STOP = 32, /* stop() and restarts have no effect */
    CONTENDER_LINEAR = 64,  /* start() is O(n) if TTLs differ */
    CONTENDER_STORE = 128,  /* this is the face of a struct store */
    CONTENDER_WATCHED = 256, /* each call is timed; set only by stopwatch.c */
    CONTENDER_CREW = 512,    /* this is the face of a struct crew */
    CONTENDER_HOST = 1024,   /* this is the face of a struct host */
};

typedef void contender_fire_fn(struct object *object, void *arg);

struct contender {
    unsigned abi;     /* CONTENDER_ABI */
    const char *name; /* one lower-case word */
    const char *title;
    const char *about; /* one or two sentences: what it is, what it costs */
    enum contender_kind kind;
    unsigned flags;
    size_t node;                   /* bytes in the object */
    const char *(*version)(void);  /* of a library; otherwise NULL */
    const char *(*unusable)(void); /* returns why it cannot run here, or
                                      NULL; the pointer is NULL if it always
                                      can */

    /* Returns NULL if there is no memory. */
    void *(*make)(const struct contender_setup *setup);
    void (*free)(void *self);

    /* Starts a timer, or restarts a running one, at now + ttl, where now is the
     * time of the last mow; ttl >= 1. If there is no memory, only the result of
     * failed() changes. */
    void (*start)(void *self, struct object *object, uint64_t ttl);

    /* Returns whether any start has failed. NULL: none ever does. */
    bool (*failed)(void *self);

    /* Returns true if it was running. */
    bool (*stop)(void *self, struct object *object);

    /* Returns the number of timers that fired. */
    size_t (*mow)(void *self, uint64_t now, size_t budget,
                  contender_fire_fn *fire, void *arg);

    /* Returns the earliest deadline, or UINT64_MAX. NULL: not supported. */
    uint64_t (*next)(void *self);

    /* Returns the bytes allocated outside of malloc's heap. NULL: none. */
    size_t (*elsewhere)(void *self);

    /* Returns the number of entries that all calls so far have touched: timers
     * fired, and timers or entries moved or examined. NULL: not counted. */
    uint64_t (*touched)(void *self);
};

/* The parts of the benchmark. Each has its own contenders and workloads. */
enum contender_part { PART_TIMERS, PART_STORES, PART_CREWS, PART_HOSTS };

static inline enum contender_part
contender_part_of(const struct contender *contender)
{
    return (contender->flags & CONTENDER_STORE) != 0  ? PART_STORES
           : (contender->flags & CONTENDER_CREW) != 0 ? PART_CREWS
           : (contender->flags & CONTENDER_HOST) != 0 ? PART_HOSTS
                                                      : PART_TIMERS;
}

/* The symbol that a plug-in exports. */
#define CONTENDER_PLUGIN lawn_bench_contender

#endif
