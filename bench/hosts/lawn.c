/* lawn.c - our timers in our own event loop, on epoll and a timerfd: as they are,
 * and as coarse as others have them, with TTLs that count from the time of the
 * round, and whole milliseconds. */
#include "adapted.h"
#include "all.h"

#include <stdlib.h>

static void *
lawn_host_make_with(const struct lawn_loop_options *options)
{
    struct adapted *self = calloc(1, sizeof *self);

    if (self != NULL)
        self->loop = lawn_loop_new(options);
    if (self == NULL || self->loop == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

static void *
lawn_host_make(const struct contender_setup *setup)
{
    (void)setup;
    return lawn_host_make_with(NULL);
}

static void *
lawn_host_make_coarse(const struct contender_setup *setup)
{
    struct lawn_loop_options options = {.lawn = {.resolution = LAWN_LOOP_MS}};

    (void)setup;
    return lawn_host_make_with(&options);
}

static void
lawn_host_start_coarse(void *self, struct object *object, uint64_t ttl)
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
lawn_host_free(void *self)
{
    lawn_loop_free(((struct adapted *)self)->loop);
    free(self);
}

static void
lawn_host_turn(void *self)
{
    (void)lawn_loop_once(((struct adapted *)self)->loop, false);
}

static void
lawn_host_serve(void *self)
{
    (void)lawn_loop_run(((struct adapted *)self)->loop);
}

static void
lawn_host_quit(void *self)
{
    lawn_loop_quit(((struct adapted *)self)->loop);
}

const struct host lawn_host = {
    .face = {ADAPTED_FACE, .name = "lawn", .title = "Lawn's own loop",
             .about = "lawn_loop_run(), on epoll and a timerfd.",
             .make = lawn_host_make, .free = lawn_host_free},
    .turn = lawn_host_turn,
    .serve = lawn_host_serve,
    .quit = lawn_host_quit,
};

const struct host lawn_host_coarse = {
    .face = {.abi = CONTENDER_ABI,
             .name = "lawn-coarse",
             .title = "Lawn's own loop, coarse",
             .about =
                 "The same with the time of the round, as others count, and "
                 "whole milliseconds.",
             .kind = CONTENDER_OURS,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct lawn_loop_timer),
             .make = lawn_host_make_coarse,
             .free = lawn_host_free,
             .start = lawn_host_start_coarse,
             .stop = adapted_stop},
    .turn = lawn_host_turn,
    .serve = lawn_host_serve,
    .quit = lawn_host_quit,
};
