/* event.h - an event as a queue keeps it: one block of memory.
 *
 *     struct event │ queue_repeat, if it repeats │ event_tries, if it has such
 *                  │ id │ payload │ owner
 *
 * While it waits it is a timer of the queue's lawn, while someone has it one of
 * those of the leases; once it is known to be due, or dead, it is a link of the list
 * of those. Beside each of these but the last there is a heap, of which it may be a
 * leaf instead. The time that counts there, which is when the lease ends if there is
 * one, and else when it is due, stands at the same place whatever it is.
 */
#ifndef EVENT_H
#define EVENT_H

#include "queue.h"
#include "sizes.h"

#include <string.h>

/* It is known to be due; if it is in none of these places, it waits. */
#define EVENT_READY 1u
/* As in struct queue_event. */
#define EVENT_ALONE 2u
/* There is a struct queue_repeat. */
#define EVENT_REPEAT 4u
/* There is a struct event_tries. */
#define EVENT_TRIES 8u
/* It is one of the leases. */
#define EVENT_LEASED 16u
/* It stands in dead. */
#define EVENT_DEAD 32u
/* It is in the heap beside the place that the others tell. */
#define EVENT_HEAP 64u

struct event;
struct event_link {
    struct event *next;
    struct event *prev;
    uint64_t time;
};

struct event_leaf {
    size_t at;    /* where its entry is */
    size_t order; /* among those of its time */
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
    uint8_t owner_size; /* room that is kept when nobody has it any more */
};

/* What an event has that was leased, or that may be so many times only. */
struct event_tries {
    uint64_t due;
    uint64_t token; /* 0: nobody has it */
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

/* When its place in the queue is to change. */
static inline uint64_t
event_time(const struct event *event)
{
    return event->link.time;
}

/* NULL: it has none. */
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

/* There are some, and they are these now. */
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

/* Who has it, or had it last and can still say so; 0: nobody. */
static inline uint64_t
event_token(const struct event *event)
{
    const struct event_tries *tries = event_find_tries(event);

    return tries != NULL ? tries->token : 0;
}

/* It was leased as often as it may be. */
static inline bool
event_spent(const struct event *event)
{
    const struct event_tries *tries = event_find_tries(event);

    return tries != NULL && tries->most > 0 && tries->made >= tries->most;
}

/* Where id and payload begin. */
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

/* Of its id and payload, as max_bytes counts them. */
static inline uint64_t
event_data(const struct event *event)
{
    return (uint64_t)event->id_size + event->payload_size;
}

/* What its block takes. */
static inline size_t
event_bytes(const struct event *event)
{
    return sizes_class(event_head(event->flags) + event->id_size +
                       event->payload_size + event->owner_size);
}

/* Copies bytes to the end of what was written of a block; returns the new end. */
static inline char *
event_append(char *at, struct bytes bytes)
{
    if (bytes.size > 0) {
        memcpy(at, bytes.at, bytes.size);
    }
    return at + bytes.size;
}

#endif
