/* tap.c - tells what a contender is asked to do: see tap.h. */
#include "tap.h"

/* make() has no other way to know whose it is. */
static struct tap *tap_wrapped;

static void
tap_tell(const struct tap *tap, enum tap_kind kind, const struct object *object,
         uint64_t ttl)
{
    struct tap_event event;

    event.now = tap->now;
    event.kind = kind;
    event.id = object->id;
    event.ttl = ttl;
    tap->sink(&event, tap->arg);
}

static void *
tap_make(const struct contender_setup *setup)
{
    struct tap *tap = tap_wrapped;

    tap->now = setup->now;
    tap->self = tap->inner->make(setup);
    return tap->self != NULL ? tap : NULL;
}

static void
tap_free(void *self)
{
    struct tap *tap = (struct tap *)self;

    tap->inner->free(tap->self);
}

static void
tap_start(void *self, struct object *object, uint64_t ttl)
{
    struct tap *tap = (struct tap *)self;

    tap->inner->start(tap->self, object, ttl);
    tap_tell(tap, TAP_START, object, ttl);
}

static bool
tap_failed(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->failed(tap->self);
}

static bool
tap_stop(void *self, struct object *object)
{
    struct tap *tap = (struct tap *)self;

    if (!tap->inner->stop(tap->self, object)) {
        return false;
    }
    tap_tell(tap, TAP_STOP, object, object->ttl);
    return true;
}

static void
tap_fire(struct object *object, void *arg)
{
    const struct tap *tap = (const struct tap *)arg;

    tap_tell(tap, TAP_FIRE, object, object->ttl);
    tap->fire(object, tap->fire_arg);
}

static size_t
tap_mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire,
        void *arg)
{
    struct tap *tap = (struct tap *)self;

    tap->now = now;
    tap->fire = fire;
    tap->fire_arg = arg;
    return tap->inner->mow(tap->self, now, budget, tap_fire, tap);
}

static uint64_t
tap_next(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->next(tap->self);
}

static size_t
tap_elsewhere(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->elsewhere(tap->self);
}

const struct contender *
tap_wrap(struct tap *tap, const struct contender *inner, tap_sink_fn *sink,
         void *arg)
{
    tap->contender = *inner;
    tap->contender.make = tap_make;
    tap->contender.free = tap_free;
    tap->contender.start = tap_start;
    tap->contender.failed = inner->failed != NULL ? tap_failed : NULL;
    tap->contender.stop = tap_stop;
    tap->contender.mow = tap_mow;
    tap->contender.next = inner->next != NULL ? tap_next : NULL;
    tap->contender.elsewhere = inner->elsewhere != NULL ? tap_elsewhere : NULL;
    tap->inner = inner;
    tap->self = NULL;
    tap->sink = sink;
    tap->arg = arg;
    tap_wrapped = tap;
    return &tap->contender;
}
