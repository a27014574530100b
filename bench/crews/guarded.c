/* guarded.c - lawns behind mutexes, as a program would use them: one lawn for
 * all threads, or one for each worker.
 *
 * Critical sections contain one or two calls of the lawn. Only serve() reads
 * the clock in one; elsewhere it is read before. Callbacks run after it, and
 * sleepers are woken after it. A worker that serves sleeps until the next timer
 * is due, and is woken only if a timer is started that is due earlier. With one
 * lawn for all, one of the workers mows and the others have nothing to do.
 *
 * The crew with one lawn has two variants: behind a pthread mutex of the
 * default kind, which most programs have, and behind glibc's adaptive kind,
 * which spins for a while before it sleeps and is better for such short
 * sections. If each worker has a lawn, the mutexes are adaptive. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "all.h"

#include "lawn.h"

#include <pthread.h>
#include <stdlib.h>

#define GUARDED_LINE 128u
#define GUARDED_BATCH 64u /* timers fired at a time */

/* wake_at is when the worker that mows wakes up, 0 while it is awake: a timer
 * that is due earlier must wake it. Each shard has its own cache lines. */
struct guarded_shard {
    _Alignas(GUARDED_LINE) pthread_mutex_t mutex;
    struct lawn *lawn;
    uint64_t wake_at;
    bool dismissed;
    pthread_cond_t wake; /* wakes the worker that mows */
    pthread_cond_t end;  /* wakes the other workers when dismissed */
};

struct guarded {
    struct guarded_shard *shards;
    unsigned count;
};

/* Timers that have fired are here until the mutex is released. */
struct guarded_worker {
    struct guarded_shard *shard;
    bool mows; /* otherwise another worker does */
    const struct crew_calls *calls;
    size_t fired;
    struct object *batch[GUARDED_BATCH];
};

static struct lawn_timer *
timer_of(struct object *object)
{
    return (struct lawn_timer *)(void *)object->node;
}

static struct guarded_shard *
find_shard(struct guarded *crew, unsigned number)
{
    return &crew->shards[number < crew->count ? number : 0];
}

static void
init_mutex(pthread_mutex_t *mutex, bool adaptive)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
#if defined __GLIBC__
    if (adaptive) {
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    }
#else
    (void)adaptive;
#endif
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static bool
open_shard(struct guarded_shard *shard, bool adaptive)
{
    const struct lawn_options options = {.now = crew_clock()};

    shard->lawn = lawn_new(&options);
    pthread_condattr_t attributes;
    if (shard->lawn == NULL || pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&shard->wake, &attributes);
    pthread_cond_init(&shard->end, NULL);
    pthread_condattr_destroy(&attributes);
    init_mutex(&shard->mutex, adaptive);
    return true;
}

static void
destroy(void *self)
{
    struct guarded *crew = (struct guarded *)self;

    for (unsigned i = 0; i < crew->count; i++) {
        lawn_free(crew->shards[i].lawn);
        pthread_mutex_destroy(&crew->shards[i].mutex);
        pthread_cond_destroy(&crew->shards[i].wake);
        pthread_cond_destroy(&crew->shards[i].end);
    }
    free(crew->shards);
    free(crew);
}

static void *
make(unsigned count, bool adaptive)
{
    struct guarded *crew = calloc(1, sizeof(*crew));

    if (crew == NULL) {
        return NULL;
    }
    crew->shards = aligned_alloc(GUARDED_LINE, count * sizeof(*crew->shards));
    while (crew->shards != NULL && crew->count < count) {
        crew->shards[crew->count] = (struct guarded_shard){.wake_at = 0};
        if (!open_shard(&crew->shards[crew->count], adaptive)) {
            break;
        }
        crew->count++;
    }
    if (crew->count < count) {
        destroy(crew);
        return NULL;
    }
    return crew;
}

static void *
make_one(const struct contender_setup *setup)
{
    (void)setup;
    return make(1, false);
}

static void *
make_adaptive(const struct contender_setup *setup)
{
    (void)setup;
    return make(1, true);
}

static void *
make_each(const struct contender_setup *setup)
{
    return make(setup->workers, true);
}

static void *
join(void *self, unsigned number, const struct crew_calls *calls)
{
    struct guarded *crew = (struct guarded *)self;
    struct guarded_worker *worker = calloc(1, sizeof(*worker));

    if (worker != NULL) {
        worker->shard = find_shard(crew, number);
        worker->mows = number < crew->count;
        worker->calls = calls;
    }
    return worker;
}

static void
leave(void *self)
{
    free(self);
}

static void
collect(struct lawn_timer *timer, void *arg)
{
    struct guarded_worker *worker = (struct guarded_worker *)arg;

    worker->batch[worker->fired++] = LAWN_CONTAINER(timer, struct object, node);
}

/* Fires due timers in batches. The mutex is held before and after, but not
 * while callbacks run. */
static void
mow(struct guarded_worker *worker, uint64_t now)
{
    struct guarded_shard *shard = worker->shard;

    do {
        worker->fired = 0;
        lawn_mow(shard->lawn, now, GUARDED_BATCH, collect, worker);
        if (worker->fired == 0) {
            return;
        }
        pthread_mutex_unlock(&shard->mutex);
        for (size_t i = 0; i < worker->fired; i++) {
            worker->calls->fire(worker->batch[i], worker->calls->arg);
        }
        pthread_mutex_lock(&shard->mutex);
    } while (worker->fired == GUARDED_BATCH);
}

static void
turn(void *self)
{
    struct guarded_worker *worker = (struct guarded_worker *)self;
    uint64_t now = crew_clock();

    pthread_mutex_lock(&worker->shard->mutex);
    mow(worker, now);
    pthread_mutex_unlock(&worker->shard->mutex);
}

static void
serve(void *self)
{
    struct guarded_worker *worker = (struct guarded_worker *)self;
    struct guarded_shard *shard = worker->shard;

    pthread_mutex_lock(&shard->mutex);
    while (!shard->dismissed) {
        if (!worker->mows) {
            pthread_cond_wait(&shard->end, &shard->mutex);
            continue;
        }
        shard->wake_at = 0;
        mow(worker, crew_clock());
        shard->wake_at = lawn_next(shard->lawn);
        if (shard->dismissed) {
            break;
        }
        if (shard->wake_at == LAWN_NEVER) {
            pthread_cond_wait(&shard->wake, &shard->mutex);
            continue;
        }
        struct timespec until;
        until.tv_sec = (time_t)(shard->wake_at / 1000000000u);
        until.tv_nsec = (long)(shard->wake_at % 1000000000u);
        pthread_cond_timedwait(&shard->wake, &shard->mutex, &until);
    }
    pthread_mutex_unlock(&shard->mutex);
}

static void
dismiss(void *self)
{
    struct guarded *crew = (struct guarded *)self;

    for (unsigned i = 0; i < crew->count; i++) {
        pthread_mutex_lock(&crew->shards[i].mutex);
        crew->shards[i].dismissed = true;
        pthread_mutex_unlock(&crew->shards[i].mutex);
        pthread_cond_signal(&crew->shards[i].wake);
        pthread_cond_broadcast(&crew->shards[i].end);
    }
}

/* The last turn of any worker, or start_on(), has set the lawn's time. */
static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct guarded_shard *shard = ((struct guarded_worker *)self)->shard;

    pthread_mutex_lock(&shard->mutex);
    lawn_start(shard->lawn, timer_of(object), ttl);
    pthread_mutex_unlock(&shard->mutex);
}

static bool
stop(void *self, struct object *object)
{
    struct guarded_shard *shard = ((struct guarded_worker *)self)->shard;

    pthread_mutex_lock(&shard->mutex);
    bool was = lawn_stop(shard->lawn, timer_of(object));
    pthread_mutex_unlock(&shard->mutex);
    return was;
}

static void
start_on(void *self, unsigned number, struct object *object, uint64_t ttl)
{
    struct guarded_shard *shard = find_shard((struct guarded *)self, number);
    uint64_t now = crew_clock();

    pthread_mutex_lock(&shard->mutex);
    lawn_set_now(shard->lawn, now);
    lawn_start(shard->lawn, timer_of(object), ttl);
    bool wake = timer_of(object)->deadline < shard->wake_at;
    if (wake) {
        shard->wake_at = 0;
    }
    pthread_mutex_unlock(&shard->mutex);
    if (wake) {
        pthread_cond_signal(&shard->wake);
    }
}

static enum crew_stop
stop_on(void *self, unsigned number, struct object *object)
{
    struct guarded_shard *shard = find_shard((struct guarded *)self, number);

    pthread_mutex_lock(&shard->mutex);
    bool was = lawn_stop(shard->lawn, timer_of(object));
    pthread_mutex_unlock(&shard->mutex);
    return was ? CREW_STOPPED : CREW_ENDED;
}

struct guarded_teller {
    contender_fire_fn *tell;
    void *arg;
};

static bool
visit_left(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct guarded_teller *teller = (const struct guarded_teller *)arg;

    (void)ttl;
    teller->tell(LAWN_CONTAINER(timer, struct object, node), teller->arg);
    return true;
}

static uint64_t
visit_all_left(void *self, contender_fire_fn *tell, void *arg)
{
    struct guarded *crew = (struct guarded *)self;
    struct guarded_teller teller = {tell, arg};
    uint64_t count = 0;

    for (unsigned i = 0; i < crew->count; i++) {
        count += lawn_count(crew->shards[i].lawn);
        lawn_each(crew->shards[i].lawn, visit_left, &teller);
    }
    return count;
}

#define GUARDED_FACE(word, words, sentence, how)                               \
    .face = {.abi = CONTENDER_ABI,                                             \
             .name = (word),                                                   \
             .title = (words),                                                 \
             .about = (sentence),                                              \
             .kind = CONTENDER_PAPER,                                          \
             .flags = CONTENDER_CREW | CONTENDER_EXACT,                        \
             .node = sizeof(struct lawn_timer),                                \
             .make = (how),                                                    \
             .free = destroy},                                                 \
    .join = join, .leave = leave, .turn = turn, .serve = serve,                \
    .dismiss = dismiss, .start = start, .stop = stop, .start_on = start_on,    \
    .stop_on = stop_on, .left = visit_all_left

const struct crew mutex_crew = {
    GUARDED_FACE(
        "mutex", "one lawn, one mutex",
        "One lawn for all threads behind a mutex, and a worker that mows it "
        "when timers are due; callbacks run without the mutex.",
        make_one),
};

const struct crew adaptive_crew = {
    GUARDED_FACE("adaptive", "one adaptive mutex",
                 "The same with a mutex that spins for a while before it "
                 "sleeps, glibc's PTHREAD_MUTEX_ADAPTIVE_NP.",
                 make_adaptive),
};

const struct crew shards_crew = {
    GUARDED_FACE("shards", "a lawn and mutex each",
                 "A lawn per worker, each behind an adaptive mutex that other "
                 "threads take as well; a timer stays with its worker.",
                 make_each),
};
