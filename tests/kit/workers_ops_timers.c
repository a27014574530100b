/* workers_ops_timers.c - operations on a timer, and its callback. */
#include "workers_ops_state.h"

#include "oracle.h"

#include <stdlib.h>

static void on_fire(struct lawn_workers_timer *timer,
                    struct lawn_worker *worker);

struct ops_timer *
workers_ops_timer_of(struct workers_ops *ops, uint32_t i)
{
    if (ops->timers[i] == NULL) {
        ops->timers[i] = calloc(1, sizeof(*ops->timers[i]));
        if (ops->timers[i] == NULL) {
            abort();
        }
        ops->own++;
        ops->timers[i]->timer.fire = on_fire;
        ops->timers[i]->ops = ops;
        ops->timers[i]->number = i;
    }
    return ops->timers[i];
}

void
workers_ops_free_timer(struct workers_ops *ops, uint32_t i)
{
    TRACE(&ops->script, "free timer %u", i);
    free(ops->timers[i]);
    ops->timers[i] = NULL;
    ops->should[i].on = WORKERS_OPS_NOBODY; /* a new timer has no worker */
    ops->should[i].sure = false;
}

/* Determines the worker to which a start by the current thread sends the
 * timer. */
static void
place(struct workers_ops *ops, uint32_t i, unsigned named)
{
    struct should *s = &ops->should[i];
    bool fires = ops->firing != NULL && ops->firing == ops->timers[i];
    unsigned to = named;

    if (named == WORKERS_OPS_NOBODY) {
        to = s->running || fires || ops->self == WORKERS_OPS_NOBODY ? s->on
                                                                    : ops->self;
        /* A stopped timer may still be on its lawn, or in transit. */
        if (s->refers && (!s->sure || s->on != to)) {
            to = WORKERS_OPS_NOBODY;
        }
    }
    if (ops->by_ttl || !ops->stable ||
        (to != WORKERS_OPS_NOBODY && ops->seats[to].leaving)) {
        s->sure = false;
        s->on = WORKERS_OPS_NOBODY;
    } else {
        /* It may have to leave another lawn first. */
        s->sure = to != WORKERS_OPS_NOBODY &&
                  (s->on == to ? s->sure || !s->refers : !s->refers && !fires);
        s->on = to;
    }
}

/* The descriptor of a sleeping worker becomes readable by a start from another
 * thread if and only if the timer is due before the worker would wake [C7]. */
static void
look_at_call(struct workers_ops *ops, uint32_t i, const bool *were_called)
{
    const struct should *s = &ops->should[i];

    if (!ops->nosy || !s->sure || s->on == ops->self ||
        !ops->seats[s->on].asleep) {
        return;
    }
    bool is = workers_ops_is_called(ops, s->on);
    if (!is && workers_ops_late_of(ops, s) < ops->seats[s->on].until) {
        script_fail(&ops->script, "C7: %s is not woken",
                    workers_ops_name_of(s->on));
    } else if (is && !were_called[s->on] && ops->resolution <= 1 &&
               /* A worker may also have forwarded messages from its mailbox. */
               ops->self == WORKERS_OPS_NOBODY &&
               s->due >= ops->seats[s->on].until && s->due > ops->clock) {
        script_fail(&ops->script, "C7: %s is woken for nothing",
                    workers_ops_name_of(s->on));
    }
}

static int
start_timer(struct workers_ops *ops, struct ops_timer *t, enum start_how how,
            uint64_t value, unsigned named)
{
    switch (how) {
    case START_TTL:
        return lawn_workers_start(ops->set, &t->timer, value);
    case START_AT:
        return lawn_workers_start_at(ops->set, &t->timer, value);
    default:
        return lawn_workers_start_on(ops->set, &t->timer, value,
                                     ops->seats[named].number);
    }
}

/* Computes when a timer that was just started is due: from the worker's time on
 * the owning worker, and from the clock elsewhere. */
static void
expect_due(struct workers_ops *ops, struct should *s, enum start_how how,
           uint64_t value)
{
    uint64_t base = ops->clock < LAWN_NEVER - 1 ? ops->clock : LAWN_NEVER - 1;
    bool passed = false;

    s->mailed = true;
    if (ops->self != WORKERS_OPS_NOBODY && (!s->sure || s->on == ops->self)) {
        uint64_t now = lawn_worker_now(ops->seats[ops->self].worker);

        base = now < base ? now : base;
        s->mailed = !s->sure || how == START_ON; /* also a message to itself */
    }
    if (how == START_AT) {
        s->ttl = 0;
        passed = value <= base;
        value = value > base ? value - base : 1;
    } else {
        value = value > 0 ? value : 1;
        s->ttl = value;
    }
    s->due = oracle_due(base, ops->resolution, value);
    s->late = s->due;
    s->floor = 0;
    if (passed && s->mailed) {
        s->due = base; /* it need not wait for a tick */
    }
    ops->latest = ops->clock;
}

void
workers_ops_start(struct workers_ops *ops, uint32_t i, enum start_how how,
                  uint64_t value, unsigned named)
{
    struct ops_timer *t = workers_ops_timer_of(ops, i);
    struct should *s = &ops->should[i];
    bool were_called[WORKERS_OPS_MAX] = {false};

    for (unsigned w = 0; ops->nosy && w < WORKERS_OPS_MAX; w++) {
        were_called[w] =
            ops->seats[w].worker != NULL && workers_ops_is_called(ops, w);
    }
    workers_ops_may_take_mail(ops, ops->self);
    int error = start_timer(ops, t, how, value, named);
    place(ops, i, how == START_ON ? named : WORKERS_OPS_NOBODY);
    expect_due(ops, s, how, value);
    s->running = true;
    s->refers = true;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
    TRACE(&ops->script, "start timer %u, %s %llu%s%s: due at %llu%s%s", i,
          how == START_AT ? "at" : "ttl", (unsigned long long)value,
          how == START_ON ? " on " : "",
          how == START_ON ? workers_ops_name_of(named) : "",
          (unsigned long long)s->due, s->sure ? " for sure on " : "",
          s->sure ? workers_ops_name_of(s->on) : "");
    script_expect(&ops->script, "the result of a start",
                  (uint64_t)(int64_t)error, 0);
    look_at_call(ops, i, were_called);
}

void
workers_ops_stop(struct workers_ops *ops, uint32_t i)
{
    struct should *s = &ops->should[i];

    TRACE(&ops->script, "stop timer %u", i);
    script_expect(
        &ops->script, "C2: lawn_workers_stop()",
        lawn_workers_stop(ops->set, &workers_ops_timer_of(ops, i)->timer),
        s->running);
    s->running = false;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
}

void
workers_ops_stop_sync(struct workers_ops *ops, uint32_t i, bool gone)
{
    struct should *s = &ops->should[i];
    bool own = ops->firing != NULL && ops->firing == ops->timers[i];

    if (own && ops->self != ops->fires_on) {
        return; /* as another worker it would wait for the callback */
    }
    if (s->refers &&
        (!s->sure || s->on != ops->self || ops->self == WORKERS_OPS_NOBODY)) {
        workers_ops_stop(ops, i);
        return;
    }
    TRACE(&ops->script, "stop timer %u for good", i);
    workers_ops_may_take_mail(ops, ops->self);
    if (ops->firing != NULL) {
        workers_ops_take_in_callback(ops);
    }
    script_expect(
        &ops->script, "C2: lawn_workers_stop_sync()",
        lawn_workers_stop_sync(ops->set, &workers_ops_timer_of(ops, i)->timer),
        s->running);
    s->running = false;
    s->refers = false;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
    if (gone && !own) {
        workers_ops_free_timer(ops, i);
    }
}

void
workers_ops_start_any(struct workers_ops *ops, uint32_t i, uint8_t how)
{
    unsigned named = how / 8 % WORKERS_OPS_MAX;
    uint64_t ttl = script_take_ttl(&ops->script);

    if (how % 8 == 0) {
        workers_ops_start(ops, i, START_AT, script_later(ops->clock, ttl),
                          named);
    } else if (how % 8 == 1) {
        workers_ops_start(ops, i, START_AT, script_earlier(ops->clock, ttl),
                          named);
    } else if (how % 8 < 4 && ops->seats[named].worker != NULL &&
               !ops->seats[named].leaving) {
        workers_ops_start(ops, i, START_ON, ttl, named);
    } else {
        workers_ops_start(ops, i, START_TTL, ttl, WORKERS_OPS_NOBODY);
    }
}

uint32_t
workers_ops_take_timer(struct workers_ops *ops)
{
    return script_take(&ops->script) % ops->many;
}

/* Runs the program of a callback; the thread may act as another worker. */
static void
run_callback(struct workers_ops *ops, uint32_t i)
{
    unsigned was = ops->self;
    unsigned steps = script_take(&ops->script);

    for (steps = steps < 128 ? 0 : 1 + steps % 3;
         steps > 0 && !ops->script.failed; steps--) {
        uint8_t byte = script_take(&ops->script);
        unsigned as = byte / 16 % (WORKERS_OPS_MAX + 1);
        uint32_t on = (byte & 8) != 0 ? i : workers_ops_take_timer(ops);

        if (as == WORKERS_OPS_NOBODY ||
            (byte >= 128 && ops->seats[as].worker != NULL)) {
            workers_ops_be(ops, as);
            TRACE(&ops->script, "as %s", workers_ops_name_of(as));
        }
        switch (byte % 8) {
        case 0:
            break;
        case 1:
            workers_ops_stop(ops, on);
            break;
        case 2:
            workers_ops_stop_sync(ops, on, true);
            break;
        case 3:
            ops->clock = script_later(ops->clock, script_take(&ops->script));
            TRACE(&ops->script, "the clock is %llu",
                  (unsigned long long)ops->clock);
            if (ops->self == was) {
                lawn_worker_update(ops->seats[was].worker);
            }
            break;
        case 4:
            if (ops->self == was) {
                script_expect(&ops->script, "a turn in a callback",
                              lawn_worker_turn(ops->seats[was].worker),
                              LAWN_NEVER);
            }
            break;
        default:
            workers_ops_start_any(ops, on, script_take(&ops->script));
            break;
        }
        workers_ops_be(ops, was);
    }
}

/* By TTL: all timers of a TTL fire on one worker. */
static void
check_owner(struct workers_ops *ops, const struct should *s, unsigned who)
{
    struct ttl_owner *owner = &ops->owners[s->ttl % WORKERS_OPS_TTLS];

    if (!ops->by_ttl || s->ttl == 0 || !ops->stable) {
        return;
    }
    if (owner->on != WORKERS_OPS_NOBODY && owner->ttl == s->ttl) {
        script_expect(&ops->script, "the worker of a TTL", who, owner->on);
    }
    owner->ttl = s->ttl;
    owner->on = who;
}

static void
on_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    struct ops_timer *t = LAWN_CONTAINER(timer, struct ops_timer, timer);
    struct workers_ops *ops = t->ops;
    struct script *script = &ops->script;
    struct should *s = &ops->should[t->number];
    uint32_t i = t->number;

    ops->fires++;
    script->result->fires++;
    TRACE(script, "timer %u fires, due at %llu", i,
          (unsigned long long)lawn_last_deadline(&timer->timer));
    if (!s->running) {
        script_fail(script, "C1: timer %u fires, though it does not run", i);
    } else if (s->due > ops->clock) {
        script_fail(script, "P1: timer %u fires %llu ticks early", i,
                    (unsigned long long)(s->due - ops->clock));
    } else if (lawn_last_deadline(&timer->timer) > ops->clock) {
        script_fail(script,
                    "P1: timer %u fires before its lawn_last_deadline()", i);
    } else if (ops->self == WORKERS_OPS_NOBODY ||
               worker != ops->seats[ops->self].worker ||
               lawn_workers_self() != worker || ops->firing != NULL) {
        script_fail(script, "C4: timer %u fires on another worker", i);
    } else if (s->on != WORKERS_OPS_NOBODY && s->on != ops->self) {
        script_fail(script, "timer %u fires on %s, not on %s", i,
                    workers_ops_name_of(ops->self), workers_ops_name_of(s->on));
    } else {
        script_expect(script, "P6: lawn_workers_pending() in the callback",
                      lawn_workers_pending(timer), false);
    }
    check_owner(ops, s, ops->self);
    s->running = false;
    s->refers = false;
    s->sure = true; /* if it is referred to at all, it is here */
    s->on = ops->self;
    ops->fires_on = ops->self;
    ops->firing = t;
    script->depth++;
    if (!script->failed) {
        run_callback(ops, i);
    }
    script->depth--;
    ops->firing = NULL;
    if (!s->running && !s->refers && script_take(script) >= 128) {
        workers_ops_free_timer(ops, i); /* [C3] */
    }
}
