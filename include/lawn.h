/* lawn.h - millions of timers, each started and stopped in constant time.
 *
 * A lawn is a set of timers. The caller owns the memory of each timer. A timer
 * is running from its start until it fires or is stopped; otherwise it is idle.
 * Its TTL is the time from its start to its deadline, not counting the rounding
 * of lawn_set_resolution(). A mow, which is a call of lawn_mow(), fires due
 * timers: it calls a callback for each running timer whose deadline has been
 * reached. lawn(7) describes when to use a lawn.
 *
 * Timers with the same TTL become due in the order in which they were started.
 * So they can form a FIFO queue, called a blade. The number of blades is
 * limited; a running timer that is not on a blade is unqueued. An index finds
 * the earliest deadline. Its entries are the blades and the unqueued timers.
 *
 *     #include <lawn.h>
 *     #include <stdio.h>
 *
 *     struct connection {
 *         int id;
 *         struct lawn_timer idle; // embedded; zero-initialize it
 *     };
 *
 *     static void hang_up(struct lawn_timer *timer, void *arg)
 *     {
 *         struct connection *c =
 *             LAWN_CONTAINER(timer, struct connection, idle);
 *         printf("connection %d was idle too long\n", c->id);
 *     }
 *
 *     struct lawn_options options = {.now = now}; // current time of your clock
 *     struct lawn *lawn = lawn_new(&options);
 *     lawn_start(lawn, &c->idle, 30000);            // due in 30,000 ticks
 *     lawn_start(lawn, &c->idle, 30000);            // activity: restart
 *     lawn_mow(lawn, now, SIZE_MAX, hang_up, NULL); // fires all due timers
 *
 * TIME
 *
 * Time is a uint64_t count of ticks; the last tick is LAWN_NEVER - 1. The
 * caller chooses the unit and the origin. A lawn reads no clock: its time is
 * the greatest time that it received in its options, from lawn_set_now() or
 * from lawn_mow(). TTLs count from that time. If the thread has waited since
 * the last mow, call lawn_set_now() before starting timers.
 *
 * PROMISES
 *
 * Assertion messages refer to these numbers.
 *   P1  Never early: a timer fires only in a mow with now >= its deadline.
 *   P2  Never forgotten: after a mow that returned less than its budget and was
 *       not halted, no running timer has a deadline <= now. lawn_mow()
 *       describes an exception at the last tick. lawn_next() never returns a
 *       time after the earliest deadline; lawn_next_exact() returns that
 *       deadline.
 *   P3  Exactly once: each start ends in exactly one way: the timer fires once,
 *       is stopped or is restarted. Until then it is running.
 *   P4  Order: timers fire in the order of their deadlines, within a mow and
 *       across mows. Timers with the same TTL and deadline fire in the order in
 *       which they were started; for exceptions see lawn_set_resolution() and
 *       lawn_start_as().
 *   P5  Stop is final: after lawn_stop() returned true, the timer does not
 *       fire, even if it was due in the current mow.
 *   P6  Re-entrancy: a timer is idle while its callback runs. The callback may
 *       start, restart and stop any timer of the lawn, and free its own timer.
 *       Timers started by a callback do not fire in the current mow.
 *   P7  No side effects: starting, stopping and mowing do not allocate memory,
 *       make system calls, lock or recurse.
 *   P8  Bounded cost: starting and stopping take O(1) in the worst case. A mow
 *       with a budget b < SIZE_MAX processes at most 8 * b + 448 timers and
 *       index entries, including the timers that it fires. lawn_next() examines
 *       at most 448 index entries. For these two limits, an empty slot of the
 *       index (see slot_bits) counts as an entry. lawn_next_timer() also
 *       examines at most 448 index entries; its limit does not count outdated
 *       entries: empty slots, and blades whose first timer was stopped or
 *       restarted.
 *   P9  Extremes: all values of uint64_t are valid as TTL, deadline and time.
 *       Deadlines saturate at LAWN_NEVER - 1 and never wrap. The time of a lawn
 *       never goes backward.
 *   P10 Misuse is reported: a library built without NDEBUG prints file, line
 *       and function of the failed assertion and calls abort() for (a) a mow
 *       inside a mow, (b) a timer that runs on another lawn, (c) a timer that
 *       was freed or overwritten while running. The library detects (b) and (c)
 *       when a call accesses that timer or its neighbor in a list.
 *
 * The default build defines NDEBUG and has no such checks. There a mow inside a
 * mow does nothing.
 *
 * THREADS
 *
 * Only one thread may use a lawn at a time.
 */
#ifndef LAWN_H
#define LAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !defined LAWN_FREESTANDING
#include <stdio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* TIMERS AND LAWNS */

/* The deadline of an idle timer, and the result of lawn_next() if no timer is
 * running. Running timers have smaller deadlines. */
#define LAWN_NEVER UINT64_MAX

/* Returns a pointer to the object of the given type that contains *timer as the
 * given member. */
#define LAWN_CONTAINER(timer, type, member)                                    \
    ((type *)(void *)(((char *)(timer)) - offsetof(type, member)))

struct lawn;

struct lawn_link {
    struct lawn_link *next;
    struct lawn_link *prev;
};

/* A timer, embedded in an object of the caller: 24 bytes on 64-bit machines.
 * All-zero bytes are an idle timer. The fields are private. Do not copy or free
 * a running timer. If you move one, call lawn_moved(). */
struct lawn_timer {
    struct lawn_link link;
    uint64_t deadline;
};

/* Callback of lawn_mow() for a timer that fires; arg is that of lawn_mow(). The
 * callback may start the timer again or free it [P6]. It must stop any other
 * timer before freeing it. It may call all functions on the lawn except
 * lawn_mow(), lawn_class_mow() and lawn_free(). */
typedef void lawn_fire_fn(struct lawn_timer *timer, void *arg);

/* Options of a new lawn. Zero in a field selects its default. A value that is
 * out of range is replaced by the nearest valid value. */
struct lawn_options {
    /* Expected number of TTLs: 8 to 16,384, rounded up to a power of two;
     * default 1024. Up to this number, almost every TTL gets a blade. Timers of
     * other TTLs are unqueued. The lawn allocates twice the rounded number of
     * blades, plus 28, with 38 bytes each.
     *
     * If this option is set, or the resolution is above 1, the lawn uses blades
     * from the first start. Otherwise it uses them only while many timers share
     * few TTLs; at other times all timers are unqueued. */
    size_t blades;

    /* The index is a hierarchical timing wheel: each level is an array of
     * slots, which contain index entries. slot_bits is log2 of the number of
     * slots per level: 4 to 8; default 8. With fewer slots, unqueued timers are
     * slower, and the index takes less memory: 9 KiB for slot_bits 4, 13 KiB
     * for 5, 61 KiB for 6, 102 KiB for 7, 167 KiB for 8. */
    unsigned slot_bits;

    /* Maximum number of classes, see lawn_class.h: 0 to 65,535; default 0. Each
     * takes 200 bytes. */
    size_t classes;

    /* See lawn_set_resolution(); default 1 (exact). */
    uint64_t resolution;

    /* The initial time; default 0. */
    uint64_t now;

    /* Allocator of the lawn's memory; default malloc() and free(). alloc
     * returns memory or NULL. Both functions receive context. If alloc is set
     * and release is NULL, the memory is not released. A library built with
     * LAWN_FREESTANDING has no default: lawn_new() returns NULL if alloc is
     * NULL. */
    void *(*alloc)(size_t size, void *context);
    void (*release)(void *memory, void *context);
    void *context;
};

/* Counters since the lawn was created, and its current sizes. Timers of classes
 * are not counted; see struct lawn_class_counters. */
struct lawn_counters {
    uint64_t starts;          /* starts of idle timers */
    uint64_t stops;           /* stops of running timers */
    uint64_t fires;           /* timers fired; always
                                 starts == stops + fires + count */
    uint64_t count;           /* running timers */
    uint64_t unqueued_starts; /* starts and restarts that found no blade */
    uint64_t moved;           /* index entries moved, and empty blades and
                                 empty slots removed from the index */
    uint64_t touched_idle;    /* the most entries processed by one call of
                                 lawn_next(), or by one mow that fired no
                                 timer */
    uint64_t looked;          /* index entries examined by lawn_next(),
                                 lawn_next_exact() and lawn_next_timer() */
    uint64_t ahead;           /* links read by mows to prefetch timers */
    size_t live_blades;       /* blades that contain timers */
    size_t blades;            /* blades allocated */
    size_t bytes;             /* memory of the lawn; never grows */
};

/* Creates a lawn. options may be NULL. Returns NULL if there is not enough
 * memory. O(blades + slots + classes). No other function of this header
 * allocates memory. */
struct lawn *lawn_new(const struct lawn_options *options);

/* Creates a lawn in caller-owned memory of size bytes, with any alignment. The
 * allocator in the options is not used. options may be NULL. Returns NULL if
 * size < lawn_size(options). O(blades + slots + classes). */
struct lawn *lawn_place(void *memory, size_t size,
                        const struct lawn_options *options);

/* Returns the number of bytes that lawn_place() needs for these options, which
 * may be NULL. O(1). */
size_t lawn_size(const struct lawn_options *options);

/* Frees a lawn that lawn_new() created. Does nothing for a lawn of
 * lawn_place(). lawn may be NULL. O(1). The timers are neither read nor
 * written: if one was running, zero it before using it again. */
void lawn_free(struct lawn *lawn);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a running one. Its deadline is lawn_now() + ttl,
 * rounded up to the resolution, but at most LAWN_NEVER - 1 [P9]. A ttl of 0
 * counts as 1. O(1) in the worst case. */
void lawn_start(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl);

/* Like lawn_start(), with a deadline instead of a TTL. A deadline <= lawn_now()
 * counts as lawn_now() + 1. O(1) in the worst case. */
void lawn_start_at(struct lawn *lawn, struct lawn_timer *timer,
                   uint64_t deadline);

/* Stops a timer. Returns true if it was running: it does not fire [P5], and the
 * caller may free its memory. Returns false if it was idle; nothing changes.
 * O(1) in the worst case. */
bool lawn_stop(struct lawn *lawn, struct lawn_timer *timer);

/* MOWING */

/* Sets the time to now and fires timers with a deadline <= now, at most budget
 * of them, in the order of P4. Returns the number of timers fired, or budget if
 * the mow reached the limit described below. If the result is less than budget
 * and no callback called lawn_halt(), no timer with a deadline <= now remains
 * [P2]. Otherwise the remaining due timers fire first in the next mow. O(1) if
 * no timer is due and no index entry is moved.
 *
 * The time is set even if due timers remain. If now < lawn_now(), the time does
 * not change, but timers with a deadline <= now fire. LAWN_NEVER counts as the
 * last tick.
 *
 * A mow also moves entries of the index. Unless budget is SIZE_MAX, its work is
 * limited [P8]. A mow that reaches the limit returns budget, even if it fired
 * fewer timers, and the next mow continues. So due timers may wait for several
 * mows: after many of the earliest timers were stopped; or if many timers with
 * different TTLs have similar deadlines and the program mows rarely, for
 * example because it sleeps until lawn_next().
 *
 * Exception to P2: a timer that a callback starts at the last tick is due at
 * once, but fires in the next mow [P6 P9]. */
size_t lawn_mow(struct lawn *lawn, uint64_t now, size_t budget,
                lawn_fire_fn *fire, void *arg);

/* Ends the current mow when the calling callback returns; lawn_mow() then
 * returns the number of timers fired. Has no effect outside of a callback.
 * O(1). */
void lawn_halt(struct lawn *lawn);

/* Sets the time to now without firing timers. Does nothing if now is before
 * lawn_now(). O(1). */
void lawn_set_now(struct lawn *lawn, uint64_t now);

/* Returns the time of the lawn. O(1). */
uint64_t lawn_now(const struct lawn *lawn);

/* Sets the resolution. Later starts round deadlines up to a multiple of it, so
 * that timers become due together and an event loop wakes less often. 1 or 0
 * means exact. Running timers keep their deadlines, except those of classes.
 * O(1).
 *
 * Exception to P4: if the new resolution is not a multiple of the old one, a
 * timer started before this call and one started after it, with the same TTL
 * and deadline, may fire in either order. */
void lawn_set_resolution(struct lawn *lawn, uint64_t resolution);

/* Returns the time at which the next mow is needed: the earliest deadline, or
 * LAWN_NEVER if no timer is running. Examines at most 448 index entries [P8].
 * If these are not enough to find the earliest deadline, returns an earlier
 * time; that can happen after timers with the earliest deadlines were stopped.
 * O(1).
 *
 * A program that sleeps until the returned time may wake too early, but not
 * twice for the same time: if it then mows and no due timer is left, the next
 * result of lawn_next() is later than the time passed to that mow. Exception:
 * lawn_start_as() or a start at the last tick may make a timer due at once. */
uint64_t lawn_next(struct lawn *lawn);

/* Returns the earliest deadline, or LAWN_NEVER if no timer is running. O(1) if
 * 448 index entries are enough to find it. Otherwise examines all entries in
 * the slots that may contain the earliest timer: O(index entries) in the worst
 * case. */
uint64_t lawn_next_exact(struct lawn *lawn);

/* Returns the first timer in the order of P4, or NULL if no timer is running.
 * If P4 allows several timers to fire first, returns any of them. Examines at
 * most 448 index entries, plus outdated ones [P8]. If this limit is reached,
 * returns the earliest timer found; if its deadline equals lawn_next(), no
 * timer is earlier. The timer remains running; to evict it, stop it. O(1), plus
 * O(1) for each outdated entry: blades whose first timer was stopped or
 * restarted, and empty slots. So O(blades + slots) in the worst case, but a
 * call corrects or removes the outdated entries that it examines. */
struct lawn_timer *lawn_next_timer(struct lawn *lawn);

/* INSPECTING TIMERS */

/* Returns the number of running timers, including those of classes. O(1). */
uint64_t lawn_count(const struct lawn *lawn);

/* Returns true if the timer is running. O(1). */
bool lawn_pending(const struct lawn_timer *timer);

/* Returns the deadline of a running timer, or LAWN_NEVER if it is idle. O(1).
 */
uint64_t lawn_deadline(const struct lawn_timer *timer);

/* Returns the deadline of the last start, or 0 if the timer was never started.
 * O(1). In a callback, lawn_now() minus this value is how late the timer is. */
uint64_t lawn_last_deadline(const struct lawn_timer *timer);

/* SAVING AND MOVING TIMERS */

/* Callback of lawn_each() for a running timer and its TTL. ttl is 0 if the
 * timer is unqueued, because the lawn does not know its TTL. The callback must
 * not change the lawn. Returns false to end the visit. */
typedef bool lawn_visit_fn(struct lawn_timer *timer, uint64_t ttl, void *arg);

/* Calls visit() for all running timers: first the unqueued timers, then the
 * others grouped by TTL. Timers with the same TTL and deadline are visited in
 * the order in which they would fire. Returns false if visit() returned false,
 * otherwise true. O(timers + blades + slots).
 *
 * To save timers, store their TTLs and deadlines in this order, and later pass
 * them to lawn_start_as() in the same order. To move timers to another lawn,
 * first collect all of them. Then stop each one here and start it there with
 * lawn_start_as(), in the same order. They keep the order of P4. */
bool lawn_each(const struct lawn *lawn, lawn_visit_fn *visit, void *arg);

/* Starts or restarts a timer with a given TTL and deadline, as if it had been
 * started with ttl at time deadline - ttl. The deadline is not rounded to the
 * resolution; LAWN_NEVER counts as the last tick. O(1) in the worst case.
 *
 * In a callback, a deadline <= lawn_now() counts as lawn_now() + 1 [P6].
 *
 * Mows process the index up to a time, the mowed time. In a new lawn it is
 * options.now. Later it lies between the deadline of the timer that fired most
 * recently and lawn_now(). Outside of a callback, a timer with a deadline <=
 * lawn_now() fires in the next mow; a deadline before the mowed time counts as
 * the mowed time.
 *
 * So to load overdue timers in the order of their deadlines, create a lawn with
 * options.now set to the earliest deadline, call lawn_set_now() with the
 * current time, and start the timers.
 *
 * The timer is unqueued (a) if ttl is 0 or LAWN_NEVER, (b) if the given
 * deadline is later than the one that lawn_start() would set now with this TTL,
 * and usually (c) if a timer of this TTL with a later deadline is running.
 *
 * Exception to P4: the timer may fire before a timer with the same TTL and
 * deadline that was started earlier. This happens only in case (c), or if the
 * time of the lawn has changed between the two starts. */
void lawn_start_as(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
                   uint64_t deadline);

/* Relinks a running timer after its memory was moved, for example by realloc().
 * Call it after each move, before any other call on the lawn and before another
 * timer of the lawn is moved. The old memory is not read. Does nothing for an
 * idle timer. O(1). */
void lawn_moved(struct lawn *lawn, struct lawn_timer *timer);

/* STATISTICS AND CHECKS */

/* Fills *out with the counters and sizes. O(blades). */
void lawn_stats(const struct lawn *lawn, struct lawn_counters *out);

/* Returns the number of unqueued timers. O(unqueued timers). If it remains
 * high, configure more blades or round TTLs up to fewer values. */
uint64_t lawn_count_unqueued(const struct lawn *lawn);

#if !defined LAWN_FREESTANDING
/* Checks all invariants. Returns true if they hold. Otherwise returns false
 * and, unless the argument out is NULL, prints the first violated invariant to
 * that file. O(size of the lawn). */
bool lawn_check(const struct lawn *lawn, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
