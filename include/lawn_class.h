/* lawn_class.h - operations on all timers of one kind at once.
 *
 * A class is a queue of timers with the same TTL, for example all idle timeouts
 * of a proxy. The caller creates a class and starts timers through it. An
 * operation on the class applies to all of its running timers at once, and its
 * cost does not depend on how many they are:
 *
 *     struct lawn_options options = {.classes = 8};
 *     struct lawn *lawn = lawn_new(&options);
 *     struct lawn_class *idle = lawn_class_new(lawn, 60000, "idle");
 *
 *     lawn_class_start(idle, &c->idle);         // due in 60,000 ticks
 *     lawn_class_set_ttl(idle, 30000);          // all of them: in 30,000 ticks
 *     lawn_class_pause(idle);                   // none of them fires ...
 *     lawn_class_resume(idle);                  // ... until now
 *     lawn_mow(lawn, now, 1000, hang_up, NULL); // fires all kinds of timers
 *
 * A timer that was started through a class belongs to that class until it fires
 * or is stopped. Meanwhile, use it only with lawn_pending() and the functions
 * of this header. A library built without NDEBUG reports most other uses [P10].
 * In the callback, lawn_last_deadline() returns the deadline.
 *
 * lawn_count() and lawn_next() include timers of classes. lawn_each(),
 * lawn_next_timer(), lawn_count_unqueued() and the counters of lawn_stats() do
 * not.
 *
 * The deadline of a timer is the time of its last start, plus the TTL of its
 * class, plus the pauses and postponements of the class since that start. It is
 * rounded up to the resolution of the lawn, and is at most LAWN_NEVER - 1 [P9].
 * If the TTL or the resolution changes, so does the deadline.
 *
 * PROMISES, in addition to those of lawn.h
 *
 *   P11 Same rule for all: after each operation on a class, all of its running
 *       timers have the deadlines described above. Timers whose deadline is
 *       then <= lawn_now() are due.
 *   P12 Order: timers of a class fire in the order of their last starts. Timers
 *       of different classes, and timers of classes and others, fire in the
 *       order of the deadlines that they have at that time; among equal
 *       deadlines the order is unspecified. For exceptions see
 *       lawn_class_set_weight() and lawn_class_mow().
 *   P13 Pause: while a class is paused, none of its timers fires, and the time
 *       that remains until their deadlines does not change.
 *   P14 Bounded cost: lawn_class_start() and the operations on a class take
 *       O(log classes); lawn_class_stop(), and lawn_class_start() if another
 *       timer of the class is running, take O(1). Each class adds 1 to the
 *       limits of P8. Exception: if some timers remain detached during almost
 *       2^64 ticks, one start takes O(detached timers).
 *   P15 Nothing is lost: each start through a class ends in exactly one way:
 *       the timer fires, is stopped, is restarted, or is detached by
 *       lawn_class_clear(). lawn_class_take() returns each detached timer once.
 *   P16 Shares: if due timers remain after a mow, each class with a weight has
 *       received its share of the budget, or has no due timer; see
 *       lawn_class_set_weight().
 *
 * P1 to P3, P5 to P7 and P9 also apply to timers of classes. Paused and
 * detached timers are not due.
 */
#ifndef LAWN_CLASS_H
#define LAWN_CLASS_H

#include <lawn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CLASSES */

/* A class of a lawn. Its memory is part of the lawn. */
struct lawn_class;

/* Counters since the class was created, and its current state. */
struct lawn_class_counters {
    const char *name;
    uint64_t ttl;
    uint64_t count;    /* running timers, including paused ones */
    uint64_t detached; /* detached timers; see lawn_class_clear() */
    uint64_t starts;   /* starts of idle timers; always
                          starts == stops + fires + count */
    uint64_t stops;    /* timers stopped or detached */
    uint64_t fires;    /* timers fired */
    uint64_t late;     /* sum of the ticks from deadlines to firing */
    uint64_t late_max; /* the most ticks from a deadline to firing */
    uint64_t next;     /* earliest deadline, or LAWN_NEVER */
    uint64_t last;     /* latest deadline, or LAWN_NEVER */
    uint32_t weight;
    bool paused; /* next and last are as if the class were resumed now */
};

/* Creates a class. The name appears in reports; it may be NULL. It is not
 * copied, so it must remain valid. A ttl of 0 counts as 1. Several classes may
 * have the same TTL. Returns NULL if the lawn already has options.classes
 * classes. O(log classes). */
struct lawn_class *lawn_class_new(struct lawn *lawn, uint64_t ttl,
                                  const char *name);

/* Removes a class, which makes room for another. Returns false, and changes
 * nothing, if the class has running or detached timers. lawn_free() removes all
 * classes. O(log classes). */
bool lawn_class_free(struct lawn_class *cls);

/* Returns the first class of the lawn if cls is NULL, otherwise the class after
 * cls, or NULL after the last. The order is unspecified. O(classes). */
struct lawn_class *lawn_class_each(const struct lawn *lawn,
                                   const struct lawn_class *cls);

/* Fills *out with the counters and the state of a class. O(1). */
void lawn_class_stats(const struct lawn_class *cls,
                      struct lawn_class_counters *out);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a timer of this class. Its deadline is
 * lawn_now() plus the TTL of the class. While the class is paused, this time
 * begins with lawn_class_resume(). A timer that a callback starts at the last
 * tick fires in the next mow, as with lawn_mow(). O(log classes); O(1) if
 * another timer of the class is running [P14]. */
void lawn_class_start(struct lawn_class *cls, struct lawn_timer *timer);

/* Stops a timer of this class. Returns true if it was running: it does not fire
 * [P5]. Returns false if it was idle or detached; then it is idle. O(1). */
bool lawn_class_stop(struct lawn_class *cls, struct lawn_timer *timer);

/* Returns the deadline of a timer of this class, or LAWN_NEVER if it is idle or
 * detached. While the class is paused, returns the deadline that the timer
 * would have if the class were resumed now. O(1). */
uint64_t lawn_class_deadline(const struct lawn_class *cls,
                             const struct lawn_timer *timer);

/* Relinks a timer of this class after its memory was moved, as lawn_moved()
 * does for other timers. O(1). */
void lawn_class_moved(struct lawn_class *cls, struct lawn_timer *timer);

/* OPERATIONS ON ALL TIMERS OF A CLASS */

/* Sets the TTL of running and future timers [P11]. The deadlines of running
 * timers move by the difference; a timer whose deadline is then in the past is
 * due. A ttl of 0 counts as 1. O(log classes). */
void lawn_class_set_ttl(struct lawn_class *cls, uint64_t ttl);

/* Sets the TTL to its present value times numerator / denominator, rounded
 * down, as lawn_class_set_ttl() does. The TTL remains at least 1 and at most
 * LAWN_NEVER - 1. A denominator of 0 counts as 1. O(log classes). */
void lawn_class_scale(struct lawn_class *cls, uint32_t numerator,
                      uint32_t denominator);

/* Adds a number of ticks to the deadlines of all running timers. Timers that
 * are started later are not affected, with one exception: a timer does not
 * become due before timers of the class that were started earlier [P12]. If the
 * start times plus all postponements would exceed the last tick, adds fewer
 * ticks. O(log classes). */
void lawn_class_postpone(struct lawn_class *cls, uint64_t ticks);

/* Pauses a class [P13]. Its timers can still be started and stopped. Does
 * nothing if the class is paused. O(log classes). */
void lawn_class_pause(struct lawn_class *cls);

/* Ends a pause: adds its duration to the deadlines of all running timers, as
 * lawn_class_postpone() does. For a timer that was started during the pause,
 * adds the time since its start. Does nothing if the class is not paused.
 * O(log classes). */
void lawn_class_resume(struct lawn_class *cls);

/* Stops all running timers of a class at once. They are then detached: they do
 * not fire, but remain linked, so lawn_pending() returns true. To make a
 * detached timer idle, call lawn_class_take() or lawn_class_stop(), or restart
 * it with lawn_class_start(). Do this before its memory is freed. Returns the
 * number of timers stopped. O(log classes). */
uint64_t lawn_class_clear(struct lawn_class *cls);

/* Returns a detached timer of this class, which becomes idle, or NULL if there
 * is none. Timers are returned in the order of their starts. O(1). */
struct lawn_timer *lawn_class_take(struct lawn_class *cls);

/* FIRING AND FORECAST */

/* Sets the time to now, as lawn_mow() does, and fires due timers of this class
 * only, at most budget of them. They may fire before other timers with earlier
 * deadlines. Returns the number of timers fired. A paused class has no due
 * timers. O(log classes + fired). */
size_t lawn_class_mow(struct lawn_class *cls, uint64_t now, size_t budget,
                      lawn_fire_fn *fire, void *arg);

/* Sets the weight of a class, 0 to 65,535; default 0. A higher value counts as
 * 65,535. Let W be the sum of the weights of all classes plus 1. A call of
 * lawn_mow() with a budget below 2^32 first fires due timers of each class with
 * a weight w, up to w / W of the budget. A fraction, and a part for which the
 * budget did not suffice, are carried over to the next mow as long as the class
 * has due timers. The mow spends the rest of the budget in the order of
 * deadlines. So a class with a weight is served even if a backlog
 * of timers with earlier deadlines exceeds the budget. Exception to P4 and P12:
 * timers of such a class may fire before timers of others with earlier
 * deadlines. O(1); each mow that is not idle takes O(classes) longer. */
void lawn_class_set_weight(struct lawn_class *cls, uint32_t weight);

/* Returns how many running timers of the class have a deadline <= lawn_now() +
 * ticks, but at most limit. So a result below limit is exact. If the class is
 * paused, counts as if it were resumed now. O(result). */
uint64_t lawn_class_forecast(const struct lawn_class *cls, uint64_t ticks,
                             uint64_t limit);

#if !defined LAWN_FREESTANDING
/* Prints the lawn and its classes: one line of text each, or, if json is true,
 * one JSON object without line breaks and a final newline. O(classes +
 * blades). */
void lawn_dump(const struct lawn *lawn, FILE *out, bool json);
#endif

#ifdef __cplusplus
}
#endif
#endif
