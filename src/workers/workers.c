/* workers.c - what any thread does with a timer: start, stop, and wait for its
 * end. See state.h for the word that decides. */
#include "lawn_workers.h"

#include "gate.h"
#include "part.h"
#include "state.h"

#include <errno.h>

/* For what is not the usual way: within the usual one it would take registers
 * that that needs. */
#define LAWN_RARE __attribute__((noinline))

bool
lawn_workers_pending(const struct lawn_workers_timer *timer)
{
    return (lawn_state_look(timer) & (RUN | CLAIM)) != 0;
}

/* Where the calling thread's next timer goes. */
#if defined LAWN_EXPLORE
unsigned *lawn_explore_turn(void);
#define LAWN_WORKERS_TURN (*lawn_explore_turn())
#else
static _Thread_local unsigned lawn_workers_turn;
#define LAWN_WORKERS_TURN lawn_workers_turn
#endif

/* The part for a timer that none has. */
static struct lawn_part *
lawn_workers_pick(struct lawn_workers *set, const struct lawn_worker *self)
{
    struct lawn_part *home = NULL;
    if (self != NULL) {
        home = L_LOAD(&self->home, L_ACQUIRE);
    }
    return home != NULL ? home
                        : set->parts[LAWN_WORKERS_TURN++ %
                                     L_LOAD(&set->count, L_ACQUIRE)];
}

/* The part for all timers of a TTL: the high bits of a multiplicative hash. */
static struct lawn_part *
lawn_workers_pick_ttl(struct lawn_workers *set, uint64_t ttl)
{
    uint64_t hash = (ttl * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return set->parts[(hash * L_LOAD(&set->count, L_RELAXED)) >> 32];
}

/* Whether the timer's part may be changed: nothing there refers to it. */
static bool
lawn_workers_free_of(const struct lawn_part *part,
                     const struct lawn_workers_timer *timer, uint64_t seen)
{
    return part == NULL || ((seen & LAWN_STATE_HELD) == 0 &&
                            L_LOAD(&part->firing, L_ACQUIRE) != timer);
}

/* Starts a timer on a lawn of the worker that calls. here is where it was, if
 * anywhere. False: the word is not *seen any more. */
static bool
lawn_workers_start_local(struct lawn_worker *self, struct lawn_part *here,
                         struct lawn_workers_timer *timer, uint64_t *seen,
                         const struct lawn_request *request)
{
    struct lawn_part *part = request->part;
    uint64_t flags = RUN | LAWN | (*seen & MAIL);
    /* A timer that runs here needs no change: a stop by another thread that
     * comes now comes after this start. */
    if (here == NULL || here != part ||
        (*seen & (RUN | LAWN | REQ | DUE)) != (RUN | LAWN)) {
        /* A version of its own: after this start the timer may have fired and
         * be free again, and who saw it free before must not take it for the
         * same. */
        uint64_t next = lawn_state_of(*seen, part, flags) + LAWN_STATE_VERSION;
        if (here != NULL && L_LOAD(&here->worker, L_RELAXED) == self) {
            /* If it is free, another worker may have started it by now. */
            bool off = here != part && (*seen & LAWN) != 0 &&
                       lawn_stop(here->lawn, &timer->timer);
            if (!lawn_state_change(here, timer, seen, next)) {
                if (off) {
                    lawn_part_back(here, timer, lawn_due(&timer->timer));
                }
                return false;
            }
        } else {
            /* It had no part, or is free at another's. */
            if (here != NULL) {
                lawn_state_share(self->set, timer);
            }
            if (!lawn_state_swap(timer, seen, next)) {
                return false;
            }
        }
    }
    part->started = self->now; /* M5 */
    lawn_set_now(part->lawn, self->now);
    if (request->ttl == 0) {
        lawn_start_at(part->lawn, &timer->timer, request->when);
    } else {
        lawn_start(part->lawn, &timer->timer, request->ttl);
    }
    return true;
}

/* Starts a timer by mail to the part `to`. 1: done; 0: the word is not *seen any
 * more; or an error. */
static int
lawn_workers_start_remote(struct lawn_workers *set, struct lawn_part *to,
                          struct lawn_workers_timer *timer, uint64_t *seen,
                          struct lawn_request *request)
{
    bool fresh = (*seen & LAWN_STATE_PART_MASK) == 0;
    struct lawn_pass pass = {0};
    if (request->ttl != 0) {
        /* A TTL that reaches beyond the end of time is cut short. */
        uint64_t now = lawn_workers_now(set);
        request->when = lawn_workers_sum(now, request->ttl);
        request->ttl = request->when - now;
    }
    /* It may come up on the lawn in time, and then it needs no mail. */
    uint64_t before = L_LOAD(&timer->when, L_RELAXED);
    bool by_mail = (*seen & (LAWN | MAIL | DUE)) != (LAWN | DUE) ||
                   to != request->part || request->when < before;
    if (!fresh) {
        lawn_state_share(set, timer);
    }
    if (by_mail && (*seen & MAIL) == 0 && !lawn_gate_enter(set, &pass)) {
        return -ESHUTDOWN;
    }
    if (fresh && L_LOAD(&timer->shared, L_RELAXED) == LAWN_STATE_UNSHARED) {
        L_STORE(&timer->shared, LAWN_STATE_SHARING, L_SEQ_CST);
    }
    if (!lawn_state_swap(timer, seen, *seen | CLAIM)) {
        lawn_gate_leave(&pass);
        return 0;
    }
    if (fresh) {
        /* No worker has had the right to plain stores. */
        L_STORE(&timer->shared, LAWN_STATE_SHARED, L_RELEASE);
    }
    lawn_state_write(timer, request, by_mail);
    if (!by_mail) {
        L_STORE(&timer->state,
                ((*seen & ~CLAIM) | RUN | REQ) + LAWN_STATE_VERSION, L_RELEASE);
        return 1;
    }
    lawn_part_post(to, timer, *seen, lawn_state_posted(*seen, to));
    lawn_part_wake(to, request->when);
    lawn_gate_leave(&pass);
    return 1;
}

/* Starts a timer on a part of the caller's choice, or NULL. */
static LAWN_RARE int
lawn_workers_begin(struct lawn_workers *set, struct lawn_workers_timer *timer,
                   uint64_t when, uint64_t ttl, struct lawn_part *choice)
{
    struct lawn_worker *self = lawn_worker_self(set);
    if (self != NULL && self->stale) {
        lawn_worker_resume(self);
    }
    uint64_t seen = lawn_state_look(timer);
    LAWN_WORKERS_EXPECT(timer->fire != NULL,
                        "a timer of workers is started without fire");
    if (L_LOAD(&set->closing, L_ACQUIRE) != 0) {
        return -ESHUTDOWN;
    }
    for (;;) {
        if ((seen & CLAIM) != 0) {
            return 0; /* came before the one that is being written */
        }
        struct lawn_part *here = lawn_state_part(set, seen);
        bool loose = lawn_workers_free_of(here, timer, seen);
        struct lawn_request request = {when, ttl, choice};
        if (choice == NULL && (seen & (RUN | REQ)) == (RUN | REQ)) {
            /* It may be on its way elsewhere, and goes on to there. */
            request.part = set->parts[L_LOAD(&timer->part, L_RELAXED)];
        } else if (choice == NULL) {
            request.part = !loose || (here != NULL && self == NULL)
                               ? here
                               : lawn_workers_pick(set, self);
        }
        struct lawn_part *to = loose ? request.part : here;
        int done;
        if (self != NULL && L_LOAD(&to->worker, L_RELAXED) == self &&
            (to == request.part ||
             (L_LOAD(&request.part->worker, L_RELAXED) == self &&
              (seen & MAIL) == 0 && L_LOAD(&to->firing, L_RELAXED) != timer))) {
            done = lawn_workers_start_local(self, here, timer, &seen, &request);
        } else {
            done = lawn_workers_start_remote(set, to, timer, &seen, &request);
        }
        if (done != 0) {
            return done > 0 ? 0 : done;
        }
    }
}

/* The worker of this set that the calling thread is in the usual case: it does not
 * close another set meanwhile. Or NULL. */
static inline struct lawn_worker *
lawn_workers_usual(const struct lawn_workers *set)
{
    struct lawn_worker *self = LAWN_WORKER_CURRENT;
    return self != NULL && self->set == set ? self : NULL;
}

/* The usual start of a worker's own timer: it ran, or was free, at home. */
static inline bool
lawn_workers_start_quick(struct lawn_workers *set,
                         struct lawn_workers_timer *timer, uint64_t ttl)
{
    struct lawn_worker *self = lawn_workers_usual(set);
    struct lawn_part *home = self != NULL ? self->quick : NULL;
    if (home == NULL || L_LOAD(&set->closing, L_RELAXED) != 0) {
        return false;
    }
    uint64_t seen = lawn_state_look(timer);
    uint64_t at_home =
        (seen & (LAWN_STATE_PART_MASK | LAWN_STATE_FLAGS)) ^ home->word;
    if (at_home != (RUN | LAWN) &&
        (at_home != 0 ||
         !lawn_state_change(home, timer, &seen,
                            (seen | RUN | LAWN) + LAWN_STATE_VERSION))) {
        return false;
    }
    home->started = self->now; /* M5 */
    lawn_start(home->lawn, &timer->timer, ttl);
    return true;
}

int
lawn_workers_start(struct lawn_workers *set, struct lawn_workers_timer *timer,
                   uint64_t ttl)
{
    if (lawn_workers_start_quick(set, timer, ttl)) {
        return 0;
    }
    ttl += ttl == 0;
    return lawn_workers_begin(set, timer, 0, ttl,
                              set->route == LAWN_WORKERS_BY_TTL
                                  ? lawn_workers_pick_ttl(set, ttl)
                                  : NULL);
}

int
lawn_workers_start_at(struct lawn_workers *set,
                      struct lawn_workers_timer *timer, uint64_t deadline)
{
    uint64_t last = LAWN_NEVER - 1;
    return lawn_workers_begin(set, timer, deadline < last ? deadline : last, 0,
                              NULL);
}

int
lawn_workers_start_on(struct lawn_workers *set,
                      struct lawn_workers_timer *timer, uint64_t ttl,
                      unsigned number)
{
    struct lawn_worker *worker = number < LAWN_WORKERS_MAX
                                     ? L_LOAD(&set->workers[number], L_ACQUIRE)
                                     : NULL;
    if (worker == NULL || L_LOAD(&worker->live, L_ACQUIRE) == 0) {
        return -ENOENT;
    }
    if (set->route == LAWN_WORKERS_BY_TTL) {
        return lawn_workers_start(set, timer, ttl);
    }
    ttl += ttl == 0;
    struct lawn_part *home = L_LOAD(&worker->home, L_ACQUIRE);
    return home == NULL ? -ENOENT
                        : lawn_workers_begin(set, timer, 0, ttl, home);
}

/* Stops a timer wherever it is. */
static LAWN_RARE bool
lawn_workers_end(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    struct lawn_worker *self = lawn_worker_self(set);
    uint64_t seen = lawn_state_look(timer);
    while ((seen & (RUN | LAWN)) != 0 && (seen & CLAIM) == 0) {
        struct lawn_part *here = lawn_state_part(set, seen);
        if (self != NULL && L_LOAD(&here->worker, L_RELAXED) == self) {
            /* Off the lawn first: after that it may be gone. */
            bool off = lawn_stop(here->lawn, &timer->timer);
            if (lawn_state_change(here, timer, &seen,
                                  seen & ~(RUN | LAWN | REQ | DUE))) {
                return (seen & RUN) != 0;
            }
            if (off) {
                lawn_part_back(here, timer, lawn_due(&timer->timer));
            }
            continue;
        }
        if ((seen & RUN) == 0) {
            return false;
        }
        lawn_state_share(set, timer);
        if (lawn_state_swap(timer, &seen, seen & ~RUN)) {
            return true;
        }
    }
    return false;
}

bool
lawn_workers_stop(struct lawn_workers *set, struct lawn_workers_timer *timer)
{
    struct lawn_worker *self = lawn_workers_usual(set);
    struct lawn_part *home = self != NULL ? self->quick : NULL;
    /* The usual stop of a worker's own timer: it runs at home. */
    if (home != NULL) {
        uint64_t seen = lawn_state_look(timer);
        if ((seen & (LAWN_STATE_PART_MASK | LAWN_STATE_FLAGS)) ==
            (home->word | RUN | LAWN)) {
            (void)lawn_stop(home->lawn, &timer->timer);
            if (lawn_state_change(home, timer, &seen, seen & ~(RUN | LAWN))) {
                return true;
            }
            lawn_part_back(home, timer, lawn_due(&timer->timer));
        }
    }
    return lawn_workers_end(set, timer);
}

/* Takes the mail of all parts of a worker that waits, so that others who wait for
 * it can go on. */
static void
lawn_workers_drain_own(struct lawn_worker *self)
{
    for (; self != NULL; self = self->under) {
        size_t steps = self->set->budget;
        lawn_worker_adopt(self);
        for (struct lawn_part *part = self->parts; part; part = part->next) {
            lawn_part_drain(part, &steps);
        }
    }
}

/* Sleeps until the worker of a part has let a timer go, or something else. */
static void
lawn_workers_wait_for(struct lawn_part *part,
                      const struct lawn_workers_timer *timer)
{
    uint32_t served = L_LOAD(&part->served, L_ACQUIRE);
    (void)L_FADD(&part->waiters, 1, L_SEQ_CST);
    /* The worker lets go, and then looks at waiters: see lawn_part_serve(). */
    /* What has flags has a part. NOLINTNEXTLINE(clang-analyzer-*) */
    if (part->set->asymmetric) {
        L_HEAVY();
    }
    uint64_t state = L_LOAD(&timer->state, L_SEQ_CST);
    /* It is in the mail to be let go: see lawn_workers_recall(). By now others may
     * have started and stopped it again, here or elsewhere: then nobody would
     * tell. */
    bool recalled =
        (state & (RUN | MAIL | REQ | CLAIM | LAWN_STATE_PART_MASK)) ==
        (part->word | MAIL);
    if (recalled || ((state & (RUN | CLAIM)) == 0 &&
                     L_LOAD(&part->firing, L_SEQ_CST) == timer)) {
        lawn_park_wait(&part->served, served, LAWN_NEVER);
    }
    (void)L_FADD(&part->waiters, (uint32_t)-1, L_SEQ_CST);
}

/* Asks the worker of a part to let go a timer, which is not running; waits is the
 * worker that the caller is, or NULL. False: the word is not *seen any more. */
static bool
lawn_workers_recall(struct lawn_part *part, struct lawn_workers_timer *timer,
                    uint64_t *seen, bool *stopped, struct lawn_worker *waits)
{
    bool in_mail = (*seen & MAIL) != 0;
    /* Without REQ, or it would be put on the lawn. */
    uint64_t next = (*seen | MAIL) & ~REQ;
    if (next != *seen && !lawn_state_swap(timer, seen, next)) {
        return false;
    }
    if (in_mail || lawn_mailbox_push(&part->box, timer)) {
        lawn_part_wake(part, 0);
        return true;
    }
    /* The set is closed. The timer may have come off the lawn since, and is not
     * in the mail, though it says so: when the lawn is empty, nobody refers to
     * it. */
    while (L_LOAD(&part->cleared, L_SEQ_CST) == 0) {
        if (waits != NULL) {
            /* Of another set, whose timers may be waited for by who clears. */
            lawn_workers_drain_own(waits);
        }
        lawn_park_yield();
    }
    *stopped |= lawn_part_release(timer);
    lawn_part_serve(part);
    return true;
}

bool
lawn_workers_stop_sync(struct lawn_workers *set,
                       struct lawn_workers_timer *timer)
{
    /* A worker of whatever set lets others go on while it waits. */
    struct lawn_worker *waits = lawn_workers_self();
    struct lawn_worker *self = lawn_worker_self(set);
    bool stopped = false;
    for (;;) {
        stopped |= lawn_workers_stop(set, timer);
        uint64_t seen = lawn_state_look(timer);
        struct lawn_part *here = lawn_state_part(set, seen);
        bool mine = self != NULL && here != NULL &&
                    L_LOAD(&here->worker, L_RELAXED) == self;
        if ((seen & LAWN_STATE_FLAGS) == 0 &&
            (here == NULL || mine ||
             L_LOAD(&here->firing, L_ACQUIRE) != timer)) {
            /* A callback that has returned since may have started it. */
            if (lawn_state_look(timer) == seen) {
                return stopped;
            }
            continue;
        }
        if ((seen & (RUN | CLAIM)) != 0) {
            lawn_park_yield(); /* someone starts it: it is stopped after that */
            continue;
        }
        if (self == &set->closer && mine) {
            /* All boxes are empty: who said MAIL has not put it there. */
            stopped |= lawn_part_release(timer);
            continue;
        }
        if (!mine && (seen & LAWN_STATE_HELD) != 0 &&
            !lawn_workers_recall(here, timer, &seen, &stopped, waits)) {
            continue;
        }
        if (waits == NULL) {
            lawn_workers_wait_for(here, timer);
            continue;
        }
        if (self != NULL && !mine && L_LOAD(&set->closing, L_ACQUIRE) != 0) {
            lawn_worker_inherit(self, here);
        }
        seen = lawn_state_look(timer);
        lawn_workers_drain_own(waits);
        if (lawn_state_look(timer) == seen) {
            lawn_park_yield();
        }
    }
}
