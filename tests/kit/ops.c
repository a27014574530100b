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

#include <stdarg.h>
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
    const struct ops_config *config;
    struct ops_result *result;
    const uint8_t *bytes;
    size_t size;
    size_t at;
    enum ops_mix mix;
    uint64_t reach; /* jumps of the clock are cut down to these bits */
    uint64_t span;  /* TTLs that are neither few nor extreme have these bits */
    bool calm;      /* the clock hardly moves */
    bool nosy;      /* ask for the next deadline after every operation */
    bool careful;   /* check the lawn after every operation, if it is small */

    struct lawn *lawn;
    void *place; /* memory of ours that the lawn stands in, or NULL */
    size_t bytes_at_first;
    struct oracle oracle;
    struct ops_timer **timers;

    size_t budget;
    size_t fired;
    uint64_t own;     /* allocations made here */
    uint64_t foreign; /* allocations made elsewhere when the lawn was new */
    uint64_t unchecked;
    uint64_t visits; /* of all timers, begun */
    bool failed;
};

static void tell(const struct ops *ops, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fail(struct ops *ops, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tells what is done, for whoever wants to read it. */
#define TELL(ops, ...)                                                         \
    do {                                                                       \
        if ((ops)->config->trace != NULL) {                                    \
            tell((ops), __VA_ARGS__);                                          \
        }                                                                      \
    } while (0)

static void
tell(const struct ops *ops, const char *format, ...)
{
    FILE *out = ops->config->trace;
    va_list args;

    (void)fputs(ops->oracle.mowing ? "        " : "", out);
    va_start(args, format);
    (void)vfprintf(out, format, args);
    va_end(args);
    (void)fputc('\n', out);
    (void)fflush(out);
}

static void
fail(struct ops *ops, const char *format, ...)
{
    char *message = ops->result->message;
    va_list args;

    if (ops->failed) {
        return;
    }
    ops->failed = true;
    va_start(args, format);
    (void)vsnprintf(message, sizeof ops->result->message, format, args);
    va_end(args);
    TELL(ops, "BROKEN: %s", message);
    if (ops->config->fatal) {
        (void)fprintf(stderr, "%s\n", message);
        abort();
    }
}

static void
expect(struct ops *ops, const char *promise, uint64_t is, uint64_t should_be)
{
    if (is != should_be) {
        fail(ops, "%s is %llu, should be %llu", promise, (unsigned long long)is,
             (unsigned long long)should_be);
    }
}

/* Reading bytes. */

static uint8_t
take(struct ops *ops)
{
    return ops->at < ops->size ? ops->bytes[ops->at++] : 0;
}

static uint32_t
take_wide(struct ops *ops, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0) {
        value = value << 8 | take(ops);
    }
    return value;
}

static uint32_t
take_timer(struct ops *ops)
{
    return take_wide(ops, ops->oracle.many > OPS_MANY_MAX ? 3 : 1) %
           ops->oracle.many;
}

/* 2^k - 1, 2^k, 2^k + 1 for every k, and the last numbers there are. */
static uint64_t
take_extreme(struct ops *ops)
{
    uint8_t byte = take(ops);
    unsigned k = byte % 64;

    switch (byte / 64) {
    case 0:
        return (UINT64_C(1) << k) - 1;
    case 1:
        return UINT64_C(1) << k;
    case 2:
        return (UINT64_C(1) << k) + 1;
    default:
        return UINT64_MAX - (k < 32 ? k % 3 : k);
    }
}

static uint64_t
take_ttl(struct ops *ops)
{
    static const uint64_t few[] = {1, 2, 10, 64, 100, 1000, 4096, 30000};
    enum ops_mix mix = ops->mix;
    uint8_t byte;

    if (mix == OPS_ANY) {
        mix = (enum ops_mix)(take(ops) % OPS_ANY);
    }
    if (mix == OPS_EXTREME) {
        return take_extreme(ops);
    }
    byte = take(ops);
    if (byte >= 252) {
        return take_extreme(ops);
    }
    if (mix == OPS_FEW) {
        return ops->span > 256 ? few[byte % 8] : ops->span / 2 + byte % 16;
    }
    return (((uint64_t)byte << 8 | take(ops)) & ops->span) + 1;
}

/* How far the clock goes: mostly a few ticks. */
static uint64_t
take_step(struct ops *ops)
{
    uint8_t byte = take(ops);

    return byte < 192 ? byte % 16 : (byte - 191u) * 37;
}

static size_t
take_budget(struct ops *ops)
{
    uint8_t byte = take(ops);

    switch (byte % 4) {
    case 0:
        return SIZE_MAX;
    case 1:
        return byte % 3 == 0 ? 0 : 1;
    default:
        return 1 + byte / 4 % 8;
    }
}

static uint64_t
take_resolution(struct ops *ops)
{
    uint8_t byte = take(ops);
    uint64_t ten = 1;
    unsigned k;

    switch (byte % 8) {
    case 0:
        return 0;
    case 1:
    case 2:
        return 1;
    case 3:
        for (k = byte / 8 % 20; k > 0; k--) {
            ten *= 10;
        }
        return ten;
    case 4:
        return take_extreme(ops);
    default:
        return 2 + byte / 8;
    }
}

static uint64_t
later(uint64_t time, uint64_t ticks)
{
    return ticks < UINT64_MAX - time ? time + ticks : UINT64_MAX;
}

static uint64_t
earlier(uint64_t time, uint64_t ticks)
{
    return ticks < time ? time - ticks : 0;
}

/* What is the same after every operation. */
static void
compare(struct ops *ops)
{
    const struct ops_config *config = ops->config;

    ops->result->operations++;
    expect(ops, "P9: lawn_now()", lawn_now(ops->lawn), ops->oracle.now);
    expect(ops, "P3: lawn_count()", lawn_count(ops->lawn), ops->oracle.count);
    if (config->allocations != NULL) {
        expect(ops, "P7: the number of allocations since the lawn was new",
               *config->allocations - ops->own - ops->foreign, 0);
    }
    if (config->check_every != 0 && ++ops->unchecked >= config->check_every) {
        ops->unchecked = 0;
        if (!lawn_check(ops->lawn, stderr)) {
            fail(ops, "lawn_check() found a broken invariant");
        }
    }
}

static void
compare_timer(struct ops *ops, uint32_t i)
{
    uint64_t deadline = ops->oracle.timers[i].deadline;

    if (ops->timers[i] != NULL) {
        const struct lawn_timer *timer = &ops->timers[i]->timer;

        expect(ops, "P3: lawn_pending()", lawn_pending(timer),
               deadline != LAWN_NEVER);
        expect(ops, "P9: lawn_deadline()", lawn_deadline(timer), deadline);
        expect(ops, "P9: lawn_due()", lawn_due(timer),
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
    TELL(ops, "start timer %u, ttl %llu: due at %llu", i,
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
    TELL(ops, "start timer %u at %llu: due at %llu", i,
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
    TELL(ops, "start timer %u as one of ttl %llu at %llu: due at %llu", i,
         (unsigned long long)ttl, (unsigned long long)deadline,
         (unsigned long long)lawn_deadline(timer));
    if (broken != NULL) {
        fail(ops, "%s (timer %u)", broken, i);
    }
    compare_timer(ops, i);
}

/* Of a TTL, most often one in use, or of none; due when it would be, or
 * somewhat earlier, or overdue, or anything. */
static void
take_start_as(struct ops *ops, uint32_t i)
{
    uint8_t byte = take(ops);
    uint64_t ttl = byte % 16 == 0 ? 0 : take_ttl(ops);
    uint64_t deadline = later(ops->oracle.now, ttl);

    switch (byte / 16 % 8) {
    case 0:
        break;
    case 1:
        deadline = earlier(ops->oracle.now, take(ops));
        break;
    case 2:
        deadline = take_extreme(ops);
        break;
    case 3:
        deadline = later(deadline, take(ops) % 16);
        break;
    case 4:
        deadline = earlier(ops->oracle.now, take(ops) % 16);
        break;
    case 5:
        deadline = later(ops->oracle.now, take(ops) % 16);
        break;
    default:
        deadline = earlier(deadline, take(ops) % 16);
    }
    do_start_as(ops, i, ttl, deadline);
}

static void
do_restart(struct ops *ops, uint32_t i)
{
    bool known = ops->oracle.timers[i].deadline != LAWN_NEVER;

    do_start(ops, i, known ? ops->oracle.timers[i].ttl : take_ttl(ops));
}

static void
do_stop(struct ops *ops, uint32_t i)
{
    struct lawn_timer *timer = timer_of(ops, i);
    bool running = oracle_stop(&ops->oracle, i);

    TELL(ops, "stop timer %u, %s", i, running ? "running" : "idle");
    expect(ops, "P5: lawn_stop()", lawn_stop(ops->lawn, timer), running);
    compare_timer(ops, i);
}

/* An idle timer's memory is its owner's. */
static void
do_drop(struct ops *ops, uint32_t i)
{
    if (ops->oracle.timers[i].deadline != LAWN_NEVER) {
        do_stop(ops, i);
    }
    if (!ops->failed) {
        TELL(ops, "free the memory of timer %u", i);
        free(ops->timers[i]);
        ops->timers[i] = NULL;
        ops->oracle.timers[i].due = 0;
    }
}

static void
do_next(struct ops *ops)
{
    uint64_t next = lawn_next(ops->lawn);

    TELL(ops, "next: %llu", (unsigned long long)next);
    if (oracle_looks(&ops->oracle)) {
        expect(ops, "P2: lawn_next()", next, oracle_next(&ops->oracle));
    }
}

static void
do_set_now(struct ops *ops, uint64_t now)
{
    oracle_set_now(&ops->oracle, now);
    TELL(ops, "set now to %llu", (unsigned long long)now);
    lawn_set_now(ops->lawn, now);
}

static void
do_set_resolution(struct ops *ops, uint64_t resolution)
{
    oracle_set_resolution(&ops->oracle, resolution);
    TELL(ops, "set resolution to %llu", (unsigned long long)resolution);
    lawn_set_resolution(ops->lawn, resolution);
}

static void
do_check(struct ops *ops)
{
    if (!oracle_looks(&ops->oracle)) {
        return;
    }
    TELL(ops, "check");
    if (!lawn_check(ops->lawn, stderr)) {
        fail(ops, "lawn_check() found a broken invariant");
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
    TELL(ops, "stats");
    lone = lawn_count_lone(ops->lawn);
    lawn_stats(ops->lawn, &stats);
    expect(ops, "P3: starts", stats.starts, oracle->starts);
    expect(ops, "P3: stops", stats.stops, oracle->stops);
    expect(ops, "P3: fires", stats.fires, oracle->fires);
    expect(ops, "P3: count", stats.count, oracle->count);
    expect(ops, "P7: bytes", stats.bytes, ops->bytes_at_first);
    if (stats.live_blades > stats.blades ||
        stats.lone_starts > stats.starts + oracle->restarts ||
        stats.live_blades + lone > stats.count ||
        (stats.live_blades == 0 && lone != stats.count)) {
        fail(ops,
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
        fail(ops, "P3: a visit went on after it was told to end");
    }
    if (t->deadline == LAWN_NEVER || seen->visit == ops->visits) {
        fail(ops, "P3: timer %u was visited %s", seen->number,
             t->deadline == LAWN_NEVER ? "though it is idle" : "twice");
    }
    seen->visit = ops->visits;
    if (ttl != 0) {
        expect(ops, "P4: the TTL that is told", ttl, t->ttl);
    }
    for (i = 0; i < visited->many && i < OPS_MANY_MAX; i++) {
        if (oracle_in_order(t, &ops->oracle.timers[visited->number[i]])) {
            fail(ops, "P4: timer %u was visited too late", seen->number);
        }
        if (visited->ttl[i] != 0 && ttl == 0) {
            fail(ops, "P4: timer %u comes after a blade", seen->number);
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
    expect(ops, "P3: lawn_each()", all, count < limit);
    expect(ops, "P3: timers visited", visited->many,
           count < limit ? count : limit);
}

static void
do_each(struct ops *ops)
{
    uint8_t byte = take(ops);
    struct visited visited;

    if (oracle_looks(&ops->oracle)) {
        TELL(ops, "visit each");
        visit_all(ops, &visited, byte < 64 ? 1 + byte % 8u : UINT64_MAX);
    }
}

/* Callbacks. */

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
    uint8_t byte = take(ops);
    uint32_t other = byte < 64    ? self
                     : byte < 160 ? sibling(ops, self)
                                  : take_timer(ops);

    switch (byte % 32) {
    case 12:
        do_start_at(ops, other, later(ops->oracle.now, take(ops)));
        break;
    case 13:
        do_start_at(ops, other, earlier(ops->oracle.now, take(ops)));
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
        do_set_now(ops, later(ops->oracle.now, take_step(ops)));
        break;
    case 20:
        do_set_now(ops, later(ops->oracle.now, take_extreme(ops) & ops->reach));
        break;
    case 21:
        if (byte >= 128) {
            do_check(ops);
        } else {
            take_start_as(ops, other);
        }
        break;
    case 22:
        do_stats(ops);
        break;
    case 23:
        if (byte >= 128) {
            do_set_resolution(ops, take_resolution(ops));
        } else {
            do_each(ops);
        }
        break;
    default:
        if (byte % 32 < 8) {
            do_start(ops, other, take_ttl(ops));
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

    TELL(ops, "timer %u fires", i);
    ops->fired++;
    if (i >= ops->oracle.many || ops->timers[i] == NULL ||
        timer != &ops->timers[i]->timer) {
        fail(ops, "P3: something fired that is no timer");
        return;
    }
    broken = oracle_fire(&ops->oracle, i);
    if (broken != NULL) {
        fail(ops, "%s (timer %u)", broken, i);
    }
    if (ops->fired > ops->budget) {
        fail(ops, "P2: a mow fired more than its budget");
    }
    if (ops->failed) {
        return;
    }
    expect(ops, "P6: lawn_pending() in the callback", lawn_pending(timer), 0);
    expect(ops, "P6: lawn_deadline() in the callback", lawn_deadline(timer),
           LAWN_NEVER);
    expect(ops, "P6: lawn_due() in the callback", lawn_due(timer),
           ops->oracle.timers[i].due);
    for (todo = lengths[take(ops) % 8]; todo > 0 && !ops->failed; todo--) {
        callback_one(ops, i);
    }
}

static size_t
do_mow(struct ops *ops, uint64_t now, size_t budget)
{
    const char *broken;
    size_t fired;

    if (budget == SIZE_MAX) {
        TELL(ops, "mow at %llu", (unsigned long long)now);
    } else {
        TELL(ops, "mow at %llu, budget %zu", (unsigned long long)now, budget);
    }
    ops->budget = budget;
    ops->fired = 0;
    oracle_mow(&ops->oracle, now);
    fired = lawn_mow(ops->lawn, now, budget, callback, ops);
    broken = oracle_mown(&ops->oracle, fired, budget);
    expect(ops, "P3: lawn_mow()", fired, ops->fired);
    if (broken != NULL) {
        fail(ops, "%s", broken);
    }
    return fired;
}

/* Lawns. */

static void
take_options(struct ops *ops, struct lawn_options *options)
{
    static const size_t blades[8] = {16, 0, 1, 17, 64, 64, 2048, 16};
    static const unsigned bits[8] = {4, 0, 5, 6, 7, 8, 4, 99};
    uint8_t byte = take(ops);
    uint8_t time = take(ops);

    memset(options, 0, sizeof *options);
    options->blades = blades[byte % 8];
    options->slot_bits = bits[byte / 8 % 8];
    options->resolution = byte < 224 ? 0 : take_resolution(ops);
    if (ops->mix == OPS_EXTREME || time >= 128) {
        options->now = take_extreme(ops);
    }
    options->alloc = ops->config->alloc;
    options->release = ops->config->release;
    options->context = ops->config->context;
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
        fail(ops, "P9: lawn_place() did not notice that a byte is missing");
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
    const uint64_t *allocations = ops->config->allocations;

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
    for (i = 0; ops->config->fill && i < ops->oracle.many; i++) {
        do_start(ops, i, take_ttl(ops));
    }
}

/* A new lawn instead of the one there was, which stays if there is no memory
 * for a new one. False: there is none at all. */
static bool
renew_lawn(struct ops *ops)
{
    const struct ops_config *config = ops->config;
    uint64_t refusals = config->refusals != NULL ? *config->refusals : 0;
    struct lawn_options options;
    struct lawn *lawn;
    void *place = NULL;
    uint8_t how;

    take_options(ops, &options);
    how = take(ops);
    TELL(ops,
         "new lawn: blades %zu, slot bits %u, resolution %llu, now %llu, %s",
         options.blades, options.slot_bits,
         (unsigned long long)options.resolution,
         (unsigned long long)options.now, how < 192 ? "new" : "place");
    lawn = how < 192 ? lawn_new(&options)
                     : place_lawn(ops, &options, how % 64, &place);
    if (lawn == NULL) {
        ops->result->refused++;
        if (config->refusals == NULL || *config->refusals == refusals) {
            fail(ops, "lawn_new() failed without need");
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

    do_start(ops, i, take_ttl(ops));
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
        ops->result->refused++;
        return;
    }
    TELL(ops, "move to a lawn of %zu blades, slot bits %u, made at %llu",
         options.blades, options.slot_bits, (unsigned long long)options.now);
    visit_all(ops, &visited, UINT64_MAX);
    lawn_free(ops->lawn);
    free(ops->place);
    ops->lawn = lawn;
    ops->place = NULL;
    lawn_set_now(lawn, now);
    for (i = 0; i < visited.many && !ops->failed; i++) {
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
    uint8_t byte = take(ops);

    if (byte < 64) {
        do_start_at(ops, i, earlier(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_start_at(ops, i, later(ops->oracle.now, take_ttl(ops)));
    } else {
        do_start_at(ops, i, take_extreme(ops));
    }
}

/* Two TTLs in turn, very often: what a lawn does only now and then, it does
 * now. */
static void
op_churn(struct ops *ops)
{
    uint32_t i = take_timer(ops);
    uint64_t ttls[2];
    uint32_t times = 1u << take(ops) % OPS_CHURN;
    struct lawn_timer *timer = timer_of(ops, i);

    ttls[0] = take_ttl(ops);
    ttls[1] = take_ttl(ops);
    TELL(ops, "start timer %u %u times, ttl %llu and %llu in turn", i, times,
         (unsigned long long)ttls[0], (unsigned long long)ttls[1]);
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
    unsigned row = take(ops) % 16;
    uint64_t ttl = take_ttl(ops);

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
    unsigned row = take(ops) % 16;

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
    (void)do_mow(ops, later(ops->oracle.now, take_step(ops)), SIZE_MAX);
}

static void
op_mow_budget(struct ops *ops)
{
    uint64_t now = later(ops->oracle.now, take_step(ops));

    (void)do_mow(ops, now, take_budget(ops));
}

/* To the next deadline, or a tick before or after it. */
static void
op_mow_next(struct ops *ops)
{
    uint8_t byte = take(ops);
    uint64_t next =
        ops->oracle.thorough ? oracle_next(&ops->oracle) : lawn_next(ops->lawn);

    if (next == LAWN_NEVER && byte != 0) {
        next = ops->oracle.now;
    }
    next = byte % 8 == 1   ? earlier(next, 1)
           : byte % 8 == 2 ? later(next, 1)
                           : next;
    (void)do_mow(ops, next, byte < 160 ? SIZE_MAX : take_budget(ops));
}

static void
op_mow_jump(struct ops *ops)
{
    uint64_t ticks = take_extreme(ops) & ops->reach;

    (void)do_mow(ops, later(ops->oracle.now, ticks), take_budget(ops));
}

static void
op_mow_back(struct ops *ops)
{
    uint8_t byte = take(ops);
    uint64_t ticks = byte < 192 ? byte : take_extreme(ops);

    (void)do_mow(ops, earlier(ops->oracle.now, ticks), take_budget(ops));
}

/* With small budgets until none is left. */
static void
op_mow_drain(struct ops *ops)
{
    uint64_t now = later(ops->oracle.now, take_step(ops));
    size_t budget = 1 + take(ops) % 4;
    unsigned rounds = 64;

    while (rounds-- > 0 && do_mow(ops, now, budget) == budget) {
        compare(ops);
    }
}

static void
op_set_now(struct ops *ops)
{
    uint8_t byte = take(ops);

    if (byte < 128) {
        do_set_now(ops, later(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_set_now(ops, earlier(ops->oracle.now, byte));
    } else {
        do_set_now(ops, later(ops->oracle.now, take_extreme(ops) & ops->reach));
    }
}

static void
op_set_resolution(struct ops *ops)
{
    do_set_resolution(ops, take_resolution(ops));
}

static void
op_look(struct ops *ops)
{
    uint32_t i = take_timer(ops);

    TELL(ops, "look at timer %u", i);
    compare_timer(ops, i);
}

static void
op_look_at_all(struct ops *ops)
{
    if (oracle_looks(&ops->oracle)) {
        TELL(ops, "look at all timers");
        compare_all(ops);
    }
}

/* Filling one takes most of a case, so it stays. */
static void
op_renew(struct ops *ops)
{
    if (!ops->config->fill) {
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
    unsigned byte = take(ops);
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
    expect(ops, "P2: lawn_count() at the end of time", ops->oracle.count, 0);
    expect(ops, "P2: lawn_next() at the end of time", lawn_next(ops->lawn),
           LAWN_NEVER);
}

static void
take_case(struct ops *ops)
{
    static const uint32_t many[4] = {64, 256, 8, 16};
    static const unsigned reach[4] = {16, 9, 32, 64};
    static const unsigned span[4] = {16, 8, 12, 5};
    uint8_t byte;

    ops->mix = (enum ops_mix)(take(ops) % OPS_MIXES);
    byte = take(ops);
    ops->reach = UINT64_MAX >> (64 - reach[byte / 4 % 4]);
    ops->span = UINT64_MAX >> (64 - span[byte / 64]);
    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->oracle.many = many[byte % 4];
    ops->oracle.thorough = true;
    if (ops->config->timers != 0) {
        ops->oracle.many = ops->config->timers;
        ops->oracle.thorough = ops->oracle.many <= OPS_MANY_MAX;
    }
}

bool
ops_run(const struct ops_config *config, const uint8_t *bytes, size_t size,
        struct ops_result *result)
{
    struct ops ops;

    memset(&ops, 0, sizeof ops);
    memset(result, 0, sizeof *result);
    ops.config = config;
    ops.result = result;
    ops.bytes = bytes;
    ops.size = size;
    take_case(&ops);
    ops.timers = calloc(ops.oracle.many, sizeof *ops.timers);
    ops.oracle.timers = calloc(ops.oracle.many, sizeof *ops.oracle.timers);
    if (ops.timers == NULL || ops.oracle.timers == NULL) {
        abort();
    }
    ops.own = 2;
    if (renew_lawn(&ops)) {
        while (ops.at < ops.size && !ops.failed) {
            run_one(&ops);
        }
        if (!ops.failed) {
            run_out(&ops);
        }
        result->fires = ops.oracle.fires;
        free_lawn(&ops);
    }
    free(ops.timers);
    free(ops.oracle.timers);
    return !ops.failed;
}
