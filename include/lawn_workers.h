/* lawn_workers.h - timers shared by many threads, with a lawn per thread.
 *
 * A set is a group of workers: threads that fire the timers of the set. A
 * worker owns shards. A shard is a lawn (see lawn.h) with a mailbox; only its
 * owner accesses the lawn. Each timer is assigned to a shard; the owner of this
 * shard is the timer's worker and runs its callback. Any thread may start and
 * stop a timer. On the timer's worker, this changes the lawn. On any other
 * thread, a stop marks the timer, and a start posts a message to the mailbox if
 * necessary. In a turn, a worker takes messages and fires due timers, see
 * lawn_worker_turn().
 *
 *     #include <lawn_workers.h>
 *     #include <stdio.h>
 *
 *     struct request {
 *         int id;
 *         struct lawn_workers_timer deadline; // zero-initialize it
 *     };
 *
 *     static void give_up(struct lawn_workers_timer *timer,
 *                         struct lawn_worker *worker)
 *     {
 *         struct request *r = LAWN_CONTAINER(timer, struct request, deadline);
 *         printf("request %d took too long\n", r->id);
 *     }
 *
 *     struct lawn_workers *set = lawn_workers_new(NULL);
 *     lawn_workers_add(set);                        // a thread
 *     lawn_workers_add(set);                        // another one
 *     r->deadline.fire = give_up;
 *     lawn_workers_start(set, &r->deadline, 5000000000); // in 5 s
 *     if (lawn_workers_stop(set, &r->deadline))     // from any thread
 *         ...                                       // it does not fire
 *     lawn_workers_stop_sync(set, &r->deadline);    // no callback runs
 *     free(r);
 *
 * WORKER THREADS
 *
 * lawn_workers_add() creates a thread. lawn_workers_attach() makes the calling
 * thread a worker. That thread then calls lawn_worker_run(); or it has an event
 * loop that also waits for lawn_worker_fd(), and calls lawn_worker_turn() in
 * each iteration.
 *
 * ROUTING
 *
 * Routing by owner (default) assigns a started timer to a worker as follows:
 *   - A timer that is running or firing stays on its worker. So does a timer
 *     that another thread has stopped, until its old deadline.
 *   - Any other timer is assigned to the worker that starts it. If the starting
 *     thread is not a worker, the timer returns to its previous worker; for a
 *     first start the workers are chosen cyclically.
 *
 * lawn_workers_start_on() assigns the timer to the given worker instead.
 *
 * Routing by TTL assigns all timers with the same TTL to the same worker.
 *
 * TIME
 *
 * The default clock is CLOCK_MONOTONIC in nanoseconds. On the timer's worker a
 * TTL counts from lawn_worker_now(). In a callback, this is the time when the
 * callback began. So a long callback should call lawn_worker_update() before it
 * starts timers. On any other thread a TTL counts from the clock, which the
 * start reads.
 *
 * PROMISES
 *
 * P1, P2, P4 to P6 and P9 of lawn.h apply to the timers of each shard; C1
 * replaces P3. There are two exceptions for a timer that a thread other than
 * its worker has started:
 *   - It may fire in any order with other due timers. If its message still
 *     waits in the mailbox [C9], it may fire in a later turn.
 *   - It may be late by up to 1/1024 of its TTL, but only if a timer that was
 *     started later, with any TTL, reached the lawn before it.
 *
 * In addition, C1 to C9 apply. left() is the callback that lawn_workers_close()
 * calls for each timer that is still running when the workers have ended.
 *   C1  One end: each start that takes effect ends in exactly one way: the
 *       timer fires, is stopped, is started again, or is made idle by
 *       lawn_workers_close(), which passes it to left().
 *   C2  Result of stop: for each start, lawn_workers_stop() returns true to at
 *       most one caller; then the timer does not fire. It returns false and has
 *       no effect if the timer is not running, if the worker has begun to fire
 *       it, or if it is being started by a thread other than its worker.
 *   C3  stop_sync waits: when lawn_workers_stop_sync() returns, the library
 *       does not refer to the timer, and neither its callback nor left() is
 *       running for it, unless that callback or left() made this call.
 *   C4  One callback: at most one callback of a timer runs at a time, on the
 *       timer's worker.
 *   C5  Local calls are cheap: on the timer's worker, starting and stopping
 *       perform no atomic read-modify-write, lock or system call, apart from
 *       the exceptions below.
 *   C6  No waiting: starting and stopping on other threads do not wait for any
 *       thread, apart from the exception below.
 *   C7  Wake-ups: no wake-up is lost. A burst of messages wakes a worker once.
 *       A start by another thread wakes a sleeping worker in exactly two cases:
 *       (a) the start posts a message to this worker, and the timer is due
 *       before the worker would wake; (b) the timer moves from another worker
 *       to this one, whatever its deadline.
 *   C8  Changing workers: adding and removing workers loses no timer, and a
 *       shard changes its worker only between two turns.
 *   C9  Floods: a turn takes at most options.budget messages before it fires
 *       due timers, however many messages are waiting.
 *
 * A timer may be freed after lawn_workers_stop_sync() [C3]. The callback and
 * left() may free their own timer without this call, if no other thread can
 * access it.
 *
 * Exceptions to C5:
 *   - The first start of a timer performs one compare-and-swap.
 *   - A call performs one compare-and-swap if another thread has started or
 *     stopped the timer before, or if the system has no membarrier(2).
 *   - The first start after a turn reads the clock and takes messages from the
 *     worker's mailboxes, at most options.budget of them.
 *
 * Exception to C6: if a timer has so far been used only by its worker, a start
 * or stop of it by another thread calls membarrier(2) and examines all shards,
 * O(shards). The call waits while the worker is starting or stopping that
 * timer.
 *
 * MEMORY
 *
 * Only lawn_workers_new(), lawn_workers_add() and lawn_workers_attach()
 * allocate memory.
 *
 * TWO THREADS AND ONE TIMER
 *
 * While a thread other than the timer's worker is starting the timer, other
 * starts do nothing and return 0; for stops see C2. If a timer is started while
 * its callback runs, it does not fire again before the callback has returned.
 *
 * WAITING, CANCELLATION AND FORK
 *
 * Some functions may wait briefly for another thread: they yield the processor
 * and check again. Threads with a fixed priority above others should not call
 * them. These functions are lawn_workers_stop_sync(), lawn_worker_turn(),
 * lawn_worker_run(), those that add, remove, attach or detach workers,
 * lawn_workers_close() and lawn_workers_free(); and starts and stops, in the
 * exception to C6.
 *
 * Do not call pthread_cancel() on a worker, or on a thread that is removing a
 * worker or closing the set. Other threads may be canceled: they complete their
 * current call first. After fork(), the child process must neither use nor free
 * the set. If membarrier(2) is refused after the set was created, for example
 * by a sandbox, the program prints a message and aborts.
 *
 * WHEN TO CHOOSE SOMETHING ELSE
 *
 * If threads rarely use timers at the same time, one lawn behind a mutex is
 * enough.
 */
#ifndef LAWN_WORKERS_H
#define LAWN_WORKERS_H

#include <lawn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* TIMERS AND SETS */

struct lawn_workers; /* a set of workers */
struct lawn_worker;  /* a worker */
struct lawn_workers_timer;

/* Callback of a timer, called on its worker. The timer is idle: the callback
 * may start it again, or free it if no other thread can access it.
 * lawn_last_deadline(&timer->timer) returns when it was due. The callback must
 * not call lawn_workers_free(). */
typedef void lawn_workers_fire_fn(struct lawn_workers_timer *timer,
                                  struct lawn_worker *worker);

/* A word that threads share. It must be aligned to 8 bytes; on some 32-bit
 * machines a uint64_t is not. */
#if defined __GNUC__
#define LAWN_WORKERS_WORD __attribute__((aligned(8))) uint64_t
#else
#define LAWN_WORKERS_WORD uint64_t
#endif

/* A timer, embedded in an object of the caller: 72 bytes on 64-bit machines.
 * All-zero bytes are an idle timer. Set the field fire before the first start,
 * and change it only while the timer is idle. The other fields are private. Do
 * not copy or move a timer that was ever started. It may be started on another
 * set only after its callback has returned, after lawn_workers_stop_sync(), or
 * after its set was closed. */
struct lawn_workers_timer {
    struct lawn_timer timer;
    LAWN_WORKERS_WORD state;
    uint32_t shared;
    uint32_t shard;
    LAWN_WORKERS_WORD when;
    LAWN_WORKERS_WORD ttl;
    struct lawn_workers_timer *next;
    lawn_workers_fire_fn *fire;
};

/* How the worker of a timer is selected. */
enum lawn_workers_route {
    LAWN_WORKERS_BY_OWNER, /* the worker that starts it, or its previous one */
    LAWN_WORKERS_BY_TTL    /* the same worker for all timers of a TTL */
};

/* Maximum number of workers of a set at the same time, and of shards. */
#define LAWN_WORKERS_MAX 256u
#define LAWN_WORKERS_SHARDS_MAX 1024u

/* Options of a new set. Zero in a field selects its default. */
struct lawn_workers_options {
    /* Options of each shard's lawn. Their allocator provides all memory of the
     * set, and is called on any thread that adds a worker. lawn.now is ignored.
     */
    struct lawn_options lawn;

    /* Default LAWN_WORKERS_BY_OWNER. */
    enum lawn_workers_route route;

    /* Routing by TTL distributes TTLs to this number of shards, so at most as
     * many workers have timers; default 16, at most LAWN_WORKERS_SHARDS_MAX.
     * With routing by owner it has no effect: each worker has one shard, plus
     * those taken over from removed workers. */
    unsigned shards;

    /* Maximum number of messages that a turn takes before it fires timers, and
     * of timers that it fires; default 256. */
    size_t budget;

    /* The clock; default CLOCK_MONOTONIC. It is called on all threads and must
     * not run backward. While a worker sleeps, it does not read a clock that is
     * set here: call lawn_workers_wake() after the clock advanced. */
    uint64_t (*clock)(void *context);
    void *clock_context;
};

/* Counters of a worker, or of all workers. */
struct lawn_workers_counters {
    unsigned workers;   /* current workers of the set; always 1 in the result of
                           lawn_workers_stats_of() */
    unsigned shards;    /* shards, including those of removed workers */
    uint64_t held;      /* timers on the lawns, including those stopped by
                           another thread and not yet unlinked */
    uint64_t fires;     /* callbacks called */
    uint64_t messages;  /* messages taken from mailboxes: starts, and requests
                           of lawn_workers_stop_sync() */
    uint64_t turns;     /* turns */
    uint64_t wakes;     /* turns for which another thread woke the worker */
    uint64_t late_most; /* maximum lateness of a timer, in ticks */
    uint64_t late_sum;  /* sum of the lateness of all timers, in ticks */
    uint64_t behind;    /* ticks since the current turn began, 0 if the worker
                           sleeps: large if a callback blocks the worker. For
                           all workers: the maximum */
};

/* Creates a set without workers. options may be NULL. Returns NULL and sets
 * errno on failure: ENOMEM if there is not enough memory, EINVAL if
 * options.route is unknown or options.shards is too large. O(shards * (blades +
 * slots)); with routing by owner, the set begins with one shard. */
struct lawn_workers *
lawn_workers_new(const struct lawn_workers_options *options);

/* WORKERS */

/* Adds a worker on a new thread, in which all signals are blocked. If there are
 * more shards than workers, it takes over its share of them. Otherwise, with
 * routing by owner it gets a new shard; with routing by TTL it gets none until
 * another worker is removed. Returns its number, which is below
 * LAWN_WORKERS_MAX, or an error: -ENOSPC if the set has LAWN_WORKERS_MAX
 * workers; -ENOMEM; -EAGAIN if the system cannot create a thread; -ESHUTDOWN if
 * the set is closed. On failure no worker is added, and all timers keep
 * running. The set may keep memory for the next call. After -EAGAIN it may keep
 * a new shard, too, and shards may have moved between workers.
 *
 * O(workers * shards^2 + blades + slots) plus the creation of the thread;
 * workers is the largest number of workers that the set has had. */
int lawn_workers_add(struct lawn_workers *set);

/* Removes a worker by its number; its shards move to the other workers, with
 * all timers. If lawn_workers_add() created the thread, waits for its end. It
 * does not wait for an attached thread, which hands over its shards in its next
 * lawn_worker_turn(). Then lawn_worker_run() returns on that thread and
 * lawn_worker_ended() returns true; the thread must call lawn_worker_detach().
 * Returns 0 or an error: -ENOENT if there is no such worker; -EBUSY if it is
 * the last worker; -EDEADLK if called on a worker of the set; -ESHUTDOWN if the
 * set is closed. On failure nothing changes. O(workers * shards^2), see
 * lawn_workers_add(), plus the wait for the thread, which completes its current
 * turn. */
int lawn_workers_remove(struct lawn_workers *set, unsigned worker);

/* Makes the calling thread a worker, like a thread of lawn_workers_add().
 * Returns NULL and sets errno on failure: EBUSY if the thread is already a
 * worker, ENOSPC, ENOMEM or ESHUTDOWN as for lawn_workers_add(). On failure
 * nothing changes, except that the set may keep memory. O(workers * shards^2 +
 * blades + slots), see lawn_workers_add(). */
struct lawn_worker *lawn_workers_attach(struct lawn_workers *set);

/* Makes the calling thread an ordinary thread again. Its shards move to the
 * other workers; if there are none, to the next worker that is added. Does
 * nothing in a callback. An attached thread must not exit without this call:
 * its timers and lawn_workers_close() would wait forever. O(workers *
 * shards^2), see lawn_workers_add(). */
void lawn_worker_detach(struct lawn_worker *worker);

/* Runs turns until the worker has ended, see lawn_worker_ended(). Returns 0, or
 * -EDEADLK in a callback; then nothing changes. Blocks while there is nothing
 * to do; each turn costs as much as lawn_worker_turn(). Call
 * lawn_worker_detach() afterward. */
int lawn_worker_run(struct lawn_worker *worker);

/* Runs one turn: takes messages and fires due timers, up to options.budget of
 * each. Returns the time of the next turn on the set's clock: a time in the
 * past if more work is waiting, LAWN_NEVER if nothing is scheduled. In a
 * callback it does nothing and returns LAWN_NEVER. The cost is that of
 * lawn_mow() and lawn_next() for each shard of the worker, plus O(shards of the
 * worker) for each message; after lawn_workers_close() was called, also
 * O(timers). */
uint64_t lawn_worker_turn(struct lawn_worker *worker);

/* Returns true if the worker has ended: it was removed, or the set is closed
 * and no work remains. O(1). Then call lawn_worker_detach(), for which
 * lawn_workers_close() waits. */
bool lawn_worker_ended(const struct lawn_worker *worker);

/* Returns a file descriptor, or an error: -ENOSYS if the system has no
 * eventfd(2), or the -errno of that call; then nothing changes. O(1); the first
 * call creates the descriptor. Wait for it, at most until the time that the
 * last lawn_worker_turn() returned. It becomes readable if a call on another
 * thread requires an earlier turn. A start on this thread does not make it
 * readable: run a turn before each wait. Do not read or close the descriptor.
 */
int lawn_worker_fd(struct lawn_worker *worker);

/* lawn_worker_now() returns the worker's time, in O(1). lawn_worker_update()
 * sets the time from the set's clock, in O(shards of the worker). Call both
 * only on the worker's thread.
 *
 * The time is also set when a turn begins, before each callback, and by the
 * first start after a turn. So the TTLs of all starts between two turns count
 * from the first of them, unless lawn_worker_update() is called in between. */
uint64_t lawn_worker_now(const struct lawn_worker *worker);
void lawn_worker_update(struct lawn_worker *worker);

/* Return the number of the worker, and its set. O(1). */
unsigned lawn_worker_number(const struct lawn_worker *worker);
struct lawn_workers *lawn_worker_set(const struct lawn_worker *worker);

/* Returns the worker of the calling thread, or NULL if the thread is not a
 * worker. O(1). */
struct lawn_worker *lawn_workers_self(void);

/* Makes the calling thread act as another worker, or as none if worker is NULL.
 * Returns its previous worker. O(1). For tests that run several workers
 * alternately on one thread. */
struct lawn_worker *lawn_workers_be(struct lawn_worker *worker);

/* STARTING AND STOPPING */

/* Starts a timer, or restarts a running one: it is due when ttl has passed, or
 * at the deadline. TTLs and deadlines are as in lawn.h. With routing by TTL,
 * lawn_workers_start_at() selects the worker as with routing by owner. If that
 * worker has no shard, the timer is assigned to a shard chosen cyclically
 * instead. Returns 0, or -ESHUTDOWN if the set is closed; then nothing changes.
 * O(1), apart from the exceptions to C5 and C6. */
int lawn_workers_start(struct lawn_workers *set,
                       struct lawn_workers_timer *timer, uint64_t ttl);
int lawn_workers_start_at(struct lawn_workers *set,
                          struct lawn_workers_timer *timer, uint64_t deadline);

/* Like lawn_workers_start(), on the worker with the given number. A timer that
 * runs on another worker moves. With routing by TTL, the TTL selects the worker
 * instead. Returns 0, -ENOENT if there is no worker with this number, or
 * -ESHUTDOWN; on failure nothing changes. O(1), apart from the exceptions to C5
 * and C6. */
int lawn_workers_start_on(struct lawn_workers *set,
                          struct lawn_workers_timer *timer, uint64_t ttl,
                          unsigned worker);

/* Stops a timer. Returns true if this call stopped it: it does not fire [C2].
 * Otherwise returns false; for the cases see C2. O(1), apart from the
 * exceptions to C5 and C6. The library may refer to the timer until its
 * deadline: before you free it, call lawn_workers_stop_sync(). */
bool lawn_workers_stop(struct lawn_workers *set,
                       struct lawn_workers_timer *timer);

/* Stops a timer like lawn_workers_stop(), and waits until its callback is not
 * running and the library does not refer to the timer [C3]. If the timer is
 * started again in the meantime, for example by its callback, that start is
 * stopped as well. Returns true if at least one start was stopped. The cost is
 * that of lawn_workers_stop() plus the wait.
 *
 * In the timer's own callback the call does not wait for that callback. In
 * left() it never waits, for any timer. On another thread, while
 * lawn_workers_close() calls left() for the remaining timers:
 *   - If left() is running for this timer, the call waits until it has
 *     returned.
 *   - If left() was not called for this timer yet, the call prevents that. It
 *     waits until left() has returned for the other timers of the shard.
 *
 * The call waits forever if two workers wait for each other's callbacks, if a
 * callback or left() waits for the caller, or if the set is open and no worker
 * takes turns. */
bool lawn_workers_stop_sync(struct lawn_workers *set,
                            struct lawn_workers_timer *timer);

/* Returns the current time of the set's clock. O(1). */
uint64_t lawn_workers_now(const struct lawn_workers *set);

/* Returns true if the timer is running. If another thread starts or stops it
 * during the call, either result is possible. O(1). */
bool lawn_workers_pending(const struct lawn_workers_timer *timer);

/* Wakes all workers, so that each reads the clock and fires due timers.
 * O(workers). */
void lawn_workers_wake(struct lawn_workers *set);

/* CLOSING */

/* Callback of lawn_workers_close() for a timer that was still running when the
 * workers had ended. The timer is already idle, and left() may free it. To free
 * other timers too, for example in the same object, call
 * lawn_workers_stop_sync() on each of them first.
 *
 * If another thread may free the timer as well, it must call
 * lawn_workers_stop_sync() first, which waits for left() [C3]; so left() must
 * not wait for that thread. The program must ensure that only one of the two
 * frees the timer. left() is not called for stopped timers; these may be freed
 * after lawn_workers_close() has returned. */
typedef void lawn_workers_left_fn(struct lawn_workers_timer *timer, void *arg);

/* Closes a set. New starts fail with -ESHUTDOWN. The argument until is a time:
 * timers with a deadline up to this time still fire when they are due. Then the
 * workers end: at once if the argument is 0, after the last timer if it is
 * LAWN_NEVER. Blocks until all workers have ended and all attached threads are
 * detached. Then makes the remaining timers idle and calls left() for each of
 * them, unless it is NULL. Returns the number of these timers. On a worker of
 * the set, or if the set is already closed, does nothing and returns 0. The
 * cost is the wait, plus O(timers + shards^2 + shards * blades) after the
 * workers have ended.
 *
 * A start that another thread is executing when the set is closed either fails
 * and changes nothing, or succeeds; then C1 applies. If such a start moves the
 * timer to an attached thread, the timer may be passed to left() even if the
 * argument until is at or after its deadline. */
uint64_t lawn_workers_close(struct lawn_workers *set, uint64_t until,
                            lawn_workers_left_fn *left, void *arg);

/* Closes the set at once, unless it is closed, and frees it. If the caller is a
 * worker of the set, it is detached. set may be NULL. No thread may use the set
 * afterward. The cost is that of lawn_workers_close(). */
void lawn_workers_free(struct lawn_workers *set);

/* STATISTICS AND CHECKS */

/* Fill *out with the counters of all workers since the set was created, or of
 * one worker since it was added. lawn_workers_stats_of() returns false if there
 * is no such worker; then *out is unchanged. O(workers + shards). May be called
 * on any thread; the values are from about the same moment. */
void lawn_workers_stats(struct lawn_workers *set,
                        struct lawn_workers_counters *out);
bool lawn_workers_stats_of(struct lawn_workers *set, unsigned worker,
                           struct lawn_workers_counters *out);

#if !defined LAWN_FREESTANDING
/* Checks all invariants, like lawn_check(). Returns true if they hold. O(size
 * of the set). No other thread may use the set meanwhile. */
bool lawn_workers_check(struct lawn_workers *set, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
