/* workers_set.c - making and closing a set, and workers that come and go. All
 * of it is rare, and under one lock: the set's. */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include "gate.h"
#include "park.h"
#include "part.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAWN_WORKERS_PARTS 16u
#define LAWN_WORKERS_BUDGET 256u
#define LAWN_WORKERS_BUDGET_MOST (SIZE_MAX / 4)

void *
lawn_workers_alloc(const struct lawn_options *options, size_t size)
{
    /* Where the memory begins is noted before the lines. */
    size_t room = size + LAWN_LINE + sizeof(void *);
    char *begin = options->alloc != NULL
                      ? options->alloc(room, options->context)
                      : malloc(room);
    if (begin == NULL) {
        return NULL;
    }
    uintptr_t line = (uintptr_t)begin + sizeof(void *) + LAWN_LINE - 1;
    char *memory = begin + (line / LAWN_LINE * LAWN_LINE - (uintptr_t)begin);
    memcpy(memory - sizeof(void *), &begin, sizeof begin);
    return memset(memory, 0, size);
}

void
lawn_workers_release(const struct lawn_options *options, void *memory)
{
    void *begin;
    memcpy(&begin, (char *)memory - sizeof(void *), sizeof begin);
    if (options->alloc == NULL) {
        free(begin);
    } else if (options->release != NULL) {
        options->release(begin, options->context);
    }
}

/* Adds a part that nobody keeps yet; false if there is no memory. */
static bool
lawn_workers_add_part(struct lawn_workers *set)
{
    struct lawn_part *part = lawn_part_new(set, set->count);
    if (part == NULL) {
        return false;
    }
    set->parts[set->count] = part;
    L_STORE(&set->count, set->count + 1, L_RELEASE);
    return true;
}

static void
lawn_workers_release_all(struct lawn_workers *set)
{
    struct lawn_options options = set->lawn;
    for (unsigned i = 0; i < set->count; i++) {
        lawn_part_free(set->parts[i]);
    }
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i]; i++) {
        if (set->workers[i]->fd >= 0) {
            (void)close(set->workers[i]->fd);
        }
        lawn_workers_release(&options, set->workers[i]);
    }
    lawn_workers_release(&options, set);
}

struct lawn_workers *
lawn_workers_new(const struct lawn_workers_options *options)
{
    static const struct lawn_workers_options defaults;
    if (options == NULL) {
        options = &defaults;
    }
    if (options->parts > LAWN_WORKERS_PARTS_MAX ||
        (options->route != LAWN_WORKERS_BY_OWNER &&
         options->route != LAWN_WORKERS_BY_TTL)) {
        errno = EINVAL;
        return NULL;
    }
    struct lawn_workers *set = lawn_workers_alloc(&options->lawn, sizeof *set);
    if (set == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    set->lawn = options->lawn;
    set->route = options->route;
    set->budget = options->budget == 0 ? LAWN_WORKERS_BUDGET : options->budget;
    if (set->budget > LAWN_WORKERS_BUDGET_MOST) {
        set->budget = LAWN_WORKERS_BUDGET_MOST;
    }
    set->real = options->clock == NULL;
    set->clock = set->real ? lawn_park_clock : options->clock;
    set->clock_context = options->clock_context;
    set->asymmetric = lawn_park_asymmetric();
    set->closer.set = set;
    set->closer.fd = -1;
    set->closer.turning = true;
    unsigned parts = options->parts == 0 ? LAWN_WORKERS_PARTS : options->parts;
    while (set->count < (set->route == LAWN_WORKERS_BY_TTL ? parts : 1)) {
        if (!lawn_workers_add_part(set)) {
            lawn_workers_release_all(set);
            errno = ENOMEM;
            return NULL;
        }
    }
    return set;
}

uint64_t
lawn_workers_now(const struct lawn_workers *set)
{
    uint64_t now = set->clock(set->clock_context);
    return now < LAWN_NEVER ? now : LAWN_NEVER - 1;
}

/* How many parts a worker keeps; NULL: that nobody does. */
static unsigned
lawn_workers_keeps(struct lawn_workers *set, const struct lawn_worker *worker)
{
    unsigned count = 0;
    for (unsigned i = 0; i < set->count; i++) {
        count += L_LOAD(&set->parts[i]->keeper, L_RELAXED) == worker;
    }
    return count;
}

/* The live worker with the most parts, or the fewest; NULL if there is none. */
static struct lawn_worker *
lawn_workers_find(struct lawn_workers *set, bool most)
{
    struct lawn_worker *found = NULL;
    unsigned best = 0;
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i]; i++) {
        struct lawn_worker *worker = set->workers[i];
        unsigned keeps = lawn_workers_keeps(set, worker);
        if (L_LOAD(&worker->live, L_RELAXED) != 0 &&
            (found == NULL || (most ? keeps > best : keeps < best))) {
            found = worker;
            best = keeps;
        }
    }
    return found;
}

/* Lets another worker keep a part, which goes there when the one that runs it
 * has finished its round. */
static void
lawn_workers_hand_over(struct lawn_part *part, struct lawn_worker *to)
{
    struct lawn_worker *runs = L_LOAD(&part->worker, L_ACQUIRE);
    struct lawn_worker *kept = L_LOAD(&part->keeper, L_RELAXED);
    L_STORE(&part->keeper, to, L_SEQ_CST);
    if (runs == NULL) {
        L_STORE(&part->worker, &lawn_worker_nobody, L_RELAXED);
        lawn_worker_give(part, true);
        return;
    }
    /* If it is on the way, the one it goes to passes it on. */
    if (runs == &lawn_worker_nobody) {
        runs = kept;
    }
    if (runs != NULL) {
        L_STORE(&runs->control, 1, L_SEQ_CST);
        lawn_worker_unpark(runs);
    }
}

/* Says which part each worker's own timers go to: the first that it keeps. */
static void
lawn_workers_set_homes(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i]; i++) {
        struct lawn_worker *worker = set->workers[i];
        struct lawn_part *home = L_LOAD(&worker->home, L_RELAXED);
        if (home != NULL && L_LOAD(&home->keeper, L_RELAXED) == worker) {
            continue;
        }
        home = NULL;
        for (unsigned j = set->count; j-- > 0;) {
            if (L_LOAD(&set->parts[j]->keeper, L_RELAXED) == worker) {
                home = set->parts[j];
            }
        }
        L_STORE(&worker->home, home, L_RELEASE);
    }
}

/* Gives a new worker its share: what nobody keeps, and of others' what they have
 * too many of, the latest first. */
static void
lawn_workers_share_out(struct lawn_workers *set, struct lawn_worker *worker)
{
    for (;;) {
        struct lawn_worker *from = NULL;
        if (lawn_workers_keeps(set, NULL) == 0) {
            from = lawn_workers_find(set, true);
            if (lawn_workers_keeps(set, from) <
                lawn_workers_keeps(set, worker) + 2) {
                break;
            }
        }
        for (unsigned i = set->count; i-- > 0;) {
            struct lawn_part *part = set->parts[i];
            if (L_LOAD(&part->keeper, L_RELAXED) == from &&
                (from == NULL || part != L_LOAD(&from->home, L_RELAXED))) {
                lawn_workers_hand_over(part, worker);
                break;
            }
        }
    }
    lawn_workers_set_homes(set);
}

/* Lets the others keep what a worker keeps. */
static void
lawn_workers_retire(struct lawn_workers *set, struct lawn_worker *worker)
{
    L_STORE(&worker->live, 0, L_RELEASE);
    for (unsigned i = 0; i < set->count; i++) {
        if (L_LOAD(&set->parts[i]->keeper, L_RELAXED) == worker) {
            lawn_workers_hand_over(set->parts[i],
                                   lawn_workers_find(set, false));
        }
    }
    lawn_workers_set_homes(set);
}

/* Adds up what a worker has done. */
static void
lawn_counts_add(struct lawn_counts *to, const struct lawn_counts *from)
{
    uint64_t most = L_LOAD(&from->late_most, L_RELAXED);
    to->fires += L_LOAD(&from->fires, L_RELAXED);
    to->messages += L_LOAD(&from->messages, L_RELAXED);
    to->turns += L_LOAD(&from->turns, L_RELAXED);
    to->wakes += L_LOAD(&from->wakes, L_RELAXED);
    to->late_sum += L_LOAD(&from->late_sum, L_RELAXED);
    to->late_most = most > to->late_most ? most : to->late_most;
}

/* A vacant seat, or a new one; NULL with errno. */
static struct lawn_worker *
lawn_workers_seat(struct lawn_workers *set)
{
    unsigned i = 0;
    while (i < LAWN_WORKERS_MAX && set->workers[i] != NULL &&
           !set->workers[i]->vacant) {
        i++;
    }
    if (i == LAWN_WORKERS_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    struct lawn_worker *worker = set->workers[i];
    if (worker == NULL) {
        worker = lawn_workers_alloc(&set->lawn, sizeof *worker);
        if (worker == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        worker->set = set;
        worker->number = i;
        worker->fd = -1;
        worker->began = LAWN_NEVER;
        worker->vacant = true;
        L_STORE(&set->workers[i], worker, L_RELEASE);
    }
    return worker;
}

/* Makes a worker, which has no thread yet; NULL with errno. */
static struct lawn_worker *
lawn_workers_enrol(struct lawn_workers *set)
{
    if (L_LOAD(&set->closing, L_RELAXED) != 0) {
        errno = ESHUTDOWN;
        return NULL;
    }
    struct lawn_worker *worker = lawn_workers_seat(set);
    if (worker == NULL) {
        return NULL;
    }
    struct lawn_worker *most = lawn_workers_find(set, true);
    if (set->route == LAWN_WORKERS_BY_OWNER &&
        lawn_workers_keeps(set, NULL) == 0 &&
        lawn_workers_keeps(set, most) < 2 && !lawn_workers_add_part(set)) {
        errno = ENOMEM;
        return NULL;
    }
    lawn_counts_add(&set->past, &worker->counts);
    memset(&worker->counts, 0, sizeof worker->counts);
    worker->vacant = false;
    worker->ended = false;
    worker->made = false;
    worker->joined = false;
    worker->stale = true;
    L_STORE(&worker->leaving, 0, L_RELAXED);
    L_STORE(&worker->arrivals, NULL, L_RELEASE);
    L_STORE(&worker->live, 1, L_RELEASE);
    (void)L_FADD(&set->seats, 1, L_SEQ_CST);
    lawn_workers_share_out(set, worker);
    return worker;
}

/* The thread of a worker is gone. By the lock. */
static void
lawn_workers_vacate(struct lawn_workers *set, struct lawn_worker *worker)
{
    worker->vacant = true;
    (void)L_FADD(&set->seats, (uint32_t)-1, L_SEQ_CST);
    lawn_park_wake(&set->seats);
}

/* Waits for the end of a thread of the library's. */
static void
lawn_workers_reap(struct lawn_workers *set, struct lawn_worker *worker)
{
    (void)pthread_join(worker->thread, NULL);
    lawn_park_lock(&set->lock);
    lawn_workers_vacate(set, worker);
    lawn_park_unlock(&set->lock);
}

/* Lets a worker go whose thread calls, or has none. By the lock. */
static void
lawn_workers_dismiss(struct lawn_workers *set, struct lawn_worker *worker)
{
    /* Also if it has ended with the set: others may wait for timers of it. */
    lawn_workers_retire(set, worker);
    (void)lawn_worker_leave(worker, true);
    lawn_workers_vacate(set, worker);
}

static void *
lawn_workers_main(void *arg)
{
    struct lawn_worker *worker = arg;
    (void)lawn_workers_be(worker);
    (void)lawn_worker_run(worker);
    return NULL;
}

/* Starts the worker's thread, in which no signal is handled. */
static int
lawn_workers_thread(struct lawn_worker *worker)
{
    sigset_t all, was;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &was);
    int error =
        pthread_create(&worker->thread, NULL, lawn_workers_main, worker);
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
    return error;
}

int
lawn_workers_add(struct lawn_workers *set)
{
    int result;
    lawn_park_lock(&set->lock);
    struct lawn_worker *worker = lawn_workers_enrol(set);
    if (worker == NULL) {
        result = -errno;
    } else if (lawn_workers_thread(worker) != 0) {
        lawn_workers_dismiss(set, worker);
        result = -EAGAIN;
    } else {
        worker->made = true;
        result = (int)worker->number;
    }
    lawn_park_unlock(&set->lock);
    return result;
}

struct lawn_worker *
lawn_workers_attach(struct lawn_workers *set)
{
    if (lawn_workers_self() != NULL) {
        errno = EBUSY;
        return NULL;
    }
    lawn_park_lock(&set->lock);
    struct lawn_worker *worker = lawn_workers_enrol(set);
    lawn_park_unlock(&set->lock);
    if (worker != NULL) {
        /* What was given to it is there already. */
        (void)lawn_workers_be(worker);
        (void)L_XCHG(&worker->token, 0, L_SEQ_CST);
        worker->now = lawn_workers_now(set);
        lawn_worker_obey(worker);
    }
    return worker;
}

void
lawn_worker_detach(struct lawn_worker *worker)
{
    struct lawn_workers *set = worker->set;
    if (worker->turning) {
        return;
    }
    struct lawn_worker *self = lawn_workers_self();
    if (self == worker) {
        (void)lawn_workers_be(NULL);
    }
    for (; self != NULL; self = self->under) {
        if (self->under == worker) {
            self->under = NULL;
        }
    }
    lawn_park_lock(&set->lock);
    lawn_workers_dismiss(set, worker);
    lawn_park_unlock(&set->lock);
}

int
lawn_workers_remove(struct lawn_workers *set, unsigned number)
{
    if (lawn_worker_self(set) != NULL) {
        return -EDEADLK;
    }
    lawn_park_lock(&set->lock);
    struct lawn_worker *worker =
        number < LAWN_WORKERS_MAX ? set->workers[number] : NULL;
    int result = 0;
    bool made = false;
    if (L_LOAD(&set->closing, L_RELAXED) != 0) {
        result = -ESHUTDOWN;
    } else if (worker == NULL || L_LOAD(&worker->live, L_RELAXED) == 0) {
        result = -ENOENT;
    } else {
        L_STORE(&worker->live, 0, L_RELEASE);
        if (lawn_workers_find(set, true) == NULL) {
            L_STORE(&worker->live, 1, L_RELEASE);
            result = -EBUSY;
        } else {
            lawn_workers_retire(set, worker);
            L_STORE(&worker->leaving, 1, L_RELEASE);
            L_STORE(&worker->control, 1, L_SEQ_CST);
            lawn_worker_unpark(worker);
            made = worker->made;
        }
    }
    if (made) {
        worker->joined = true;
    }
    lawn_park_unlock(&set->lock);
    if (made) {
        lawn_workers_reap(set, worker);
    }
    return result;
}

void
lawn_workers_wake(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        struct lawn_worker *worker = L_LOAD(&set->workers[i], L_ACQUIRE);
        if (worker == NULL) {
            break;
        }
        lawn_worker_unpark(worker);
    }
}

/* Waits for the threads of all workers: the library's end by themselves. */
static void
lawn_workers_join(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        struct lawn_worker *worker = L_LOAD(&set->workers[i], L_ACQUIRE);
        if (worker == NULL) {
            break;
        }
        lawn_park_lock(&set->lock);
        bool made = !worker->vacant && worker->made && !worker->joined;
        worker->joined |= made;
        lawn_park_unlock(&set->lock);
        if (made) {
            lawn_workers_reap(set, worker);
        }
    }
    uint32_t seats = L_LOAD(&set->seats, L_SEQ_CST);
    while (seats != 0) {
        lawn_park_wait(&set->seats, seats, LAWN_NEVER);
        seats = L_LOAD(&set->seats, L_SEQ_CST);
    }
    /* The last of them may still hold it, and the set may go after this. */
    lawn_park_lock(&set->lock);
    lawn_park_unlock(&set->lock);
}

uint64_t
lawn_workers_close(struct lawn_workers *set, uint64_t until,
                   lawn_workers_left_fn *left, void *arg)
{
    uint64_t count = 0;
    if (lawn_worker_self(set) != NULL) {
        return 0;
    }
    lawn_park_lock(&set->lock);
    bool closed = L_LOAD(&set->closing, L_RELAXED) != 0;
    if (!closed) {
        L_STORE(&set->until, until, L_RELAXED);
        L_STORE(&set->closing, 1, L_SEQ_CST);
    }
    lawn_park_unlock(&set->lock);
    if (closed) {
        return 0;
    }
    lawn_workers_wake(set);
    lawn_workers_join(set);
    lawn_gate_wait(set);
    /* From here on this thread is the worker, of all parts: left may stop other
     * timers, and free them. If it is a worker of another set, it stays that. */
    set->closer.under = lawn_workers_be(&set->closer);
    for (unsigned i = 0; i < set->count; i++) {
        set->parts[i]->next = i + 1 < set->count ? set->parts[i + 1] : NULL;
        L_STORE(&set->parts[i]->worker, &set->closer, L_RELEASE);
    }
    set->closer.parts = set->parts[0];
    for (unsigned i = 0; i < set->count; i++) {
        lawn_part_shut(set->parts[i]);
    }
    for (unsigned i = 0; i < set->count; i++) {
        count += lawn_part_clear(set->parts[i], left, arg);
    }
    (void)lawn_workers_be(set->closer.under);
    return count;
}

void
lawn_workers_free(struct lawn_workers *set)
{
    if (set != NULL) {
        struct lawn_worker *self = lawn_worker_self(set);
        if (self != NULL) {
            LAWN_WORKERS_EXPECT(!self->turning,
                                "a set freed in a callback of its own");
            lawn_worker_detach(self);
        }
        (void)lawn_workers_close(set, 0, NULL, NULL);
        lawn_workers_release_all(set);
    }
}

/* What belongs to one worker, or to all if worker is NULL. */
static void
lawn_workers_fill(struct lawn_workers *set, const struct lawn_worker *worker,
                  struct lawn_workers_stats *out)
{
    uint64_t now = lawn_workers_now(set);
    struct lawn_counts all = {0};
    memset(out, 0, sizeof *out);
    if (worker == NULL) {
        all = set->past;
    }
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i]; i++) {
        const struct lawn_worker *one = set->workers[i];
        if (worker != NULL && one != worker) {
            continue;
        }
        uint64_t began = L_LOAD(&one->began, L_RELAXED);
        lawn_counts_add(&all, &one->counts);
        out->workers += L_LOAD(&one->live, L_RELAXED);
        if (began < now && now - began > out->behind) {
            out->behind = now - began;
        }
    }
    for (unsigned i = 0; i < set->count; i++) {
        const struct lawn_part *part = set->parts[i];
        if (worker == NULL || L_LOAD(&part->keeper, L_RELAXED) == worker) {
            out->parts++;
            out->held += L_LOAD(&part->held, L_RELAXED);
        }
    }
    out->fires = all.fires;
    out->messages = all.messages;
    out->turns = all.turns;
    out->wakes = all.wakes;
    out->late_most = all.late_most;
    out->late_sum = all.late_sum;
}

void
lawn_workers_stats(struct lawn_workers *set, struct lawn_workers_stats *out)
{
    lawn_park_lock(&set->lock);
    lawn_workers_fill(set, NULL, out);
    lawn_park_unlock(&set->lock);
}

bool
lawn_workers_stats_of(struct lawn_workers *set, unsigned number,
                      struct lawn_workers_stats *out)
{
    lawn_park_lock(&set->lock);
    struct lawn_worker *worker =
        number < LAWN_WORKERS_MAX ? set->workers[number] : NULL;
    bool there = worker != NULL && L_LOAD(&worker->live, L_RELAXED) != 0;
    if (there) {
        lawn_workers_fill(set, worker, out);
    }
    lawn_park_unlock(&set->lock);
    return there;
}
