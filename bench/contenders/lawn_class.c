/* lawn_class.c - the lawn with a class for each TTL.
 *
 * A user of classes has the handle of the class at hand, for example in a
 * global variable. A start finds it with the cheapest lookup that the interface
 * allows: an array by the index of the TTL, object->which, as in the contender
 * common. The object also has the class of its timer: a stop needs it, and so
 * does a restart with another TTL, which first stops the timer. There are
 * classes for the first 64 TTLs of the workload. Timers with other TTLs, and
 * all timers of workloads with any TTL, are started with lawn_start().
 */
#include "lawn_class.h"
#include "all.h"

#include <stdlib.h>

#define CLASSED_MAX 64u

struct classed {
    struct lawn *lawn;
    size_t count;
    struct lawn_class *classes[CLASSED_MAX];
};

/* The owner is the class of the last start, or the lawn if the timer was
 * started with lawn_start(); NULL before the first start. */
struct classed_node {
    struct lawn_timer timer; /* first: shares the address of the node */
    void *owner;
};

struct classed_call {
    contender_fire_fn *fire;
    void *arg;
};

static struct classed_node *
node_of(struct object *object)
{
    return (struct classed_node *)(void *)object->node;
}

static void
destroy(void *self)
{
    struct classed *classed = (struct classed *)self;

    lawn_free(classed->lawn);
    free(classed);
}

static void *
make(const struct contender_setup *setup)
{
    struct classed *classed = calloc(1, sizeof(*classed));
    struct lawn_options options = {0};

    if (classed == NULL) {
        return NULL;
    }
    classed->count =
        setup->ttl_count < CLASSED_MAX ? setup->ttl_count : CLASSED_MAX;
    options.now = setup->now;
    options.classes = classed->count;
    classed->lawn = lawn_new(&options);
    if (classed->lawn == NULL) {
        free(classed);
        return NULL;
    }
    for (size_t i = 0; i < classed->count; i++) {
        classed->classes[i] =
            lawn_class_new(classed->lawn, setup->ttls[i], NULL);
    }
    return classed;
}

static bool
stop(void *self, struct object *object)
{
    struct lawn *lawn = ((struct classed *)self)->lawn;
    struct classed_node *node = node_of(object);

    if (node->owner == lawn) {
        return lawn_stop(lawn, &node->timer);
    }
    return node->owner != NULL && lawn_class_stop(node->owner, &node->timer);
}

/* Starts a timer that has no class, or whose previous start was elsewhere. */
__attribute__((noinline)) static void
start_elsewhere(void *self, struct object *object, struct lawn_class *cls,
                uint64_t ttl)
{
    struct lawn *lawn = ((struct classed *)self)->lawn;
    struct classed_node *node = node_of(object);

    if (cls != NULL || node->owner != lawn) {
        (void)stop(self, object);
    }
    if (cls != NULL) {
        node->owner = cls;
        lawn_class_start(cls, &node->timer);
    } else {
        node->owner = lawn;
        lawn_start(lawn, &node->timer, ttl);
    }
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    const struct classed *classed = (struct classed *)self;
    struct classed_node *node = node_of(object);
    struct lawn_class *cls =
        object->which < classed->count ? classed->classes[object->which] : NULL;

    if (cls == NULL || (node->owner != NULL && node->owner != cls)) {
        start_elsewhere(self, object, cls, ttl);
        return;
    }
    node->owner = cls;
    lawn_class_start(cls, &node->timer);
}

static void
on_fire(struct lawn_timer *timer, void *arg)
{
    const struct classed_call *call = (const struct classed_call *)arg;

    call->fire((struct object *)(void *)((char *)timer -
                                         offsetof(struct object, node)),
               call->arg);
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct classed_call call;

    call.fire = fire;
    call.arg = arg;
    return lawn_mow(((struct classed *)self)->lawn, now, budget, on_fire,
                    &call);
}

static uint64_t
next_deadline(void *self)
{
    return lawn_next(((struct classed *)self)->lawn);
}

static uint64_t
count_touched(void *self)
{
    const struct classed *classed = (struct classed *)self;
    struct lawn_counters stats;

    lawn_stats(classed->lawn, &stats);
    uint64_t touched = stats.fires + stats.moved + stats.looked + stats.ahead;
    for (size_t i = 0; i < classed->count; i++) {
        struct lawn_class_counters counters;

        lawn_class_stats(classed->classes[i], &counters);
        touched += counters.fires;
    }
    return touched;
}

const struct contender lawn_class_contender = {
    .abi = CONTENDER_ABI,
    .name = "lawn-class",
    .title = "lawn with classes",
    .about = "A lawn with a class for each of up to 64 TTLs, found without a "
             "lookup, and lawn's queues and index for the rest.",
    .kind = CONTENDER_OURS,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct classed_node),
    .make = make,
    .free = destroy,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
    .touched = count_touched,
};
