/* adapted.h - lawn's timers in an event loop: the code shared by all event
 * loops. */
#ifndef LAWN_BENCH_HOSTS_ADAPTED_H
#define LAWN_BENCH_HOSTS_ADAPTED_H

#include "../host.h"
#include <lawn_loop.h>

/* The beginning of the struct that make() of such a host returns. */
struct adapted {
    struct host_self self;
    struct lawn_loop *loop; /* NULL: use the event loop's own timers */
};

/* Returns the host if it has its loop; otherwise frees it and returns NULL. */
static inline void *
adapted_made(void *self, void (*free_host)(void *self))
{
    const struct adapted *adapted = self;

    if (adapted == NULL || adapted->loop != NULL) {
        return self;
    }
    free_host(self);
    return NULL;
}

static inline void
adapted_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    const struct adapted *adapted = timer->arg;

    (void)loop;
    adapted->self.fire((struct object *)(void *)((char *)timer -
                                                 offsetof(struct object, node)),
                       adapted->self.arg);
}

static inline void
adapted_start(void *self, struct object *object, uint64_t ttl)
{
    struct adapted *adapted = self;
    struct lawn_loop_timer *timer = (void *)object->node;

    if (timer->fire == NULL) {
        timer->fire = adapted_fire;
        timer->arg = adapted;
    }
    lawn_loop_start(adapted->loop, timer, ttl);
}

static inline bool
adapted_stop(void *self, struct object *object)
{
    struct adapted *adapted = self;

    return lawn_loop_stop(adapted->loop, (void *)object->node);
}

/* The members of the face that are the same for all event loops. */
#define ADAPTED_FACE                                                           \
    .abi = CONTENDER_ABI, .kind = CONTENDER_OURS,                              \
    .flags = CONTENDER_HOST | CONTENDER_EXACT,                                 \
    .node = sizeof(struct lawn_loop_timer), .start = adapted_start,            \
    .stop = adapted_stop

#endif
