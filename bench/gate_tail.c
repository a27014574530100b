/* gate_tail.c - the worst-case work of one call: see gate_tail.h. */
#include "gate_tail.h"
#include "lawn.h"
#include "random.h"

#include <stdlib.h>

#define TAIL_RANGE 60000u /* ticks; minimum of the longest TTL */
#define TAIL_JUMPS 100u
/* As in tests/unit/bounded.c: a tick in a slot of level 3, and the number of
 * deadlines there. */
#define TAIL_FAR (UINT64_C(1) << 22)
#define TAIL_SPREAD 977u

struct tail_timer {
    struct lawn_timer timer;
    uint64_t ttl;
};

struct tail {
    struct lawn *lawn;
    struct tail_timer *timers;
    size_t many;
    size_t budget;
    uint64_t longest; /* TTL */
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
    while (lawn_mow(tail->lawn, tail->now, tail->budget, restart_timer, tail) ==
           tail->budget) {
    }
}

static bool
init_tail(struct tail *tail, size_t many, size_t budget)
{
    tail->lawn = lawn_new(NULL);
    tail->timers = calloc(many, sizeof(*tail->timers));
    tail->many = many;
    tail->budget = budget;
    tail->now = 0;
    tail->random.state = 1;
    if (tail->lawn != NULL && tail->timers != NULL) {
        return true;
    }
    lawn_free(tail->lawn);
    free(tail->timers);
    return false;
}

/* Returns the largest number of entries. */
static double
fini_tail(struct tail *tail)
{
    struct lawn_counters stats;

    lawn_stats(tail->lawn, &stats);
    lawn_free(tail->lawn);
    free(tail->timers);
    return (double)stats.touched_idle;
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
 * Mows in jumps of up to `jump` ticks until all deadlines have passed. */
static void
make_stale(struct tail *tail, uint64_t jump)
{
    uint64_t end = tail->now + tail->longest;

    for (size_t i = 0; i < tail->many; i++) {
        if (i % 1000 != 0) {
            lawn_stop(tail->lawn, &tail->timers[i].timer);
        }
    }
    while (tail->now < end) {
        mow_ticks(tail, 1 + random_below(&tail->random, jump));
    }
}

double
gate_tail_lived(size_t timers, uint64_t ttls, size_t budget)
{
    struct tail tail;

    if (!init_tail(&tail, timers, budget)) {
        return -1;
    }
    tail.longest = ttls > TAIL_RANGE ? ttls : TAIL_RANGE;
    for (size_t i = 0; i < tail.many; i++) {
        tail.timers[i].ttl =
            (1 + random_below(&tail.random, ttls)) * (tail.longest / ttls);
        lawn_start(tail.lawn, &tail.timers[i].timer, tail.timers[i].ttl);
    }
    for (uint64_t tick = 1; tick <= tail.longest; tick++) {
        disturb(&tail, tail.many / tail.longest);
        mow_ticks(&tail, 1);
    }
    make_stale(&tail, 1);
    for (unsigned i = 0; i < TAIL_JUMPS; i++) {
        disturb(&tail, tail.many / 100);
        mow_ticks(&tail, UINT64_C(1) << random_below(&tail.random, 24));
        mow_ticks(&tail, 1);
    }
    make_stale(&tail, 256);
    return fini_tail(&tail);
}

static void
ignore_timer(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    (void)arg;
}

double
gate_tail_crowded(size_t timers, size_t budget)
{
    struct lawn_timer stopped = {{NULL, NULL}, 0};
    struct tail tail;

    if (!init_tail(&tail, timers, budget)) {
        return -1;
    }
    /* With a TTL of 0 they are unqueued. */
    for (size_t i = 0; i < timers; i++) {
        lawn_start_as(tail.lawn, &tail.timers[i].timer, 0,
                      TAIL_FAR + i % TAIL_SPREAD);
    }
    lawn_start_as(tail.lawn, &stopped, 0, TAIL_FAR - 1);
    lawn_stop(tail.lawn, &stopped);
    while (lawn_count(tail.lawn) > 0) {
        lawn_mow(tail.lawn, lawn_next(tail.lawn), budget, ignore_timer, NULL);
    }
    return fini_tail(&tail);
}

double
gate_tail_built(size_t timers, size_t budget)
{
    /* A 1 in every digit of 7 bits except the lowest two. */
    const uint64_t ttl = UINT64_C(0x8102040810204000);
    struct lawn_timer stopped = {{NULL, NULL}, 0};
    struct tail tail;

    if (!init_tail(&tail, timers, budget)) {
        return -1;
    }
    /* This timer prevents the lawn from knowing that nothing is due. */
    lawn_start(tail.lawn, &stopped, 1);
    lawn_stop(tail.lawn, &stopped);
    for (size_t i = 0; i < timers; i++) {
        lawn_start(tail.lawn, &tail.timers[i].timer, ttl + i);
    }
    mow_ticks(&tail, ttl - 1);
    return fini_tail(&tail);
}
