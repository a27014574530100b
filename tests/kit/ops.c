/* ops.c - the interpreter of operations: see ops.h.
 *
 * A case is a byte for the mix, a byte for its size and style, then lawn
 * options, then operations. Each reads the bytes it needs; after the last byte
 * it reads zeros and the case ends. Callbacks read short programs from the same
 * bytes.
 *
 * If the first byte asks for classes, about half of the operations are those of
 * class_ops.c, in callbacks, too.
 *
 * Every timer is a separate block of memory, which is freed and allocated again
 * during the case, so that a sanitizer detects any access to a timer that the
 * lawn no longer holds.
 */
#include "ops.h"

#include "class_ops.h"
#include "internal.h"
#include "lawn.h"
#include "ops_state.h"

#include <stdlib.h>
#include <string.h>

#define OPS_STEP_MAX 128u
/* If the order has to be determined, times end before the last tick. */
#define OPS_TIME_MAX (UINT64_C(1) << 62)
#define OPS_TTL_MASK ((UINT64_C(1) << 60) - 1)
#define OPS_SMALL_LAWN 16384u
/* Limits of P8. A call may examine OPS_LOOKS_MAX entries. Besides its fires, a
 * mow may process OPS_WORK entries for each timer of its budget, plus
 * OPS_WORK_LEAST. */
#if defined LAWN_NEXT_LOOKS
#define OPS_LOOKS_MAX LAWN_NEXT_LOOKS
#define OPS_WORK LAWN_MOW_WORK
#define OPS_WORK_LEAST LAWN_MOW_WORK_LEAST
#else
#define OPS_LOOKS_MAX 448u
#define OPS_WORK 7u
#define OPS_WORK_LEAST 448u
#endif
/* log2 of the starts that a lawn needs to change its tuning. */
#if defined LAWN_TUNING_PERIOD
#define OPS_CHURN 9u
#else
#define OPS_CHURN 16u
#endif

uint32_t
ops_take_timer(struct ops *ops)
{
    uint32_t i = script_take_wide(&ops->script,
                                  ops->oracle.many > OPS_MANY_MAX ? 3 : 1) %
                 ops->oracle.many;

    /* Leaves most timers of classes alone. */
    return ops->classes.enabled && ops->script.result->operations % 8 != 0
               ? i / 2
               : i;
}

/* Checks that must hold after every operation. */
static void
compare(struct ops *ops)
{
    const struct ops_config *config = ops->script.config;

    ops->script.result->operations++;
    script_expect(&ops->script, "P9: lawn_now()", lawn_now(ops->lawn),
                  ops->oracle.now);
    script_expect(&ops->script, "P3: lawn_count()", lawn_count(ops->lawn),
                  ops->oracle.count + ops->classes.oracle.count);
    if (ops->witness != NULL) {
        script_expect(&ops->script, "P9: lawn_now(), by the witness,",
                      lawn_now(ops->lawn), ops->witness->clock);
        script_expect(&ops->script, "P3: lawn_count(), by the witness,",
                      lawn_count(ops->lawn),
                      witness_count(ops->witness) + ops->classes.oracle.count);
    }
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

    if (class_ops_has(ops, i)) {
        class_ops_compare_timer(ops, i);
    } else if (ops->timers[i] != NULL) {
        const struct lawn_timer *timer = &ops->timers[i]->timer;

        script_expect(&ops->script, "P3: lawn_pending()", lawn_pending(timer),
                      deadline != LAWN_NEVER);
        script_expect(&ops->script, "P9: lawn_deadline()", lawn_deadline(timer),
                      deadline);
        script_expect(&ops->script, "P9: lawn_last_deadline()",
                      lawn_last_deadline(timer), ops->oracle.timers[i].due);
    }
    if (ops->witness != NULL) {
        script_expect(&ops->script, "P9: a deadline, by the witness,", deadline,
                      witness_deadline(ops->witness, i));
    }
}

/* Reports to both judges; with an injected fault, sometimes not to one. */

bool
ops_lies(struct ops *ops, enum ops_fault fault)
{
    return ops->script.config->fault == fault && ++ops->lies % 2 == 0;
}

static void
report_start(struct ops *ops, uint32_t i, uint64_t ttl)
{
    oracle_start(&ops->oracle, i, ttl + ops_lies(ops, OPS_ORACLE_TTL));
    if (ops->witness != NULL) {
        witness_start(ops->witness, i, ttl + ops_lies(ops, OPS_WITNESS_TTL));
    }
}

static bool
report_stop(struct ops *ops, uint32_t i)
{
    bool running = ops_lies(ops, OPS_ORACLE_STOP)
                       ? ops->oracle.timers[i].deadline != LAWN_NEVER
                       : oracle_stop(&ops->oracle, i);

    if (ops->witness != NULL && !ops_lies(ops, OPS_WITNESS_STOP) &&
        witness_stop(ops->witness, i) != running) {
        script_fail(&ops->script, "P5: the witness disagrees");
    }
    return running;
}

void
ops_report_now(struct ops *ops, uint64_t now)
{
    oracle_set_now(&ops->oracle,
                   now - (ops_lies(ops, OPS_ORACLE_CLOCK) ? 1 : 0));
    if (ops->witness != NULL) {
        witness_set_now(ops->witness,
                        now - (ops_lies(ops, OPS_WITNESS_CLOCK) ? 1 : 0));
    }
}

static void
report_resolution(struct ops *ops, uint64_t resolution)
{
    if (!ops_lies(ops, OPS_ORACLE_RESOLUTION)) {
        oracle_set_resolution(&ops->oracle, resolution);
    }
    if (ops->witness != NULL && !ops_lies(ops, OPS_WITNESS_RESOLUTION)) {
        witness_set_resolution(ops->witness, resolution);
    }
}

/* Fails the case if either judge reports a broken promise. */
void
ops_hear(struct ops *ops, uint32_t i, const char *oracle, const char *witness)
{
    if (oracle != NULL) {
        script_fail(&ops->script, "%s (timer %u)", oracle, i);
    } else if (witness != NULL) {
        script_fail(&ops->script, "%s (timer %u, by the witness)", witness, i);
    }
}

/* Values for which P4 alone determines the order, if configured. */

static uint64_t
fit_ttl(struct ops *ops, uint64_t ttl)
{
    if (ops->ttl == NULL) {
        return ttl;
    }
    ttl &= OPS_TTL_MASK;
    ttl = ttl > 0 ? ttl : 1;
    uint64_t *known = &ops->ttl[ttl % ops->step];
    *known = *known != 0 ? *known : ttl;
    return *known;
}

/* Returns a time on the grid, not before the given one if possible. */
static uint64_t
fit_now(const struct ops *ops, uint64_t now)
{
    if (ops->ttl == NULL) {
        return now;
    }
    now = now < OPS_TIME_MAX ? now : OPS_TIME_MAX;
    return (now + ops->step - 1) / ops->step * ops->step;
}

/* With OPS_EDGES, half of the values are used as deadlines, not as TTLs. */
uint64_t
ops_take_ttl(struct ops *ops)
{
    struct script *script = &ops->script;
    uint64_t ttl = 0;

    if (script->mix == OPS_EDGES && script_take(script) % 2 == 0) {
        ttl = script_take_extreme(script);
        ttl = ttl > ops->oracle.now ? ttl - ops->oracle.now : ttl;
    } else {
        ttl = script_take_ttl(script);
    }
    return fit_ttl(ops, ttl);
}

static void
compare_all(struct ops *ops)
{
    for (uint32_t i = 0; i < ops->oracle.many; i++) {
        compare_timer(ops, i);
    }
}

/* Operations on single timers, inside callbacks and outside. */

/* Before a timer of a class is started in another way, it is stopped. */
static void
leave_class(struct ops *ops, uint32_t i)
{
    if (class_ops_has(ops, i)) {
        class_ops_stop(ops, i);
    }
}

struct lawn_timer *
ops_timer_of(struct ops *ops, uint32_t i)
{
    if (ops->timers[i] == NULL) {
        ops->timers[i] = calloc(1, sizeof(*ops->timers[i]));
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
    struct lawn_timer *timer = ops_timer_of(ops, i);

    leave_class(ops, i);
    report_start(ops, i, ttl);
    TRACE(&ops->script, "start timer %u, ttl %llu: due at %llu", i,
          (unsigned long long)ttl,
          (unsigned long long)ops->oracle.timers[i].deadline);
    lawn_start(ops->lawn, timer, ttl);
    compare_timer(ops, i);
}

static void
do_start_at(struct ops *ops, uint32_t i, uint64_t deadline)
{
    struct lawn_timer *timer = ops_timer_of(ops, i);
    uint64_t now = ops->oracle.now;

    leave_class(ops, i);
    if (ops->ttl != NULL) {
        deadline = now + fit_ttl(ops, deadline > now ? deadline - now : 1);
    }
    oracle_start_at(&ops->oracle, i, deadline);
    if (ops->witness != NULL) {
        witness_start_at(ops->witness, i, deadline);
    }
    TRACE(&ops->script, "start timer %u at %llu: due at %llu", i,
          (unsigned long long)deadline,
          (unsigned long long)ops->oracle.timers[i].deadline);
    lawn_start_at(ops->lawn, timer, deadline);
    compare_timer(ops, i);
}

static void
do_start_as(struct ops *ops, uint32_t i, uint64_t ttl, uint64_t deadline)
{
    struct lawn_timer *timer = ops_timer_of(ops, i);
    const char *witness = NULL;

    leave_class(ops, i);
    ops->complete = 0;
    lawn_start_as(ops->lawn, timer, ttl, deadline);
    const char *broken =
        oracle_start_as(&ops->oracle, i, ttl, deadline, lawn_deadline(timer));
    if (ops->witness != NULL) {
        witness = witness_start_as(ops->witness, i, ttl, deadline,
                                   lawn_deadline(timer));
    }
    TRACE(&ops->script, "start timer %u as of ttl %llu at %llu: due at %llu", i,
          (unsigned long long)ttl, (unsigned long long)deadline,
          (unsigned long long)lawn_deadline(timer));
    ops_hear(ops, i, broken, witness);
    compare_timer(ops, i);
}

/* Starts a timer, usually with a TTL in use, or with none; due as if started
 * now or somewhat earlier, overdue, or at any time. */
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
    if (ops->ttl != NULL) {
        do_start(ops, i, fit_ttl(ops, ttl));
    } else {
        do_start_as(ops, i, ttl, deadline);
    }
}

static void
do_restart(struct ops *ops, uint32_t i)
{
    bool known = ops->oracle.timers[i].deadline != LAWN_NEVER;

    do_start(ops, i, known ? ops->oracle.timers[i].ttl : ops_take_ttl(ops));
}

void
ops_stop(struct ops *ops, uint32_t i)
{
    struct lawn_timer *timer = ops_timer_of(ops, i);

    if (class_ops_has(ops, i)) {
        class_ops_stop(ops, i);
        return;
    }
    bool running = report_stop(ops, i);

    TRACE(&ops->script, "stop timer %u, %s", i, running ? "running" : "idle");
    script_expect(&ops->script, "P5: lawn_stop()", lawn_stop(ops->lawn, timer),
                  running);
    compare_timer(ops, i);
}

/* The caller owns the memory of an idle timer and may free it. */
static void
do_drop(struct ops *ops, uint32_t i)
{
    if (ops->oracle.timers[i].deadline != LAWN_NEVER || class_ops_has(ops, i)) {
        ops_stop(ops, i);
    }
    if (!ops->script.failed) {
        TRACE(&ops->script, "free the memory of timer %u", i);
        free(ops->timers[i]);
        ops->timers[i] = NULL;
        ops->oracle.timers[i].due = 0;
    }
}

/* Moves a timer to other memory, running or not. */
static void
do_moved(struct ops *ops, uint32_t i)
{
    struct ops_timer *from = ops->timers[i];

    if (from == NULL) {
        return;
    }
    TRACE(&ops->script, "move timer %u in memory", i);
    struct ops_timer *to = NULL;
    to = malloc(sizeof(*to));
    if (to == NULL) {
        abort();
    }
    ops->own++;
    memcpy(to, from, sizeof(*to));
    memset(from, 0xA5, sizeof(*from));
    free(from);
    ops->timers[i] = to;
    if (class_ops_has(ops, i)) {
        class_ops_moved(ops, i);
        return;
    }
    lawn_moved(ops->lawn, &to->timer);
    compare_timer(ops, i);
}

/* Costs [P8]. */

/* Returns the number of entries that the lawn has moved, examined and
 * prefetched. Stores in *looked the number of those that it has examined. Reads
 * the counters of lawn_stats(), which also counts blades, without that cost. */
static uint64_t
count_entries(const struct ops *ops, uint64_t *looked)
{
    const struct lawn *lawn = ops->lawn;

    if (looked != NULL) {
        *looked = lawn->looked;
    }
    return lawn->index.moved + lawn->looked + lawn->ahead;
}

/* The results of the functions that find the earliest timer, and the entries
 * that each of them examined. */
struct ops_next {
    uint64_t time;
    uint64_t exact;
    struct lawn_timer *timer;
    uint64_t time_looks;
    uint64_t timer_looks;
    uint64_t timer_moves; /* entries that it moved or dropped as well */
};

static void
ask_time(struct ops *ops, struct ops_next *next)
{
    uint64_t before = 0;
    uint64_t after = 0;

    (void)count_entries(ops, &before);
    next->time = lawn_next(ops->lawn);
    (void)count_entries(ops, &after);
    next->time_looks = after - before;
    if (next->time_looks > OPS_LOOKS_MAX + class_ops_count(ops)) {
        script_fail(&ops->script, "P8: lawn_next() examined %llu entries",
                    (unsigned long long)next->time_looks);
    }
}

static void
ask_timer(struct ops *ops, struct ops_next *next)
{
    uint64_t before = 0;
    uint64_t after = 0;
    uint64_t entries = count_entries(ops, &before);

    next->timer = lawn_next_timer(ops->lawn);
    entries = count_entries(ops, &after) - entries;
    next->timer_looks = after - before;
    next->timer_moves = entries - next->timer_looks;
    /* The limit does not include the entries of emptied blades, which the call
     * drops. */
    if (next->timer_looks > OPS_LOOKS_MAX + next->timer_moves) {
        script_fail(&ops->script,
                    "P8: lawn_next_timer() examined %llu entries, of which it "
                    "moved %llu",
                    (unsigned long long)next->timer_looks,
                    (unsigned long long)next->timer_moves);
    }
}

static uint64_t
earliest_of_all(const struct ops *ops, uint64_t outside)
{
    uint64_t earliest = ops->classes.enabled
                            ? class_oracle_next(&ops->classes.oracle)
                            : LAWN_NEVER;

    return earliest < outside ? earliest : outside;
}

/* Compares the results with the earliest deadline; `outside` is that of timers
 * without a class. Those of lawn_next() and
 * lawn_next_timer() need not be exact if they examined as many entries as they
 * may. */
static void
judge_next(struct ops *ops, const struct ops_next *next, uint64_t outside,
           const char *judge)
{
    char promise[80];
    uint64_t earliest = earliest_of_all(ops, outside);

    (void)snprintf(promise, sizeof(promise), "P2: lawn_next_exact()%s", judge);
    script_expect(&ops->script, promise, next->exact, earliest);
    if (next->time > earliest) {
        script_fail(&ops->script, "P2: lawn_next() is %llu, after %llu%s",
                    (unsigned long long)next->time,
                    (unsigned long long)earliest, judge);
    }
    if (next->time_looks < OPS_LOOKS_MAX || earliest == LAWN_NEVER) {
        (void)snprintf(promise, sizeof(promise), "P2: lawn_next()%s", judge);
        script_expect(&ops->script, promise, next->time, earliest);
    }
    if (next->time <= ops->complete && earliest > ops->complete) {
        script_fail(&ops->script,
                    "P2: lawn_next() is %llu, but a mow at %llu was complete",
                    (unsigned long long)next->time,
                    (unsigned long long)ops->complete);
    }
    uint64_t deadline =
        next->timer != NULL ? lawn_deadline(next->timer) : LAWN_NEVER;
    if (next->timer_looks < OPS_LOOKS_MAX || deadline == next->time) {
        (void)snprintf(promise, sizeof(promise),
                       "P2: the deadline of lawn_next_timer()%s", judge);
        script_expect(&ops->script, promise, deadline, outside);
    } else if ((next->timer == NULL) != (outside == LAWN_NEVER) ||
               deadline < outside) {
        script_fail(&ops->script,
                    "P2: the deadline of lawn_next_timer() is "
                    "before all others%s",
                    judge);
    }
}

/* The order of the calls varies, and lawn_next_exact() is usually not called:
 * none of them may rely on another. */
static void
do_next(struct ops *ops)
{
    uint64_t how = ops->script.result->operations / 4;
    uint64_t entries = count_entries(ops, NULL);
    struct ops_next next = {0};

    if (how % 2 == 0) {
        ask_timer(ops, &next);
    }
    if (how % 8 == 3) {
        next.exact = lawn_next_exact(ops->lawn);
    }
    ask_time(ops, &next);
    if (how % 2 == 1) {
        ask_timer(ops, &next);
    }
    ops->inside += count_entries(ops, NULL) - entries;
    TRACE(&ops->script, "next: %llu", (unsigned long long)next.time);
    if (next.timer != NULL && !lawn_pending(next.timer)) {
        script_fail(&ops->script, "P3: the first timer is an idle one");
        return;
    }
    bool first = next.timer != NULL && next.timer_looks < OPS_LOOKS_MAX;
    uint32_t i =
        next.timer != NULL
            ? LAWN_CONTAINER(next.timer, struct ops_timer, timer)->number
            : 0;
    if (oracle_looks(&ops->oracle)) {
        uint64_t earliest = oracle_next(&ops->oracle);

        next.exact = how % 8 == 3 ? next.exact : earliest_of_all(ops, earliest);
        judge_next(ops, &next, earliest, "");
        if (first) {
            ops_hear(ops, i, oracle_first(&ops->oracle, i), NULL);
        }
    }
    if (ops->witness != NULL) {
        uint64_t earliest = witness_next(ops->witness);

        next.exact = how % 8 == 3 ? next.exact : earliest_of_all(ops, earliest);
        judge_next(ops, &next, earliest, ", by the witness,");
        if (first) {
            ops_hear(ops, i, NULL, witness_first(ops->witness, i));
        }
    }
}

static void
do_set_now(struct ops *ops, uint64_t now)
{
    now = fit_now(ops, now);
    ops_report_now(ops, now);
    TRACE(&ops->script, "set now to %llu", (unsigned long long)now);
    lawn_set_now(ops->lawn, now);
}

static void
do_set_resolution(struct ops *ops, uint64_t resolution)
{
    if (ops->ttl != NULL) {
        return;
    }
    report_resolution(ops, resolution);
    class_oracle_disturb(&ops->classes.oracle);
    TRACE(&ops->script, "set resolution to %llu",
          (unsigned long long)resolution);
    lawn_set_resolution(ops->lawn, resolution);
}

static void
do_check(struct ops *ops)
{
    if (!oracle_looks(&ops->oracle)) {
        return;
    }
    TRACE(&ops->script, "check");
    if (!lawn_check(ops->lawn, stderr)) {
        script_fail(&ops->script, "lawn_check() found a broken invariant");
    }
}

static void
do_stats(struct ops *ops)
{
    const struct oracle *oracle = &ops->oracle;

    if (!oracle_looks(&ops->oracle)) {
        return;
    }
    TRACE(&ops->script, "stats");
    uint64_t unqueued = lawn_count_unqueued(ops->lawn);
    struct lawn_counters stats;
    lawn_stats(ops->lawn, &stats);
    script_expect(&ops->script, "P3: starts", stats.starts, oracle->starts);
    script_expect(&ops->script, "P3: stops", stats.stops, oracle->stops);
    script_expect(&ops->script, "P3: fires", stats.fires, oracle->fires);
    script_expect(&ops->script, "P3: count", stats.count, oracle->count);
    script_expect(&ops->script, "P7: bytes", stats.bytes, ops->bytes_at_first);
    script_expect(&ops->script, "P8: moved, looked and ahead",
                  stats.moved + stats.looked + stats.ahead,
                  count_entries(ops, NULL));
    if (stats.live_blades > stats.blades ||
        stats.unqueued_starts > stats.starts + oracle->restarts ||
        stats.live_blades + unqueued > stats.count ||
        (stats.live_blades == 0 && unqueued != stats.count)) {
        script_fail(
            &ops->script,
            "P3: %zu of %zu blades, %llu unqueued timers and %llu unqueued "
            "starts do not fit %llu timers",
            stats.live_blades, stats.blades, (unsigned long long)unqueued,
            (unsigned long long)stats.unqueued_starts,
            (unsigned long long)stats.count);
    }
}

/* Visits. */

struct visited {
    struct ops *ops;
    uint64_t limit; /* maximum number of visited timers */
    uint64_t many;
    uint32_t number[OPS_MANY_MAX]; /* in this order, up to this size */
    uint64_t ttl[OPS_MANY_MAX];    /* TTL of each */
};

static bool
visit(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct visited *visited = (struct visited *)arg;
    struct ops *ops = visited->ops;
    struct ops_timer *seen = LAWN_CONTAINER(timer, struct ops_timer, timer);
    const struct oracle_timer *t = &ops->oracle.timers[seen->number];

    if (visited->many == visited->limit) {
        script_fail(&ops->script, "P3: a visit continued after it was stopped");
    }
    if (t->deadline == LAWN_NEVER || seen->visit == ops->visits) {
        script_fail(&ops->script, "P3: timer %u was visited %s", seen->number,
                    t->deadline == LAWN_NEVER ? "though it is idle" : "twice");
    }
    seen->visit = ops->visits;
    if (ttl != 0) {
        script_expect(&ops->script, "P4: the TTL that is passed", ttl, t->ttl);
    }
    for (uint64_t i = 0; i < visited->many && i < OPS_MANY_MAX; i++) {
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

/* Visits all timers, or the first few. */
static void
visit_all(struct ops *ops, struct visited *visited, uint64_t limit)
{
    uint64_t count = ops->oracle.count;

    visited->ops = ops;
    visited->limit = limit;
    visited->many = 0;
    ops->visits++;
    bool all = lawn_each(ops->lawn, visit, visited);
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
        TRACE(&ops->script, "visit each");
        visit_all(ops, &visited, byte < 64 ? 1 + byte % 8u : UINT64_MAX);
    }
}

/* Callbacks. */

/* Uses up the budget. */
static void
do_halt(struct ops *ops)
{
    TRACE(&ops->script, "halt");
    lawn_halt(ops->lawn);
    ops->budget = ops->fired;
    ops->halted = true;
}

/* Returns a running timer near the given one that is due in the current mow. */
static uint32_t
sibling(const struct ops *ops, uint32_t i)
{
    const struct oracle *oracle = &ops->oracle;

    for (uint32_t tries = 0; tries < 64; tries++) {
        i = (i + 1) % oracle->many;
        if (oracle->timers[i].deadline <= ops->until) {
            break;
        }
    }
    return i;
}

/* Without assertions, a mow inside a mow does nothing [P10]. */
static void
do_mow_inside(struct ops *ops)
{
#if defined NDEBUG
    size_t fired = ops->fired;

    TRACE(&ops->script, "mow inside a mow");
    script_expect(&ops->script, "P10: a mow inside a mow",
                  lawn_mow(ops->lawn, LAWN_NEVER, SIZE_MAX, ops_callback, ops),
                  0);
    script_expect(&ops->script, "P10: timers fired in a mow inside a mow",
                  ops->fired - fired, 0);
#else
    (void)ops;
#endif
}

/* Chooses a timer near the fired one: in its queue, at the end of it, the first
 * of all, also due in this mow, or the previously fired one. */
static uint32_t
take_neighbor(struct ops *ops, uint32_t self, uint8_t byte)
{
    uint32_t i = self;

    switch (byte % 8) {
    case 0:
        break;
    case 1:
        i = ops->witness != NULL ? witness_behind(ops->witness, self) : self;
        break;
    case 2:
        i = ops->witness != NULL ? witness_tail(ops->witness, self) : self;
        break;
    case 3:
        i = ops->witness != NULL ? witness_front(ops->witness, self) : self;
        break;
    case 4:
        i = ops->before;
        break;
    case 5:
        i = sibling(ops, self);
        break;
    default:
        i = ops_take_timer(ops);
    }
    return i % ops->oracle.many;
}

static void
callback_more(struct ops *ops, uint32_t self)
{
    uint8_t byte = script_take(&ops->script);
    uint32_t other = take_neighbor(ops, self, byte);

    switch (byte / 8 % 16) {
    case 0:
    case 1:
        ops_stop(ops, other);
        break;
    case 2:
        do_drop(ops, other);
        break;
    case 3:
    case 4:
    case 5:
        do_restart(ops, other);
        break;
    case 6:
        do_start(ops, other, ops_take_ttl(ops));
        break;
    case 7:
        do_start_at(ops, self, ops->oracle.timers[other].deadline);
        break;
    case 8:
        do_moved(ops, other);
        break;
    case 9:
        do_mow_inside(ops);
        break;
    case 10:
        do_halt(ops);
        break;
    case 11:
        do_set_resolution(ops, script_take_resolution(&ops->script));
        break;
    case 12:
        do_set_now(ops, script_take_far(&ops->script, ops->oracle.now));
        break;
    default:
        do_next(ops);
    }
}

static void
callback_other(struct ops *ops, uint32_t self)
{
    uint8_t byte = script_take(&ops->script);
    uint32_t other = byte < 64    ? self
                     : byte < 160 ? sibling(ops, self)
                                  : ops_take_timer(ops);

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
    case 28:
    case 29:
    case 30:
    case 31:
        callback_more(ops, self);
        break;
    default:
        if (byte % 32 < 8) {
            do_start(ops, other, ops_take_ttl(ops));
        } else if (byte % 32 < 12) {
            do_restart(ops, other);
        } else {
            ops_stop(ops, other);
        }
    }
}

static void
callback_one(struct ops *ops, uint32_t self)
{
    if (!class_ops_run(ops, true)) {
        callback_other(ops, self);
    }
    compare(ops);
}

static void
note_firing(struct ops *ops, uint32_t i)
{
    struct ops_log *log = ops->script.config->log;

    if (log == NULL) {
        return;
    }
    if (log->length < log->room) {
        struct ops_firing *firing = &log->firings[log->length];

        firing->timer = i;
        firing->deadline = ops->oracle.timers[i].due;
        /* In a quiet mow in pieces the clock differs. */
        firing->now = ops->quiet ? 0 : lawn_now(ops->lawn);
    }
    log->length++;
}

static void
judge_firing(struct ops *ops, uint32_t i)
{
    struct class_oracle *classes = &ops->classes.oracle;
    const char *witness = NULL;

    if (class_ops_has(ops, i)) {
        ops->oracle.timers[i].due = class_oracle_deadline(classes, i);
        ops_hear(ops, i, class_oracle_fire(classes, i), NULL);
        return;
    }
    if (ops->classes.enabled) {
        ops_hear(
            ops, i,
            class_oracle_fire_other(classes, ops->oracle.timers[i].deadline),
            NULL);
    }
    const char *broken =
        ops_lies(ops, OPS_ORACLE_FIRE) ? NULL : oracle_fire(&ops->oracle, i);
    if (ops->witness != NULL && !ops_lies(ops, OPS_WITNESS_FIRE)) {
        witness = witness_fire(ops->witness, i);
    }
    ops_hear(ops, i, broken, witness);
}

void
ops_callback(struct lawn_timer *timer, void *arg)
{
    static const uint8_t lengths[8] = {0, 0, 0, 1, 1, 1, 2, 4};
    struct ops *ops = (struct ops *)arg;
    uint32_t i = LAWN_CONTAINER(timer, struct ops_timer, timer)->number;

    TRACE(&ops->script, "timer %u fires", i);
    ops->fired++;
    if (i >= ops->oracle.many || ops->timers[i] == NULL ||
        timer != &ops->timers[i]->timer) {
        script_fail(&ops->script, "P3: an unknown timer fired");
        return;
    }
    judge_firing(ops, i);
    note_firing(ops, i);
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
    script_expect(&ops->script, "P6: lawn_last_deadline() in the callback",
                  lawn_last_deadline(timer), ops->oracle.timers[i].due);
    unsigned todo = 0;
    for (todo = lengths[script_take(&ops->script) % 8];
         todo > 0 && !ops->quiet && !ops->script.failed; todo--) {
        callback_one(ops, i);
    }
    ops->before = i;
}

/* Checks the cost of a mow: the number of entries that it processed, and that
 * it stopped early only because that number reached its limit [P8]. */
static void
check_work(struct ops *ops, size_t budget, size_t returned, uint64_t entries)
{
    uint64_t least = OPS_WORK_LEAST + ops->classes.at_begin;
    uint64_t limit = OPS_WORK * (uint64_t)budget + least;
    /* Corrections of the times of classes are not counted. */
    uint64_t slack = ops->classes.at_begin > 0 ? least + ops->fired : 0;

    if (budget > (UINT64_MAX - least) / OPS_WORK) {
        limit = UINT64_MAX;
    }
    if (entries > limit) {
        script_fail(&ops->script,
                    "P8: a mow with budget %zu processed %llu entries", budget,
                    (unsigned long long)entries);
    }
    ops->limited = !ops->halted && returned == budget && ops->fired < budget;
    if (!ops->limited) {
        script_expect(&ops->script, "P3: lawn_mow()", returned, ops->fired);
    } else if (entries + slack < limit) {
        script_fail(&ops->script,
                    "P2: a mow that fired %zu of %zu timers stopped after %llu "
                    "entries",
                    ops->fired, budget, (unsigned long long)entries);
    } else {
        TRACE(&ops->script, "the mow reached its limit of work");
    }
}

void
ops_begin_mow(struct ops *ops, uint64_t now, size_t budget)
{
    ops->budget = budget;
    ops->fired = 0;
    ops->halted = false;
    ops->inside = 0;
    ops->until = ops->ttl != NULL ? ops->until : now;
    ops->classes.at_begin = class_ops_count(ops);
    oracle_mow(&ops->oracle, now);
    if (ops->witness != NULL) {
        witness_mow(ops->witness, now);
    }
}

/* Returns the number of timers fired. */
static size_t
mow_once(struct ops *ops, uint64_t now, size_t budget)
{
    const char *witness = NULL;

    if (budget == SIZE_MAX) {
        TRACE(&ops->script, "mow at %llu", (unsigned long long)now);
    } else {
        TRACE(&ops->script, "mow at %llu, budget %zu", (unsigned long long)now,
              budget);
    }
    ops_begin_mow(ops, now, budget);
    if (ops->classes.enabled) {
        class_oracle_mow(&ops->classes.oracle, CLASS_ORACLE_NONE, now, budget);
    }
    uint64_t entries = count_entries(ops, NULL);
    ops->script.depth++;
    size_t returned = lawn_mow(ops->lawn, now, budget, ops_callback, ops);
    ops->script.depth--;
    entries = count_entries(ops, NULL) - entries - ops->inside;
    check_work(ops, budget, returned, entries);
    /* Like a halt, the limit of work uses up the budget. */
    ops->budget = ops->limited ? ops->fired : ops->budget;
    bool all = ops->fired < ops->budget;
    if (all && now > ops->complete) {
        ops->complete = now;
    }
    if (ops->classes.enabled) {
        ops_hear(
            ops, 0,
            class_oracle_mown(&ops->classes.oracle, budget, all, ops->halted),
            NULL);
    }
    const char *broken = oracle_mown(&ops->oracle, ops->fired, ops->budget);
    if (ops->witness != NULL) {
        witness = witness_mown(ops->witness, all);
    }
    if (broken != NULL || witness != NULL) {
        script_fail(&ops->script, "%s%s", broken != NULL ? broken : witness,
                    broken != NULL ? "" : " (by the witness)");
    }
    return ops->fired;
}

/* Mows again while the limit of work ends the mow, so that another lawn, which
 * needs other work, fires the same timers. */
static size_t
mow_all(struct ops *ops, uint64_t now, size_t budget)
{
    size_t left = budget;

    do {
        left -= mow_once(ops, now, left);
    } while (ops->limited && !ops->script.failed);
    return budget - left;
}

/* The same in several mows, each to an earlier time or with a smaller budget,
 * with lawn_next() in between. */
static size_t
mow_in_pieces(struct ops *ops, uint64_t now, size_t budget)
{
    size_t left = budget;
    unsigned pieces = (unsigned)rng_below(&ops->cuts, 8);

    while (pieces-- > 0 && left > 0 && !ops->script.failed) {
        uint64_t next = oracle_next(&ops->oracle);
        uint64_t dice = rng_next(&ops->cuts);
        uint64_t time = now;
        size_t some = dice % 4 == 0 ? 1 + dice / 4 % 8 : left;

        if (next < now && dice / 32 % 4 != 0) {
            time = next + rng_below(&ops->cuts, now - next);
        }
        left -= mow_once(ops, time, some < left ? some : left);
        if (ops->halted || left == 0) {
            return budget - left;
        }
        if (dice / 128 % 4 == 0) {
            do_next(ops);
        }
    }
    return budget - left + (ops->script.failed ? 0 : mow_all(ops, now, left));
}

/* If the order has to be determined, the clock stays on its grid. It is set
 * before the mow, so that callbacks start timers from the same time in any
 * number of pieces. With quiet callbacks the clock may also move piece by
 * piece. */
static size_t
do_mow(struct ops *ops, uint64_t now, size_t budget)
{
    uint64_t pieces = ops->script.config->pieces;

    if (ops->ttl == NULL) {
        return mow_once(ops, now, budget);
    }
    now = now < OPS_TIME_MAX ? now : OPS_TIME_MAX;
    ops->until = now;
    if (!ops->quiet || pieces == 0) {
        do_set_now(ops, now);
    }
    size_t fired = pieces != 0 && budget > 0 ? mow_in_pieces(ops, now, budget)
                                             : mow_all(ops, now, budget);
    do_set_now(ops, now);
    return fired;
}

/* Lawns. */

static void
take_options(struct ops *ops, struct lawn_options *options)
{
    script_take_lawn(&ops->script, options);
    class_ops_take_options(ops, options);
    if (ops->ttl != NULL) {
        options->resolution = 0;
        options->now = fit_now(ops, options->now & OPS_TTL_MASK);
    }
    options->alloc = ops->script.config->alloc;
    options->release = ops->script.config->release;
    options->context = ops->script.config->context;
}

/* Creates a lawn in the test's memory, with any alignment and the exact
 * size. */
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
    for (uint32_t i = 0; i < ops->oracle.many; i++) {
        free(ops->timers[i]);
        ops->timers[i] = NULL;
    }
}

/* Frees the timers first: lawn_free() must not access them. */
static void
free_lawn(struct ops *ops)
{
    forget_timers(ops);
    lawn_free(ops->lawn);
    free(ops->place);
    ops->lawn = NULL;
    ops->place = NULL;
}

/* From now on, only creating lawns may allocate. */
static void
note_allocations(struct ops *ops)
{
    const uint64_t *allocations = ops->script.config->allocations;

    ops->foreign = allocations != NULL ? *allocations - ops->own : 0;
}

static void
note_size(struct ops *ops)
{
    struct lawn_counters stats;

    lawn_stats(ops->lawn, &stats);
    ops->bytes_at_first = stats.bytes;
}

static void
fill_lawn(struct ops *ops)
{
    note_size(ops);
    for (uint32_t i = 0; ops->script.config->fill && i < ops->oracle.many;
         i++) {
        do_start(ops, i, ops_take_ttl(ops));
    }
}

/* Replaces the lawn by a new one; the old one stays if there is no memory.
 * Returns false if there is no lawn at all. */
static bool
renew_lawn(struct ops *ops)
{
    const struct ops_config *config = ops->script.config;
    uint64_t refusals = config->refusals != NULL ? *config->refusals : 0;
    struct lawn_options options;
    struct lawn *lawn = NULL;
    void *place = NULL;

    take_options(ops, &options);
    uint8_t how = script_take(&ops->script);
    TRACE(&ops->script,
          "new lawn: blades %zu, slot bits %u, resolution %llu, now %llu, %s",
          options.blades, options.slot_bits,
          (unsigned long long)options.resolution,
          (unsigned long long)options.now, how < 192 ? "new" : "place");
    lawn = how < 192 ? lawn_new(&options)
                     : place_lawn(ops, &options, how % 64, &place);
    if (lawn == NULL) {
        ops->script.result->refused++;
        if (config->refusals == NULL || *config->refusals == refusals) {
            script_fail(&ops->script,
                        "lawn_new() failed although there is memory");
        }
    } else {
        if (ops->lawn != NULL) {
            free_lawn(ops);
        }
        ops->lawn = lawn;
        ops->place = place;
        ops->complete = 0;
        ops->classes.max = (uint32_t)options.classes;
        class_ops_renew(ops);
        oracle_init(&ops->oracle, options.now, options.resolution);
        if (ops->witness != NULL) {
            witness_init(ops->witness, options.now, options.resolution);
        }
    }
    note_allocations(ops);
    if (lawn != NULL) {
        fill_lawn(ops);
    }
    return ops->lawn != NULL;
}

/* Operations. Each gets a share of the 256 values of a byte. */

static void
op_start(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);

    do_start(ops, i, ops_take_ttl(ops));
}

static void
op_start_as(struct ops *ops)
{
    take_start_as(ops, ops_take_timer(ops));
}

/* Filling a lawn takes most of a case, so it stays. Short cases should not
 * spend their time on new lawns. */
static bool
keeps_lawn(const struct ops *ops)
{
    const struct ops_config *config = ops->script.config;

    return config->fill || (config->light && ops->script.at % 8 != 0);
}

/* "The timers are neither read nor written: if one was running, zero it before
 * using it again." */
static void
forget_classes(struct ops *ops)
{
    for (uint32_t i = 0; i < ops->oracle.many; i++) {
        if (class_ops_has(ops, i)) {
            memset(&ops->timers[i]->timer, 0, sizeof(ops->timers[i]->timer));
            ops->oracle.timers[i].due = 0;
        }
    }
    class_ops_renew(ops);
}

/* Moves all timers without a class to another lawn, which does not get the old
 * lawn's tuning. */
static void
op_move(struct ops *ops)
{
    uint64_t now = ops->oracle.now;
    uint64_t next = oracle_next(&ops->oracle);
    struct lawn_options options;
    struct visited visited;
    struct lawn *lawn = NULL;

    take_options(ops, &options);
    if (ops->oracle.many > OPS_MANY_MAX || keeps_lawn(ops)) {
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
    TRACE(&ops->script,
          "move to a lawn of %zu blades, slot bits %u, made at %llu",
          options.blades, options.slot_bits, (unsigned long long)options.now);
    visit_all(ops, &visited, UINT64_MAX);
    forget_classes(ops);
    ops->classes.max = (uint32_t)options.classes;
    lawn_free(ops->lawn);
    free(ops->place);
    ops->lawn = lawn;
    ops->place = NULL;
    ops->complete = 0;
    lawn_set_now(lawn, now);
    for (uint64_t i = 0; i < visited.many && !ops->script.failed; i++) {
        uint32_t number = visited.number[i];
        struct lawn_timer *timer = &ops->timers[number]->timer;

        memset(timer, 0, sizeof(*timer));
        lawn_start_as(lawn, timer, visited.ttl[i],
                      ops->oracle.timers[number].deadline);
    }
    oracle_move(&ops->oracle, options.now);
    if (ops->witness != NULL) {
        witness_move(ops->witness, options.now);
    }
    compare_all(ops);
    note_size(ops);
}

static void
op_restart(struct ops *ops)
{
    do_restart(ops, ops_take_timer(ops));
}

static void
op_start_at(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);
    uint8_t byte = script_take(&ops->script);

    if (byte < 64) {
        do_start_at(ops, i, script_earlier(ops->oracle.now, byte));
    } else if (byte < 192) {
        do_start_at(ops, i, script_later(ops->oracle.now, ops_take_ttl(ops)));
    } else {
        do_start_at(ops, i, script_take_extreme(&ops->script));
    }
}

/* Alternates two TTLs very often, so that rare actions of the lawn happen
 * now. */
static void
op_churn(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);
    uint64_t ttls[2];
    uint32_t times = 1u << script_take(&ops->script) % OPS_CHURN;
    struct lawn_timer *timer = ops_timer_of(ops, i);

    leave_class(ops, i);
    ttls[0] = ops_take_ttl(ops);
    ttls[1] = ops_take_ttl(ops);
    TRACE(&ops->script, "start timer %u %u times, ttl %llu and %llu in turn", i,
          times, (unsigned long long)ttls[0], (unsigned long long)ttls[1]);
    while (times-- > 0) {
        report_start(ops, i, ttls[times % 2]);
        lawn_start(ops->lawn, timer, ttls[times % 2]);
    }
    compare_timer(ops, i);
}

/* Starts consecutive timers with one TTL. */
static void
op_start_row(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);
    unsigned row = script_take(&ops->script) % 16;
    uint64_t ttl = ops_take_ttl(ops);

    for (; row > 0; row--) {
        do_start(ops, i, ttl);
        i = (i + 1) % ops->oracle.many;
    }
}

static void
op_stop(struct ops *ops)
{
    ops_stop(ops, ops_take_timer(ops));
}

static void
op_stop_row(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);
    unsigned row = script_take(&ops->script) % 16;

    for (; row > 0; row--) {
        ops_stop(ops, i);
        i = (i + 1) % ops->oracle.many;
    }
}

static void
op_drop(struct ops *ops)
{
    do_drop(ops, ops_take_timer(ops));
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

/* Mows to the next deadline, or a tick before or after it. */
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
    uint64_t now = script_take_far(&ops->script, ops->oracle.now);

    (void)do_mow(ops, now, script_take_budget(&ops->script));
}

static void
op_mow_back(struct ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t ticks = byte < 192 ? byte : script_take_extreme(&ops->script);

    (void)do_mow(ops, script_earlier(ops->oracle.now, ticks),
                 script_take_budget(&ops->script));
}

/* Mows with small budgets until no due timer is left. */
static void
op_mow_drain(struct ops *ops)
{
    uint64_t now =
        script_later(ops->oracle.now, script_take_step(&ops->script));
    size_t budget = 1 + script_take(&ops->script) % 4;
    unsigned rounds = 64;

    while (rounds-- > 0 &&
           (do_mow(ops, now, budget) == budget || ops->limited)) {
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
        do_set_now(ops, script_take_far(&ops->script, ops->oracle.now));
    }
}

static void
op_set_resolution(struct ops *ops)
{
    do_set_resolution(ops, script_take_resolution(&ops->script));
}

/* Outside a mow, a halt has no effect, now or later. */
static void
op_look(struct ops *ops)
{
    uint32_t i = ops_take_timer(ops);

    TRACE(&ops->script, "halt outside a mow; look at timer %u", i);
    lawn_halt(ops->lawn);
    compare_timer(ops, i);
    if (i % 2 == 1) {
        do_moved(ops, i);
    }
}

static void
op_look_at_all(struct ops *ops)
{
    if (oracle_looks(&ops->oracle)) {
        TRACE(&ops->script, "look at all timers");
        compare_all(ops);
        class_ops_compare_all(ops);
    }
}

static void
op_renew(struct ops *ops)
{
    if (!keeps_lawn(ops)) {
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
run_other(struct ops *ops)
{
    unsigned byte = script_take(&ops->script);
    size_t i = 0;

    if (ops->calm && byte % 8 != 7) {
        byte = byte % 128; /* mostly starts and stops */
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    table[i].run(ops);
}

static void
run_one(struct ops *ops)
{
    if (!class_ops_run(ops, false)) {
        run_other(ops);
    }
    compare(ops);
    if (ops->nosy) {
        do_next(ops);
    }
    if (ops->careful && ops->bytes_at_first <= OPS_SMALL_LAWN) {
        do_check(ops);
    }
}

/* At the end of time no timer may be left. */
static void
run_out(struct ops *ops)
{
    bool thorough = ops->oracle.thorough;

    ops->oracle.thorough = true;
    compare_all(ops);
    class_ops_compare_all(ops);
    do_check(ops);
    do_stats(ops);
    ops->oracle.thorough = thorough;
    class_ops_resume_all(ops);
    (void)mow_once(ops, LAWN_NEVER, SIZE_MAX);
    compare(ops);
    script_expect(&ops->script, "P2: lawn_count() at the end of time",
                  lawn_count(ops->lawn), 0);
    script_expect(&ops->script, "P2: lawn_next_exact() at the end of time",
                  lawn_next_exact(ops->lawn), LAWN_NEVER);
    class_ops_finish(ops);
}

static void
take_case(struct ops *ops, uint8_t byte)
{
    static const uint32_t many[4] = {64, 256, 8, 16};
    const struct ops_config *config = ops->script.config;
    unsigned first = ops->script.size > 0 ? ops->script.bytes[0] : 0;

    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->oracle.many = many[byte % 4];
    ops->oracle.thorough = true;
    if (config->timers != 0) {
        ops->oracle.many = config->timers;
        ops->oracle.thorough = ops->oracle.many <= OPS_MANY_MAX;
    }
    if (config->light) {
        ops->oracle.thorough = false;
    }
    ops->classes.enabled = (first & OPS_CLASSES_MASK) == OPS_CLASSES &&
                           !config->determined &&
                           ops->oracle.many <= OPS_MANY_MAX;
    ops->classes.many = (first & OPS_CLASSES_MANY) == OPS_CLASSES_MANY;
    if (config->determined) {
        byte = script_take(&ops->script);
        ops->step = OPS_STEP_MAX >> byte % 3 * 2;
        ops->quiet = byte / 4 % 2 == 1;
        ops->cuts.state = config->pieces;
    }
}

static void *
own_memory(struct ops *ops, size_t many, size_t size)
{
    void *memory = calloc(many, size);

    if (memory == NULL) {
        abort();
    }
    ops->own++;
    return memory;
}

bool
ops_run(const struct ops_config *config, const uint8_t *bytes, size_t size,
        struct ops_result *result)
{
    struct ops ops;

    memset(&ops, 0, sizeof(ops));
    take_case(&ops, script_begin(&ops.script, config, bytes, size, result));
    ops.timers = own_memory(&ops, ops.oracle.many, sizeof(*ops.timers));
    ops.oracle.timers =
        own_memory(&ops, ops.oracle.many, sizeof(*ops.oracle.timers));
    ops.classes.oracle.lawn = &ops.oracle;
    ops.classes.oracle.timers =
        own_memory(&ops, ops.oracle.many, sizeof(*ops.classes.oracle.timers));
    if (ops.oracle.many <= WITNESS_MAX) {
        ops.witness = own_memory(&ops, 1, sizeof(*ops.witness));
    }
    if (config->determined) {
        ops.ttl = own_memory(&ops, OPS_STEP_MAX, sizeof(*ops.ttl));
    }
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
    free(ops.classes.oracle.timers);
    free(ops.witness);
    free(ops.ttl);
    return !ops.script.failed;
}
