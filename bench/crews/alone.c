/* alone.c - a lawn per thread, which other threads cannot use. Threads without
 * shared timers would use this. It is a lower bound for local work. */
#include "all.h"

#include "lawn.h"

#include <stdlib.h>

struct alone {
    unsigned count;
    struct lawn *lawns[];
};

struct alone_worker {
    struct lawn *lawn;
    const struct crew_calls *calls;
};

static struct lawn_timer *
timer_of(struct object *object)
{
    return (struct lawn_timer *)(void *)object->node;
}

static void *
make(const struct contender_setup *setup)
{
    struct alone *crew =
        calloc(1, sizeof(*crew) + setup->workers * sizeof(crew->lawns[0]));

    if (crew != NULL) {
        crew->count = setup->workers;
    }
    return crew;
}

static void
destroy(void *self)
{
    struct alone *crew = (struct alone *)self;

    for (unsigned i = 0; i < crew->count; i++) {
        lawn_free(crew->lawns[i]);
    }
    free(crew);
}

static void *
join(void *self, unsigned number, const struct crew_calls *calls)
{
    const struct lawn_options options = {.now = crew_clock()};
    struct alone_worker *worker = calloc(1, sizeof(*worker));

    if (worker == NULL) {
        return NULL;
    }
    worker->calls = calls;
    worker->lawn = lawn_new(&options);
    if (worker->lawn == NULL) {
        free(worker);
        return NULL;
    }
    ((struct alone *)self)->lawns[number] = worker->lawn;
    return worker;
}

static void
leave(void *self)
{
    free(self);
}

static void
on_fire(struct lawn_timer *timer, void *arg)
{
    const struct crew_calls *calls = (const struct crew_calls *)arg;

    calls->fire(LAWN_CONTAINER(timer, struct object, node), calls->arg);
}

static void
turn(void *self)
{
    const struct alone_worker *worker = (const struct alone_worker *)self;
    struct crew_calls calls = *worker->calls;

    lawn_mow(worker->lawn, crew_clock(), SIZE_MAX, on_fire, &calls);
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    lawn_start(((struct alone_worker *)self)->lawn, timer_of(object), ttl);
}

static bool
stop(void *self, struct object *object)
{
    return lawn_stop(((struct alone_worker *)self)->lawn, timer_of(object));
}

struct alone_teller {
    contender_fire_fn *tell;
    void *arg;
};

static bool
visit_left(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct alone_teller *teller = (const struct alone_teller *)arg;

    (void)ttl;
    teller->tell(LAWN_CONTAINER(timer, struct object, node), teller->arg);
    return true;
}

static uint64_t
visit_all_left(void *self, contender_fire_fn *tell, void *arg)
{
    const struct alone *crew = (const struct alone *)self;
    struct alone_teller teller = {tell, arg};
    uint64_t count = 0;

    for (unsigned i = 0; i < crew->count; i++) {
        if (crew->lawns[i] != NULL) {
            count += lawn_count(crew->lawns[i]);
            lawn_each(crew->lawns[i], visit_left, &teller);
        }
    }
    return count;
}

const struct crew alone_crew = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "alone",
            .title = "a lawn per thread",
            .about = "A lawn per thread, which other threads cannot use. "
                     "It runs only T1, as a lower bound.",
            .kind = CONTENDER_FLOOR,
            .flags = CONTENDER_CREW | CONTENDER_EXACT,
            .node = sizeof(struct lawn_timer),
            .make = make,
            .free = destroy,
        },
    .join = join,
    .leave = leave,
    .turn = turn,
    .start = start,
    .stop = stop,
    .left = visit_all_left,
};
