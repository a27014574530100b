/* lawn_workers.h - timers of many threads: a lawn each, and no lock between.
 *
 * A set of workers is a few threads, each with a lawn of its own that only it
 * touches. Any thread starts, restarts and stops timers: on the thread that
 * keeps the timer this is a start on its own lawn, and on any other a message
 * in its mailbox. The timer's callback runs on the worker that keeps it.
 *
 *     #include <lawn_workers.h>
 *     #include <stdio.h>
 *
 *     struct request {
 *         int id;
 *         struct lawn_workers_timer deadline; // zeroed at first
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
 *     lawn_workers_add(set);                        // a thread; and another
 *     lawn_workers_add(set);
 *     r->deadline.fire = give_up;
 *     lawn_workers_start(set, &r->deadline, 5000000000); // in 5 s
 *     if (lawn_workers_stop(set, &r->deadline))     // from whatever thread
 *         ...                                       // it does not fire
 *     lawn_workers_stop_sync(set, &r->deadline);    // nor is it firing
 *     free(r);
 *
 * THREADS of a set are made by the library, lawn_workers_add(), or are the
 * caller's, lawn_workers_attach(). The latter have two ways to serve: to call
 * lawn_worker_run(), which does nothing else, or lawn_worker_turn() in each
 * round of an event loop of their own, which waits for lawn_worker_fd() too.
 *
 * WHERE A TIMER GOES. By owner, as is the default: to the worker that starts
 * it, if a worker does; else to where it was before, and at first to one worker
 * after the other; or to the one that lawn_workers_start_on() names. A timer
 * that runs, or fires, stays where it is when it is started again. Or by TTL, as
 * the paper splits its buckets: all timers of a TTL go to the same worker. When
 * workers come and go, whole lawns move from thread to thread; no timer is
 * touched.
 *
 * TIME is CLOCK_MONOTONIC in nanoseconds, or any clock that the options give. A
 * TTL counts from that clock for a start from another thread; on the worker
 * itself it counts from lawn_worker_now(): in a callback that is the time at
 * which it began, and one that takes long calls lawn_worker_update() before it
 * starts timers.
 *
 * PROMISES, by the numbers that assertions, tests and proofs cite. P1 to P6 and
 * P9 of lawn.h hold of the timers on each worker; but timers that other threads
 * started fire in any order among what is due in one round, and may be late by a
 * 1024th of their TTL if others were faster in the mail. Moreover:
 *   C1  one end          each start ends in exactly one way: the timer fires,
 *                        or is stopped, or started again, or is left over by
 *                        lawn_workers_close()
 *   C2  result of stop   lawn_workers_stop() returns true to one caller, and
 *                        then the timer does not fire; else it had ended
 *   C3  stop_sync        when it has returned, neither the callback nor left()
 *                        of lawn_workers_close() is running for the timer, and
 *                        the library does not refer to the timer; it may be
 *                        freed. The callback and left() themselves may free
 *                        their timer too
 *   C4  one callback     of a timer runs at a time, on the worker that keeps it
 *   C5  local is local   start and stop on the worker that keeps the timer make
 *                        no atomic read-modify-write, lock or system call. But
 *                        one compare-and-swap on a word of the timer: its first
 *                        start, and if other threads have started or stopped
 *                        it, and where there is no membarrier(2). And the first
 *                        start after a round takes the mail, and reads the
 *                        clock
 *   C6  no waiting       start and stop from other threads wait for nobody. But
 *                        the first one on a timer that had been its worker's
 *                        alone costs a system call, membarrier(2), and if its
 *                        worker is starting or stopping that very timer at that
 *                        moment, it waits for that
 *   C7  wake-ups         a sleeping worker is woken when it must wake earlier
 *                        than it would, once per burst, or a timer moves to it,
 *                        and not otherwise; none is lost
 *   C8  come and go      adding and removing workers loses no timer; a lawn
 *                        changes hands when the round under way is over
 *   C9  floods           a worker fires what is due after at most a budget of
 *                        messages, however many wait
 * Memory is only needed by lawn_workers_new(), _add() and _attach(): the link
 * of the mailbox is part of the timer, so a start cannot fail for want of it.
 *
 * TWO THREADS AT ONCE on one timer: while a thread that is not its worker is
 * within a start of it, other starts of it do nothing and return 0, and stops do
 * nothing and return false: that start would undo them. A start while the timer
 * fires makes it run again when its callback has returned, never while it runs.
 *
 * WAITING. What waits here for a moment that is near, such as a worker in
 * lawn_workers_stop_sync(), yields the processor and looks again; threads of
 * fixed priorities above others should leave that to the others. A thread may be
 * cancelled, pthread_cancel(), that is no worker, and does not remove one or close
 * the set: what it had begun here is done before it ends. A child after
 * fork() has no workers: it must not use the set, nor free it. Where the system
 * had membarrier(2) when the set was made, it must not refuse it later, as a
 * sandbox may: the program is ended then, with a message.
 *
 * WHEN TO CHOOSE SOMETHING ELSE: no thread ever touches another's timers: give
 * each thread a lawn of its own, lawn.h. Or threads hardly ever meet: a lawn and a
 * mutex take no longer than a start through the mail, while the mutex is free. */
#ifndef LAWN_WORKERS_H
#define LAWN_WORKERS_H

#include <lawn.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lawn_workers; /* a set of workers */
struct lawn_worker;  /* one of them */
struct lawn_workers_timer;

/* Called when a timer fires, on the worker that keeps it. The timer is idle by
 * then: start it again, and it is periodic; or free it, if no other thread can
 * know it any more. Calls that cannot work here say so, or do nothing.
 * lawn_last_deadline(&timer->timer) is when it was due. */
typedef void lawn_workers_fire_fn(struct lawn_workers_timer *timer,
                                  struct lawn_worker *worker);

/* A word that threads share: aligned as such also where a uint64_t is not. */
#if defined __GNUC__
#define LAWN_WORKERS_WORD __attribute__((aligned(8))) uint64_t
#else
#define LAWN_WORKERS_WORD uint64_t
#endif

/* A timer, part of an object of yours: 72 bytes on machines of 64 bits. All-zero
 * bytes are an idle timer. Set fire before the first start, and change it only
 * while the timer is idle; leave the other fields to the library. Do not copy or
 * move a timer that was ever started. It belongs to the set that it was started
 * on, until its callback has returned, or it has been stopped by
 * lawn_workers_stop_sync(), or that set is closed. */
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

/* Where timers go. */
enum lawn_workers_route { LAWN_WORKERS_BY_OWNER, LAWN_WORKERS_BY_TTL };

/* How many workers a set can have at a time, and lawns. */
#define LAWN_WORKERS_MAX 256u
#define LAWN_WORKERS_SHARDS_MAX 1024u

/* How to make a set. Zero in any field means the default. */
struct lawn_workers_options {
    /* Each worker's lawn. Its allocator serves all memory of the set, from
     * whatever thread adds a worker. The time at first is the clock's. */
    struct lawn_options lawn;

    enum lawn_workers_route route;

    /* By TTL: how many lawns the TTLs are spread over, and so how many workers
     * can share them; default 16, at most LAWN_WORKERS_SHARDS_MAX. By owner
     * there is one for each worker. */
    unsigned shards;

    /* How many timers a worker fires, and how many messages it takes, before it
     * turns to the other; default 256. */
    size_t budget;

    /* The time, told to all threads; it must not run back. A TTL of 0 counts as
     * one tick of it. Default:
     * CLOCK_MONOTONIC in nanoseconds. With a clock of your own, workers that
     * have nothing to do sleep until lawn_workers_wake(): call it when the
     * clock has moved. So a test decides when and how far. */
    uint64_t (*clock)(void *context);
    void *clock_context;
};

/* What a worker, or all of them, have done. */
struct lawn_workers_counters {
    unsigned workers; /* of the set, at the moment */
    unsigned shards;  /* lawns: a worker's own, and those of removed ones */
    uint64_t held;    /* timers on the lawns; among them those that another
                           thread stopped and that are not yet taken off */
    uint64_t fires;
    uint64_t messages;  /* starts and stops that came through the mailbox */
    uint64_t turns;     /* rounds */
    uint64_t wakes;     /* rounds that another thread woke it for */
    uint64_t late_most; /* ticks that a timer fired late, at most */
    uint64_t late_sum;  /* and all together */
    uint64_t behind;    /* ticks since the round under way began: if these are
                           many, the worker is stuck in a callback; 0 if it
                           sleeps. Of all workers: the most */
};

/* A new set, with no workers yet. NULL with errno ENOMEM, or EINVAL if the
 * options make no sense. options may be NULL. */
struct lawn_workers *
lawn_workers_new(const struct lawn_workers_options *options);

/* Adds a worker: a thread of the library's. It takes its share of the lawns, if
 * there are more of them than workers, or a new one. Returns its number, which
 * is below LAWN_WORKERS_MAX, or -ENOSPC if there are that many, -ENOMEM,
 * -EAGAIN if the system has no thread to give, -ESHUTDOWN. Signals are blocked
 * in the thread. */
int lawn_workers_add(struct lawn_workers *set);

/* Removes a worker by its number: its lawns go to the others, with all timers.
 * A thread of the library's has ended when this returns; a caller's thread is
 * told to end: lawn_worker_run() returns there, or lawn_worker_ended() is true
 * after its next lawn_worker_turn(), and it has yet to be detached. 0, or -ENOENT
 * if there is none of that number; -EBUSY if it is the last; -EDEADLK on a worker
 * of the set; -ESHUTDOWN. */
int lawn_workers_remove(struct lawn_workers *set, unsigned worker);

/* Makes the calling thread a worker, as lawn_workers_add() does with a new one.
 * NULL with errno as there, or EBUSY if the thread is a worker already. */
struct lawn_worker *lawn_workers_attach(struct lawn_workers *set);

/* Ends that: the worker's lawns go to the others. If it is the last, they stay
 * with the set, and timers wait for the next worker. Does nothing in a callback.
 * A thread that is a worker must not end without this: its timers would wait for
 * it for ever, and so would lawn_workers_close(). */
void lawn_worker_detach(struct lawn_worker *worker);

/* Serves until the worker is removed or the set is closed; the worker has yet to
 * be detached. 0, or -EDEADLK in a callback. */
int lawn_worker_run(struct lawn_worker *worker);

/* One round: takes up to budget messages, fires up to budget timers of what is
 * due, and returns when the next round is due: a time on the set's clock, which
 * has passed if there is more to do at once, or LAWN_NEVER. What other threads
 * do in the meantime makes lawn_worker_fd() readable if it is due earlier than
 * that. In a callback it does nothing and returns LAWN_NEVER. */
uint64_t lawn_worker_turn(struct lawn_worker *worker);

/* Whether the worker has nothing more to do: it was removed, or the set is closed
 * and all is done. An event loop detaches it then; till then close waits. */
bool lawn_worker_ended(const struct lawn_worker *worker);

/* A file descriptor that becomes readable when there is a reason for a turn
 * before the time that the last one returned; to wait for in an event loop, and
 * not to be read or closed. -errno if the system has none to give. */
int lawn_worker_fd(struct lawn_worker *worker);

/* What the worker's TTLs count from; and sets it to the clock. In its thread
 * only. lawn_worker_turn() does the latter, and so does the first start after it:
 * so TTLs that an event loop starts between two turns count from the first event
 * after its wait. */
uint64_t lawn_worker_now(const struct lawn_worker *worker);
void lawn_worker_update(struct lawn_worker *worker);

/* Its number, and its set. */
unsigned lawn_worker_number(const struct lawn_worker *worker);
struct lawn_workers *lawn_worker_set(const struct lawn_worker *worker);

/* The worker that the calling thread is, or NULL. */
struct lawn_worker *lawn_workers_self(void);

/* Makes the calling thread another worker, or none, and returns which it was.
 * For tests that are several workers in one thread, by turns: with a clock of
 * their own, nothing happens but by their calls. */
struct lawn_worker *lawn_workers_be(struct lawn_worker *worker);

/* Starts a timer, or restarts a running one: it will be due ttl from now, or at
 * the deadline. TTLs and deadlines are as in lawn.h. 0, or -ESHUTDOWN if the set
 * is closed, and nothing has changed. */
int lawn_workers_start(struct lawn_workers *set,
                       struct lawn_workers_timer *timer, uint64_t ttl);
int lawn_workers_start_at(struct lawn_workers *set,
                          struct lawn_workers_timer *timer, uint64_t deadline);

/* The same on a worker of the caller's choice; a timer that runs elsewhere moves
 * there. -ENOENT if there is none of that number, and nothing has changed. Where
 * timers go by TTL, the choice is ignored; and what has a deadline only goes as
 * by owner. */
int lawn_workers_start_on(struct lawn_workers *set,
                          struct lawn_workers_timer *timer, uint64_t ttl,
                          unsigned worker);

/* Stops a timer. Do not free it yet: lawn_workers_stop_sync() says when. True: it
 * was running, and does not fire [C2]. False: it was idle, or has fired, or its
 * callback is about to run or running. Costs another thread than its worker's one
 * compare-and-swap, and its worker nothing until the timer would have been due:
 * till then the library may refer to its memory. */
bool lawn_workers_stop(struct lawn_workers *set,
                       struct lawn_workers_timer *timer);

/* Stops the timer like lawn_workers_stop(), and waits until its callback is not
 * running and the library does not refer to the timer [C3]. A start of the timer
 * meanwhile, for example by the callback, is stopped as well. Called from the
 * timer's own callback, it does not wait for that callback; called from left(), it
 * does not wait. While lawn_workers_close() runs left(), it waits until left() has
 * returned for this timer; if left() has not been called for it yet, until left()
 * has returned for all timers of that shard.
 * It waits forever if two workers wait for each other's callbacks, if a callback or
 * left() waits for the caller (for a lock that the caller holds, for example), or
 * if the set is open and has no worker that takes turns. */
bool lawn_workers_stop_sync(struct lawn_workers *set,
                            struct lawn_workers_timer *timer);

/* The set's clock, read now. */
uint64_t lawn_workers_now(const struct lawn_workers *set);

/* Whether the timer is running, at some moment during the call. */
bool lawn_workers_pending(const struct lawn_workers_timer *timer);

/* Makes all workers look at the clock. */
void lawn_workers_wake(struct lawn_workers *set);

/* Called by lawn_workers_close() for each timer that is still running. The timer is
 * idle then, and may be freed; other timers of the same object may be freed after
 * lawn_workers_stop_sync() on each. Another thread that may free the timer must
 * call lawn_workers_stop_sync() first, which returns when left() has returned for
 * it [C3]; so left() must not wait for such a thread. The program decides which
 * thread frees the timer, for example with a table of its objects under a mutex.
 * left() is not called for stopped timers; these may be freed when close has
 * returned. */
typedef void lawn_workers_left_fn(struct lawn_workers_timer *timer, void *arg);

/* Closes a set: from here on starts are refused. Timers that are due up to the
 * time until fire when they are due, and the workers end: with an until of 0 at
 * once, with the present time after what is due now, with LAWN_NEVER when the
 * last timer has fired. Waits for the workers, also until the caller's threads
 * have been detached. Then makes the timers that are left idle, calls left for
 * each if it is not NULL, and returns how many they are. A start that is under
 * way when the set is closed is refused, and then nothing has changed, or it ends
 * as any other does: the timer fires, or is left, or is stopped or started again.
 * A timer that is on its way to a caller's thread at that time may be left.
 * Returns 0 at once if the set is closed already; and on a worker of the set,
 * where it does nothing. */
uint64_t lawn_workers_close(struct lawn_workers *set, uint64_t until,
                            lawn_workers_left_fn *left, void *arg);

/* Closes the set at once, if it is not closed, and gives its memory back. No
 * thread may use it any more; if the caller is a worker of it, it is detached. Not
 * in a callback. set may be NULL. */
void lawn_workers_free(struct lawn_workers *set);

/* What all workers have done since the set was made; or one of them since it was
 * added: false if there is none of that number. From any thread, while they go
 * on; the figures are from about the same moment. */
void lawn_workers_stats(struct lawn_workers *set,
                        struct lawn_workers_counters *out);
bool lawn_workers_stats_of(struct lawn_workers *set, unsigned worker,
                           struct lawn_workers_counters *out);

#if !defined LAWN_FREESTANDING
/* Whether all invariants hold, as lawn_check() tells. Only while no other thread
 * uses the set. */
bool lawn_workers_check(struct lawn_workers *set, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
