/* paper.c - a lawn as in the paper, with its errors corrected.
 *
 * A hash map from TTLs to queues, and the earliest deadline as a guard: until
 * then a mow does nothing. Then it examines the heads of all queues, and
 * computes the next earliest deadline. Start and stop are O(1); a mow is
 * O(fired + TTLs). docs/DESIGN.md lists the corrections.
 */
#include "all.h"
#include "queues.h"

#include <stdlib.h>

struct paper {
    struct queues queues;
    struct queue **all; /* the queues, in any order */
    size_t count;
    size_t room;
    bool failed;
    uint64_t now;
    struct bound closest;
};

static void
destroy(void *self)
{
    struct paper *paper = (struct paper *)self;

    queues_fini(&paper->queues);
    free(paper->all);
    free(paper);
}

static void *
make(const struct contender_setup *setup)
{
    struct paper *paper = calloc(1, sizeof(*paper));

    if (paper == NULL) {
        return NULL;
    }
    if (!queues_init(&paper->queues, setup->ttl_count)) {
        free(paper);
        return NULL;
    }
    paper->now = setup->now;
    bound_set(&paper->closest, LINKS_NEVER, true);
    return paper;
}

/* Adds a queue for a new TTL. Returns NULL if there is no memory. */
static struct queue *
add_queue(struct paper *paper, uint64_t ttl)
{
    struct queue *queue = NULL;

    if (paper->count == paper->room) {
        size_t room = paper->room > 0 ? 2 * paper->room : 64;
        struct queue **all = realloc(paper->all, room * sizeof(all[0]));

        if (all == NULL) {
            return NULL;
        }
        paper->all = all;
        paper->room = room;
    }
    queue = queues_add(&paper->queues, ttl);
    if (queue != NULL) {
        paper->all[paper->count++] = queue;
    }
    return queue;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct paper *paper = (struct paper *)self;
    struct timer *timer = links_timer(object);
    struct queue *queue = queues_find(&paper->queues, ttl)->queue;

    if (queue == NULL && (queue = add_queue(paper, ttl)) == NULL) {
        paper->failed = true;
        return;
    }
    if (links_running(timer)) {
        bound_stop(&paper->closest, timer->deadline);
        links_unlink(&timer->link);
    }
    timer->deadline = links_deadline(paper->now, ttl);
    bound_start(&paper->closest, timer->deadline);
    links_append(&queue->timers, &timer->link);
}

static bool
has_failed(void *self)
{
    return ((const struct paper *)self)->failed;
}

static bool
stop(void *self, struct object *object)
{
    struct paper *paper = (struct paper *)self;
    struct timer *timer = links_timer(object);

    if (!links_running(timer)) {
        return false;
    }
    bound_stop(&paper->closest, timer->deadline);
    links_remove(timer);
    return true;
}

/* Fires the due timers of a queue. */
static size_t
fire_queue(struct paper *paper, struct queue *queue, size_t budget,
           contender_fire_fn *fire, void *arg)
{
    size_t fired = 0;

    while (fired < budget && !links_empty(&queue->timers)) {
        struct timer *timer = queues_head(queue);

        if (timer->deadline > paper->now) {
            break;
        }
        __builtin_prefetch(timer->link.next);
        links_remove(timer);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct paper *paper = (struct paper *)self;
    uint64_t closest = LINKS_NEVER;
    size_t fired = 0;
    size_t i = 0;

    paper->now = now;
    if (now < paper->closest.time) {
        return 0;
    }
    paper->closest.exact = false;
    /* Callbacks may append queues, but remove none. */
    while (i < paper->count) {
        struct queue *queue = paper->all[i];

        fired += fire_queue(paper, queue, budget - fired, fire, arg);
        if (fired == budget) {
            return fired; /* the guard has not changed */
        }
        if (links_empty(&queue->timers)) {
            queues_drop(&paper->queues, queue);
            paper->all[i] = paper->all[--paper->count];
            continue;
        }
        if (queues_head(queue)->deadline < closest) {
            closest = queues_head(queue)->deadline;
        }
        i++;
    }
    /* No callback can make the first timer of a queue earlier, so `closest` is
     * not too late. */
    bound_set(&paper->closest, closest, fired == 0);
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    struct paper *paper = (struct paper *)self;
    uint64_t closest = LINKS_NEVER;

    if (paper->closest.exact) {
        return paper->closest.time;
    }
    for (size_t i = 0; i < paper->count; i++) {
        struct queue *queue = paper->all[i];

        if (!links_empty(&queue->timers) &&
            queues_head(queue)->deadline < closest) {
            closest = queues_head(queue)->deadline;
        }
    }
    bound_set(&paper->closest, closest, true);
    return closest;
}

const struct contender paper_contender = {
    .abi = CONTENDER_ABI,
    .name = "paper",
    .title = "lawn of the paper",
    .about = "Queues by TTL in a hash map; all queues are checked when a timer "
             "is due. Start and stop O(1), a mow O(fired + TTLs).",
    .kind = CONTENDER_PAPER,
    .flags = CONTENDER_EXACT | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = destroy,
    .start = start,
    .failed = has_failed,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
