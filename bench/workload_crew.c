/* workload_crew.c - T1 to T6: several threads start and stop timers of a crew.
 *
 * A hand is a thread that starts and stops timers: a worker on its own timers
 * (T1), a thread that is not a worker (T2), or a worker on its own timers and
 * those of the next worker (T3). Half of a hand's n timers run. In a pair the
 * hand starts an idle timer and stops the one that it started n/2 pairs before;
 * it cycles through all timers in random order. Workers that are hands take a
 * turn every 256 pairs. Other workers serve, and a timer of the benchmark wakes
 * them each millisecond, so that messages do not wait forever.
 *
 * Time is measured from when the first hand begins, after a warm-up that starts
 * each timer, until the last hand has ended. If hands post messages, the last
 * hand posts one more timer to each worker, with a TTL of 0, and the time ends
 * when all of these have fired. So all messages are included. The result is the
 * time divided by the pairs of one hand. Work that a crew postpones until a
 * timer is due is not included, since no timer becomes due. An example is a
 * timer that another thread has stopped: a worker drops it when it becomes due.
 * T6 measures timers that become due.
 *
 * After that, without measuring, some timers are left running until they fire,
 * and some remain. In the end each start must have had exactly one end, timer
 * by timer: the expected timers have fired, the expected timers remain, and the
 * others were stopped. The checksum is that of the fired and the remaining
 * timers. Nothing else fires, since TTLs are minutes.
 *
 * In T6 hands are as in T2, but timers have a TTL of 0 and all fire: each
 * passes through the mailbox, the lawn and a callback. A hand whose timers are
 * all in flight waits for the oldest.
 *
 * T4 and T5 post one timer with a TTL of 0 at a time, and measure the time
 * until it fires: on a worker that sleeps, or on one that is a hand as in T1.
 */
#include "workload_crew.h"

#include "workloads.h"

#include <lawn_histogram.h>

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

void
crew_ttls(struct run *run)
{
    if (!run_list_ttls(run, CREW_TTLS)) {
        return;
    }
    for (uint64_t i = 0; i < CREW_TTLS; i++) {
        run->ttls[i] =
            CREW_LEAST + i * (CREW_LONGEST - CREW_LEAST) / (CREW_TTLS - 1);
    }
    for (size_t i = 0; i < run->object_count; i++) {
        run_choose(run, i, random_below(&run->random, CREW_TTLS));
    }
}

static void
add_tally(struct crew_tally *to, const struct crew_tally *from)
{
    to->count += from->count;
    to->sum += from->sum;
}

static bool
is_same_tally(const struct crew_tally *a, const struct crew_tally *b)
{
    return a->count == b->count && a->sum == b->sum;
}

/* Creates everything except the threads. */
static bool
open_play(struct crew_play *play, unsigned starters)
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
        aligned_alloc(CREW_LINE, play->count * sizeof(*play->threads));
    if (play->threads == NULL) {
        return false;
    }
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
    for (size_t i = 0; i < run->object_count && play->crew->prepare != NULL;
         i++) {
        play->crew->prepare(run->self, run_object(run, i));
    }
    for (unsigned i = 0; i < play->workers; i++) {
        crew_extra(play, i)->which = CREW_IS_BEAT;
        crew_extra(play, play->workers + i)->which = CREW_IS_LAST;
    }
    return true;
}

/* Starts the threads up to the given one. Returns their number. */
static unsigned
launch_threads(struct crew_play *play, unsigned count)
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
on_left(struct object *object, void *arg)
{
    if (object->which != CREW_IS_BEAT) {
        crew_note((struct crew_tally *)arg, object);
    }
}

/* Checks that each start has had one end, and the right one. */
static void
check_play(struct crew_play *play)
{
    struct run *run = play->run;
    struct crew_tally started = {0}, stopped = {0}, fired = {0}, left = {0};
    struct crew_tally soon = {0}, late = {0}, ends = {0};
    uint64_t count = play->crew->left(run->self, on_left, &left);

    for (unsigned i = 0; i < play->count; i++) {
        const struct crew_thread *thread = &play->threads[i];

        add_tally(&started, &thread->started);
        add_tally(&stopped, &thread->stopped);
        add_tally(&fired, &thread->fired);
        add_tally(&soon, &thread->soon);
        add_tally(&late, &thread->late);
    }
    add_tally(&ends, &stopped);
    add_tally(&ends, &fired);
    add_tally(&ends, &left);
    run->checksum = (fired.sum ^ fired.count) * UINT64_C(0x9E3779B97F4A7C15) +
                    (left.sum ^ left.count);
    if (run->end != RUN_OK || CREW_GET(play->end) != RUN_OK) {
        return;
    }
    run->wrong = !is_same_tally(&started, &ends) ||
                 !is_same_tally(&fired, &soon) ||
                 !is_same_tally(&left, &late) || count < left.count ||
                 count > left.count + play->workers;
    if (run->wrong) {
        fprintf(stderr,
                "lawn-bench: %s, %s: %" PRIu64 " starts, %" PRIu64
                " stopped, %" PRIu64 " of %" PRIu64 " fired, %" PRIu64
                " of %" PRIu64 " left: the counts do not match\n",
                run->cell->workload->name, run->contender->name, started.count,
                stopped.count, fired.count, soon.count, left.count, late.count);
    }
}

static void
close_play(struct crew_play *play, unsigned launched)
{
    CREW_SET(play->over, true);
    if (play->serves) {
        play->crew->dismiss(play->run->self);
    }
    for (unsigned i = 0; i < launched; i++) {
        pthread_join(play->threads[i].thread, NULL);
    }
    check_play(play);
    if (play->run->end == RUN_OK) {
        play->run->end = play->end;
    }
    pthread_mutex_destroy(&play->mutex);
    pthread_cond_destroy(&play->came);
}

/* Computes the time from the beginning of the first hand to the end of the last
 * one; see above. */
static void
keep_time(struct crew_play *play)
{
    struct run_stage *stage = &play->run->stages[0];
    uint64_t began = UINT64_MAX;
    uint64_t ended = 0;

    for (unsigned i = 0; i < play->count; i++) {
        const struct crew_thread *thread = &play->threads[i];

        if (thread->ended == 0) {
            continue;
        }
        began = thread->began < began ? thread->began : began;
        ended = thread->ended > ended ? thread->ended : ended;
    }
    for (unsigned i = 0; i < play->workers && play->posts; i++) {
        uint64_t last = crew_extra(play, play->workers + i)->ttl;

        ended = last > ended ? last : ended;
    }
    if (play->run->end != RUN_OK) {
        return;
    }
    stage->ns = (ended - began) * play->hands;
    stage->ops = play->pairs * play->hands;
    stage->checksum = play->run->checksum;
}

/* Runs T1 to T3, and T6. */
static void
play_pairs(struct crew_play *play, unsigned starters)
{

    if (play->posts && crew_of(play->run->contender)->start_on == NULL) {
        play->run->end = RUN_UNFIT;
        return;
    }
    if (!open_play(play, starters)) {
        play->run->end = RUN_MEMORY;
        return;
    }
    play->hands = play->remote ? starters : play->workers;
    uint64_t soon =
        play->hands * (play->run->cell->n / 8) * (play->mixed ? 2 : 1);
    unsigned launched = launch_threads(play, play->count);
    while (!crew_ended(play)) {
        crew_nap(10 * CREW_PAUSE);
    }
    uint64_t patience = crew_clock() + CREW_PATIENCE;
    while (
        (CREW_GET(play->fired) < soon || CREW_GET(play->idle) < play->hands) &&
        CREW_GET(play->end) == RUN_OK && crew_clock() < patience) {
        crew_nap(CREW_PAUSE);
    }
    close_play(play, launched);
    keep_time(play);
    free(play->threads);
}

void
crew_play_local(struct run *run)
{
    struct crew_play play = {.run = run};

    play_pairs(&play, 0);
}

void
crew_play_remote(struct run *run)
{
    struct crew_play play = {
        .run = run, .serves = true, .remote = true, .posts = true};

    play_pairs(&play, (unsigned)run->cell->t);
}

void
crew_play_fires(struct run *run)
{
    struct crew_play play = {.run = run,
                             .serves = true,
                             .remote = true,
                             .posts = true,
                             .fires = true};

    play_pairs(&play, (unsigned)run->cell->t);
}

void
crew_play_mixed(struct run *run)
{
    struct crew_play play = {.run = run, .mixed = true, .posts = true};

    play_pairs(&play, 0);
}

/* Waits until the sample has fired. Returns when, or 0 if it does not. */
static uint64_t
await_fire(struct crew_play *play)
{
    uint64_t patience = 0;

    for (unsigned i = 0; CREW_GET(play->fired_at) == 0; i++) {
        if (i < CREW_SPINS) {
            continue;
        }
        if (i == CREW_SPINS) {
            patience = crew_clock() + CREW_PATIENCE;
        } else if (crew_clock() > patience) {
            return 0;
        }
        sched_yield();
    }
    return CREW_GET(play->fired_at);
}

static void
sample_latency(struct crew_play *play, struct lawn_histogram *histogram)
{
    struct run *run = play->run;
    struct crew_thread *self = &play->threads[play->workers];
    uint64_t samples =
        run->cell->ops != 0 ? run->cell->ops / 200 : CREW_SAMPLES;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < samples && crew_goes_on(play, 0); i++) {
        struct object *object =
            run_object(run, run->cell->n + run->order[i % run->cell->n]);

        object->which = CREW_IS_SAMPLE;
        CREW_SET(play->fired_at, 0);
        crew_nap((long)(CREW_PAUSE + random_below(&run->random, CREW_PAUSE)));
        crew_note(&self->soon, object);
        uint64_t since = crew_clock();
        crew_start_one(self, object, 0, false, 0);
        uint64_t fired = await_fire(play);
        if (fired == 0) {
            return;
        }
        lawn_histogram_add(histogram, fired - since);
        sum += fired - since;
    }
    run->stages[0].ns = sum;
    run->stages[0].ops = samples;
}

/* Runs T4 and T5; this thread is the starter. */
static void
play_latency(struct crew_play *play)
{
    static struct lawn_histogram histogram;
    struct run *run = play->run;

    if (crew_of(run->contender)->start_on == NULL) {
        run->end = RUN_UNFIT;
        return;
    }
    if (!open_play(play, 1)) {
        run->end = RUN_MEMORY;
        return;
    }
    histogram = (struct lawn_histogram){0};
    unsigned launched = launch_threads(play, play->workers);
    crew_meet(play, &play->joined, play->count);
    if (CREW_GET(play->end) == RUN_OK) {
        sample_latency(play, &histogram);
    }
    close_play(play, launched);
    if (run->end != RUN_OK) {
        run->stages[0].ops = 0;
    }
    run->stages[0].checksum = run->checksum;
    run->latency = &histogram;
    free(play->threads);
}

void
crew_play_wake(struct run *run)
{
    struct crew_play play = {.run = run, .serves = true};

    play_latency(&play);
}

void
crew_play_busy(struct run *run)
{
    struct crew_play play = {.run = run};

    play_latency(&play);
}
