/* lawn.c - our timers in our own event loop, on epoll and a timerfd. */
#include "adapted.h"
#include "all.h"

#include <stdlib.h>

static void *
lawn_host_make(const struct contender_setup *setup)
{
    struct adapted *self = calloc(1, sizeof *self);

    (void)setup;
    if (self != NULL)
        self->loop = lawn_loop_new(NULL);
    if (self == NULL || self->loop == NULL) {
        free(self);
        return NULL;
    }
    return self;
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
    .face = {.abi = CONTENDER_ABI,
             .name = "lawn",
             .title = "Lawn's own loop",
             .about = "lawn_loop_run(), on epoll and a timerfd.",
             .kind = CONTENDER_OURS,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct lawn_loop_timer),
             .make = lawn_host_make,
             .free = lawn_host_free,
             .start = adapted_start,
             .stop = adapted_stop},
    .turn = lawn_host_turn,
    .serve = lawn_host_serve,
    .quit = lawn_host_quit,
};
