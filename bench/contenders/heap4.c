/* heap4.c - a 4-ary heap: see heap4.h. */
#include "heap4.h"
#include "all.h"
#include "links.h"

struct heap4_self {
    struct heap4 heap;
    bool failed;
    uint64_t now;
};

static void *
make(const struct contender_setup *setup)
{
    struct heap4_self *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return NULL;
    }
    if (!heap4_init(&self->heap, setup->objects)) {
        free(self);
        return NULL;
    }
    /* Touched now, so that starts do not include page faults. */
    memset(self->heap.entries, 0,
           self->heap.room * sizeof(self->heap.entries[0]));
    self->now = setup->now;
    return self;
}

static void
destroy(void *arg)
{
    struct heap4_self *self = (struct heap4_self *)arg;

    heap4_fini(&self->heap);
    free(self);
}

static void
start(void *arg, struct object *object, uint64_t ttl)
{
    struct heap4_self *self = (struct heap4_self *)arg;

    if (!heap4_set(&self->heap, (struct heap4_timer *)(void *)object->node,
                   links_deadline(self->now, ttl))) {
        self->failed = true;
    }
}

static bool
has_failed(void *self)
{
    return ((const struct heap4_self *)self)->failed;
}

static bool
stop(void *self, struct object *object)
{
    const struct heap4_timer *timer =
        (const struct heap4_timer *)(const void *)object->node;

    if (timer->place == 0) {
        return false;
    }
    heap4_remove(&((struct heap4_self *)self)->heap, timer->place);
    return true;
}

static size_t
mow(void *arg, uint64_t now, size_t budget, contender_fire_fn *fire,
    void *fire_arg)
{
    struct heap4_self *self = (struct heap4_self *)arg;
    size_t fired = 0;

    self->now = now;
    struct heap4_timer *timer = NULL;
    while (fired < budget && (timer = heap4_pop(&self->heap, now)) != NULL) {
        fire(links_object(timer), fire_arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *arg)
{
    const struct heap4 *heap = &((const struct heap4_self *)arg)->heap;

    return heap->end > HEAP4_ROOT ? heap->entries[HEAP4_ROOT].deadline
                                  : LINKS_NEVER;
}

const struct contender heap4_contender = {
    .abi = CONTENDER_ABI,
    .name = "heap4",
    .title = "4-ary heap",
    .about = "A heap of (deadline, pointer) with four children to a cache "
             "line. Start, stop and fire O(log n); an array that grows.",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_BUDGET,
    .node = sizeof(struct heap4_timer),
    .make = make,
    .free = destroy,
    .start = start,
    .failed = has_failed,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
