/* queue_event.c - the blocks of events, and the total number of events. */
#include "memory.h"
#include "queue_inside.h"

#include <stdatomic.h>

static _Atomic uint64_t totals[QUEUE_TOTALS];

void
queue_total_add(enum queue_totals which, int64_t events)
{
    atomic_fetch_add_explicit(&totals[which], (uint64_t)events,
                              memory_order_relaxed);
}

uint64_t
queue_total(enum queue_totals which)
{
    return atomic_load_explicit(&totals[which], memory_order_relaxed);
}

struct event *
queue_event_new(struct queue *queue, unsigned flags, size_t id_size,
                size_t payload_size, size_t owner_size)
{
    struct event *event =
        memory_alloc(event_head(flags) + id_size + payload_size + owner_size);

    if (event != NULL) {
        *event = (struct event){.payload_size = (uint32_t)payload_size,
                                .id_size = (uint16_t)id_size,
                                .flags = (uint8_t)flags,
                                .owner_size = (uint8_t)owner_size};
        queue->bytes += event_bytes(event);
        queue->data += event_data(event);
    }
    return event;
}

void
queue_event_free(struct queue *queue, struct event *event)
{
    queue->bytes -= event_bytes(event);
    queue->data -= event_data(event);
    memory_free(event);
}

unsigned
queue_event_flags(const struct queue_event *like)
{
    bool tries =
        like->tries.made > 0 || like->tries.most > 0 || like->lease.token != 0;

    return (like->alone ? EVENT_ALONE : 0) |
           (like->repeat.period != 0 ? EVENT_REPEAT : 0) |
           (tries ? EVENT_TRIES : 0);
}

struct event *
queue_event_create(struct queue *queue, const struct queue_event *like)
{
    unsigned flags = queue_event_flags(like);
    struct bytes owner = {NULL, 0};

    if (like->lease.token != 0) {
        owner = like->lease.owner;
    }
    struct event *event = queue_event_new(queue, flags, like->id.size,
                                          like->payload.size, owner.size);
    if (event == NULL) {
        return NULL;
    }
    char *at = (char *)(event + 1);
    if (flags & EVENT_REPEAT) {
        memcpy(at, &like->repeat, sizeof(like->repeat));
        at += sizeof(like->repeat);
    }
    if (flags & EVENT_TRIES) {
        event_set_tries(event, &(struct event_tries){
                                   queue_event_due(like), like->lease.token,
                                   like->tries.made, like->tries.most});
        at += sizeof(struct event_tries);
    }
    at = event_append(at, like->id);
    at = event_append(at, like->payload);
    (void)event_append(at, owner);
    return event;
}

void
queue_event_read(const struct event *event, struct queue_event *out)
{
    const struct event_tries *tries = event_find_tries(event);

    *out = (struct queue_event){.id = event_id(event),
                                .payload = event_payload(event),
                                .due = event_due(event),
                                .alone = (event->flags & EVENT_ALONE) != 0};
    if (event->flags & EVENT_REPEAT) {
        memcpy(&out->repeat, event + 1, sizeof(out->repeat));
    }
    if (tries != NULL) {
        out->tries = (struct queue_tries){tries->made, tries->most};
        if (tries->token != 0) {
            out->lease = (struct queue_lease){.token = tries->token,
                                              .end = event_time(event),
                                              .owner = event_owner(event)};
        }
    }
}
