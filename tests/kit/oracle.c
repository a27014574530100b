/* oracle.c - the expected behavior of a lawn: see oracle.h. */
#include "oracle.h"

#include "lawn.h"

__extension__ typedef unsigned __int128 wide;

void
oracle_init(struct oracle *oracle, uint64_t now, uint64_t resolution)
{
    oracle->looks = 0;
    oracle->now = now < LAWN_NEVER - 1 ? now : LAWN_NEVER - 1;
    oracle->resolution = resolution > 0 ? resolution : 1;
    oracle->era = 0;
    oracle->order = 0;
    oracle->mows = 0;
    oracle->mowing = false;
    oracle->until = 0;
    oracle->last = 0;
    oracle->mown = oracle->now;
    oracle->starts = 0;
    oracle->restarts = 0;
    oracle->stops = 0;
    oracle->fires = 0;
    oracle->count = 0;
    for (uint32_t i = 0; i < ORACLE_RECENT; i++) {
        oracle->recent[i].deadline = LAWN_NEVER;
    }
    for (uint32_t i = 0; i < oracle->many; i++) {
        oracle->timers[i].deadline = LAWN_NEVER;
        oracle->timers[i].due = 0;
        oracle->timers[i].stopped = false;
    }
}

bool
oracle_looks(struct oracle *oracle)
{
    return oracle->thorough || oracle->looks++ % 4096 == 0;
}

static uint64_t
due_exactly(const struct oracle *oracle, uint64_t ttl)
{
    wide time = (wide)oracle->now + ttl;

    return time < LAWN_NEVER - 1 ? (uint64_t)time : LAWN_NEVER - 1;
}

/* 128-bit arithmetic cannot overflow here. */
uint64_t
oracle_due(uint64_t now, uint64_t resolution, uint64_t ttl)
{
    wide last = LAWN_NEVER - 1;
    wide time = (wide)now + ttl;

    if (time < last && resolution > 1) {
        time = (time + resolution - 1) / resolution * resolution;
    }
    return (uint64_t)(time < last ? time : last);
}

static void
start(struct oracle *oracle, uint32_t timer, uint64_t ttl, uint64_t deadline)
{
    struct oracle_timer *t = &oracle->timers[timer];

    if (t->deadline == LAWN_NEVER) {
        oracle->starts++;
        oracle->count++;
    } else {
        oracle->restarts++;
    }
    t->ttl = ttl;
    t->deadline = deadline;
    t->due = deadline;
    t->order = oracle->order++;
    t->era = oracle->era;
    t->mow = oracle->mowing ? oracle->mows : 0;
    t->now = oracle->now;
    t->as = false;
    t->loose = false;
}

void
oracle_start(struct oracle *oracle, uint32_t timer, uint64_t ttl)
{
    ttl = ttl > 0 ? ttl : 1;
    start(oracle, timer, ttl, oracle_due(oracle->now, oracle->resolution, ttl));
}

void
oracle_start_at(struct oracle *oracle, uint32_t timer, uint64_t deadline)
{
    oracle_start(oracle, timer,
                 deadline > oracle->now ? deadline - oracle->now : 1);
}

/* Returns whether a running timer of the TTL may be due later. */
static bool
overtaken(const struct oracle *oracle, const struct oracle_timer *t)
{
    for (uint32_t i = 0; oracle->thorough && i < oracle->many; i++) {
        const struct oracle_timer *other = &oracle->timers[i];

        if (other->ttl == t->ttl && other->deadline != LAWN_NEVER &&
            other->deadline > t->deadline) {
            return true;
        }
    }
    return !oracle->thorough;
}

const char *
oracle_start_as(struct oracle *oracle, uint32_t timer, uint64_t ttl,
                uint64_t deadline, uint64_t is)
{
    struct oracle_timer *t = &oracle->timers[timer];

    if (deadline == LAWN_NEVER) {
        deadline = LAWN_NEVER - 1;
    }
    start(oracle, timer, ttl, is);
    t->as = ttl != 0;
    t->loose = t->as && overtaken(oracle, t);
    if (oracle->mowing) {
        if (deadline <= oracle->now) {
            deadline = due_exactly(oracle, 1);
        }
        return is == deadline ? NULL : "P6: a deadline in a callback is wrong";
    }
    if (is < deadline) {
        return "P1: a deadline is too early";
    }
    if (is != deadline && is > oracle->mown) {
        return "P2: a deadline is too late";
    }
    return is < oracle->last ? "P4: a deadline is before the last fired one"
                             : NULL;
}

void
oracle_move(struct oracle *oracle, uint64_t now)
{
    oracle->mown = now;
    oracle->last = 0;
    oracle->starts = oracle->count;
    oracle->restarts = 0;
    oracle->stops = 0;
    oracle->fires = 0;
    for (uint32_t i = 0; i < oracle->many; i++) {
        struct oracle_timer *t = &oracle->timers[i];

        /* A timer that could fire before others still can. */
        t->loose = t->as;
        t->now = oracle->now;
    }
}

bool
oracle_in_order(const struct oracle_timer *earlier,
                const struct oracle_timer *later)
{
    return earlier->ttl == later->ttl && earlier->deadline == later->deadline &&
           earlier->era == later->era && earlier->order < later->order &&
           (!later->as || (!later->loose && later->now == earlier->now));
}

bool
oracle_stop(struct oracle *oracle, uint32_t timer)
{
    struct oracle_timer *t = &oracle->timers[timer];

    if (t->deadline == LAWN_NEVER) {
        return false;
    }
    t->deadline = LAWN_NEVER;
    t->stopped = true;
    oracle->stops++;
    oracle->count--;
    return true;
}

void
oracle_set_now(struct oracle *oracle, uint64_t now)
{
    if (now == LAWN_NEVER) {
        now = LAWN_NEVER - 1;
    }
    if (now > oracle->now) {
        oracle->now = now;
    }
}

void
oracle_set_resolution(struct oracle *oracle, uint64_t resolution)
{
    if (resolution == 0) {
        resolution = 1;
    }
    if (resolution % oracle->resolution != 0) {
        oracle->era++;
    }
    oracle->resolution = resolution;
}

uint64_t
oracle_next(const struct oracle *oracle)
{
    uint64_t next = LAWN_NEVER;

    for (uint32_t i = 0; i < oracle->many; i++) {
        if (oracle->timers[i].deadline < next) {
            next = oracle->timers[i].deadline;
        }
    }
    return next;
}

void
oracle_mow(struct oracle *oracle, uint64_t now)
{
    oracle_set_now(oracle, now);
    oracle->until = now < LAWN_NEVER - 1 ? now : LAWN_NEVER - 1;
    oracle->mows++;
    oracle->mowing = true;
}

#define OUT_OF_TURN                                                            \
    "P4: of two timers with one TTL and one deadline, the one started later "  \
    "fired first"

/* Returns NULL, unless a timer started after t fired before it. */
static const char *
not_in_turn(struct oracle *oracle, const struct oracle_timer *t)
{
    struct oracle_timer *recent = &oracle->recent[t->ttl % ORACLE_RECENT];
    bool wrong = oracle_in_order(t, recent);

    *recent = *t;
    return wrong ? OUT_OF_TURN : NULL;
}

/* Returns NULL, unless another timer must fire before t. */
static const char *
not_first(const struct oracle *oracle, const struct oracle_timer *t)
{
    for (uint32_t i = 0; i < oracle->many; i++) {
        const struct oracle_timer *other = &oracle->timers[i];

        if (other->deadline < t->deadline) {
            return "P4: a timer fired while an earlier one was running";
        }
        if (oracle_in_order(other, t)) {
            return OUT_OF_TURN;
        }
    }
    return NULL;
}

const char *
oracle_first(const struct oracle *oracle, uint32_t timer)
{
    const struct oracle_timer *t = &oracle->timers[timer];

    if (t->deadline == LAWN_NEVER) {
        return "P3: the timer returned as first is not running";
    }
    return not_first(oracle, t) != NULL
               ? "P4: the timer returned as first must not fire first"
               : NULL;
}

const char *
oracle_fire(struct oracle *oracle, uint32_t timer)
{
    struct oracle_timer *t = &oracle->timers[timer];

    if (t->deadline == LAWN_NEVER) {
        return t->stopped ? "P5: a stopped timer fired"
                          : "P3: a timer fired that was not running";
    }
    if (t->deadline > oracle->until) {
        return "P1: a timer fired early";
    }
    if (t->mow == oracle->mows) {
        return "P6: a timer fired in the mow whose callback started it";
    }
    if (t->deadline < oracle->last) {
        return "P4: a timer fired after one with a later deadline";
    }
    const char *broken = not_in_turn(oracle, t);
    if (broken == NULL && oracle_looks(oracle)) {
        broken = not_first(oracle, t);
    }
    oracle->last = t->deadline;
    t->deadline = LAWN_NEVER;
    t->stopped = false;
    oracle->fires++;
    oracle->count--;
    return broken;
}

const char *
oracle_mown(struct oracle *oracle, size_t fired, size_t budget)
{
    oracle->mowing = false;
    oracle->mown = oracle->now;
    if (fired > budget) {
        return "P2: a mow fired more than its budget";
    }
    if (fired == budget || !oracle_looks(oracle)) {
        return NULL;
    }
    for (uint32_t i = 0; i < oracle->many; i++) {
        if (oracle->timers[i].deadline <= oracle->until &&
            oracle->timers[i].mow != oracle->mows) {
            return "P2: a timer that is due was forgotten";
        }
    }
    return NULL;
}
