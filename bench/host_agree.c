/* host_agree.c - checks the behavior of a host: see host_agree.h.
 *
 * Of four timers, one is left alone, one is stopped, and two are restarted with
 * an earlier deadline. Rounds are run until all are due; then the event loop
 * sleeps until a last one. A timer counts as early if it fires more than two
 * milliseconds before its deadline; libuv is up to one millisecond early. */
#include "host_agree.h"

#include <stdlib.h>
#include <time.h>

#define AGREE_TIMERS 64u
#define AGREE_LINE 64u
#define AGREE_MS UINT64_C(1000000)
#define AGREE_SOON (5 * AGREE_MS)
#define AGREE_MIDDLE (10 * AGREE_MS)
#define AGREE_LAST (20 * AGREE_MS)
#define AGREE_PATIENCE (2000 * AGREE_MS)
#define AGREE_HOUR (3600000 * AGREE_MS)

/* One in four is stopped. */
#define AGREE_FIRES (AGREE_TIMERS / 4 * 3)

enum { AGREE_ALONE, AGREE_STOPPED, AGREE_SOONER, AGREE_SOONEST, AGREE_FATES };

struct host_agreement {
    const struct host *host;
    void *self;
    char *objects;
    size_t stride;
    uint64_t begin;
    unsigned fires[AGREE_TIMERS + 1];
    unsigned fired;
    const char *wrong;
};

static uint64_t
read_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct object *
object_of(const struct host_agreement *agree, unsigned i)
{
    return (struct object *)(void *)(agree->objects + i * agree->stride);
}

static void
start(struct host_agreement *agree, unsigned i, uint64_t ttl)
{
    struct object *object = object_of(agree, i);

    object->id = i;
    object->which = CONTENDER_ANY;
    object->ttl = ttl;
    agree->host->face.start(agree->self, object, ttl);
}

static void
on_fire(struct object *object, void *arg)
{
    struct host_agreement *agree = arg;

    if (read_clock() + 2 * AGREE_MS < agree->begin + object->ttl) {
        agree->wrong = "a timer fired early";
    }
    agree->fires[object->id]++;
    agree->fired++;
    if (object->id == AGREE_TIMERS) {
        agree->host->quit(agree->self);
    }
}

/* Some loops count from the last time at which they read the clock. A turn
 * makes them read it, so they do not count from a time before begin. */
static void
begin_play(struct host_agreement *agree)
{
    agree->begin = read_clock();
    agree->host->turn(agree->self);
}

static void
play(struct host_agreement *agree)
{
    begin_play(agree);
    for (unsigned i = 0; i < AGREE_TIMERS; i++) {
        start(agree, i,
              i % AGREE_FATES == AGREE_ALONE ? AGREE_SOON : AGREE_HOUR);
    }
    agree->host->turn(agree->self);
    for (unsigned i = 0; i < AGREE_TIMERS; i++) {
        struct object *object = object_of(agree, i);

        if (i % AGREE_FATES == AGREE_SOONER) {
            start(agree, i, AGREE_MIDDLE);
        } else if (i % AGREE_FATES == AGREE_SOONEST) {
            start(agree, i, AGREE_SOON);
        } else if (i % AGREE_FATES == AGREE_STOPPED &&
                   (!agree->host->face.stop(agree->self, object) ||
                    agree->host->face.stop(agree->self, object))) {
            agree->wrong = "a stop returned the wrong result";
        }
    }
    while (read_clock() < agree->begin + AGREE_LAST ||
           (agree->fired < AGREE_FIRES &&
            read_clock() < agree->begin + AGREE_PATIENCE)) {
        agree->host->turn(agree->self);
    }
}

/* Checks which timers have fired. */
static void
judge(struct host_agreement *agree)
{
    for (unsigned i = 0; i < AGREE_TIMERS && agree->wrong == NULL; i++) {
        bool stopped = i % AGREE_FATES == AGREE_STOPPED;

        if (agree->fires[i] > 1) {
            agree->wrong = "a timer fired twice";
        } else if (stopped && agree->fires[i] != 0) {
            agree->wrong = "a stopped timer fired";
        } else if (!stopped && agree->fires[i] == 0) {
            agree->wrong = "a timer did not fire";
        }
    }
}

/* Lets the event loop sleep until a timer ends it. */
static void
serve_loop(struct host_agreement *agree)
{
    begin_play(agree);
    start(agree, AGREE_TIMERS, AGREE_SOON);
    agree->host->serve(agree->self);
    if (agree->fires[AGREE_TIMERS] != 1) {
        agree->wrong = "the loop ended before its timer";
    }
}

bool
host_agree_check(const struct host *host, FILE *out)
{
    struct host_agreement agree = {.host = host};
    struct contender_setup setup = {.objects = AGREE_TIMERS + 1,
                                    .longest = AGREE_HOUR};

    agree.stride =
        (offsetof(struct object, node) + host->face.node + AGREE_LINE - 1) &
        ~(size_t)(AGREE_LINE - 1);
    agree.objects = calloc(AGREE_TIMERS + 1, agree.stride);
    agree.self = agree.objects != NULL ? host->face.make(&setup) : NULL;
    if (agree.self == NULL) {
        agree.wrong = "out of memory";
    } else {
        ((struct host_self *)agree.self)->fire = on_fire;
        ((struct host_self *)agree.self)->arg = &agree;
        play(&agree);
        judge(&agree);
        if (agree.wrong == NULL) {
            serve_loop(&agree);
        }
        host->face.free(agree.self);
    }
    free(agree.objects);
    if (agree.wrong != NULL) {
        fprintf(out, "lawn-bench: %s disagrees: %s\n", host->face.name,
                agree.wrong);
    }
    return agree.wrong == NULL;
}
