/* queue.h - the value of a key: events by id, each with a payload and a time at
 * which it is due. No server here: times come in, answers go out.
 *
 *   queue ──► table   id → event
 *         ├─► waiting events that wait, by the time they are due: a lawn for those
 *         │           of equal delays, a heap for those that have a time, or a
 *         │           delay, of their own
 *         ├─► leases  the same: events that someone has, by the time the lease
 *         │           ends; from then on they are ready, in the order of that time
 *         ├─► ready   events that were found due, in that order, until someone
 *         │           takes them; in a heap beside it those that are found later,
 *         │           and are due before others there, until it is their turn
 *         └─► dead    events whose last lease has ended, as often as they may be
 *                     leased
 *
 * An event is one block of memory: the timer, what little there is to know of
 * it, id and payload. A plain one has 32 bytes beside id and payload, and about
 * 14 in the table; one in a heap, 12 more there.
 *
 * ORDER: events come by the time that they are due; of one time those of one delay,
 * and those for times of their own, as they were pushed. But where memory fails,
 * those of one time may come in any order.
 *
 * TIME is the wall clock in milliseconds, and never runs back for a queue: a
 * clock that was set back makes what is pushed meanwhile late, nothing early.
 * Callers tell it by queue_set_now(); a delay counts from queue_now().
 *
 * MASTER AND REPLICA: queue_promote_due() moves events to ready, and changes nothing that
 * is digested or replicated. Changes that a master decided are done elsewhere by
 * queue_put(), queue_move() and queue_remove() with the times that it had decided
 * on.
 *
 * INVARIANTS, by the numbers that queue_check() cites:
 *   [Q1] an event is in the table under its id, and in one place: waiting, ready,
 *        leases or dead; and there in the heap, or not
 *   [Q2] ready is in order of time: of ends of leases, else of due times; none of
 *        these, nor of the heap beside it, is after the last time asked for
 *   [Q3] what runs on a lawn is due at what is mown of it or later
 *   [Q4] bytes is what all blocks take, by the rule of sizes.h; data is the sum of
 *        ids and payloads, leased_data that of what runs on leases
 *   [Q5] what has a token does not wait, what has none is not in leases
 *   [Q6] what is in dead was leased as often as it may be, and what is ready or
 *        waits was not
 *   [Q7] without a token, the time that counts is that at which an event is due
 *   [Q8] no event has a token greater than the queue's
 *   [Q9] none in a heap comes before what stands above it, each knows where it
 *        stands, and there is memory for all
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
/* Of keys and channels. */
#define QUEUE_NAME_MAX 65535u
/* Delays, periods and times go up to here. */
#define QUEUE_TIME_MAX (UINT64_C(1) << 53)

/* What only some events have: all zero for a plain one. */
struct queue_repeat {
    uint64_t period; /* 0: the event does not repeat */
    uint64_t times;  /* how often it is still to be delivered; 0: for ever */
    uint64_t missed; /* periods that passed with nobody to take it */
};

/* How often an event was leased, and may be. */
struct queue_tries {
    uint32_t made;
    uint32_t most; /* 0: any number */
};

/* Who has an event: token 0 is nobody. The token is good until the event is leased
 * again or moved, though others may have it from the end on. */
struct queue_lease {
    uint64_t token;
    uint64_t end;
    uint64_t ttl; /* how long before its end it was given, or 0; handed out by
                     queue_each() alone, and there 0 for what stands in no queue
                     of equal leases */
    struct bytes owner; /* QUEUE_OWNER_MAX at most */
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
    struct queue_tries tries;
    struct queue_lease lease;
};

/* What an event is at a time, of itself. One that was leased as often as it may be
 * is dead when nobody has it; it stays until it is moved, put anew or removed. */
enum queue_state { QUEUE_WAITING, QUEUE_DUE, QUEUE_LEASED, QUEUE_DEAD };
enum queue_state queue_state_at(const struct queue_event *event, uint64_t now);

enum queue_overflow { QUEUE_REJECT, QUEUE_DROP_OLDEST };

/* What a user may set for a key. All zero is the default. */
struct queue_settings {
    uint64_t max_events; /* 0: any number */
    uint64_t max_bytes;  /* of ids and payloads; 0: any number */
    enum queue_overflow overflow;
    uint64_t resolution; /* due times are rounded up to multiples; 0 as 1 */
    bool paused;
    uint64_t tries; /* of events that were pushed without; 0: any number */
    uint64_t lease; /* how long one lasts that is asked for without, in ms; 0:
                       as is set for all keys */
};

/* Where the server itself takes events when they are due, and where those that are
 * dead. */
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
    uint64_t maxlen;   /* of a stream, about; 0: any */
    struct bytes dead; /* a stream; empty: they stay where they are */
};

/* What stands in the way of a sink. Not saved, and no replica's. */
struct queue_trouble {
    uint64_t again; /* when to try again; 0: there is none */
    uint64_t delay; /* how long was waited for that, in ms */
    char text[96];  /* the last error */
};

/* Since the key was made or loaded. Who does it counts it: a queue cannot tell a
 * push from a load. */
struct queue_counts {
    uint64_t pushed;
    uint64_t fired;   /* taken because they were due */
    uint64_t missed;  /* periods */
    uint64_t dropped; /* to make room */
    uint64_t leased;
    uint64_t redelivered; /* leased once more */
    uint64_t acked;
    uint64_t dead;        /* handed to the dead letters */
    uint64_t handed;      /* to the sink */
    uint64_t sink_errors; /* of either */
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
void queue_set_now(struct queue *queue, uint64_t now);
uint64_t queue_now(const struct queue *queue);
/* When the next event is due, or was, or a lease ends; what is dead does not count.
 * LAWN_NEVER: there is none. O(1), but after the next was taken away as much as
 * there are delays whose next events are near it. */
uint64_t queue_next(struct queue *queue);

/* SIZES. queue_bytes() is all its memory; queue_data() that of ids and
 * payloads, as max_bytes counts it. O(1). */
uint64_t queue_count(const struct queue *queue);
size_t queue_bytes(const struct queue *queue);
uint64_t queue_data(const struct queue *queue);
/* How many TTLs have a blade now. O(blades). */
size_t queue_ttls(const struct queue *queue);

struct queue_settings *queue_settings_of(struct queue *queue);
struct queue_counts *queue_counts_of(struct queue *queue);
struct queue_trouble *queue_trouble_of(struct queue *queue);
/* That of the dead letters. */
struct queue_trouble *queue_dead_trouble_of(struct queue *queue);
const struct queue_sink *queue_sink_of(const struct queue *queue);
/* Copies it, and forgets all trouble. False: no memory. */
bool queue_set_sink(struct queue *queue, const struct queue_sink *sink);
/* The greatest token so far; told, it never becomes less. */
uint64_t queue_token(const struct queue *queue);
void queue_note_token(struct queue *queue, uint64_t token);
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
 * id; -ENOMEM: nothing has changed. O(bytes), and in a heap O(log events). */
int queue_put(struct queue *queue, const struct queue_event *event);

/* The same for several, one after the other, and all or nothing; *added: how many
 * there were not. 0; -ENOMEM: nothing has changed. */
int queue_put_all(struct queue *queue, const struct queue_event *events,
                  size_t count, uint64_t *added);

/* Gives an event another due time, repetition and tries, and keeps the payload; who
 * has it has it no more. 0; -ENOENT; -ENOMEM, but only if it begins or ceases to
 * repeat, or begins to have tries: that is O(bytes), else as queue_put(). */
int queue_move(struct queue *queue, const struct queue_event *event);

/* Gives someone the event, in whatever state it is: its lease, whose token is not 0,
 * and tries are these; out, which may be NULL, tells of it then. The id and the
 * owner may be the event's own. Tells the queue the token, and end - ttl as its time
 * unless the ttl is 0. 0; -ENOENT; -ENOMEM. As queue_put(), and O(bytes) only if its
 * block has not just the room for the owner. */
int queue_lease_event(struct queue *queue, struct bytes id,
                      const struct queue_lease *lease, struct queue_tries tries,
                      struct queue_event *out);

/* Another payload, and the same place. 0; -ENOENT; -ENOMEM. */
int queue_update(struct queue *queue, struct bytes id, struct bytes payload);

/* True: it was there. */
bool queue_remove(struct queue *queue, struct bytes id);

/* True: it is there; out (which may be NULL) stays until it is changed. */
bool queue_get(const struct queue *queue, struct bytes id,
               struct queue_event *out);

/* Finds out what is due by now, up to so many events that were not known to be,
 * and returns how many are known to be. Does not tell the queue the time, but a now
 * before that, or before that of another call, counts as the latter: what was due is
 * so still. So many of those are the first of all, as the budget is. O(budget), and
 * in heaps O(budget * log events). */
uint64_t queue_promote_due(struct queue *queue, uint64_t now, uint64_t budget);

/* Those known to be due, in order: *cursor NULL at first. False: no more. The queue
 * is not to be changed in between. Beyond the budget of the last queue_promote_due() those
 * are left out that were found when others behind them were known. */
bool queue_ready(const struct queue *queue, const void **cursor,
                 struct queue_event *out);

/* Those that nobody has at the end of their tries, as far as the last
 * queue_promote_due() found them; in the order in which it ended. */
bool queue_dead(const struct queue *queue, const void **cursor,
                struct queue_event *out);
uint64_t queue_dead_count(const struct queue *queue);
/* Whether any has become so by the end of its lease since this was last asked. */
bool queue_died(struct queue *queue);
/* How many are leased, as far as the last queue_promote_due() found. */
uint64_t queue_leased_count(const struct queue *queue);
/* The bytes of their ids and payloads, as queue_data(). */
uint64_t queue_leased_data(const struct queue *queue);

/* The due time of the last of those, or later if the last has been taken away, 0 if
 * there is none; and of the next event that is none of those, LAWN_NEVER if there is
 * none. */
uint64_t queue_latest_ready(const struct queue *queue);
uint64_t queue_next_pending(const struct queue *queue);

/* The event to be dropped first, of those that nobody has: one that is dead, else
 * the one that is due first, ready or not. False: none. */
bool queue_first(struct queue *queue, struct queue_event *out);

/* All events: those dead, those ready, those that wait and those that are leased; in
 * order of time, but those that stand in lawns as lawn_each() has them. alone tells
 * whether it now stands in no queue of equal delays, for any reason. Put
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
 * the walk ends before the next whose hash begins otherwise, as a rule at once.
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

/* Events in all queues; those of them that are leased, or dead, as far as their
 * queues have found. Any thread. */
enum queue_totals {
    QUEUE_TOTAL,
    QUEUE_TOTAL_LEASED,
    QUEUE_TOTAL_DEAD,
    QUEUE_TOTALS
};
uint64_t queue_total(enum queue_totals which);

/* Whether all invariants hold; names what does not on out. O(events). */
bool queue_check(const struct queue *queue, FILE *out);

#endif
