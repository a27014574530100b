/* workers.c - the operations of any thread on a timer: start, stop, stop_sync.
 * See state.h for the state word. */
#include "lawn_workers.h"

#include "gate.h"
#include "shard.h"
#include "state.h"

#include <errno.h>

bool
lawn_workers_pending(const struct lawn_workers_timer *timer)
{
    return (lawn__state_load(timer) & (LAWN_STATE_RUN | LAWN_STATE_CLAIM)) != 0;
}

/* The number of shards that this thread has picked in turn. */
#if defined LAWN_EXPLORE
unsigned *lawn__explore_turn(void);
#define LAWN_WORKERS_TURN (*lawn__explore_turn())
#else
static _Thread_local unsigned next_pick;
#define LAWN_WORKERS_TURN next_pick
#endif

static struct lawn_shard *
pick_shard(struct lawn_workers *set, const struct lawn_worker *self)
{
    struct lawn_shard *start_shard = NULL;
    if (self != NULL) {
        start_shard = LAWN_ATOMIC_LOAD(&self->start_shard, LAWN_ACQUIRE);
    }
    return start_shard != NULL
               ? start_shard
               : set->shards[LAWN_WORKERS_TURN++ %
                             LAWN_ATOMIC_LOAD(&set->count, LAWN_ACQUIRE)];
}

static struct lawn_shard *
pick_shard_by_ttl(struct lawn_workers *set, uint64_t ttl)
{
    uint64_t hash = (ttl * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return set
        ->shards[(hash * LAWN_ATOMIC_LOAD(&set->count, LAWN_RELAXED)) >> 32];
}

/* The timer may move to another shard if its own does not refer to it. */
static bool
may_change_shard(const struct lawn_shard *shard,
                 const struct lawn_workers_timer *timer, uint64_t seen)
{
    return shard == NULL ||
           ((seen & LAWN_STATE_HELD) == 0 &&
            LAWN_ATOMIC_LOAD(&shard->firing, LAWN_ACQUIRE) != timer);
}

/* `here` is the timer's shard, or NULL. Returns false if the word is no longer
 * *seen. */
static bool
start_local(struct lawn_worker *self, struct lawn_shard *here,
            struct lawn_workers_timer *timer, uint64_t *seen,
            const struct lawn_request *request)
{
    struct lawn_shard *shard = request->shard;
    uint64_t flags =
        LAWN_STATE_RUN | LAWN_STATE_LAWN | (*seen & LAWN_STATE_MAIL);
    /* The word of a timer that runs here need not change: a concurrent stop by
     * another thread counts as done after this start. */
    if (here == NULL || here != shard ||
        (*seen & (LAWN_STATE_RUN | LAWN_STATE_LAWN | LAWN_STATE_REQ |
                  LAWN_STATE_BOUND)) != (LAWN_STATE_RUN | LAWN_STATE_LAWN)) {
        /* Use a new version, so that a thread that saw the timer free notices
         * this start even if the timer has fired since and is free again. */
        uint64_t next =
            lawn__state_with(*seen, shard, flags) + LAWN_STATE_VERSION;
        if (here != NULL &&
            LAWN_ATOMIC_LOAD(&here->worker, LAWN_RELAXED) == self) {
            /* Do not remove a timer without LAWN: it is free, and another
             * worker may have started it meanwhile. */
            bool moves = here != shard && (*seen & LAWN_STATE_LAWN) != 0;
            if (moves) {
                bool off = lawn_stop(here->lawn, &timer->timer);
                LAWN_ASSERT(off, "a timer without mail is not on its lawn");
                (void)off;
            }
            if (!lawn__state_change(here, timer, seen, next)) {
                if (moves) {
                    lawn__shard_put_back(here, timer,
                                         lawn_last_deadline(&timer->timer));
                }
                return false;
            }
        } else {
            /* The timer has no shard, or is free on a shard of another
             * worker. */
            if (here != NULL) {
                lawn__state_share(self->set, timer);
            }
            if (!lawn__state_swap(timer, seen, next)) {
                return false;
            }
        }
    }
    shard->started = self->now; /* M5 */
    lawn_set_now(shard->lawn, self->now);
    if (request->ttl == 0) {
        lawn_start_at(shard->lawn, &timer->timer, request->when);
    } else {
        lawn_start(shard->lawn, &timer->timer, request->ttl);
    }
    return true;
}

/* For a start on the timer's own shard: see state.h. request->when must be
 * based on a time read after `seen`. */
static bool
needs_mail(const struct lawn_workers_timer *timer, uint64_t seen,
           const struct lawn_request *request)
{
    switch (seen & (LAWN_STATE_HELD | LAWN_STATE_BOUND)) {
    case LAWN_STATE_LAWN | LAWN_STATE_DUE:
        return request->when < LAWN_ATOMIC_LOAD(&timer->when, LAWN_RELAXED);
    case LAWN_STATE_LAWN | LAWN_STATE_LATE:
        return request->ttl < LAWN_ATOMIC_LOAD(&timer->ttl, LAWN_RELAXED);
    default:
        return true;
    }
}

/* Uses the mailbox of the shard `to` only if necessary. Returns 1 on success, 0
 * if the word is no longer *seen, or an error. */
static int
start_remote(struct lawn_workers *set, struct lawn_shard *to,
             struct lawn_workers_timer *timer, uint64_t *seen,
             struct lawn_request *request)
{
    bool fresh = (*seen & LAWN_STATE_SHARD_MASK) == 0;
    struct lawn_pass pass = {0};
    if (request->ttl != 0) {
        /* Clamp the deadline to the last tick, and the TTL accordingly. */
        uint64_t now = lawn_workers_now(set);
        request->when = lawn__saturating_add(now, request->ttl);
        request->ttl = request->when - now;
    }
    bool by_mail = to != request->shard || needs_mail(timer, *seen, request);
    if (!fresh) {
        lawn__state_share(set, timer);
    }
    if (by_mail && (*seen & LAWN_STATE_MAIL) == 0 &&
        !lawn__gate_enter(set, &pass)) {
        return -ESHUTDOWN;
    }
    if (fresh &&
        LAWN_ATOMIC_LOAD(&timer->shared, LAWN_RELAXED) == LAWN_STATE_UNSHARED) {
        LAWN_ATOMIC_STORE(&timer->shared, LAWN_STATE_SHARING, LAWN_SEQ_CST);
    }
    if (!lawn__state_swap(timer, seen, *seen | LAWN_STATE_CLAIM)) {
        lawn__gate_leave(&pass);
        return 0;
    }
    if (fresh) {
        /* No worker had the right to use plain stores. */
        LAWN_ATOMIC_STORE(&timer->shared, LAWN_STATE_SHARED, LAWN_RELEASE);
    }
    lawn__state_write_request(timer, request, by_mail);
    if (!by_mail) {
        LAWN_ATOMIC_STORE(&timer->state,
                          ((*seen & ~(LAWN_STATE_CLAIM | LAWN_STATE_LATE)) |
                           LAWN_STATE_RUN | LAWN_STATE_REQ | LAWN_STATE_DUE) +
                              LAWN_STATE_VERSION,
                          LAWN_RELEASE);
        return 1;
    }
    lawn__shard_post(to, timer, *seen, lawn__state_posted(*seen, to));
    lawn__shard_wake(to, request->when);
    lawn__gate_leave(&pass);
    return 1;
}

/* `choice` is the shard to use, or NULL for any. */
LAWN_NOINLINE static int
start_slow(struct lawn_workers *set, struct lawn_workers_timer *timer,
           uint64_t when, uint64_t ttl, struct lawn_shard *choice)
{
    struct lawn_worker *self = lawn__worker_self(set);
    if (self != NULL && self->stale) {
        lawn__worker_resume(self);
    }
    uint64_t seen = lawn__state_load(timer);
    LAWN_ASSERT(timer->fire != NULL,
                "a timer is started without a callback (fire is NULL)");
    if (LAWN_ATOMIC_LOAD(&set->closing, LAWN_ACQUIRE) != 0) {
        return -ESHUTDOWN;
    }
    for (;;) {
        if ((seen & LAWN_STATE_CLAIM) != 0) {
            return 0; /* counts as done before the start that is being
                       * written */
        }
        struct lawn_shard *here = lawn__state_shard(set, seen);
        /* If the timer stays on its shard, do not read shard->firing, which
         * the worker writes for each timer. */
        bool returns =
            here != NULL && (choice != NULL ? choice == here : self == NULL);
        bool loose = !returns && may_change_shard(here, timer, seen);
        struct lawn_request request = {when, ttl, choice};
        if (choice == NULL && (seen & (LAWN_STATE_RUN | LAWN_STATE_REQ)) ==
                                  (LAWN_STATE_RUN | LAWN_STATE_REQ)) {
            /* It may be moving to another shard: let it move there. */
            request.shard =
                set->shards[LAWN_ATOMIC_LOAD(&timer->shard, LAWN_RELAXED)];
        } else if (choice == NULL) {
            request.shard = !loose || (here != NULL && self == NULL)
                                ? here
                                : pick_shard(set, self);
        }
        struct lawn_shard *to = loose ? request.shard : here;
        int done = 0;
        if (self != NULL &&
            LAWN_ATOMIC_LOAD(&to->worker, LAWN_RELAXED) == self &&
            (to == request.shard ||
             (LAWN_ATOMIC_LOAD(&request.shard->worker, LAWN_RELAXED) == self &&
              (seen & LAWN_STATE_MAIL) == 0 &&
              LAWN_ATOMIC_LOAD(&to->firing, LAWN_RELAXED) != timer))) {
            done = start_local(self, here, timer, &seen, &request);
        } else {
            done = start_remote(set, to, timer, &seen, &request);
        }
        if (done != 0) {
            return done > 0 ? 0 : done;
        }
    }
}

/* Returns NULL also while the thread is closing another set. */
static inline struct lawn_worker *
current_worker(const struct lawn_workers *set)
{
    struct lawn_worker *self = LAWN_WORKER_CURRENT;
    return self != NULL && self->set == set ? self : NULL;
}

/* Succeeds if the timer's shard is the worker's fast_shard, and the timer runs
 * or is free. */
static inline bool
start_fast(struct lawn_workers *set, struct lawn_workers_timer *timer,
           uint64_t ttl)
{
    struct lawn_worker *self = current_worker(set);
    struct lawn_shard *start_shard = self != NULL ? self->fast_shard : NULL;
    if (start_shard == NULL ||
        LAWN_ATOMIC_LOAD(&set->closing, LAWN_RELAXED) != 0) {
        return false;
    }
    uint64_t seen = lawn__state_load(timer);
    uint64_t difference =
        (seen & (LAWN_STATE_SHARD_MASK | LAWN_STATE_FLAGS)) ^ start_shard->word;
    if (difference != (LAWN_STATE_RUN | LAWN_STATE_LAWN) &&
        (difference != 0 ||
         !lawn__state_change(start_shard, timer, &seen,
                             (seen | LAWN_STATE_RUN | LAWN_STATE_LAWN) +
                                 LAWN_STATE_VERSION))) {
        return false;
    }
    start_shard->started = self->now; /* M5 */
    lawn_start(start_shard->lawn, &timer->timer, ttl);
    return true;
}

int
lawn_workers_start(struct lawn_workers *set, struct lawn_workers_timer *timer,
                   uint64_t ttl)
{
    if (start_fast(set, timer, ttl)) {
        return 0;
    }
    ttl += ttl == 0;
    return start_slow(
        set, timer, 0, ttl,
        set->route == LAWN_WORKERS_BY_TTL ? pick_shard_by_ttl(set, ttl) : NULL);
}

int
lawn_workers_start_at(struct lawn_workers *set,
                      struct lawn_workers_timer *timer, uint64_t deadline)
{
    return start_slow(set, timer, lawn__saturating_add(deadline, 0), 0, NULL);
}

int
lawn_workers_start_on(struct lawn_workers *set,
                      struct lawn_workers_timer *timer, uint64_t ttl,
                      unsigned number)
{
    struct lawn_worker *worker =
        number < LAWN_WORKERS_MAX
            ? LAWN_ATOMIC_LOAD(&set->workers[number], LAWN_ACQUIRE)
            : NULL;
    if (worker == NULL ||
        LAWN_ATOMIC_LOAD(&worker->life, LAWN_ACQUIRE) != LAWN_WORKER_LIVE) {
        return -ENOENT;
    }
    if (set->route == LAWN_WORKERS_BY_TTL) {
        return lawn_workers_start(set, timer, ttl);
    }
    ttl += ttl == 0;
    struct lawn_shard *start_shard =
        LAWN_ATOMIC_LOAD(&worker->start_shard, LAWN_ACQUIRE);
    return start_shard == NULL ? -ENOENT
                               : start_slow(set, timer, 0, ttl, start_shard);
}

LAWN_NOINLINE static bool
stop_slow(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    struct lawn_worker *self = lawn__worker_self(set);
    uint64_t seen = lawn__state_load(timer);
    while ((seen & (LAWN_STATE_RUN | LAWN_STATE_LAWN)) != 0 &&
           (seen & LAWN_STATE_CLAIM) == 0) {
        struct lawn_shard *here = lawn__state_shard(set, seen);
        if (self != NULL &&
            LAWN_ATOMIC_LOAD(&here->worker, LAWN_RELAXED) == self) {
            /* Remove the timer first: after the change of the word it may be
             * freed. */
            bool off = lawn_stop(here->lawn, &timer->timer);
            if (lawn__state_change(here, timer, &seen,
                                   seen &
                                       ~(LAWN_STATE_RUN | LAWN_STATE_LAWN |
                                         LAWN_STATE_REQ | LAWN_STATE_BOUND))) {
                return (seen & LAWN_STATE_RUN) != 0;
            }
            if (off) {
                lawn__shard_put_back(here, timer,
                                     lawn_last_deadline(&timer->timer));
            }
            continue;
        }
        if ((seen & LAWN_STATE_RUN) == 0) {
            return false;
        }
        lawn__state_share(set, timer);
        if (lawn__state_swap(timer, &seen, seen & ~LAWN_STATE_RUN)) {
            return true;
        }
    }
    return false;
}

bool
lawn_workers_stop(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    struct lawn_worker *self = current_worker(set);
    struct lawn_shard *start_shard = self != NULL ? self->fast_shard : NULL;
    /* The fast path: the timer runs on the worker's fast_shard. */
    if (start_shard != NULL) {
        uint64_t seen = lawn__state_load(timer);
        if ((seen & (LAWN_STATE_SHARD_MASK | LAWN_STATE_FLAGS)) ==
            (start_shard->word | LAWN_STATE_RUN | LAWN_STATE_LAWN)) {
            (void)lawn_stop(start_shard->lawn, &timer->timer);
            if (lawn__state_change(start_shard, timer, &seen,
                                   seen &
                                       ~(LAWN_STATE_RUN | LAWN_STATE_LAWN))) {
                return true;
            }
            lawn__shard_put_back(start_shard, timer,
                                 lawn_last_deadline(&timer->timer));
        }
    }
    return stop_slow(set, timer);
}

static void
drain_own_mail(struct lawn_worker *self)
{
    for (; self != NULL; self = self->under) {
        size_t steps = self->set->budget;
        lawn__worker_adopt(self);
        for (struct lawn_shard *shard = self->shards; shard != NULL;
             shard = shard->next) {
            lawn__shard_drain(shard, &steps);
        }
    }
}

/* Sleeps until the shard's worker has released the timer, or shorter. */
static void
wait_for_release(struct lawn_shard *shard,
                 const struct lawn_workers_timer *timer)
{
    uint32_t served = LAWN_ATOMIC_LOAD(&shard->served, LAWN_ACQUIRE);
    (void)LAWN_ATOMIC_FADD(&shard->waiters, 1, LAWN_SEQ_CST);
    /* The worker releases the timer and then reads waiters: see
     * lawn__shard_notify_waiters(). */
    /* shard is not NULL here. NOLINTNEXTLINE(clang-analyzer-*) */
    if (shard->set->asymmetric) {
        LAWN_FENCE_HEAVY();
    }
    uint64_t state = LAWN_ATOMIC_LOAD(&timer->state, LAWN_SEQ_CST);
    /* recalled: the timer is in the mailbox to be released, see
     * request_release(). If it is not, and its callback is not running, do not
     * sleep: other threads may have started and stopped the timer meanwhile,
     * and this shard's worker might not wake this thread. */
    bool recalled =
        (state & (LAWN_STATE_RUN | LAWN_STATE_MAIL | LAWN_STATE_REQ |
                  LAWN_STATE_CLAIM | LAWN_STATE_SHARD_MASK)) ==
        (shard->word | LAWN_STATE_MAIL);
    if (recalled || ((state & (LAWN_STATE_RUN | LAWN_STATE_CLAIM)) == 0 &&
                     LAWN_ATOMIC_LOAD(&shard->firing, LAWN_SEQ_CST) == timer)) {
        lawn__park_wait(&shard->served, served, LAWN_NEVER);
    }
    (void)LAWN_ATOMIC_FADD(&shard->waiters, (uint32_t)-1, LAWN_SEQ_CST);
}

/* The timer must not be running. `waits` is the worker of the calling thread,
 * or NULL. Returns false if the word is no longer *seen. */
static bool
request_release(struct lawn_shard *shard, struct lawn_workers_timer *timer,
                uint64_t *seen, bool *stopped, struct lawn_worker *waits)
{
    bool in_mail = (*seen & LAWN_STATE_MAIL) != 0;
    /* Without REQ; otherwise it would be put on the lawn. */
    uint64_t next = (*seen | LAWN_STATE_MAIL) & ~LAWN_STATE_REQ;
    if (next != *seen && !lawn__state_swap(timer, seen, next)) {
        return false;
    }
    if (in_mail || lawn__mailbox_push(&shard->box, timer)) {
        lawn__shard_wake(shard, 0);
        return true;
    }
    /* The set is closed. The timer has MAIL set but is not in the mailbox. Once
     * the lawn is empty, nothing refers to the timer. */
    while (LAWN_ATOMIC_LOAD(&shard->cleared, LAWN_SEQ_CST) == 0) {
        if (waits != NULL) {
            /* The thread that clears the lawn may be waiting for timers of this
             * worker, which belongs to another set. */
            drain_own_mail(waits);
        }
        lawn__park_yield();
    }
    *stopped |= lawn__shard_release(timer);
    lawn__shard_notify_waiters(shard);
    return true;
}

bool
lawn_workers_stop_sync(struct lawn_workers *set,
                       struct lawn_workers_timer *timer)
{
    /* A worker of any set takes mail while it waits, so that other threads can
     * continue. */
    struct lawn_worker *waits = lawn_workers_self();
    struct lawn_worker *self = lawn__worker_self(set);
    bool stopped = false;
    for (;;) {
        stopped |= lawn_workers_stop(set, timer);
        uint64_t seen = lawn__state_load(timer);
        struct lawn_shard *here = lawn__state_shard(set, seen);
        if (here == NULL) {
            /* lawn_workers_close() may just have released the timer, and left()
             * may be running for it: see discard_timer(). */
            here = LAWN_ATOMIC_LOAD(&set->clearing, LAWN_ACQUIRE);
        }
        bool mine = self != NULL && here != NULL &&
                    LAWN_ATOMIC_LOAD(&here->worker, LAWN_RELAXED) == self;
        if ((seen & LAWN_STATE_FLAGS) == 0 &&
            (here == NULL || mine ||
             LAWN_ATOMIC_LOAD(&here->firing, LAWN_ACQUIRE) != timer)) {
            /* The callback may have started the timer before it returned. */
            if (lawn__state_load(timer) == seen) {
                return stopped;
            }
            continue;
        }
        if ((seen & (LAWN_STATE_RUN | LAWN_STATE_CLAIM)) != 0) {
            lawn__park_yield(); /* it is being started; stop it after that */
            continue;
        }
        if (self == &set->closer && mine) {
            /* All mailboxes are closed and empty. If MAIL is set, the thread
             * that set it cannot push the timer. */
            stopped |= lawn__shard_release(timer);
            continue;
        }
        if (!mine && (seen & LAWN_STATE_HELD) != 0 &&
            !request_release(here, timer, &seen, &stopped, waits)) {
            continue;
        }
        if (waits == NULL) {
            wait_for_release(here, timer);
            continue;
        }
        if (self != NULL && !mine &&
            LAWN_ATOMIC_LOAD(&set->closing, LAWN_ACQUIRE) != 0) {
            lawn__worker_inherit(self, here);
        }
        seen = lawn__state_load(timer);
        drain_own_mail(waits);
        if (lawn__state_load(timer) == seen) {
            lawn__park_yield();
        }
    }
}
