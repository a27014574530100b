/* lawn.h - millions of timers, each started and stopped in constant time.
 *
 * A lawn keeps timers that the caller owns. Timers of one TTL stand in one
 * queue, a blade; since all of them wait equally long, they fall due in the
 * order in which they were started, and appending keeps the blade sorted for
 * free. An index over the blades' heads finds the earliest, however many
 * different TTLs there are.
 *
 *     #include <lawn.h>
 *     #include <stdio.h>
 *
 *     struct connection {
 *         int id;
 *         struct lawn_timer idle; // part of your object, zeroed at first
 *     };
 *
 *     static void hang_up(struct lawn_timer *timer, void *arg)
 *     {
 *         struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);
 *         printf("connection %d was idle too long\n", c->id);
 *     }
 *
 *     struct lawn_options options = {.now = now}; // on your clock
 *     struct lawn *lawn = lawn_new(&options);
 *     lawn_start(lawn, &c->idle, 30000);            // due in 30,000 ticks
 *     lawn_start(lawn, &c->idle, 30000);            // it spoke: from now on
 *     lawn_mow(lawn, now, SIZE_MAX, hang_up, NULL); // fires what is due
 *
 * TIME is a uint64_t of ticks, in any unit and from any origin the caller
 * likes: milliseconds, nanoseconds, TSC cycles. The lawn reads no clock: it
 * knows the newest time it was told, by its options, lawn_set_now() or
 * lawn_mow(), and TTLs count from there. So tell it the time before you start
 * timers after a pause. Nothing costs more because time jumped.
 *
 * PROMISES, by the numbers that assertions, tests and proofs cite:
 *   P1  never early      a timer fires only in a mow with now >= its deadline
 *   P2  never forgotten  after a mow(now) that returned less than its budget,
 *                        and was not halted, no running timer has a deadline
 *                        <= now; lawn_next() is exact
 *   P3  exactly once     a started timer fires once, or is stopped, or is
 *                        restarted, or is still running
 *   P4  order            timers fire in the order of their deadlines, within
 *                        and across mows; those of one TTL in the order in
 *                        which they were started (exceptions stand at
 *                        lawn_set_resolution() and lawn_start_as())
 *   P5  stop is final    after lawn_stop() returned true the timer does not
 *                        fire, even if it was due in the mow under way
 *   P6  re-entrancy      a timer is idle when its callback runs; the callback
 *                        may start, restart and stop any timer of the lawn and
 *                        free its own; what it starts waits for a later mow
 *   P7  no surprises     start, stop and mow do not allocate, call the system,
 *                        lock or recurse
 *   P8  cost             start and stop O(1) at worst; mow O(fired + index
 *                        entries that came up), O(1) if there are neither
 *   P9  extremes         TTLs, deadlines and times over the whole of uint64_t;
 *                        deadlines saturate below LAWN_NEVER and never wrap; a
 *                        clock that runs back is ignored
 *   P10 misuse is named  unless the library was built with NDEBUG, as it is
 *                        by default: a timer that runs on another lawn, or was
 *                        freed or overwritten while running, when it or its
 *                        neighbor is touched; a mow inside a mow: a message
 *                        with file, line and function of the assertion that
 *                        failed, and abort(). With NDEBUG a mow inside a mow does
 *                        nothing, and the rest is not looked for: it would
 *                        cost each start and stop instructions
 *
 * THREADS: a lawn has one owner at a time. Nothing here locks; different lawns
 * are independent of each other.
 *
 * WHEN TO CHOOSE SOMETHING ELSE: a few hundred timers: any sorted array or
 * heap will do. Deadlines that only need to be right to within 10 % and never
 * to be listed in order: a wheel without cascades, such as the Linux kernel's,
 * does less work. Mostly absolute, unrelated deadlines (a calendar, a
 * simulation): a lawn then works as a hierarchical wheel, no better than a
 * good one, and a heap is smaller.
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

/* The deadline of a timer that is not running, and lawn_next() of a lawn with
 * no timers. No running timer has it. */
#define LAWN_NEVER UINT64_MAX

/* The object of the given type whose given member is *timer. */
#define LAWN_CONTAINER(timer, type, member)                                    \
    ((type *)(void *)(((char *)(timer)) - offsetof(type, member)))

struct lawn;

struct lawn_link {
    struct lawn_link *next;
    struct lawn_link *prev;
};

/* A timer: 24 bytes, part of an object of yours. All-zero bytes are an idle
 * timer. Leave the fields to the library; do not copy or free a running timer,
 * nor move it without lawn_moved(). */
struct lawn_timer {
    struct lawn_link link;
    uint64_t deadline;
};

/* Called by lawn_mow() for each timer that fires, with mow's own arg. The
 * timer is idle by then [P6]: start it again, or free it. Every other timer
 * must be stopped before it is freed. All calls on the lawn are allowed here
 * but lawn_mow() and lawn_free(). Where timers of several kinds share a lawn, let
 * each carry what to do:
 *     struct my_timer {
 *         struct lawn_timer timer;
 *         void (*act)(struct my_timer *);
 *     };
 */
typedef void lawn_fire_fn(struct lawn_timer *timer, void *arg);

/* How to make a lawn. Zero in any field means the default. A value out of
 * range counts as the nearest in range. */
struct lawn_options {
    /* How many TTLs have a queue of their own at one time; rounded up to a
     * power of two, 8 to 16,384, 72 bytes each; default 1024. Timers of
     * further TTLs cost what they cost in a hierarchical timing wheel. */
    size_t blades;

    /* log2 of the slots per level of the index, 4 to 8; default 7. It takes
     * 5 KiB with 4, 8 KiB with 5, 46 KiB with 6, 83 KiB with 7, 133 KiB with
     * 8; fewer make timers without a queue of their own slower. */
    unsigned slot_bits;

    /* See lawn_set_resolution(); default 1, exact. */
    uint64_t resolution;

    /* The time at first; default 0. */
    uint64_t now;

    /* Where the lawn's memory comes from; default malloc() and free(), or
     * none where LAWN_FREESTANDING is defined. alloc returns memory or NULL.
     * With an alloc of your own, release may be NULL if nothing is to be given
     * back. Both get context. */
    void *(*alloc)(size_t size, void *context);
    void (*release)(void *memory, void *context);
    void *context;
};

/* What a lawn has done since it was made, and what it holds. */
struct lawn_counters {
    uint64_t starts;          /* starts of idle timers */
    uint64_t stops;           /* stops of running timers */
    uint64_t fires;           /* starts == stops + fires + count */
    uint64_t count;           /* timers running now */
    uint64_t unqueued_starts; /* starts and restarts that found no blade */
    uint64_t moved;           /* index entries moved or dropped */
    uint64_t moved_idle;      /* maximum of that in a mow that fired nothing */
    uint64_t looked;          /* index entries examined by lawn_next() and
                                 lawn_next_timer(), and those that mows skip
                                 after a change of the resolution */
    uint64_t ahead;           /* timers that mows prefetched */
    size_t live_blades;       /* blades that hold timers now */
    size_t blades;            /* blades allocated: over twice those requested */
    size_t bytes;             /* memory of the lawn; never grows */
};

/* A new lawn, or NULL if there is no memory for it; nothing else makes it
 * fail, and it is the only call that allocates. options may be NULL.
 * O(blades + slots). */
struct lawn *lawn_new(const struct lawn_options *options);

/* A lawn in memory of the caller's: size bytes at memory, of any alignment,
 * which stay the caller's. NULL if size < lawn_size(options). The allocator in
 * the options is not used. O(blades + slots); lawn_size() O(1). */
struct lawn *lawn_place(void *memory, size_t size,
                        const struct lawn_options *options);
size_t lawn_size(const struct lawn_options *options);

/* Forgets all timers and gives the lawn's memory back. The timers' memory is
 * left alone, unread and unwritten: to use one of them again, zero it first.
 * lawn may be NULL. O(1). */
void lawn_free(struct lawn *lawn);

/* Starts a timer, or restarts a running one: it will be due at now + ttl, now
 * being lawn_now(). A ttl of 0 counts as 1 [P6]. A sum above LAWN_NEVER - 1
 * counts as LAWN_NEVER - 1 [P9]. Cannot fail. O(1) at worst. */
void lawn_start(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl);

/* The same with an absolute deadline; one that is not after now counts as
 * now + 1. */
void lawn_start_at(struct lawn *lawn, struct lawn_timer *timer,
                   uint64_t deadline);

/* Stops a timer. True: it was running, and now it does not fire [P5], and its
 * memory is yours to free. False: it was idle, nothing was done. Cannot fail.
 * O(1) at worst. */
bool lawn_stop(struct lawn *lawn, struct lawn_timer *timer);

/* Moves the clock to now and fires timers with a deadline <= now, at most
 * budget of them, in the order of P4. Returns how many fired. If that is
 * budget, or if a callback called lawn_halt(), there may be more: they fire
 * first in the next mow, and what is started meanwhile counts from now all the
 * same. Otherwise none is left [P2].
 * A now before lawn_now() leaves the clock where it is, and fires what is due
 * by that earlier time. A now of LAWN_NEVER counts as LAWN_NEVER - 1; at that
 * last tick there is no later one, so what a callback starts there has the
 * deadline LAWN_NEVER - 1 and waits for the next mow.
 * O(fired + index entries that came up) [P8]. An entry comes up at most once
 * for each level of the index; the entries are the unqueued timers, and one per
 * blade. O(1) if nothing came up. */
size_t lawn_mow(struct lawn *lawn, uint64_t now, size_t budget,
                lawn_fire_fn *fire, void *arg);

/* In a callback: the mow under way fires no more after it, as if its budget had
 * been used up; what is left fires first in the next mow, and mow returns how
 * many did fire. So a mow can be bounded in time, by a callback that looks at a
 * clock. Elsewhere it does nothing. O(1). */
void lawn_halt(struct lawn *lawn);

/* Moves the clock without firing anything: what is started next counts from
 * now. An earlier time is ignored. O(1). */
void lawn_set_now(struct lawn *lawn, uint64_t now);

/* The newest time told. O(1). */
uint64_t lawn_now(const struct lawn *lawn);

/* Rounds the deadlines of what is started from here on up to multiples of
 * resolution, so that timers come due together and a waiting loop wakes less
 * often: in nanoseconds, 1000000 makes timers due on whole milliseconds. 1, or
 * 0, is exact. Running timers keep their deadlines. If the new resolution is
 * not a multiple of the old one, timers of one TTL and one deadline that were
 * started before and after the change may fire in either order if no blade was
 * free for one of them, or if there is another such change before they fire;
 * otherwise P4 holds. Each call, even with an unchanged resolution, also resets
 * the statistics by which a lawn decides to bypass its blades because TTLs
 * outnumber them. A caller that calls this every few hundred starts therefore
 * keeps the blades in use. O(blades). */
void lawn_set_resolution(struct lawn *lawn, uint64_t resolution);

/* The exact earliest deadline of all running timers, LAWN_NEVER if there are
 * none. O(1) while the earliest timer runs. After it has fired or was stopped:
 * O(index entries in the earliest slot) at worst. The result of a search is
 * cached, so that most later calls need none; which calls search again is
 * unspecified. */
uint64_t lawn_next(struct lawn *lawn);

/* The timer that is due at lawn_next(), NULL if there is none; it stays in the
 * lawn. To evict it, stop it. Of several that are due then it is one that P4
 * allows to fire first: the first started of its TTL; if several TTLs are due
 * then, which one is returned is unspecified. Allowed at any time, including in
 * callbacks. O(index entries in the earliest slot) at worst; O(1) when
 * lawn_next() is, unless the slot contains unqueued timers, or timers are running
 * that were started before a change to a resolution that is not a multiple of
 * the old one. */
struct lawn_timer *lawn_next_timer(struct lawn *lawn);

/* How many timers are running. O(1). */
uint64_t lawn_count(const struct lawn *lawn);

/* Whether the timer is running: started, and neither fired nor stopped. O(1). */
bool lawn_pending(const struct lawn_timer *timer);

/* When the timer is due; LAWN_NEVER if it is idle. O(1). */
uint64_t lawn_deadline(const struct lawn_timer *timer);

/* The deadline of the timer's last start, kept when it fires: in a callback,
 * when the timer was due, and so how late it is. 0 if it was never started.
 * O(1). */
uint64_t lawn_last_deadline(const struct lawn_timer *timer);

/* Called by lawn_each() with each timer and its TTL; 0 if it is on no blade, or
 * on one that takes no more since the resolution was changed. Changes nothing
 * in the lawn. False: that is enough. */
typedef bool lawn_visit_fn(struct lawn_timer *timer, uint64_t ttl, void *arg);

/* Visits all running timers: first those on no blade, then TTL by TTL; those of
 * one TTL and one deadline in the order in which they would fire. To save them,
 * or to move them to another lawn: started there by lawn_start_as() in this
 * order, they fire in the order in which they would have fired here, as far as
 * P4 says one. True: all were visited. Allowed at any time, callbacks included.
 * O(timers + blades + slots). */
bool lawn_each(const struct lawn *lawn, lawn_visit_fn *visit, void *arg);

/* Starts or restarts a timer that is due at deadline as one of the timers of a
 * TTL, as if it had been started ttl before that; with a ttl of 0, or LAWN_NEVER,
 * it goes to no blade. The deadline is not rounded to the resolution; one above
 * LAWN_NEVER - 1 counts as that [P9].
 * It may have passed: the timer then fires in the next mow, and not behind those
 * that are due later. But a deadline before the time that mows have come to
 * counts as that time: at first it is the one that the lawn was made with, and
 * it is neither before a deadline that has fired nor after the lawn_now() of the
 * last mow. So to load timers of which some are overdue, make the lawn with the
 * deadline of the earliest, then tell it the present by lawn_set_now(). In a
 * callback a deadline that is not after now counts as now + 1 [P6].
 * If timers of the TTL with later deadlines are running, or if the clock has
 * moved since others of the TTL and deadline were started, it may fire before
 * the latter; otherwise P4 holds. In the first case, and if it is due after what
 * lawn_start() would make of the TTL, it goes to no blade. Cannot fail. O(1) at
 * worst. */
void lawn_start_as(struct lawn *lawn, struct lawn_timer *timer, uint64_t ttl,
                   uint64_t deadline);

/* Tells the lawn that a timer has been moved in memory, bytes and all, by
 * realloc() or a defragmenter: if it is running, it goes on as if it had been
 * here all along. Say so after each move, before anything else is done with the
 * lawn and before another timer of the lawn is moved; the old memory is not
 * read. An idle timer may be moved without. O(1). */
void lawn_moved(struct lawn *lawn, struct lawn_timer *timer);

/* Counters and sizes. O(blades). */
void lawn_stats(const struct lawn *lawn, struct lawn_counters *out);

/* How many timers run outside the blades, as in a wheel; many of them for long
 * suggest more blades, or TTLs that are rounded up to fewer. Nobody keeps count of
 * them, or stop would have to know: O(that many). */
uint64_t lawn_count_unqueued(const struct lawn *lawn);

#if !defined LAWN_FREESTANDING
/* Walks everything and tells whether all invariants hold; if not, it names the
 * first broken one on out (NULL: prints nothing). For tests and debugging;
 * allowed at any time, callbacks included. O(everything). */
bool lawn_check(const struct lawn *lawn, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
