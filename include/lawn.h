/* lawn.h - millions of timers, each started and stopped in constant time.
 *
 * A lawn is a set of timers that the caller owns. Timers with the same TTL form
 * a FIFO queue, called a blade. Because all timers of a blade wait equally
 * long, they become due in the order in which they were started, so appending
 * keeps the blade sorted. An index over the heads of the blades finds the
 * earliest deadline, regardless of the number of different TTLs. The number of
 * blades is limited; a timer whose TTL has no blade is unqueued: it is linked
 * directly into the index. A call of lawn_mow() is called a mow.
 *
 *     #include <lawn.h>
 *     #include <stdio.h>
 *
 *     struct connection {
 *         int id;
 *         struct lawn_timer idle; // embedded in your object; zero-initialize it
 *     };
 *
 *     static void hang_up(struct lawn_timer *timer, void *arg)
 *     {
 *         struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);
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
 * Time is a uint64_t count of ticks. The caller chooses the unit and the
 * origin: milliseconds, nanoseconds, TSC cycles. A lawn does not read a clock.
 * It keeps the greatest time that it was given by its options, lawn_set_now()
 * or lawn_mow(). TTLs count from that time. After a pause, call lawn_set_now()
 * before starting timers. The cost of a call does not depend on how far time
 * advanced.
 *
 * PROMISES
 *
 * Assertions, tests and proofs refer to these numbers.
 *   P1  Never early: a timer fires only in a mow with now >= its deadline.
 *   P2  Never forgotten: after a mow that returned less than its budget and was
 *       not halted, no running timer has a deadline <= now, except at the last
 *       tick (see lawn_mow()); lawn_next() never returns a time after the
 *       earliest deadline, and lawn_next_exact() returns that deadline.
 *   P3  Exactly once: each started timer fires once, is stopped, is restarted,
 *       or is still running.
 *   P4  Order: timers fire in the order of their deadlines, within a mow and
 *       across mows, and timers with the same TTL fire in the order in which
 *       they were started; lawn_set_resolution() and lawn_start_as() list the
 *       exceptions.
 *   P5  Stop is final: after lawn_stop() returned true, the timer does not
 *       fire, even if it was due in the current mow.
 *   P6  Re-entrancy: a timer is idle while its callback runs; the callback may
 *       start, restart and stop any timer of the lawn and free its own timer;
 *       timers that it starts do not fire in the current mow.
 *   P7  No side effects: starting, stopping and mowing do not allocate memory,
 *       make system calls, lock or recurse.
 *   P8  Bounded cost: starting and stopping take O(1) in the worst case; a mow
 *       with a budget b < SIZE_MAX processes at most 8 * b + 448 timers and
 *       index entries, including those that it fires; lawn_next() examines at
 *       most 448.
 *   P9  Extremes: all values of uint64_t are valid as TTL, deadline and time;
 *       deadlines saturate at LAWN_NEVER - 1 and never wrap; the time of a lawn
 *       never goes backward.
 *   P10 Misuse is reported: a library built without NDEBUG prints file, line
 *       and function of the failed assertion and calls abort() for (a) a mow
 *       inside a mow, (b) a timer that runs on another lawn, (c) a timer that
 *       was freed or overwritten while running; it detects (b) and (c) when a
 *       call accesses that timer or the one next to it in its list.
 *
 * The default build defines NDEBUG. In that build a mow inside a mow does
 * nothing, and the other checks of P10 are left out, because they would add
 * instructions to each start and stop.
 *
 * THREADS
 *
 * Only one thread may use a lawn at a time; the library does not lock.
 * Different lawns are independent.
 *
 * WHEN TO CHOOSE SOMETHING ELSE
 *
 * For a few hundred timers, any sorted array or heap is good enough. If timers
 * may fire late by 10 % of their TTL and in any order, a wheel without
 * cascades, like the Linux kernel's, does less work. If most deadlines are
 * absolute and unrelated (a calendar, a simulation), a lawn works as a
 * hierarchical wheel, no better than other good ones, and a heap needs less
 * memory.
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

/* A timer: 24 bytes, embedded in an object of the caller. A timer of all-zero
 * bytes is idle. The fields are private. Do not copy or free a running timer.
 * Do not move one without calling lawn_moved(). */
struct lawn_timer {
    struct lawn_link link;
    uint64_t deadline;
};

/* Callback of lawn_mow(), called for each timer that fires; arg is the argument
 * of lawn_mow(). The timer is idle [P6]: the callback may start it again or
 * free it. It must stop any other timer before freeing it. The callback may
 * call all functions on the lawn except lawn_mow() and lawn_free(). */
typedef void lawn_fire_fn(struct lawn_timer *timer, void *arg);

/* Options of a new lawn. Zero in a field selects its default. A value that is
 * out of range is replaced by the nearest valid value. */
struct lawn_options {
    /* Maximum number of TTLs that have a blade at the same time: 8 to 16,384,
     * rounded up to a power of two, 76 bytes each; default 1024. Timers with
     * further TTLs cost as much as in a hierarchical timing wheel. */
    size_t blades;

    /* log2 of the number of slots per level of the index: 4 to 8; default 8.
     * Memory of the index: 9 KiB for slot_bits 4, 13 KiB for 5, 60
     * KiB for 6, 102 KiB for 7, 167 KiB for 8. Fewer slots make unqueued
     * timers slower. */
    unsigned slot_bits;

    /* See lawn_set_resolution(); default 1 (exact). */
    uint64_t resolution;

    /* The initial time; default 0. */
    uint64_t now;

    /* Allocator of the lawn's memory; default malloc() and free(), or none if
     * LAWN_FREESTANDING is defined. alloc returns memory or NULL. If alloc is
     * set, release may be NULL: then the memory is not released. Both receive
     * context. */
    void *(*alloc)(size_t size, void *context);
    void (*release)(void *memory, void *context);
    void *context;
};

/* Counters since the lawn was created, and its current sizes. */
struct lawn_counters {
    uint64_t starts;          /* starts of idle timers */
    uint64_t stops;           /* stops of running timers */
    uint64_t fires;           /* timers fired; always
                                 starts == stops + fires + count */
    uint64_t count;           /* running timers */
    uint64_t unqueued_starts; /* starts and restarts that found no blade */
    uint64_t moved;           /* index entries moved, or removed because their
                                 blade is empty */
    uint64_t touched_idle;    /* maximum of the entries that a single mow or
                                 lawn_next() processed without firing */
    uint64_t looked;          /* index entries that lawn_next(),
                                 lawn_next_exact() and lawn_next_timer()
                                 examined */
    uint64_t ahead;           /* timers that mows prefetched into the cache */
    size_t live_blades;       /* blades that contain timers */
    size_t blades;            /* blades allocated: more than twice the number
                                 in the options */
    size_t bytes;             /* memory of the lawn; never grows */
};

/* Creates a lawn. This is the only function of this header that allocates
 * memory. options may be NULL. Returns NULL if there is not enough memory.
 * O(blades + slots). */
struct lawn *lawn_new(const struct lawn_options *options);

/* Creates a lawn in caller-owned memory of size bytes, with any alignment. The
 * allocator in the options is not used. options may be NULL. Returns NULL if
 * size < lawn_size(options). O(blades + slots). */
struct lawn *lawn_place(void *memory, size_t size,
                        const struct lawn_options *options);

/* Returns the number of bytes that lawn_place() needs for these options.
 * options may be NULL. O(1). */
size_t lawn_size(const struct lawn_options *options);

/* Frees the memory of a lawn and abandons its timers. It neither reads nor
 * writes the timers; zero a timer before using it again. lawn may be NULL.
 * O(1). */
void lawn_free(struct lawn *lawn);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a running one. Its deadline is lawn_now() + ttl.
 * A ttl of 0 counts as 1 [P6]. A sum above LAWN_NEVER - 1 counts as LAWN_NEVER
 * - 1 [P9]. Cannot fail. O(1) in the worst case. */
void lawn_start(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl);

/* Starts or restarts a timer with an absolute deadline. A deadline <=
 * lawn_now() counts as lawn_now() + 1; LAWN_NEVER counts as LAWN_NEVER - 1.
 * Cannot fail. O(1) in the worst case. */
void lawn_start_at(struct lawn *lawn, struct lawn_timer *timer,
                   uint64_t deadline);

/* Stops a timer. Returns true if it was running: it does not fire [P5], and the
 * caller may free its memory. Returns false if it was idle; nothing changes.
 * Cannot fail. O(1) in the worst case. */
bool lawn_stop(struct lawn *lawn, struct lawn_timer *timer);

/* MOWING */

/* Sets the time to now and fires timers with a deadline <= now, at most budget
 * of them, in the order of P4. Returns the number of timers fired. If that is
 * less than budget and no callback called lawn_halt(), no due timer remains
 * [P2]. Otherwise the remaining due timers fire first in the next mow.
 *
 * A mow also moves index entries; the index contains each unqueued timer and
 * one entry per blade. The sum of timers fired and entries processed is at most
 * 8 * budget + 448 [P8], unless budget is SIZE_MAX. A mow that reaches this
 * limit ends as if its budget were used up: it returns budget, although it
 * fired fewer timers, and the next mow continues. A lawn moves entries ahead of
 * time, in mows that have little else to do. So mows that keep up with the
 * clock do not reach the limit, except after many timers with the earliest
 * deadlines were stopped. O(1) if there is nothing to fire or move.
 *
 * The time of the lawn is now even if due timers remain: TTLs of timers that
 * are started before the next mow count from it. A now before lawn_now() leaves
 * the time unchanged and fires the timers that are due at that earlier time. A
 * now of LAWN_NEVER counts as LAWN_NEVER - 1. There is no later tick than that:
 * a timer that a callback starts while lawn_now() is LAWN_NEVER - 1 gets the
 * deadline LAWN_NEVER - 1 and waits for the next mow. */
size_t lawn_mow(struct lawn *lawn, uint64_t now, size_t budget,
                lawn_fire_fn *fire, void *arg);

/* Ends the current mow after the calling callback returns, even if the budget is
 * not used up: lawn_mow() returns the number of timers fired, and the remaining
 * due timers fire first in the next mow. A callback that reads a clock can thus
 * limit the duration of a mow. Has no effect outside of a callback. O(1). */
void lawn_halt(struct lawn *lawn);

/* Sets the time without firing timers. Timers started afterward count from now.
 * A now before lawn_now() is ignored. O(1). */
void lawn_set_now(struct lawn *lawn, uint64_t now);

/* Returns the latest time passed to the lawn. O(1). */
uint64_t lawn_now(const struct lawn *lawn);

/* Sets the resolution. The deadline of each timer that is started after this
 * call is rounded up to a multiple of the resolution, so that timers become due
 * together and an event loop wakes less often. In nanoseconds, 1000000 makes
 * timers due on whole milliseconds. 1 or 0 means exact. Running timers keep
 * their deadlines. O(1).
 *
 * Exception to P4: consider two timers with the same TTL and deadline, one
 * started before and one after a change to a resolution that is not a multiple
 * of the old one. Either may fire first.
 *
 * If there are many more TTLs than blades, a lawn stops using blades for new
 * timers, which makes starts cheaper. Each call of this function, even with an
 * unchanged resolution, resets the statistics for that decision. A program that
 * calls it every few hundred starts does not get the cheaper starts. */
void lawn_set_resolution(struct lawn *lawn, uint64_t resolution);

/* Returns the time at which the next mow is needed: the earliest deadline of all
 * running timers, or LAWN_NEVER if no timer is running. Examines at most 448
 * index entries [P8]. If these are not enough to find the earliest deadline,
 * returns an earlier time, which is still after the last mow that returned less
 * than its budget. That can happen after timers with the earliest deadlines
 * were stopped. A program that sleeps until this time and
 * then mows never wakes too late, and only a few times too early: each such mow
 * moves entries to a lower level of the index. O(1) until the timer with the
 * earliest deadline fires, is stopped or is restarted. */
uint64_t lawn_next(struct lawn *lawn);

/* Returns the earliest deadline of all running timers, or LAWN_NEVER if no timer
 * is running. O(1) when lawn_next() is. Otherwise O(index entries in the slots
 * that may contain the earliest timer): up to all unqueued timers. */
uint64_t lawn_next_exact(struct lawn *lawn);

/* Returns the timer with the earliest deadline, or NULL if no timer is running.
 * Compares at most 448 timers [P8]. If there are more that may be the earliest,
 * the result is the earliest of those compared; it is certainly the earliest of
 * all if its deadline equals lawn_next(). If several timers have this deadline,
 * the result is one that may fire first according to P4: the first started of
 * its TTL. If several TTLs are due at that time, which one is returned is
 * unspecified. Entries of empty blades do not count as compared, so this takes
 * O(blades) in the worst case. The timer remains running; to evict it, stop it.
 * May be called in callbacks. */
struct lawn_timer *lawn_next_timer(struct lawn *lawn);

/* INSPECTING TIMERS */

/* Returns the number of running timers. O(1). */
uint64_t lawn_count(const struct lawn *lawn);

/* Returns true if the timer is running: started, and neither fired nor stopped.
 * O(1). */
bool lawn_pending(const struct lawn_timer *timer);

/* Returns the deadline of a running timer, or LAWN_NEVER if the timer is idle.
 * O(1). */
uint64_t lawn_deadline(const struct lawn_timer *timer);

/* Returns the deadline of the last start, or 0 if the timer was never started.
 * The value remains after the timer fired: in a callback, lawn_now() minus this
 * value is how late the timer is. O(1). */
uint64_t lawn_last_deadline(const struct lawn_timer *timer);

/* SAVING AND MOVING TIMERS */

/* Callback of lawn_each(), called with each running timer and its TTL. ttl is 0
 * if the lawn does not know the TTL, because the timer is unqueued. The callback
 * must not change the lawn. Returns false to end the visit. */
typedef bool lawn_visit_fn(struct lawn_timer *timer, uint64_t ttl, void *arg);

/* Calls visit for all running timers: first the unqueued timers, then the
 * others grouped by TTL. Timers with the same TTL and deadline are visited in
 * the order in which they would fire. To save timers, store their TTLs and
 * deadlines in this order, and later start them with lawn_start_as() in the
 * same order. To move timers to another lawn, collect them in this order, then
 * stop each one here and start it there with lawn_start_as(). They fire in the
 * same order as here, as far as P4 specifies one. Returns true if all timers
 * were visited, false if visit returned false. May be called in callbacks.
 * O(timers + blades + slots). */
bool lawn_each(const struct lawn *lawn, lawn_visit_fn *visit, void *arg);

/* Starts or restarts a timer with a given TTL and deadline, as if it had been
 * started with ttl at time deadline - ttl. With a ttl of 0 or LAWN_NEVER the
 * timer is unqueued (on no blade). The deadline is not rounded to the
 * resolution; LAWN_NEVER counts as LAWN_NEVER - 1 [P9]. Cannot fail. O(1) in
 * the worst case.
 *
 * The deadline may be in the past. The timer then fires in the next mow, before
 * timers with later deadlines. But a deadline before the mowed time counts as
 * the mowed time: the time up to which mows have fired timers. It is initially
 * the now of the options. After a mow it is between the latest deadline that
 * has fired and lawn_now(). To load timers of which some are overdue, create
 * the lawn with the earliest deadline as now, then pass the current time to
 * lawn_set_now(). In a callback, a deadline <= lawn_now() counts as lawn_now()
 * + 1 [P6].
 *
 * The timer is unqueued if a timer of this TTL with a later deadline is
 * running, or if its deadline is later than the one that lawn_start() would set
 * for ttl. Exception to P4: the timer may fire before timers of the same TTL
 * and deadline that were started earlier, if a timer of this TTL with a later
 * deadline is running, or if the time has changed since the earlier starts. */
void lawn_start_as(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
                   uint64_t deadline);

/* Relinks a running timer after its memory was moved (memmove(), realloc(), a
 * defragmenter). Call it after each move, before any other call on the lawn and
 * before moving another timer of the lawn. The old memory is not read. Does
 * nothing for an idle timer, which may also be moved without this call. O(1).
 */
void lawn_moved(struct lawn *lawn, struct lawn_timer *timer);

/* STATISTICS AND CHECKS */

/* Fills *out with the counters and sizes. O(blades). */
void lawn_stats(const struct lawn *lawn, struct lawn_counters *out);

/* Returns the number of unqueued timers: running timers that are on no blade.
 * If it remains high, configure more blades or round TTLs up to fewer values.
 * The number is not cached, because lawn_stop() cannot know which kind of timer
 * it removes. O(unqueued timers). */
uint64_t lawn_count_unqueued(const struct lawn *lawn);

#if !defined LAWN_FREESTANDING
/* Checks all invariants. Returns true if they hold. Otherwise prints the first
 * violated invariant to out, unless out is NULL, and returns false. For tests
 * and debugging; may be called in callbacks. O(size of the lawn). */
bool lawn_check(const struct lawn *lawn, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
