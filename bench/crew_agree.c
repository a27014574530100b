/* crew_agree.c - checks the behavior of a crew: see crew_agree.h.
 *
 * Two workers and a thread that is not a worker run the same short script, each
 * on its own objects. In a second run the workers serve, and only the other
 * thread acts. The script decides whether an object fires, is stopped or
 * remains. The clock is real: no timer may fire early. When the timer that was
 * started last and is due last has fired, all others must have fired. */
#include "crew_agree.h"
#include "random.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define AGREE_WORKERS 2u
#define AGREE_EACH 200u /* objects of a thread */
#define AGREE_OBJECTS (AGREE_EACH * (AGREE_WORKERS + 1))
#define AGREE_LINE 64u
#define AGREE_MS UINT64_C(1000000)
#define AGREE_HOUR (3600000 * AGREE_MS)
#define AGREE_MOST 5u /* ms; the longest short TTL */
#define AGREE_LAST (3 * AGREE_MOST * AGREE_MS)
#define AGREE_PATIENCE (2000 * AGREE_MS)

enum agree_fate { AGREE_FIRES, AGREE_STOPPED, AGREE_LEFT };

/* The record of an object; any thread may count its ends. */
struct agree_note {
    enum agree_fate fate;
    uint64_t due; /* must not fire before */
    unsigned fires;
    unsigned stops;
    unsigned left;
};

struct crew_agreement {
    const struct crew *crew;
    void *self;
    bool serves;
    uint64_t seed;
    char *objects;
    size_t stride;
    struct agree_note notes[AGREE_OBJECTS];
    unsigned joined;
    unsigned acted; /* threads that have finished their script */
    unsigned fired;
    unsigned early;
    bool failed; /* a call returned a wrong value */
    bool lacks;  /* out of memory */
    bool over;
};

struct agree_thread {
    struct crew_agreement *agree;
    unsigned number; /* AGREE_WORKERS: not a worker */
    void *worker;
    struct crew_calls calls;
};

#define AGREE_GET(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define AGREE_SET(word, value)                                                 \
    __atomic_store_n(&(word), value, __ATOMIC_RELEASE)
#define AGREE_ADD(word) __atomic_add_fetch(&(word), 1, __ATOMIC_ACQ_REL)

static struct object *
object_of(const struct crew_agreement *agree, size_t i)
{
    return (struct object *)(void *)(agree->objects + i * agree->stride);
}

static void
on_fire(struct object *object, void *arg)
{
    struct crew_agreement *agree = ((struct agree_thread *)arg)->agree;
    struct agree_note *note = &agree->notes[object->id];

    if (crew_clock() < AGREE_GET(note->due)) {
        AGREE_ADD(agree->early);
    }
    AGREE_ADD(note->fires);
    AGREE_ADD(agree->fired);
}

static void
on_stopped(struct object *object, void *arg)
{
    AGREE_ADD(((struct agree_thread *)arg)->agree->notes[object->id].stops);
}

static void
on_left(struct object *object, void *arg)
{
    ((struct crew_agreement *)arg)->notes[object->id].left++;
}

static void
nap_briefly(void)
{
    struct timespec nap = {0, 200000};

    nanosleep(&nap, NULL);
}

/* TTLs count from base, unless it is 0. */
static void
start_object(struct agree_thread *thread, size_t i, uint64_t ttl, uint64_t base)
{
    struct crew_agreement *agree = thread->agree;

    AGREE_SET(agree->notes[i].due, (base != 0 ? base : crew_clock()) + ttl);
    if (thread->worker != NULL) {
        agree->crew->start(thread->worker, object_of(agree, i), ttl);
    } else {
        agree->crew->start_on(agree->self, i % AGREE_WORKERS,
                              object_of(agree, i), ttl);
    }
}

/* `was` is whether the object's timer is running before the stop. */
static void
stop_object(struct agree_thread *thread, size_t i, bool was)
{
    struct crew_agreement *agree = thread->agree;
    enum crew_stop stop = CREW_ENDED;

    if (thread->worker != NULL) {
        stop = agree->crew->stop(thread->worker, object_of(agree, i))
                   ? CREW_STOPPED
                   : CREW_ENDED;
    } else {
        stop = agree->crew->stop_on(agree->self, i % AGREE_WORKERS,
                                    object_of(agree, i));
    }
    if (stop == CREW_STOPPED) {
        AGREE_ADD(agree->notes[i].stops);
    }
    if (stop == (was ? CREW_ENDED : CREW_STOPPED)) {
        AGREE_SET(agree->failed, true);
    }
}

/* Runs the script. Some objects are first started and stopped once. Then each
 * is started and ends as its fate requires. The first object of a thread fires
 * last. */
static void
act(struct agree_thread *thread)
{
    struct crew_agreement *agree = thread->agree;
    struct random random = {agree->seed * 100 + thread->number};
    size_t first = thread->number * AGREE_EACH;
    uint64_t base = 0;

    if (thread->worker != NULL) {
        base = crew_clock();
        agree->crew->turn(thread->worker);
    }
    for (size_t i = first + 1; i < first + AGREE_EACH; i++) {
        struct agree_note *note = &agree->notes[i];
        uint64_t soon = AGREE_MS * (1 + random_below(&random, AGREE_MOST));

        note->fate = (enum agree_fate)random_below(&random, 3);
        if (random_below(&random, 2) == 0) {
            start_object(thread, i, AGREE_HOUR, base);
            stop_object(thread, i, true);
        }
        start_object(thread, i, note->fate == AGREE_FIRES ? soon : AGREE_HOUR,
                     base);
        if (note->fate != AGREE_STOPPED) {
            continue;
        }
        stop_object(thread, i, true);
        stop_object(thread, i, false);
    }
    start_object(thread, first, AGREE_LAST, base);
    AGREE_ADD(agree->acted);
}

static void *
run_worker(void *arg)
{
    struct agree_thread *thread = (struct agree_thread *)arg;
    struct crew_agreement *agree = thread->agree;

    thread->worker =
        agree->crew->join(agree->self, thread->number, &thread->calls);
    if (thread->worker == NULL) {
        AGREE_SET(agree->lacks, true);
        AGREE_ADD(agree->joined);
        return NULL;
    }
    AGREE_ADD(agree->joined);
    if (agree->serves) {
        agree->crew->serve(thread->worker);
    } else {
        act(thread);
        while (!AGREE_GET(agree->over)) {
            agree->crew->turn(thread->worker);
            nap_briefly();
        }
    }
    agree->crew->leave(thread->worker);
    return NULL;
}

/* Returns the number of objects that must fire. */
static unsigned
count_expected(const struct crew_agreement *agree, unsigned threads)
{
    unsigned first = agree->serves ? AGREE_WORKERS * AGREE_EACH : 0;
    unsigned expected = 0;

    for (unsigned i = first; i < first + threads * AGREE_EACH; i++) {
        expected += agree->notes[i].fate == AGREE_FIRES;
    }
    return expected;
}

/* Checks that each object has ended as expected. Unused objects have no end. */
static bool
judge(struct crew_agreement *agree, unsigned threads, FILE *out)
{
    unsigned first = agree->serves ? AGREE_WORKERS * AGREE_EACH : 0;
    const char *fault = agree->lacks       ? "out of memory"
                        : agree->early > 0 ? "a timer fired early"
                        : agree->failed    ? "a stop returned the wrong result"
                                           : NULL;

    for (unsigned i = first; i < first + threads * AGREE_EACH && fault == NULL;
         i++) {
        const struct agree_note *note = &agree->notes[i];

        if (note->fires != (note->fate == AGREE_FIRES)) {
            fault = note->fires == 0
                        ? "a timer did not fire"
                        : "a timer fired that should not have fired";
        } else if (note->left != (note->fate == AGREE_LEFT)) {
            fault = "the wrong timers are still running";
        } else if (note->fate == AGREE_STOPPED && note->stops == 0) {
            fault = "the result of a stop was not reported";
        }
    }
    if (fault != NULL) {
        fprintf(out,
                "lawn-bench: %s disagrees (seed %" PRIu64 ", in %s()): %s\n",
                agree->crew->face.name, agree->seed,
                agree->serves ? "serve" : "turn", fault);
    }
    return fault == NULL;
}

/* Runs the script while the threads run; the calling thread is the one that is
 * not a worker. */
static void
act_outside(struct crew_agreement *agree, unsigned threads)
{
    struct agree_thread self = {.agree = agree, .number = AGREE_WORKERS};
    uint64_t patience = crew_clock() + AGREE_PATIENCE;

    while (AGREE_GET(agree->joined) < AGREE_WORKERS) {
        nap_briefly();
    }
    if (agree->crew->start_on != NULL && !AGREE_GET(agree->lacks)) {
        act(&self);
    }
    while (crew_clock() < patience && !AGREE_GET(agree->lacks) &&
           (AGREE_GET(agree->acted) < threads ||
            AGREE_GET(agree->fired) < count_expected(agree, threads))) {
        nap_briefly();
    }
    AGREE_SET(agree->over, true);
    if (agree->serves) {
        agree->crew->dismiss(agree->self);
    }
}

static bool
play(struct crew_agreement *agree, FILE *out)
{
    const struct contender_setup setup = {.objects = AGREE_OBJECTS,
                                          .workers = AGREE_WORKERS,
                                          .longest = AGREE_HOUR};
    unsigned threads =
        (agree->serves ? 0 : AGREE_WORKERS) + (agree->crew->start_on != NULL);
    uint64_t left = 0;

    agree->self = agree->crew->face.make(&setup);
    if (agree->self == NULL) {
        fprintf(out, "lawn-bench: %s: out of memory\n", agree->crew->face.name);
        return false;
    }
    for (unsigned i = 0; i < AGREE_OBJECTS; i++) {
        if (agree->crew->prepare != NULL) {
            agree->crew->prepare(agree->self, object_of(agree, i));
        }
    }
    struct agree_thread workers[AGREE_WORKERS];
    pthread_t ids[AGREE_WORKERS];
    for (unsigned i = 0; i < AGREE_WORKERS; i++) {
        workers[i] =
            (struct agree_thread){.agree = agree,
                                  .number = i,
                                  .calls = {on_fire, on_stopped, &workers[i]}};
        if (pthread_create(&ids[i], NULL, run_worker, &workers[i]) != 0) {
            abort();
        }
    }
    act_outside(agree, threads);
    for (unsigned i = 0; i < AGREE_WORKERS; i++) {
        pthread_join(ids[i], NULL);
    }
    uint64_t count = agree->crew->left(agree->self, on_left, agree);
    for (unsigned i = 0; i < AGREE_OBJECTS; i++) {
        left += agree->notes[i].left;
    }
    agree->failed = agree->failed || count != left;
    agree->crew->face.free(agree->self);
    return judge(agree, threads, out);
}

bool
crew_agree_check(const struct crew *crew, uint64_t seed, FILE *out)
{
    struct crew_agreement *agree = calloc(1, sizeof(*agree));
    bool agrees = agree != NULL;

    for (unsigned i = 0; i < (crew->serve != NULL ? 2 : 1) && agrees; i++) {
        memset(agree, 0, sizeof(*agree));
        agree->crew = crew;
        agree->serves = i == 1;
        agree->seed = seed;
        agree->stride =
            (sizeof(struct object) + crew->face.node + AGREE_LINE - 1) &
            ~(size_t)(AGREE_LINE - 1);
        agree->objects =
            aligned_alloc(AGREE_LINE, AGREE_OBJECTS * agree->stride);
        agrees = agree->objects != NULL;
        if (!agrees) {
            break;
        }
        memset(agree->objects, 0, AGREE_OBJECTS * agree->stride);
        for (unsigned id = 0; id < AGREE_OBJECTS; id++) {
            object_of(agree, id)->id = id;
        }
        agrees = play(agree, out);
        free(agree->objects);
    }
    free(agree);
    return agrees;
}
