/* ops.c - the interpreter of operations: see ops.h.
 *
 * A case is a byte for the mix, a byte for its size and manner, then lawn
 * options, then operations. Each reads the bytes it needs; when there are none
 * left, it reads zeros and the case ends. Callbacks read their little programs
 * from the same bytes.
 *
 * Every timer is a piece of memory of its own, given back and taken anew as the
 * case goes on, so that a sanitizer sees any touch of a timer that is not the
 * lawn's any more.
 */
#include "ops.h"

#include "lawn.h"
#include "oracle.h"
#include "script.h"

#include <stdlib.h>
#include <string.h>

#define OPS_MANY_MAX 256u
#define OPS_SMALL_LAWN 16384u
/* log2 of the starts that a lawn needs to change its habits. */
#if defined LAWN_HABITS_TRIAL
#define OPS_CHURN 9u
#else
#define OPS_CHURN 16u
#endif

struct ops_timer {
    uint32_t number;
    uint64_t visit; /* the one that came to it last */
    struct lawn_timer timer;
};

struct ops {
    struct script script;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* ask for the next deadline after every operation */
    bool careful; /* check the lawn after every operation, if it is small */

    struct lawn *lawn;
    void *place; /* memory of ours that the lawn stands in, or NULL */
    size_t bytes_at_first;
    struct oracle oracle;
    struct ops_timer **timers;

    size_t budget; /* of the mow under way; what has fired, once it is halted */
    size_t fired;
    uint64_t own;     /* allocations made here */
    uint64_t foreign; /* allocations made elsewhere when the lawn was new */
    uint64_t unchecked;
    uint64_t visits; /* of all timers, begun */
    bool failed;
};

static uint32_t
take_timer(struct ops *ops)
{
    return script_take_wide(&ops->script,
                            ops->oracle.many > OPS_MANY_MAX ? 3 : 1) %
           ops->oracle.many;
}

/* What is the same after every operation. */
static void
compare(struct ops *ops)
{
    const struct ops_config *config = ops->script.config;

    ops->script.result->operations++;
    script_expect(&ops->script, "P9: lawn_now()", lawn_now(ops->lawn),
                  ops->oracle.now);
    script_expect(&ops->script, "P3: lawn_count()", lawn_count(ops->lawn),
                  ops->oracle.count);
    if (config->allocations != NULL) {
        script_expect(&ops->script,
                      "P7: the number of allocations since the lawn was new",
                      *config->allocations - ops->own - ops->foreign, 0);
    }
    if (config->check_every != 0 && ++ops->unchecked >= config->check_every) {
        ops->unchecked = 0;
        if (!lawn_check(ops->lawn, stderr)) {
            script_fail(&ops->script, "lawn_check() found a broken invariant");
        }
    }
}

static void
compare_timer(struct ops *ops, uint32_t i)
{
    uint64_t deadline = ops->oracle.timers[i].deadline;

    if (ops->timers[i] != NULL) {
        const struct lawn_timer *timer = &ops->timers[i]->timer;

        script_expect(&ops->script, "P3: lawn_pending()", lawn_pending(timer),
                      deadline != LAWN_NEVER);
        script_expect(&ops->script, "P9: lawn_deadline()", lawn_deadline(timer),
                      deadline);
        script_expect(&ops->script, "P9: lawn_due()", lawn_due(timer),
                      ops->oracle.timers[i].due);
    }
}

static void
compare_all(struct ops *ops)
{
    uint32_t i;

    for (i = 0; i < ops->oracle.many; i++) {
        compare_timer(ops, i);
    }
}

/* What is done to single timers, inside of callbacks and outside. */

static struct lawn_timer *
timer_of(struct ops *ops, uint32_t i)
{
    if (ops->timers[i] == NULL) {
        ops->timers[i] = calloc(1, sizeof *ops->timers[i]);
        if (ops->timers[i] == NULL) {
            abort();
        }
        ops->own++;
        ops->timers[i]->number = i;
    }
    return &ops->timers[i]->timer;
}

static void
do_start(struct ops *ops, uint32_t i, uint64_t ttl)
{
    struct lawn_timer *timer = timer_of(ops, i);

    oracle_start(&ops->oracle, i, ttl);
    TELL(&ops->script, "start timer %u, ttl %llu: due at %llu", i,
         (unsigned long long)ttl,
         (unsigned long long)ops->oracle.timers[i].deadline);
    lawn_start(ops->lawn, timer, ttl);
    compare_timer(ops, i);
}

static void
do_start_at(struct ops *ops, uint32_t i, uint64_t deadline)
{
    struct lawn_timer *timer = timer_of(ops, i);

    oracle_start_at(&ops->oracle, i, deadline);
    TELL(&ops->script, "start timer %u at %llu: due at %llu", i,
         (unsigned long long)deadline,
         (unsigned long long)ops->oracle.timers[i].deadline);
    lawn_start_at(ops->lawn, timer, deadline);
    compare_timer(ops, i);
}

static void
do_start_as(struct ops *ops, uint32_t i, uint64_t ttl, uint64_t deadline)
{
    struct lawn_timer *timer = timer_of(ops, i);
    const char *broken;

    lawn_start_as(ops->lawn, timer, ttl, deadline);
    broken =
        oracle_start_as(&ops->oracle, i, ttl, deadline, lawn_deadline(timer));
    TELL(&ops->script, "start timer %u as one of ttl %llu at %llu: due at %llu",
         i, (unsigned long long)ttl, (unsigned long long)deadline,
         (unsigned long long)lawn_deadline(timer));
    if (broken != NULL) {
        script_fail(&ops->script, "%s (timer %u)", broken, i);
    }
    compare_timer(ops, i);
}

/* Of a TTL, most often one in use, or of none; due when it would be, or
 * somewhat earlier, or overdue, or anything. */
static void
take_start_as(struct ops *ops, uint32_t i)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ttl = byte % 16 == 0 ? 0 : script_take_ttl(&ops->script);
    uint64_t deadline = script_later(ops->oracle.now, ttl);

    switch (byte / 16 % 8) {
    case 0:
        break;
    case 1:
        deadline = script_earlier(ops->oracle.now, script_take(&ops->script));
        break;
    case 2:
        deadline = script_take_extreme(&ops->script);
        break;
    case 3:
        deadline = script_later(deadline, script_take(&ops->script) % 16);
        break;
    case 4:
        deadline =
            script_earlier(ops->oracle.now, script_take(&ops->script) % 16);
        break;
    case 5:
        deadline =
            script_later(ops->oracle.now, script_take(&ops->script) % 16);
        break;
    default:
        deadline = script_earlier(deadline, script_take(&ops->script) % 16);
    }
    do_start_as(ops, i, ttl, deadline);
}

static void
do_restart(struct ops *ops, uint32_t i)
{
    bool known = ops->oracle.timers[i].deadline != LAWN_NEVER;

    do_start(ops, i,
             known ? ops->oracle.timers[i].ttl : script_take_ttl(&ops->script));
}

static void
do_stop(struct ops *ops, uint32_t i)
{
    struct lawn_timer *timer = timer_of(ops, i);
    bool running = oracle_stop(&ops->oracle, i);

    TELL(&ops->script, "stop timer %u, %s", i, running ? "running" : "idle");
    script_expect(&ops->script, "P5: lawn_stop()", lawn_stop(ops->lawn, timer),
                  running);
    compare_timer(ops, i);
}

/* An idle timer's memory is its owner's. */
static void
do_drop(struct ops *ops, uint32_t i)
{
    if (ops->oracle.timers[i].deadline != LAWN_NEVER) {
        do_stop(ops, i);
    }
    if (!ops->script.failed) {
        TELL(&ops->script, "free the memory of timer %u", i);
        free(ops->timers[i]);
        ops->timers[i] = NULL;
        ops->oracle.timers[i].due = 0;
    }
}

/* Which is asked first, the deadline or the timer, changes from time to time:
 * one must not have to rely on the other. */
static void
do_next(struct ops *ops)
{
    bool ahead = ops->script.result->operations / 4 % 2 == 0;
    struct lawn_timer *first = ahead ? lawn_first(ops->lawn) : NULL;
    uint64_t next = lawn_next(ops->lawn);
    const char *broken = NULL;

    first = ahead ? first : lawn_first(ops->lawn);
    TELL(&ops->script, "next: %llu", (unsigned long long)next);
    script_expect(&ops->script, "P2: the deadline of lawn_first()",
                  first != NULL ? lawn_deadline(first) : LAWN_NEVER, next);
    if (oracle_looks(&ops->oracle)) {
        script_expect(&ops->script, "P2: lawn_next()", next,
                      oracle_next(&ops->oracle));
        if (first != NULL) {
            broken = oracle_first(
                &ops->oracle,
                LAWN_CONTAINER(first, struct ops_timer, timer)->number);
        }
    }
    if (broken != NULL) {
        script_fail(&ops->script, "%s", broken);
    }
}

static void
do_set_now(struct ops *ops, uint64_t now)
{
    oracle_set_now(&ops->oracle, now);
    TELL(&ops->script, "set now to %llu", (unsigned long long)now);
    lawn_set_now(ops->lawn, now);
}

static void
do_set_resolution(struct ops *ops, uint64_t resolution)
{
    oracle_set_resolution(&ops->oracle, resolution);
    TELL(&ops->script, "set resolution to %llu",
         (unsigned long long)resolution);
    lawn_set_resolution(ops->lawn, resolution);
}

static void
do_check(struct ops *ops)
{
    if (!oracle_looks(&ops->oracle)) {
        return;
    }
    TELL(&ops->script, "check");
    if (!lawn_check(ops->lawn, stderr)) {
        script_fail(&ops->script, "lawn_check() found a broken invariant");
    }
}

static void
do_stats(struct ops *ops)
{
    const struct oracle *oracle = &ops->oracle;
    struct lawn_stats stats;
    uint64_t lone;

    if (!oracle_looks(&ops->oracle)) {
        return;
    }
    TELL(&ops->script, "stats");
    lone = lawn_count_lone(ops->lawn);
    lawn_stats(ops->lawn, &stats);
    script_expect(&ops->script, "P3: starts", stats.starts, oracle->starts);
    script_expect(&ops->script, "P3: stops", stats.stops, oracle->stops);
    script_expect(&ops->script, "P3: fires", stats.fires, oracle->fires);
    script_expect(&ops->script, "P3: count", stats.count, oracle->count);
    script_expect(&ops->script, "P7: bytes", stats.bytes, ops->bytes_at_first);
    if (stats.live_blades > stats.blades ||
        stats.lone_starts > stats.starts + oracle->restarts ||
        stats.live_blades + lone > stats.count ||
        (stats.live_blades == 0 && lone != stats.count)) {
        script_fail(&ops->script,
                    "P3: %zu of %zu blades, %llu lone timers and %llu lone "
                    "starts do not fit %llu timers",
                    stats.live_blades, stats.blades, (unsigned long long)lone,
                    (unsigned long long)stats.lone_starts,
                    (unsigned long long)stats.count);
    }
}

/* Visits. */

struct visited {
    struct ops *ops;
    uint64_t limit; /* of timers to visit */
    uint64_t many;
    uint32_t number[OPS_MANY_MAX]; /* in this order, as far as there is room; */
    uint64_t ttl[OPS_MANY_MAX];    /* with this TTL */
};

static bool
visit(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct visited *visited = (struct visited *)arg;
    struct ops *ops = visited->ops;
    struct ops_timer *seen = LAWN_CONTAINER(timer, struct ops_timer, timer);
    const struct oracle_timer *t = &ops->oracle.timers[seen->number];
    uint64_t i;

    if (visited->many == visited->limit) {
        script_fail(&ops->script,
                    "P3: a visit went on after it was told to end");
    }
    if (t->deadline == LAWN_NEVER || seen->visit == ops->visits) {
        script_fail(&ops->script, "P3: timer %u was visited %s", seen->number,
                    t->deadline == LAWN_NEVER ? "though it is idle" : "twice");
    }
    seen->visit = ops->visits;
    if (ttl != 0) {
        script_expect(&ops->script, "P4: the TTL that is told", ttl, t->ttl);
    }
    for (i = 0; i < visited->many && i < OPS_MANY_MAX; i++) {
        if (oracle_in_order(t, &ops->oracle.timers[visited->number[i]])) {
            script_fail(&ops->script, "P4: timer %u was visited too late",
                        seen->number);
        }
        if (visited->ttl[i] != 0 && ttl == 0) {
            script_fail(&ops->script, "P4: timer %u comes after a blade",
                        seen->number);
        }
    }
    if (visited->many < OPS_MANY_MAX) {
        visited->number[visited->many] = seen->number;
        visited->ttl[visited->many] = ttl;
    }
    return ++visited->many < visited->limit;
}

/* All timers, or the first few. */
static void
visit_all(struct ops *ops, struct visited *visited, uint64_t limit)
{
    uint64_t count = ops->oracle.count;
    bool all;

    visited->ops = ops;
    visited->limit = limit;
    visited->many = 0;
    ops->visits++;
    all = lawn_each(ops->lawn, visit, visited);
    script_expect(&ops->script, "P3: lawn_each()", all, count < limit);
    script_expect(&ops->script, "P3: timers visited", visited->many,
                  count < limit ? count : limit);
}

static void
do_each(struct ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    struct visited visited;

    if (oracle_looks(&ops->oracle)) {
        TELL(&ops->script, "visit each");
        visit_all(ops, &visited, byte < 64 ? 1 + byte % 8u : UINT64_MAX);
    }
}

/* Callbacks. */

/* The budget is used up. */
static void
do_halt(struct ops *ops)
{
    TELL(&ops->script, "halt");
    lawn_halt(ops->lawn);
    ops->budget = ops->fired;
}

/* A running timer that is due in the mow under way, near the one given. */
static uint32_t
sibling(const struct ops *ops, uint32_t i)
{
    const struct oracle *oracle = &ops->oracle;
    uint32_t tries;

    for (tries = 0; tries < 64; tries++) {
        i = (i + 1) % oracle->many;
        if (oracle->timers[i].deadline <= oracle->until) {
            break;
        }
    }
    return i;
}

static void
callback_one(struct ops *ops, uint32_t self)
{
    uint8_t byte = script_take(&ops->script);
    uint32_t other = byte < 64    ? self
                     : byte < 160 ? sibling(ops, self)
                                  : take_timer(ops);

    switch (byte % 32) {
    case 12:
        do_start_at(ops, other,
                    script_later(ops->oracle.now, script_take(&ops->script)));
        break;
    case 13:
        do_start_at(ops, other,
                    script_earlier(ops->oracle.now, script_take(&ops->script)));
        break;
    case 14:
    case 15:
    case 16:
        do_drop(ops, other);
        break;
    case 17:
    case 18:
        do_next(ops);
        break;
    case 19:
        do_set_now(
            ops, script_later(ops->oracle.now, script_take_step(&ops->script)));
        break;
    case 20:
        do_set_now(
            ops, script_later(ops->oracle.now, script_take_jump(&ops->script)));
        break;
    case 21:
        if (byte >= 128) {
            do_check(ops);
        } else {
            take_start_as(ops, other);
        }
        break;
    case 22:
        if (byte >= 128) {
            do_halt(ops);
        } else {
            do_stats(ops);
        }
        break;
    case 23:
        if (byte >= 128) {
            do_set_resolution(ops, script_take_resolution(&ops->script));
        } else {
            do_each(ops);
        }
        break;
    default:
        if (byte % 32 < 8) {
            do_start(ops, other, script_take_ttl(&ops->script));
        } else if (byte % 32 < 12) {
            do_restart(ops, other);
        } else {
            do_stop(ops, other);
        }
    }
    compare(ops);
}

static void
callback(struct lawn_timer *timer, void *arg)
{
    static const uint8_t lengths[8] = {0, 0, 0, 1, 1, 1, 2, 4};
    struct ops *ops = (struct ops *)arg;
    uint32_t i = LAWN_CONTAINER(timer, struct ops_timer, timer)->number;
    const char *broken;
    unsigned todo;

    TELL(&ops->script, "timer %u fires", i);
    ops->fired++;
    if (i >= ops->oracle.many || ops->timers[i] == NULL ||
        timer != &ops->timers[i]->timer) {
        script_fail(&ops->script, "P3: something fired that is no timer");
        return;
    }
    broken = oracle_fire(&ops->oracle, i);
    if (broken != NULL) {
        script_fail(&ops->script, "%s (timer %u)", broken, i);
    }
    if (ops->fired > ops->budget) {
        script_fail(&ops->script, "P2: a mow fired more than its budget");
    }
    if (ops->script.failed) {
        return;
    }
    script_expect(&ops->script, "P6: lawn_pending() in the callback",
                  lawn_pending(timer), 0);
    script_expect(&ops->script, "P6: lawn_deadline() in the callback",
                  lawn_deadline(timer), LAWN_NEVER);
    script_expect(&ops->script, "P6: lawn_due() in the callback",
                  lawn_due(timer), ops->oracle.timers[i].due);
    for (todo = lengths[script_take(&ops->script) % 8];
         todo > 0 && !ops->script.failed; todo--) {
        callback_one(ops, i);
    }
}

static size_t
do_mow(struct ops *ops, uint64_t now, size_t budget)
{
    const char *broken;
    size_t fired;

    if (budget == SIZE_MAX) {
        TELL(&ops->script, "mow at %llu", (unsigned long long)now);
    } else {
        TELL(&ops->script, "mow at %llu, budget %zu", (unsigned long long)now,
             budget);
    }
    ops->budget = budget;
    ops->fired = 0;
    oracle_mow(&ops->oracle, now);
    ops->script.depth++;
    fired = lawn_mow(ops->lawn, now, budget, callback, ops);
    ops->script.depth--;
    broken = oracle_mown(&ops->oracle, fired, ops->budget);
    script_expect(&ops->script, "P3: lawn_mow()", fired, ops->fired);
    if (broken != NULL) {
        script_fail(&ops->script, "%s", broken);
    }
    return fired;
}

/* Lawns. */

static void
take_options(struct ops *ops, struct lawn_options *options)
{
    script_take_lawn(&ops->script, options);
    options->alloc = ops->script.config->alloc;
    options->release = ops->script.config->release;
    options->context = ops->script.config->context;
}

/* A lawn in memory of ours, of any alignment and not a byte too large. */
static struct lawn *
place_lawn(struct ops *ops, const struct lawn_options *options, size_t offset,
           void **place)
{
    size_t size = lawn_size(options);
    char *memory = malloc(offset + size);

    if (memory == NULL) {
        abort();
    }
    ops->own++;
    *place = memory;
    if (lawn_place(memory + offset, size - 1, options) != NULL) {
        script_fail(&ops->script,
                    "P9: lawn_place() did not notice that a byte is missing");
    }
    return lawn_place(memory + offset, size, options);
}

static void
forget_timers(struct ops *ops)
{
    uint32_t i;

    for (i = 0; i < ops->oracle.many; i++) {
        free(ops->timers[i]);
        ops->timers[i] = NULL;
    }
}

/* Timers first: lawn_free() must not look at them. */
static void
free_lawn(struct ops *ops)
{
    forget_timers(ops);
    lawn_free(ops->lawn);
    free(ops->place);
    ops->lawn = NULL;
    ops->place = NULL;
}

/* Lawns may be made, but from now on nothing else allocates. */
static void
note_allocations(struct ops *ops)
{
    const uint64_t *allocations = ops->script.config->allocations;

    ops->foreign = allocations != NULL ? *allocations - ops->own : 0;
}

static void
note_size(struct ops *ops)
{
    struct lawn_stats stats;

    lawn_stats(ops->lawn, &stats);
    ops->bytes_at_first = stats.bytes;
}

static void
fill_lawn(struct ops *ops)
{
    uint32_t i;

    note_size(ops);
    for (i = 0; ops->script.config->fill && i < ops->oracle.many; i++) {
        do_start(ops, i, script_take_ttl(&ops->script));
    }
}

/* A new lawn instead of the one there was, which stays if there is no memory
 * for a new one. False: there is none at all. */
static bool
renew_lawn(struct ops *ops)
{
    const struct ops_config *config = ops->script.config;
    uint64_t refusals = config->refusals != NULL ? *config->refusals : 0;
    struct lawn_options options;
    struct lawn *lawn;
    void *place = NULL;
    uint8_t how;

    take_options(ops, &options);
    how = script_take(&ops->script);
    TELL(&ops->script,
         "new lawn: blades %zu, slot bits %u, resolution %llu, now %llu, %s",
         options.blades, options.slot_bits,
         (unsigned long long)options.resolution,
         (unsigned long long)options.now, how < 192 ? "new" : "place");
    lawn = how < 192 ? lawn_new(&options)
                     : place_lawn(ops, &options, how % 64, &place);
    if (lawn == NULL) {
        ops->script.result->refused++;
        if (config->refusals == NULL || *config->refusals == refusals) {
            script_fail(&ops->script, "lawn_new() failed without need");
        }
    } else {
        if (ops->lawn != NULL) {
            free_lawn(ops);
        }
        ops->lawn = lawn;
        ops->place = place;
        oracle_init(&ops->oracle, options.now, options.resolution);
    }
    note_allocations(ops);
    if (lawn != NULL) {
        fill_lawn(ops);
    }
    return ops->lawn != NULL;
}

/* Operations, each with its share of the 256 values of a byte. */

static void
op_start(struct ops *ops)
{
    uint32_t i = take_timer(ops);

    do_start(ops, i, script_take_ttl(&ops->script));
}

static void
op_start_as(struct ops *ops)
{
    take_start_as(ops, take_timer(ops));
}

/* All timers go to another lawn, which is not told what the old one knew of
 * its habits and closed blades. */
static void
op_move(struct ops *ops)
{
    uint64_t now = ops->oracle.now;
    uint64_t next = oracle_next(&ops->oracle);
    struct lawn_options options;
    struct visited visited;
    struct lawn *lawn;
    uint64_t i;

    take_options(ops, &options);
    if (ops->oracle.many > OPS_MANY_MAX) {
        return;
    }
    options.now = next < now ? next : now;
    options.resolution = ops->oracle.resolution;
    lawn = lawn_new(&options);
    note_allocations(ops);
    if (lawn == NULL) {
        ops->script.result->refused++;
        return;
    }
    TELL(&ops->script,
         "move to a lawn of %zu blades, slot bits %u, made at %llu",
         options.blades, options.slot_bits, (unsigned long long)options.now);
    visit_all(ops, &visited, UINT64_MAX);
    lawn_free(ops->lawn);
    free(ops->place);
    ops->lawn = lawn;
    ops->place = NULL;
    lawn_set_now(lawn, now);
    for (i = 0; i < visited.many && !ops->script.failed; i++) {
        uint32_t number = visited.number[i];
        struct lawn_timer *timer = &ops->timers[number]->timer;

        memset(timer, 0, sizeof *timer);
        lawn_start_as(lawn, timer, visited.ttl[i],
                      ops->oracle.timers[number].deadline);
    }
    oracle_move(&ops->oracle, options.now);
    compare_all(ops);
    note_size(ops);
}

static void
op_restart(struct ops *ops)
{
    do_restart(ops, take_timer(ops));
}

static void
op_start_at(struct ops *ops)
{
    uint32_t i = take_timer(ops);
    uint8_t byte = script_take(&ops->script);

    if (byte < 64) {
        do_start_at(ops, i, script_earlier(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_start_at(
            ops, i,
            script_later(ops->oracle.now, script_take_ttl(&ops->script)));
    } else {
        do_start_at(ops, i, script_take_extreme(&ops->script));
    }
}

/* Two TTLs in turn, very often: what a lawn does only now and then, it does
 * now. */
static void
op_churn(struct ops *ops)
{
    uint32_t i = take_timer(ops);
    uint64_t ttls[2];
    uint32_t times = 1u << script_take(&ops->script) % OPS_CHURN;
    struct lawn_timer *timer = timer_of(ops, i);

    ttls[0] = script_take_ttl(&ops->script);
    ttls[1] = script_take_ttl(&ops->script);
    TELL(&ops->script, "start timer %u %u times, ttl %llu and %llu in turn", i,
         times, (unsigned long long)ttls[0], (unsigned long long)ttls[1]);
    while (times-- > 0) {
        oracle_start(&ops->oracle, i, ttls[times % 2]);
        lawn_start(ops->lawn, timer, ttls[times % 2]);
    }
    compare_timer(ops, i);
}

/* Timers in a row, of one TTL. */
static void
op_start_row(struct ops *ops)
{
    uint32_t i = take_timer(ops);
    unsigned row = script_take(&ops->script) % 16;
    uint64_t ttl = script_take_ttl(&ops->script);

    for (; row > 0; row--) {
        do_start(ops, i, ttl);
        i = (i + 1) % ops->oracle.many;
    }
}

static void
op_stop(struct ops *ops)
{
    do_stop(ops, take_timer(ops));
}

static void
op_stop_row(struct ops *ops)
{
    uint32_t i = take_timer(ops);
    unsigned row = script_take(&ops->script) % 16;

    for (; row > 0; row--) {
        do_stop(ops, i);
        i = (i + 1) % ops->oracle.many;
    }
}

static void
op_drop(struct ops *ops)
{
    do_drop(ops, take_timer(ops));
}

static void
op_mow_step(struct ops *ops)
{
    (void)do_mow(ops,
                 script_later(ops->oracle.now, script_take_step(&ops->script)),
                 SIZE_MAX);
}

static void
op_mow_budget(struct ops *ops)
{
    uint64_t now =
        script_later(ops->oracle.now, script_take_step(&ops->script));

    (void)do_mow(ops, now, script_take_budget(&ops->script));
}

/* To the next deadline, or a tick before or after it. */
static void
op_mow_next(struct ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t next =
        ops->oracle.thorough ? oracle_next(&ops->oracle) : lawn_next(ops->lawn);

    if (next == LAWN_NEVER && byte != 0) {
        next = ops->oracle.now;
    }
    next = byte % 8 == 1   ? script_earlier(next, 1)
           : byte % 8 == 2 ? script_later(next, 1)
                           : next;
    (void)do_mow(ops, next,
                 byte < 160 ? SIZE_MAX : script_take_budget(&ops->script));
}

static void
op_mow_jump(struct ops *ops)
{
    uint64_t ticks = script_take_jump(&ops->script);

    (void)do_mow(ops, script_later(ops->oracle.now, ticks),
                 script_take_budget(&ops->script));
}

static void
op_mow_back(struct ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ticks = byte < 192 ? byte : script_take_extreme(&ops->script);

    (void)do_mow(ops, script_earlier(ops->oracle.now, ticks),
                 script_take_budget(&ops->script));
}

/* With small budgets until none is left. */
static void
op_mow_drain(struct ops *ops)
{
    uint64_t now =
        script_later(ops->oracle.now, script_take_step(&ops->script));
    size_t budget = 1 + script_take(&ops->script) % 4;
    unsigned rounds = 64;

    while (rounds-- > 0 && do_mow(ops, now, budget) == budget) {
        compare(ops);
    }
}

static void
op_set_now(struct ops *ops)
{
    uint8_t byte = script_take(&ops->script);

    if (byte < 128) {
        do_set_now(ops, script_later(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_set_now(ops, script_earlier(ops->oracle.now, byte));
    } else {
        do_set_now(
            ops, script_later(ops->oracle.now, script_take_jump(&ops->script)));
    }
}

static void
op_set_resolution(struct ops *ops)
{
    do_set_resolution(ops, script_take_resolution(&ops->script));
}

/* Here a halt does nothing, now or later. */
static void
op_look(struct ops *ops)
{
    uint32_t i = take_timer(ops);

    TELL(&ops->script, "halt outside a mow; look at timer %u", i);
    lawn_halt(ops->lawn);
    compare_timer(ops, i);
}

static void
op_look_at_all(struct ops *ops)
{
    if (oracle_looks(&ops->oracle)) {
        TELL(&ops->script, "look at all timers");
        compare_all(ops);
    }
}

/* Filling one takes most of a case, so it stays. */
static void
op_renew(struct ops *ops)
{
    if (!ops->script.config->fill) {
        (void)renew_lawn(ops);
    }
}

typedef void op_fn(struct ops *ops);

static const struct op {
    unsigned share;
    op_fn *run;
} table[] = {
    {56, op_start},    {32, op_stop},          {14, do_next},
    {20, op_restart},  {3, op_start_as},       {1, do_each},
    {1, op_move},      {1, op_look},           {24, op_mow_next},
    {24, op_mow_step}, {16, op_start_at},      {12, op_mow_budget},
    {8, op_mow_back},  {8, op_start_row},      {8, op_set_now},
    {8, op_mow_jump},  {4, op_drop},           {4, op_mow_drain},
    {4, op_stop_row},  {3, op_set_resolution}, {1, do_stats},
    {1, op_churn},     {1, op_look_at_all},    {1, do_check},
    {1, op_renew},
};

static void
run_one(struct ops *ops)
{
    unsigned byte = script_take(&ops->script);
    size_t i = 0;

    if (ops->calm && byte % 8 != 7) {
        byte = byte % 128; /* most of them are starts and stops */
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    table[i].run(ops);
    compare(ops);
    if (ops->nosy) {
        do_next(ops);
    }
    if (ops->careful && ops->bytes_at_first <= OPS_SMALL_LAWN) {
        do_check(ops);
    }
}

/* Nothing may be left over at the end of time. */
static void
run_out(struct ops *ops)
{
    bool thorough = ops->oracle.thorough;

    ops->oracle.thorough = true;
    compare_all(ops);
    do_check(ops);
    do_stats(ops);
    ops->oracle.thorough = thorough;
    (void)do_mow(ops, LAWN_NEVER, SIZE_MAX);
    compare(ops);
    script_expect(&ops->script, "P2: lawn_count() at the end of time",
                  ops->oracle.count, 0);
    script_expect(&ops->script, "P2: lawn_next() at the end of time",
                  lawn_next(ops->lawn), LAWN_NEVER);
}

static void
take_case(struct ops *ops, uint8_t byte)
{
    static const uint32_t many[4] = {64, 256, 8, 16};
    const struct ops_config *config = ops->script.config;

    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->oracle.many = many[byte % 4];
    ops->oracle.thorough = true;
    if (config->timers != 0) {
        ops->oracle.many = config->timers;
        ops->oracle.thorough = ops->oracle.many <= OPS_MANY_MAX;
    }
}

bool
ops_run(const struct ops_config *config, const uint8_t *bytes, size_t size,
        struct ops_result *result)
{
    struct ops ops;

    memset(&ops, 0, sizeof ops);
    take_case(&ops, script_begin(&ops.script, config, bytes, size, result));
    ops.timers = calloc(ops.oracle.many, sizeof *ops.timers);
    ops.oracle.timers = calloc(ops.oracle.many, sizeof *ops.oracle.timers);
    if (ops.timers == NULL || ops.oracle.timers == NULL) {
        abort();
    }
    ops.own = 2;
    if (renew_lawn(&ops)) {
        while (!script_over(&ops.script)) {
            run_one(&ops);
        }
        if (!ops.script.failed) {
            run_out(&ops);
        }
        result->fires = ops.oracle.fires;
        free_lawn(&ops);
    }
    free(ops.timers);
    free(ops.oracle.timers);
    return !ops.script.failed;
}
