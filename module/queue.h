/* queue.h - the value of a key: events by id, each with a payload and a due
 * time. It is independent of the server: the caller passes the time.
 *
 *   queue ──► table    id → event
 *         ├─► waiting  waiting events by due time: a lawn for events that share
 *         │            their delay, a heap for those with an individual time or
 *         │            delay
 *         ├─► leases   the same for leased events, by the end of the lease;
 *         │            then they become ready, in the order of that time
 *         ├─► ready    due events in order of time until they are taken; an
 *         │            event that is promoted after events with later times is
 *         │            kept in a heap next to the list until its turn
 *         └─► dead     events whose last allowed lease has ended
 *
 * An event is one block of memory: timer, properties, id and payload. A plain
 * event takes 32 bytes in addition to id and payload, and about 14 in the
 * table; an event in a heap takes 12 more.
 *
 * ORDER: events are delivered by due time. Events with the same due time keep
 * the order of their pushes if they have the same delay, or if all have an
 * individual time. If memory allocation fails, this order may change. If an
 * event has a lease token, the end of the lease counts instead of the due time.
 * The time that counts is the event's relevant time.
 *
 * TIME is the wall clock in milliseconds, and never decreases for a queue. If
 * the clock is set back, events pushed meanwhile are late, and none is early.
 * The caller sets it with queue_set_now(); a delay counts from queue_now().
 *
 * MASTER AND REPLICA: queue_promote_due() moves events to ready, which changes
 * nothing that is part of a digest or replicated. A replica repeats the
 * master's changes with the master's times.
 *
 * INVARIANTS, with the numbers that queue_check() reports:
 *   [Q1] an event is in the table under its id, and in exactly one place:
 *        waiting, ready, leases or dead. In a place that has a heap, it is in
 *        the heap or in the lawn or list, not in both
 *   [Q2] ready is sorted by relevant time. In ready and in the heap next to it,
 *        no relevant time is after the latest time up to which events were
 *        promoted
 *   [Q3] timers of a lawn are due at or after the time up to which it was mown
 *   [Q4] bytes is the size of all blocks, by the rule of sizes.h; data is the
 *        sum of ids and payloads, leased_data that of the events in leases
 *   [Q5] an event with a token is not waiting, one without is not in leases
 *   [Q6] a dead event has used up its tries; a ready or waiting one has not
 *   [Q7] without a token, the relevant time is the due time
 *   [Q8] no event has a token greater than the queue's
 *   [Q9] no heap entry precedes its parent, each event knows the index of its
 *        entry, and there is memory for all entries
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "bytes.h"

#include <lawn.h>
#include <stdint.h>
#include <stdio.h>

#define QUEUE_ID_MAX 65535u
#define QUEUE_PAYLOAD_MAX 536870911u
#define QUEUE_OWNER_MAX 255u
/* Limit of the names of keys and channels. */
#define QUEUE_NAME_MAX 65535u
/* Limit of delays, periods and times. */
#define QUEUE_TIME_MAX (UINT64_C(1) << 53)

/* The recurrence of an event; all zero for an event that does not recur. */
struct queue_repeat {
    uint64_t period; /* 0: the event does not recur */
    uint64_t times;  /* remaining deliveries; 0: unlimited */
    uint64_t missed; /* periods that passed without a delivery */
};

struct queue_tries {
    uint32_t made;
    uint32_t most; /* 0: unlimited */
};

/* The lease of an event; token 0: none. A token is valid until the event is
 * leased again or moved. From `end` on, other clients can lease the event. */
struct queue_lease {
    uint64_t token;
    uint64_t end;
    /* length of the lease, or 0. On output it is set by queue_each() only: 0
     * for an event on no blade */
    uint64_t ttl;
    struct bytes owner; /* at most QUEUE_OWNER_MAX bytes */
};

/* An event as passed to and returned by the functions below. */
struct queue_event {
    struct bytes id;
    struct bytes payload;
    uint64_t due;
    /* due minus the queue's time at the push. On output only queue_each() sets
     * it; for an event on no blade it is due minus the current time, at least
     * 0 */
    uint64_t ttl;
    /* has an individual time, not a delay: it is on no blade */
    bool alone;
    struct queue_repeat repeat;
    struct queue_tries tries;
    struct queue_lease lease;
};

/* Returns the state of an event at a time. An event that is not leased and has
 * no tries left is dead until it is moved, replaced or removed. */
enum queue_state { QUEUE_WAITING, QUEUE_DUE, QUEUE_LEASED, QUEUE_DEAD };
enum queue_state queue_state_at(const struct queue_event *event, uint64_t now);

enum queue_overflow { QUEUE_REJECT, QUEUE_DROP_OLDEST };

/* The settings of a key. All zero is the default. */
struct queue_settings {
    uint64_t max_events; /* 0: unlimited */
    uint64_t max_bytes;  /* of ids and payloads; 0: unlimited */
    enum queue_overflow overflow;
    /* due times are rounded up to a multiple; 0 means 1 */
    uint64_t resolution;
    bool paused;
    uint64_t tries; /* default for pushes without TRIES; 0: unlimited */
    /* default length of a lease, in ms; 0: the default of all keys */
    uint64_t lease;
};

/* Where the server delivers due and dead events. */
enum queue_sink_kind {
    QUEUE_SINK_NONE,
    QUEUE_SINK_STREAM,
    QUEUE_SINK_LIST,
    QUEUE_SINK_PUBLISH,
    QUEUE_SINK_SPUBLISH,
    QUEUE_SINKS
};
struct queue_sink {
    enum queue_sink_kind kind;
    struct bytes to;   /* a key or a channel */
    uint64_t maxlen;   /* approximate length of a stream; 0: unlimited */
    struct bytes dead; /* a stream; empty: dead events stay in the queue */
};

/* The error state of a sink. Neither saved nor replicated. */
struct queue_trouble {
    uint64_t again; /* time of the next attempt; 0: no error */
    uint64_t delay; /* the last delay before an attempt, in ms */
    char text[96];  /* the last error */
};

/* Counters since the key was created or loaded. The caller increments them. */
struct queue_counts {
    uint64_t pushed;
    uint64_t fired;   /* delivered because they were due */
    uint64_t missed;  /* periods */
    uint64_t dropped; /* because the queue was full */
    uint64_t leased;
    uint64_t redelivered; /* leased again */
    uint64_t acked;
    uint64_t dead;        /* delivered to the dead letter stream */
    uint64_t handed;      /* delivered to the sink */
    uint64_t sink_errors; /* of the sink and the dead letter stream */
};

struct queue;

/* Returns a new queue, or NULL if memory allocation fails. blades is the number
 * of TTLs that can have a blade when the queue is large. */
struct queue *queue_new(uint64_t now, size_t blades);

/* Any thread that has the only reference may call it. */
void queue_free(struct queue *queue);

/* Returns a copy, or NULL if memory allocation fails. O(events). */
struct queue *queue_copy(const struct queue *queue);

/* TIME */
void queue_set_now(struct queue *queue, uint64_t now);
uint64_t queue_now(const struct queue *queue);
/* Returns the time at which the next event is due or was due, or a lease ends;
 * LAWN_NEVER if there is none. Dead events do not count. O(1), except after the
 * earliest event was removed: see lawn_next_exact(). */
uint64_t queue_next(struct queue *queue);

/* SIZES. queue_bytes() is all memory of the queue; queue_data() the size of ids
 * and payloads. O(1). */
uint64_t queue_count(const struct queue *queue);
size_t queue_bytes(const struct queue *queue);
uint64_t queue_data(const struct queue *queue);
/* Returns the number of TTLs that currently have a blade. O(blades). */
size_t queue_ttls(const struct queue *queue);

struct queue_settings *queue_settings_of(struct queue *queue);
struct queue_counts *queue_counts_of(struct queue *queue);
struct queue_trouble *queue_trouble_of(struct queue *queue);
/* The error state of the dead letter stream. */
struct queue_trouble *queue_dead_trouble_of(struct queue *queue);
const struct queue_sink *queue_sink_of(const struct queue *queue);
/* Copies the sink, and clears its error states. Returns false if memory
 * allocation fails. */
bool queue_set_sink(struct queue *queue, const struct queue_sink *sink);
/* The greatest token so far. queue_note_token() never decreases it. */
uint64_t queue_token(const struct queue *queue);
void queue_note_token(struct queue *queue, uint64_t token);
/* Returns true if there are no events and only default settings. Then the key
 * can be deleted. */
bool queue_idle(const struct queue *queue);

/* Returns the lateness of delivered events, in ms; NULL if there were none. */
struct late;
const struct late *queue_late(const struct queue *queue);
void queue_note_late(struct queue *queue, uint64_t ms);

/* Storage for the server: the time of the next wake-up. */
uint64_t *queue_armed(struct queue *queue);

/* Adds an event, or replaces the event with that id. The queue's time advances
 * to due - ttl if that is later. Returns 0, 1 if the id existed, or -ENOMEM.
 * After -ENOMEM nothing has changed. O(bytes), in a heap plus O(log events). */
int queue_put(struct queue *queue, const struct queue_event *event);

/* The same for several events in order, all or none. Sets *added to the number
 * of new ids. Returns 0, or -ENOMEM; then nothing has changed. */
int queue_put_all(struct queue *queue, const struct queue_event *events,
                  size_t count, uint64_t *added);

/* Changes due time, recurrence and tries of an event, and ends its lease.
 * Returns 0, -ENOENT or -ENOMEM; -ENOMEM only if the event starts or stops
 * recurring, or gets tries for the first time. Costs as much as queue_put(). */
int queue_move(struct queue *queue, const struct queue_event *event);

/* Leases an event, whatever its state, and sets its tries. The token of the
 * lease must not be 0. Fills *out, which may be NULL. Id and owner may point
 * into the event. Records the token in the queue, and advances the queue's time
 * to end - ttl unless ttl is 0. Returns 0, -ENOENT or -ENOMEM. O(1), in a heap
 * O(log events); plus O(bytes) if the event's block has no room for tries, or
 * more or less room for the owner than needed. */
int queue_lease_event(struct queue *queue, struct bytes id,
                      const struct queue_lease *lease, struct queue_tries tries,
                      struct queue_event *out);

/* Replaces the payload. Returns 0, -ENOENT or -ENOMEM. */
int queue_update(struct queue *queue, struct bytes id, struct bytes payload);

/* Returns true if the event existed. */
bool queue_remove(struct queue *queue, struct bytes id);

/* Returns true if the event exists. *out (which may be NULL) is valid until the
 * event changes. */
bool queue_get(const struct queue *queue, struct bytes id,
               struct queue_event *out);

/* Promotes at most `budget` events that are due by `now`: moves them to
 * `ready`. Returns the number of ready events; the first `budget` of them
 * precede all other due events. Does not set the queue's time. If `now` is
 * before that time or before the `now` of an earlier call, the latest of them
 * applies: due events stay due. O(budget), in heaps O(budget * log events). */
uint64_t queue_promote_due(struct queue *queue, uint64_t now, uint64_t budget);

/* Iterates over the ready events in order: *cursor is NULL at first. Returns
 * false at the end. The queue must not change in between. Beyond the budget of
 * the last queue_promote_due(), events that are still in a heap are omitted. */
bool queue_ready(const struct queue *queue, const void **cursor,
                 struct queue_event *out);

/* Iterates over the dead events as of the last queue_promote_due(), in the
 * order in which their leases ended. */
bool queue_dead(const struct queue *queue, const void **cursor,
                struct queue_event *out);
uint64_t queue_dead_count(const struct queue *queue);
/* Returns true if an event has become dead since the last call. */
bool queue_died(struct queue *queue);
/* Returns the number of leased events as of the last queue_promote_due(). */
uint64_t queue_leased_count(const struct queue *queue);
/* Returns the size of the ids and payloads of leased events. */
uint64_t queue_leased_data(const struct queue *queue);

/* queue_latest_ready() returns the time of the last ready event, or a later
 * time if that event was removed; 0 if no event is ready. queue_next_waiting()
 * returns the time of the next event that is not ready, LAWN_NEVER if there is
 * none. */
uint64_t queue_latest_ready(const struct queue *queue);
uint64_t queue_next_waiting(const struct queue *queue);

/* Returns the event to be dropped first: a dead event, otherwise the event that
 * is due first among those not leased. Returns false if there is none. */
bool queue_first(struct queue *queue, struct queue_event *out);

/* Visits the dead, ready, waiting and leased events, in order of time within
 * each list or heap; those on a lawn in the order of lawn_each(). Sets `alone`
 * if an event is leased or on no blade. If the events are added in this order
 * to a queue prepared with queue_restore(), it delivers them in the same order.
 * Returns false if visit returned false. */
typedef bool queue_visit_fn(const struct queue_event *event, void *arg);
bool queue_each(const struct queue *queue, queue_visit_fn *visit, void *arg);

/* Prepares an empty queue for the events of a queue saved at `now`. None of
 * them is due before `first`. Returns false if memory allocation fails. */
bool queue_restore(struct queue *queue, uint64_t first, uint64_t now);

/* An iteration that tolerates changes between calls. From cursor 0 on, visits
 * at least count events unless it reaches the end, and returns the next cursor,
 * 0 at the end. Events that exist during the whole iteration are visited once.
 * If visit returns false, the call ends after visiting the other events of the
 * same cursor, usually none. Cursors are below 2^32. O(count + events in a
 * segment of the table). */
uint64_t queue_scan(const struct queue *queue, uint64_t cursor, size_t count,
                    queue_visit_fn *visit, void *arg);

/* Lets the caller move blocks of memory, except those of lawns: moved() returns
 * the new address of a block, or NULL. Continues from cursor, 0 at first, until
 * stop() returns true. Returns the next cursor, 0 at the end. Nothing points to
 * the queue's own block, so the caller can move it. */
typedef void *queue_moved_fn(void *memory, void *arg);
typedef bool queue_stop_fn(void *arg);
uint64_t queue_defrag(struct queue *queue, uint64_t cursor,
                      queue_moved_fn *moved, queue_stop_fn *stop, void *arg);

/* Returns the number of events in all queues. Leased and dead ones are counted
 * as of the last queue_promote_due() of their queue. Any thread may call it. */
enum queue_totals {
    QUEUE_TOTAL,
    QUEUE_TOTAL_LEASED,
    QUEUE_TOTAL_DEAD,
    QUEUE_TOTALS
};
uint64_t queue_total(enum queue_totals which);

/* Returns true if all invariants hold; otherwise prints the violation to out.
 * O(events). */
bool queue_check(const struct queue *queue, FILE *out);

#endif
