/* queue_place.c - the place of an event in its queue: waiting, leased, ready or
 * dead.
 *
 * A new event is waiting until queue_promote_due() finds it due, even if its
 * time has passed. A due event usually moves to the end of ready. If it is due
 * before the last ready event, it moves to the heap `passed`, and from there to
 * its position when the events before it are requested. */
#include "queue_inside.h"

/* If memory allocation fails, the event is inserted into the list, which may
 * take long. */
void
queue_place_ready(struct queue *queue, struct event *event, uint64_t time)
{
    struct event *prev = queue->ready.last;

    event->flags |= EVENT_READY;
    queue->asked = time > queue->asked ? time : queue->asked;
    if ((prev != NULL && time < prev->link.time) ||
        (queue->passed.count > 0 && time <= queue->passed_until)) {
        if (heap_reserve(&queue->passed, 1)) {
            if (queue->passed.count == 0 || time > queue->passed_until) {
                queue->passed_until = time;
            }
            event->flags |= EVENT_HEAP;
            heap_add(&queue->passed, event, time, queue->order++, queue->now);
            return;
        }
        while (prev != NULL && prev->link.time > time) {
            prev = prev->link.prev;
        }
    }
    event->link.time = time;
    queue_list_add(&queue->ready, event, prev);
}

struct heap *
queue_heap_of(struct queue *queue, const struct event *event)
{
    return event->flags & EVENT_READY    ? &queue->passed
           : event->flags & EVENT_LEASED ? &queue->leases.heap
                                         : &queue->waiting.heap;
}

void
queue_event_moved(struct queue *queue, struct event *event)
{
    if (event->flags & EVENT_HEAP) {
        heap_moved(queue_heap_of(queue, event), event);
    } else if (event->flags & EVENT_DEAD) {
        queue_list_moved(&queue->dead, event);
    } else if (event->flags & EVENT_READY) {
        queue_list_moved(&queue->ready, event);
    } else if (event->flags & EVENT_LEASED) {
        lawn_moved(queue->leases.lawn, &event->timer);
    } else {
        lawn_moved(queue->waiting.lawn, &event->timer);
    }
}

bool
queue_reserve_leases(struct queue *queue)
{
    return queue->leases.lawn != NULL ||
           queue_timeline_open(queue, &queue->leases, queue_leases_size(queue),
                               queue->waiting.mown);
}

/* Only an event with a lease requires memory besides its block. An event for
 * which a heap has no room is placed elsewhere. */
bool
queue_reserve_place(struct queue *queue, const struct queue_event *as)
{
    return as->lease.token == 0 || queue_reserve_leases(queue);
}

static void
clear_leased(struct queue *queue, struct event *event)
{
    event->flags &= (uint8_t)~EVENT_LEASED;
    queue->leased_data -= event_data(event);
    queue_total_add(QUEUE_TOTAL_LEASED, -1);
}

void
queue_place_dead(struct queue *queue, struct event *event, uint64_t time)
{
    event->flags |= EVENT_DEAD;
    event->link.time = time;
    queue_list_add(&queue->dead, event, queue->dead.last);
    queue_total_add(QUEUE_TOTAL_DEAD, 1);
}

void
queue_end_lease(struct queue *queue, struct event *event)
{
    uint64_t end = event_time(event);

    clear_leased(queue, event);
    if (event_spent(event)) {
        queue_place_dead(queue, event, end);
        queue->died = true;
    } else {
        queue_place_ready(queue, event, end);
    }
}

void
queue_place_leased(struct queue *queue, struct event *event, uint64_t ttl,
                   uint64_t end)
{
    end = end < LAWN_NEVER ? end : LAWN_NEVER - 1;
    if (ttl > 0) {
        queue_set_now(queue, ttl < end ? end - ttl : 0);
    }
    event->flags |= EVENT_LEASED;
    queue->leased_data += event_data(event);
    queue_total_add(QUEUE_TOTAL_LEASED, 1);
    if ((event_spent(event) && end <= queue->now) ||
        !queue_timeline_add(queue, &queue->leases, event, ttl, end)) {
        event->link.time = end;
        queue_end_lease(queue, event);
    }
}

void
queue_unplace(struct queue *queue, struct event *event)
{
    if (event->flags & EVENT_HEAP) {
        heap_remove(queue_heap_of(queue, event), event);
    } else if (event->flags & EVENT_DEAD) {
        queue_list_remove(&queue->dead, event);
        queue_total_add(QUEUE_TOTAL_DEAD, -1);
    } else if (event->flags & EVENT_READY) {
        queue_list_remove(&queue->ready, event);
    } else if (event->flags & EVENT_LEASED) {
        (void)lawn_stop(queue->leases.lawn, &event->timer);
    } else {
        (void)lawn_stop(queue->waiting.lawn, &event->timer);
    }
    if (event->flags & EVENT_LEASED) {
        clear_leased(queue, event);
    }
    event->flags &= (uint8_t) ~(EVENT_DEAD | EVENT_READY | EVENT_HEAP);
}

void
queue_place_event(struct queue *queue, struct event *event,
                  const struct queue_event *as)
{
    uint64_t due = queue_event_due(as);

    queue_set_now(queue, as->ttl < due ? due - as->ttl : 0);
    if (event_token(event) != 0) {
        queue_place_leased(queue, event, as->lease.ttl, as->lease.end);
    } else if (event_spent(event)) {
        queue_place_dead(queue, event, due);
    } else if (!queue_timeline_add(queue, &queue->waiting, event,
                                   as->alone ? 0 : as->ttl, due)) {
        queue_place_ready(queue, event, due);
    }
}
