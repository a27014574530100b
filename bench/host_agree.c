/* host_agree.c - whether a host does what it was asked for: see host_agree.h.
 *
 * Of four timers, one is left alone, one is stopped, two are restarted for
 * earlier. Rounds are taken until all are due; then the event loop sleeps until a
 * last one. Early is what fires two milliseconds before its time, as libuv is up
 * to one. */
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

struct host_agree {
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
agree_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct object *
agree_object(const struct host_agree *agree, unsigned i)
{
    return (struct object *)(void *)(agree->objects + i * agree->stride);
}

static void
agree_start(struct host_agree *agree, unsigned i, uint64_t ttl)
{
    struct object *object = agree_object(agree, i);

    object->id = i;
    object->which = CONTENDER_ANY;
    object->ttl = ttl;
    agree->host->face.start(agree->self, object, ttl);
}

static void
agree_on_fire(struct object *object, void *arg)
{
    struct host_agree *agree = arg;

    if (agree_clock() + 2 * AGREE_MS < agree->begin + object->ttl)
        agree->wrong = "a timer fired early";
    agree->fires[object->id]++;
    agree->fired++;
    if (object->id == AGREE_TIMERS)
        agree->host->quit(agree->self);
}

/* Some count from when they last looked at the clock: that is not before. */
static void
agree_begin(struct host_agree *agree)
{
    agree->begin = agree_clock();
    agree->host->turn(agree->self);
}

static void
agree_play(struct host_agree *agree)
{
    agree_begin(agree);
    for (unsigned i = 0; i < AGREE_TIMERS; i++)
        agree_start(agree, i,
                    i % AGREE_FATES == AGREE_ALONE ? AGREE_SOON : AGREE_HOUR);
    agree->host->turn(agree->self);
    for (unsigned i = 0; i < AGREE_TIMERS; i++) {
        struct object *object = agree_object(agree, i);

        if (i % AGREE_FATES == AGREE_SOONER)
            agree_start(agree, i, AGREE_MIDDLE);
        else if (i % AGREE_FATES == AGREE_SOONEST)
            agree_start(agree, i, AGREE_SOON);
        else if (i % AGREE_FATES == AGREE_STOPPED &&
                 (!agree->host->face.stop(agree->self, object) ||
                  agree->host->face.stop(agree->self, object)))
            agree->wrong = "a stop told the wrong thing";
    }
    while (agree_clock() < agree->begin + AGREE_LAST ||
           (agree->fired < AGREE_FIRES &&
            agree_clock() < agree->begin + AGREE_PATIENCE))
        agree->host->turn(agree->self);
}

/* What has become of them. */
static void
agree_judge(struct host_agree *agree)
{
    for (unsigned i = 0; i < AGREE_TIMERS && agree->wrong == NULL; i++) {
        bool stopped = i % AGREE_FATES == AGREE_STOPPED;

        if (agree->fires[i] > 1)
            agree->wrong = "a timer fired twice";
        else if (stopped && agree->fires[i] != 0)
            agree->wrong = "a stopped timer fired";
        else if (!stopped && agree->fires[i] == 0)
            agree->wrong = "a timer did not fire";
    }
}

/* The event loop sleeps until a timer ends it. */
static void
agree_serve(struct host_agree *agree)
{
    agree_begin(agree);
    agree_start(agree, AGREE_TIMERS, AGREE_SOON);
    agree->host->serve(agree->self);
    if (agree->fires[AGREE_TIMERS] != 1)
        agree->wrong = "the loop ended before its timer";
}

bool
host_agree(const struct host *host, FILE *out)
{
    struct host_agree agree = {.host = host};
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
        ((struct host_self *)agree.self)->fire = agree_on_fire;
        ((struct host_self *)agree.self)->arg = &agree;
        agree_play(&agree);
        agree_judge(&agree);
        if (agree.wrong == NULL)
            agree_serve(&agree);
        host->face.free(agree.self);
    }
    free(agree.objects);
    if (agree.wrong != NULL)
        fprintf(out, "lawn bench: %s disagrees: %s\n", host->face.name,
                agree.wrong);
    return agree.wrong == NULL;
}
