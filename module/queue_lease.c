/* queue_lease.c - leased events and dead events.
 *
 * A leased event is in the timeline `leases` until the lease ends. Then it
 * moves to ready, sorted by that time, or to dead if it has no tries left. */
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

/* Returns a block with room for the new data: the old one or a new one. NULL if
 * memory allocation fails. */
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

    if (old == NULL) {
        return -ENOENT;
    }
    if (!queue_reserve_leases(queue)) {
        return -ENOMEM;
    }
    struct event *event = resize_block(queue, &place, old, lease, tries);
    if (event == NULL) {
        return -ENOMEM;
    }
    queue_unplace(queue, old);
    queue_note_token(queue, lease->token);
    queue_place_leased(queue, event, lease->ttl, lease->end);
    if (old != event) {
        /* the caller's bytes may point into it */
        queue_event_free(queue, old);
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
