/* part.c - what a worker does with the timers of a part: takes them out of the
 * mail, puts them on the lawn, and fires them. */
#include "part.h"

#include "state.h"

/* A start may be late by 1/1024 of its TTL, so as to stand on its blade. */
#define LAWN_PART_LATE_BITS 10

struct lawn_part *
lawn_part_new(struct lawn_workers *set, unsigned number)
{
    struct lawn_part *part = lawn_workers_alloc(&set->lawn, sizeof *part);
    struct lawn_options options = set->lawn;
    options.now = lawn_workers_now(set);
    if (part == NULL) {
        return NULL;
    }
    part->lawn = lawn_new(&options);
    if (part->lawn == NULL) {
        lawn_workers_release(&set->lawn, part);
        return NULL;
    }
    part->set = set;
    part->number = number;
    part->word = (uint64_t)(number + 1) << LAWN_STATE_PART_SHIFT;
    part->resolution = options.resolution == 0 ? 1 : options.resolution;
    return part;
}

void
lawn_part_free(struct lawn_part *part)
{
    lawn_free(part->lawn);
    lawn_workers_release(&part->set->lawn, part);
}

void
lawn_part_wake(struct lawn_part *part, uint64_t deadline)
{
    uint64_t at = L_LOAD(&part->wake_at, L_SEQ_CST);
    while (deadline < at) {
        /* The one who takes the time away wakes: once per burst [C7]. An
         * acquire, so as to see who sleeps. */
        if (L_CAS(&part->wake_at, &at, 0, L_SEQ_CST)) {
            struct lawn_worker *worker = L_LOAD(&part->worker, L_ACQUIRE);
            if (worker != NULL) {
                lawn_worker_unpark(worker);
            }
            return;
        }
    }
}

void
lawn_part_serve(struct lawn_part *part)
{
    /* The other half of the fence is in lawn_workers_wait_for(). */
    L_LIGHT();
    if (L_LOAD(&part->waiters, L_SEQ_CST) != 0) {
        (void)L_FADD(&part->served, 1, L_SEQ_CST);
        lawn_park_wake(&part->served);
    }
}

void
lawn_part_post(struct lawn_part *part, struct lawn_workers_timer *timer,
               uint64_t seen, uint64_t next)
{
    if ((seen & MAIL) == 0) {
        /* Boxes are closed when nobody is within a gate. */
        bool pushed = lawn_mailbox_push(&part->box, timer);
        LAWN_WORKERS_EXPECT(pushed, "a box was closed too early");
        (void)pushed;
    }
    L_STORE(&timer->state, next, L_RELEASE);
}

/* A deadline, rounded up to the resolution. */
static uint64_t
lawn_part_round(const struct lawn_part *part, uint64_t deadline)
{
    uint64_t past = deadline % part->resolution;
    return past == 0 ? deadline
                     : lawn_workers_sum(deadline, part->resolution - past);
}

void
lawn_part_back(struct lawn_part *part, struct lawn_workers_timer *timer,
               uint64_t deadline)
{
    lawn_start_as(part->lawn, &timer->timer, 0, deadline);
}

/* Whether a start is to count from the latest one rather than from its own time:
 * that is later, but by so little of its TTL that its place on the blade is worth
 * more [M5]. */
static bool
lawn_part_overtaken(const struct lawn_part *part,
                    const struct lawn_request *request)
{
    uint64_t start = request->when - request->ttl;
    return request->ttl != 0 && start < part->started &&
           part->started - start <= request->ttl >> LAWN_PART_LATE_BITS;
}

/* Puts a timer on the lawn that came by mail. */
static void
lawn_part_link(struct lawn_part *part, struct lawn_workers_timer *timer,
               const struct lawn_request *request)
{
    uint64_t deadline = request->when;
    uint64_t start = deadline - request->ttl;
    uint64_t now = L_LOAD(&part->worker, L_RELAXED)->now;
    if (request->ttl == 0 && deadline > lawn_now(part->lawn)) {
        lawn_start_at(part->lawn, &timer->timer, deadline);
        return;
    }
    if (lawn_part_overtaken(part, request)) {
        deadline = lawn_workers_sum(part->started, request->ttl);
    } else if (request->ttl == 0 || start < part->started || start > now ||
               start > lawn_now(part->lawn)) {
        /* From the future: it was in the mail, and was started again since the
         * worker took that, and looked at the clock, or told the lawn so. */
        lawn_part_back(part, timer, lawn_part_round(part, deadline));
        return;
    } else {
        part->started = start;
    }
    lawn_start_as(part->lawn, &timer->timer, request->ttl,
                  lawn_part_round(part, deadline));
}

/* A start for another part: sends the timer on. */
static bool
lawn_part_forward(struct lawn_part *part, struct lawn_workers_timer *timer,
                  uint64_t *seen, const struct lawn_request *request)
{
    struct lawn_part *to = request->part;
    (void)lawn_stop(part->lawn, &timer->timer);
    if (L_LOAD(&to->worker, L_RELAXED) == part->worker) {
        if (!lawn_state_swap(timer, seen,
                             lawn_state_of(*seen, to, RUN | LAWN))) {
            return false;
        }
        lawn_part_link(to, timer, request);
        return true;
    }
    if (!lawn_state_swap(timer, seen, lawn_state_posted(*seen & ~LAWN, to))) {
        return false;
    }
    /* Boxes are closed when all parts are with one worker. */
    bool pushed = lawn_mailbox_push(&to->box, timer);
    LAWN_WORKERS_EXPECT(pushed, "a box was closed too early");
    (void)pushed;
    /* Whatever it is due at: since the word says that it is in the mail, others
     * may have started it for earlier, or wait for it, and found no mail. */
    lawn_part_wake(to, 0);
    if (L_LOAD(&part->set->closing, L_SEQ_CST) != 0) {
        /* Who was to fire it may have ended with the set, and seen no mail. */
        lawn_worker_inherit(part->worker, to);
    }
    return true;
}

/* A timer that came out of the mail. */
static void
lawn_part_take(struct lawn_part *part, struct lawn_workers_timer *timer)
{
    uint64_t seen = lawn_state_look(timer);
    for (;;) {
        uint64_t next = seen & ~(MAIL | REQ | DUE);
        struct lawn_request request = {0};
        if ((seen & REQ) != 0) {
            request.when = L_LOAD(&timer->when, L_RELAXED);
            request.ttl = L_LOAD(&timer->ttl, L_RELAXED);
            request.part = part->set->parts[L_LOAD(&timer->part, L_RELAXED)];
        }
        /* Claimed: its end is not far, and then the timer may be wanted here
         * or elsewhere. And a timer whose callback runs here stays, or it might
         * run elsewhere at the same time [C4]; unless it was stopped, for which
         * the callback may wait. */
        if ((seen & CLAIM) != 0 ||
            (request.part != NULL && request.part != part &&
             (seen & RUN) != 0 && L_LOAD(&part->firing, L_RELAXED) == timer)) {
            timer->next = part->again;
            part->again = timer;
            return;
        }
        if ((seen & RUN) == 0 && request.part != part) {
            (void)lawn_stop(part->lawn, &timer->timer);
            if (lawn_state_swap(timer, &seen, next & ~LAWN)) {
                return;
            }
        } else if (request.part == NULL) {
            /* A local start came before the mail was read; and if the timer is
             * not on the lawn, it has come up since: see lawn_part_cut(). */
            if (lawn_state_swap(timer, &seen, next | LAWN)) {
                if ((seen & LAWN) == 0) {
                    lawn_part_back(part, timer, lawn_due(&timer->timer));
                }
                return;
            }
        } else if (request.part != part) {
            if (lawn_part_forward(part, timer, &seen, &request)) {
                return;
            }
        } else if (lawn_state_swap(
                       timer, &seen,
                       next | LAWN |
                           (lawn_part_overtaken(part, &request) ? 0 : DUE))) {
            /* Also if it has been stopped since: most such timers are started
             * again by those who did, and then that needs no mail. */
            lawn_part_link(part, timer, &request);
            return;
        }
    }
}

bool
lawn_part_mail(struct lawn_part *part)
{
    return part->again != NULL || !lawn_mailbox_empty(&part->box);
}

void
lawn_part_drain(struct lawn_part *part, size_t *steps)
{
    struct lawn_worker *worker = part->worker;
    struct lawn_workers_timer *timer = part->again;
    uint64_t taken = 0;
    if (timer != NULL) {
        lawn_worker_update(worker);
    }
    part->again = NULL;
    while (timer != NULL) {
        struct lawn_workers_timer *next = timer->next;
        lawn_part_take(part, timer);
        timer = next;
        taken++;
    }
    while (*steps > 0) {
        bool looks = lawn_mailbox_done(&part->box);
        timer = lawn_mailbox_pop(&part->box, steps);
        if (timer == NULL) {
            break;
        }
        /* After the box was emptied, so that all that was in it was started
         * before now [M5]. */
        if (looks) {
            lawn_worker_update(worker);
        }
        lawn_part_take(part, timer);
        *steps -= *steps > 0;
        taken++;
        lawn_count_up(&worker->counts.messages, 1);
    }
    if (taken > 0) {
        lawn_part_serve(part);
    }
}

/* Ends what lawn_part_fire() began. */
static void
lawn_part_fired(struct lawn_part *part)
{
    if (part->set->asymmetric) {
        L_STORE(&part->firing, NULL, L_RELEASE);
    } else {
        /* Then L_LIGHT is nothing, and this is the fence. */
        (void)L_XCHG(&part->firing, NULL, L_SEQ_CST);
    }
    lawn_part_serve(part);
}

/* ThreadSanitizer is not to look at a function. */
#if defined __SANITIZE_THREAD__
#define LAWN_PART_UNSEEN __attribute__((noinline, no_sanitize_thread))
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define LAWN_PART_UNSEEN __attribute__((noinline, no_sanitize("thread")))
#endif
#endif
#if !defined LAWN_PART_UNSEEN
#define LAWN_PART_UNSEEN
#endif

/* The callback as of a word that was seen. Who has stopped the timer since may be
 * changing it, which is allowed: then that word is not there any more, and what is
 * read here is not used. */
static LAWN_PART_UNSEEN lawn_workers_fire_fn *
lawn_part_callback(const struct lawn_workers_timer *timer)
{
    return *(lawn_workers_fire_fn *const volatile *)&timer->fire;
}

/* Whether a timer that the lawn has cut is to fire; it is free then. *due is when
 * it was due, and *fire its callback. */
static bool
lawn_part_cut(struct lawn_part *part, struct lawn_workers_timer *timer,
              uint64_t *due, lawn_workers_fire_fn **fire)
{
    uint64_t seen = lawn_state_look(timer);
    for (;;) {
        uint64_t free = seen & ~(RUN | LAWN | REQ | DUE);
        *due = lawn_due(&timer->timer);
        if ((seen & CLAIM) != 0) {
            /* Being started again; but that may need no mail, and then the timer
             * must be where it was. */
            lawn_part_back(part, timer, *due);
            return false;
        }
        if ((seen & (REQ | MAIL)) == (REQ | MAIL)) {
            return false; /* started again: it comes by mail */
        }
        if ((seen & (RUN | REQ)) == (RUN | REQ)) {
            /* Started again, without mail. */
            *due = lawn_part_round(part, L_LOAD(&timer->when, L_RELAXED));
            /* Due, also if time has gone on since the mow began: back on the
             * lawn it would be so a tick later [P6]. */
            if (*due > lawn_now(part->lawn) || *due > part->limit) {
                if (lawn_state_swap(timer, &seen, seen & ~REQ)) {
                    lawn_part_back(part, timer, *due);
                    return false;
                }
                continue;
            }
        }
        if ((seen & (RUN | MAIL)) == (RUN | MAIL)) {
            /* It is due, but has mail, which does not matter any more: it must
             * not be handed out before that is taken. So it waits for it. */
            if (lawn_state_swap(timer, &seen, seen & ~LAWN)) {
                return false;
            }
        } else {
            /* What a callback asks for: it is on no lawn, so nobody else does. */
            timer->timer.deadline = *due;
            /* Before it is free, and as of this word: who has stopped it may give
             * it another callback, and then start it again. */
            *fire = lawn_part_callback(timer);
            if (lawn_state_change(part, timer, &seen, free)) {
                /* If it was not running, someone had stopped it. */
                return (seen & RUN) != 0;
            }
        }
    }
}

static void
lawn_part_fire(struct lawn_timer *core, void *arg)
{
    struct lawn_part *part = arg;
    struct lawn_workers_timer *timer =
        LAWN_CONTAINER(core, struct lawn_workers_timer, timer);
    struct lawn_worker *worker = part->worker;
    lawn_workers_fire_fn *fire;
    uint64_t due;

    /* Before the timer becomes free: who sees it free, and not this, knows that
     * its callback has returned [C3]. */
    L_STORE(&part->firing, timer, L_RELEASE);
    if (lawn_part_cut(part, timer, &due, &fire)) {
        lawn_worker_tick(worker, part);
        uint64_t late = worker->now > due ? worker->now - due : 0;
        lawn_count_up(&worker->counts.fires, 1);
        lawn_count_up(&worker->counts.late_sum, late);
        if (late > L_LOAD(&worker->counts.late_most, L_RELAXED)) {
            L_STORE(&worker->counts.late_most, late, L_RELAXED);
        }
        fire(timer, worker);
    }
    lawn_part_fired(part);
}

size_t
lawn_part_mow(struct lawn_part *part, uint64_t now, uint64_t limit,
              size_t budget)
{
    part->limit = limit;
    now = now < limit ? now : limit;
    return lawn_mow(part->lawn, now, budget, lawn_part_fire, part);
}

static bool
lawn_part_stopped(struct lawn_timer *core, uint64_t ttl, void *arg)
{
    (void)ttl;
    (void)arg;
    return (lawn_state_look(
                LAWN_CONTAINER(core, struct lawn_workers_timer, timer)) &
            RUN) == 0;
}

bool
lawn_part_runs(const struct lawn_part *part)
{
    return !lawn_each(part->lawn, lawn_part_stopped, NULL);
}

struct lawn_left {
    lawn_workers_left_fn *left;
    void *arg;
    uint64_t count;
};

bool
lawn_part_release(struct lawn_workers_timer *timer)
{
    uint64_t seen = lawn_state_look(timer);
    while (
        (seen & CLAIM) != 0 ||
        !lawn_state_swap(timer, &seen,
                         seen & ~(LAWN_STATE_FLAGS | LAWN_STATE_PART_MASK))) {
        if ((seen & CLAIM) != 0) {
            lawn_park_yield();
            seen = lawn_state_look(timer);
        }
    }
    return (seen & RUN) != 0;
}

static void
lawn_part_discard(struct lawn_timer *core, void *arg)
{
    struct lawn_left *left = arg;
    struct lawn_workers_timer *timer =
        LAWN_CONTAINER(core, struct lawn_workers_timer, timer);
    if (lawn_part_release(timer)) {
        left->count++;
        if (left->left != NULL) {
            left->left(timer, left->arg);
        }
    }
}

void
lawn_part_shut(struct lawn_part *part)
{
    lawn_mailbox_close(&part->box);
    while (lawn_part_mail(part)) {
        size_t steps = SIZE_MAX;
        lawn_part_drain(part, &steps);
        if (part->again != NULL) {
            lawn_park_yield();
        }
    }
}

uint64_t
lawn_part_clear(struct lawn_part *part, lawn_workers_left_fn *left, void *arg)
{
    struct lawn_left all = {left, arg, 0};
    while (lawn_count(part->lawn) != 0) {
        (void)lawn_mow(part->lawn, LAWN_NEVER - 1, SIZE_MAX, lawn_part_discard,
                       &all);
    }
    L_STORE(&part->cleared, 1, L_SEQ_CST);
    lawn_part_serve(part);
    return all.count;
}
