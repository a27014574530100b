/* shard.c - what a worker does with the timers of a shard: takes them out of the
 * mail, puts them on the lawn, and fires them. */
#include "shard.h"

#include "state.h"

/* A start may be late by 1/1024 of its TTL, so as to stand on its blade. */
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
        /* The one who takes the time away wakes: once per burst [C7]. An
         * acquire, so as to see who sleeps. */
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
        /* Boxes are closed when nobody is within a gate. */
        bool pushed = lawn__mailbox_push(&shard->box, timer);
        LAWN_ASSERT(pushed, "a box was closed too early");
        (void)pushed;
    }
    LAWN_ATOMIC_STORE(&timer->state, next, LAWN_RELEASE);
}

/* A deadline, rounded up to the resolution. */
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

/* Whether a start is to count from the latest one rather than from its own time:
 * that is later, but by so little of its TTL that its place on the blade is worth
 * more [M5]. */
static bool
is_overtaken(const struct lawn_shard *shard, const struct lawn_request *request)
{
    uint64_t start = request->when - request->ttl;
    return request->ttl != 0 && start < shard->started &&
           shard->started - start <= request->ttl >> LAWN_SHARD_LATE_BITS;
}

/* Puts a timer on the lawn that came by mail. */
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
        /* From the future: it was in the mail, and was started again since the
         * worker took that, and looked at the clock, or told the lawn so. */
        lawn__shard_put_back(shard, timer, round_deadline(shard, deadline));
        return;
    } else {
        shard->started = start;
    }
    lawn_start_as(shard->lawn, &timer->timer, request->ttl,
                  round_deadline(shard, deadline));
}

/* A start for another shard: sends the timer on. */
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
    /* Boxes are closed when all shards are with one worker. */
    bool pushed = lawn__mailbox_push(&to->box, timer);
    LAWN_ASSERT(pushed, "a box was closed too early");
    (void)pushed;
    /* Whatever it is due at: since the word says that it is in the mail, others
     * may have started it for earlier, or wait for it, and found no mail. */
    lawn__shard_wake(to, 0);
    if (LAWN_ATOMIC_LOAD(&shard->set->closing, LAWN_SEQ_CST) != 0) {
        /* Who was to fire it may have ended with the set, and seen no mail. */
        lawn__worker_inherit(shard->worker, to);
    }
    return true;
}

/* A timer that came out of the mail. */
static void
accept_timer(struct lawn_shard *shard, struct lawn_workers_timer *timer)
{
    uint64_t seen = lawn__state_load(timer);
    for (;;) {
        uint64_t next =
            seen & ~(LAWN_STATE_MAIL | LAWN_STATE_REQ | LAWN_STATE_DUE);
        struct lawn_request request = {0};
        if ((seen & LAWN_STATE_REQ) != 0) {
            request.when = LAWN_ATOMIC_LOAD(&timer->when, LAWN_RELAXED);
            request.ttl = LAWN_ATOMIC_LOAD(&timer->ttl, LAWN_RELAXED);
            request.shard =
                shard->set
                    ->shards[LAWN_ATOMIC_LOAD(&timer->shard, LAWN_RELAXED)];
        }
        /* Claimed: its end is not far, and then the timer may be wanted here
         * or elsewhere. And a timer whose callback runs here stays, or it might
         * run elsewhere at the same time [C4]; unless it was stopped, for which
         * the callback may wait. */
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
            /* A local start came before the mail was read; and if the timer is
             * not on the lawn, it has come up since: see decide_fire(). */
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
                                             ? 0
                                             : LAWN_STATE_DUE))) {
            /* Also if it has been stopped since: most such timers are started
             * again by those who did, and then that needs no mail. */
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
        /* After the box was emptied, so that all that was in it was started
         * before now [M5]. */
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

/* Ends what fire_timer() began. */
static void
end_callback(struct lawn_shard *shard)
{
    if (shard->set->asymmetric) {
        LAWN_ATOMIC_STORE(&shard->firing, NULL, LAWN_RELEASE);
    } else {
        /* Then LAWN_FENCE_LIGHT is nothing, and this is the fence. */
        (void)LAWN_ATOMIC_XCHG(&shard->firing, NULL, LAWN_SEQ_CST);
    }
    lawn__shard_notify_waiters(shard);
}

/* ThreadSanitizer is not to look at a function. */
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

/* The callback as of a word that was seen. Who has stopped the timer since may be
 * changing it, which is allowed: then that word is not there any more, and what is
 * read here is not used. */
static LAWN_SHARD_UNSEEN lawn_workers_fire_fn *
read_callback(const struct lawn_workers_timer *timer)
{
    /* cppcheck-suppress CastIntegerToAddressAtReturn ; it is a pointer */
    return *(lawn_workers_fire_fn *const volatile *)&timer->fire;
}

/* Whether a timer that the lawn has fired is to call back; it is free then.
 * *due is when it was due, and *fire its callback. */
static bool
decide_fire(struct lawn_shard *shard, struct lawn_workers_timer *timer,
            uint64_t *due, lawn_workers_fire_fn **fire)
{
    uint64_t seen = lawn__state_load(timer);
    for (;;) {
        uint64_t free = seen & ~(LAWN_STATE_RUN | LAWN_STATE_LAWN |
                                 LAWN_STATE_REQ | LAWN_STATE_DUE);
        *due = lawn_last_deadline(&timer->timer);
        if ((seen & LAWN_STATE_CLAIM) != 0) {
            /* Being started again; but that may need no mail, and then the timer
             * must be where it was. */
            lawn__shard_put_back(shard, timer, *due);
            return false;
        }
        if ((seen & (LAWN_STATE_REQ | LAWN_STATE_MAIL)) ==
            (LAWN_STATE_REQ | LAWN_STATE_MAIL)) {
            return false; /* started again: it comes by mail */
        }
        if ((seen & (LAWN_STATE_RUN | LAWN_STATE_REQ)) ==
            (LAWN_STATE_RUN | LAWN_STATE_REQ)) {
            /* Started again, without mail. */
            *due = round_deadline(shard,
                                  LAWN_ATOMIC_LOAD(&timer->when, LAWN_RELAXED));
            /* Due, also if time has gone on since the mow began: back on the
             * lawn it would be so a tick later [P6]. */
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
            /* It is due, but has mail, which does not matter any more: it must
             * not be handed out before that is taken. So it waits for it. */
            if (lawn__state_swap(timer, &seen, seen & ~LAWN_STATE_LAWN)) {
                return false;
            }
        } else {
            /* What a callback asks for: it is on no lawn, so nobody else does. */
            timer->timer.deadline = *due;
            /* Before it is free, and as of this word: who has stopped it may give
             * it another callback, and then start it again. */
            *fire = read_callback(timer);
            if (lawn__state_change(shard, timer, &seen, free)) {
                /* If it was not running, someone had stopped it. */
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

    /* Before the timer becomes free: who sees it free, and not this, knows that
     * its callback has returned [C3]. */
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
    /* Before the timer becomes free, as in fire_timer(): a stop_sync in
     * another thread that sees it free waits until left() has returned [C3]. */
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
    /* A timer that is left names no shard any more, since it may go to another set:
     * this is where stop_sync looks for it. */
    LAWN_ATOMIC_STORE(&shard->set->clearing, shard, LAWN_RELEASE);
    while (lawn_count(shard->lawn) != 0) {
        (void)lawn_mow(shard->lawn, LAWN_LAST, SIZE_MAX, discard_timer, &all);
    }
    LAWN_ATOMIC_STORE(&shard->cleared, 1, LAWN_SEQ_CST);
    lawn__shard_notify_waiters(shard);
    return all.count;
}
