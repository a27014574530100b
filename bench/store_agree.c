/* store_agree.c - random operations on a store and on an oracle: see
 * store_agree.h. */
#include "store_agree.h"
#include "random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define AGREE_IDS 4000u /* of which about half have a timer */
#define AGREE_STEPS 100000u
#define AGREE_TTLS 20u

/* What the oracle knows of a timer. */
struct store_agree_timer {
    bool running;
    uint64_t deadline;
    unsigned char payload[STORE_PAYLOAD];
};

struct store_agree {
    const struct store *store;
    void *self;
    uint64_t seed;
    FILE *out;
    bool good;
    unsigned step;
    struct random random;
    uint64_t now;
    uint64_t running; /* how many */
    uint64_t last;    /* deadline that fired in this mow */
    struct store_agree_timer timers[AGREE_IDS];
};

__attribute__((format(printf, 2, 3))) static void
store_agree_complain(struct store_agree *agree, const char *format, ...)
{
    va_list args;

    if (!agree->good)
        return; /* the first says it all */
    agree->good = false;
    if (agree->out == NULL)
        return;
    fprintf(agree->out,
            "%s disagrees (seed %" PRIu64 ", step %u, now %" PRIu64 "): ",
            agree->store->face.name, agree->seed, agree->step, agree->now);
    va_start(args, format);
    (void)vfprintf(agree->out, format, args);
    va_end(args);
    fputc('\n', agree->out);
}

/* Ids differ in one byte or in many; the number stands at the end. */
static void
store_agree_id(const struct store_agree *agree, uint32_t number,
               unsigned char *id)
{
    uint64_t words[2] = {number % 3 == 0 ? 0 : random_mix(number + agree->seed),
                         number};

    memcpy(id, words, STORE_ID);
}

static uint64_t
store_agree_ttl(struct store_agree *agree)
{
    uint64_t random = random_next(&agree->random);

    return random % 4 == 0 ? 1 + random % 5000
                           : 1 + 100 * (random % AGREE_TTLS);
}

static void
store_agree_start(struct store_agree *agree, uint32_t number)
{
    struct store_agree_timer *timer = &agree->timers[number];
    unsigned char id[STORE_ID];
    uint64_t ttl = store_agree_ttl(agree);

    store_agree_id(agree, number, id);
    for (unsigned i = 0; i < STORE_PAYLOAD; i++)
        timer->payload[i] = (unsigned char)random_next(&agree->random);
    if (!agree->store->start(agree->self, id, ttl, timer->payload))
        store_agree_complain(agree, "start of timer %" PRIu32 " failed",
                             number);
    agree->running += !timer->running;
    timer->running = true;
    timer->deadline = agree->now + ttl;
}

static void
store_agree_truth(struct store_agree *agree, const char *what, uint32_t number,
                  bool said)
{
    bool running = agree->timers[number].running;

    if (said != running)
        store_agree_complain(
            agree, "%s of timer %" PRIu32 " returned %s, but it is %s", what,
            number, said ? "true" : "false", running ? "running" : "idle");
}

static void
store_agree_stop(struct store_agree *agree, uint32_t number)
{
    unsigned char id[STORE_ID];

    store_agree_id(agree, number, id);
    store_agree_truth(agree, "stop", number,
                      agree->store->stop(agree->self, id));
    agree->running -= agree->timers[number].running;
    agree->timers[number].running = false;
}

static void
store_agree_touch(struct store_agree *agree, uint32_t number)
{
    unsigned char id[STORE_ID];
    uint64_t ttl = store_agree_ttl(agree);

    if (agree->store->touch == NULL)
        return;
    store_agree_id(agree, number, id);
    store_agree_truth(agree, "touch", number,
                      agree->store->touch(agree->self, id, ttl));
    agree->timers[number].deadline = agree->now + ttl;
}

/* Compares what a store has told of a timer. */
static void
store_agree_compare(struct store_agree *agree, uint32_t number,
                    const struct store_timer *told)
{
    const struct store_agree_timer *timer = &agree->timers[number];
    unsigned char id[STORE_ID];

    store_agree_id(agree, number, id);
    if (memcmp(id, told->id, STORE_ID) != 0)
        store_agree_complain(agree, "timer %" PRIu32 " has another id", number);
    else if (memcmp(timer->payload, told->payload, STORE_PAYLOAD) != 0)
        store_agree_complain(agree, "timer %" PRIu32 " has another payload",
                             number);
    else if (agree->store->mow != NULL && timer->deadline != told->deadline)
        store_agree_complain(agree,
                             "timer %" PRIu32 " has the deadline %" PRIu64
                             " instead of %" PRIu64,
                             number, told->deadline, timer->deadline);
}

static void
store_agree_get(struct store_agree *agree, uint32_t number)
{
    struct store_timer told;
    unsigned char id[STORE_ID];
    bool is;

    store_agree_id(agree, number, id);
    is = agree->store->get(agree->self, id, &told);
    store_agree_truth(agree, "get", number, is);
    if (is && agree->good)
        store_agree_compare(agree, number, &told);
}

static void
store_agree_fire(const struct store_timer *told, void *arg)
{
    struct store_agree *agree = (struct store_agree *)arg;
    uint64_t words[2];
    uint32_t number;

    memcpy(words, told->id, sizeof words);
    number = (uint32_t)words[1];
    if (words[1] >= AGREE_IDS) {
        store_agree_complain(agree, "fired an id that was never started");
        return;
    }
    store_agree_compare(agree, number, told);
    if (!agree->timers[number].running)
        store_agree_complain(agree, "timer %" PRIu32 " fired, but it is idle",
                             number);
    else if (told->deadline > agree->now)
        store_agree_complain(agree, "timer %" PRIu32 " fired before it was due",
                             number);
    else if (told->deadline < agree->last)
        store_agree_complain(
            agree, "timer %" PRIu32 " fired after one with a later deadline",
            number);
    agree->last = told->deadline;
    agree->running -= agree->timers[number].running;
    agree->timers[number].running = false;
}

static void
store_agree_mow(struct store_agree *agree)
{
    uint64_t random = random_next(&agree->random);
    size_t budget = random % 3 == 0 ? random % 40 : SIZE_MAX;
    uint64_t before = agree->running;
    size_t fired;

    if (agree->store->mow == NULL)
        return;
    agree->now += (random >> 32) % (random % 16 == 0 ? 3000 : 100);
    agree->last = 0;
    fired = agree->store->mow(agree->self, agree->now, budget, store_agree_fire,
                              agree);
    if (fired != before - agree->running || fired > budget)
        store_agree_complain(agree,
                             "mow with a budget of %zu returned %zu, fired %zu",
                             budget, fired, (size_t)(before - agree->running));
    for (uint32_t i = 0; i < AGREE_IDS && agree->good; i++) {
        const struct store_agree_timer *timer = &agree->timers[i];

        if (!timer->running || timer->deadline > agree->now)
            continue;
        if (fired < budget)
            store_agree_complain(agree, "timer %" PRIu32 " did not fire", i);
        else if (timer->deadline < agree->last)
            store_agree_complain(
                agree, "timer %" PRIu32 " was passed over by later ones", i);
    }
}

/* In turn there are more starts, and more stops. */
static void
store_agree_step(struct store_agree *agree)
{
    uint64_t random = random_next(&agree->random);
    uint32_t number = (uint32_t)((random >> 32) % AGREE_IDS);
    bool growing = agree->step / 5000 % 2 == 0;

    switch (random % 16) {
    case 0:
    case 1:
    case 2:
        store_agree_get(agree, number);
        break;
    case 3:
    case 4:
        store_agree_touch(agree, number);
        break;
    case 5:
        if (random >> 8 & 1)
            store_agree_mow(agree);
        break;
    default:
        if (random % 16 < (growing ? 14 : 8))
            store_agree_start(agree, number);
        else
            store_agree_stop(agree, number);
    }
    if (agree->step % 64 == 0 &&
        agree->store->count(agree->self) != agree->running)
        store_agree_complain(agree,
                             "count() is %" PRIu64 ", %" PRIu64 " are running",
                             agree->store->count(agree->self), agree->running);
}

bool
store_agree(const struct store *store, uint64_t seed, FILE *out)
{
    struct contender_setup setup = {.now = seed % 1000};
    struct store_agree *agree = calloc(1, sizeof *agree);
    bool good;

    if (agree == NULL)
        return false;
    agree->store = store;
    agree->seed = seed;
    agree->out = out;
    agree->good = true;
    agree->random.state = seed;
    agree->now = setup.now;
    agree->self = store->face.make(&setup);
    if (agree->self == NULL)
        store_agree_complain(agree, "it could not be made");
    for (; agree->good && agree->step < AGREE_STEPS; agree->step++)
        store_agree_step(agree);
    for (uint32_t i = 0; agree->good && i < AGREE_IDS; i++)
        store_agree_get(agree, i);
    if (agree->self != NULL)
        store->face.free(agree->self);
    good = agree->good;
    free(agree);
    return good;
}
