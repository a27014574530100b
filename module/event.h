/* event.h - an event as a queue keeps it: one block of memory.
 *
 *     struct event │ struct queue_repeat, if it repeats │ id │ payload
 *
 * While it waits it is a timer of the queue's lawn; once it is known to be due
 * it is a link of the list of those. When it is due stands at the same place
 * either way.
 */
#ifndef EVENT_H
#define EVENT_H

#include "queue.h"
#include "sizes.h"

/* It stands in ready. */
#define EVENT_READY 1u
/* As in struct queue_event. */
#define EVENT_ALONE 2u
/* There is a struct queue_repeat. */
#define EVENT_REPEAT 4u

struct event;
struct event_link {
    struct event *next;
    struct event *prev;
    uint64_t due;
};

struct event {
    union {
        struct lawn_timer timer;
        struct event_link ready;
    };
    uint32_t payload_size;
    uint16_t id_size;
    uint8_t flags;
    uint8_t unused;
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct event) == 32,
               "an event has 32 bytes beside id and payload");
_Static_assert(offsetof(struct lawn_timer, deadline) ==
                   offsetof(struct event_link, due),
               "due stands at one place");

static inline uint64_t
event_due(const struct event *event)
{
    return event->flags & EVENT_READY ? event->ready.due
                                      : lawn_due(&event->timer);
}

/* Where id and payload begin. */
static inline size_t
event_head(unsigned flags)
{
    return sizeof(struct event) +
           (flags & EVENT_REPEAT ? sizeof(struct queue_repeat) : 0);
}

static inline struct bytes
event_id(const struct event *event)
{
    const char *at = (const char *)event + event_head(event->flags);

    return (struct bytes){at, event->id_size};
}

static inline struct bytes
event_payload(const struct event *event)
{
    const char *at =
        (const char *)event + event_head(event->flags) + event->id_size;

    return (struct bytes){at, event->payload_size};
}

/* What its block takes. */
static inline size_t
event_bytes(const struct event *event)
{
    return sizes_class(event_head(event->flags) + event->id_size +
                       event->payload_size);
}

#endif
