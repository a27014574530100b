/* event.h - an event as a queue stores it: one block of memory.
 *
 *     struct event │ queue_repeat, if it recurs │ event_tries, if it has any
 *                  │ id │ payload │ owner
 *
 * A waiting event is a timer of the queue's lawn, a leased event a timer of the
 * lawn of leases. A due or dead event is a node of a list. Each place except
 * the dead list also has a heap, which may contain the event instead. The
 * relevant time of an event (queue.h) has the same offset in all these cases.
 */
#ifndef EVENT_H
#define EVENT_H

#include "queue.h"
#include "sizes.h"

#include <string.h>

/* Among the due events. An event with none of EVENT_READY, EVENT_LEASED
 * and EVENT_DEAD is waiting. */
#define EVENT_READY 1u
/* As in struct queue_event. */
#define EVENT_ALONE 2u
#define EVENT_REPEAT 4u
#define EVENT_TRIES 8u
/* Among the leased events. */
#define EVENT_LEASED 16u
/* In the list of dead events. */
#define EVENT_DEAD 32u
/* In the heap of the place that the other flags give. */
#define EVENT_HEAP 64u

struct event;
struct event_link {
    struct event *next;
    struct event *prev;
    uint64_t time;
};

struct event_leaf {
    size_t at;    /* index of its heap entry */
    size_t order; /* order among events of the same time */
    uint64_t time;
};

struct event {
    union {
        struct lawn_timer timer;
        struct event_link link;
        struct event_leaf leaf;
    };
    uint32_t payload_size;
    uint16_t id_size;
    uint8_t flags;
    uint8_t owner_size; /* room for the owner, kept after the lease */
};

/* Data of an event that was leased, or whose number of tries is limited. */
struct event_tries {
    uint64_t due;
    uint64_t token; /* 0: not leased */
    uint32_t made;
    uint32_t most;
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct event) == 32,
               "an event has 32 bytes in addition to id and payload");
_Static_assert(offsetof(struct lawn_timer, deadline) ==
                       offsetof(struct event_link, time) &&
                   offsetof(struct event_leaf, time) ==
                       offsetof(struct event_link, time),
               "the time has the same offset in all of them");
_Static_assert(sizeof(struct queue_repeat) % 8 == 0,
               "the fields behind it are aligned");

/* Returns the time by which the event is ordered in its place: see queue.h. */
static inline uint64_t
event_time(const struct event *event)
{
    return event->link.time;
}

/* Returns NULL if it has none. */
static inline const struct event_tries *
event_find_tries(const struct event *event)
{
    const char *at =
        (const char *)(event + 1) +
        (event->flags & EVENT_REPEAT ? sizeof(struct queue_repeat) : 0);

    return event->flags & EVENT_TRIES
               ? (const struct event_tries *)(const void *)at
               : NULL;
}

static inline void
event_set_tries(struct event *event, const struct event_tries *tries)
{
    memcpy((char *)(event + 1) +
               (event->flags & EVENT_REPEAT ? sizeof(struct queue_repeat) : 0),
           tries, sizeof(*tries));
}

static inline uint64_t
event_due(const struct event *event)
{
    const struct event_tries *tries = event_find_tries(event);

    return tries != NULL ? tries->due : event_time(event);
}

/* Returns the token of the latest lease, or 0 if no token is valid. The token
 * can be valid after the end of the lease: see struct queue_lease. */
static inline uint64_t
event_token(const struct event *event)
{
    const struct event_tries *tries = event_find_tries(event);

    return tries != NULL ? tries->token : 0;
}

static inline bool
event_spent(const struct event *event)
{
    const struct event_tries *tries = event_find_tries(event);

    return tries != NULL && tries->most > 0 && tries->made >= tries->most;
}

static inline size_t
event_head(unsigned flags)
{
    return sizeof(struct event) +
           (flags & EVENT_REPEAT ? sizeof(struct queue_repeat) : 0) +
           (flags & EVENT_TRIES ? sizeof(struct event_tries) : 0);
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

static inline struct bytes
event_owner(const struct event *event)
{
    struct bytes payload = event_payload(event);

    return (struct bytes){payload.at + payload.size, event->owner_size};
}

/* Returns the size of id and payload, as max_bytes counts them. */
static inline uint64_t
event_data(const struct event *event)
{
    return (uint64_t)event->id_size + event->payload_size;
}

static inline size_t
event_bytes(const struct event *event)
{
    return sizes_class(event_head(event->flags) + event->id_size +
                       event->payload_size + event->owner_size);
}

/* Appends bytes to a block that is being written. Returns the new end. */
static inline char *
event_append(char *at, struct bytes bytes)
{
    if (bytes.size > 0) {
        memcpy(at, bytes.at, bytes.size);
    }
    return at + bytes.size;
}

#endif
