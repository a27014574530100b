/* queue_inside.h - what a queue is made of. */
#ifndef QUEUE_INSIDE_H
#define QUEUE_INSIDE_H

#include "event.h"
#include "heap.h"
#include "table.h"

/* A delay for which events stand in a lawn, and when the last of them is due. */
struct queue_delay {
    uint64_t ttl; /* 0: none */
    uint64_t due;
};

/* Events by time: a lawn for those of equal delays, a heap for the others. Nothing
 * is put in the lawn for a time before mown: that is no earlier than its position. */
struct queue_field {
    struct lawn *lawn; /* NULL: none yet */
    void *ground;      /* the memory that it is in */
    size_t size;       /* of that */
    uint64_t mown;
    struct heap heap;
    struct queue_delay *delays; /* NULL: all there are */
    size_t sets;                /* of QUEUE_WAYS of them */
    uint64_t laid;  /* the queue's time when this lawn replaced another */
    uint64_t spare; /* how many may be put on it at that time, of any delay */
    uint64_t since; /* how many others were put in since one took a place */
};

/* Its ends have NULL neighbours: nothing points to the queue itself. */
struct queue_list {
    struct event *first;
    struct event *last;
    uint64_t count;
};

struct queue {
    struct table table;
    struct queue_field waiting;
    struct queue_field leases; /* there is a lawn once something was leased */
    struct queue_list ready;
    struct heap passed;    /* ready, too: see queue_ready_add() */
    uint64_t passed_until; /* none of those is after that */
    struct queue_list dead;
    uint64_t now;   /* as it was told; a lawn's may be ahead, by ripening */
    uint64_t asked; /* the latest time of a ripening */
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

enum { QUEUE_SMALL, QUEUE_MIDDLE, QUEUE_LARGE, QUEUE_BESIDE };

/* FIELDS: queue_lay.c */

/* Gives a field that has none a lawn at a position. False: no memory. */
bool queue_lay(struct queue *queue, struct queue_field *field, unsigned size,
               uint64_t position);

/* Makes a lawn of a size for what waits, at a position that is not after mown, and
 * moves all that waits there. False: no memory. */
bool queue_relay(struct queue *queue, unsigned size, uint64_t position);

/* Puts an event in a field, as one of a ttl or, with 0, alone. False: its time is
 * before what is mown, so that it is due, and there is no memory. */
bool queue_field_add(struct queue *queue, struct queue_field *field,
                     struct event *event, uint64_t ttl, uint64_t time);
uint64_t queue_field_count(const struct queue_field *field);
/* When the next of them is; LAWN_NEVER: there is none. */
uint64_t queue_field_next(const struct queue_field *field);

/* There is to be one event more, or there is none left: a lawn that does not fit is
 * replaced, if there is memory for another. */
void queue_grow(struct queue *queue);
void queue_shrink(struct queue *queue);

/* PLACES */

void queue_list_add(struct queue_list *list, struct event *event,
                    struct event *prev);
void queue_list_remove(struct queue_list *list, struct event *event);
/* The block of one in the list is another now. */
void queue_list_moved(struct queue_list *list, struct event *event);

/* As queue_ready(). */
bool queue_list_next(const struct queue_list *list, const void **cursor,
                     struct queue_event *out);

/* Notes that an event is due. */
void queue_ready_add(struct queue *queue, struct event *event, uint64_t time);

/* Puts an event that was leased with those, or if that is over where it goes then.
 * ttl as in struct queue_lease. There is a lawn for it. */
void queue_lease_place(struct queue *queue, struct event *event, uint64_t ttl,
                       uint64_t end);
/* No more one of them: it is to have another place. */
void queue_lease_over(struct queue *queue, struct event *event);
/* How large the lawn for leases is to be; sees to it that there is one. False: no
 * memory. */
unsigned queue_lease_size(const struct queue *queue);
bool queue_lease_room(struct queue *queue);
/* Its time has come, and it is in no place: it is ready, or dead. */
void queue_lease_end(struct queue *queue, struct event *event);
/* Puts an event behind those that are dead. */
void queue_dead_add(struct queue *queue, struct event *event, uint64_t time);

/* The heap that an event is in, if it is in one. */
struct heap *queue_heap_of(struct queue *queue, const struct event *event);
/* Takes an event out of its place, but not out of the table. */
void queue_displace(struct queue *queue, struct event *event);

/* EVENTS */

/* The block of an event is another now: tells all but the table. */
void queue_event_moved(struct queue *queue, struct event *event);

/* The memory of an event with room for these; counted, and in no place. */
struct event *queue_event_new(struct queue *queue, unsigned flags,
                              size_t id_size, size_t payload_size,
                              size_t owner_size);
void queue_event_free(struct queue *queue, struct event *event);

/* Another block for an event that is as told; in no place. NULL: no memory. */
struct event *queue_event_like(struct queue *queue,
                               const struct queue_event *like);

/* Tells of an event; ttls are 0. */
void queue_tell_of(const struct event *event, struct queue_event *out);

/* Gives the memory of the sink back; tells that it has been moved. */
void queue_sink_free(struct queue *queue);
void queue_sink_moved(struct queue *queue, char *memory);

/* Notes that there are so many events more, or fewer, in all queues. */
void queue_total_add(enum queue_totals which, int64_t events);

#endif
