/* heads.c - queues by TTL, and a heap of their heads, as in Node.js.
 *
 * The time of a queue in the heap is never later than its head's deadline:
 * starts append after the head. A stop of the head leaves the time too early,
 * which is corrected when the queue reaches the top. So only the time of the
 * top ever changes, and a queue need not know its place. Start and stop are
 * O(1), O(log TTLs) for the first timer of a TTL; firing is O(log TTLs).
 */
#include "all.h"
#include "queues.h"

#include <stdlib.h>

struct heads_entry {
    uint64_t time;
    struct queue *queue;
};

struct heads {
    struct queues queues;
    struct heads_entry *heap; /* 4-ary */
    size_t count;
    size_t room;
    bool failed;
    uint64_t now;
};

static void *
make(const struct contender_setup *setup)
{
    struct heads *heads = calloc(1, sizeof(*heads));

    if (heads == NULL) {
        return NULL;
    }
    if (!queues_init(&heads->queues, setup->ttl_count)) {
        free(heads);
        return NULL;
    }
    heads->now = setup->now;
    return heads;
}

static void
destroy(void *self)
{
    struct heads *heads = (struct heads *)self;

    queues_fini(&heads->queues);
    free(heads->heap);
    free(heads);
}

/* Adds a queue for a new TTL to the heap. Returns NULL if there is no
 * memory. */
static struct queue *
add_queue(struct heads *heads, uint64_t ttl, uint64_t time)
{
    struct heads_entry *heap = heads->heap;

    if (heads->count == heads->room) {
        size_t room = heads->room > 0 ? 2 * heads->room : 64;

        heap = realloc(heap, room * sizeof(heap[0]));
        if (heap == NULL) {
            return NULL;
        }
        heads->heap = heap;
        heads->room = room;
    }
    struct queue *queue = queues_add(&heads->queues, ttl);
    if (queue == NULL) {
        return NULL;
    }
    size_t i = heads->count++;
    while (i > 0 && heap[(i - 1) / 4].time > time) {
        heap[i] = heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    heap[i].time = time;
    heap[i].queue = queue;
    return queue;
}

/* Sifts an entry down from the top, which is free. */
static void
sift_down(struct heads *heads, struct heads_entry entry)
{
    struct heads_entry *heap = heads->heap;
    size_t i = 0;
    size_t child = 0;

    while ((child = 4 * i + 1) < heads->count) {
        size_t end = child + 4 < heads->count ? child + 4 : heads->count;
        size_t least = child;

        while (++child < end) {
            least = heap[child].time < heap[least].time ? child : least;
        }
        if (heap[least].time >= entry.time) {
            break;
        }
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = entry;
}

/* Returns the earliest timer, correcting the heap until it is known; NULL if
 * the top is after limit. */
static struct timer *
find_earliest(struct heads *heads, uint64_t limit)
{
    while (heads->count > 0 && heads->heap[0].time <= limit) {
        struct heads_entry top = heads->heap[0];
        struct timer *head = queues_head(top.queue);

        if (links_empty(&top.queue->timers)) {
            queues_drop(&heads->queues, top.queue);
            if (--heads->count > 0) {
                sift_down(heads, heads->heap[heads->count]);
            }
        } else if (head->deadline > top.time) {
            top.time = head->deadline;
            sift_down(heads, top);
        } else {
            return head;
        }
    }
    return NULL;
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct heads *heads = (struct heads *)self;
    struct timer *timer = links_timer(object);
    uint64_t deadline = links_deadline(heads->now, ttl);
    struct queue *queue = queues_find(&heads->queues, ttl)->queue;

    if (queue == NULL && (queue = add_queue(heads, ttl, deadline)) == NULL) {
        heads->failed = true;
        return;
    }
    if (links_running(timer)) {
        links_unlink(&timer->link);
    }
    timer->deadline = deadline;
    links_append(&queue->timers, &timer->link);
}

static bool
has_failed(void *self)
{
    return ((const struct heads *)self)->failed;
}

static bool
stop(void *self, struct object *object)
{
    (void)self;
    return links_stop(NULL, object);
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct heads *heads = (struct heads *)self;
    struct timer *timer = NULL;
    size_t fired = 0;

    heads->now = now;
    while (fired < budget && (timer = find_earliest(heads, now)) != NULL) {
        __builtin_prefetch(timer->link.next);
        links_remove(timer);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    const struct timer *timer =
        find_earliest((struct heads *)self, LINKS_NEVER);

    return timer != NULL ? timer->deadline : LINKS_NEVER;
}

const struct contender heads_contender = {
    .abi = CONTENDER_ABI,
    .name = "heads",
    .title = "lawn with a heap",
    .about = "Queues by TTL in a hash map, and a 4-ary heap of their heads, "
             "similar to Node.js. Start and stop O(1), firing O(log TTLs).",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = destroy,
    .start = start,
    .failed = has_failed,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
