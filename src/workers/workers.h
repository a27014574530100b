/* workers.h - a set, its workers and its shards.
 *
 * A SHARD is a lawn with a door: a mailbox, and a few words that other threads
 * look at. A WORKER is a thread's seat: it runs one or more shards, and only it
 * touches their lawns. Workers come and go; shards stay, and are handed over.
 * Timers know their shard, not their worker; so a hand-over touches no timer.
 *
 * Invariants, between operations:
 *   M1  a timer on a shard's lawn has LAWN set and names that shard; or it is
 *       CLAIMed. A timer with LAWN and without MAIL and CLAIM is on the lawn
 *   M2  a timer in a shard's mailbox, or in its list of what waits for the end of
 *       a claim, has MAIL set and names that shard; no other has, but for the
 *       moment before its pusher has pushed
 *   M3  a shard is on the list of the one worker that runs it (shard->worker), or
 *       on its way to one, or no worker is live
 *   M4  while a worker sleeps, the wake_at of its shards is when it will wake,
 *       and nothing is in their mailboxes that is due before; while it is awake,
 *       and on the way, wake_at is 0
 *   M5  the starts of a shard that go to blades, those of its worker and those that
 *       it takes from the mail, count from times that do not run back
 *       (shard->started); nor are they after the lawn's clock */
#ifndef LAWN_WORKERS_INTERNAL_H
#define LAWN_WORKERS_INTERNAL_H

#include "atomic.h"
#include "mailbox.h"

#if __has_include("../base/assertion.h")
#include "../base/assertion.h"
#include "../base/noinline.h"
#include "../base/saturating.h"
#else /* all files are in one folder, as clib puts them */
#include "assertion.h"
#include "noinline.h"
#include "saturating.h"
#endif

#include <pthread.h>

/* What two threads write stands in different lines of the cache. */
#define LAWN_LINE 64

/* How many gates a set has, see gate.h, and how many of them a thread tries. Fewer
 * for the explorer, whose schedules are longer for each that close looks at. */
#if defined LAWN_EXPLORE
#define LAWN_GATE_BITS 1
#define LAWN_GATE_TRIES 2u
#else
#define LAWN_GATE_BITS 6
#define LAWN_GATE_TRIES 8u
#endif
#define LAWN_GATES (1u << LAWN_GATE_BITS)

/* How many starts are within: of the thread that it belongs to, and of others. */
struct lawn_gate {
    _Alignas(LAWN_LINE) uint32_t own; /* atomic */
    _Alignas(LAWN_LINE) uint32_t all; /* atomic */
};

/* A start: when it is due, with which TTL, 0 if it has none; on which shard. */
struct lawn_request {
    uint64_t when;
    uint64_t ttl;
    struct lawn_shard *shard;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_shard {
    /* Set once. */
    struct lawn_workers *set;
    struct lawn *lawn;
    uint64_t resolution;
    unsigned number;
    uint64_t word; /* how a state word names it: see state.h */

    /* Atomic: who runs it: &lawn__worker_nobody on the way, NULL if it lies about and
     * may be taken up, by the lock; and who is to run it, NULL if nobody. */
    struct lawn_worker *worker;
    struct lawn_worker *owner;

    /* Atomic: the timer that the worker changes, see state.h; the timer whose callback
     * runs, or for which left() runs; how many threads wait for the end of that, or
     * for a timer to be released, on the word served, which is incremented when
     * either happens. */
    struct lawn_workers_timer *hand;
    struct lawn_workers_timer *firing;
    uint32_t waiters;
    uint32_t served;
    uint32_t cleared; /* Atomic: the set is closed, and the lawn empty */

    /* The worker's own: the next of its shards, or of those on the way; timers
     * that were claimed when they came out of the mail; what the latest start
     * counts from [M5]. */
    struct lawn_shard *next;
    struct lawn_workers_timer *again;
    uint64_t started;
    uint64_t limit; /* what is due later does not fire: the set is closed */
    /* Atomic: lawn_count() at the end of the last round. */
    LAWN_ATOMIC_U64 held;

    _Alignas(LAWN_LINE) struct lawn_mailbox box;
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
 *   LIVE, LEAVING, LEFT   DONE      the set is closed and nothing is left to fire
 *   RETIRED               VACANT    detached; thread creation failed
 *   LEFT, DONE            VACANT    joined
 *
 * VACANT   the place in set->workers is free
 * LIVE     may own shards
 * RETIRED  gets no more shards; those it owns are being reassigned
 * LEAVING  was removed: its thread is to hand over its shards and to end
 * LEFT     has handed them over; its thread ends, or is yet to be detached
 * DONE     has ended with the set; it keeps its shards, see lawn__worker_inherit()
 *
 * Not part of the life cycle: whose thread it is (made), whether that is being joined
 * (joined), whether it is in a round (turning), and whether its clock is old
 * (stale). */
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

    /* The thread's own. */
    struct lawn_shard *shards;
    uint64_t now;
    /* start_shard, if the timers that the thread starts are simply put on its
     * lawn: the worker runs it, timers go by owner, and now is not stale. */
    struct lawn_shard *fast_shard;
    bool stale;   /* time may have passed since now */
    bool turning; /* in lawn_worker_turn() */
    bool made;    /* by the library: thread is to be joined */
    bool joined;  /* or is being so; by the set's lock */
    pthread_t thread;
    /* Of who closes a set: the worker of another that the thread is, or NULL. */
    struct lawn_worker *under;

    struct lawn_counts counts;
    /* Atomic: when the round began, LAWN_NEVER between. */
    LAWN_ATOMIC_U64 began;
    struct lawn_shard *start_shard; /* Atomic: the shard for what it starts */
    uint32_t life;                  /* Atomic: enum lawn_worker_life */

    /* Atomic: written by others. Shards for it, or the end of that; that it has to
     * look at who owns its shards, at its life, or whether the set is closed; that
     * it shall not sleep, and the file that says so. */
    _Alignas(LAWN_LINE) struct lawn_shard *arrivals;
    uint32_t control;
    uint32_t token;
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
    bool asymmetric; /* there is LAWN_FENCE_HEAVY */

    uint32_t
        lock; /* of all that follows, but for reading what is marked atomic */
    uint32_t closing;      /* atomic */
    uint32_t seats;        /* Atomic: workers that are not vacant */
    LAWN_ATOMIC_U64 until; /* Atomic: what is due later is left */
    unsigned count;        /* Atomic: shards */
    /* Atomic: the shard whose timers close hands to left(); NULL before that. */
    struct lawn_shard *clearing;
    struct lawn_shard *shards[LAWN_WORKERS_SHARDS_MAX];
    struct lawn_worker *workers[LAWN_WORKERS_MAX]; /* Atomic: live or not */
    struct lawn_counts past;   /* of workers whose places others have taken */
    struct lawn_worker closer; /* the thread that closes the set */
    /* Atomic: whose each gate is, 0 if nobody's; and the gates. */
    _Alignas(LAWN_LINE) uintptr_t owners[LAWN_GATES];
    struct lawn_gate gates[LAWN_GATES];
};

/* workers_set.c: zeroed memory of the set's allocator, in lines of its own; NULL
 * if there is none. */
void *lawn__workers_alloc(const struct lawn_options *options, size_t size);
void lawn__workers_release(const struct lawn_options *options, void *memory);

/* worker.c: what the calling thread is. */
#if defined LAWN_EXPLORE
struct lawn_worker **lawn__explore_self(void);
#define LAWN_WORKER_CURRENT (*lawn__explore_self())
#else
#if defined __linux__ /* a shared library would call a function for it */
__attribute__((tls_model("initial-exec")))
#endif
extern _Thread_local struct lawn_worker *lawn__worker_current;
#define LAWN_WORKER_CURRENT lawn__worker_current
#endif

/* The worker of this set that the calling thread is, or NULL. */
static inline struct lawn_worker *
lawn__worker_self(const struct lawn_workers *set)
{
    struct lawn_worker *self = LAWN_WORKER_CURRENT;
    while (self != NULL && self->set != set) {
        self = self->under;
    }
    return self;
}

/* worker.c: makes it look at what others want of it. */
void lawn__worker_wake(struct lawn_worker *worker);

/* worker.c: hands a shard that is on no worker's list, and that nobody runs, over
 * to its owner; or leaves it lying if it has none. locked: the caller holds the
 * set's lock. */
void lawn__worker_hand_over(struct lawn_shard *shard, bool locked);
extern struct lawn_worker lawn__worker_nobody;

/* worker.c: looks at the clock before a callback of a shard. */
void lawn__worker_tick(struct lawn_worker *worker, struct lawn_shard *shard);

/* worker.c: a thread that has waited for something else begins to act: takes the
 * mail, since what is in it came before, and looks at the clock. */
void lawn__worker_resume(struct lawn_worker *worker);

/* worker.c: takes over the shards that have arrived; and gives away what others
 * own, and leaves if it is told to. */
void lawn__worker_adopt(struct lawn_worker *worker);
void lawn__worker_handle_control(struct lawn_worker *worker);

/* worker.c: of a closed set, takes over a shard that nobody will use any more until
 * the set's end, which waits for the worker: its own has ended. Or does nothing if
 * it has not. */
void lawn__worker_inherit(struct lawn_worker *worker, struct lawn_shard *shard);

/* worker.c: takes no more shards, and hands those over that others own;
 * true if that was all. */
bool lawn__worker_leave(struct lawn_worker *worker, bool locked);

/* Counts, in a word that only the caller writes and others read. */
static inline void
lawn__count_up(uint64_t *word, uint64_t by)
{
    LAWN_ATOMIC_STORE(word, LAWN_ATOMIC_LOAD(word, LAWN_RELAXED) + by,
                      LAWN_RELAXED);
}

#endif
