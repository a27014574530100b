/* heap2.c - a binary heap of pointers to timers, as in libevent.
 *
 * A timer stores its place in the heap, so that stop and restart find it. Keys
 * are in the timers: every comparison reads another object, which makes a large
 * heap slow. All operations are O(log n); a restart sifts in place.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>
#include <string.h>

#define HEAP2_LEAST 64u

struct heap2_timer {
    uint64_t deadline;
    size_t place; /* counted from 1; 0: idle */
};

struct heap2 {
    struct heap2_timer **timers;
    size_t count;
    size_t room;
    bool failed;
    uint64_t now;
};

static void *
make(const struct contender_setup *setup)
{
    struct heap2 *heap = calloc(1, sizeof(*heap));

    if (heap == NULL) {
        return NULL;
    }
    heap->room = setup->objects > HEAP2_LEAST ? setup->objects : HEAP2_LEAST;
    heap->timers = malloc(heap->room * sizeof(heap->timers[0]));
    if (heap->timers == NULL) {
        free(heap);
        return NULL;
    }
    /* Touched now, so that starts do not include page faults. */
    memset(heap->timers, 0, heap->room * sizeof(heap->timers[0]));
    heap->now = setup->now;
    return heap;
}

static void
destroy(void *self)
{
    struct heap2 *heap = (struct heap2 *)self;

    free(heap->timers);
    free(heap);
}

static void
put(struct heap2 *heap, size_t i, struct heap2_timer *timer)
{
    heap->timers[i] = timer;
    timer->place = i + 1;
}

/* Fills the hole at i with a timer, or with an ancestor that is due later. */
static void
sift_up(struct heap2 *heap, size_t i, struct heap2_timer *timer)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;

        if (heap->timers[parent]->deadline <= timer->deadline) {
            break;
        }
        put(heap, i, heap->timers[parent]);
        i = parent;
    }
    put(heap, i, timer);
}

/* The same downward. */
static void
sift_down(struct heap2 *heap, size_t i, struct heap2_timer *timer)
{
    size_t child = 0;

    while ((child = 2 * i + 1) < heap->count) {
        if (child + 1 < heap->count &&
            heap->timers[child + 1]->deadline < heap->timers[child]->deadline) {
            child++;
        }
        if (timer->deadline <= heap->timers[child]->deadline) {
            break;
        }
        put(heap, i, heap->timers[child]);
        i = child;
    }
    put(heap, i, timer);
}

static void
remove_timer(struct heap2 *heap, struct heap2_timer *timer)
{
    size_t i = timer->place - 1;
    struct heap2_timer *last = heap->timers[--heap->count];

    timer->place = 0;
    if (last == timer) {
        return;
    }
    if (i > 0 && last->deadline < heap->timers[(i - 1) / 2]->deadline) {
        sift_up(heap, i, last);
    } else {
        sift_down(heap, i, last);
    }
}

static bool
grow(struct heap2 *heap)
{
    struct heap2_timer **timers =
        realloc(heap->timers, 2 * heap->room * sizeof(timers[0]));

    if (timers == NULL) {
        return false;
    }
    heap->timers = timers;
    heap->room *= 2;
    return true;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct heap2 *heap = (struct heap2 *)self;
    struct heap2_timer *timer = (struct heap2_timer *)(void *)object->node;
    uint64_t deadline = links_deadline(heap->now, ttl);

    if (timer->place != 0) {
        bool later = deadline > timer->deadline;

        timer->deadline = deadline;
        (later ? sift_down : sift_up)(heap, timer->place - 1, timer);
        return;
    }
    if (heap->count == heap->room && !grow(heap)) {
        heap->failed = true;
        return;
    }
    timer->deadline = deadline;
    sift_up(heap, heap->count++, timer);
}

static bool
has_failed(void *self)
{
    return ((const struct heap2 *)self)->failed;
}

static bool
stop(void *self, struct object *object)
{
    struct heap2_timer *timer = (struct heap2_timer *)(void *)object->node;

    if (timer->place == 0) {
        return false;
    }
    remove_timer((struct heap2 *)self, timer);
    return true;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct heap2 *heap = (struct heap2 *)self;
    size_t fired = 0;

    heap->now = now;
    while (fired < budget && heap->count > 0 &&
           heap->timers[0]->deadline <= now) {
        struct heap2_timer *timer = heap->timers[0];

        remove_timer(heap, timer);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    const struct heap2 *heap = (const struct heap2 *)self;

    return heap->count > 0 ? heap->timers[0]->deadline : LINKS_NEVER;
}

const struct contender heap2_contender = {
    .abi = CONTENDER_ABI,
    .name = "heap2",
    .title = "binary heap",
    .about = "A binary heap of pointers to timers. Start, stop and fire "
             "O(log n); an array that grows.",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_BUDGET,
    .node = sizeof(struct heap2_timer),
    .make = make,
    .free = destroy,
    .start = start,
    .failed = has_failed,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
