/* queue_due.c - moves due events to ready, in the order of their times. */
#include "queue_inside.h"

static void
promote_timer(struct lawn_timer *timer, void *arg)
{
    struct event *event = LAWN_CONTAINER(timer, struct event, timer);

    queue_place_ready(arg, event, event_time(event));
}

static void
end_lease_timer(struct lawn_timer *timer, void *arg)
{
    queue_end_lease(arg, LAWN_CONTAINER(timer, struct event, timer));
}

/* Promotes the first event of the heap of waiting events, or of leases. */
static void
promote_from_heap(struct queue *queue, uint64_t time)
{
    bool waits = heap_next(&queue->waiting.heap) == time;
    struct heap *heap = waits ? &queue->waiting.heap : &queue->leases.heap;
    struct event *event = heap_first(heap);

    heap_remove(heap, event);
    event->flags &= (uint8_t)~EVENT_HEAP;
    if (waits) {
        queue_place_ready(queue, event, time);
    } else {
        queue_end_lease(queue, event);
    }
}

/* Records that a timeline was mown up to `then`, which must not be before
 * lawn_now(). `left`: more events may be due. The lawn would replace a deadline
 * before its mowed time by that time: see lawn_start_as(). The mowed time is
 * neither after `then` nor after the next deadline. So the field `mown` is set
 * to the earlier of these two. */
static void
set_mown(struct queue_timeline *timeline, uint64_t then, bool left)
{
    uint64_t next = left ? lawn_next(timeline->lawn) : LAWN_NEVER;

    lawn_set_now(timeline->lawn, then);
    timeline->mown = next < then ? next : then;
}

/* Promotes at most `budget` events of a lawn that are due by `then`, and
 * returns their number. If it is less than budget, no more are due. A mow also
 * ends, perhaps without a promotion, when it has moved many entries [P8]; then
 * the next one continues. */
static uint64_t
promote_from_lawn(struct queue *queue, struct lawn *lawn, uint64_t then,
                  uint64_t budget, lawn_fire_fn *promote)
{
    uint64_t left = budget;
    bool more = true;

    while (left > 0 && more) {
        uint64_t before = lawn_count(lawn);

        more = lawn_mow(lawn, then, left, promote, queue) == left;
        left -= before - lawn_count(lawn);
    }
    return budget - left;
}

/* Moves at most `budget` events that are due by `then` to `ready`, in the order
 * of time over all lawns and heaps. Of events with the same time, those of the
 * heaps are first: see queue_timeline.c. */
static void
promote_until(struct queue *queue, uint64_t then, uint64_t budget)
{
    struct lawn *waiting = queue->waiting.lawn;
    struct lawn *leases = queue->leases.lawn;
    uint64_t end = leases != NULL ? lawn_next(leases) : LAWN_NEVER;

    while (budget > 0) {
        uint64_t alone = heap_next(&queue->waiting.heap);
        uint64_t other = heap_next(&queue->leases.heap);

        alone = other < alone ? other : alone;
        uint64_t time = end < alone ? end : alone;
        if (time > then || time == LAWN_NEVER) {
            break;
        }
        if (time == alone) {
            if (time > 0) {
                budget -= promote_from_lawn(queue, waiting, time - 1, budget,
                                            promote_timer);
            }
            if (budget > 0) {
                promote_from_heap(queue, time);
                budget--;
            }
        } else {
            budget -=
                promote_from_lawn(queue, waiting, time, budget, promote_timer);
            budget -=
                promote_from_lawn(queue, leases, time, budget, end_lease_timer);
            end = lawn_next(leases);
        }
    }
    budget -= promote_from_lawn(queue, waiting, then, budget, promote_timer);
    set_mown(&queue->waiting, then, budget == 0);
    if (leases != NULL) {
        set_mown(&queue->leases, then, budget == 0);
    }
}

/* Moves events from the heap `passed` to their positions in `ready`, if these
 * are among the first `budget`. */
static void
promote_passed(struct queue *queue, uint64_t budget)
{
    struct event *next = queue->ready.first;
    struct event *event = NULL;

    while (budget > 0 && (event = heap_first(&queue->passed)) != NULL) {
        if (next != NULL && next->link.time <= event->leaf.time) {
            next = next->link.next;
        } else {
            heap_remove(&queue->passed, event);
            event->flags &= (uint8_t)~EVENT_HEAP;
            queue_list_add(&queue->ready, event,
                           next != NULL ? next->link.prev : queue->ready.last);
        }
        budget--;
    }
}

uint64_t
queue_promote_due(struct queue *queue, uint64_t now, uint64_t budget)
{
    now = now > queue->now ? now : queue->now;
    queue->asked = now > queue->asked ? now : queue->asked;
    promote_until(queue, queue->asked, budget);
    promote_passed(queue, budget);
    return queue->ready.count + queue->passed.count;
}

bool
queue_ready(const struct queue *queue, const void **cursor,
            struct queue_event *out)
{
    return queue_list_next(&queue->ready, cursor, out);
}

uint64_t
queue_latest_ready(const struct queue *queue)
{
    uint64_t time = queue->passed.count > 0 ? queue->passed_until : 0;

    return queue->ready.last != NULL && queue->ready.last->link.time > time
               ? queue->ready.last->link.time
               : time;
}

uint64_t
queue_next_waiting(const struct queue *queue)
{
    uint64_t next = queue_timeline_next(&queue->waiting);
    uint64_t end = queue_timeline_next(&queue->leases);

    return end < next ? end : next;
}

static const struct event *
first_ready(const struct queue *queue)
{
    const struct event *event = queue->ready.first;
    const struct event *passed = heap_first(&queue->passed);

    return event == NULL ||
                   (passed != NULL && passed->leaf.time < event->link.time)
               ? passed
               : event;
}

uint64_t
queue_next(struct queue *queue)
{
    const struct event *ready = first_ready(queue);
    uint64_t next = ready != NULL ? event_time(ready) : LAWN_NEVER;
    uint64_t coming = queue_next_waiting(queue);

    return coming < next ? coming : next;
}

bool
queue_first(struct queue *queue, struct queue_event *out)
{
    const struct event *event = queue->dead.first;

    if (event == NULL) {
        uint64_t coming = queue_timeline_next(&queue->waiting);

        event = first_ready(queue);
        if (coming < (event != NULL ? event_time(event) : LAWN_NEVER)) {
            event = coming == heap_next(&queue->waiting.heap)
                        ? heap_first(&queue->waiting.heap)
                        : LAWN_CONTAINER(lawn_next_timer(queue->waiting.lawn),
                                         struct event, timer);
        }
    }
    if (event == NULL) {
        return false;
    }
    queue_event_read(event, out);
    return true;
}
