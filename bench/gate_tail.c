/* gate_tail.c - the worst-case work of a mow: see gate_tail.h. */
#include "gate_tail.h"
#include "lawn.h"
#include "random.h"
#include "run.h"

#include <stdlib.h>

#define TAIL_TIMERS 1000000u
#define TAIL_TTLS 1000u
#define TAIL_RANGE 60000u
#define TAIL_JUMPS 100u

struct tail_timer {
    struct lawn_timer timer;
    uint64_t ttl;
};

struct tail {
    struct lawn *lawn;
    struct tail_timer *timers;
    size_t many;
    uint64_t now;
    struct random random;
};

static void
restart_timer(struct lawn_timer *timer, void *arg)
{
    const struct tail *tail = (const struct tail *)arg;

    lawn_start(tail->lawn, timer,
               LAWN_CONTAINER(timer, struct tail_timer, timer)->ttl);
}

static void
mow_ticks(struct tail *tail, uint64_t ticks)
{
    tail->now += ticks;
    lawn_mow(tail->lawn, tail->now, SIZE_MAX, restart_timer, tail);
}

static bool
init_tail(struct tail *tail, size_t many)
{
    tail->lawn = lawn_new(NULL);
    tail->timers = calloc(many, sizeof(*tail->timers));
    tail->many = many;
    tail->now = 0;
    tail->random.state = 1;
    if (tail->lawn != NULL && tail->timers != NULL) {
        return true;
    }
    lawn_free(tail->lawn);
    free(tail->timers);
    return false;
}

static void
fini_tail(struct tail *tail, struct gate_tail *out)
{
    struct lawn_counters stats;

    lawn_stats(tail->lawn, &stats);
    out->moved = (double)stats.touched_idle;
    out->blades = (double)stats.blades;
    lawn_free(tail->lawn);
    free(tail->timers);
}

/* Restarts or stops a number of random timers. */
static void
disturb(struct tail *tail, size_t many)
{
    for (size_t i = 0; i < many; i++) {
        struct tail_timer *timer =
            &tail->timers[random_below(&tail->random, tail->many)];

        if (random_below(&tail->random, 4) == 0) {
            lawn_stop(tail->lawn, &timer->timer);
        } else {
            lawn_start(tail->lawn, &timer->timer, timer->ttl);
        }
    }
}

/* Stops all timers except every 1000th, so that most index entries are stale.
 * Mows in jumps of up to `jump` ticks until the slots of all of them were
 * opened. */
static void
make_stale(struct tail *tail, uint64_t jump)
{
    uint64_t end = tail->now + TAIL_RANGE;

    for (size_t i = 0; i < tail->many; i++) {
        if (i % 1000 != 0) {
            lawn_stop(tail->lawn, &tail->timers[i].timer);
        }
    }
    while (tail->now < end) {
        mow_ticks(tail, 1 + random_below(&tail->random, jump));
    }
}

bool
gate_tail_lived(struct gate_tail *out)
{
    struct tail tail;

    if (!init_tail(&tail, TAIL_TIMERS)) {
        return false;
    }
    for (size_t i = 0; i < tail.many; i++) {
        tail.timers[i].ttl = 1 + (1 + random_below(&tail.random, TAIL_TTLS)) *
                                     (TAIL_RANGE / TAIL_TTLS);
    }
    for (uint64_t tick = 1; tick <= TAIL_RANGE; tick++) {
        disturb(&tail, TAIL_TIMERS / TAIL_RANGE);
        mow_ticks(&tail, 1);
    }
    make_stale(&tail, 1);
    for (unsigned i = 0; i < TAIL_JUMPS; i++) {
        disturb(&tail, TAIL_TIMERS / 100);
        mow_ticks(&tail, UINT64_C(1) << random_below(&tail.random, 24));
        mow_ticks(&tail, 1);
    }
    make_stale(&tail, 256);
    fini_tail(&tail, out);
    return true;
}

bool
gate_tail_built(struct gate_tail *out, size_t timers)
{
    /* A 1 in every digit of 7 bits except the lowest two. */
    const uint64_t ttl = UINT64_C(0x8102040810204000);
    struct lawn_timer stopped = {{NULL, NULL}, 0};
    struct tail tail;

    if (!init_tail(&tail, timers)) {
        return false;
    }
    /* This timer prevents the lawn from knowing that nothing is due. */
    lawn_start(tail.lawn, &stopped, 1);
    lawn_stop(tail.lawn, &stopped);
    for (size_t i = 0; i < timers; i++) {
        lawn_start(tail.lawn, &tail.timers[i].timer, ttl + i);
    }
    uint64_t began = run_clock();
    mow_ticks(&tail, ttl - 1);
    out->ns = (double)(run_clock() - began);
    fini_tail(&tail, out);
    return true;
}
