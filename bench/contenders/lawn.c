/* lawn.c - the lawn with default options, through its public header. */
#include "lawn.h"
#include "all.h"

struct ours_call {
    contender_fire_fn *fire;
    void *arg;
};

static struct lawn_timer *
timer_of(struct object *object)
{
    return (struct lawn_timer *)(void *)object->node;
}

static void *
make(const struct contender_setup *setup)
{
    struct lawn_options options = {0};

    options.now = setup->now;
    return lawn_new(&options);
}

static void
destroy(void *self)
{
    lawn_free(self);
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    lawn_start(self, timer_of(object), ttl);
}

static bool
stop(void *self, struct object *object)
{
    return lawn_stop(self, timer_of(object));
}

static void
on_fire(struct lawn_timer *timer, void *arg)
{
    const struct ours_call *call = (const struct ours_call *)arg;

    call->fire((struct object *)(void *)((char *)timer -
                                         offsetof(struct object, node)),
               call->arg);
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct ours_call call;

    call.fire = fire;
    call.arg = arg;
    return lawn_mow(self, now, budget, on_fire, &call);
}

static uint64_t
next_deadline(void *self)
{
    return lawn_next(self);
}

static uint64_t
count_touched(void *self)
{
    struct lawn_counters stats;

    lawn_stats(self, &stats);
    return stats.fires + stats.moved + stats.looked + stats.ahead;
}

const struct contender lawn_contender = {
    .abi = CONTENDER_ABI,
    .name = "lawn",
    .title = "lawn",
    .about = "Queues by TTL, a wheel-like index of their heads, both of fixed "
             "size. Start and stop O(1), no allocation.",
    .kind = CONTENDER_OURS,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct lawn_timer),
    .make = make,
    .free = destroy,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
    .touched = count_touched,
};
