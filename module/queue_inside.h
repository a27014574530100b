/* queue_inside.h - the internal structures of a queue. */
#ifndef QUEUE_INSIDE_H
#define QUEUE_INSIDE_H

#include "event.h"
#include "heap.h"
#include "table.h"

/* A TTL whose events are accepted by the lawn. */
struct queue_known_ttl {
    uint64_t ttl; /* 0: none */
    uint64_t due; /* due time of its last event */
};

/* Events by time: a lawn for events that share their TTL, a heap for the
 * others. Timers that are started on the lawn have no deadline before `mown`:
 * see set_mown(). */
struct queue_timeline {
    struct lawn *lawn; /* NULL: not created yet */
    void *memory;      /* block of the lawn and of known */
    size_t size;       /* of memory */
    uint64_t mown;
    struct heap heap;
    struct queue_known_ttl *known; /* NULL: all TTLs are known */
    size_t sets;                   /* of known; a power of two */
    uint64_t replaced; /* the queue's time when this lawn replaced another */
    /* while the queue's time is still that one, the lawn accepts this many more
     * events with unknown TTLs */
    uint64_t spare;
    uint64_t refused; /* events since the last time a TTL became known */
};

/* The ends of the list have NULL neighbors, so no event points to the queue. */
struct queue_list {
    struct event *first;
    struct event *last;
    uint64_t count;
};

struct queue {
    struct table table;
    struct queue_timeline waiting;
    struct queue_timeline leases; /* the lawn is created with the first lease */
    struct queue_list ready;
    struct heap passed;    /* also ready: see queue_place_ready() */
    uint64_t passed_until; /* no event in passed is later */
    struct queue_list dead;
    /* as set by the caller; promoting may advance a lawn beyond it */
    uint64_t now;
    uint64_t asked; /* the latest time up to which events were promoted */
    size_t order;   /* number of the next heap entry */
    size_t bytes;   /* all memory except table and heaps */
    uint64_t data;
    uint64_t leased_data; /* of leases */
    uint64_t token;       /* the greatest so far */
    unsigned size;        /* of the lawn of waiting events: QUEUE_SMALL... */
    bool died;            /* see queue_died() */
    size_t blades;        /* as passed to queue_new() */
    uint64_t armed;
    struct late *late;
    struct queue_settings settings;
    struct queue_counts counts;
    struct queue_sink sink; /* its strings are in one block, at `to` */
    struct queue_trouble trouble;
    struct queue_trouble dead_trouble;
};

enum { QUEUE_SMALL, QUEUE_MIDDLE, QUEUE_LARGE, QUEUE_LEASES };

/* TIMELINES: queue_timeline.c */

/* Creates the lawn. Returns false if memory allocation fails. */
bool queue_timeline_open(struct queue *queue, struct queue_timeline *timeline,
                         unsigned size, uint64_t position);

/* Replaces the lawn of waiting events by one of that size. `position` is the
 * new value of mown; no event in the lawn may be due before it. Returns false
 * if memory allocation fails. O(events). */
bool queue_resize(struct queue *queue, unsigned size, uint64_t position);
unsigned queue_leases_size(const struct queue *queue);

/* Adds an event to a timeline. A ttl of 0 means that its time is individual.
 * Returns false if the time is before mown and memory allocation fails. */
bool queue_timeline_add(struct queue *queue, struct queue_timeline *timeline,
                        struct event *event, uint64_t ttl, uint64_t time);
uint64_t queue_timeline_count(const struct queue_timeline *timeline);
/* Returns the earliest time of its events; LAWN_NEVER if there are none. */
uint64_t queue_timeline_next(const struct queue_timeline *timeline);

/* Replace the lawn if it is too small or too large, and if there is memory.
 * queue_grow() is called before an event is added, queue_shrink() after one was
 * removed. */
void queue_grow(struct queue *queue);
void queue_shrink(struct queue *queue);

/* LISTS: queue_list.c */

/* Adds an event after prev, or at the front if prev is NULL. */
void queue_list_add(struct queue_list *list, struct event *event,
                    struct event *prev);
void queue_list_remove(struct queue_list *list, struct event *event);
void queue_list_moved(struct queue_list *list, struct event *event);
/* As queue_ready(). */
bool queue_list_next(const struct queue_list *list, const void **cursor,
                     struct queue_event *out);

/* PLACES: queue_place.c */

/* Allocates the memory that queue_place_event() needs, except the event's
 * block. Returns false on failure. */
bool queue_reserve_place(struct queue *queue, const struct queue_event *as);
bool queue_reserve_leases(struct queue *queue);

/* Adds an event to its place, according to its times in struct queue_event. */
void queue_place_event(struct queue *queue, struct event *event,
                       const struct queue_event *as);
void queue_place_ready(struct queue *queue, struct event *event, uint64_t time);
/* Adds an event to leases or, if the lease has ended, to its next place. ttl is
 * as in struct queue_lease. queue_reserve_leases() must have succeeded. */
void queue_place_leased(struct queue *queue, struct event *event, uint64_t ttl,
                        uint64_t end);
/* Adds an event to the end of dead. */
void queue_place_dead(struct queue *queue, struct event *event, uint64_t time);
/* Ends the lease of an event that is in no place: adds it to ready or dead. */
void queue_end_lease(struct queue *queue, struct event *event);

/* Removes an event from its place, but not from the table. */
void queue_unplace(struct queue *queue, struct event *event);
struct heap *queue_heap_of(struct queue *queue, const struct event *event);
/* Corrects all pointers to a moved event, except that of the table. */
void queue_event_moved(struct queue *queue, struct event *event);

/* EVENTS: queue_event.c */

/* Allocates the block of an event, which is in no place. */
struct event *queue_event_new(struct queue *queue, unsigned flags,
                              size_t id_size, size_t payload_size,
                              size_t owner_size);
void queue_event_free(struct queue *queue, struct event *event);

/* Returns the flags of an event with these properties: EVENT_ALONE,
 * EVENT_REPEAT, EVENT_TRIES. */
unsigned queue_event_flags(const struct queue_event *like);

/* Returns the deadline of an event on a lawn. LAWN_NEVER is not a deadline. */
static inline uint64_t
queue_event_due(const struct queue_event *as)
{
    return as->due < LAWN_NEVER ? as->due : LAWN_NEVER - 1;
}

/* Creates the block of an event with this data. The event is in no place.
 * Returns NULL if memory allocation fails. */
struct event *queue_event_create(struct queue *queue,
                                 const struct queue_event *like);

/* Fills *out from an event; ttl and lease.ttl are 0. */
void queue_event_read(const struct event *event, struct queue_event *out);

/* queue_sink_moved() corrects the pointers into the memory of the sink after it
 * was moved. */
void queue_sink_free(struct queue *queue);
void queue_sink_moved(struct queue *queue, char *memory);

void queue_total_add(enum queue_totals which, int64_t events);

#endif
