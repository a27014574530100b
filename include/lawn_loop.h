/* lawn_loop.h - a lawn with a clock, and timers that know what to do.
 *
 * A loop is a lawn bound to a clock. Its timers carry a callback and an
 * argument, fire once or again and again, and tell the event loop that you
 * have when it must wake for them; or use the small one here. Calls that can
 * fail return 0 or -errno.
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
 *     lawn_loop_run(loop); // until lawn_loop_quit(), or nothing is left
 *
 * WITH AN EVENT LOOP OF YOUR OWN there are three ways:
 *   - an adapter: lawn_uv.h, lawn_event.h, lawn_ev.h, lawn_uring.h,
 *     lawn_glib.h, lawn_sdevent.h;
 *   - a file descriptor: wait for lawn_loop_fd() to become readable, and call
 *     lawn_loop_turn();
 *   - a wait with a limit: call lawn_loop_turn(), and wait until the time that
 *     it returns, or until something else happens.
 *
 * TIME is CLOCK_MONOTONIC in nanoseconds, unless the options say otherwise.
 * Each start of a TTL reads the clock, so that it counts from now, however
 * long ago the loop woke up. To save that, 20 ns on most machines, a program
 * that starts many timers at one moment passes lawn_loop_now() plus the TTL to
 * lawn_loop_start_at().
 *   A suspended machine: CLOCK_MONOTONIC stands still, so that timers have as
 * long to wait after it as they had before. With LAWN_LOOP_BOOTTIME the time
 * counts, and what became due meanwhile fires on return. Neither is moved when
 * somebody sets the wall clock. A clock that runs back is ignored: it stands
 * until it has caught up. One that jumps ahead makes timers due, each once;
 * periodic ones as their mode says.
 *   In tests, the clock is yours: let it return a variable, and go from one
 * deadline to the next without waiting:
 *     while ((next = lawn_loop_next(loop)) != LAWN_NEVER) {
 *         now = next > now ? next : now; // a callback may have moved it
 *         lawn_loop_turn(loop);
 *     }
 *
 * PROMISES, by the numbers that assertions, tests and proofs cite. P1 to P6,
 * P9 and P10 of lawn.h hold. Moreover:
 *   L1  never early      a callback runs only when the clock, read after the
 *                        start, has reached the deadline
 *   L2  the wake-up      while timers run, a wake-up is set at or before the
 *                        earliest deadline; it is set anew only when that moves
 *                        earlier than what is set, or when what was set has
 *                        come. An adapter's is taken back with the last timer;
 *                        a timerfd may come once more, for nothing
 *   L3  the budget       a turn ends after the callback that used up its
 *                        budget, in timers or in time; what is left fires first
 *                        in the next turn, and a wake-up is set for at once
 *   L4  no drift         fires of a fixed rate are due at first + n * period
 *                        exactly, however late those before were
 *   L5  skip, catch up   of missed periods, skip fires one, and counts the
 *                        others; catch-up fires each, one in a turn: for the
 *                        order of P4, what is behind is due when the turn is.
 *                        While the clock stands, 16 timers can catch up
 *   L6  fixed delay      the period counts from the callback's return
 *   L7  stop is final    in every mode, in the timer's own callback too
 *   L8  lateness         of every fire is in the histogram: the clock when the
 *                        callback began, less when it was due; if periods were
 *                        skipped, less when the first of them was
 *
 * THREADS: a loop has one owner, as a lawn has. For timers of many threads
 * there is lawn_workers.h. In a child after fork(), call nothing on the loop
 * but lawn_loop_free(): its descriptors are the parent's as well.
 */
#ifndef LAWN_LOOP_H
#define LAWN_LOOP_H

#include <lawn.h>
#include <lawn_histogram.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAWN_LOOP_MS UINT64_C(1000000)
#define LAWN_LOOP_SECOND UINT64_C(1000000000)

struct lawn_loop;
struct lawn_loop_timer;

/* Called when a timer fires. One that fires once is idle by then: start it
 * again, or free it. One that repeats is running by then, for its next fire:
 * stop it before you free it. The callback may start, restart and stop any
 * timer of the loop, and watch and unwatch descriptors. In it,
 * lawn_loop_turn(), lawn_loop_run() and lawn_loop_free() do nothing. */
typedef void lawn_loop_fire_fn(struct lawn_loop_timer *timer,
                               struct lawn_loop *loop);

/* A timer, part of an object of yours: 64 bytes on machines of 64 bits.
 * All-zero bytes are an idle timer. Set fire before the first start, and
 * change it when you like; arg is yours; read due and missed; leave the other
 * fields to the library. Do not copy, move or free a running timer. */
struct lawn_loop_timer {
    struct lawn_timer timer;
    uint64_t period; /* 0: fires once */
    lawn_loop_fire_fn *fire;
    void *arg;    /* for fire to use */
    uint64_t due; /* in its callback: when it was due. At a fixed rate that
                        is exact, and of periods that were missed the last */
    uint32_t mode;
    uint32_t missed; /* in its callback: periods before that one that were
                        skipped, at most UINT32_MAX */
};

/* What a periodic timer does when it is late. */
enum lawn_loop_mode {
    LAWN_LOOP_SKIP,     /* fixed rate; what was missed is not fired */
    LAWN_LOOP_CATCH_UP, /* fixed rate; every period fires */
    LAWN_LOOP_DELAY     /* the period counts from the end of the callback */
};

enum lawn_loop_clock { LAWN_LOOP_MONOTONIC, LAWN_LOOP_BOOTTIME };

/* For adapters. Sets the one wake-up of the host, the event loop that the
 * timers live in, in place of the one that was set before: at that time the
 * host calls lawn_loop_woken(). when is a time on the loop's clock; one that
 * has passed means at once, and LAWN_NEVER that no timer is running and none
 * is needed. Called at the end of a turn, and by start and stop outside of
 * one, as L2 says. It may call lawn_loop_now() and lawn_loop_update(), and
 * nothing else of the loop. */
typedef void lawn_loop_arm_fn(struct lawn_loop *loop, uint64_t when,
                              void *context);

/* How to make a loop. Zero in any field means the default. */
struct lawn_loop_options {
    /* Its lawn: blades, resolution, allocator, which serves all memory of the
     * loop. The time at first is the clock's. A resolution of LAWN_LOOP_MS
     * makes timers due on whole milliseconds, and a loop wake less often; it
     * does not round the periods of a fixed rate. */
    struct lawn_options lawn;

    /* How long a turn takes: at most so many timers, default 1024, and no
     * longer than so many ticks; default: as long as it takes. */
    size_t budget;
    uint64_t budget_time;

    /* The clock; or one of your own, with any unit and origin. */
    enum lawn_loop_clock clock_id;
    uint64_t (*clock)(void *context);
    void *clock_context;

    /* For adapters; NULL: there is no host, or it is lawn_loop_fd(). */
    lawn_loop_arm_fn *arm;
    void *arm_context;
};

/* What a loop has done. */
struct lawn_loop_counters {
    uint64_t turns;     /* of which */
    uint64_t idle;      /* fired nothing */
    uint64_t truncated; /* ended because of the budget */
    uint64_t fires;     /* callbacks */
    uint64_t missed;    /* periods that were skipped */
    uint64_t arms;      /* times that the wake-up was set, or taken back */
    uint64_t count;     /* timers running now */
};

/* A new loop, or NULL with errno ENOMEM, or EINVAL if clock_id is unknown.
 * options may be NULL. O(blades + slots). */
struct lawn_loop *lawn_loop_new(const struct lawn_loop_options *options);

/* Forgets all timers and descriptors, and gives the loop's memory back; closes
 * the descriptors that it made, none of yours. To use a timer or a watch again
 * that was in use, zero it first. loop may be NULL. False in a callback:
 * nothing was done. */
bool lawn_loop_free(struct lawn_loop *loop);

/* Starts a timer, or restarts a running one, to fire once: ttl from now, on
 * the clock as it is read here; or at a time on the clock. TTLs and deadlines
 * are as in lawn.h: a TTL of 0 counts as one tick, and is not for the turn
 * under way. Cannot fail. O(1) at worst. */
void lawn_loop_start(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                     uint64_t ttl);
void lawn_loop_start_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                        uint64_t deadline);

/* Starts a timer, or restarts a running one, to fire every period: the first
 * time a period from now, or at a time on the clock. A period of 0 counts as 1
 * tick. Cannot fail. O(1) at worst. */
void lawn_loop_every(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                     uint64_t period, enum lawn_loop_mode mode);
void lawn_loop_every_at(struct lawn_loop *loop, struct lawn_loop_timer *timer,
                        uint64_t first, uint64_t period,
                        enum lawn_loop_mode mode);

/* Stops a timer. True: it was running, and does not fire any more [L7]; its
 * memory is yours. False: it was idle. Cannot fail. O(1) at worst. */
bool lawn_loop_stop(struct lawn_loop *loop, struct lawn_loop_timer *timer);

/* Whether the timer is running, and when it is due; LAWN_NEVER if it is idle.
 * O(1). */
bool lawn_loop_pending(const struct lawn_loop_timer *timer);
uint64_t lawn_loop_deadline(const struct lawn_loop_timer *timer);

/* Reads the clock and fires what is due, within the budget. Returns when the
 * next turn is due: a time that has passed if there is more to do at once,
 * LAWN_NEVER if no timer is running. In a callback it does nothing and returns
 * LAWN_NEVER. */
uint64_t lawn_loop_turn(struct lawn_loop *loop);

/* For adapters: the same, when the wake-up that was set has come, be it early:
 * it is gone, and a new one gets set if a timer is running. */
uint64_t lawn_loop_woken(struct lawn_loop *loop);

/* What the options had as arm_context. */
void *lawn_loop_arm_context(const struct lawn_loop *loop);

/* The newest time that the loop has read; and reads the clock, and returns it.
 */
uint64_t lawn_loop_now(const struct lawn_loop *loop);
uint64_t lawn_loop_update(struct lawn_loop *loop);

/* When the next turn is due: the exact earliest deadline, or LAWN_NEVER. */
uint64_t lawn_loop_next(struct lawn_loop *loop);

/* How many timers are running. O(1). */
uint64_t lawn_loop_count(const struct lawn_loop *loop);

/* Its lawn, to ask: lawn_stats(), lawn_set_resolution(), lawn_each(). Its
 * timers are those of struct lawn_loop_timer; do not start, stop or mow on it.
 */
struct lawn *lawn_loop_lawn(struct lawn_loop *loop);

/* Counters. O(1). */
void lawn_loop_stats(const struct lawn_loop *loop,
                     struct lawn_loop_counters *out);

/* How late timers fired, in ticks of the clock [L8]. It is the loop's own:
 * empty it, to begin anew, when you like. */
struct lawn_histogram *lawn_loop_lateness(struct lawn_loop *loop);

/* Whether all invariants hold, as lawn_check() tells. */
bool lawn_loop_check(struct lawn_loop *loop, FILE *out);

/* A file descriptor that is readable when a turn is due: a timerfd, to wait
 * for in any event loop, and not to be read or closed; lawn_loop_turn() makes
 * it unreadable again. -errno: if the system has none to give; -EINVAL if the
 * clock is one of your own, or the options had arm; -ENOSYS where there is no
 * timerfd(2). */
int lawn_loop_fd(struct lawn_loop *loop);

/* THE LOOP'S OWN WAIT, on epoll(7), for those who have none. */

enum { LAWN_LOOP_READ = 1, LAWN_LOOP_WRITE = 2, LAWN_LOOP_HANGUP = 4 };

struct lawn_loop_watcher;

/* Called when a descriptor is ready: ready is what of READ and WRITE it is
 * watched for and ready for; and HANGUP, with all that it is watched for, if
 * there is an error or no data can go either way any more. That the other end
 * will send no more is told by a read() that returns 0. The callback may watch
 * and unwatch any descriptor, free any watch that is unwatched, and start and
 * stop timers. */
typedef void lawn_loop_ready_fn(struct lawn_loop_watcher *watch, unsigned ready,
                                struct lawn_loop *loop);

/* A watched descriptor, part of an object of yours. Set ready and arg; leave
 * the rest to the library. */
struct lawn_loop_watcher {
    lawn_loop_ready_fn *ready;
    void *arg;       /* for ready to use */
    int fd;          /* that was watched last */
    unsigned events; /* 0: it is not watched */
};

/* Watches a descriptor for events: READ, WRITE or both; level-triggered. If
 * the watch is in use for that descriptor, changes the events. 0, or -errno:
 * -EINVAL if events makes no sense or the watch is in use for another
 * descriptor, -EEXIST if another watch has the descriptor, -EPERM if it cannot
 * be waited for, -EBADF, -ENOMEM; or as lawn_loop_fd() says. */
int lawn_loop_watch(struct lawn_loop *loop, struct lawn_loop_watcher *watch,
                    int fd, unsigned events);

/* Watches it no more: its callback is not called again. Before the descriptor
 * is closed. Does nothing if it is not watched. */
void lawn_loop_unwatch(struct lawn_loop *loop, struct lawn_loop_watcher *watch);

/* Waits and calls back until lawn_loop_quit(), or until there is neither a
 * running timer nor a watch. In a round, what is ready is served before what is
 * due, at most 64 descriptors and a budget of timers. 0, or -errno as
 * lawn_loop_fd() or epoll says; -EDEADLK in a callback. It may be run again. */
int lawn_loop_run(struct lawn_loop *loop);

/* One round of that: waits until something is ready or due, or if wait is
 * false looks and does not wait. Returns how many callbacks were called, which
 * may be 0, as after a signal, or -errno. */
int lawn_loop_once(struct lawn_loop *loop, bool wait);

/* Makes lawn_loop_run() or lawn_loop_once() return when the callback under way
 * has; outside of one, the next of them returns at once. Not for signal
 * handlers or other threads: let them write to a descriptor that is watched. */
void lawn_loop_quit(struct lawn_loop *loop);

#ifdef __cplusplus
}
#endif
#endif
