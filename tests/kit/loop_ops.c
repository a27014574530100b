/* loop_ops.c - the interpreter of operations on a loop: see loop_ops.h.
 *
 * A case is a byte for the mix, a byte for its size and style, then options of
 * a loop, then operations. The expected behavior of each timer is a few numbers
 * per timer, evaluated by looking at all timers: no queue, no index.
 *
 * The host is the test: it records the wake-up that was set, and checks that
 * each new setting had a reason [L2]. Callbacks read further operations from
 * the case and take time: the clock moves while they run.
 *
 * In half of the cases the loop has classes. The expected state of a timer of a
 * class is the time of its start, to which postponements and pauses are added.
 */
#include "loop_ops.h"

#include "lawn_loop.h"
#include "script.h"

#include <stdlib.h>
#include <string.h>

#define LOOP_OPS_LAST (LAWN_NEVER - 1)
#define LOOP_OPS_ONCE 3u /* in addition to the modes */
#define LOOP_OPS_ACTS 4u /* in a callback, at most */
#define LOOP_OPS_KINDS 3u
#define LOOP_OPS_STYLE_KINDS 16u /* bit of the style: the loop has classes */

/* The expected state of a timer. */
struct should {
    bool running;
    unsigned mode;
    uint64_t period;
    uint64_t nominal;  /* fixed rate: when the next fire is due */
    uint64_t deadline; /* expected time of the next fire */
    uint64_t turn;     /* in which it was started */
    bool behind;       /* fired in the current turn, and is overdue again */
    struct kind *kind; /* NULL: outside of classes */
    uint64_t start;    /* in a class: its start plus postponements and pauses */
};

/* The expected state of a class. */
struct kind {
    struct lawn_loop_class *cls;
    uint64_t ttl;
    bool paused;
    uint64_t paused_at;
    uint64_t fires;
    uint64_t time;
    uint64_t time_max;
    uint64_t late_max;
    struct lawn_histogram late;
};

struct loop_ops {
    struct script script;
    struct lawn_loop *loop;
    struct lawn_loop_timer *timers;
    struct should *should;
    uint32_t many;
    uint64_t resolution;
    size_t budget;
    uint64_t budget_time; /* 0: none */
    struct kind *kinds;   /* LOOP_OPS_KINDS, or NULL: no classes */
    struct kind *firing;  /* of the timer whose callback is running */

    uint64_t clock; /* current time of the test's clock */
    uint64_t read;  /* newest time that the loop has read */
    uint64_t armed; /* wake-up set at the host; LAWN_NEVER: none */
    uint64_t running;

    uint64_t turn;    /* the number of turns */
    bool turning;     /* a turn is running */
    bool calling;     /* a callback is running */
    bool touched;     /* the firing timer was started or stopped */
    uint32_t which;   /* the firing timer */
    uint64_t begin;   /* start of the turn */
    uint64_t fired;   /* fires in the turn */
    uint64_t behinds; /* fired timers that are overdue again */
    uint64_t order;   /* deadline of the last fire in the turn */

    uint64_t fires;
    uint64_t missed;
    uint64_t late_most;
    uint64_t unchecked;
};

static uint64_t
later(uint64_t time, uint64_t ticks)
{
    return ticks < LOOP_OPS_LAST - time ? time + ticks : LOOP_OPS_LAST;
}

static uint64_t
rounded(const struct loop_ops *ops, uint64_t time)
{
    uint64_t past = ops->resolution > 1 ? time % ops->resolution : 0;

    return past == 0 ? time : later(time, ops->resolution - past);
}

/* Returns the deadline that a start at this deadline gets. */
static uint64_t
future(const struct loop_ops *ops, uint64_t deadline)
{
    uint64_t soon = later(ops->read, 1);

    deadline = deadline < LOOP_OPS_LAST ? deadline : LOOP_OPS_LAST;
    return deadline > soon ? deadline : soon;
}

static uint64_t
loop_ops_clock(void *context)
{
    struct loop_ops *ops = (struct loop_ops *)context;

    return ops->clock;
}

/* Records that the loop has read the clock. */
static void
read_clock(struct loop_ops *ops)
{
    uint64_t clock = ops->clock < LOOP_OPS_LAST ? ops->clock : LOOP_OPS_LAST;

    if (clock > ops->read) {
        ops->read = clock;
    }
}

static uint64_t earliest(const struct loop_ops *ops);

static void
loop_ops_arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct loop_ops *ops = (struct loop_ops *)context;
    uint64_t now = lawn_loop_now(loop);
    bool empty = lawn_loop_count(loop) == 0;

    if (ops->calling) {
        script_fail(&ops->script, "[L2] set in a callback");
    } else if (when == LAWN_NEVER ? !empty && earliest(ops) != LAWN_NEVER
                                  : when >= ops->armed && ops->armed > now) {
        script_fail(&ops->script, "[L2] set to %llu although %llu was set",
                    (unsigned long long)when, (unsigned long long)ops->armed);
    }
    ops->armed = when;
}

/* Returns the earliest deadline of all timers. */
static uint64_t
earliest(const struct loop_ops *ops)
{
    uint64_t first = LAWN_NEVER;

    for (uint32_t i = 0; i < ops->many; i++) {
        if (ops->should[i].running && ops->should[i].deadline < first) {
            first = ops->should[i].deadline;
        }
    }
    return first;
}

static void
look_at_kinds(struct loop_ops *ops)
{
    struct script *script = &ops->script;

    for (unsigned i = 0; ops->kinds != NULL && i < LOOP_OPS_KINDS; i++) {
        const struct kind *kind = &ops->kinds[i];
        struct lawn_loop_class_counters now;
        uint64_t count = 0;

        for (uint32_t k = 0; k < ops->many; k++) {
            count += ops->should[k].running && ops->should[k].kind == kind;
        }
        lawn_loop_class_stats(kind->cls, &now);
        script_expect(script, "[P15] count", now.timers.count, count);
        script_expect(script, "TTL", now.timers.ttl, kind->ttl);
        script_expect(script, "fires of a class", now.timers.fires,
                      kind->fires);
        script_expect(script, "[L11] time", now.time, kind->time);
        script_expect(script, "[L11] longest", now.time_max, kind->time_max);
        script_expect(script, "[L12] lateness", kind->late.count, kind->fires);
        script_expect(script, "[L12] latest", kind->late.max, kind->late_max);
    }
}

static void
look(struct loop_ops *ops)
{
    struct script *script = &ops->script;
    bool asleep = ops->armed == LAWN_NEVER;

    script_expect(script, "[P9] now", lawn_loop_now(ops->loop), ops->read);
    script_expect(script, "count", lawn_loop_count(ops->loop), ops->running);
    if (!ops->turning && (ops->running == 0) != asleep &&
        (!asleep || earliest(ops) != LAWN_NEVER)) {
        script_fail(script, "[L2] %llu timers, set to %llu",
                    (unsigned long long)ops->running,
                    (unsigned long long)ops->armed);
    }
    if (++ops->unchecked < script->config->check_every ||
        script->config->check_every == 0) {
        return;
    }
    ops->unchecked = 0;
    script_expect(script, "[P2] next", lawn_loop_next(ops->loop),
                  earliest(ops));
    if (!ops->turning && ops->armed > earliest(ops)) {
        script_fail(script, "[L2] set too late");
    }
    if (!lawn_loop_check(ops->loop, script->config->trace)) {
        script_fail(script, "lawn_loop_check() found a fault");
    }
    struct lawn_loop_counters stats;
    lawn_loop_stats(ops->loop, &stats);
    script_expect(script, "fires", stats.fires, ops->fires);
    script_expect(script, "missed", stats.missed, ops->missed);
    script_expect(script, "[L8] lateness", lawn_loop_lateness(ops->loop)->count,
                  ops->fires);
    script_expect(script, "[L8] latest", lawn_loop_lateness(ops->loop)->max,
                  ops->late_most);
    look_at_kinds(ops);
}

/* Records that the timer has been started and when it is due. */
static void
started(struct loop_ops *ops, uint32_t which, unsigned mode, uint64_t deadline)
{
    struct should *should = &ops->should[which];
    uint64_t is = lawn_loop_deadline(&ops->timers[which]);

    ops->running += !should->running;
    should->running = true;
    should->kind = NULL;
    should->mode = mode;
    should->turn = ops->turning ? ops->turn : UINT64_MAX;
    should->behind = false;
    should->deadline = deadline;
    if ((mode == LAWN_LOOP_SKIP || mode == LAWN_LOOP_CATCH_UP) &&
        should->nominal <= ops->read && !ops->turning) {
        /* Already overdue: due at the mowing position, or at its own
         * deadline. */
        if (is > ops->read) {
            script_fail(&ops->script, "[L4] an overdue timer is due later");
        }
        should->deadline = is;
    } else {
        script_expect(&ops->script, "deadline", is, deadline);
    }
    if (ops->calling && which == ops->which) {
        ops->touched = true;
    }
}

static void
do_start(struct loop_ops *ops, uint32_t which)
{
    uint64_t ttl = script_take_ttl(&ops->script);

    TRACE(&ops->script, "start %u %llu", which, (unsigned long long)ttl);
    lawn_loop_start(ops->loop, &ops->timers[which], ttl);
    read_clock(ops);
    started(ops, which, LOOP_OPS_ONCE,
            rounded(ops, later(ops->read, ttl > 0 ? ttl : 1)));
}

static void
do_start_at(struct loop_ops *ops, uint32_t which)
{
    uint64_t ttl = script_take_ttl(&ops->script);
    uint64_t deadline = script_take(&ops->script) % 4 == 0
                            ? script_earlier(ops->read, ttl)
                            : script_later(ops->read, ttl);

    TRACE(&ops->script, "start %u at %llu", which,
          (unsigned long long)deadline);
    lawn_loop_start_at(ops->loop, &ops->timers[which], deadline);
    started(ops, which, LOOP_OPS_ONCE, rounded(ops, future(ops, deadline)));
}

static void
do_every(struct loop_ops *ops, uint32_t which, bool at)
{
    uint64_t period = script_take_ttl(&ops->script);
    uint8_t byte = script_take(&ops->script);
    enum lawn_loop_mode mode = (enum lawn_loop_mode)(byte % 3);
    uint64_t ttl = at ? script_take_ttl(&ops->script) : 0;
    uint64_t first = byte >= 192 ? script_earlier(ops->read, ttl)
                                 : script_later(ops->read, ttl);
    struct should *should = &ops->should[which];

    period = byte / 3 % 16 == 0 ? 0 : period;
    should->period = period > 0 ? period : 1;
    if (at) {
        TRACE(&ops->script, "every %u %llu at %llu mode %d", which,
              (unsigned long long)period, (unsigned long long)first, mode);
        lawn_loop_every_at(ops->loop, &ops->timers[which], first, period, mode);
    } else {
        TRACE(&ops->script, "every %u %llu mode %d", which,
              (unsigned long long)period, mode);
        lawn_loop_every(ops->loop, &ops->timers[which], period, mode);
        read_clock(ops);
        first = later(ops->read, should->period);
    }
    should->nominal = first < LOOP_OPS_LAST ? first : LOOP_OPS_LAST;
    first = future(ops, first);
    started(ops, which, mode,
            mode == LAWN_LOOP_DELAY ? rounded(ops, first) : first);
}

static void
do_stop(struct loop_ops *ops, uint32_t which)
{
    struct should *should = &ops->should[which];
    bool stopped = lawn_loop_stop(ops->loop, &ops->timers[which]);

    TRACE(&ops->script, "stop %u: %d", which, stopped);
    script_expect(&ops->script, "[L7] stop", stopped, should->running);
    ops->running -= should->running;
    should->running = false;
    should->behind = false;
    if (ops->calling && which == ops->which) {
        ops->touched = true;
    }
}

/* Returns the latest start of the running timers of a class, except one. */
static uint64_t
latest_start(const struct loop_ops *ops, const struct kind *kind,
             uint32_t except)
{
    uint64_t latest = 0;

    for (uint32_t i = 0; i < ops->many; i++) {
        const struct should *should = &ops->should[i];

        if (should->running && should->kind == kind && i != except &&
            should->start > latest) {
            latest = should->start;
        }
    }
    return latest;
}

/* Adds ticks to the starts, but to none beyond the last tick. */
static void
postpone(struct loop_ops *ops, const struct kind *kind, uint64_t ticks)
{
    uint64_t room = LOOP_OPS_LAST - latest_start(ops, kind, ops->many);

    for (uint32_t i = 0; i < ops->many; i++) {
        if (ops->should[i].kind == kind) {
            ops->should[i].start += ticks < room ? ticks : room;
        }
    }
}

/* Computes the deadlines of all timers of a class. */
static void
update_kind(struct loop_ops *ops, const struct kind *kind)
{
    for (uint32_t i = 0; i < ops->many; i++) {
        struct should *should = &ops->should[i];

        if (should->running && should->kind == kind) {
            should->deadline =
                kind->paused ? LAWN_NEVER
                             : rounded(ops, later(should->start, kind->ttl));
        }
    }
}

/* Records that a timer has been started in a class. */
static void
enter(struct loop_ops *ops, struct should *should, struct kind *kind)
{
    uint64_t latest = latest_start(ops, kind, (uint32_t)(should - ops->should));

    should->kind = kind;
    should->start = kind->paused ? kind->paused_at : ops->read;
    should->start = should->start > latest ? should->start : latest;
    update_kind(ops, kind);
}

/* Returns what lawn_loop_deadline() should return. */
static uint64_t
expected_deadline(const struct loop_ops *ops, const struct should *should)
{
    const struct kind *kind = should->kind;

    if (!should->running || kind == NULL || !kind->paused) {
        return should->running ? should->deadline : LAWN_NEVER;
    }
    uint64_t room = LOOP_OPS_LAST - latest_start(ops, kind, ops->many);
    uint64_t pause = ops->read - kind->paused_at;
    uint64_t start = should->start + (pause < room ? pause : room);
    return rounded(ops, later(start, kind->ttl));
}

static void
do_start_in(struct loop_ops *ops, uint32_t which, struct kind *kind, bool every)
{
    struct should *should = &ops->should[which];

    TRACE(&ops->script, "%s %u in %u", every ? "every" : "start", which,
          (unsigned)(kind - ops->kinds));
    if (every) {
        lawn_loop_every_in(kind->cls, &ops->timers[which]);
    } else {
        lawn_loop_start_in(kind->cls, &ops->timers[which]);
    }
    read_clock(ops);
    ops->running += !should->running;
    should->running = true;
    should->mode = every ? LAWN_LOOP_DELAY : LOOP_OPS_ONCE;
    should->turn = ops->turning ? ops->turn : UINT64_MAX;
    should->behind = false;
    enter(ops, should, kind);
    script_expect(&ops->script, "deadline in a class",
                  lawn_loop_deadline(&ops->timers[which]),
                  expected_deadline(ops, should));
    if (ops->calling && which == ops->which) {
        ops->touched = true;
    }
}

static void
do_clear(struct loop_ops *ops, const struct kind *kind)
{
    uint64_t cleared = lawn_loop_class_clear(kind->cls);
    uint64_t count = 0;

    TRACE(&ops->script, "clear %u", (unsigned)(kind - ops->kinds));
    for (uint32_t i = 0; i < ops->many; i++) {
        struct should *should = &ops->should[i];

        if (should->running && should->kind == kind) {
            should->running = false;
            count++;
            if (lawn_loop_pending(&ops->timers[i])) {
                script_fail(&ops->script, "[L7] %u was cleared, and runs", i);
            }
        }
    }
    ops->running -= count;
    script_expect(&ops->script, "cleared", cleared, count);
}

static void
do_pause(struct loop_ops *ops, struct kind *kind)
{
    TRACE(&ops->script, "%s %u", kind->paused ? "resume" : "pause",
          (unsigned)(kind - ops->kinds));
    if (kind->paused) {
        lawn_loop_class_resume(kind->cls);
        read_clock(ops);
        postpone(ops, kind, ops->read - kind->paused_at);
    } else {
        lawn_loop_class_pause(kind->cls);
        read_clock(ops);
        kind->paused_at = ops->read;
    }
    kind->paused = !kind->paused;
}

static void
open_kind(struct loop_ops *ops, struct kind *kind)
{
    uint64_t ttl = script_take_ttl(&ops->script);

    memset(kind, 0, sizeof(*kind));
    kind->ttl = ttl > 0 ? ttl : 1;
    kind->cls = lawn_loop_class_new(ops->loop, ttl, "kind");
    if (kind->cls == NULL) {
        abort();
    }
    lawn_loop_class_set_lateness(kind->cls, &kind->late);
}

/* A class can be replaced if none of its timers is running. */
static void
do_replace(struct loop_ops *ops, struct kind *kind)
{
    bool used = false;

    for (uint32_t i = 0; i < ops->many; i++) {
        used = used || (ops->should[i].running && ops->should[i].kind == kind);
    }
    TRACE(&ops->script, "replace %u", (unsigned)(kind - ops->kinds));
    script_expect(&ops->script, "free", lawn_loop_class_free(kind->cls), !used);
    if (!used) {
        open_kind(ops, kind);
        ops->firing = ops->firing == kind ? NULL : ops->firing;
    }
}

static void
do_set_ttl(struct loop_ops *ops, struct kind *kind)
{
    uint64_t ttl = script_take_ttl(&ops->script);

    TRACE(&ops->script, "TTL %u: %llu", (unsigned)(kind - ops->kinds),
          (unsigned long long)ttl);
    lawn_loop_class_set_ttl(kind->cls, ttl);
    kind->ttl = ttl > 0 ? ttl : 1;
    read_clock(ops);
}

/* One operation on a class, inside a callback or outside. */
static void
act_on_kind(struct loop_ops *ops, uint32_t which)
{
    uint8_t byte = script_take(&ops->script);
    struct kind *kind = &ops->kinds[byte / 16 % LOOP_OPS_KINDS];
    uint64_t ticks = 0;

    switch (byte % 16) {
    case 0:
        do_set_ttl(ops, kind);
        break;
    case 1:
        TRACE(&ops->script, "scale %u", (unsigned)(kind - ops->kinds));
        lawn_loop_class_scale(kind->cls, 1, 2);
        kind->ttl = kind->ttl > 1 ? kind->ttl / 2 : 1;
        read_clock(ops);
        break;
    case 2:
        ticks = script_take_step(&ops->script);
        TRACE(&ops->script, "postpone %u by %llu",
              (unsigned)(kind - ops->kinds), (unsigned long long)ticks);
        lawn_loop_class_postpone(kind->cls, ticks);
        read_clock(ops);
        postpone(ops, kind, ticks);
        break;
    case 3:
    case 4:
        do_pause(ops, kind);
        break;
    case 5:
        do_clear(ops, kind);
        break;
    case 6:
        do_replace(ops, kind);
        break;
    default:
        do_start_in(ops, which, kind, byte % 2 == 0);
        return;
    }
    update_kind(ops, kind);
    ops->order = 0; /* deadlines have changed [P12] */
}

static uint32_t
take_timer(struct loop_ops *ops)
{
    return script_take(&ops->script) % ops->many;
}

/* One operation, inside a callback or outside. */
static void
act(struct loop_ops *ops, unsigned what, uint32_t which)
{
    if (ops->kinds != NULL && script_take(&ops->script) % 2 == 0) {
        act_on_kind(ops, which);
        return;
    }
    switch (what % 6) {
    case 0:
        do_start(ops, which);
        break;
    case 1:
        do_start_at(ops, which);
        break;
    case 2:
        do_every(ops, which, false);
        break;
    case 3:
        do_every(ops, which, true);
        break;
    case 4:
        do_stop(ops, which);
        break;
    default:
        ops->clock = script_later(ops->clock, script_take_step(&ops->script));
        TRACE(&ops->script, "the clock moves to %llu",
              (unsigned long long)ops->clock);
        break;
    }
}

/* Fires a fixed-rate timer: checks its report and computes the next fire. */
static uint64_t
fire_rate(struct loop_ops *ops, struct should *should,
          const struct lawn_loop_timer *timer)
{
    uint64_t late = ops->read - should->nominal;
    uint64_t missed =
        should->mode == LAWN_LOOP_SKIP ? late / should->period : 0;
    uint64_t due = should->nominal + missed * should->period;

    script_expect(&ops->script, "[L4] due", timer->due, due);
    script_expect(&ops->script, "[L5] missed", timer->missed,
                  missed < UINT32_MAX ? missed : UINT32_MAX);
    ops->missed += missed;
    should->nominal = later(due, should->period);
    should->deadline = future(ops, should->nominal);
    should->behind = should->nominal <= ops->read;
    ops->behinds += should->behind;
    return late;
}

/* Checks what must be true of every fire. */
static void
check_fire(struct loop_ops *ops, const struct should *should)
{
    struct script *script = &ops->script;

    if (!should->running) {
        script_fail(script, "[P3] an idle timer fires");
    } else if (ops->read < should->deadline) {
        script_fail(script, "[L1] early");
    } else if (should->turn == ops->turn) {
        script_fail(script, "[P6] started in this turn");
    } else if (should->deadline < ops->order) {
        script_fail(script, "[P4] out of order");
    } else if (ops->fired >= ops->budget) {
        script_fail(script, "[L3] more timers than the budget");
    } else if (ops->fired > 0 && ops->budget_time != 0 &&
               ops->read >= later(ops->begin, ops->budget_time)) {
        script_fail(script, "[L3] the time was over");
    } else if (ops->calling) {
        script_fail(script, "a callback in a callback");
    }
}

static void
fire_in_class(struct loop_ops *ops, struct should *should, uint64_t late)
{
    struct kind *kind = should->kind;

    kind->fires++;
    kind->late_max = late > kind->late_max ? late : kind->late_max;
    if (should->mode != LOOP_OPS_ONCE) {
        enter(ops, should, kind);
    }
}

/* Adds the duration of a callback to its class, if it was not replaced. */
static void
add_time(struct loop_ops *ops, uint64_t time)
{
    struct kind *kind = ops->firing;

    if (kind != NULL) {
        kind->time += time;
        kind->time_max = time > kind->time_max ? time : kind->time_max;
    }
    ops->firing = NULL;
}

static void
loop_ops_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct loop_ops *ops = (struct loop_ops *)timer->arg;
    uint32_t which = (uint32_t)(timer - ops->timers);
    struct should *should = &ops->should[which];
    struct script *script = &ops->script;
    uint64_t late = ops->read - should->deadline;
    uint64_t begin = ops->read;

    TRACE(script, "%u fires", which);
    check_fire(ops, should);
    script_expect(script, "the loop in a callback", (uintptr_t)loop,
                  (uintptr_t)ops->loop);
    ops->order = should->deadline;
    ops->fired++;
    ops->fires++;
    if (should->mode == LAWN_LOOP_SKIP || should->mode == LAWN_LOOP_CATCH_UP) {
        late = fire_rate(ops, should, timer);
    } else {
        script_expect(script, "due", timer->due, should->deadline);
        script_expect(script, "missed", timer->missed, 0);
        should->deadline = rounded(ops, later(ops->read, should->period));
    }
    ops->firing = should->kind;
    if (should->kind != NULL) {
        fire_in_class(ops, should, late);
    }
    ops->late_most = late > ops->late_most ? late : ops->late_most;
    should->turn = ops->turn;
    should->running = should->mode != LOOP_OPS_ONCE;
    ops->running -= !should->running;
    script_expect(script, "[P6] pending", lawn_loop_pending(timer),
                  should->running);
    script_expect(script, "deadline in the callback", lawn_loop_deadline(timer),
                  expected_deadline(ops, should));
    ops->calling = true;
    ops->touched = false;
    ops->which = which;
    script->depth++;
    unsigned acts = 0;
    for (acts = script_take(script) % LOOP_OPS_ACTS; acts > 0; acts--) {
        uint8_t what = script_take(script);

        act(ops, what, what >= 128 ? which : take_timer(ops));
        script->result->operations++;
        look(ops);
    }
    script_expect(script, "a turn in a turn", lawn_loop_turn(ops->loop),
                  LAWN_NEVER);
    script->depth--;
    ops->calling = false;
    read_clock(ops);
    if (!ops->touched && should->running && should->mode == LAWN_LOOP_DELAY) {
        if (should->kind != NULL) {
            enter(ops, should, should->kind);
        } else {
            should->deadline = rounded(ops, later(ops->read, should->period));
        }
    }
    add_time(ops, ops->read - begin);
}

/* After a turn: timers that are catching up are due in the next turn, wherever
 * the clock is; if they are many, a tick later [L5]. */
static void
check_behind(struct loop_ops *ops)
{
    for (uint32_t i = 0; i < ops->many; i++) {
        struct should *should = &ops->should[i];

        if (should->behind) {
            uint64_t is = lawn_loop_deadline(&ops->timers[i]);

            if (is > ops->read &&
                (ops->behinds <= 16 || is != should->deadline)) {
                script_fail(&ops->script, "[L5] %u is not due", i);
            }
            should->deadline = is;
            should->behind = false;
        }
    }
}

/* Checks after a turn that all due timers have fired. */
static void
check_turn(struct loop_ops *ops, uint64_t next)
{
    bool over = ops->fired > 0 && ops->budget_time != 0 &&
                ops->read >= later(ops->begin, ops->budget_time);

    script_expect(&ops->script, "[P2] turn's next", next, earliest(ops));
    if (next < ops->armed) {
        script_fail(&ops->script, "[L2] set too late after a turn");
    }
    for (uint32_t i = 0; i < ops->many && !over && ops->fired < ops->budget;
         i++) {
        const struct should *should = &ops->should[i];

        if (should->running && should->turn != ops->turn &&
            should->deadline <= ops->begin) {
            script_fail(&ops->script, "[P2] %u did not fire", i);
        }
    }
}

static void
do_turn(struct loop_ops *ops, bool woken)
{
    TRACE(&ops->script, "%s at %llu", woken ? "woken" : "turn",
          (unsigned long long)ops->clock);
    read_clock(ops);
    ops->turn++;
    ops->turning = true;
    ops->begin = ops->read;
    ops->fired = 0;
    ops->behinds = 0;
    ops->order = 0;
    uint64_t next = 0;
    if (woken) {
        ops->armed = LAWN_NEVER;
        next = lawn_loop_woken(ops->loop);
    } else {
        next = lawn_loop_turn(ops->loop);
    }
    ops->turning = false;
    check_behind(ops);
    check_turn(ops, next);
}

static bool
open_loop(struct loop_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    struct lawn_loop_options options = {.clock = loop_ops_clock,
                                        .clock_context = ops,
                                        .arm = loop_ops_arm,
                                        .arm_context = ops};
    uint64_t refused = config->refusals != NULL ? *config->refusals : 0;

    script_take_lawn(&ops->script, &options.lawn);
    options.lawn.alloc = config->alloc;
    options.lawn.release = config->release;
    options.lawn.context = config->context;
    options.lawn.classes = ops->kinds != NULL ? LOOP_OPS_KINDS : 0;
    options.budget = script_take_budget(&ops->script);
    uint8_t byte = script_take(&ops->script);
    options.budget_time = byte < 128 ? 0 : byte % 32u;
    ops->clock = script_later(ops->clock, options.lawn.now);
    ops->resolution = options.lawn.resolution;
    ops->budget = options.budget != 0 ? options.budget : 1024;
    ops->budget_time = options.budget_time;
    ops->loop = lawn_loop_new(&options);
    if (ops->loop == NULL) {
        ops->script.result->refused++;
        if (config->refusals == NULL || *config->refusals == refused) {
            script_fail(&ops->script, "no loop, although there is memory");
        }
        return false;
    }
    ops->read = 0;
    read_clock(ops);
    ops->armed = LAWN_NEVER;
    ops->running = 0;
    ops->fires = 0;
    ops->missed = 0;
    ops->late_most = 0;
    memset(ops->timers, 0, ops->many * sizeof(*ops->timers));
    memset(ops->should, 0, ops->many * sizeof(*ops->should));
    for (uint32_t i = 0; i < ops->many; i++) {
        ops->timers[i].fire = loop_ops_fire;
        ops->timers[i].arg = ops;
    }
    for (unsigned i = 0; ops->kinds != NULL && i < LOOP_OPS_KINDS; i++) {
        open_kind(ops, &ops->kinds[i]);
    }
    return true;
}

static void
run_one(struct loop_ops *ops)
{
    uint8_t what = script_take(&ops->script);
    uint64_t step = 0;

    switch (what % 16) {
    case 0:
    case 1:
    case 2:
        step = what < 192 ? script_take_step(&ops->script)
                          : script_take_jump(&ops->script);
        ops->clock = script_later(ops->clock, step);
        do_turn(ops, false);
        break;
    case 3:
        if (earliest(ops) != LAWN_NEVER && earliest(ops) > ops->clock) {
            ops->clock = earliest(ops) - (what >= 192); /* or a tick early */
        }
        do_turn(ops, true);
        break;
    case 4:
        step = script_take_jump(&ops->script);
        ops->clock = what < 64 ? script_earlier(ops->clock, step)
                               : script_later(ops->clock, step % 1000);
        TRACE(&ops->script, "update at %llu", (unsigned long long)ops->clock);
        (void)lawn_loop_update(ops->loop);
        read_clock(ops);
        break;
    case 5:
        if (what >= 240) {
            TRACE(&ops->script, "a new loop");
            lawn_loop_free(ops->loop);
            (void)open_loop(ops);
            break;
        }
        do_turn(ops, false);
        break;
    default:
        act(ops, what / 16 + what % 16, take_timer(ops));
        break;
    }
    ops->script.result->operations++;
    if (ops->loop != NULL) {
        look(ops);
    }
}

/* At the end of time all one-shot timers have fired. */
static void
run_out(struct loop_ops *ops)
{
    for (uint32_t i = 0; i < ops->many; i++) {
        if (ops->should[i].mode != LOOP_OPS_ONCE) {
            do_stop(ops, i);
        }
    }
    for (unsigned i = 0; ops->kinds != NULL && i < LOOP_OPS_KINDS; i++) {
        if (ops->kinds[i].paused) {
            do_pause(ops, &ops->kinds[i]);
            update_kind(ops, &ops->kinds[i]);
        }
    }
    ops->clock = LAWN_NEVER;
    for (uint32_t i = 0;
         i <= ops->many && ops->running > 0 && !ops->script.failed; i++) {
        do_turn(ops, i % 2 == 0);
        look(ops);
    }
    script_expect(&ops->script, "[P2] timers at the end of time", ops->running,
                  0);
}

bool
loop_ops_run(const struct ops_config *config, const uint8_t *bytes, size_t size,
             struct ops_result *result)
{
    static const uint32_t many[4] = {8, 1, 64, 200};
    struct loop_ops ops;

    memset(&ops, 0, sizeof(ops));
    uint8_t byte = script_begin(&ops.script, config, bytes, size, result);
    ops.many = config->timers != 0 ? config->timers : many[byte % 4];
    ops.timers = calloc(ops.many, sizeof(*ops.timers));
    ops.should = calloc(ops.many, sizeof(*ops.should));
    if ((byte & LOOP_OPS_STYLE_KINDS) != 0) {
        ops.kinds = calloc(LOOP_OPS_KINDS, sizeof(*ops.kinds));
    }
    if (ops.timers == NULL || ops.should == NULL ||
        ((byte & LOOP_OPS_STYLE_KINDS) != 0 && ops.kinds == NULL)) {
        abort();
    }
    if (open_loop(&ops)) {
        while (!script_over(&ops.script) && ops.loop != NULL) {
            run_one(&ops);
        }
        if (!ops.script.failed && ops.loop != NULL) {
            run_out(&ops);
        }
    }
    result->fires = ops.fires;
    lawn_loop_free(ops.loop);
    free(ops.timers);
    free(ops.should);
    free(ops.kinds);
    return !ops.script.failed;
}
