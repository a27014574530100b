/* lawn.c - workers as in lawn_workers.h, with routing by owner. The threads
 * belong to the benchmark and attach themselves. */
#include "all.h"

#include "lawn_workers.h"

#include <stdlib.h>

struct lawn_crew {
    struct lawn_workers *set;
    unsigned *numbers;   /* the library's numbers, by ours */
    struct object *left; /* timers that remain; chained by their nodes */
    uint64_t left_count;
};

struct lawn_crew_worker {
    struct lawn_crew *crew;
    struct lawn_worker *worker;
    const struct crew_calls *calls;
};

/* The worker of the current thread. */
static _Thread_local struct lawn_crew_worker *lawn_crew_self;

static struct lawn_workers_timer *
timer_of(struct object *object)
{
    return (struct lawn_workers_timer *)(void *)object->node;
}

static void *
make(const struct contender_setup *setup)
{
    struct lawn_crew *crew = calloc(1, sizeof(*crew));

    if (crew == NULL) {
        return NULL;
    }
    crew->numbers = calloc(setup->workers, sizeof(*crew->numbers));
    crew->set = lawn_workers_new(NULL);
    if (crew->numbers == NULL || crew->set == NULL) {
        lawn_workers_free(crew->set);
        free(crew->numbers);
        free(crew);
        return NULL;
    }
    return crew;
}

static void
destroy(void *self)
{
    struct lawn_crew *crew = (struct lawn_crew *)self;

    lawn_workers_free(crew->set);
    free(crew->numbers);
    free(crew);
}

static void *
join(void *self, unsigned number, const struct crew_calls *calls)
{
    struct lawn_crew_worker *worker = calloc(1, sizeof(*worker));

    if (worker == NULL) {
        return NULL;
    }
    worker->crew = (struct lawn_crew *)self;
    worker->worker = lawn_workers_attach(worker->crew->set);
    if (worker->worker == NULL) {
        free(worker);
        return NULL;
    }
    worker->crew->numbers[number] = lawn_worker_number(worker->worker);
    worker->calls = calls;
    lawn_crew_self = worker;
    return worker;
}

static void
leave(void *self)
{
    struct lawn_crew_worker *worker = (struct lawn_crew_worker *)self;

    lawn_worker_detach(worker->worker);
    lawn_crew_self = NULL;
    free(worker);
}

static void
turn(void *self)
{
    (void)lawn_worker_turn(((struct lawn_crew_worker *)self)->worker);
}

static void
serve(void *self)
{
    (void)lawn_worker_run(((struct lawn_crew_worker *)self)->worker);
}

static void
on_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    const struct crew_calls *calls = lawn_crew_self->calls;

    (void)worker;
    calls->fire(LAWN_CONTAINER(timer, struct object, node), calls->arg);
}

static void
prepare(void *self, struct object *object)
{
    (void)self;
    timer_of(object)->fire = on_fire;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    (void)lawn_workers_start(((struct lawn_crew_worker *)self)->crew->set,
                             timer_of(object), ttl);
}

static bool
stop(void *self, struct object *object)
{
    return lawn_workers_stop(((struct lawn_crew_worker *)self)->crew->set,
                             timer_of(object));
}

static void
start_on(void *self, unsigned number, struct object *object, uint64_t ttl)
{
    struct lawn_crew *crew = (struct lawn_crew *)self;

    (void)lawn_workers_start_on(crew->set, timer_of(object), ttl,
                                crew->numbers[number]);
}

static enum crew_stop
stop_on(void *self, unsigned number, struct object *object)
{
    (void)number;
    return lawn_workers_stop(((struct lawn_crew *)self)->set, timer_of(object))
               ? CREW_STOPPED
               : CREW_ENDED;
}

/* The timer is idle, so its memory can be used for the chain. */
static void
keep_idle(struct lawn_workers_timer *timer, void *arg)
{
    struct lawn_crew *crew = (struct lawn_crew *)arg;
    struct object *object = LAWN_CONTAINER(timer, struct object, node);

    *(struct object **)(void *)object->node = crew->left;
    crew->left = object;
}

static void
dismiss(void *self)
{
    struct lawn_crew *crew = (struct lawn_crew *)self;

    crew->left_count += lawn_workers_close(crew->set, 0, keep_idle, crew);
}

static uint64_t
visit_all_left(void *self, contender_fire_fn *tell, void *arg)
{
    struct lawn_crew *crew = (struct lawn_crew *)self;

    dismiss(self); /* in case no worker has served */
    while (crew->left != NULL) {
        struct object *object = crew->left;

        crew->left = *(struct object **)(void *)object->node;
        tell(object, arg);
    }
    return crew->left_count;
}

const struct crew lawn_crew = {
    .face =
        {
            .abi = CONTENDER_ABI,
            .name = "lawn",
            .title = "lawn workers",
            .about = "A lawn per worker that only this worker uses; a start "
                     "from another thread is a message in a lock-free mailbox, "
                     "a stop sets a word of the timer.",
            .kind = CONTENDER_OURS,
            .flags = CONTENDER_CREW | CONTENDER_EXACT,
            .node = sizeof(struct lawn_workers_timer),
            .make = make,
            .free = destroy,
        },
    .prepare = prepare,
    .join = join,
    .leave = leave,
    .turn = turn,
    .serve = serve,
    .dismiss = dismiss,
    .start = start,
    .stop = stop,
    .start_on = start_on,
    .stop_on = stop_on,
    .left = visit_all_left,
};
