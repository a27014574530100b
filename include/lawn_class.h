/* lawn_class.h - operations on all timers of one kind at once.
 *
 * A class is a queue of timers with the same TTL, for example all idle timeouts
 * of a proxy. The caller creates a class and starts timers through it. An
 * operation on the class applies to all of its running timers at once. Its cost
 * does not depend on their number:
 *
 *     struct lawn_options options = {.classes = 8};
 *     struct lawn *lawn = lawn_new(&options);
 *     struct lawn_class *idle = lawn_class_new(lawn, 60000, "idle");
 *
 *     lawn_class_start(idle, &c->idle);         // due in 60,000 ticks
 *     lawn_class_set_ttl(idle, 30000);          // all of them: in 30,000 ticks
 *     lawn_class_pause(idle);                   // now none of them fires
 *     lawn_class_resume(idle);                  // now they can fire again
 *     lawn_mow(lawn, now, 1000, hang_up, NULL); // fires all kinds of timers
 *
 * A timer that was started through a class belongs to that class until it fires
 * or is stopped. Meanwhile, use it only with lawn_pending() and the functions
 * of this header. A library built without NDEBUG reports most calls that break
 * this rule [P10]. In the callback, lawn_last_deadline() returns the deadline.
 *
 * lawn_count() and lawn_next() include timers of classes; lawn_next() ignores
 * paused classes. Timers of classes are not included in lawn_each(),
 * lawn_next_timer(), lawn_count_unqueued() and the counters of lawn_stats().
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
 *   P12 Order: timers of a class fire in the order of their last starts. Of two
 *       timers of different classes, or of a timer of a class and a timer
 *       outside of classes, the one with the earlier current deadline fires
 *       first; if the deadlines are equal, either fires first. For exceptions
 *       see lawn_class_set_weight() and lawn_class_mow().
 *   P13 Pause: while a class is paused, none of its timers fires, and the time
 *       left until their deadlines does not decrease as time passes.
 *   P14 Bounded cost: the operations on a class take O(log classes).
 *       lawn_class_start() takes O(1) if another timer of the class is running,
 *       otherwise O(log classes). lawn_class_stop() takes O(1). Each class adds
 *       1 to the limits of P8. Exception: if a class has had detached timers
 *       for almost 2^64 ticks, one start takes O(detached timers). See also
 *       lawn_class_start_as().
 *   P15 Nothing is lost: each start through a class ends in exactly one way:
 *       the timer fires, is stopped, is restarted, or is detached, which means
 *       stopped by lawn_class_clear(). lawn_class_take() returns each detached
 *       timer once.
 *   P16 Shares: if due timers remain after a mow, each class with a weight
 *       either has received its share of the budget or has no due timers; see
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
    bool paused; /* if true, next and last are the deadlines that the timers
                    would have if the class were resumed now */
};

/* Creates a class. The name is printed by lawn_dump(); it may be NULL, and
 * should be UTF-8. It is not copied, so it must remain valid. A ttl of 0 counts
 * as 1. Several classes
 * may have the same TTL. Returns NULL if the lawn already has options.classes
 * classes. If lawn_place() creates a lawn again in the same memory with the
 * same options.classes, the following calls of lawn_class_new() return the same
 * addresses as after the first lawn_place(). O(log classes). */
struct lawn_class *lawn_class_new(struct lawn *lawn, uint64_t ttl,
                                  const char *name);

/* Removes a class, which makes room for another. The next lawn_class_new() of
 * this lawn returns the same pointer. Returns false, and changes nothing, if
 * the class has running or detached timers. lawn_free() removes all classes.
 * O(log classes). */
bool lawn_class_free(struct lawn_class *cls);

/* Returns the first class of the lawn if cls is NULL, otherwise the class after
 * cls, or NULL after the last. The order is unspecified. O(classes). */
struct lawn_class *lawn_class_each(const struct lawn *lawn,
                                   const struct lawn_class *cls);

/* Fills *out with the counters and the state of a class. O(1). */
void lawn_class_stats(const struct lawn_class *cls,
                      struct lawn_class_counters *out);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a timer of this class. Its deadline is lawn_now()
 * plus the TTL of the class; for an exception see lawn_class_postpone(). While
 * the class is paused, the TTL counts from lawn_class_resume() instead. At the
 * last tick, LAWN_NEVER - 1, a timer that a callback starts is due at once, but
 * fires in the next mow [P6 P9]. O(log classes); O(1) if another timer of the
 * class is running [P14]. */
void lawn_class_start(struct lawn_class *cls, struct lawn_timer *timer);

/* Stops a timer of this class. Returns true if it was running: it does not fire
 * [P5]. Returns false if it was idle or detached. In each case the timer is
 * idle after the call. O(1). */
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
 * timers change by the difference between the new and the old TTL. A timer
 * whose new deadline is in the past is due. A ttl of 0 counts as 1. O(log
 * classes). */
void lawn_class_set_ttl(struct lawn_class *cls, uint64_t ttl);

/* Multiplies the TTL by numerator / denominator and rounds the result down;
 * otherwise like lawn_class_set_ttl(). The TTL remains at least 1 and at most
 * LAWN_NEVER - 1. A denominator of 0 counts as 1. O(log classes). */
void lawn_class_scale(struct lawn_class *cls, uint32_t numerator,
                      uint32_t denominator);

/* Adds a number of ticks to the deadlines of all running timers. Timers started
 * later are not affected, except that their deadlines are not earlier than
 * those of timers of the class that were started before them [P12]. Adds fewer
 * ticks if the start time of a running timer, see lawn_class_started(), would
 * otherwise exceed the last tick. O(log classes). */
void lawn_class_postpone(struct lawn_class *cls, uint64_t ticks);

/* Pauses a class [P13]. Its timers can still be started and stopped. Does
 * nothing if the class is paused. O(log classes). */
void lawn_class_pause(struct lawn_class *cls);

/* Ends a pause. The deadlines of timers that were started before the pause move
 * by the duration of the pause, as in lawn_class_postpone(). The TTLs of timers
 * that were started during the pause count from this call. Does nothing if the
 * class is not paused. O(log classes). */
void lawn_class_resume(struct lawn_class *cls);

/* Stops all running timers of a class at once. They are then detached: they do
 * not fire, but remain linked, so lawn_pending() returns true.
 * lawn_class_take() and lawn_class_stop() make a detached timer idle;
 * lawn_class_start() starts it again. A detached timer must not be freed.
 * Returns the number of timers stopped. O(log classes). */
uint64_t lawn_class_clear(struct lawn_class *cls);

/* Returns a detached timer of this class, which becomes idle, or NULL if there
 * is none. Timers are returned in the order of their starts. O(1). */
struct lawn_timer *lawn_class_take(struct lawn_class *cls);

/* FIRING AND FORECAST */

/* Sets the time to now, as lawn_mow() does, and fires due timers of this class
 * only, at most budget of them. Exception to P12: timers outside of this class
 * do not fire, even those with earlier deadlines. Returns the number of timers
 * fired. A paused class has no due timers. Do not call it in a callback of a
 * mow [P10]. O(log classes + fired); at the last tick O(classes * log classes +
 * fired). */
size_t lawn_class_mow(struct lawn_class *cls, uint64_t now, size_t budget,
                      lawn_fire_fn *fire, void *arg);

/* Sets the weight of a class, 0 to 65,535; default 0. A higher value counts as
 * 65,535. Let W be the sum of the weights of all classes plus 1. A call of
 * lawn_mow() with a budget below 2^32 first fires due timers of each class with
 * a weight w. Its share is w / W of the budget, rounded down to whole timers.
 * The mow spends the rest of the budget in the order of deadlines. If due
 * timers of the class remain after that, the part of its share that it did not
 * use is added to its share of the next mow: the fraction lost by rounding, and
 * whole timers if the budget ran out first. So a class with a weight is served
 * even if a backlog of timers with earlier deadlines exceeds the budget.
 * Exception to P4 and P12: timers of such a class may fire before timers of
 * others with earlier deadlines. O(1); each mow that is not idle takes
 * O(classes) longer. */
void lawn_class_set_weight(struct lawn_class *cls, uint32_t weight);

/* Returns how many running timers of the class have a deadline <= lawn_now() +
 * ticks, but at most limit. If the result is less than limit, it is the exact
 * number. If the class is paused, the result is the same as if it were resumed
 * now. O(result). */
uint64_t lawn_class_forecast(const struct lawn_class *cls, uint64_t ticks,
                             uint64_t limit);

/* SAVING TIMERS */

/* Calls visit for all running timers of a class, in the order of their starts,
 * with the TTL of the class. Returns false if visit returned false, otherwise
 * true. O(timers). */
bool lawn_class_each_timer(const struct lawn_class *cls, lawn_visit_fn *visit,
                           void *arg);

/* Returns the time of a timer's last start plus all pauses and postponements
 * since then, or LAWN_NEVER if it is idle or detached. While the class is
 * paused, returns this time as if the class were resumed now. O(1). */
uint64_t lawn_class_started(const struct lawn_class *cls,
                            const struct lawn_timer *timer);

/* Starts or restarts a timer such that lawn_class_started() returns the given
 * time. So its deadline may be in the past. Call it for the timers in the order
 * of lawn_class_each_timer(), because a timer cannot precede timers that are
 * already running [P12]. If start is before the latest start time of those
 * timers, that start time is used. LAWN_NEVER counts as the last tick. If the
 * class has been paused for d ticks, values of start below d count as d. Do not
 * call it in a callback of a mow [P10]. O(log classes) if the class has no
 * detached timers, otherwise O(log classes + detached timers). */
void lawn_class_start_as(struct lawn_class *cls, struct lawn_timer *timer,
                         uint64_t start);

#if !defined LAWN_FREESTANDING
/* Prints the lawn and its classes as text, one line for the lawn and one for
 * each class. If json is true, prints one JSON object instead. It contains no
 * line break and does not end with one. O(classes + blades). */
void lawn_dump(const struct lawn *lawn, FILE *out, bool json);
#endif

#ifdef __cplusplus
}
#endif
#endif
