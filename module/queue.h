/* queue.h - the value of a key: events by id, each with a payload and a time at
 * which it is due. No server here: times come in, answers go out.
 *
 *   queue ──► table   id → event
 *         ├─► lawn    events that wait, by the time they are due
 *         └─► ready   events that were found due, in that order, until someone
 *                     takes them; and a few that queue_first() moved there early
 *
 * An event is one block of memory: the timer, what little there is to know of
 * it, id and payload. A plain one has 32 bytes beside id and payload, and about
 * 14 in the table.
 *
 * TIME is the wall clock in milliseconds, and never runs back for a queue: a
 * clock that was set back makes what is pushed meanwhile late, nothing early.
 * Callers tell it by queue_tell(); a delay counts from queue_now().
 *
 * MASTER AND REPLICA: queue_ripen(), queue_first() and queue_soonest() move events
 * to ready, and change nothing that is digested or replicated. Changes that a master decided
 * are done elsewhere by queue_put(), queue_move() and queue_remove() with the
 * times that it had decided on.
 *
 * INVARIANTS, by the numbers that queue_check() cites:
 *   [Q1] an event is in the table under its id, and either runs on the lawn or
 *        stands in ready
 *   [Q2] ready is in the order of due times, none after `mown`
 *   [Q3] what runs on the lawn is due at `mown` or later
 *   [Q4] bytes is what all blocks take, by the rule of sizes.h; data is the sum of
 *        ids and payloads
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "bytes.h"

#include <lawn.h>
#include <stdint.h>
#include <stdio.h>

#define QUEUE_ID_MAX 65535u
#define QUEUE_PAYLOAD_MAX 536870911u
/* Delays, periods and times go up to here. */
#define QUEUE_TIME_MAX (UINT64_C(1) << 53)

/* What only some events have: all zero for a plain one. */
struct queue_repeat {
    uint64_t period; /* 0: the event does not repeat */
    uint64_t times;  /* how often it is still to be delivered; 0: for ever */
    uint64_t missed; /* periods that passed with nobody to take it */
};

/* An event as it is handed in and out. */
struct queue_event {
    struct bytes id;
    struct bytes payload;
    uint64_t due;
    uint64_t ttl; /* due less the queue's time when it was pushed; handed out by
                     queue_each() alone, and there, for what stands in no queue
                     of equal delays, due less the present, or 0 */
    bool alone;   /* pushed for a time of its own, not after a delay: there is
                     no queue of equal delays to stand in */
    struct queue_repeat repeat;
};

enum queue_overflow { QUEUE_REJECT, QUEUE_DROP_OLDEST };

/* What a user may set for a key. All zero is the default. */
struct queue_settings {
    uint64_t max_events; /* 0: any number */
    uint64_t max_bytes;  /* of ids and payloads; 0: any number */
    enum queue_overflow overflow;
    uint64_t resolution; /* due times are rounded up to multiples; 0 as 1 */
    bool paused;
};

/* Since the key was made or loaded. Who does it counts it: a queue cannot tell a
 * push from a load. */
struct queue_counts {
    uint64_t pushed;
    uint64_t fired;   /* taken because they were due */
    uint64_t missed;  /* periods */
    uint64_t dropped; /* to make room */
};

struct queue;

/* A new, empty queue; blades: how many TTLs may have a blade of their own when
 * it has become large. NULL: no memory. */
struct queue *queue_new(uint64_t now, size_t blades);

/* Any thread, if nobody else has it: it may be the server's that frees things
 * in the background. */
void queue_free(struct queue *queue);

/* The same events and settings. NULL: no memory. O(events). */
struct queue *queue_copy(const struct queue *queue);

/* TIME */
void queue_tell(struct queue *queue, uint64_t now);
uint64_t queue_now(const struct queue *queue);
/* When the next event is due, or was; LAWN_NEVER: there is none. O(1), but after the
 * next was taken away as much as there are events for times of their own near it. */
uint64_t queue_next(struct queue *queue);
/* The same for who may ask whenever that was taken away: O(1) on the average. To
 * that end an event may leave its queue of equal delays. */
uint64_t queue_soonest(struct queue *queue);

/* SIZES. queue_bytes() is all its memory; queue_data() that of ids and
 * payloads, as max_bytes counts it. O(1). */
uint64_t queue_count(const struct queue *queue);
size_t queue_bytes(const struct queue *queue);
uint64_t queue_data(const struct queue *queue);
/* How many TTLs have a blade now. O(blades). */
size_t queue_ttls(const struct queue *queue);

struct queue_settings *queue_settings(struct queue *queue);
struct queue_counts *queue_counts(struct queue *queue);
/* No events, and no settings that must be remembered: the key can go. */
bool queue_idle(const struct queue *queue);

/* How late events were taken, in ms. NULL: none was yet. */
struct late;
const struct late *queue_late(const struct queue *queue);
void queue_note_late(struct queue *queue, uint64_t ms);

/* What the server keeps for the queue: until when its wake-up is set. */
uint64_t *queue_armed(struct queue *queue);

/* Puts an event in, or another in the place of one of that id: due and ttl say
 * when; due - ttl is told to the queue as its time. 0; 1 if there was one of the
 * id; -ENOMEM: nothing has changed. O(1) and the bytes. */
int queue_put(struct queue *queue, const struct queue_event *event);

/* The same for several, one after the other, and all or nothing; *added: how many
 * there were not. 0; -ENOMEM: nothing has changed. */
int queue_put_all(struct queue *queue, const struct queue_event *events,
                  size_t count, uint64_t *added);

/* Gives an event another due time and repetition, and keeps the payload.
 * 0; -ENOENT; -ENOMEM. O(1); O(bytes) if it begins or ceases to repeat. */
int queue_move(struct queue *queue, const struct queue_event *event);

/* Another payload, and the same place. 0; -ENOENT; -ENOMEM. */
int queue_update(struct queue *queue, struct bytes id, struct bytes payload);

/* True: it was there. */
bool queue_remove(struct queue *queue, struct bytes id);

/* True: it is there; out (which may be NULL) stays until it is changed. */
bool queue_get(const struct queue *queue, struct bytes id,
               struct queue_event *out);

/* Finds out what is due by now, up to so many events that were not known to be,
 * and returns how many are known to be. Does not tell the queue the time: now may
 * be before that of other calls. O(budget), and once O(events) after a now that is
 * before. */
uint64_t queue_ripen(struct queue *queue, uint64_t now, uint64_t budget);

/* Those known to be due by the time of the last queue_ripen(), in order: *cursor
 * NULL at first. False: no more. The queue is not to be changed in between. */
bool queue_ready(const struct queue *queue, const void **cursor,
                 struct queue_event *out);

/* The due time of the last of those, 0 if there is none; and of the next event
 * that is none of those, LAWN_NEVER if there is none. */
uint64_t queue_latest(const struct queue *queue);
uint64_t queue_coming(const struct queue *queue);

/* The event that is due first, ready or not. False: none. */
bool queue_first(struct queue *queue, struct queue_event *out);

/* All events: those ready first, in order; then as lawn_each() has them. alone
 * tells whether it now stands in no queue of equal delays, for any reason. Put
 * into an empty queue in this order, with its time and what it held before told
 * by queue_restore(), they come out in the order in which they would here.
 * False: visit returned false. */
typedef bool queue_visit_fn(const struct queue_event *event, void *arg);
bool queue_each(const struct queue *queue, queue_visit_fn *visit, void *arg);

/* An empty queue as one that was saved at now, in which nothing is due before
 * first. False: no memory. */
bool queue_restore(struct queue *queue, uint64_t first, uint64_t now);

/* A walk that bears changes between its calls: from cursor 0 on, visits at least
 * count events unless it comes to the end, and returns the next cursor, 0 at
 * the end. What is there all the while is visited once. If visit returns false,
 * the walk ends with a cursor from which what it visited last comes again.
 * Cursors are below 2^32. O(count + 126). */
uint64_t queue_scan(const struct queue *queue, uint64_t cursor, size_t count,
                    queue_visit_fn *visit, void *arg);

/* Lets someone move blocks of memory: moved() returns where a block of that
 * address is now, or NULL if it stays. Goes on from cursor, 0 at first, until
 * stop() or the end, and returns where to go on, 0 at the end. The queue's own
 * block may be moved by whoever has its address; nothing else knows it. The
 * lawn's stays. */
typedef void *queue_moved_fn(void *memory, void *arg);
typedef bool queue_stop_fn(void *arg);
uint64_t queue_defrag(struct queue *queue, uint64_t cursor,
                      queue_moved_fn *moved, queue_stop_fn *stop, void *arg);

/* Events in all queues. Any thread. */
uint64_t queue_total(void);

/* Whether all invariants hold; names what does not on out. O(events). */
bool queue_check(const struct queue *queue, FILE *out);

#endif
