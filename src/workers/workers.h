/* workers.h - a set, its workers and its shards.
 *
 * A SHARD is a lawn with a mailbox and a few words that other threads read. A
 * WORKER belongs to a thread and runs one or more shards; only that thread
 * accesses their lawns. Timers refer to shards. So when a shard is handed over
 * to another worker, no timer changes.
 *
 * A TURN of a worker is one call of lawn_worker_turn(). It hands over shards,
 * runs a ROUND, which takes mail and fires timers, and announces the worker's
 * sleep.
 *
 * Invariants, between operations. LAWN, MAIL and CLAIM are bits of a timer's
 * state word, which also names a shard: see state.h.
 *   M1  A timer on a shard's lawn has CLAIM set, or has LAWN set and names that
 *       shard. A timer with LAWN and without MAIL and CLAIM is on the lawn.
 *   M2  A timer in a shard's mailbox, or in its list `again`, has MAIL set and
 *       names that shard. No other timer has MAIL set, except while a thread
 *       is about to push it.
 *   M3  A shard is on the list of the worker that runs it (shard->worker), or
 *       is being handed over, or no worker is live.
 *   M4  While a worker sleeps, wake_at of its shards is the time when it will
 *       wake, and their mailboxes contain no timer that is due earlier. While
 *       the worker is awake, or a shard is being handed over, wake_at is 0.
 *   M5  Timers are appended to a shard's blades in the order of their start
 *       times. The latest start time is shard->started. It is not after the
 *       lawn's clock. */
#ifndef LAWN_WORKERS_INTERNAL_H
#define LAWN_WORKERS_INTERNAL_H

#include "atomic.h"
#include "mailbox.h"

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/noinline.h"
#include "../base/saturating.h"
#else /* one folder, as installed by clib */
#include "assertion.h"
#include "noinline.h"
#include "saturating.h"
#endif

#include <pthread.h>

/* Gates of a set, and how many of them a thread tries: see gate.h.
 * tests/explore/ uses fewer, which shortens its schedules. */
#if defined LAWN_EXPLORE
#define LAWN_GATE_BITS 1
#define LAWN_GATE_TRIES 2u
#else
#define LAWN_GATE_BITS 6
#define LAWN_GATE_TRIES 8u
#endif
#define LAWN_GATES (1u << LAWN_GATE_BITS)

/* Starts in progress: of the thread that owns the gate, and of others. */
struct lawn_gate {
    _Alignas(LAWN_LINE) uint32_t own; /* atomic */
    _Alignas(LAWN_LINE) uint32_t all; /* atomic */
};

/* A start: deadline, TTL (0 if none), shard. */
struct lawn_request {
    uint64_t when;
    uint64_t ttl;
    struct lawn_shard *shard;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_shard {
    /* Constant after creation. */
    struct lawn_workers *set;
    struct lawn *lawn;
    uint64_t resolution;
    unsigned number;
    uint64_t word; /* the shard's bits in a state word: see state.h */

    /* Atomic, rarely changed. worker: the worker that runs the shard;
     * &lawn__handover_marker during a hand-over; NULL if a worker may take the
     * shard under the lock. owner: the worker that the shard is assigned to, or
     * NULL. */
    struct lawn_worker *worker;
    struct lawn_worker *owner;

    /* Atomic. hand: the timer whose state the worker is changing, see state.h.
     * firing: the timer whose callback, or left() of lawn_workers_close(), is
     * running. The worker changes these two for each timer. waiters: number of
     * threads that wait until the callback has returned, or until a timer is
     * released. served: the word they wait on, incremented on both events. */
    _Alignas(LAWN_LINE) struct lawn_workers_timer *hand;
    struct lawn_workers_timer *firing;
    uint32_t waiters;
    uint32_t served;
    uint32_t cleared; /* Atomic: the set is closed and the lawn is empty */

    /* Accessed by the worker only. next: the next shard of the worker, or of
     * its arrivals. again: timers to be accepted in the next round: see
     * accept_timer(). started: start time of the latest start [M5]. */
    struct lawn_shard *next;
    struct lawn_workers_timer *again;
    uint64_t started;
    uint64_t limit; /* later timers do not fire; LAWN_NEVER until the set is
                     * closed */
    /* Atomic: lawn_count() after the last round that fired all due timers. */
    LAWN_ATOMIC_U64 held;

    struct lawn_mailbox box;
    /* Atomic: see M4. */
    _Alignas(LAWN_LINE) uint64_t wake_at;
    _Alignas(LAWN_LINE) char end;
};

struct lawn_counts {
    LAWN_ATOMIC_U64 fires, messages, turns, wakes, late_most,
        late_sum; /* atomic */
};

/* A worker's life cycle, in worker->life. Changed under the set's lock, except
 * LEAVING <-> LEFT, which the worker's own thread changes.
 *
 *   from                  to        on
 *   VACANT                LIVE      add, attach
 *   LIVE                  RETIRED   remove; thread creation failed
 *   any but VACANT        RETIRED   detach
 *   RETIRED               LIVE      remove fails with -EBUSY
 *   RETIRED               LEAVING   remove
 *   LEAVING               LEFT      all its shards are handed over
 *   LEFT                  LEAVING   a shard arrived meanwhile
 *   LIVE, LEAVING, LEFT   DONE      the set is closed, no timers left to fire
 *   RETIRED               VACANT    detached; thread creation failed
 *   LEFT, DONE            VACANT    joined
 *
 *   VACANT   the place in set->workers is free
 *   LIVE     may own shards
 *   RETIRED  gets no more shards; those it owns are being reassigned
 *   LEAVING  was removed: its thread must hand over its shards and end
 *   LEFT     has handed them over; its thread ends, or must still be detached
 *   DONE     has ended with the set; lawn__worker_inherit() may take its shards
 */
enum lawn_worker_life {
    LAWN_WORKER_VACANT,
    LAWN_WORKER_LIVE,
    LAWN_WORKER_RETIRED,
    LAWN_WORKER_LEAVING,
    LAWN_WORKER_LEFT,
    LAWN_WORKER_DONE
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_worker {
    struct lawn_workers *set;
    unsigned number;

    /* Accessed by the thread only, while it runs. */
    struct lawn_shard *shards;
    uint64_t now;
    /* start_shard (below), if the worker may use start_fast(), that is, if the
     * set routes timers by owner and the worker runs that shard; otherwise
     * NULL. Set when the clock is read; NULL while stale. */
    struct lawn_shard *fast_shard;
    bool stale;   /* time may have passed since `now` was set */
    bool turning; /* in lawn_worker_turn() */
    bool made;    /* the library created the thread and joins it */
    bool joined;  /* joined or being joined; under the set's lock */
    pthread_t thread;
    /* Only for `closer` of a set (below): the worker of another set in the same
     * thread, or NULL. */
    struct lawn_worker *under;

    struct lawn_counts counts;
    /* Atomic: when the worker began to fire timers in this turn; LAWN_NEVER
     * between turns. */
    LAWN_ATOMIC_U64 began;

    /* Atomic, read by other threads that start timers, and rarely changed.
     * arrivals: shards handed over to this worker, or the mark that it accepts
     * none. control: the worker must check its arrivals, the owners of its
     * shards, and its life. */
    _Alignas(LAWN_LINE) struct lawn_shard *start_shard; /* for timers started on
                                                         * this worker */
    uint32_t life; /* enum lawn_worker_life */
    uint32_t control;
    struct lawn_shard *arrivals;

    /* Atomic. token: the worker must not sleep. fd: the file that signals
     * this. */
    _Alignas(LAWN_LINE) uint32_t token;
    int fd;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_workers {
    struct lawn_options lawn;
    enum lawn_workers_route route;
    size_t budget;
    uint64_t (*clock)(void *context);
    void *clock_context;
    bool real;       /* the clock is CLOCK_MONOTONIC */
    bool asymmetric; /* LAWN_FENCE_HEAVY works */

    /* Held to write the fields from `closing` through `past`, except
     * `clearing`. Of these fields, the atomic ones and shards[i], i < count,
     * can be read without the lock. */
    uint32_t lock;
    uint32_t closing;      /* atomic */
    uint32_t seats;        /* Atomic: number of workers that are not VACANT */
    LAWN_ATOMIC_U64 until; /* Atomic: later timers do not fire */
    unsigned count;        /* Atomic: number of shards */
    /* Atomic: the shard whose timers lawn_workers_close() passes to left();
     * NULL before that. */
    struct lawn_shard *clearing;
    struct lawn_shard *shards[LAWN_WORKERS_SHARDS_MAX];
    /* Atomic; includes workers that are not live. */
    struct lawn_worker *workers[LAWN_WORKERS_MAX];
    struct lawn_counts past;   /* of workers whose places were reused */
    struct lawn_worker closer; /* the thread that closes the set */
    /* Atomic: the owner of each gate, 0 if none; and the gates. */
    _Alignas(LAWN_LINE) uintptr_t owners[LAWN_GATES];
    struct lawn_gate gates[LAWN_GATES];
};

/* workers_set.c: allocates zeroed memory, aligned to cache lines. Returns NULL
 * if out of memory. */
void *lawn__workers_alloc(const struct lawn_options *options, size_t size);
void lawn__workers_release(const struct lawn_options *options, void *memory);

#if defined LAWN_EXPLORE
struct lawn_worker **lawn__explore_self(void);
#define LAWN_WORKER_CURRENT (*lawn__explore_self())
#else
#if defined __linux__ /* avoids a function call in shared libraries */
__attribute__((tls_model("initial-exec")))
#endif
extern _Thread_local struct lawn_worker *lawn__worker_current;
#define LAWN_WORKER_CURRENT lawn__worker_current
#endif

static inline struct lawn_worker *
lawn__worker_self(const struct lawn_workers *set)
{
    struct lawn_worker *self = LAWN_WORKER_CURRENT;
    while (self != NULL && self->set != set) {
        self = self->under;
    }
    return self;
}

/* Makes a worker begin a turn. */
void lawn__worker_wake(struct lawn_worker *worker);

/* Hands over a shard to its owner, or sets shard->worker to NULL if there is
 * none. The shard must be on no worker's list. locked: the caller holds the
 * set's lock. */
void lawn__worker_hand_over(struct lawn_shard *shard, bool locked);
extern struct lawn_worker lawn__handover_marker;

/* Updates the clock before a callback of a shard. */
void lawn__worker_tick(struct lawn_worker *worker, struct lawn_shard *shard);

/* Takes the mail and updates the clock. Called before a start between two
 * turns: the starts in the mail are older, so they come first [M5]. */
void lawn__worker_resume(struct lawn_worker *worker);

/* adopt takes over the shards that have arrived. handle_control also hands over
 * shards that other workers own, and leaves if the worker was removed. */
void lawn__worker_adopt(struct lawn_worker *worker);
void lawn__worker_handle_control(struct lawn_worker *worker);

/* For a shard of a closed set. If its worker has ended, or there is none, takes
 * over the shard, so that operations on its timers can complete. */
void lawn__worker_inherit(struct lawn_worker *worker, struct lawn_shard *shard);

/* Closes the arrivals, and hands over the shards that other workers own.
 * Returns true if no shards remain. */
bool lawn__worker_leave(struct lawn_worker *worker, bool locked);

/* Only one thread may write the word; others may read it. */
static inline void
lawn__count_up(uint64_t *word, uint64_t by)
{
    LAWN_ATOMIC_STORE(word, LAWN_ATOMIC_LOAD(word, LAWN_RELAXED) + by,
                      LAWN_RELAXED);
}

#endif
