/* queue_inside.h - what a queue is made of. */
#ifndef QUEUE_INSIDE_H
#define QUEUE_INSIDE_H

#include "event.h"
#include "table.h"

/* What is due before mown is in ready; what is due then is in either. Ends of
 * ready have NULL neighbours: nothing points to the queue itself. */
struct queue {
    struct table table;
    struct lawn *lawn;
    void *ground; /* the memory that the lawn is in */
    size_t ground_size;
    uint64_t now;    /* as it was told; the lawn's may be ahead, by ripening */
    uint64_t mown;   /* above */
    uint64_t asked;  /* the time of the last ripening */
    uint64_t walked; /* steps in ready since then, to put events in, */
    uint64_t
        counted;   /* and since the last relay, to find out what is not due */
    uint64_t told; /* what queue_soonest() told, */
    bool lost;     /* and whether that was taken away */
    struct event *first; /* of ready, */
    struct event *last;
    struct event *near; /* where one was put in elsewhere than at the end, */
    uint64_t ready;     /* how many they are */
    size_t bytes;       /* of all but the table */
    uint64_t data;
    unsigned size; /* of the lawn: QUEUE_SMALL... */
    size_t blades; /* as queue_new() was told */
    uint64_t armed;
    struct late *late;
    struct queue_settings settings;
    struct queue_counts counts;
};

/* Steps in ready before all of it is sent back, beside what there is by
 * queue_steps(); and how many events go there before they are due, at most at a
 * time. */
#define QUEUE_STEPS 64u
#define QUEUE_FEW 16u

enum { QUEUE_SMALL, QUEUE_MIDDLE, QUEUE_LARGE, QUEUE_HUGE };

/* Makes a lawn of a size, at a position that is not after mown, and moves all that
 * waits there. If the position is before mown, all that is ready waits again.
 * False: no memory. */
bool queue_relay(struct queue *queue, unsigned size, uint64_t position);

/* The latest position before mown, which is not 0, that is after neither the queue's
 * time nor due nor what is ready: what is far from its lawn's position has to be
 * sorted once more. */
uint64_t queue_back(const struct queue *queue, uint64_t due);

/* Puts an event in ready, behind those that are not due after it. */
void queue_ready_add(struct queue *queue, struct event *event, uint64_t due);

/* How many steps in ready cost little against a relay. */
uint64_t queue_steps(const struct queue *queue);

/* The block of an event is another now: tells all but the table. */
void queue_event_moved(struct queue *queue, struct event *event);

/* The memory of an event with room for these; counted, and in no place. */
struct event *queue_event_new(struct queue *queue, unsigned flags,
                              size_t id_size, size_t payload_size);
void queue_event_free(struct queue *queue, struct event *event);

/* Tells of an event; ttl is 0. */
void queue_tell_of(const struct event *event, struct queue_event *out);

/* Notes that there are so many events more, or fewer, in all queues. */
void queue_total_add(int64_t events);

#endif
