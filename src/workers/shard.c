/* shard.c - takes timers from the mailbox, puts them on the lawn, and fires
 * them. */
#include "shard.h"

#include "state.h"

/* Late by up to 1/1024 of the TTL: see is_overtaken(). */
#define LAWN_SHARD_LATE_BITS 10

struct lawn_shard *
lawn__shard_new(struct lawn_workers *set, unsigned number)
{
    struct lawn_shard *shard = lawn__workers_alloc(&set->lawn, sizeof(*shard));
    struct lawn_options options = set->lawn;
    options.now = lawn_workers_now(set);
    if (shard == NULL) {
        return NULL;
    }
    shard->lawn = lawn_new(&options);
    if (shard->lawn == NULL) {
        lawn__workers_release(&set->lawn, shard);
        return NULL;
    }
    shard->set = set;
    shard->number = number;
    shard->word = (uint64_t)(number + 1) << LAWN_STATE_SHARD_SHIFT;
    shard->resolution = options.resolution == 0 ? 1 : options.resolution;
    return shard;
}

void
lawn__shard_free(struct lawn_shard *shard)
{
    lawn_free(shard->lawn);
    lawn__workers_release(&shard->set->lawn, shard);
}

void
lawn__shard_wake(struct lawn_shard *shard, uint64_t deadline)
{
    uint64_t at = LAWN_ATOMIC_LOAD(&shard->wake_at, LAWN_SEQ_CST);
    while (deadline < at) {
        /* Only the thread that sets wake_at to 0 wakes the worker, so a burst
         * of posts wakes it once [C7]. The sleeping worker stored shard->worker
         * before wake_at, so this load returns that worker. */
        if (LAWN_ATOMIC_CAS(&shard->wake_at, &at, 0, LAWN_SEQ_CST)) {
            struct lawn_worker *worker =
                LAWN_ATOMIC_LOAD(&shard->worker, LAWN_ACQUIRE);
            if (worker != NULL) {
                lawn__worker_wake(worker);
            }
            return;
        }
    }
}

void
lawn__shard_notify_waiters(struct lawn_shard *shard)
{
    /* The other half of the fence is in wait_for_release(). */
    LAWN_FENCE_LIGHT();
    if (LAWN_ATOMIC_LOAD(&shard->waiters, LAWN_SEQ_CST) != 0) {
        (void)LAWN_ATOMIC_FADD(&shard->served, 1, LAWN_SEQ_CST);
        lawn__park_wake(&shard->served);
    }
}

void
lawn__shard_post(struct lawn_shard *shard, struct lawn_workers_timer *timer,
                 uint64_t seen, uint64_t next)
{
    if ((seen & LAWN_STATE_MAIL) == 0) {
        /* Mailboxes are closed only when all gates are empty. */
        bool pushed = lawn__mailbox_push(&shard->box, timer);
        LAWN_ASSERT(pushed, "a mailbox was closed too early");
        (void)pushed;
    }
    LAWN_ATOMIC_STORE(&timer->state, next, LAWN_RELEASE);
}

static uint64_t
round_deadline(const struct lawn_shard *shard, uint64_t deadline)
{
    uint64_t past = deadline % shard->resolution;
    return past == 0 ? deadline
                     : lawn__saturating_add(deadline, shard->resolution - past);
}

void
lawn__shard_put_back(struct lawn_shard *shard, struct lawn_workers_timer *timer,
                     uint64_t deadline)
{
    lawn_start_as(shard->lawn, &timer->timer, 0, deadline);
}

/* Returns whether a start is earlier than the shard's latest start, but by only
 * a small part of its TTL. It then uses the time of the latest one, so that the
 * timer can be appended to a blade [M5]. */
static bool
is_overtaken(const struct lawn_shard *shard, const struct lawn_request *request)
{
    uint64_t start = request->when - request->ttl;
    return request->ttl != 0 && start < shard->started &&
           shard->started - start <= request->ttl >> LAWN_SHARD_LATE_BITS;
}

static void
put_on_lawn(struct lawn_shard *shard, struct lawn_workers_timer *timer,
            const struct lawn_request *request)
{
    uint64_t deadline = request->when;
    uint64_t start = deadline - request->ttl;
    uint64_t now = LAWN_ATOMIC_LOAD(&shard->worker, LAWN_RELAXED)->now;
    if (request->ttl == 0 && deadline > lawn_now(shard->lawn)) {
        lawn_start_at(shard->lawn, &timer->timer, deadline);
        return;
    }
    if (is_overtaken(shard, request)) {
        deadline = lawn__saturating_add(shard->started, request->ttl);
    } else if (request->ttl == 0 || start < shard->started || start > now ||
               start > lawn_now(shard->lawn)) {
        /* The timer cannot be appended to a blade [M5]. Its start may even be
         * in the future: another thread can restart a timer in the mailbox
         * after the worker has read the clock or set the lawn's clock. */
        lawn__shard_put_back(shard, timer, round_deadline(shard, deadline));
        return;
    } else {
        shard->started = start;
    }
    lawn_start_as(shard->lawn, &timer->timer, request->ttl,
                  round_deadline(shard, deadline));
}

/* Returns false if the word is no longer *seen. */
static bool
forward_timer(struct lawn_shard *shard, struct lawn_workers_timer *timer,
              uint64_t *seen, const struct lawn_request *request)
{
    struct lawn_shard *to = request->shard;
    (void)lawn_stop(shard->lawn, &timer->timer);
    if (LAWN_ATOMIC_LOAD(&to->worker, LAWN_RELAXED) == shard->worker) {
        if (!lawn__state_swap(
                timer, seen,
                lawn__state_with(*seen, to,
                                 LAWN_STATE_RUN | LAWN_STATE_LAWN))) {
            return false;
        }
        put_on_lawn(to, timer, request);
        return true;
    }
    if (!lawn__state_swap(timer, seen,
                          lawn__state_posted(*seen & ~LAWN_STATE_LAWN, to))) {
        return false;
    }
    /* Mailboxes are closed only when one worker runs all shards; then the
     * branch above was taken. */
    bool pushed = lawn__mailbox_push(&to->box, timer);
    LAWN_ASSERT(pushed, "a mailbox was closed too early");
    (void)pushed;
    /* Wake the worker whatever the deadline: once MAIL is set, other threads
     * may have started the timer with an earlier deadline, or wait for its
     * release, without posting it again. */
    lawn__shard_wake(to, 0);
    if (LAWN_ATOMIC_LOAD(&shard->set->closing, LAWN_SEQ_CST) != 0) {
        /* The worker of that shard may have ended without seeing the mail. */
        lawn__worker_inherit(shard->worker, to);
    }
    return true;
}

static void
accept_timer(struct lawn_shard *shard, struct lawn_workers_timer *timer)
{
    uint64_t seen = lawn__state_load(timer);
    for (;;) {
        uint64_t next =
            seen & ~(LAWN_STATE_MAIL | LAWN_STATE_REQ | LAWN_STATE_BOUND);
        struct lawn_request request = {0};
        if ((seen & LAWN_STATE_REQ) != 0) {
            request.when = LAWN_ATOMIC_LOAD(&timer->when, LAWN_RELAXED);
            request.ttl = LAWN_ATOMIC_LOAD(&timer->ttl, LAWN_RELAXED);
            request.shard =
                shard->set
                    ->shards[LAWN_ATOMIC_LOAD(&timer->shard, LAWN_RELAXED)];
        }
        /* Retry a claimed timer in the next round, because its start may be for
         * another shard. Also retry a timer that must move to another shard
         * while its callback is running here: it could fire there at the same
         * time [C4]. But release a stopped timer now: the callback may be
         * waiting for that in lawn_workers_stop_sync(). */
        if ((seen & LAWN_STATE_CLAIM) != 0 ||
            (request.shard != NULL && request.shard != shard &&
             (seen & LAWN_STATE_RUN) != 0 &&
             LAWN_ATOMIC_LOAD(&shard->firing, LAWN_RELAXED) == timer)) {
            timer->next = shard->again;
            shard->again = timer;
            return;
        }
        if ((seen & LAWN_STATE_RUN) == 0 && request.shard != shard) {
            (void)lawn_stop(shard->lawn, &timer->timer);
            if (lawn__state_swap(timer, &seen, next & ~LAWN_STATE_LAWN)) {
                return;
            }
        } else if (request.shard == NULL) {
            /* A local start has replaced the start in the mailbox. Without
             * LAWN, the lawn has fired the timer since: see decide_fire(). */
            if (lawn__state_swap(timer, &seen, next | LAWN_STATE_LAWN)) {
                if ((seen & LAWN_STATE_LAWN) == 0) {
                    lawn__shard_put_back(shard, timer,
                                         lawn_last_deadline(&timer->timer));
                }
                return;
            }
        } else if (request.shard != shard) {
            if (forward_timer(shard, timer, &seen, &request)) {
                return;
            }
        } else if (lawn__state_swap(timer, &seen,
                                    next | LAWN_STATE_LAWN |
                                        (is_overtaken(shard, &request)
                                             ? LAWN_STATE_LATE
                                             : LAWN_STATE_DUE))) {
            /* Even a stopped timer: its next start then needs no mail. */
            put_on_lawn(shard, timer, &request);
            return;
        }
    }
}

bool
lawn__shard_has_mail(struct lawn_shard *shard)
{
    return shard->again != NULL || !lawn__mailbox_empty(&shard->box);
}

void
lawn__shard_drain(struct lawn_shard *shard, size_t *steps)
{
    struct lawn_worker *worker = shard->worker;
    struct lawn_workers_timer *timer = shard->again;
    uint64_t taken = 0;
    if (timer != NULL) {
        lawn_worker_update(worker);
    }
    shard->again = NULL;
    while (timer != NULL) {
        struct lawn_workers_timer *next = timer->next;
        accept_timer(shard, timer);
        timer = next;
        taken++;
    }
    while (*steps > 0) {
        bool looks = lawn__mailbox_done(&shard->box);
        timer = lawn__mailbox_pop(&shard->box, steps);
        if (timer == NULL) {
            break;
        }
        /* Read the clock after taking timers from the mailbox: it must not be
         * before their starts [M5]. */
        if (looks) {
            lawn_worker_update(worker);
        }
        accept_timer(shard, timer);
        *steps -= *steps > 0;
        taken++;
        lawn__count_up(&worker->counts.messages, 1);
    }
    if (taken > 0) {
        lawn__shard_notify_waiters(shard);
    }
}

static void
end_callback(struct lawn_shard *shard)
{
    if (shard->set->asymmetric) {
        LAWN_ATOMIC_STORE(&shard->firing, NULL, LAWN_RELEASE);
    } else {
        /* LAWN_FENCE_LIGHT has no effect without LAWN_FENCE_HEAVY. This
         * exchange is the fence. */
        (void)LAWN_ATOMIC_XCHG(&shard->firing, NULL, LAWN_SEQ_CST);
    }
    lawn__shard_notify_waiters(shard);
}

#if defined __SANITIZE_THREAD__
#define LAWN_SHARD_UNSEEN __attribute__((noinline, no_sanitize_thread))
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define LAWN_SHARD_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#endif
#endif
#if !defined LAWN_SHARD_UNSEEN
#define LAWN_SHARD_UNSEEN
#endif

/* A thread that has stopped the timer may write this field at the same time.
 * Then the state word has changed, and the result is not used. */
static LAWN_SHARD_UNSEEN lawn_workers_fire_fn *
read_callback(const struct lawn_workers_timer *timer)
{
    /* cppcheck-suppress CastIntegerToAddressAtReturn ; it is a pointer */
    return *(lawn_workers_fire_fn *const volatile *)&timer->fire;
}

/* Returns whether the callback must be called. If so, the timer is now free,
 * and *due and *fire are set. */
static bool
decide_fire(struct lawn_shard *shard, struct lawn_workers_timer *timer,
            uint64_t *due, lawn_workers_fire_fn **fire)
{
    uint64_t seen = lawn__state_load(timer);
    for (;;) {
        uint64_t free = seen & ~(LAWN_STATE_RUN | LAWN_STATE_LAWN |
                                 LAWN_STATE_REQ | LAWN_STATE_BOUND);
        *due = lawn_last_deadline(&timer->timer);
        if ((seen & LAWN_STATE_CLAIM) != 0) {
            /* Another thread is restarting the timer. If it does not use the
             * mailbox, the timer must be on the lawn. */
            lawn__shard_put_back(shard, timer, *due);
            return false;
        }
        if ((seen & (LAWN_STATE_REQ | LAWN_STATE_MAIL)) ==
            (LAWN_STATE_REQ | LAWN_STATE_MAIL)) {
            return false; /* restarted: it is in the mailbox */
        }
        if ((seen & (LAWN_STATE_RUN | LAWN_STATE_REQ)) ==
            (LAWN_STATE_RUN | LAWN_STATE_REQ)) {
            /* Restarted without mail. */
            *due = round_deadline(shard,
                                  LAWN_ATOMIC_LOAD(&timer->when, LAWN_RELAXED));
            /* If it is due by now, fire it: back on the lawn, it would fire one
             * tick later [P6]. */
            if (*due > lawn_now(shard->lawn) || *due > shard->limit) {
                if (lawn__state_swap(timer, &seen, seen & ~LAWN_STATE_REQ)) {
                    lawn__shard_put_back(shard, timer, *due);
                    return false;
                }
                continue;
            }
        }
        if ((seen & (LAWN_STATE_RUN | LAWN_STATE_MAIL)) ==
            (LAWN_STATE_RUN | LAWN_STATE_MAIL)) {
            /* The timer is due, but still in the mailbox, with an outdated
             * start. It must not become free, and so not fire, before it is
             * taken from there. */
            if (lawn__state_swap(timer, &seen, seen & ~LAWN_STATE_LAWN)) {
                return false;
            }
        } else {
            /* For lawn_last_deadline() in the callback. The timer is on no
             * lawn, so the field is not otherwise in use. */
            timer->timer.deadline = *due;
            /* Read it before the timer is free: another thread may set another
             * callback and restart it. */
            *fire = read_callback(timer);
            if (lawn__state_change(shard, timer, &seen, free)) {
                return (seen & LAWN_STATE_RUN) != 0;
            }
        }
    }
}

static void
fire_timer(struct lawn_timer *core, void *arg)
{
    struct lawn_shard *shard = arg;
    struct lawn_workers_timer *timer =
        LAWN_CONTAINER(core, struct lawn_workers_timer, timer);
    struct lawn_worker *worker = shard->worker;

    /* Before the timer becomes free: if a thread finds it free and not in
     * shard->firing, its callback has returned [C3]. */
    LAWN_ATOMIC_STORE(&shard->firing, timer, LAWN_RELEASE);
    lawn_workers_fire_fn *fire = NULL;
    uint64_t due = 0;
    if (decide_fire(shard, timer, &due, &fire)) {
        lawn__worker_tick(worker, shard);
        uint64_t late = worker->now > due ? worker->now - due : 0;
        lawn__count_up(&worker->counts.fires, 1);
        lawn__count_up(&worker->counts.late_sum, late);
        if (late > LAWN_ATOMIC_LOAD(&worker->counts.late_most, LAWN_RELAXED)) {
            LAWN_ATOMIC_STORE(&worker->counts.late_most, late, LAWN_RELAXED);
        }
        fire(timer, worker);
    }
    end_callback(shard);
}

size_t
lawn__shard_mow(struct lawn_shard *shard, uint64_t now, uint64_t limit,
                size_t budget)
{
    shard->limit = limit;
    now = now < limit ? now : limit;
    return lawn_mow(shard->lawn, now, budget, fire_timer, shard);
}

static bool
is_stopped(struct lawn_timer *core, uint64_t ttl, void *arg)
{
    (void)ttl;
    (void)arg;
    return (lawn__state_load(
                LAWN_CONTAINER(core, struct lawn_workers_timer, timer)) &
            LAWN_STATE_RUN) == 0;
}

bool
lawn__shard_has_running(const struct lawn_shard *shard)
{
    return !lawn_each(shard->lawn, is_stopped, NULL);
}

struct lawn_left {
    struct lawn_shard *shard;
    lawn_workers_left_fn *left;
    void *arg;
    uint64_t count;
};

bool
lawn__shard_release(struct lawn_workers_timer *timer)
{
    uint64_t seen = lawn__state_load(timer);
    while (
        (seen & LAWN_STATE_CLAIM) != 0 ||
        !lawn__state_swap(timer, &seen,
                          seen & ~(LAWN_STATE_FLAGS | LAWN_STATE_SHARD_MASK))) {
        if ((seen & LAWN_STATE_CLAIM) != 0) {
            lawn__park_yield();
            seen = lawn__state_load(timer);
        }
    }
    return (seen & LAWN_STATE_RUN) != 0;
}

static void
discard_timer(struct lawn_timer *core, void *arg)
{
    struct lawn_left *left = arg;
    struct lawn_workers_timer *timer =
        LAWN_CONTAINER(core, struct lawn_workers_timer, timer);
    /* As in fire_timer(): lawn_workers_stop_sync() in another thread then waits
     * until left() has returned [C3]. */
    LAWN_ATOMIC_STORE(&left->shard->firing, timer, LAWN_RELEASE);
    if (lawn__shard_release(timer)) {
        left->count++;
        if (left->left != NULL) {
            left->left(timer, left->arg);
        }
    }
    end_callback(left->shard);
}

void
lawn__shard_shut(struct lawn_shard *shard)
{
    lawn__mailbox_close(&shard->box);
    while (lawn__shard_has_mail(shard)) {
        size_t steps = SIZE_MAX;
        lawn__shard_drain(shard, &steps);
        if (shard->again != NULL) {
            lawn__park_yield();
        }
    }
}

uint64_t
lawn__shard_clear(struct lawn_shard *shard, lawn_workers_left_fn *left,
                  void *arg)
{
    struct lawn_left all = {shard, left, arg, 0};
    /* The state word of a released timer names no shard, so
     * lawn_workers_stop_sync() uses set->clearing. */
    LAWN_ATOMIC_STORE(&shard->set->clearing, shard, LAWN_RELEASE);
    while (lawn_count(shard->lawn) != 0) {
        (void)lawn_mow(shard->lawn, LAWN_LAST, SIZE_MAX, discard_timer, &all);
    }
    LAWN_ATOMIC_STORE(&shard->cleared, 1, LAWN_SEQ_CST);
    lawn__shard_notify_waiters(shard);
    return all.count;
}
