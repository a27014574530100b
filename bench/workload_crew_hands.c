/* workload_crew_hands.c - the threads of T1 to T6, workers and hands: see
 * workload_crew.c. */
#include "workload_crew.h"

#include <sched.h>

void
crew_give_up(struct crew_play *play, enum run_end end)
{
    CREW_SET(play->end, end);
    pthread_mutex_lock(&play->mutex);
    pthread_cond_broadcast(&play->came);
    pthread_mutex_unlock(&play->mutex);
}

void
crew_meet(struct crew_play *play, unsigned *came, unsigned need)
{
    pthread_mutex_lock(&play->mutex);
    if (++*came >= need) {
        pthread_cond_broadcast(&play->came);
    }
    while (*came < need && CREW_GET(play->end) == RUN_OK) {
        pthread_cond_wait(&play->came, &play->mutex);
    }
    pthread_mutex_unlock(&play->mutex);
}

void
crew_nap(long ns)
{
    struct timespec nap = {0, ns};

    nanosleep(&nap, NULL);
}

struct object *
crew_extra(const struct crew_play *play, unsigned which)
{
    return run_object(play->run,
                      2 * play->run->cell->n * play->workers + which);
}

void
crew_on_fire(struct object *object, void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;
    struct crew_play *play = thread->play;

    if (object->which == CREW_IS_BEAT) {
        if (!CREW_GET(play->over)) {
            play->crew->start(thread->worker, object, CREW_BEAT);
        }
        return;
    }
    if (object->which == CREW_IS_LAST) {
        /* Its ttl field stores the time. */
        object->ttl = crew_clock();
        CREW_ADD(play->last);
        return;
    }
    crew_note(&thread->fired, object);
    if (object->which == CREW_IS_UNDER_WAY) {
        CREW_SET(object->which, 0);
        return;
    }
    if (object->which == CREW_IS_SAMPLE) {
        CREW_SET(play->fired_at, crew_clock());
    }
    CREW_ADD(play->fired);
}

void
crew_on_stopped(struct object *object, void *arg)
{
    crew_note(&((struct crew_thread *)arg)->stopped, object);
}

static inline void
stop_one(struct crew_thread *thread, struct object *object, bool local,
         unsigned owner)
{
    const struct crew *crew = thread->play->crew;

    if (local ? crew->stop(thread->worker, object)
              : crew->stop_on(thread->play->run->self, owner, object) ==
                    CREW_STOPPED) {
        crew_note(&thread->stopped, object);
    }
}

/* Returns the worker that owns the object in a place of a ring. The objects of
 * a starter are distributed over all workers in turn. */
static inline unsigned
owner_of(const struct crew_thread *thread, size_t place)
{
    const struct crew_play *play = thread->play;

    if (play->remote) {
        return (unsigned)(place % play->workers);
    }
    return thread->number + 1 < play->workers ? thread->number + 1 : 0;
}

static inline void
start_next(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    size_t place = ring->start;
    struct object *object = run_object(run, ring->first + run->order[place]);

    ring->start = place + 1 < run->cell->n ? place + 1 : 0;
    crew_start_one(thread, object, object->ttl, local, owner_of(thread, place));
}

static inline void
stop_next(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    size_t place = ring->stop;

    ring->stop = place + 1 < run->cell->n ? place + 1 : 0;
    stop_one(thread, run_object(run, ring->first + run->order[place]), local,
             owner_of(thread, place));
}

static void
fill_ring(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    uint64_t n = thread->play->run->cell->n;

    for (uint64_t i = 0; i < n / 2; i++) {
        start_next(thread, ring, local);
    }
}

/* Stops running timers; then starts some that will fire, and some that will
 * not. */
static void
leave_some(struct crew_thread *thread, struct crew_ring *ring, bool local)
{
    struct run *run = thread->play->run;
    uint64_t n = run->cell->n;

    for (uint64_t i = 0; i < n / 2 && !thread->play->fires; i++) {
        stop_next(thread, ring, local);
    }
    for (uint64_t i = 0; i < n / 4; i++) {
        struct object *object = run_object(run, ring->first + run->order[i]);
        bool soon = i < n / 8;

        crew_note(soon ? &thread->soon : &thread->late, object);
        crew_start_one(thread, object, soon ? CREW_SOON : object->ttl, local,
                       owner_of(thread, i));
    }
}

bool
crew_goes_on(struct crew_play *play, uint64_t round)
{
    if (CREW_GET(play->end) != RUN_OK) {
        return false;
    }
    if (round % 64 != 0) {
        return true;
    }
    if (run_interrupted()) {
        crew_give_up(play, RUN_STOPPED);
    } else if (crew_clock() > play->run->limit) {
        crew_give_up(play, RUN_SLOW);
    }
    return CREW_GET(play->end) == RUN_OK;
}

static void
play_local_pairs(struct crew_thread *thread, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        start_next(thread, &thread->own, true);
        stop_next(thread, &thread->own, true);
    }
}

static void
play_remote_pairs(struct crew_thread *thread, struct crew_ring *ring,
                  uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        start_next(thread, ring, false);
        stop_next(thread, ring, false);
    }
}

static void
play_mixed_pairs(struct crew_thread *thread, uint64_t pairs)
{
    for (uint64_t i = 0; i < pairs; i++) {
        if (i % 10 == 9) {
            play_remote_pairs(thread, &thread->other, 1);
        } else {
            play_local_pairs(thread, 1);
        }
    }
}

/* T6: waits for the oldest timer if all are in flight. */
static void
play_remote_fires(struct crew_thread *thread, uint64_t count)
{
    struct run *run = thread->play->run;
    struct crew_ring *ring = &thread->own;

    for (uint64_t i = 0; i < count; i++) {
        size_t place = ring->start;
        struct object *object =
            run_object(run, ring->first + run->order[place]);

        while (CREW_GET(object->which) == CREW_IS_UNDER_WAY) {
            if (!crew_goes_on(thread->play, 0)) {
                return;
            }
            sched_yield();
        }
        object->which = CREW_IS_UNDER_WAY;
        ring->start = place + 1 < run->cell->n ? place + 1 : 0;
        crew_note(&thread->soon, object);
        crew_start_one(thread, object, 0, false, owner_of(thread, place));
    }
}

static void
play_pairs(struct crew_thread *thread, uint64_t pairs)
{
    struct crew_play *play = thread->play;

    for (uint64_t i = 0; i < pairs && crew_goes_on(play, i / CREW_ROUND);
         i += CREW_ROUND) {
        if (play->fires) {
            play_remote_fires(thread, CREW_ROUND);
            continue;
        }
        if (play->remote) {
            play_remote_pairs(thread, &thread->own, CREW_ROUND);
            continue;
        }
        play->crew->turn(thread->worker);
        if (play->mixed) {
            play_mixed_pairs(thread, CREW_ROUND);
        } else {
            play_local_pairs(thread, CREW_ROUND);
        }
    }
}

/* The last hand posts the timers that must fire after all messages. */
static void
end_hand(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;

    thread->ended = crew_clock();
    if (CREW_ADD(play->done) < play->hands || !play->posts) {
        return;
    }
    for (unsigned i = 0; i < play->workers; i++) {
        play->crew->start_on(play->run->self, i,
                             crew_extra(play, play->workers + i), 0);
    }
}

bool
crew_ended(struct crew_play *play)
{
    return CREW_GET(play->end) != RUN_OK ||
           (CREW_GET(play->done) == play->hands &&
            (!play->posts || CREW_GET(play->last) == play->workers));
}

/* Runs at least for CREW_WARM, so that the system assigns a processor to each
 * thread, and until each timer was started twice. With --quick, runs only a
 * part of the pairs. In T6 the number of operations does not depend on the
 * time: timers of the warm-up fire, too, and the checksum of the fired timers
 * must be the same for all crews. */
static void
warm_up(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;
    uint64_t until = crew_clock() + CREW_WARM;
    uint64_t pairs = play->pairs / (play->fires ? 2 : 8);

    if (play->run->cell->ops == 0 && pairs < 2 * play->run->cell->n) {
        pairs = 2 * play->run->cell->n;
    }
    do {
        play_pairs(thread, pairs);
    } while (play->run->cell->ops == 0 && !play->fires &&
             crew_clock() < until && CREW_GET(play->end) == RUN_OK);
}

static void
play_hand(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;
    bool local = !play->remote;

    if (!play->fires) {
        fill_ring(thread, &thread->own, local);
    }
    if (play->mixed) {
        fill_ring(thread, &thread->other, false);
    }
    warm_up(thread);
    crew_meet(play, &play->warm, play->hands);
    thread->began = crew_clock();
    play_pairs(thread, play->pairs);
    end_hand(thread);
    while (!crew_ended(play)) {
        if (!local || !play->posts) {
            crew_nap(CREW_PAUSE);
            continue;
        }
        play->crew->turn(thread->worker);
        sched_yield();
    }
    leave_some(thread, &thread->own, local);
    if (play->mixed) {
        leave_some(thread, &thread->other, false);
    }
    CREW_ADD(play->idle);
    while (local && !CREW_GET(play->over)) {
        play->crew->turn(thread->worker);
        crew_nap(CREW_PAUSE);
    }
}

/* The worker of T5. */
static void
be_busy(struct crew_thread *thread)
{
    struct crew_play *play = thread->play;

    fill_ring(thread, &thread->own, true);
    while (!CREW_GET(play->over)) {
        play_local_pairs(thread, CREW_ROUND_BUSY);
        play->crew->turn(thread->worker);
    }
    for (uint64_t i = 0; i < play->run->cell->n / 2; i++) {
        stop_next(thread, &thread->own, true);
    }
}

void *
crew_worker(void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;
    struct crew_play *play = thread->play;

    thread->worker =
        play->crew->join(play->run->self, thread->number, &thread->calls);
    if (thread->worker == NULL) {
        crew_give_up(play, RUN_MEMORY);
    } else if (play->serves && play->hands > 0) {
        play->crew->start(thread->worker, crew_extra(play, thread->number),
                          CREW_BEAT);
    }
    crew_meet(play, &play->joined, play->count);
    if (thread->worker == NULL) {
        return NULL;
    }
    if (play->serves) {
        play->crew->serve(thread->worker);
    } else if (play->hands > 0) {
        play_hand(thread);
    } else {
        be_busy(thread);
    }
    play->crew->leave(thread->worker);
    return NULL;
}

void *
crew_starter(void *arg)
{
    struct crew_thread *thread = (struct crew_thread *)arg;

    crew_meet(thread->play, &thread->play->joined, thread->play->count);
    if (CREW_GET(thread->play->end) == RUN_OK) {
        play_hand(thread);
    }
    return NULL;
}
