/* uvhost.c - unmodified libuv: with its own timers, and with lawn's. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <lawn_uv.h>
#include <stdlib.h>
#include <uv.h>

#define NS_PER_MS 1000000u

struct uvhost {
    struct adapted adapted;
    uv_loop_t uv;
};

static const char *
unusable(void)
{
    return peer_take_clock("libuv.so");
}

static void *
make_own(const struct contender_setup *setup)
{
    struct uvhost *host = calloc(1, sizeof(*host));

    (void)setup;
    peer_give_clock("libuv.so");
    if (host == NULL || uv_loop_init(&host->uv) != 0) {
        free(host);
        return NULL;
    }
    host->uv.data = host;
    return host;
}

static void
stop_timer(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (handle->type == UV_TIMER && !uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void
free_host(void *self)
{
    struct uvhost *host = self;

    lawn_uv_free(host->adapted.loop);
    uv_walk(&host->uv, stop_timer, NULL);
    (void)uv_run(&host->uv, UV_RUN_DEFAULT);
    (void)uv_loop_close(&host->uv);
    free(host);
    (void)peer_take_clock("libuv.so");
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct uvhost *host = make_own(setup);

    if (host != NULL) {
        host->adapted.loop = lawn_uv_new(&host->uv, NULL);
    }
    return adapted_made(host, free_host);
}

static void
on_timer(uv_timer_t *timer)
{
    const struct uvhost *host = timer->loop->data;

    host->adapted.self.fire(peer_object(timer), host->adapted.self.arg);
}

static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    struct uvhost *host = self;
    uv_timer_t *timer = (void *)object->node;

    if (timer->loop == NULL) {
        (void)uv_timer_init(&host->uv, timer);
    }
    (void)uv_timer_start(timer, on_timer, ttl / NS_PER_MS, 0);
}

static bool
stop_own(void *self, struct object *object)
{
    uv_timer_t *timer = (void *)object->node;

    (void)self;
    if (timer->loop == NULL || !uv_is_active((uv_handle_t *)timer)) {
        return false;
    }
    (void)uv_timer_stop(timer);
    return true;
}

static void
turn(void *self)
{
    (void)uv_run(&((struct uvhost *)self)->uv, UV_RUN_NOWAIT);
}

static void
serve(void *self)
{
    (void)uv_run(&((struct uvhost *)self)->uv, UV_RUN_DEFAULT);
}

static void
quit(void *self)
{
    uv_stop(&((struct uvhost *)self)->uv);
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "uv",
             .title = "libuv",
             .about = "uv_timer_t, in a heap of pointers.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(uv_timer_t),
             .version = uv_version_string,
             .unusable = unusable,
             .make = make_own,
             .free = free_host,
             .start = start_own,
             .stop = stop_own},
    .adapted = "uv+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "uv+lawn", .title = "Lawn in libuv",
             .about = "lawn_uv.h.", .version = uv_version_string,
             .unusable = unusable, .make = make_adapted, .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &adapted, NULL};
