/* tap.c - reports the operations of a contender: see tap.h. */
#include "tap.h"

/* make() has no other way to find its tap. */
static struct tap *tap_wrapped;

static void
report_call(const struct tap *tap, enum tap_kind kind,
            const struct object *object, uint64_t ttl)
{
    struct tap_event event;

    event.now = tap->now;
    event.kind = kind;
    event.id = object->id;
    event.ttl = ttl;
    tap->sink(&event, tap->arg);
}

static void *
make(const struct contender_setup *setup)
{
    struct tap *tap = tap_wrapped;

    tap->now = setup->now;
    tap->self = tap->inner->make(setup);
    return tap->self != NULL ? tap : NULL;
}

static void
destroy(void *self)
{
    struct tap *tap = (struct tap *)self;

    tap->inner->free(tap->self);
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct tap *tap = (struct tap *)self;

    tap->inner->start(tap->self, object, ttl);
    report_call(tap, TAP_START, object, ttl);
}

static bool
has_failed(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->failed(tap->self);
}

static bool
stop(void *self, struct object *object)
{
    struct tap *tap = (struct tap *)self;

    if (!tap->inner->stop(tap->self, object)) {
        return false;
    }
    report_call(tap, TAP_STOP, object, object->ttl);
    return true;
}

static void
on_fire(struct object *object, void *arg)
{
    const struct tap *tap = (const struct tap *)arg;

    report_call(tap, TAP_FIRE, object, object->ttl);
    tap->fire(object, tap->fire_arg);
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct tap *tap = (struct tap *)self;

    tap->now = now;
    tap->fire = fire;
    tap->fire_arg = arg;
    return tap->inner->mow(tap->self, now, budget, on_fire, tap);
}

static uint64_t
next_deadline(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->next(tap->self);
}

static size_t
count_elsewhere(void *self)
{
    struct tap *tap = (struct tap *)self;

    return tap->inner->elsewhere(tap->self);
}

const struct contender *
tap_wrap(struct tap *tap, const struct contender *inner, tap_sink_fn *sink,
         void *arg)
{
    tap->contender = *inner;
    tap->contender.make = make;
    tap->contender.free = destroy;
    tap->contender.start = start;
    tap->contender.failed = inner->failed != NULL ? has_failed : NULL;
    tap->contender.stop = stop;
    tap->contender.mow = mow;
    tap->contender.next = inner->next != NULL ? next_deadline : NULL;
    tap->contender.elsewhere =
        inner->elsewhere != NULL ? count_elsewhere : NULL;
    tap->inner = inner;
    tap->self = NULL;
    tap->sink = sink;
    tap->arg = arg;
    tap_wrapped = tap;
    return &tap->contender;
}
