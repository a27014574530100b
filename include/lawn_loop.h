/* lawn_loop.h - a lawn with a clock, and timers with their own callbacks.
 *
 * A loop is a lawn (see lawn.h) with a clock. Each of its timers has a callback
 * and an argument, and fires once or periodically. A turn reads the clock and
 * fires due timers, see lawn_loop_turn(). Turns run in an existing event loop
 * or in the loop's own small one. Functions that return int return -errno on
 * failure.
 *
 *     #include <lawn_loop.h>
 *     #include <stdio.h>
 *
 *     static void tick(struct lawn_loop_timer *timer, struct lawn_loop *loop)
 *     {
 *         printf("%s\n", (const char *)timer->arg);
 *     }
 *
 *     struct lawn_loop *loop = lawn_loop_new(NULL);
 *     struct lawn_loop_timer hello = {.fire = tick, .arg = "hello"};
 *     lawn_loop_every(loop, &hello, LAWN_LOOP_SECOND, LAWN_LOOP_SKIP);
 *     lawn_loop_run(loop); // until lawn_loop_quit(), or no timer is running
 *
 * WITH ANOTHER EVENT LOOP
 *
 * Use one of:
 *   - an adapter: lawn_uv.h, lawn_event.h, lawn_ev.h, lawn_uring.h, lawn_glib.h
 *     or lawn_sdevent.h;
 *   - a file descriptor: wait for lawn_loop_fd() to become readable, then call
 *     lawn_loop_turn();
 *   - a wait with a time limit: call lawn_loop_turn(), then wait for other
 *     events, at most until the time that it returned.
 *
 * ADAPTERS
 *
 * An adapter creates a loop whose timers fire while the event loop of another
 * library, the host, runs. For a host X, lawn_X_new() creates the loop and
 * lawn_X_free() frees it. All functions of this header may be called on the
 * loop, except lawn_loop_free(), lawn_loop_fd() and the built-in event loop.
 * Call them on the thread that runs the host. The host may be stopped and run
 * again.
 *
 * The host wakes the loop by a single event, the wake-up [L2], which is active
 * only while a timer of the loop is running. So a host without other events can
 * end.
 *
 * libuv, libevent, libev and GLib do not count the time while the machine is
 * suspended. There, a loop with the clock LAWN_LOOP_BOOTTIME may wake late by
 * the duration of a suspension. To prevent that, call lawn_loop_turn() after
 * each suspension; or use lawn_loop_new() and watch its lawn_loop_fd(), without
 * an adapter.
 *
 * The options of lawn_X_new() are those of lawn_loop_new() and may be NULL. A
 * clock set in the options must count nanoseconds. The field arm of the options
 * is ignored, because the adapter sets the wake-up. The allocator serves the
 * loop but not the adapter. Errors are those of lawn_loop_new() and those
 * listed in the header of the adapter. lawn_X_free() accepts NULL.
 *
 * TIME
 *
 * The default clock is CLOCK_MONOTONIC in nanoseconds. Each start with a TTL
 * reads the clock, so the TTL counts from the call. To avoid reading it, pass
 * lawn_loop_now() plus the TTL to lawn_loop_start_at().
 *
 * While the machine is suspended, CLOCK_MONOTONIC stops. With
 * LAWN_LOOP_BOOTTIME, the next turn fires the timers that became due meanwhile.
 *
 * PROMISES
 *
 * P1 to P6, P9 and P10 of lawn.h apply. P11 to P16 of lawn_class.h apply to the
 * classes of a loop, except that lawn_loop_class_new() takes O(classes) and
 * lawn_loop_class_clear() takes O(timers of the class) (P14). Exceptions for
 * periodic timers: they fire many times per start (P3) and are running while
 * their callback runs (P6); with LAWN_LOOP_CATCH_UP, they may be due after a
 * turn (P2). In addition:
 *   L1  Never early: a callback runs only if the loop has read the clock after
 *       the start of the timer, and the time read was >= the deadline.
 *   L2  Wake-up: while timers are running, a wake-up (of the host or of
 *       lawn_loop_fd()) is set for the earliest deadline or an earlier time.
 *       The loop sets another one only if this wake-up has occurred or is
 *       overdue, or if a start or an operation on a class results in an
 *       earlier deadline. Timers of paused classes need no wake-up.
 *   L3  Budget: a turn ends after the callback that used up the budget of
 *       timers or of time. The remaining due timers fire first in the next
 *       turn, for which an immediate wake-up is set.
 *   L4  No drift: with a fixed rate (LAWN_LOOP_SKIP or LAWN_LOOP_CATCH_UP), the
 *       n-th period (n = 0, 1, ...) is due exactly at first + n * period,
 *       however late earlier callbacks ran. Here first is the argument of
 *       lawn_loop_every_at(), or the time of the call of lawn_loop_every() plus
 *       one period.
 *   L5  Missed periods: if several periods are overdue, LAWN_LOOP_SKIP fires
 *       once, for the last of them, and counts the others as missed.
 *       LAWN_LOOP_CATCH_UP fires once for each of them, at most one per turn.
 *   L6  Fixed delay: with LAWN_LOOP_DELAY the period counts from the return of
 *       the callback.
 *   L7  Stop is final: a stopped timer does not fire again, in any mode, also
 *       if its own callback stopped it.
 *   L8  Lateness: for each call of a callback, the histogram of
 *       lawn_loop_lateness() contains the time since the timer was due. If
 *       periods were skipped, this is the time since the first of them was due.
 *   L9  Periods of a class: after lawn_loop_every_in(), each return of the
 *       timer's callback starts the timer again, like a call of
 *       lawn_loop_start_in() at that time. So the period is the TTL of the
 *       class, and operations on the class change it.
 *   L10 Present time: a start in a class, and an operation that changes the
 *       deadlines of a class, first read the clock. If the earliest deadline is
 *       now before the wake-up, the wake-up is moved to that deadline. This
 *       happens at once, or, if a callback made the call, at the end of the
 *       turn.
 *   L11 Time in callbacks: for each class, the loop adds up the durations of
 *       the callbacks of its timers, and keeps the longest. A duration is the
 *       difference of two readings of the clock. The first one is made at the
 *       start of the turn or after the previous callback, the second one after
 *       this callback.
 *   L12 Lateness of a class: while a class has a histogram, the loop adds an
 *       entry to it for each callback of a timer of the class: the time since
 *       the timer was due.
 *
 * While a LAWN_LOOP_CATCH_UP timer has an overdue period and waits for the next
 * turn [L5], its deadline is replaced by a substitute near lawn_loop_now(). The
 * substitute decides the order of firing [P4]. lawn_loop_deadline() returns the
 * substitute; the field due of struct lawn_loop_timer has the exact time. If,
 * after a turn, more than 16 of the timers that it fired still have overdue
 * periods, the first 16 that fired are due in the next turn. Each of the others
 * is due once the clock has advanced since that timer fired.
 *
 * THREADS
 *
 * Only one thread may use a loop at a time. In a child process after fork(),
 * call only lawn_loop_free(), because the parent shares the loop's descriptors.
 * For the loop of an adapter, the child must not call any function.
 */
#ifndef LAWN_LOOP_H
#define LAWN_LOOP_H

#include <lawn.h>
#include <lawn_class.h>
#include <lawn_histogram.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LOOPS AND THEIR TIMERS */

/* A millisecond and a second of the default clock, in nanoseconds. */
#define LAWN_LOOP_MS UINT64_C(1000000)
#define LAWN_LOOP_SECOND UINT64_C(1000000000)

struct lawn_loop;
struct lawn_loop_class;
struct lawn_loop_timer;

/* Callback of a timer. While the callback runs, a timer that fires once is
 * idle: the callback may start it again or free it. A periodic timer is running
 * meanwhile, in every mode: stop it before freeing it. The callback may start
 * and stop any timer of the loop, and watch and unwatch descriptors. */
typedef void lawn_loop_fire_fn(struct lawn_loop_timer *timer,
                               struct lawn_loop *loop);

/* A timer, embedded in an object of the caller: 64 bytes on 64-bit machines.
 * All-zero bytes are an idle timer. Set the field fire before the first start;
 * the fields fire and arg may be changed at any time. The fields due and missed
 * may be read. All other fields are private. Do not copy, move or free a
 * running timer. */
struct lawn_loop_timer {
    struct lawn_timer timer;
    uint64_t period; /* 0: fires once */
    lawn_loop_fire_fn *fire;
    void *arg;    /* for use by the callback */
    uint64_t due; /* in the callback: the time when the timer was due; at a
                     fixed rate the exact time of the period [L4] */
    uint32_t mode;
    uint32_t missed; /* in the callback: number of periods skipped since the
                        last callback, at most UINT32_MAX */
};

/* What a periodic timer does when it is late. SKIP suits a display, a heartbeat
 * or a cleanup; CATCH_UP suits sampling or the steps of a simulation; DELAY
 * suits polling or retries. */
enum lawn_loop_mode {
    LAWN_LOOP_SKIP,     /* fixed rate; missed periods do not fire */
    LAWN_LOOP_CATCH_UP, /* fixed rate; each period fires, one per turn */
    LAWN_LOOP_DELAY     /* the period counts from the end of the callback */
};

/* Clocks of the system. */
enum lawn_loop_clock {
    LAWN_LOOP_MONOTONIC, /* CLOCK_MONOTONIC (default) */
    LAWN_LOOP_BOOTTIME   /* CLOCK_BOOTTIME: also counts during suspension */
};

/* Callback of an adapter. Sets the wake-up of the host, and replaces the
 * previous one. The second argument is the time on the loop's clock at which
 * the host must call lawn_loop_woken(). A time in the past means at once;
 * LAWN_NEVER means that no wake-up is needed. The loop calls this function only
 * if the wake-up must change [L2]: at the end of a turn, by a start or an
 * operation on a class outside of a turn, or when the last running timer is
 * stopped. Of the functions of this loop, the callback may call only
 * lawn_loop_now() and lawn_loop_update(). */
typedef void lawn_loop_arm_fn(struct lawn_loop *loop, uint64_t when,
                              void *context);

/* Options of a new loop. Zero in a field selects its default. */
struct lawn_loop_options {
    /* Options of the loop's lawn. The allocator provides all memory of the
     * loop. lawn.now is ignored. The resolution does not round the periods of a
     * fixed rate. lawn.classes is the maximum number of classes of the loop;
     * each takes 40 bytes more than in a lawn. */
    struct lawn_options lawn;

    /* Limits of a turn: the number of timers (default 1024) and the duration in
     * ticks (default: no limit). */
    size_t budget;
    uint64_t budget_time;

    /* The clock: one of the system, or a function with any unit and origin. */
    enum lawn_loop_clock clock_id;
    uint64_t (*clock)(void *context);
    void *clock_context;

    /* For adapters, otherwise NULL. */
    lawn_loop_arm_fn *arm;
    void *arm_context;
};

/* Counters since the loop was created. */
struct lawn_loop_counters {
    uint64_t turns;     /* all turns */
    uint64_t idle;      /* turns that fired nothing */
    uint64_t truncated; /* turns that ended early: by the budget, or because
                           lawn_mow() reached its limit of work */
    uint64_t fires;     /* callbacks called */
    uint64_t missed;    /* skipped periods */
    uint64_t arms;      /* times that the wake-up was set or canceled */
    uint64_t count;     /* running timers */
};

/* Creates a loop. options may be NULL. Returns NULL and sets errno on failure:
 * ENOMEM if there is not enough memory, EINVAL if clock_id is unknown. O(blades
 * + slots + classes). */
struct lawn_loop *lawn_loop_new(const struct lawn_loop_options *options);

/* Frees a loop and closes the descriptors that it created. Watched descriptors
 * remain open. loop may be NULL. Returns true; in a callback of a timer or a
 * watcher it does nothing and returns false. O(1), plus close(2) of the loop's
 * descriptors. If a timer was running or a watcher was in use, zero it before
 * using it again. */
bool lawn_loop_free(struct lawn_loop *loop);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a running one, so that it fires once: after ttl,
 * or at a deadline on the loop's clock. TTLs and deadlines are as in lawn.h.
 * O(1) in the worst case. Starting the earliest timer may make a system call to
 * set the wake-up. */
void lawn_loop_start(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                     uint64_t ttl);
void lawn_loop_start_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                        uint64_t deadline);

/* Starts a timer, or restarts a running one, so that it fires periodically. The
 * first deadline is one period after the call of lawn_loop_every(), or the
 * argument first of lawn_loop_every_at(). A period of 0 counts as one tick.
 * O(1) in the worst case.
 *
 * If the first deadline is <= lawn_loop_now(), a timer with a fixed rate is due
 * at once, or at the next tick if a callback makes this call. Its periods from
 * that deadline to lawn_loop_now() are overdue [L5]. A timer with
 * LAWN_LOOP_DELAY is due at the next tick. */
void lawn_loop_every(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                     uint64_t period, enum lawn_loop_mode mode);
void lawn_loop_every_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                        uint64_t first, uint64_t period,
                        enum lawn_loop_mode mode);

/* Stops a timer, also one of a class. Returns true if it was running: it does
 * not fire again [L7], and the caller may free its memory. Returns false if it
 * was idle. O(1) in the worst case. */
bool lawn_loop_stop(struct lawn_loop *loop, struct lawn_loop_timer *timer);

/* lawn_loop_pending() returns true if the timer is running.
 * lawn_loop_deadline() returns its deadline, or LAWN_NEVER if it is idle. If
 * its class is paused, this is the deadline that the timer would have if the
 * class were resumed at lawn_loop_now(). O(1). */
bool lawn_loop_pending(const struct lawn_loop_timer *timer);
uint64_t lawn_loop_deadline(const struct lawn_loop_timer *timer);

/* CLASSES
 *
 * A class is a queue of timers with the same TTL. An operation on the class
 * applies to all of its running timers at once; see lawn_class.h. A timer that
 * was started in a class belongs to it until it fires for the last time or is
 * stopped. A start in another class, or by a function for timers outside of
 * classes, also removes it from the class. Each start reads the clock, and the
 * TTL counts from the time read by the last start. */

/* Counters of a class since it was created, and its current state. */
struct lawn_loop_class_counters {
    struct lawn_class_counters timers; /* fires: callbacks called */
    uint64_t time;     /* sum of the durations of its callbacks [L11] */
    uint64_t time_max; /* duration of the longest callback [L11] */
};

/* Creates a class. ttl and name are as in lawn_class_new(). Returns NULL if the
 * loop already has options.lawn.classes classes. O(classes). */
struct lawn_loop_class *lawn_loop_class_new(struct lawn_loop *loop,
                                            uint64_t ttl, const char *name);

/* Removes a class, which makes room for another. Returns false, and changes
 * nothing, if the class has running timers. lawn_loop_free() removes all
 * classes. O(log classes). */
bool lawn_loop_class_free(struct lawn_loop_class *cls);

/* Starts a timer in a class, or restarts a running one, so that it fires once:
 * after the TTL of the class. If the class is paused, the TTL counts from
 * lawn_loop_class_resume(). O(log classes); O(1) if another timer of the class
 * is running. Starting the earliest timer may make a system call to set the
 * wake-up. */
void lawn_loop_start_in(struct lawn_loop_class *cls,
                        struct lawn_loop_timer *timer);

/* Like lawn_loop_start_in(), but the timer fires periodically [L9]. The period
 * counts from the return of the callback. There is no fixed rate in a class,
 * because its timers fire in the order of their last starts. The cost is that
 * of lawn_loop_start_in(). */
void lawn_loop_every_in(struct lawn_loop_class *cls,
                        struct lawn_loop_timer *timer);

/* Operations on all timers of a class, like lawn_class_set_ttl(),
 * lawn_class_scale(), lawn_class_postpone(), lawn_class_pause() and
 * lawn_class_resume(), at the present time [L10]. They may be called in
 * callbacks. Timers that become due by such a call fire in the current turn or
 * in a later one. O(log classes). Each may make a system call to set the
 * wake-up. */
void lawn_loop_class_set_ttl(struct lawn_loop_class *cls, uint64_t ttl);
void lawn_loop_class_scale(struct lawn_loop_class *cls, uint32_t numerator,
                           uint32_t denominator);
void lawn_loop_class_postpone(struct lawn_loop_class *cls, uint64_t ticks);
void lawn_loop_class_pause(struct lawn_loop_class *cls);
void lawn_loop_class_resume(struct lawn_loop_class *cls);

/* Stops all running timers of a class. They become idle, and the caller may
 * free their memory. This differs from lawn_class_clear(), which detaches them.
 * Returns the number of timers stopped. O(timers of the class). */
uint64_t lawn_loop_class_clear(struct lawn_loop_class *cls);

/* Sets the histogram of how late the timers of a class fire, in ticks of the
 * clock [L12]. The caller owns the histogram and may use it for several
 * classes. By default, or if histogram is NULL, the class has none. O(1).
 * Before freeing the histogram, set another one or NULL, or free the class. */
void lawn_loop_class_set_lateness(struct lawn_loop_class *cls,
                                  struct lawn_histogram *histogram);

/* Fills *out with the counters and the state of a class. A callback that is
 * still running is included in timers.fires, but not in time. O(1). */
void lawn_loop_class_stats(const struct lawn_loop_class *cls,
                           struct lawn_loop_class_counters *out);

/* Returns the class of the loop's lawn, for lawn_class_set_weight() and
 * lawn_class_forecast(). O(1). Do not call other functions that change this
 * class or its timers. */
struct lawn_class *lawn_loop_class_core(const struct lawn_loop_class *cls);

/* TURNS */

/* Reads the clock and fires due timers within the budget. Returns when to run
 * the next turn: the earliest deadline or an earlier time, see lawn_next(); a
 * time in the past if more timers are due; LAWN_NEVER if no timer is running
 * outside of paused classes. In a timer's callback it does nothing and returns
 * LAWN_NEVER. The cost is that of lawn_mow() and lawn_next(); the clock is read
 * after each callback. */
uint64_t lawn_loop_turn(struct lawn_loop *loop);

/* For adapters: like lawn_loop_turn(), but always sets a new wake-up if a timer
 * is running outside of paused classes. Call it when the wake-up occurred, even
 * if that was too early. Returns the same as lawn_loop_turn(). The cost is the
 * same. */
uint64_t lawn_loop_woken(struct lawn_loop *loop);

/* Returns the arm_context of the options. O(1). */
void *lawn_loop_arm_context(const struct lawn_loop *loop);

/* lawn_loop_now() returns the latest time that the loop read from its clock.
 * lawn_loop_update() reads the clock and returns that time. O(1). */
uint64_t lawn_loop_now(const struct lawn_loop *loop);
uint64_t lawn_loop_update(struct lawn_loop *loop);

/* Returns the exact earliest deadline, or LAWN_NEVER if no timer is running
 * outside of paused classes. The cost is that of lawn_next_exact(). */
uint64_t lawn_loop_next(struct lawn_loop *loop);

/* Returns the number of running timers, including those of classes. O(1). */
uint64_t lawn_loop_count(const struct lawn_loop *loop);

/* Returns the loop's lawn, for lawn_stats(), lawn_set_resolution(),
 * lawn_each(), lawn_class_each() and lawn_dump(). O(1). Its timers are the
 * members named timer of struct lawn_loop_timer. Do not start or stop timers on
 * this lawn, do not create or change classes on it, and do not mow it.
 * lawn_set_resolution() also changes the deadlines of running timers of
 * classes. If there are any, call lawn_loop_turn() after it, so that the
 * wake-up is set again [L2]. */
struct lawn *lawn_loop_lawn(struct lawn_loop *loop);

/* Fills *out with the counters. O(1). */
void lawn_loop_stats(const struct lawn_loop *loop,
                     struct lawn_loop_counters *out);

/* Returns the histogram of how late timers fired, in ticks of the clock [L8].
 * O(1). The loop owns the histogram; the caller may zero it. */
struct lawn_histogram *lawn_loop_lateness(struct lawn_loop *loop);

/* Checks all invariants, like lawn_check(). Returns true if they hold. O(size
 * of the loop). */
bool lawn_loop_check(struct lawn_loop *loop, FILE *out);

/* Returns a timerfd, which is readable when a turn is due, until a turn leaves
 * no due timer. On failure nothing changes, and the result is -EINVAL if the
 * field clock or arm of the options is set, -ENOSYS if the system has no
 * timerfd_create(2), or the -errno of that call. O(1). Wait for the descriptor
 * in any event loop; do not read or close it. It may become readable once after
 * the last running timer was stopped. */
int lawn_loop_fd(struct lawn_loop *loop);

/* THE BUILT-IN EVENT LOOP
 *
 * On Linux, for programs that have no event loop. It waits with epoll(7). */

/* Events of a descriptor, combined with |. */
enum { LAWN_LOOP_READ = 1, LAWN_LOOP_WRITE = 2, LAWN_LOOP_HANGUP = 4 };

struct lawn_loop_watcher;

/* Callback of a watched descriptor. The argument ready contains the watched
 * events for which the descriptor is ready. The end of the input counts as
 * LAWN_LOOP_READ: read() returns 0. After an error, or if both directions are
 * closed, the argument contains LAWN_LOOP_HANGUP and all watched events. The
 * callback may watch and unwatch any descriptor, free any watcher that is not
 * in use, and start and stop timers. */
typedef void lawn_loop_ready_fn(struct lawn_loop_watcher *watch, unsigned ready,
                                struct lawn_loop *loop);

/* A watcher of a descriptor, embedded in an object of the caller. Set the
 * fields ready and arg. The other fields are read-only. */
struct lawn_loop_watcher {
    lawn_loop_ready_fn *ready;
    void *arg;       /* for use by the callback */
    int fd;          /* the last watched descriptor */
    unsigned events; /* 0: not in use */
};

/* Watches a descriptor for events: LAWN_LOOP_READ, LAWN_LOOP_WRITE or both,
 * level-triggered. If the watcher already watches this descriptor, changes the
 * events. Returns 0 or an error: -EINVAL if events is invalid or the watcher is
 * in use for another descriptor; -EEXIST if another watcher has the descriptor;
 * -EPERM if the descriptor does not support waiting, like a regular file;
 * -EBADF if fd is not a descriptor; -ENOMEM; or an error of lawn_loop_fd(),
 * epoll_create1(2) or epoll_ctl(2). On failure nothing changes, except that the
 * loop may have created its own descriptors. The cost is that of epoll_ctl(2).
 */
int lawn_loop_watch(struct lawn_loop *loop, struct lawn_loop_watcher *watch,
                    int fd, unsigned events);

/* Ends watching: the callback is not called again. Does nothing if the watcher
 * is not in use. The cost is that of epoll_ctl(2). Call it before you close the
 * descriptor. */
void lawn_loop_unwatch(struct lawn_loop *loop, struct lawn_loop_watcher *watch);

/* Runs rounds until lawn_loop_quit() is called, or until no watcher is in use
 * and no timer is running outside of paused classes. A round waits for events,
 * calls the callbacks of up to 64 ready descriptors, then runs a turn. Returns
 * 0 or an error: -EDEADLK in a callback, or an error of lawn_loop_fd(),
 * epoll_create1(2), epoll_ctl(2) or epoll_wait(2). Before an error of
 * epoll_wait(2), callbacks of earlier rounds may have run; before other errors,
 * none has. Blocks while there is nothing to do. To pause a class does not
 * cancel a wake-up that is already set, so the loop may block until that
 * wake-up before it ends. Each round costs as much as lawn_loop_once(). */
int lawn_loop_run(struct lawn_loop *loop);

/* Runs one round, see lawn_loop_run(). If the argument wait is true, waits
 * until a descriptor is ready or a timer is due. Returns the number of
 * callbacks called, which may be 0, for example after a signal. On failure
 * returns an error of lawn_loop_run(); no callback was called. The cost is that
 * of epoll_wait(2) and lawn_loop_turn(), plus O(1) for each ready descriptor.
 */
int lawn_loop_once(struct lawn_loop *loop, bool wait);

/* Makes lawn_loop_run() or lawn_loop_once() return after the current callback.
 * Outside of a callback, the next call of either returns at once. O(1). Do not
 * call it in signal handlers or other threads; write to a watched descriptor
 * there. */
void lawn_loop_quit(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
