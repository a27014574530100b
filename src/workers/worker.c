/* worker.c - a worker: its turns, its sleep, and the hand-over of shards.
 *
 * FALLING ASLEEP. A worker stores its wake-up time in wake_at of its shards,
 * and then checks their mailboxes once more. A posting thread puts its timer
 * into the mailbox, and then checks wake_at. All four accesses are sequentially
 * consistent, so at least one of the two threads sees the other's store, and no
 * wake-up is lost [C7].
 *
 * HAND-OVER. The owner of a shard is set under the set's lock, in shard->owner.
 * Between two rounds, a worker that runs a shard of another owner pushes it to
 * the owner's arrivals, by a release. The owner takes it from there, by an
 * acquire, and so sees the lawn's latest state. Meanwhile wake_at is 0, and
 * posted timers wait. A worker that leaves, or ends with the set, closes its
 * arrivals when they are empty. A thread that finds them closed reads
 * shard->owner again, which was changed before they were closed.
 *
 * THE END. A worker of a closed set ends when it has no more timers to fire. It
 * keeps its shards. Another worker that needs such a shard takes it over under
 * the lock. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "park.h"
#include "shard.h"

#include <errno.h>
#include <unistd.h>
#if defined __linux__
#include <sys/eventfd.h>
#endif

/* A nap is a sleep that another thread ends within this time, in ns. */
#define LAWN_WORKER_NAP 50000u

static struct lawn_shard closed_arrivals; /* value of closed arrivals */

/* The value of shard->worker during a hand-over. */
struct lawn_worker lawn__handover_marker = {.fd = -1};

#if !defined LAWN_EXPLORE
_Thread_local struct lawn_worker *lawn__worker_current;
#endif

struct lawn_worker *
lawn_workers_self(void)
{
    return LAWN_WORKER_CURRENT;
}

struct lawn_worker *
lawn_workers_be(struct lawn_worker *worker)
{
    struct lawn_worker *was = LAWN_WORKER_CURRENT;
    LAWN_WORKER_CURRENT = worker;
    return was;
}

bool
lawn_worker_ended(const struct lawn_worker *worker)
{
    uint32_t life = LAWN_ATOMIC_LOAD(&worker->life, LAWN_RELAXED);
    return life == LAWN_WORKER_LEFT || life == LAWN_WORKER_DONE;
}

uint64_t
lawn_worker_now(const struct lawn_worker *worker)
{
    return worker->now;
}

unsigned
lawn_worker_number(const struct lawn_worker *worker)
{
    return worker->number;
}

struct lawn_workers *
lawn_worker_set(const struct lawn_worker *worker)
{
    return worker->set;
}

/* worker->now never decreases. */
static void
read_clock(struct lawn_worker *worker)
{
    uint64_t now = lawn_workers_now(worker->set);
    if (now > worker->now) {
        worker->now = now;
    }
}

void
lawn__worker_tick(struct lawn_worker *worker, struct lawn_shard *shard)
{
    read_clock(worker);
    lawn_set_now(shard->lawn, worker->now);
    if (worker->fast_shard != NULL) {
        lawn_set_now(worker->fast_shard->lawn, worker->now);
    }
}

void
lawn_worker_update(struct lawn_worker *worker)
{
    read_clock(worker);
    worker->stale = false;
    struct lawn_shard *start_shard =
        LAWN_ATOMIC_LOAD(&worker->start_shard, LAWN_RELAXED);
    if (start_shard != NULL &&
        LAWN_ATOMIC_LOAD(&start_shard->worker, LAWN_RELAXED) == worker &&
        worker->set->route == LAWN_WORKERS_BY_OWNER) {
        worker->fast_shard = start_shard;
    }
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        lawn_set_now(shard->lawn, worker->now);
    }
}

/* Disables cancellation, because the thread may hold the set's lock or be
 * inside a gate. */
static void
signal_fd(int fd)
{
    uint64_t one = 1;
    int before = 0;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t written = write(fd, &one, sizeof(one));
    (void)written; /* cannot fail: the counter is not at its limit */
    (void)pthread_setcancelstate(before, &before);
}

void
lawn__worker_wake(struct lawn_worker *worker)
{
    if (LAWN_ATOMIC_XCHG(&worker->token, 1, LAWN_SEQ_CST) != 0) {
        return;
    }
    /* The worker may wait on the token or on the file, which may be open from
     * an earlier worker of this place. */
    lawn__park_wake(&worker->token);
    int fd = LAWN_ATOMIC_LOAD(&worker->fd, LAWN_SEQ_CST);
    if (fd >= 0) {
        signal_fd(fd);
    }
}

int
lawn_worker_fd(struct lawn_worker *worker)
{
#if defined __linux__
    int fd = LAWN_ATOMIC_LOAD(&worker->fd, LAWN_RELAXED);
    if (fd >= 0) {
        return fd;
    }
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    LAWN_ATOMIC_STORE(&worker->fd, fd, LAWN_SEQ_CST);
    if (LAWN_ATOMIC_LOAD(&worker->token, LAWN_SEQ_CST) != 0) {
        signal_fd(fd); /* the thread that set token may not have seen fd */
    }
    return fd;
#else
    (void)worker;
    return -ENOSYS;
#endif
}

/* The turn sees all changes that other threads made before the wake-ups that
 * this function resets. */
static void
clear_wakeups(struct lawn_worker *worker)
{
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        /* Do not write 0 again: other threads have the line in their caches. */
        if (LAWN_ATOMIC_LOAD(&shard->wake_at, LAWN_RELAXED) != 0) {
            LAWN_ATOMIC_STORE(&shard->wake_at, 0, LAWN_RELAXED);
        }
    }
    /* Read the file even if the token is not set: the thread that set it may
     * have written to the file after an earlier turn cleared the token. */
    int fd = LAWN_ATOMIC_LOAD(&worker->fd, LAWN_RELAXED);
    if (fd >= 0) {
        uint64_t count = 0;
        ssize_t got = read(fd, &count, sizeof(count));
        (void)got;
    }
    if (LAWN_ATOMIC_LOAD(&worker->token, LAWN_RELAXED) != 0) {
        /* An acquire, before all other loads of this turn. */
        (void)LAWN_ATOMIC_XCHG(&worker->token, 0, LAWN_SEQ_CST);
        lawn__count_up(&worker->counts.wakes, 1);
    }
}

void
lawn__worker_hand_over(struct lawn_shard *shard, bool locked)
{
    uint32_t *lock = &shard->set->lock;
    for (;;) {
        struct lawn_worker *to = LAWN_ATOMIC_LOAD(&shard->owner, LAWN_ACQUIRE);
        if (to == NULL) {
            /* Under the lock: if a thread is adding a worker, it has either
             * made that worker the owner, or will find that the shard has no
             * worker. */
            if (!locked) {
                lawn__park_lock(lock);
            }
            to = LAWN_ATOMIC_LOAD(&shard->owner, LAWN_RELAXED);
            if (to == NULL) {
                LAWN_ATOMIC_STORE(&shard->worker, NULL, LAWN_RELEASE);
            }
            if (!locked) {
                lawn__park_unlock(lock);
            }
            if (to == NULL) {
                return;
            }
        }
        struct lawn_shard *head = LAWN_ATOMIC_LOAD(&to->arrivals, LAWN_RELAXED);
        while (head != &closed_arrivals) {
            shard->next = head;
            if (LAWN_ATOMIC_CAS(&to->arrivals, &head, shard, LAWN_SEQ_CST)) {
                LAWN_ATOMIC_STORE(&to->control, 1, LAWN_SEQ_CST);
                lawn__worker_wake(to);
                return;
            }
        }
        lawn__park_yield();
    }
}

void
lawn__worker_adopt(struct lawn_worker *worker)
{
    struct lawn_shard *shard =
        LAWN_ATOMIC_LOAD(&worker->arrivals, LAWN_RELAXED);
    if (shard == NULL || shard == &closed_arrivals) {
        return;
    }
    shard = LAWN_ATOMIC_XCHG(&worker->arrivals, NULL, LAWN_SEQ_CST);
    while (shard != NULL) {
        struct lawn_shard *next = shard->next;
        shard->next = worker->shards;
        worker->shards = shard;
        lawn_set_now(shard->lawn, worker->now);
        LAWN_ATOMIC_STORE(&shard->worker, worker, LAWN_RELEASE);
        shard = next;
    }
}

/* Returns whether a worker has ended, given that the library created its thread
 * and that a shard refers to it. A removed worker has handed over its shards,
 * so a worker that is VACANT here was DONE before. The caller holds the lock.
 */
static bool
has_ended_with_set(const struct lawn_worker *worker)
{
    uint32_t life = LAWN_ATOMIC_LOAD(&worker->life, LAWN_RELAXED);
    return life == LAWN_WORKER_DONE || life == LAWN_WORKER_VACANT;
}

void
lawn__worker_inherit(struct lawn_worker *worker, struct lawn_shard *shard)
{
    struct lawn_workers *set = worker->set;
    lawn__park_lock(&set->lock);
    struct lawn_worker *runs = LAWN_ATOMIC_LOAD(&shard->worker, LAWN_RELAXED);
    bool lies = runs == NULL;
    /* A thread that the library did not create may use its lawns until it is
     * detached; then its shards are handed over or have no worker. */
    if (!lies && runs->made && has_ended_with_set(runs)) {
        struct lawn_shard **link = &runs->shards;
        while (*link != shard) {
            link = &(*link)->next;
        }
        *link = shard->next;
        lies = true;
    }
    if (lies) {
        shard->next = worker->shards;
        worker->shards = shard;
        lawn_set_now(shard->lawn, worker->now);
        LAWN_ATOMIC_STORE(&shard->owner, worker, LAWN_RELAXED);
        LAWN_ATOMIC_STORE(&shard->worker, worker, LAWN_RELEASE);
    }
    lawn__park_unlock(&set->lock);
    if (lies && !worker->turning) {
        /* The worker may go to sleep, and wake_at of this shard is not set, so
         * mail would not wake the worker [M4]. */
        lawn__worker_wake(worker);
    }
}

static void
release_shards(struct lawn_worker *worker, bool locked)
{
    struct lawn_shard **link = &worker->shards;
    while (*link != NULL) {
        struct lawn_shard *shard = *link;
        if (LAWN_ATOMIC_LOAD(&shard->owner, LAWN_ACQUIRE) == worker) {
            link = &shard->next;
            continue;
        }
        *link = shard->next;
        worker->fast_shard = NULL;
        LAWN_ATOMIC_STORE(&shard->worker, &lawn__handover_marker, LAWN_RELEASE);
        lawn__worker_hand_over(shard, locked);
    }
}

bool
lawn__worker_leave(struct lawn_worker *worker, bool locked)
{
    struct lawn_shard *none = NULL;
    while (!LAWN_ATOMIC_CAS(&worker->arrivals, &none, &closed_arrivals,
                            LAWN_SEQ_CST)) {
        if (none == &closed_arrivals) {
            break;
        }
        lawn__worker_adopt(worker);
        none = NULL;
    }
    release_shards(worker, locked);
    return worker->shards == NULL;
}

/* Returns whether the worker of a closed set has no timers left to fire, and no
 * shards left to receive or hand over. If so, makes it DONE. */
static bool
is_drained(struct lawn_worker *worker, uint64_t until)
{
    struct lawn_workers *set = worker->set;
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        if (lawn_next(shard->lawn) <= until && lawn__shard_has_running(shard)) {
            return false;
        }
    }
    bool all = true;
    lawn__park_lock(&set->lock);
    for (unsigned i = 0; i < set->count; i++) {
        struct lawn_shard *shard = set->shards[i];
        all = all &&
              (LAWN_ATOMIC_LOAD(&shard->owner, LAWN_RELAXED) == worker) ==
                  (LAWN_ATOMIC_LOAD(&shard->worker, LAWN_RELAXED) == worker);
        /* Under the lock: a thread that forwards a timer here checks under the
         * lock whether the worker has ended. */
        all =
            all && (LAWN_ATOMIC_LOAD(&shard->worker, LAWN_RELAXED) != worker ||
                    !lawn__shard_has_mail(shard));
    }
    if (all) {
        /* There must be no shard in the arrivals, now or later. */
        struct lawn_shard *none = NULL;
        all = LAWN_ATOMIC_CAS(&worker->arrivals, &none, &closed_arrivals,
                              LAWN_SEQ_CST) ||
              none == &closed_arrivals;
    }
    if (all) {
        LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_DONE, LAWN_RELEASE);
    }
    lawn__park_unlock(&set->lock);
    return all;
}

void
lawn__worker_handle_control(struct lawn_worker *worker)
{
    LAWN_ATOMIC_STORE(&worker->control, 0, LAWN_SEQ_CST);
    lawn__worker_adopt(worker);
    release_shards(worker, false);
    uint32_t life = LAWN_ATOMIC_LOAD(&worker->life, LAWN_ACQUIRE);
    if (life == LAWN_WORKER_LEAVING || life == LAWN_WORKER_LEFT) {
        life = lawn__worker_leave(worker, false) ? LAWN_WORKER_LEFT
                                                 : LAWN_WORKER_LEAVING;
        LAWN_ATOMIC_STORE(&worker->life, life, LAWN_RELEASE);
    }
}

static uint64_t
find_next_round(const struct lawn_worker *worker)
{
    uint64_t next = LAWN_NEVER;
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        uint64_t due = lawn_next(shard->lawn);
        LAWN_ATOMIC_STORE(&shard->held, lawn_count(shard->lawn), LAWN_RELAXED);
        next = due < next ? due : next;
    }
    return next;
}

/* If there is work before `next`, revokes the announcement and returns false.
 */
static bool
announce_sleep(struct lawn_worker *worker, uint64_t next)
{
    struct lawn_shard *shard = NULL;
    for (shard = worker->shards; shard != NULL; shard = shard->next) {
        LAWN_ATOMIC_STORE(&shard->wake_at, next, LAWN_SEQ_CST);
    }
    for (shard = worker->shards; shard != NULL; shard = shard->next) {
        if (lawn__shard_has_mail(shard)) {
            break;
        }
    }
    if (shard == NULL &&
        LAWN_ATOMIC_LOAD(&worker->control, LAWN_SEQ_CST) == 0) {
        return true;
    }
    for (shard = worker->shards; shard != NULL; shard = shard->next) {
        LAWN_ATOMIC_STORE(&shard->wake_at, 0, LAWN_RELAXED);
    }
    return false;
}

/* Moves the first shard to the end, so that the shards take turns at being
 * first. */
static void
rotate_shards(struct lawn_worker *worker)
{
    struct lawn_shard *first = worker->shards;
    if (first == NULL || first->next == NULL) {
        return;
    }
    worker->shards = first->next;
    struct lawn_shard *last = worker->shards;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = first;
    first->next = NULL;
}

/* Returns whether any timer was claimed and must be retried. */
static bool
drain_mail(struct lawn_worker *worker)
{
    size_t steps = worker->set->budget;
    bool claimed = false;
    lawn_worker_update(worker);
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        lawn__shard_drain(shard, &steps);
        claimed |= shard->again != NULL;
    }
    return claimed;
}

void
lawn__worker_resume(struct lawn_worker *worker)
{
    (void)drain_mail(worker);
}

/* Returns whether more timers may be due. */
static bool
run_round(struct lawn_worker *worker, uint64_t limit)
{
    size_t budget = worker->set->budget;
    rotate_shards(worker);
    bool claimed = drain_mail(worker);
    LAWN_ATOMIC_STORE(&worker->began, worker->now, LAWN_RELAXED);
    for (struct lawn_shard *shard = worker->shards; shard != NULL;
         shard = shard->next) {
        budget -= lawn__shard_mow(shard, worker->now, limit, budget);
    }
    for (struct lawn_shard *shard = worker->shards; claimed && shard != NULL;
         shard = shard->next) {
        if (shard->again != NULL) {
            lawn__park_yield();
            claimed = false;
        }
    }
    return budget == 0;
}

uint64_t
lawn_worker_turn(struct lawn_worker *worker)
{
    struct lawn_workers *set = worker->set;
    if (worker->turning) {
        return LAWN_NEVER;
    }
    struct lawn_worker *was = lawn_workers_be(worker);
    worker->turning = true;
    clear_wakeups(worker);
    if (LAWN_ATOMIC_LOAD(&worker->control, LAWN_ACQUIRE) != 0) {
        lawn__worker_handle_control(worker);
    }
    lawn__count_up(&worker->counts.turns, 1);

    bool closing = LAWN_ATOMIC_LOAD(&set->closing, LAWN_ACQUIRE) != 0;
    uint64_t until =
        closing ? LAWN_ATOMIC_LOAD(&set->until, LAWN_RELAXED) : LAWN_NEVER;
    bool more = run_round(worker, until);
    uint64_t next = more ? worker->now : find_next_round(worker);
    if (closing && !more && next > until) {
        next = LAWN_NEVER; /* later timers do not fire, so do not wake */
    }
    if (closing && !more && is_drained(worker, until)) {
        next = LAWN_NEVER;
    } else if (!more && !announce_sleep(worker, next)) {
        next = worker->now;
    }
    LAWN_ATOMIC_STORE(&worker->began, LAWN_NEVER, LAWN_RELAXED);
    worker->stale = true;
    worker->fast_shard = NULL;
    worker->turning = false;
    (void)lawn_workers_be(was);
    return next;
}

/* After a nap, lets other threads run, to take more of their messages in one
 * turn. Otherwise, if threads share a processor, the worker would preempt them
 * for nearly every message. */
static void
sleep_until(struct lawn_worker *worker, uint64_t next)
{
    const struct lawn_workers *set = worker->set;
    lawn__park_wait(&worker->token, 0, set->real ? next : LAWN_NEVER);
#if !defined LAWN_EXPLORE /* the explorer may run threads before any step */
    if (set->real && LAWN_ATOMIC_LOAD(&worker->token, LAWN_RELAXED) != 0 &&
        lawn_workers_now(set) - worker->now < LAWN_WORKER_NAP) {
        lawn__park_yield();
    }
#endif
}

int
lawn_worker_run(struct lawn_worker *worker)
{
    if (worker->turning) {
        return -EDEADLK;
    }
    for (;;) {
        uint64_t next = lawn_worker_turn(worker);
        if (lawn_worker_ended(worker)) {
            return 0;
        }
        if (next > worker->now &&
            LAWN_ATOMIC_LOAD(&worker->token, LAWN_ACQUIRE) == 0) {
            sleep_until(worker, next);
        }
    }
}
