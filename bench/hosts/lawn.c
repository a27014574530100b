/* lawn.c - the lawn's own event loop, on epoll and a timerfd. One host uses it
 * as it is. The other is as coarse as other loops: TTLs count from the time of
 * the round, in whole milliseconds. */
#include "adapted.h"
#include "all.h"

#include <stdlib.h>

static void *
make_with(const struct lawn_loop_options *options)
{
    struct adapted *self = calloc(1, sizeof(*self));

    if (self != NULL) {
        self->loop = lawn_loop_new(options);
    }
    if (self == NULL || self->loop == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

static void *
make(const struct contender_setup *setup)
{
    (void)setup;
    return make_with(NULL);
}

static void *
make_coarse(const struct contender_setup *setup)
{
    struct lawn_loop_options options = {.lawn = {.resolution = LAWN_LOOP_MS}};

    (void)setup;
    return make_with(&options);
}

static void
start_coarse(void *self, struct object *object, uint64_t ttl)
{
    struct adapted *adapted = self;
    struct lawn_loop_timer *timer = (void *)object->node;

    if (timer->fire == NULL) {
        timer->fire = adapted_fire;
        timer->arg = adapted;
    }
    lawn_loop_start_at(adapted->loop, timer,
                       lawn_loop_now(adapted->loop) + ttl);
}

static void
destroy(void *self)
{
    lawn_loop_free(((struct adapted *)self)->loop);
    free(self);
}

static void
turn(void *self)
{
    (void)lawn_loop_once(((struct adapted *)self)->loop, false);
}

static void
serve(void *self)
{
    (void)lawn_loop_run(((struct adapted *)self)->loop);
}

static void
quit(void *self)
{
    lawn_loop_quit(((struct adapted *)self)->loop);
}

const struct host lawn_host = {
    .face = {ADAPTED_FACE, .name = "lawn", .title = "Lawn's own loop",
             .about = "lawn_loop_run(), on epoll and a timerfd.", .make = make,
             .free = destroy},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host lawn_host_coarse = {
    .face = {.abi = CONTENDER_ABI,
             .name = "lawn-coarse",
             .title = "Lawn's own loop, coarse",
             .about = "The same, but as in other loops, TTLs count from the "
                      "time of the round, and deadlines are rounded up to "
                      "milliseconds.",
             .kind = CONTENDER_OURS,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct lawn_loop_timer),
             .make = make_coarse,
             .free = destroy,
             .start = start_coarse,
             .stop = adapted_stop},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};
