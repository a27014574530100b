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
queue_state_at(const struct queue_event *event, uint64_t now)
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

/* Its block has room for what is new, or another has. NULL: no memory. */
static struct event *
resize_block(struct queue *queue, const struct table_place *place,
             struct event *old, const struct queue_lease *lease,
             struct queue_tries tries)
{
    struct queue_event like;
    struct event *event = old;

    if ((old->flags & EVENT_TRIES) == 0 ||
        old->owner_size != lease->owner.size) {
        queue_event_read(old, &like);
        like.lease = *lease;
        like.tries = tries;
        event = queue_event_create(queue, &like);
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
queue_lease_event(struct queue *queue, struct bytes id,
                  const struct queue_lease *lease, struct queue_tries tries,
                  struct queue_event *out)
{
    struct table_place place;
    struct event *old = table_find(&queue->table, id, &place);
    struct event *event = NULL;

    if (old == NULL) {
        return -ENOENT;
    }
    if (!queue_reserve_leases(queue)) {
        return -ENOMEM;
    }
    event = resize_block(queue, &place, old, lease, tries);
    if (event == NULL) {
        return -ENOMEM;
    }
    queue_unplace(queue, old);
    queue_note_token(queue, lease->token);
    queue_place_leased(queue, event, lease->ttl, lease->end);
    if (old != event) {
        queue_event_free(queue, old); /* the caller's bytes may be its */
    }
    if (out != NULL) {
        queue_event_read(event, out);
    }
    return 0;
}

uint64_t
queue_leased_count(const struct queue *queue)
{
    return queue_timeline_count(&queue->leases);
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
