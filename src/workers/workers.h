/* workers.h - a set, its workers and its parts.
 *
 * A PART is a lawn with a door: a mailbox, and a few words that other threads
 * look at. A WORKER is a thread's seat: it runs one or more parts, and only it
 * touches their lawns. Workers come and go; parts stay, and are handed over.
 * Timers know their part, not their worker; so a hand-over touches no timer.
 *
 * Invariants, between operations:
 *   M1  a timer on a part's lawn has LAWN set and names that part; or it is
 *       CLAIMed. A timer with LAWN and without MAIL and CLAIM is on the lawn
 *   M2  a timer in a part's mailbox, or in its list of what waits for the end of
 *       a claim, has MAIL set and names that part; no other has, but for the
 *       moment before its pusher has pushed
 *   M3  a part is on the list of the one worker that runs it (part->worker), or
 *       on its way to one, or no worker is live
 *   M4  while a worker sleeps, the wake_at of its parts is when it will wake,
 *       and nothing is in their mailboxes that is due before; while it is awake,
 *       and on the way, wake_at is 0
 *   M5  the starts of a part that go to blades, those of its worker and those that
 *       it takes from the mail, count from times that do not run back
 *       (part->started); nor are they after the lawn's clock */
#ifndef LAWN_WORKERS_INTERNAL_H
#define LAWN_WORKERS_INTERNAL_H

#include "atomic.h"
#include "mailbox.h"

#include <pthread.h>

/* For bugs, of the caller's or ours: a message and abort(), unless NDEBUG is
 * defined. */
#if defined NDEBUG
#define LAWN_WORKERS_EXPECT(condition, message) ((void)0)
#else
#include <stdlib.h>
#define LAWN_WORKERS_EXPECT(condition, message)                                \
    ((condition) ? (void)0                                                     \
                 : ((void)fprintf(stderr, "lawn: %s\n", message), abort()))
#endif

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
    _Alignas(LAWN_LINE) uint32_t own; /* L_ */
    _Alignas(LAWN_LINE) uint32_t all; /* L_ */
};

/* A start: when it is due, with which TTL, 0 if it has none; on which part. */
struct lawn_request {
    uint64_t when;
    uint64_t ttl;
    struct lawn_part *part;
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_part {
    /* Set once. */
    struct lawn_workers *set;
    struct lawn *lawn;
    uint64_t resolution;
    unsigned number;
    uint64_t word; /* how a state word names it: see state.h */

    /* L_: who runs it: &lawn_worker_nobody on the way, NULL if it lies about and
     * may be taken up, by the lock; and who is to run it, NULL if nobody. */
    struct lawn_worker *worker;
    struct lawn_worker *keeper;

    /* L_: the timer that the worker changes, see state.h; whose callback runs;
     * how many wait for the end of that, or for a timer to be let go, on the
     * word served, which is counted up when there is news. */
    struct lawn_workers_timer *hand;
    struct lawn_workers_timer *firing;
    uint32_t waiters;
    uint32_t served;
    uint32_t cleared; /* L_: the set is closed, and the lawn empty */

    /* The worker's own: the next of its parts, or of those on the way; timers
     * that were claimed when they came out of the mail; what the latest start
     * counts from [M5]. */
    struct lawn_part *next;
    struct lawn_workers_timer *again;
    uint64_t started;
    uint64_t limit; /* what is due later does not fire: the set is closed */
    L_U64 held;     /* L_: lawn_count() at the end of the last round */

    _Alignas(LAWN_LINE) struct lawn_mailbox box;
    /* L_: see M4. */
    _Alignas(LAWN_LINE) uint64_t wake_at;
    _Alignas(LAWN_LINE) char end;
};

struct lawn_counts {
    L_U64 fires, messages, turns, wakes, late_most, late_sum; /* L_ */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines apart */
struct lawn_worker {
    struct lawn_workers *set;
    unsigned number;

    /* The thread's own. */
    struct lawn_part *parts;
    uint64_t now;
    struct lawn_part *quick; /* its home, if its timers are simply to be started
                                there: it runs it, by owner, and is not stale */
    bool stale;              /* time may have passed since now */
    bool turning;            /* in lawn_worker_turn() */
    bool ended;              /* serves no more: removed, or the set is closed */
    bool made;               /* by the library: thread is to be joined */
    bool joined;             /* or is being so; by the set's lock */
    pthread_t thread;
    /* Of who closes a set: the worker of another that the thread is, or NULL. */
    struct lawn_worker *under;

    struct lawn_counts counts;
    L_U64 began;            /* L_: when the round began, LAWN_NEVER between */
    struct lawn_part *home; /* L_: the part for what it starts */
    uint32_t live;          /* L_: it may keep parts; by the set's lock */
    uint32_t done;          /* L_: it has ended with the set; by its lock */
    bool vacant;            /* another may take its place; by the set's lock */

    /* L_: written by others. Parts for it, or the end of that; that it has to
     * look at who keeps its parts, or whether the set is closed; that it is to
     * leave; that it shall not sleep, and the file that says so. */
    _Alignas(LAWN_LINE) struct lawn_part *arrivals;
    uint32_t control;
    uint32_t leaving;
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
    bool asymmetric; /* there is L_HEAVY */

    uint32_t lock;    /* of all that follows, but for reading where L_ stands */
    uint32_t closing; /* L_ */
    uint32_t seats;   /* L_: workers that are not vacant */
    L_U64 until;      /* L_: what is due later is left */
    unsigned count;   /* L_: parts */
    struct lawn_part *parts[LAWN_WORKERS_PARTS_MAX];
    struct lawn_worker *workers[LAWN_WORKERS_MAX]; /* L_: live or not */
    struct lawn_counts past;   /* of workers whose places others have taken */
    struct lawn_worker closer; /* the thread that closes the set */
    /* L_: whose each gate is, 0 if nobody's; and the gates. */
    _Alignas(LAWN_LINE) uintptr_t owners[LAWN_GATES];
    struct lawn_gate gates[LAWN_GATES];
};

/* workers_set.c: zeroed memory of the set's allocator, in lines of its own; NULL
 * if there is none. */
void *lawn_workers_alloc(const struct lawn_options *options, size_t size);
void lawn_workers_release(const struct lawn_options *options, void *memory);

/* worker.c: what the calling thread is. */
#if defined LAWN_EXPLORE
struct lawn_worker **lawn_explore_self(void);
#define LAWN_WORKER_CURRENT (*lawn_explore_self())
#else
#if defined __linux__ /* a shared library would call a function for it */
__attribute__((tls_model("initial-exec")))
#endif
extern _Thread_local struct lawn_worker *lawn_worker_current;
#define LAWN_WORKER_CURRENT lawn_worker_current
#endif

/* The worker of this set that the calling thread is, or NULL. */
static inline struct lawn_worker *
lawn_worker_self(const struct lawn_workers *set)
{
    struct lawn_worker *self = LAWN_WORKER_CURRENT;
    while (self != NULL && self->set != set) {
        self = self->under;
    }
    return self;
}

/* worker.c: makes it look at what others want of it. */
void lawn_worker_unpark(struct lawn_worker *worker);

/* worker.c: hands a part that is on no worker's list, and that nobody runs, over
 * to its keeper; or leaves it lying if it has none. locked: the caller holds the
 * set's lock. */
void lawn_worker_give(struct lawn_part *part, bool locked);
extern struct lawn_worker lawn_worker_nobody;

/* worker.c: looks at the clock before a callback of a part. */
void lawn_worker_tick(struct lawn_worker *worker, struct lawn_part *part);

/* worker.c: a thread that has waited for something else begins to act: takes the
 * mail, since what is in it came before, and looks at the clock. */
void lawn_worker_resume(struct lawn_worker *worker);

/* worker.c: takes over the parts that have arrived; and gives away what others
 * are to keep, and leaves if it is told to. */
void lawn_worker_adopt(struct lawn_worker *worker);
void lawn_worker_obey(struct lawn_worker *worker);

/* worker.c: of a closed set, takes over a part that nobody will use any more until
 * the set's end, which waits for the worker: its own has ended. Or does nothing if
 * it has not. */
void lawn_worker_inherit(struct lawn_worker *worker, struct lawn_part *part);

/* worker.c: takes no more parts, and gives those away that others are to keep;
 * true if that was all. */
bool lawn_worker_leave(struct lawn_worker *worker, bool locked);

/* Counts, in a word that only the caller writes and others read. */
static inline void
lawn_count_up(uint64_t *word, uint64_t by)
{
    L_STORE(word, L_LOAD(word, L_RELAXED) + by, L_RELAXED);
}

/* A time and a TTL, below LAWN_NEVER [P9]. */
static inline uint64_t
lawn_workers_sum(uint64_t time, uint64_t ttl)
{
    return ttl < LAWN_NEVER - 1 - time ? time + ttl : LAWN_NEVER - 1;
}

#endif
