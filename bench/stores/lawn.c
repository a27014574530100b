/* lawn.c - lawn_store with default options, through its public header. */
#include "all.h"
#include "lawn_store.h"

struct ours_call {
    store_fire_fn *fire;
    void *arg;
};

static void *
make(const struct contender_setup *setup)
{
    struct lawn_store_options options = {.lawn.now = setup->now};

    return lawn_store_new(&options);
}

static void
destroy(void *self)
{
    lawn_store_free(self);
}

static bool
start(void *self, const void *id, uint64_t ttl, const void *payload)
{
    return lawn_store_start(self, id, STORE_ID, ttl, payload, STORE_PAYLOAD,
                            0) == 0;
}

static bool
stop(void *self, const void *id)
{
    return lawn_store_stop(self, id, STORE_ID);
}

static void
copy_timer(const struct lawn_store_timer *timer, struct store_timer *out)
{
    out->id = timer->id;
    out->payload = timer->payload;
    out->deadline = timer->deadline;
}

static bool
get(void *self, const void *id, struct store_timer *out)
{
    struct lawn_store_timer timer;

    if (!lawn_store_get(self, id, STORE_ID, &timer)) {
        return false;
    }
    copy_timer(&timer, out);
    return true;
}

static bool
touch(void *self, const void *id, uint64_t ttl)
{
    return lawn_store_touch(self, id, STORE_ID, ttl);
}

static void
on_fire(const struct lawn_store_timer *timer, void *arg)
{
    const struct ours_call *call = (const struct ours_call *)arg;
    struct store_timer out;

    copy_timer(timer, &out);
    call->fire(&out, call->arg);
}

static size_t
mow(void *self, uint64_t now, size_t budget, store_fire_fn *fire, void *arg)
{
    struct ours_call call = {fire, arg};

    return lawn_store_mow(self, now, budget, on_fire, &call);
}

static uint64_t
count_timers(void *self)
{
    return lawn_store_count(self);
}

static size_t
count_bytes(void *self)
{
    return lawn_store_bytes(self);
}

const struct store lawn_store_contender = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "lawn",
            .title = "lawn_store",
            .about = "Timers by id, with payload: a table that grows by one "
                     "bucket at a time, and a lawn. Start, stop and fire O(1).",
            .kind = CONTENDER_OURS,
            .flags = CONTENDER_STORE | CONTENDER_EXACT | CONTENDER_ORDERED |
                     CONTENDER_BUDGET,
            .make = make,
            .free = destroy,
        },
    .start = start,
    .stop = stop,
    .get = get,
    .touch = touch,
    .mow = mow,
    .count = count_timers,
    .bytes = count_bytes,
};
