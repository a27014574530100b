/* queue_inside.h - what a queue is made of. */
#ifndef QUEUE_INSIDE_H
#define QUEUE_INSIDE_H

#include "event.h"
#include "heap.h"
#include "table.h"

/* A TTL whose events go to the lawn. */
struct queue_known_ttl {
    uint64_t ttl; /* 0: none */
    uint64_t due; /* of its last event */
};

/* Events by time: a lawn for those of equal TTLs, a heap for the others. Nothing is
 * started on the lawn for a time before mown, which is no earlier than its position. */
struct queue_timeline {
    struct lawn *lawn; /* NULL: none yet */
    void *memory;      /* of the lawn and of known */
    size_t size;       /* of that */
    uint64_t mown;
    struct heap heap;
    struct queue_known_ttl *known; /* NULL: all TTLs are */
    size_t sets;                   /* of known, a power of two */
    uint64_t replaced; /* the queue's time when this lawn replaced another */
    uint64_t spare; /* events of any TTL that are still accepted at that time */
    uint64_t refused; /* events since the last time a TTL became known */
};

/* Its ends have NULL neighbours: nothing points to the queue itself. */
struct queue_list {
    struct event *first;
    struct event *last;
    uint64_t count;
};

struct queue {
    struct table table;
    struct queue_timeline waiting;
    struct queue_timeline
        leases; /* there is a lawn once something was leased */
    struct queue_list ready;
    struct heap passed;    /* ready, too: see queue_place_ready() */
    uint64_t passed_until; /* none of those is after that */
    struct queue_list dead;
    uint64_t now;   /* as set by the caller; promoting may put a lawn's ahead */
    uint64_t asked; /* the latest time up to which events were promoted */
    size_t order;   /* of what comes into a heap next */
    size_t bytes;   /* of all but table and heaps */
    uint64_t data;
    uint64_t leased_data; /* of leases */
    uint64_t token;       /* the greatest so far */
    unsigned size;        /* of the lawn of those that wait: QUEUE_SMALL... */
    bool died;            /* see queue_died() */
    size_t blades;        /* as queue_new() was told */
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

/* Gives a timeline that has none a lawn at a position. Returns false if there is no
 * memory. */
bool queue_timeline_open(struct queue *queue, struct queue_timeline *timeline,
                         unsigned size, uint64_t position);

/* Replaces the lawn of those that wait by one of that size, at a position that is not
 * after mown. Returns false if there is no memory. O(events). */
bool queue_resize(struct queue *queue, unsigned size, uint64_t position);
/* The size that the lawn of the leases is to have. */
unsigned queue_leases_size(const struct queue *queue);

/* Puts an event in a timeline, as one of a TTL, or, if that is 0, as one for a time of
 * its own. Returns false if its time is before mown, so that it is due, and there is
 * no memory. */
bool queue_timeline_add(struct queue *queue, struct queue_timeline *timeline,
                        struct event *event, uint64_t ttl, uint64_t time);
uint64_t queue_timeline_count(const struct queue_timeline *timeline);
/* The earliest time of its events; LAWN_NEVER if there are none. */
uint64_t queue_timeline_next(const struct queue_timeline *timeline);

/* Before an event is added, and after one was removed: replaces a lawn that is too
 * small or too large, if there is memory for another. */
void queue_grow(struct queue *queue);
void queue_shrink(struct queue *queue);

/* LISTS: queue_list.c */

/* Adds an event behind another, prev; NULL: at the front. */
void queue_list_add(struct queue_list *list, struct event *event,
                    struct event *prev);
void queue_list_remove(struct queue_list *list, struct event *event);
/* The block of an event in the list was moved. */
void queue_list_moved(struct queue_list *list, struct event *event);
/* As queue_ready(). */
bool queue_list_next(const struct queue_list *list, const void **cursor,
                     struct queue_event *out);

/* PLACES: queue_place.c */

/* Allocates what queue_place_event() needs besides the event's block. Returns false if
 * there is no memory. */
bool queue_reserve_place(struct queue *queue, const struct queue_event *as);
bool queue_reserve_leases(struct queue *queue);

/* Puts an event in its place: its times as in struct queue_event. */
void queue_place_event(struct queue *queue, struct event *event,
                       const struct queue_event *as);
/* Puts an event with those that are ready; */
void queue_place_ready(struct queue *queue, struct event *event, uint64_t time);
/* with those that are leased, or, if the lease has ended, where it goes then; ttl as
 * in struct queue_lease; queue_reserve_leases() came before; */
void queue_place_leased(struct queue *queue, struct event *event, uint64_t ttl,
                        uint64_t end);
/* behind those that are dead. */
void queue_place_dead(struct queue *queue, struct event *event, uint64_t time);
/* The lease of an event, which is in no place now, has ended: puts it with those that
 * are ready or dead. */
void queue_end_lease(struct queue *queue, struct event *event);

/* Takes an event out of its place, but not out of the table. */
void queue_unplace(struct queue *queue, struct event *event);
/* The heap of the place that an event is in. */
struct heap *queue_heap_of(struct queue *queue, const struct event *event);
/* The block of an event was moved: corrects all pointers to it except that of the
 * table. */
void queue_event_moved(struct queue *queue, struct event *event);

/* EVENTS: queue_event.c */

/* Allocates the block of an event with room for these; it is in no place. */
struct event *queue_event_new(struct queue *queue, unsigned flags,
                              size_t id_size, size_t payload_size,
                              size_t owner_size);
void queue_event_free(struct queue *queue, struct event *event);

/* Which parts the block of such an event has: EVENT_ALONE, EVENT_REPEAT,
 * EVENT_TRIES. */
unsigned queue_event_flags(const struct queue_event *like);

/* The time of an event on a lawn: LAWN_NEVER is none. */
static inline uint64_t
queue_event_due(const struct queue_event *as)
{
    return as->due < LAWN_NEVER ? as->due : LAWN_NEVER - 1;
}

/* Creates the block of such an event; it is in no place. Returns NULL if there is no
 * memory. */
struct event *queue_event_create(struct queue *queue,
                                 const struct queue_event *like);

/* Fills *out from an event, but for both TTLs, which are 0. */
void queue_event_read(const struct event *event, struct queue_event *out);

/* Frees the memory of the sink; corrects the pointers if that was moved. */
void queue_sink_free(struct queue *queue);
void queue_sink_moved(struct queue *queue, char *memory);

/* Adds to the number of events in all queues. */
void queue_total_add(enum queue_totals which, int64_t events);

#endif
