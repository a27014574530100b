/* store_agree.c - random operations on a store and on an oracle: see
 * store_agree.h. */
#include "store_agree.h"
#include "random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define AGREE_IDS 4000u /* about half of them have a timer */
#define AGREE_STEPS 100000u
#define AGREE_TTLS 20u

/* The oracle's record of a timer. */
struct store_agree_timer {
    bool running;
    uint64_t deadline;
    unsigned char payload[STORE_PAYLOAD];
};

struct store_agreement {
    const struct store *store;
    void *self;
    uint64_t seed;
    FILE *out;
    bool good;
    unsigned step;
    struct random random;
    uint64_t now;
    uint64_t running; /* number of running timers */
    uint64_t last;    /* deadline of the timer that fired last in this mow */
    struct store_agree_timer timers[AGREE_IDS];
};

__attribute__((format(printf, 2, 3))) static void
complain(struct store_agreement *agree, const char *format, ...)
{
    if (!agree->good) {
        return; /* the first error suffices */
    }
    agree->good = false;
    if (agree->out == NULL) {
        return;
    }
    fprintf(agree->out,
            "lawn-bench: %s disagrees (seed %" PRIu64 ", step %u, now %" PRIu64
            "): ",
            agree->store->face.name, agree->seed, agree->step, agree->now);
    va_list args;
    va_start(args, format);
    (void)vfprintf(agree->out, format, args);
    va_end(args);
    fputc('\n', agree->out);
}

/* Ids differ in one byte or in many; the number is at the end. */
static void
make_id(const struct store_agreement *agree, uint32_t number, unsigned char *id)
{
    uint64_t words[2] = {number % 3 == 0 ? 0 : random_mix(number + agree->seed),
                         number};

    memcpy(id, words, STORE_ID);
}

static uint64_t
choose_ttl(struct store_agreement *agree)
{
    uint64_t random = random_next(&agree->random);

    return random % 4 == 0 ? 1 + random % 5000
                           : 1 + 100 * (random % AGREE_TTLS);
}

static void
start(struct store_agreement *agree, uint32_t number)
{
    struct store_agree_timer *timer = &agree->timers[number];
    unsigned char id[STORE_ID];
    uint64_t ttl = choose_ttl(agree);

    make_id(agree, number, id);
    for (unsigned i = 0; i < STORE_PAYLOAD; i++) {
        timer->payload[i] = (unsigned char)random_next(&agree->random);
    }
    if (!agree->store->start(agree->self, id, ttl, timer->payload)) {
        complain(agree, "start of timer %" PRIu32 " failed", number);
    }
    agree->running += !timer->running;
    timer->running = true;
    timer->deadline = agree->now + ttl;
}

static void
check_result(struct store_agreement *agree, const char *what, uint32_t number,
             bool said)
{
    bool running = agree->timers[number].running;

    if (said != running) {
        complain(agree, "%s of timer %" PRIu32 " returned %s, but it is %s",
                 what, number, said ? "true" : "false",
                 running ? "running" : "idle");
    }
}

static void
stop(struct store_agreement *agree, uint32_t number)
{
    unsigned char id[STORE_ID];

    make_id(agree, number, id);
    check_result(agree, "stop", number, agree->store->stop(agree->self, id));
    agree->running -= agree->timers[number].running;
    agree->timers[number].running = false;
}

static void
touch(struct store_agreement *agree, uint32_t number)
{
    uint64_t ttl = choose_ttl(agree);

    if (agree->store->touch == NULL) {
        return;
    }
    unsigned char id[STORE_ID];
    make_id(agree, number, id);
    check_result(agree, "touch", number,
                 agree->store->touch(agree->self, id, ttl));
    agree->timers[number].deadline = agree->now + ttl;
}

/* Compares a timer that a store returned with the oracle. */
static void
compare_timer(struct store_agreement *agree, uint32_t number,
              const struct store_timer *told)
{
    const struct store_agree_timer *timer = &agree->timers[number];
    unsigned char id[STORE_ID];

    make_id(agree, number, id);
    if (memcmp(id, told->id, STORE_ID) != 0) {
        complain(agree, "timer %" PRIu32 " has another id", number);
    } else if (memcmp(timer->payload, told->payload, STORE_PAYLOAD) != 0) {
        complain(agree, "timer %" PRIu32 " has another payload", number);
    } else if (agree->store->mow != NULL && timer->deadline != told->deadline) {
        complain(agree,
                 "timer %" PRIu32 " has the deadline %" PRIu64
                 " instead of %" PRIu64,
                 number, told->deadline, timer->deadline);
    }
}

static void
get(struct store_agreement *agree, uint32_t number)
{
    unsigned char id[STORE_ID];

    make_id(agree, number, id);
    struct store_timer told;
    bool is = agree->store->get(agree->self, id, &told);
    check_result(agree, "get", number, is);
    if (is && agree->good) {
        compare_timer(agree, number, &told);
    }
}

static void
on_fire(const struct store_timer *told, void *arg)
{
    struct store_agreement *agree = (struct store_agreement *)arg;
    uint64_t words[2];

    memcpy(words, told->id, sizeof(words));
    uint32_t number = (uint32_t)words[1];
    if (words[1] >= AGREE_IDS) {
        complain(agree, "fired an id that was never started");
        return;
    }
    compare_timer(agree, number, told);
    if (!agree->timers[number].running) {
        complain(agree, "timer %" PRIu32 " fired, but it is idle", number);
    } else if (told->deadline > agree->now) {
        complain(agree, "timer %" PRIu32 " fired before it was due", number);
    } else if (told->deadline < agree->last) {
        complain(agree,
                 "timer %" PRIu32 " fired after one with a later deadline",
                 number);
    }
    agree->last = told->deadline;
    agree->running -= agree->timers[number].running;
    agree->timers[number].running = false;
}

static void
mow(struct store_agreement *agree)
{
    uint64_t random = random_next(&agree->random);
    size_t budget = random % 3 == 0 ? random % 40 : SIZE_MAX;
    uint64_t before = agree->running;

    if (agree->store->mow == NULL) {
        return;
    }
    agree->now += (random >> 32) % (random % 16 == 0 ? 3000 : 100);
    agree->last = 0;
    size_t fired =
        agree->store->mow(agree->self, agree->now, budget, on_fire, agree);
    if (fired != before - agree->running || fired > budget) {
        complain(agree, "mow with a budget of %zu returned %zu, fired %zu",
                 budget, fired, (size_t)(before - agree->running));
    }
    for (uint32_t i = 0; i < AGREE_IDS && agree->good; i++) {
        const struct store_agree_timer *timer = &agree->timers[i];

        if (!timer->running || timer->deadline > agree->now) {
            continue;
        }
        if (fired < budget) {
            complain(agree, "timer %" PRIu32 " did not fire", i);
        } else if (timer->deadline < agree->last) {
            complain(agree,
                     "timer %" PRIu32
                     " did not fire, but one with a later deadline did",
                     i);
        }
    }
}

/* Phases with more starts alternate with phases with more stops. */
static void
take_step(struct store_agreement *agree)
{
    uint64_t random = random_next(&agree->random);
    uint32_t number = (uint32_t)((random >> 32) % AGREE_IDS);
    bool growing = agree->step / 5000 % 2 == 0;

    switch (random % 16) {
    case 0:
    case 1:
    case 2:
        get(agree, number);
        break;
    case 3:
    case 4:
        touch(agree, number);
        break;
    case 5:
        if (random >> 8 & 1) {
            mow(agree);
        }
        break;
    default:
        if (random % 16 < (growing ? 14 : 8)) {
            start(agree, number);
        } else {
            stop(agree, number);
        }
    }
    if (agree->step % 64 == 0 &&
        agree->store->count(agree->self) != agree->running) {
        complain(agree, "count() is %" PRIu64 ", %" PRIu64 " are running",
                 agree->store->count(agree->self), agree->running);
    }
}

bool
store_agree_check(const struct store *store, uint64_t seed, FILE *out)
{
    struct contender_setup setup = {.now = seed % 1000};
    struct store_agreement *agree = calloc(1, sizeof(*agree));

    if (agree == NULL) {
        return false;
    }
    agree->store = store;
    agree->seed = seed;
    agree->out = out;
    agree->good = true;
    agree->random.state = seed;
    agree->now = setup.now;
    agree->self = store->face.make(&setup);
    if (agree->self == NULL) {
        complain(agree, "it could not be created");
    }
    for (; agree->good && agree->step < AGREE_STEPS; agree->step++) {
        take_step(agree);
    }
    for (uint32_t i = 0; agree->good && i < AGREE_IDS; i++) {
        get(agree, i);
    }
    if (agree->self != NULL) {
        store->face.free(agree->self);
    }
    bool good = agree->good;
    free(agree);
    return good;
}
