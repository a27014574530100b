/* uv.c - libuv's timers: a binary heap of linked nodes. */
#include "peer.h"

#include <stdlib.h>
#include <uv.h>

/* libuv counts milliseconds. */
#define TICKS_PER_SECOND 1000u

struct peer {
    uv_loop_t loop;
    uint64_t origin; /* libuv's time 0 */
    uint64_t now;
    contender_fire_fn *fire;
    void *arg;
    size_t fired;
};

static const char *
peer_unusable(void)
{
    return peer_take_clock("libuv.so");
}

static void
set_now(struct peer *peer, uint64_t now)
{
    peer->now = now;
    peer_set_clock(now - peer->origin, TICKS_PER_SECOND);
}

static void *
peer_make(const struct contender_setup *setup)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) {
        return NULL;
    }
    peer->origin = setup->now;
    set_now(peer, setup->now);
    if (uv_loop_init(&peer->loop) != 0) {
        free(peer);
        return NULL;
    }
    peer->loop.data = peer;
    return peer;
}

static void
close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    uv_close(handle, NULL);
}

static void
peer_free(void *self)
{
    struct peer *peer = self;

    uv_walk(&peer->loop, close_handle, NULL);
    (void)uv_run(&peer->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&peer->loop);
    free(peer);
}

static void
on_timer(uv_timer_t *timer)
{
    struct peer *peer = timer->loop->data;

    peer->fired++;
    peer->fire(peer_object(timer), peer->arg);
}

static void
peer_start(void *self, struct object *object, uint64_t ttl)
{
    struct peer *peer = self;
    uv_timer_t *timer = (void *)object->node;

    if (timer->loop == NULL) {
        (void)uv_timer_init(&peer->loop, timer);
    }
    (void)uv_timer_start(timer, on_timer, ttl, 0);
}

static bool
peer_stop(void *self, struct object *object)
{
    uv_timer_t *timer = (void *)object->node;

    (void)self;
    if (timer->loop == NULL || !uv_is_active((uv_handle_t *)timer)) {
        return false;
    }
    (void)uv_timer_stop(timer);
    return true;
}

static size_t
peer_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
         void *arg)
{
    struct peer *peer = self;

    (void)budget;
    set_now(peer, now);
    peer->fire = fire;
    peer->arg = arg;
    peer->fired = 0;
    (void)uv_run(&peer->loop, UV_RUN_NOWAIT);
    return peer->fired;
}

/* uv_backend_timeout() returns at most INT_MAX. */
static uint64_t
peer_next(void *self)
{
    struct peer *peer = self;
    char *first = peer->loop.timer_heap.min;

    if (first == NULL) {
        return UINT64_MAX;
    }
    first -= offsetof(uv_timer_t, heap_node);
    return peer->now + uv_timer_get_due_in((const void *)first);
}

const struct contender CONTENDER_PLUGIN = {
    .abi = CONTENDER_ABI,
    .name = "uv",
    .title = "libuv",
    .about =
        "libuv's timers, a binary heap of linked nodes, ties by the order of "
        "starts: O(log n). A mow is uv_run(UV_RUN_NOWAIT). Its calls of the "
        "clock and of poll are replaced by functions that return at once.",
    .kind = CONTENDER_PEER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO,
    .node = sizeof(uv_timer_t),
    .version = uv_version_string,
    .unusable = peer_unusable,
    .make = peer_make,
    .free = peer_free,
    .start = peer_start,
    .stop = peer_stop,
    .mow = peer_mow,
    .next = peer_next,
};
