/* worker.c - a thread's seat: its rounds, its sleep, and how parts come to it
 * and leave it.
 *
 * FALLING ASLEEP. A worker says until when it will sleep, in the wake_at of its
 * parts, and then looks into their mailboxes once more; who posts puts the timer
 * in, and then looks at wake_at. All four are sequentially consistent, so one of
 * the two sees the other: no wake-up is lost [C7].
 *
 * HAND-OVER. Who is to keep a part is decided under the set's lock, and stands in
 * part->keeper. The worker that runs it sees that it is not the keeper, takes the
 * part off its list between two rounds, and puts it among the arrivals of the
 * keeper, by a release; the keeper takes it from there, by an acquire, and so
 * sees the lawn as it was left. Meanwhile wake_at is 0: what is posted waits for
 * the next worker, which looks into the mail before it sleeps. A worker that
 * leaves, or ends with the set, closes its arrivals when they are empty; who finds
 * them closed looks for the keeper again, who has changed before.
 *
 * THE END. A worker of a closed set ends when it has nothing more to fire, and its
 * parts stay with it, since all end soon; but a worker that has not, and wants
 * something of such a part, takes it over under the lock: one of a thread of the
 * library's at once, and one of a caller's thread when that is detached. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "park.h"
#include "part.h"

#include <errno.h>
#include <unistd.h>
#if defined __linux__
#include <sys/eventfd.h>
#endif

static struct lawn_part lawn_worker_closed; /* what arrivals are at the end */

/* Who runs a part that is on the way. */
struct lawn_worker lawn_worker_nobody = {.fd = -1};

#if !defined LAWN_EXPLORE
_Thread_local struct lawn_worker *lawn_worker_current;
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
    return worker->ended;
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

/* Reads the clock, which is not to run back. */
static void
lawn_worker_look(struct lawn_worker *worker)
{
    uint64_t now = lawn_workers_now(worker->set);
    if (now > worker->now) {
        worker->now = now;
    }
}

void
lawn_worker_tick(struct lawn_worker *worker, struct lawn_part *part)
{
    lawn_worker_look(worker);
    lawn_set_now(part->lawn, worker->now);
    if (worker->quick != NULL) {
        lawn_set_now(worker->quick->lawn, worker->now);
    }
}

void
lawn_worker_update(struct lawn_worker *worker)
{
    lawn_worker_look(worker);
    worker->stale = false;
    struct lawn_part *home = L_LOAD(&worker->home, L_RELAXED);
    if (home != NULL && L_LOAD(&home->worker, L_RELAXED) == worker &&
        worker->set->route == LAWN_WORKERS_BY_OWNER) {
        worker->quick = home;
    }
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        lawn_set_now(part->lawn, worker->now);
    }
}

/* Makes the worker's file readable. Whoever is cancelled meanwhile is so later: it
 * may have the set's lock, be within a gate, or be the only one to write. */
static void
lawn_worker_signal(int fd)
{
    uint64_t one = 1;
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    ssize_t written = write(fd, &one, sizeof one);
    (void)written; /* cannot fail: it is not full */
    (void)pthread_setcancelstate(before, &before);
}

void
lawn_worker_unpark(struct lawn_worker *worker)
{
    if (L_XCHG(&worker->token, 1, L_SEQ_CST) != 0) {
        return;
    }
    /* It may sleep either way, and the file may be from who had its place. */
    lawn_park_wake(&worker->token);
    int fd = L_LOAD(&worker->fd, L_SEQ_CST);
    if (fd >= 0) {
        lawn_worker_signal(fd);
    }
}

int
lawn_worker_fd(struct lawn_worker *worker)
{
#if defined __linux__
    int fd = L_LOAD(&worker->fd, L_RELAXED);
    if (fd >= 0) {
        return fd;
    }
    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        return -errno;
    }
    L_STORE(&worker->fd, fd, L_SEQ_CST);
    if (L_LOAD(&worker->token, L_SEQ_CST) != 0) {
        lawn_worker_signal(fd); /* who set it may have seen no file */
    }
    return fd;
#else
    (void)worker;
    return -ENOSYS;
#endif
}

/* What others have wanted of the worker up to here is seen by the round that
 * begins. */
static void
lawn_worker_awake(struct lawn_worker *worker)
{
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        /* Not if it is 0 already: others have the line in their caches. */
        if (L_LOAD(&part->wake_at, L_RELAXED) != 0) {
            L_STORE(&part->wake_at, 0, L_RELAXED);
        }
    }
    /* Each time: who sets the token writes to the file a moment later, and that
     * may have been after the round that saw the token. */
    int fd = L_LOAD(&worker->fd, L_RELAXED);
    if (fd >= 0) {
        uint64_t count;
        ssize_t got = read(fd, &count, sizeof count);
        (void)got;
    }
    if (L_LOAD(&worker->token, L_RELAXED) != 0) {
        /* An acquire, and before all looks of this round. */
        (void)L_XCHG(&worker->token, 0, L_SEQ_CST);
        lawn_count_up(&worker->counts.wakes, 1);
    }
}

void
lawn_worker_give(struct lawn_part *part, bool locked)
{
    uint32_t *lock = &part->set->lock;
    for (;;) {
        struct lawn_worker *to = L_LOAD(&part->keeper, L_ACQUIRE);
        if (to == NULL) {
            /* By the lock, so that who adds a worker either finds it lying, or
             * has made that one its keeper. */
            if (!locked) {
                lawn_park_lock(lock);
            }
            to = L_LOAD(&part->keeper, L_RELAXED);
            if (to == NULL) {
                L_STORE(&part->worker, NULL, L_RELEASE);
            }
            if (!locked) {
                lawn_park_unlock(lock);
            }
            if (to == NULL) {
                return;
            }
        }
        struct lawn_part *head = L_LOAD(&to->arrivals, L_RELAXED);
        while (head != &lawn_worker_closed) {
            part->next = head;
            if (L_CAS(&to->arrivals, &head, part, L_SEQ_CST)) {
                L_STORE(&to->control, 1, L_SEQ_CST);
                lawn_worker_unpark(to);
                return;
            }
        }
        lawn_park_yield();
    }
}

void
lawn_worker_adopt(struct lawn_worker *worker)
{
    struct lawn_part *part = L_LOAD(&worker->arrivals, L_RELAXED);
    if (part == NULL || part == &lawn_worker_closed) {
        return;
    }
    part = L_XCHG(&worker->arrivals, NULL, L_SEQ_CST);
    while (part != NULL) {
        struct lawn_part *next = part->next;
        part->next = worker->parts;
        worker->parts = part;
        lawn_set_now(part->lawn, worker->now);
        L_STORE(&part->worker, worker, L_RELEASE);
        part = next;
    }
}

void
lawn_worker_inherit(struct lawn_worker *worker, struct lawn_part *part)
{
    struct lawn_workers *set = worker->set;
    lawn_park_lock(&set->lock);
    struct lawn_worker *runs = L_LOAD(&part->worker, L_RELAXED);
    bool lies = runs == NULL;
    /* A caller's thread may use its lawns until it is detached, and then they are
     * handed over, or lie about. */
    if (!lies && runs->made && L_LOAD(&runs->done, L_RELAXED) != 0) {
        struct lawn_part **link = &runs->parts;
        while (*link != part) {
            link = &(*link)->next;
        }
        *link = part->next;
        lies = true;
    }
    if (lies) {
        part->next = worker->parts;
        worker->parts = part;
        lawn_set_now(part->lawn, worker->now);
        L_STORE(&part->keeper, worker, L_RELAXED);
        L_STORE(&part->worker, worker, L_RELEASE);
    }
    lawn_park_unlock(&set->lock);
    if (lies && !worker->turning) {
        /* Between two rounds: it may have said that it sleeps, but not for this
         * part, and mail for it would not wake it [M4]. */
        lawn_worker_unpark(worker);
    }
}

/* Gives away what others are to keep. */
static void
lawn_worker_part_with(struct lawn_worker *worker, bool locked)
{
    struct lawn_part **link = &worker->parts;
    while (*link != NULL) {
        struct lawn_part *part = *link;
        if (L_LOAD(&part->keeper, L_ACQUIRE) == worker) {
            link = &part->next;
            continue;
        }
        *link = part->next;
        worker->quick = NULL;
        L_STORE(&part->worker, &lawn_worker_nobody, L_RELEASE);
        lawn_worker_give(part, locked);
    }
}

bool
lawn_worker_leave(struct lawn_worker *worker, bool locked)
{
    struct lawn_part *none = NULL;
    while (!L_CAS(&worker->arrivals, &none, &lawn_worker_closed, L_SEQ_CST)) {
        if (none == &lawn_worker_closed) {
            break;
        }
        lawn_worker_adopt(worker);
        none = NULL;
    }
    lawn_worker_part_with(worker, locked);
    return worker->parts == NULL;
}

/* Whether a closed set has nothing more for the worker to fire, neither on its
 * parts nor on one that is to come; then none comes any more. */
static bool
lawn_worker_drained(struct lawn_worker *worker, uint64_t until)
{
    struct lawn_workers *set = worker->set;
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        if (lawn_next(part->lawn) <= until && lawn_part_runs(part)) {
            return false;
        }
    }
    bool all = true;
    lawn_park_lock(&set->lock);
    for (unsigned i = 0; i < set->count; i++) {
        struct lawn_part *part = set->parts[i];
        all = all && (L_LOAD(&part->keeper, L_RELAXED) == worker) ==
                         (L_LOAD(&part->worker, L_RELAXED) == worker);
        /* Under the lock: who sends a timer here looks, under it, whether the
         * worker has ended. */
        all = all && (L_LOAD(&part->worker, L_RELAXED) != worker ||
                      !lawn_part_mail(part));
    }
    if (all) {
        /* Nor may there be one that it is to pass on, or that someone is about
         * to put there. */
        struct lawn_part *none = NULL;
        all = L_CAS(&worker->arrivals, &none, &lawn_worker_closed, L_SEQ_CST) ||
              none == &lawn_worker_closed;
    }
    if (all) {
        L_STORE(&worker->live, 0, L_RELEASE);
        L_STORE(&worker->done, 1, L_RELAXED);
    }
    lawn_park_unlock(&set->lock);
    return all;
}

void
lawn_worker_obey(struct lawn_worker *worker)
{
    L_STORE(&worker->control, 0, L_SEQ_CST);
    lawn_worker_adopt(worker);
    lawn_worker_part_with(worker, false);
    if (L_LOAD(&worker->leaving, L_ACQUIRE) != 0) {
        worker->ended = lawn_worker_leave(worker, false);
    }
}

/* When the next round is due, LAWN_NEVER if nothing runs. */
static uint64_t
lawn_worker_next(const struct lawn_worker *worker)
{
    uint64_t next = LAWN_NEVER;
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        uint64_t due = lawn_next(part->lawn);
        L_STORE(&part->held, lawn_count(part->lawn), L_RELAXED);
        next = due < next ? due : next;
    }
    return next;
}

/* Says that the worker will sleep until next; false if there is something to do
 * before, and then it is awake again. */
static bool
lawn_worker_sleep(struct lawn_worker *worker, uint64_t next)
{
    struct lawn_part *part;
    for (part = worker->parts; part != NULL; part = part->next) {
        L_STORE(&part->wake_at, next, L_SEQ_CST);
    }
    for (part = worker->parts; part != NULL; part = part->next) {
        if (lawn_part_mail(part)) {
            break;
        }
    }
    if (part == NULL && L_LOAD(&worker->control, L_SEQ_CST) == 0) {
        return true;
    }
    for (part = worker->parts; part != NULL; part = part->next) {
        L_STORE(&part->wake_at, 0, L_RELAXED);
    }
    return false;
}

/* Puts the first part last, so that each comes first by turns. */
static void
lawn_worker_rotate(struct lawn_worker *worker)
{
    struct lawn_part *first = worker->parts;
    if (first == NULL || first->next == NULL) {
        return;
    }
    worker->parts = first->next;
    struct lawn_part *last = worker->parts;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = first;
    first->next = NULL;
}

/* Takes the mail, up to a budget; true if some of it was claimed. */
static bool
lawn_worker_drain(struct lawn_worker *worker)
{
    size_t steps = worker->set->budget;
    bool claimed = false;
    lawn_worker_update(worker);
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        lawn_part_drain(part, &steps);
        claimed |= part->again != NULL;
    }
    return claimed;
}

void
lawn_worker_resume(struct lawn_worker *worker)
{
    (void)lawn_worker_drain(worker);
}

/* The work of a round; true if more is due. */
static bool
lawn_worker_serve(struct lawn_worker *worker, uint64_t limit)
{
    size_t budget = worker->set->budget;
    lawn_worker_rotate(worker);
    bool claimed = lawn_worker_drain(worker);
    L_STORE(&worker->began, worker->now, L_RELAXED);
    for (struct lawn_part *part = worker->parts; part; part = part->next) {
        budget -= lawn_part_mow(part, worker->now, limit, budget);
    }
    for (struct lawn_part *part = worker->parts; claimed && part != NULL;
         part = part->next) {
        if (part->again != NULL) {
            lawn_park_yield();
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
    lawn_worker_awake(worker);
    if (L_LOAD(&worker->control, L_ACQUIRE) != 0) {
        lawn_worker_obey(worker);
    }
    lawn_count_up(&worker->counts.turns, 1);

    bool closing = L_LOAD(&set->closing, L_ACQUIRE) != 0;
    uint64_t until = closing ? L_LOAD(&set->until, L_RELAXED) : LAWN_NEVER;
    bool more = lawn_worker_serve(worker, until);
    uint64_t next = more ? worker->now : lawn_worker_next(worker);
    if (closing && !more && next > until) {
        next = LAWN_NEVER; /* it is left: no reason to wake */
    }
    if (closing && !more && lawn_worker_drained(worker, until)) {
        worker->ended = true;
        next = LAWN_NEVER;
    } else if (!more && !lawn_worker_sleep(worker, next)) {
        next = worker->now;
    }
    L_STORE(&worker->began, LAWN_NEVER, L_RELAXED);
    worker->stale = true;
    worker->quick = NULL;
    worker->turning = false;
    (void)lawn_workers_be(was);
    return next;
}

int
lawn_worker_run(struct lawn_worker *worker)
{
    if (worker->turning) {
        return -EDEADLK;
    }
    for (;;) {
        uint64_t next = lawn_worker_turn(worker);
        if (worker->ended) {
            return 0;
        }
        if (next > worker->now && L_LOAD(&worker->token, L_ACQUIRE) == 0) {
            lawn_park_wait(&worker->token, 0,
                           worker->set->real ? next : LAWN_NEVER);
        }
    }
}
