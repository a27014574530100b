/* workers_set.c - creates and closes a set, adds and removes workers. These
 * rare operations use the set's lock. */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include "gate.h"
#include "park.h"
#include "shard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAWN_WORKERS_SHARDS 16u
#define LAWN_WORKERS_BUDGET 256u
#define LAWN_WORKERS_BUDGET_MOST (SIZE_MAX / 4)

void *
lawn__workers_alloc(const struct lawn_options *options, size_t size)
{
    /* The start of the allocation is stored before the aligned memory. */
    size_t room = size + LAWN_LINE + sizeof(void *);
    char *begin = options->alloc != NULL
                      ? options->alloc(room, options->context)
                      : malloc(room);
    if (begin == NULL) {
        return NULL;
    }
    uintptr_t line = (uintptr_t)begin + sizeof(void *) + LAWN_LINE - 1;
    char *memory = begin + (line / LAWN_LINE * LAWN_LINE - (uintptr_t)begin);
    memcpy(memory - sizeof(void *), &begin, sizeof(begin));
    return memset(memory, 0, size);
}

void
lawn__workers_release(const struct lawn_options *options, void *memory)
{
    void *begin = NULL;
    memcpy(&begin, (char *)memory - sizeof(void *), sizeof(begin));
    if (options->alloc == NULL) {
        free(begin);
    } else if (options->release != NULL) {
        options->release(begin, options->context);
    }
}

static bool
add_shard(struct lawn_workers *set)
{
    struct lawn_shard *shard = lawn__shard_new(set, set->count);
    if (shard == NULL) {
        return false;
    }
    set->shards[set->count] = shard;
    LAWN_ATOMIC_STORE(&set->count, set->count + 1, LAWN_RELEASE);
    return true;
}

static void
free_set(struct lawn_workers *set)
{
    struct lawn_options options = set->lawn;
    for (unsigned i = 0; i < set->count; i++) {
        lawn__shard_free(set->shards[i]);
    }
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i] != NULL; i++) {
        if (set->workers[i]->fd >= 0) {
            (void)close(set->workers[i]->fd);
        }
        lawn__workers_release(&options, set->workers[i]);
    }
    lawn__workers_release(&options, set);
}

struct lawn_workers *
lawn_workers_new(const struct lawn_workers_options *options)
{
    static const struct lawn_workers_options defaults;
    if (options == NULL) {
        options = &defaults;
    }
    if (options->shards > LAWN_WORKERS_SHARDS_MAX ||
        (options->route != LAWN_WORKERS_BY_OWNER &&
         options->route != LAWN_WORKERS_BY_TTL)) {
        errno = EINVAL;
        return NULL;
    }
    struct lawn_workers *set =
        lawn__workers_alloc(&options->lawn, sizeof(*set));
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
    set->clock = set->real ? lawn__park_clock : options->clock;
    set->clock_context = options->clock_context;
    set->asymmetric = lawn__park_asymmetric();
    set->closer.set = set;
    set->closer.fd = -1;
    set->closer.turning = true;
    unsigned shards =
        options->shards == 0 ? LAWN_WORKERS_SHARDS : options->shards;
    while (set->count < (set->route == LAWN_WORKERS_BY_TTL ? shards : 1)) {
        if (!add_shard(set)) {
            free_set(set);
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
    return lawn__saturating_add(now, 0);
}

/* For NULL, counts the shards without an owner. */
static unsigned
count_owned(struct lawn_workers *set, const struct lawn_worker *worker)
{
    unsigned count = 0;
    for (unsigned i = 0; i < set->count; i++) {
        count +=
            LAWN_ATOMIC_LOAD(&set->shards[i]->owner, LAWN_RELAXED) == worker;
    }
    return count;
}

/* Call it under the lock. */
static bool
is_live(const struct lawn_worker *worker)
{
    return LAWN_ATOMIC_LOAD(&worker->life, LAWN_RELAXED) == LAWN_WORKER_LIVE;
}

static struct lawn_worker *
find_worker(struct lawn_workers *set, bool most)
{
    struct lawn_worker *found = NULL;
    unsigned best = 0;
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i] != NULL; i++) {
        struct lawn_worker *worker = set->workers[i];
        unsigned owned = count_owned(set, worker);
        if (is_live(worker) &&
            (found == NULL || (most ? owned > best : owned < best))) {
            found = worker;
            best = owned;
        }
    }
    return found;
}

/* The worker that runs the shard hands it over in its next turn. */
static void
reassign_shard(struct lawn_shard *shard, struct lawn_worker *to)
{
    struct lawn_worker *runs = LAWN_ATOMIC_LOAD(&shard->worker, LAWN_ACQUIRE);
    struct lawn_worker *old_owner =
        LAWN_ATOMIC_LOAD(&shard->owner, LAWN_RELAXED);
    LAWN_ATOMIC_STORE(&shard->owner, to, LAWN_SEQ_CST);
    if (runs == NULL) {
        LAWN_ATOMIC_STORE(&shard->worker, &lawn__handover_marker, LAWN_RELAXED);
        lawn__worker_hand_over(shard, true);
        return;
    }
    /* During a hand-over, the old owner receives the shard and passes it on. */
    if (runs == &lawn__handover_marker) {
        runs = old_owner;
    }
    if (runs != NULL) {
        LAWN_ATOMIC_STORE(&runs->control, 1, LAWN_SEQ_CST);
        lawn__worker_wake(runs);
    }
}

/* The start_shard of a worker is one that it owns, or NULL. */
static void
choose_start_shards(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i] != NULL; i++) {
        struct lawn_worker *worker = set->workers[i];
        struct lawn_shard *start_shard =
            LAWN_ATOMIC_LOAD(&worker->start_shard, LAWN_RELAXED);
        if (start_shard != NULL &&
            LAWN_ATOMIC_LOAD(&start_shard->owner, LAWN_RELAXED) == worker) {
            continue;
        }
        start_shard = NULL;
        for (unsigned j = set->count; j-- > 0;) {
            if (LAWN_ATOMIC_LOAD(&set->shards[j]->owner, LAWN_RELAXED) ==
                worker) {
                start_shard = set->shards[j];
            }
        }
        LAWN_ATOMIC_STORE(&worker->start_shard, start_shard, LAWN_RELEASE);
    }
}

/* Assigns to a new worker the shards without an owner, then the last ones of
 * workers that own more than their share. */
static void
distribute_shards(struct lawn_workers *set, struct lawn_worker *worker)
{
    for (;;) {
        struct lawn_worker *from = NULL;
        if (count_owned(set, NULL) == 0) {
            from = find_worker(set, true);
            if (count_owned(set, from) < count_owned(set, worker) + 2) {
                break;
            }
        }
        for (unsigned i = set->count; i-- > 0;) {
            struct lawn_shard *shard = set->shards[i];
            if (LAWN_ATOMIC_LOAD(&shard->owner, LAWN_RELAXED) == from &&
                (from == NULL ||
                 shard != LAWN_ATOMIC_LOAD(&from->start_shard, LAWN_RELAXED))) {
                reassign_shard(shard, worker);
                break;
            }
        }
    }
    choose_start_shards(set);
}

static void
reassign_all(struct lawn_workers *set, struct lawn_worker *worker)
{
    LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_RETIRED, LAWN_RELEASE);
    for (unsigned i = 0; i < set->count; i++) {
        if (LAWN_ATOMIC_LOAD(&set->shards[i]->owner, LAWN_RELAXED) == worker) {
            reassign_shard(set->shards[i], find_worker(set, false));
        }
    }
    choose_start_shards(set);
}

static void
add_counts(struct lawn_counts *to, const struct lawn_counts *from)
{
    uint64_t most = LAWN_ATOMIC_LOAD(&from->late_most, LAWN_RELAXED);
    to->fires += LAWN_ATOMIC_LOAD(&from->fires, LAWN_RELAXED);
    to->messages += LAWN_ATOMIC_LOAD(&from->messages, LAWN_RELAXED);
    to->turns += LAWN_ATOMIC_LOAD(&from->turns, LAWN_RELAXED);
    to->wakes += LAWN_ATOMIC_LOAD(&from->wakes, LAWN_RELAXED);
    to->late_sum += LAWN_ATOMIC_LOAD(&from->late_sum, LAWN_RELAXED);
    to->late_most = most > to->late_most ? most : to->late_most;
}

/* On failure, returns NULL and sets errno. */
static struct lawn_worker *
find_seat(struct lawn_workers *set)
{
    unsigned i = 0;
    while (i < LAWN_WORKERS_MAX && set->workers[i] != NULL &&
           LAWN_ATOMIC_LOAD(&set->workers[i]->life, LAWN_RELAXED) !=
               LAWN_WORKER_VACANT) {
        i++;
    }
    if (i == LAWN_WORKERS_MAX) {
        errno = ENOSPC;
        return NULL;
    }
    struct lawn_worker *worker = set->workers[i];
    if (worker == NULL) {
        worker = lawn__workers_alloc(&set->lawn, sizeof(*worker));
        if (worker == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        worker->set = set;
        worker->number = i;
        worker->fd = -1;
        worker->began = LAWN_NEVER;
        LAWN_ATOMIC_STORE(&set->workers[i], worker, LAWN_RELEASE);
    }
    return worker;
}

static struct lawn_worker *
enroll(struct lawn_workers *set)
{
    if (LAWN_ATOMIC_LOAD(&set->closing, LAWN_RELAXED) != 0) {
        errno = ESHUTDOWN;
        return NULL;
    }
    struct lawn_worker *worker = find_seat(set);
    if (worker == NULL) {
        return NULL;
    }
    struct lawn_worker *most = find_worker(set, true);
    if (set->route == LAWN_WORKERS_BY_OWNER && count_owned(set, NULL) == 0 &&
        count_owned(set, most) < 2 && !add_shard(set)) {
        errno = ENOMEM;
        return NULL;
    }
    add_counts(&set->past, &worker->counts);
    memset(&worker->counts, 0, sizeof(worker->counts));
    worker->made = false;
    worker->joined = false;
    worker->stale = true;
    LAWN_ATOMIC_STORE(&worker->arrivals, NULL, LAWN_RELEASE);
    LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_LIVE, LAWN_RELEASE);
    (void)LAWN_ATOMIC_FADD(&set->seats, 1, LAWN_SEQ_CST);
    distribute_shards(set, worker);
    return worker;
}

/* The thread of the worker has ended or is detached. Call it under the lock. */
static void
vacate(struct lawn_workers *set, struct lawn_worker *worker)
{
    LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_VACANT, LAWN_RELEASE);
    (void)LAWN_ATOMIC_FADD(&set->seats, (uint32_t)-1, LAWN_SEQ_CST);
    lawn__park_wake(&set->seats);
}

static void
join_thread(struct lawn_workers *set, struct lawn_worker *worker)
{
    (void)pthread_join(worker->thread, NULL);
    lawn__park_lock(&set->lock);
    vacate(set, worker);
    lawn__park_unlock(&set->lock);
}

/* Detaches the calling thread's worker, or one without a thread. Call it under
 * the lock. */
static void
detach_worker(struct lawn_workers *set, struct lawn_worker *worker)
{
    /* Reassign the shards even if the worker has ended with the set: other
     * threads may be waiting for its timers. */
    reassign_all(set, worker);
    (void)lawn__worker_leave(worker, true);
    vacate(set, worker);
}

static void *
run_worker_thread(void *arg)
{
    struct lawn_worker *worker = arg;
    (void)lawn_workers_be(worker);
    (void)lawn_worker_run(worker);
    return NULL;
}

/* Blocks all signals in the thread. */
static int
start_thread(struct lawn_worker *worker)
{
    sigset_t all;
    (void)sigfillset(&all);
    sigset_t was;
    (void)pthread_sigmask(SIG_SETMASK, &all, &was);
    int error =
        pthread_create(&worker->thread, NULL, run_worker_thread, worker);
    (void)pthread_sigmask(SIG_SETMASK, &was, NULL);
    return error;
}

int
lawn_workers_add(struct lawn_workers *set)
{
    lawn__park_lock(&set->lock);
    struct lawn_worker *worker = enroll(set);
    int result = 0;
    if (worker == NULL) {
        result = -errno;
    } else if (start_thread(worker) != 0) {
        detach_worker(set, worker);
        result = -EAGAIN;
    } else {
        worker->made = true;
        result = (int)worker->number;
    }
    lawn__park_unlock(&set->lock);
    return result;
}

struct lawn_worker *
lawn_workers_attach(struct lawn_workers *set)
{
    if (lawn_workers_self() != NULL) {
        errno = EBUSY;
        return NULL;
    }
    lawn__park_lock(&set->lock);
    struct lawn_worker *worker = enroll(set);
    lawn__park_unlock(&set->lock);
    if (worker != NULL) {
        /* Adopt the shards that have already arrived. */
        (void)lawn_workers_be(worker);
        (void)LAWN_ATOMIC_XCHG(&worker->token, 0, LAWN_SEQ_CST);
        worker->now = lawn_workers_now(set);
        lawn__worker_handle_control(worker);
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
    lawn__park_lock(&set->lock);
    detach_worker(set, worker);
    lawn__park_unlock(&set->lock);
}

int
lawn_workers_remove(struct lawn_workers *set, unsigned number)
{
    if (lawn__worker_self(set) != NULL) {
        return -EDEADLK;
    }
    lawn__park_lock(&set->lock);
    struct lawn_worker *worker =
        number < LAWN_WORKERS_MAX ? set->workers[number] : NULL;
    int result = 0;
    bool made = false;
    if (LAWN_ATOMIC_LOAD(&set->closing, LAWN_RELAXED) != 0) {
        result = -ESHUTDOWN;
    } else if (worker == NULL || !is_live(worker)) {
        result = -ENOENT;
    } else {
        LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_RETIRED, LAWN_RELEASE);
        if (find_worker(set, true) == NULL) {
            LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_LIVE, LAWN_RELEASE);
            result = -EBUSY;
        } else {
            reassign_all(set, worker);
            LAWN_ATOMIC_STORE(&worker->life, LAWN_WORKER_LEAVING, LAWN_RELEASE);
            LAWN_ATOMIC_STORE(&worker->control, 1, LAWN_SEQ_CST);
            lawn__worker_wake(worker);
            made = worker->made;
        }
    }
    if (made) {
        worker->joined = true;
    }
    lawn__park_unlock(&set->lock);
    if (made) {
        join_thread(set, worker);
    }
    return result;
}

void
lawn_workers_wake(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        struct lawn_worker *worker =
            LAWN_ATOMIC_LOAD(&set->workers[i], LAWN_ACQUIRE);
        if (worker == NULL) {
            break;
        }
        lawn__worker_wake(worker);
    }
}

/* Joins the library's threads, and waits until the others have detached. */
static void
join_all(struct lawn_workers *set)
{
    for (unsigned i = 0; i < LAWN_WORKERS_MAX; i++) {
        struct lawn_worker *worker =
            LAWN_ATOMIC_LOAD(&set->workers[i], LAWN_ACQUIRE);
        if (worker == NULL) {
            break;
        }
        lawn__park_lock(&set->lock);
        bool made = LAWN_ATOMIC_LOAD(&worker->life, LAWN_RELAXED) !=
                        LAWN_WORKER_VACANT &&
                    worker->made && !worker->joined;
        worker->joined |= made;
        lawn__park_unlock(&set->lock);
        if (made) {
            join_thread(set, worker);
        }
    }
    uint32_t seats = LAWN_ATOMIC_LOAD(&set->seats, LAWN_SEQ_CST);
    while (seats != 0) {
        lawn__park_wait(&set->seats, seats, LAWN_NEVER);
        seats = LAWN_ATOMIC_LOAD(&set->seats, LAWN_SEQ_CST);
    }
    /* The last thread may still hold the lock, and the caller may free the
     * set. */
    lawn__park_lock(&set->lock);
    lawn__park_unlock(&set->lock);
}

uint64_t
lawn_workers_close(struct lawn_workers *set, uint64_t until,
                   lawn_workers_left_fn *left, void *arg)
{
    uint64_t count = 0;
    if (lawn__worker_self(set) != NULL) {
        return 0;
    }
    lawn__park_lock(&set->lock);
    bool closed = LAWN_ATOMIC_LOAD(&set->closing, LAWN_RELAXED) != 0;
    if (!closed) {
        LAWN_ATOMIC_STORE(&set->until, until, LAWN_RELAXED);
        LAWN_ATOMIC_STORE(&set->closing, 1, LAWN_SEQ_CST);
    }
    lawn__park_unlock(&set->lock);
    if (closed) {
        return 0;
    }
    lawn_workers_wake(set);
    join_all(set);
    lawn__gate_wait(set);
    /* From here on, this thread is the worker of all shards, so left() may stop
     * and free other timers. The thread may at the same time be a worker of
     * another set. */
    set->closer.under = lawn_workers_be(&set->closer);
    for (unsigned i = 0; i < set->count; i++) {
        set->shards[i]->next = i + 1 < set->count ? set->shards[i + 1] : NULL;
        LAWN_ATOMIC_STORE(&set->shards[i]->worker, &set->closer, LAWN_RELEASE);
    }
    set->closer.shards = set->shards[0];
    for (unsigned i = 0; i < set->count; i++) {
        lawn__shard_shut(set->shards[i]);
    }
    for (unsigned i = 0; i < set->count; i++) {
        count += lawn__shard_clear(set->shards[i], left, arg);
    }
    (void)lawn_workers_be(set->closer.under);
    return count;
}

void
lawn_workers_free(struct lawn_workers *set)
{
    if (set != NULL) {
        struct lawn_worker *self = lawn__worker_self(set);
        if (self != NULL) {
            LAWN_ASSERT(!self->turning,
                        "a set is freed in one of its callbacks");
            lawn_worker_detach(self);
        }
        (void)lawn_workers_close(set, 0, NULL, NULL);
        free_set(set);
    }
}

/* For all workers if worker is NULL. */
static void
fill_counters(struct lawn_workers *set, const struct lawn_worker *worker,
              struct lawn_workers_counters *out)
{
    uint64_t now = lawn_workers_now(set);
    struct lawn_counts all = {0};
    memset(out, 0, sizeof(*out));
    if (worker == NULL) {
        all = set->past;
    }
    for (unsigned i = 0; i < LAWN_WORKERS_MAX && set->workers[i] != NULL; i++) {
        const struct lawn_worker *one = set->workers[i];
        if (worker != NULL && one != worker) {
            continue;
        }
        uint64_t began = LAWN_ATOMIC_LOAD(&one->began, LAWN_RELAXED);
        add_counts(&all, &one->counts);
        out->workers += is_live(one);
        if (began < now && now - began > out->behind) {
            out->behind = now - began;
        }
    }
    for (unsigned i = 0; i < set->count; i++) {
        const struct lawn_shard *shard = set->shards[i];
        if (worker == NULL ||
            LAWN_ATOMIC_LOAD(&shard->owner, LAWN_RELAXED) == worker) {
            out->shards++;
            out->held += LAWN_ATOMIC_LOAD(&shard->held, LAWN_RELAXED);
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
lawn_workers_stats(struct lawn_workers *set, struct lawn_workers_counters *out)
{
    lawn__park_lock(&set->lock);
    fill_counters(set, NULL, out);
    lawn__park_unlock(&set->lock);
}

bool
lawn_workers_stats_of(struct lawn_workers *set, unsigned number,
                      struct lawn_workers_counters *out)
{
    lawn__park_lock(&set->lock);
    struct lawn_worker *worker =
        number < LAWN_WORKERS_MAX ? set->workers[number] : NULL;
    bool there = worker != NULL && is_live(worker);
    if (there) {
        fill_counters(set, worker, out);
    }
    lawn__park_unlock(&set->lock);
    return there;
}
