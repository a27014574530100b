/* workload_crew.c - T1 to T6: several threads start and stop timers of a crew.
 *
 * A hand is a thread that does so: a worker itself, on timers of its own (T1),
 * or a thread that is none (T2), or a worker on timers of its own and of the
 * next one (T3). Half of a hand's n timers run: it starts an idle one, stops the
 * one that it started n/2 before, and so on round all of them in random order,
 * which is a pair. Workers that are hands take a turn every 256 pairs; others
 * serve, and are woken each millisecond by a timer of their own, so that what is
 * posted does not wait for ever.
 *
 * The time counts from when the first hand begins, and each timer has been
 * started before, until the last has ended, and with messages until a last timer
 * with a TTL of 0, posted to each worker behind all others, has fired: what was
 * posted is paid for. It is given per pair and hand. What is not paid for is what a
 * crew puts off until a timer is due, since none is: a worker drops a timer that
 * another thread stopped when it comes up. T6 has all of that.
 *
 * Behind that, untimed, some timers are left running until they fire, and some
 * for ever. In the end each start must have had one end, timer by timer: those
 * and no others have fired, those and no others are left, and the rest was
 * stopped. What fired and what is left makes the checksum. Meanwhile nothing
 * fires, as TTLs are minutes.
 *
 * In T6 hands are as in T2, but timers have a TTL of 0 and all of them fire: each
 * goes through the mail, the lawn and a callback. A hand whose timers are all under
 * way waits for the oldest.
 *
 * T4 and T5 post one timer with a TTL of 0 at a time, and tell how long it took
 * until it fired: on a worker that sleeps, or on one that is a hand as in T1.
 */
#include "crew.h"
#include "workload.h"
#include "workloads.h"
#include <lawn_histogram.h>

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define CREW_LINE 128u
#define CREW_TTLS 20u
#define CREW_LEAST UINT64_C(60000000000) /* ns: the shortest of them, */
#define CREW_SOON UINT64_C(2000000)      /* that of timers that are to fire, */
#define CREW_BEAT UINT64_C(1000000)      /* and of those that wake workers */
#define CREW_PATIENCE UINT64_C(10000000000) /* ns that a timer may be late */
#define CREW_PAIRS 1000000u                 /* of each hand */
#define CREW_WARM UINT64_C(50000000)        /* ns before the time counts */
#define CREW_ROUND 256u                     /* pairs between turns, */
#define CREW_ROUND_BUSY 64u                 /* and in T5 */
#define CREW_SAMPLES 2000u                  /* of T4 and T5, at most */
#define CREW_PAUSE 100000                   /* ns between them, at least */
#define CREW_SPINS 2000u

/* What an object is for, in object->which; the others are plain ones. */
enum {
    CREW_IS_BEAT = 1 << 20,
    CREW_IS_LAST,
    CREW_IS_SAMPLE,
    CREW_IS_UNDER_WAY, /* of T6, while it runs */
};

/* A set of timers, by number and by a sum that tells sets apart. */
struct crew_tally {
    uint64_t count;
    uint64_t sum;
};

struct crew_play;

/* A ring of n objects from first on; see above. */
struct crew_ring {
    size_t first;
    size_t start; /* next to be started, by its place in run->order */
    size_t stop;
};

struct crew_thread {
    _Alignas(CREW_LINE) struct crew_play *play;
    pthread_t thread;
    unsigned number; /* workers come first */
    void *worker;    /* the crew's; NULL: it is none */
    struct crew_calls calls;
    struct crew_ring own;
    struct crew_ring other; /* kept by the next worker */
    struct crew_tally started, stopped, fired;
    struct crew_tally soon; /* what is to fire */
    struct crew_tally late; /* what is to be left */
    uint64_t began;
    uint64_t ended;
};

/* Counters are of threads that have come to a point, and of timers. While the
 * time counts, nobody writes here. */
struct crew_play {
    struct run *run;
    const struct crew *crew;
    struct crew_thread *threads;
    uint64_t pairs;
    unsigned workers;
    unsigned count; /* of threads */
    unsigned hands;
    bool serves; /* the workers; else they turn */
    bool remote; /* the hands are not workers */
    bool mixed;
    bool posts; /* messages are part of it */
    bool fires; /* timers are not stopped */

    pthread_mutex_t mutex; /* of the next three */
    pthread_cond_t came;
    unsigned joined;
    unsigned warm;

    unsigned done;     /* hands that have ended, */
    unsigned idle;     /* and have nothing more to do */
    unsigned last;     /* last timers that have fired */
    enum run_end end;  /* threads give up */
    uint64_t fired;    /* plain ones */
    uint64_t fired_at; /* a sample; 0: not yet */
    bool over;
};

#define CREW_GET(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define CREW_SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELEASE)
#define CREW_ADD(word) __atomic_add_fetch(&(word), 1, __ATOMIC_ACQ_REL)

void
crew_ttls(struct run *run)
{
    if (!run_list_ttls(run, CREW_TTLS))
        return;
    for (uint64_t i = 0; i < CREW_TTLS; i++)
        run->ttls[i] =
            CREW_LEAST + i * (CREW_LONGEST - CREW_LEAST) / (CREW_TTLS - 1);
    for (size_t i = 0; i < run->object_count; i++)
        run_choose(run, i, random_below(&run->random, CREW_TTLS));
}

static inline void
crew_note(struct crew_tally *tally, const struct object *object)
{
    uint64_t x = (object->id + UINT64_C(1)) * UINT64_C(0xBF58476D1CE4E5B9);

    tally->count++;
    tally->sum += x * x;
}

static void
crew_sum(struct crew_tally *to, const struct crew_tally *from)
{
    to->count += from->count;
    to->sum += from->sum;
}

static bool
crew_same(const struct crew_tally *a, const struct crew_tally *b)
{
    return a->count == b->count && a->sum == b->sum;
}

static void
crew_give_up(struct crew_play *play, enum run_end end)
{
    CREW_SET(play->end, end);
    pthread_mutex_lock(&play->mutex);
    pthread_cond_broadcast(&play->came);
    pthread_mutex_unlock(&play->mutex);
}

/* Waits until so many threads have come here. */
static void
crew_meet(struct crew_play *play, unsigned *came, unsigned need)
{
    pthread_mutex_lock(&play->mutex);
    if (++*came >= need)
        pthread_cond_broadcast(&play->came);
    while (*came < need && CREW_GET(play->end) == RUN_OK)
        pthread_cond_wait(&play->came, &play->mutex);
    pthread_mutex_unlock(&play->mutex);
}

static void
crew_nap(long ns)
{
    struct timespec nap = {0, ns};

    nanosleep(&nap, NULL);
}

/* Objects of the benchmark's own, behind the others. */
static struct object *
crew_extra(const struct crew_play *play, unsigned which)
{
    return run_object(play->run,
                      2 * play->run->cell->n * play->workers + which);
}

static void
crew_on_fire(struct object *object, void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;
    struct crew_play *play = thread->play;

    if (object->which == CREW_IS_BEAT) {
        if (!CREW_GET(play->over))
            play->crew->start(thread->worker, object, CREW_BEAT);
        return;
    }
    if (object->which == CREW_IS_LAST) {
        /* Its place for a TTL keeps the time. */
        object->ttl = crew_clock();
        CREW_ADD(play->last);
        return;
    }
    crew_note(&thread->fired, object);
    if (object->which == CREW_IS_UNDER_WAY) {
        CREW_SET(object->which, 0);
        return;
    }
    if (object->which == CREW_IS_SAMPLE)
        CREW_SET(play->fired_at, crew_clock());
    CREW_ADD(play->fired);
}

static void
crew_on_stopped(struct object *object, void *arg)
{
    crew_note(&((struct crew_thread *)arg)->stopped, object);
}

static inline void
crew_start_one(struct crew_thread *thread, struct object *object, uint64_t ttl,
               bool local, unsigned keeper)
{
    const struct crew *crew = thread->play->crew;

    crew_note(&thread->started, object);
    if (local)
        crew->start(thread->worker, object, ttl);
    else
        crew->start_on(thread->play->run->self, keeper, object, ttl);
}

static inline void
crew_stop_one(struct crew_thread *thread, struct object *object, bool local,
              unsigned keeper)
{
    const struct crew *crew = thread->play->crew;

    if (local ? crew->stop(thread->worker, object)
              : crew->stop_on(thread->play->run->self, keeper, object) ==
                    CREW_STOPPED)
        crew_note(&thread->stopped, object);
}

/* The worker that keeps the object in a place of a ring: of a starter's, one
 * after the other. */
static inline unsigned
crew_keeper(const struct crew_thread *thread, size_t place)
{
    const struct crew_play *play = thread->play;

    if (play->remote)
        return (unsigned)(place % play->workers);
    return thread->number + 1 < play->workers ? thread->number + 1 : 0;
}

static inline void
crew_start_next(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    size_t place = ring->start;
    struct object *object = run_object(run, ring->first + run->order[place]);

    ring->start = place + 1 < run->cell->n ? place + 1 : 0;
    crew_start_one(thread, object, object->ttl, local,
                   crew_keeper(thread, place));
}

static inline void
crew_stop_next(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    size_t place = ring->stop;

    ring->stop = place + 1 < run->cell->n ? place + 1 : 0;
    crew_stop_one(thread, run_object(run, ring->first + run->order[place]),
                  local, crew_keeper(thread, place));
}

static void
crew_fill(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    uint64_t n = thread->play->run->cell->n;

    for (uint64_t i = 0; i < n / 2; i++)
        crew_start_next(thread, ring, local);
}

/* Stops what runs; then starts some that are to fire, and some that are not. */
static void
crew_leave_some(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    uint64_t n = run->cell->n;

    for (uint64_t i = 0; i < n / 2 && !thread->play->fires; i++)
        crew_stop_next(thread, ring, local);
    for (uint64_t i = 0; i < n / 4; i++) {
        struct object *object = run_object(run, ring->first + run->order[i]);
        bool soon = i < n / 8;

        crew_note(soon ? &thread->soon : &thread->late, object);
        crew_start_one(thread, object, soon ? CREW_SOON : object->ttl, local,
                       crew_keeper(thread, i));
    }
}

/* Whether to go on; asked between rounds. */
static bool
crew_goes_on(struct crew_play *play, uint64_t round)
{
    if (CREW_GET(play->end) != RUN_OK)
        return false;
    if (round % 64 != 0)
        return true;
    if (run_interrupted())
        crew_give_up(play, RUN_STOPPED);
    else if (crew_clock() > play->run->limit)
        crew_give_up(play, RUN_SLOW);
    return CREW_GET(play->end) == RUN_OK;
}

static void
crew_local_pairs(struct crew_thread *thread, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        crew_start_next(thread, &thread->own, true);
        crew_stop_next(thread, &thread->own, true);
    }
}

static void
crew_remote_pairs(struct crew_thread *thread, struct crew_ring *ring,
                  uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        crew_start_next(thread, ring, false);
        crew_stop_next(thread, ring, false);
    }
}

static void
crew_mixed_pairs(struct crew_thread *thread, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        if (i % 10 == 9)
            crew_remote_pairs(thread, &thread->other, 1);
        else
            crew_local_pairs(thread, 1);
    }
}

/* T6: waits for the oldest if all are under way. */
static void
crew_remote_fires(struct crew_thread *thread, uint64_t count)
{
    struct run *run = thread->play->run;
    struct crew_ring *ring = &thread->own;

    for (uint64_t i = 0; i < count; i++) {
        size_t place = ring->start;
        struct object *object =
            run_object(run, ring->first + run->order[place]);

        while (CREW_GET(object->which) == CREW_IS_UNDER_WAY) {
            if (!crew_goes_on(thread->play, 0))
                return;
            sched_yield();
        }
        object->which = CREW_IS_UNDER_WAY;
        ring->start = place + 1 < run->cell->n ? place + 1 : 0;
        crew_note(&thread->soon, object);
        crew_start_one(thread, object, 0, false, crew_keeper(thread, place));
    }
}

static void
crew_pairs(struct crew_thread *thread, uint64_t pairs)
{
    struct crew_play *play = thread->play;

    for (uint64_t i = 0; i < pairs && crew_goes_on(play, i / CREW_ROUND);
         i += CREW_ROUND) {
        if (play->fires) {
            crew_remote_fires(thread, CREW_ROUND);
            continue;
        }
        if (play->remote) {
            crew_remote_pairs(thread, &thread->own, CREW_ROUND);
            continue;
        }
        play->crew->turn(thread->worker);
        if (play->mixed)
            crew_mixed_pairs(thread, CREW_ROUND);
        else
            crew_local_pairs(thread, CREW_ROUND);
    }
}

/* The last hand posts what has to fire behind all messages. */
static void
crew_end_hand(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;

    thread->ended = crew_clock();
    if (CREW_ADD(play->done) < play->hands || !play->posts)
        return;
    for (unsigned i = 0; i < play->workers; i++)
        play->crew->start_on(play->run->self, i,
                             crew_extra(play, play->workers + i), 0);
}

/* Whether all hands have ended, and so have messages. */
static bool
crew_ended(struct crew_play *play)
{
    return CREW_GET(play->end) != RUN_OK ||
           (CREW_GET(play->done) == play->hands &&
            (!play->posts || CREW_GET(play->last) == play->workers));
}

/* For so long that the system has found a processor for each thread, and that
 * each timer was started twice; but not if few operations were asked for. In T6 so
 * many, as they are part of what is compared. */
static void
crew_warm(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;
    uint64_t until = crew_clock() + CREW_WARM;
    uint64_t pairs = play->pairs / (play->fires ? 2 : 8);

    if (play->run->cell->ops == 0 && pairs < 2 * play->run->cell->n)
        pairs = 2 * play->run->cell->n;
    do {
        crew_pairs(thread, pairs);
    } while (play->run->cell->ops == 0 && !play->fires &&
             crew_clock() < until && CREW_GET(play->end) == RUN_OK);
}

static void
crew_hand(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;
    bool local = !play->remote;

    if (!play->fires)
        crew_fill(thread, &thread->own, local);
    if (play->mixed)
        crew_fill(thread, &thread->other, false);
    crew_warm(thread);
    crew_meet(play, &play->warm, play->hands);
    thread->began = crew_clock();
    crew_pairs(thread, play->pairs);
    crew_end_hand(thread);
    while (!crew_ended(play)) {
        if (!local || !play->posts) {
            crew_nap(CREW_PAUSE);
            continue;
        }
        play->crew->turn(thread->worker);
        sched_yield();
    }
    crew_leave_some(thread, &thread->own, local);
    if (play->mixed)
        crew_leave_some(thread, &thread->other, false);
    CREW_ADD(play->idle);
    while (local && !CREW_GET(play->over)) {
        play->crew->turn(thread->worker);
        crew_nap(CREW_PAUSE);
    }
}

/* The worker of T5. */
static void
crew_be_busy(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;

    crew_fill(thread, &thread->own, true);
    while (!CREW_GET(play->over)) {
        crew_local_pairs(thread, CREW_ROUND_BUSY);
        play->crew->turn(thread->worker);
    }
    for (uint64_t i = 0; i < play->run->cell->n / 2; i++)
        crew_stop_next(thread, &thread->own, true);
}

static void *
crew_worker(void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;
    struct crew_play *play = thread->play;

    thread->worker =
        play->crew->join(play->run->self, thread->number, &thread->calls);
    if (thread->worker == NULL)
        crew_give_up(play, RUN_MEMORY);
    else if (play->serves && play->hands > 0)
        play->crew->start(thread->worker, crew_extra(play, thread->number),
                          CREW_BEAT);
    crew_meet(play, &play->joined, play->count);
    if (thread->worker == NULL)
        return NULL;
    if (play->serves)
        play->crew->serve(thread->worker);
    else if (play->hands > 0)
        crew_hand(thread);
    else
        crew_be_busy(thread);
    play->crew->leave(thread->worker);
    return NULL;
}

static void *
crew_starter(void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;

    crew_meet(thread->play, &thread->play->joined, thread->play->count);
    if (CREW_GET(thread->play->end) == RUN_OK)
        crew_hand(thread);
    return NULL;
}

/* Everything but the threads. */
static bool
crew_open(struct crew_play *play, unsigned starters)
{
    struct run *run = play->run;
    uint64_t n = run->cell->n;

    play->crew = crew_of(run->contender);
    play->workers = run->cell->workload->uses_t ? (unsigned)run->cell->t : 1;
    play->count = play->workers + starters;
    play->pairs = run->cell->ops != 0 ? run->cell->ops : CREW_PAIRS;
    play->pairs /= play->fires ? 4 : 1;
    play->pairs += CREW_ROUND - play->pairs % CREW_ROUND;
    play->threads =
        aligned_alloc(CREW_LINE, play->count * sizeof *play->threads);
    if (play->threads == NULL)
        return false;
    pthread_mutex_init(&play->mutex, NULL);
    pthread_cond_init(&play->came, NULL);
    for (unsigned i = 0; i < play->count; i++) {
        unsigned ring = i < play->workers ? i : i - play->workers;

        play->threads[i] = (struct crew_thread){
            .play = play,
            .number = i,
            .calls = {crew_on_fire, crew_on_stopped, &play->threads[i]},
            .own = {.first = ring * n},
            .other = {.first = (play->workers + ring) * n},
        };
    }
    for (size_t i = 0; i < run->object_count && play->crew->prepare; i++)
        play->crew->prepare(run->self, run_object(run, i));
    for (unsigned i = 0; i < play->workers; i++) {
        crew_extra(play, i)->which = CREW_IS_BEAT;
        crew_extra(play, play->workers + i)->which = CREW_IS_LAST;
    }
    return true;
}

/* Starts the threads up to the given one; how many there are. */
static unsigned
crew_launch(struct crew_play *play, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&play->threads[i].thread, NULL,
                           i < play->workers ? crew_worker : crew_starter,
                           &play->threads[i]) != 0) {
            crew_give_up(play, RUN_MEMORY);
            return i;
        }
    }
    return count;
}

static void
crew_on_left(struct object *object, void *arg)
{
    if (object->which != CREW_IS_BEAT)
        crew_note((struct crew_tally *)arg, object);
}

/* Each start has had one end, and the right one. */
static void
crew_check(struct crew_play *play)
{
    struct run *run = play->run;
    struct crew_tally started = {0}, stopped = {0}, fired = {0}, left = {0};
    struct crew_tally soon = {0}, late = {0}, ends = {0};
    uint64_t count = play->crew->left(run->self, crew_on_left, &left);

    for (unsigned i = 0; i < play->count; i++) {
        const struct crew_thread *thread = &play->threads[i];

        crew_sum(&started, &thread->started);
        crew_sum(&stopped, &thread->stopped);
        crew_sum(&fired, &thread->fired);
        crew_sum(&soon, &thread->soon);
        crew_sum(&late, &thread->late);
    }
    crew_sum(&ends, &stopped);
    crew_sum(&ends, &fired);
    crew_sum(&ends, &left);
    run->checksum = (fired.sum ^ fired.count) * UINT64_C(0x9E3779B97F4A7C15) +
                    (left.sum ^ left.count);
    if (run->end != RUN_OK || CREW_GET(play->end) != RUN_OK)
        return;
    run->wrong = !crew_same(&started, &ends) || !crew_same(&fired, &soon) ||
                 !crew_same(&left, &late) || count < left.count ||
                 count > left.count + play->workers;
    if (run->wrong)
        fprintf(stderr,
                "lawn bench: %s, %s: %" PRIu64 " starts, %" PRIu64
                " stopped, %" PRIu64 " of %" PRIu64 " fired, %" PRIu64
                " of %" PRIu64 " left: not what it should be\n",
                run->cell->workload->name, run->contender->name, started.count,
                stopped.count, fired.count, soon.count, left.count, late.count);
}

static void
crew_close(struct crew_play *play, unsigned launched)
{
    CREW_SET(play->over, true);
    if (play->serves)
        play->crew->dismiss(play->run->self);
    for (unsigned i = 0; i < launched; i++)
        pthread_join(play->threads[i].thread, NULL);
    crew_check(play);
    if (play->run->end == RUN_OK)
        play->run->end = play->end;
    pthread_mutex_destroy(&play->mutex);
    pthread_cond_destroy(&play->came);
}

/* From the first to the last; see above. */
static void
crew_keep_time(struct crew_play *play)
{
    struct run_stage *stage = &play->run->stages[0];
    uint64_t began = UINT64_MAX;
    uint64_t ended = 0;

    for (unsigned i = 0; i < play->count; i++) {
        const struct crew_thread *thread = &play->threads[i];

        if (thread->ended == 0)
            continue;
        began = thread->began < began ? thread->began : began;
        ended = thread->ended > ended ? thread->ended : ended;
    }
    for (unsigned i = 0; i < play->workers && play->posts; i++) {
        uint64_t last = crew_extra(play, play->workers + i)->ttl;

        ended = last > ended ? last : ended;
    }
    if (play->run->end != RUN_OK)
        return;
    stage->ns = (ended - began) * play->hands;
    stage->ops = play->pairs * play->hands;
    stage->checksum = play->run->checksum;
}

/* T1 to T3, and T6. */
static void
crew_play_pairs(struct crew_play *play, unsigned starters)
{
    unsigned launched;
    uint64_t patience;
    uint64_t soon;

    if (play->posts && crew_of(play->run->contender)->start_on == NULL) {
        play->run->end = RUN_UNFIT;
        return;
    }
    if (!crew_open(play, starters)) {
        play->run->end = RUN_MEMORY;
        return;
    }
    play->hands = play->remote ? starters : play->workers;
    soon = play->hands * (play->run->cell->n / 8) * (play->mixed ? 2 : 1);
    launched = crew_launch(play, play->count);
    while (!crew_ended(play))
        crew_nap(10 * CREW_PAUSE);
    patience = crew_clock() + CREW_PATIENCE;
    while (
        (CREW_GET(play->fired) < soon || CREW_GET(play->idle) < play->hands) &&
        CREW_GET(play->end) == RUN_OK && crew_clock() < patience)
        crew_nap(CREW_PAUSE);
    crew_close(play, launched);
    crew_keep_time(play);
    free(play->threads);
}

void
crew_play_local(struct run *run)
{
    struct crew_play play = {.run = run};

    crew_play_pairs(&play, 0);
}

void
crew_play_remote(struct run *run)
{
    struct crew_play play = {
        .run = run, .serves = true, .remote = true, .posts = true};

    crew_play_pairs(&play, (unsigned)run->cell->t);
}

void
crew_play_fires(struct run *run)
{
    struct crew_play play = {.run = run,
                             .serves = true,
                             .remote = true,
                             .posts = true,
                             .fires = true};

    crew_play_pairs(&play, (unsigned)run->cell->t);
}

void
crew_play_mixed(struct run *run)
{
    struct crew_play play = {.run = run, .mixed = true, .posts = true};

    crew_play_pairs(&play, 0);
}

/* Waits until the sample has fired; when, or 0 if it does not. */
static uint64_t
crew_await(struct crew_play *play)
{
    uint64_t patience = 0;

    for (unsigned i = 0; CREW_GET(play->fired_at) == 0; i++) {
        if (i < CREW_SPINS)
            continue;
        if (i == CREW_SPINS)
            patience = crew_clock() + CREW_PATIENCE;
        else if (crew_clock() > patience)
            return 0;
        sched_yield();
    }
    return CREW_GET(play->fired_at);
}

static void
crew_sample(struct crew_play *play, struct lawn_histogram *histogram)
{
    struct run *run = play->run;
    struct crew_thread *self = &play->threads[play->workers];
    uint64_t samples =
        run->cell->ops != 0 ? run->cell->ops / 200 : CREW_SAMPLES;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < samples && crew_goes_on(play, 0); i++) {
        struct object *object =
            run_object(run, run->cell->n + run->order[i % run->cell->n]);
        uint64_t since;
        uint64_t fired;

        object->which = CREW_IS_SAMPLE;
        CREW_SET(play->fired_at, 0);
        crew_nap((long)(CREW_PAUSE + random_below(&run->random, CREW_PAUSE)));
        crew_note(&self->soon, object);
        since = crew_clock();
        crew_start_one(self, object, 0, false, 0);
        fired = crew_await(play);
        if (fired == 0)
            return;
        lawn_histogram_add(histogram, fired - since);
        sum += fired - since;
    }
    run->stages[0].ns = sum;
    run->stages[0].ops = samples;
}

/* T4 and T5: this thread is the starter. */
static void
crew_play_latency(struct crew_play *play)
{
    static struct lawn_histogram histogram;
    struct run *run = play->run;
    unsigned launched;

    if (crew_of(run->contender)->start_on == NULL) {
        run->end = RUN_UNFIT;
        return;
    }
    if (!crew_open(play, 1)) {
        run->end = RUN_MEMORY;
        return;
    }
    histogram = (struct lawn_histogram){0};
    launched = crew_launch(play, play->workers);
    crew_meet(play, &play->joined, play->count);
    if (CREW_GET(play->end) == RUN_OK)
        crew_sample(play, &histogram);
    crew_close(play, launched);
    if (run->end != RUN_OK)
        run->stages[0].ops = 0;
    run->stages[0].checksum = run->checksum;
    run->latency = &histogram;
    free(play->threads);
}

void
crew_play_wake(struct run *run)
{
    struct crew_play play = {.run = run, .serves = true};

    crew_play_latency(&play);
}

void
crew_play_busy(struct run *run)
{
    struct crew_play play = {.run = run};

    crew_play_latency(&play);
}
