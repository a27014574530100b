/* queue_lease.c - events that someone has, and those that nobody is given again.
 *
 * What is leased stands in a field of its own until the lease ends, and then goes to
 * ready by that time, or to dead if it was leased as often as it may be. Nothing of
 * that changes an event: what it is follows from what it holds and the time, so
 * there is nothing that replicas would have to be told. */
#include "memory.h"
#include "queue_inside.h"

#include <errno.h>

enum queue_state
queue_state(const struct queue_event *event, uint64_t now)
{
    if (event->lease.token != 0 && event->lease.end > now) {
        return QUEUE_LEASED;
    }
    if (event->tries.most > 0 && event->tries.made >= event->tries.most) {
        return QUEUE_DEAD;
    }
    return event->lease.token == 0 && event->due > now ? QUEUE_WAITING
                                                       : QUEUE_DUE;
}

/* PLACES */

unsigned
queue_lease_size(const struct queue *queue)
{
    return queue->size == QUEUE_LARGE ? QUEUE_BESIDE : queue->size;
}

bool
queue_lease_room(struct queue *queue)
{
    return queue->leases.lawn != NULL ||
           queue_lay(queue, &queue->leases, queue_lease_size(queue),
                     queue->waiting.mown);
}

void
queue_lease_over(struct queue *queue, struct event *event)
{
    event->flags &= (uint8_t)~EVENT_LEASED;
    queue->leased_data -= event_data(event);
    queue_total_add(QUEUE_TOTAL_LEASED, -1);
}

void
queue_dead_add(struct queue *queue, struct event *event, uint64_t time)
{
    event->flags |= EVENT_DEAD;
    event->link.time = time;
    queue_list_add(&queue->dead, event, queue->dead.last);
    queue_total_add(QUEUE_TOTAL_DEAD, 1);
}

void
queue_lease_end(struct queue *queue, struct event *event)
{
    uint64_t end = event_time(event);

    queue_lease_over(queue, event);
    if (event_spent(event)) {
        queue_dead_add(queue, event, end);
        queue->died = true;
    } else {
        queue_ready_add(queue, event, end);
    }
}

void
queue_lease_place(struct queue *queue, struct event *event, uint64_t ttl,
                  uint64_t end)
{
    end = end < LAWN_NEVER ? end : LAWN_NEVER - 1;
    if (ttl > 0) {
        queue_tell(queue, ttl < end ? end - ttl : 0);
    }
    event->flags |= EVENT_LEASED;
    queue->leased_data += event_data(event);
    queue_total_add(QUEUE_TOTAL_LEASED, 1);
    if ((event_spent(event) && end <= queue->now) ||
        !queue_field_add(queue, &queue->leases, event, ttl, end)) {
        event->link.time = end;
        queue_lease_end(queue, event);
    }
}

/* LEASES */

/* Its block has room for what is new, or another has. NULL: no memory. */
static struct event *
queue_lease_block(struct queue *queue, const struct table_place *place,
                  struct event *old, const struct queue_lease *lease,
                  struct queue_tries tries)
{
    struct queue_event like;
    struct event *event = old;

    if ((old->flags & EVENT_TRIES) == 0 ||
        old->owner_size != lease->owner.size) {
        queue_tell_of(old, &like);
        like.lease = *lease;
        like.tries = tries;
        event = queue_event_like(queue, &like);
        if (event != NULL) {
            table_replace(place, event);
        }
        return event;
    }
    if (lease->owner.size > 0) {
        memmove((char *)event + event_head(event->flags) + event->id_size +
                    event->payload_size,
                lease->owner.at, lease->owner.size);
    }
    event_set_tries(event, &(struct event_tries){event_due(event), lease->token,
                                                 tries.made, tries.most});
    return event;
}

int
queue_lease(struct queue *queue, struct bytes id,
            const struct queue_lease *lease, struct queue_tries tries,
            struct queue_event *out)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, id, &place);
    struct event *event;

    if (old == NULL) {
        return -ENOENT;
    }
    if (!queue_lease_room(queue)) {
        return -ENOMEM;
    }
    event = queue_lease_block(queue, &place, old, lease, tries);
    if (event == NULL) {
        return -ENOMEM;
    }
    queue_displace(queue, old);
    queue_tell_token(queue, lease->token);
    queue_lease_place(queue, event, lease->ttl, lease->end);
    if (old != event) {
        queue_event_free(queue, old); /* the caller's bytes may be its */
    }
    if (out != NULL) {
        queue_tell_of(event, out);
    }
    return 0;
}

uint64_t
queue_leased_count(const struct queue *queue)
{
    return queue_field_count(&queue->leases);
}

uint64_t
queue_leased_data(const struct queue *queue)
{
    return queue->leased_data;
}

bool
queue_dead(const struct queue *queue, const void **cursor,
           struct queue_event *out)
{
    return queue_list_next(&queue->dead, cursor, out);
}

bool
queue_died(struct queue *queue)
{
    bool died = queue->died;

    queue->died = false;
    return died;
}

uint64_t
queue_dead_count(const struct queue *queue)
{
    return queue->dead.count;
}
