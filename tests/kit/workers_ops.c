/* workers_ops.c - the interpreter of operations on a set of workers: see
 * workers_ops.h.
 *
 * A case is a byte for the mix, a byte for its size and manner, then options,
 * then operations. Each is done as one of the workers or as none of them; a
 * callback has a little program of its own, in which the thread may be another
 * worker for a while.
 *
 * The oracle knows of each timer whether it runs and when it is due, and if it
 * can, which worker keeps it. What it does not know it leaves open until all
 * workers have taken turns: then nothing that is due may be left. Each timer is
 * a piece of memory of its own, which goes as soon as it may, so that a
 * sanitizer sees any later touch.
 */
#include "workers_ops.h"

#include "lawn_workers.h"
#include "oracle.h"
#include "script.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS_OPS_MAX 4u /* workers */
#define WORKERS_OPS_NOBODY WORKERS_OPS_MAX
#define WORKERS_OPS_TURNS 100000u
#define WORKERS_OPS_TTLS 64u

struct workers_ops;

struct ops_timer {
    struct lawn_workers_timer timer;
    struct workers_ops *ops;
    uint32_t number;
};

/* What should be so. */
struct should {
    bool running;
    bool refers;    /* the library may refer to it [C3] */
    bool sure;      /* it is on the worker, and nowhere on the way */
    bool mailed;    /* its start may not have been taken yet */
    unsigned on;    /* WORKERS_OPS_NOBODY: not known */
    uint64_t ttl;   /* 0: it was started with a deadline */
    uint64_t due;   /* it fires not before that */
    uint64_t late;  /* and not after that; see late_of() */
    uint64_t floor; /* nor before that */
};

struct seat {
    struct lawn_worker *worker; /* NULL: free */
    unsigned number;
    bool leaving;   /* told to end */
    bool asleep;    /* it has done nothing since its last turn */
    uint64_t until; /* what that returned */
};

/* Which worker the timers of a TTL went to, since the last one came or went. */
struct ttl_home {
    uint64_t ttl;
    unsigned on;
};

struct workers_ops {
    struct script script;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* look at the descriptors */
    bool careful; /* check after every operation */

    struct lawn_workers *set; /* NULL: there was no memory for it */
    bool by_ttl;
    uint64_t resolution;
    uint64_t clock;
    struct seat seats[WORKERS_OPS_MAX];
    unsigned self;
    uint32_t many;
    struct ops_timer **timers;
    struct should *should;
    struct ops_timer *firing;
    unsigned fires_on; /* who fires it */
    bool stable;       /* all have turned since the last came or went */
    uint64_t latest;   /* what mail counts from at least: see late_of() */
    struct ttl_home homes[WORKERS_OPS_TTLS];

    uint64_t fires;   /* of this set */
    uint64_t left;    /* told by the close under way */
    uint64_t own;     /* allocations made here */
    uint64_t foreign; /* and elsewhere, when memory was last needed */
    uint64_t unchecked;
};

static uint64_t
read_clock(void *context)
{
    return ((const struct workers_ops *)context)->clock;
}

static uint64_t
refusals(const struct workers_ops *ops)
{
    const uint64_t *refused = ops->script.config->refusals;

    return refused != NULL ? *refused : 0;
}

static uint64_t
allocations(const struct workers_ops *ops)
{
    const uint64_t *made = ops->script.config->allocations;

    return made != NULL ? *made - ops->own : 0;
}

static const char *
name(unsigned who)
{
    static const char *const names[] = {"worker A", "worker B", "worker C",
                                        "worker D", "no worker"};

    return names[who];
}

static void
be(struct workers_ops *ops, unsigned who)
{
    ops->self = who;
    (void)lawn_workers_be(who == WORKERS_OPS_NOBODY ? NULL
                                                    : ops->seats[who].worker);
}

static unsigned
count_workers(const struct workers_ops *ops)
{
    unsigned count = 0;
    unsigned i;

    for (i = 0; i < WORKERS_OPS_MAX; i++) {
        count += ops->seats[i].worker != NULL && !ops->seats[i].leaving;
    }
    return count;
}

/* When a timer fires at the latest. A start in the mail counts from the time at
 * which it was made; or from that of a later start which was taken before it, or
 * from the time of the worker's last round. */
static uint64_t
late_of(const struct workers_ops *ops, const struct should *s)
{
    uint64_t last = LAWN_NEVER - 1;
    uint64_t from = s->ttl == 0 ? ops->clock : ops->latest;
    uint64_t late = s->late;

    if (s->mailed) {
        late = oracle_due(from < last ? from : last, ops->resolution,
                          s->ttl > 0 ? s->ttl : 1);
    }
    late = late > s->floor ? late : s->floor;
    return late > s->due ? late : s->due;
}

/* In a callback mail may be taken, but what is due by then has to wait for the
 * next tick, as whatever a callback starts [P6]. */
static void
take_in_callback(struct workers_ops *ops)
{
    uint64_t last = LAWN_NEVER - 1;
    uint32_t i;

    for (i = 0; i < ops->many; i++) {
        if (ops->should[i].running) {
            ops->should[i].floor = oracle_due(
                ops->clock < last ? ops->clock : last, ops->resolution, 1);
        }
    }
}

/* We are about to do something as a worker, which may take mail. */
static void
may_take_mail(struct workers_ops *ops, unsigned who)
{
    if (who != WORKERS_OPS_NOBODY) {
        uint64_t now = lawn_worker_now(ops->seats[who].worker);

        ops->latest = now > ops->latest ? now : ops->latest;
    }
}

/* It has been taken by now. */
static void
taken(const struct workers_ops *ops, struct should *s)
{
    s->late = late_of(ops, s);
    s->mailed = false;
}

/* Lawns may have changed hands: where timers are is not known any more. */
static void
forget_places(struct workers_ops *ops)
{
    uint32_t i;

    ops->stable = false;

    for (i = 0; i < ops->many; i++) {
        ops->should[i].sure = false;
        ops->should[i].on = WORKERS_OPS_NOBODY;
    }
    for (i = 0; i < WORKERS_OPS_TTLS; i++) {
        ops->homes[i].on = WORKERS_OPS_NOBODY;
    }
    for (i = 0; i < WORKERS_OPS_MAX; i++) {
        ops->seats[i].asleep = false;
    }
}

/* What is the same after every operation. */
static void
compare(struct workers_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    struct script *script = &ops->script;
    struct lawn_workers_stats stats;
    uint32_t i;

    script->result->operations++;
    for (i = 0; i < ops->many; i++) {
        if (ops->timers[i] != NULL &&
            lawn_workers_pending(&ops->timers[i]->timer) !=
                ops->should[i].running) {
            script_fail(script, "C1: timer %u is%s running", i,
                        ops->should[i].running ? " not" : "");
        }
    }
    if (ops->set == NULL) {
        return;
    }
    script_expect(script, "the number of allocations since memory was needed",
                  allocations(ops), ops->foreign);
    lawn_workers_stats(ops->set, &stats);
    script_expect(script, "the fires of all workers", stats.fires, ops->fires);
    if (ops->careful ||
        (config->check_every != 0 && ++ops->unchecked >= config->check_every)) {
        ops->unchecked = 0;
        if (!lawn_workers_check(ops->set, stderr)) {
            script_fail(script, "lawn_workers_check() found something broken");
        }
    }
}

/* Descriptors. */

static bool
is_called(const struct workers_ops *ops, unsigned who)
{
    struct pollfd poller = {.events = POLLIN};

    poller.fd = lawn_worker_fd(ops->seats[who].worker);
    return poll(&poller, 1, 0) == 1;
}

/* Timers. */

static void on_fire(struct lawn_workers_timer *timer,
                    struct lawn_worker *worker);

static struct ops_timer *
timer_of(struct workers_ops *ops, uint32_t i)
{
    if (ops->timers[i] == NULL) {
        ops->timers[i] = calloc(1, sizeof *ops->timers[i]);
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

static void
free_timer(struct workers_ops *ops, uint32_t i)
{
    TELL(&ops->script, "free timer %u", i);
    free(ops->timers[i]);
    ops->timers[i] = NULL;
    ops->should[i].on = WORKERS_OPS_NOBODY; /* the next knows no worker */
    ops->should[i].sure = false;
}

/* Whom a start by the one who we are makes it go to. */
static void
place(struct workers_ops *ops, uint32_t i, unsigned named)
{
    struct should *s = &ops->should[i];
    bool fires = ops->firing != NULL && ops->firing == ops->timers[i];
    unsigned to = named;

    if (named == WORKERS_OPS_NOBODY) {
        to = s->running || fires || ops->self == WORKERS_OPS_NOBODY ? s->on
                                                                    : ops->self;
        /* Stopped, it may still be where it was; or it is on its way. */
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

/* The descriptor of a worker that sleeps tells of a start from elsewhere if it
 * is due earlier than the worker would wake, and not otherwise [C7]. */
static void
look_at_call(struct workers_ops *ops, uint32_t i, const bool *were_called)
{
    const struct should *s = &ops->should[i];
    bool is;

    if (!ops->nosy || !s->sure || s->on == ops->self ||
        !ops->seats[s->on].asleep) {
        return;
    }
    is = is_called(ops, s->on);
    if (!is && late_of(ops, s) < ops->seats[s->on].until) {
        script_fail(&ops->script, "C7: %s is not woken", name(s->on));
    } else if (is && !were_called[s->on] && ops->resolution <= 1 &&
               /* A worker may also have sent on what was in its mail. */
               ops->self == WORKERS_OPS_NOBODY &&
               s->due >= ops->seats[s->on].until && s->due > ops->clock) {
        script_fail(&ops->script, "C7: %s is woken for nothing", name(s->on));
    }
}

enum start_how { START_TTL, START_AT, START_ON };

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

/* When a timer that was just started is due: it counts from the worker's time
 * where it is kept, and from the clock elsewhere. */
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
        s->mailed = !s->sure || how == START_ON; /* its own lawns, by mail */
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

static void
do_start(struct workers_ops *ops, uint32_t i, enum start_how how,
         uint64_t value, unsigned named)
{
    struct ops_timer *t = timer_of(ops, i);
    struct should *s = &ops->should[i];
    bool were_called[WORKERS_OPS_MAX] = {false};
    unsigned w;
    int error;

    for (w = 0; ops->nosy && w < WORKERS_OPS_MAX; w++) {
        were_called[w] = ops->seats[w].worker != NULL && is_called(ops, w);
    }
    may_take_mail(ops, ops->self);
    error = start_timer(ops, t, how, value, named);
    place(ops, i, how == START_ON ? named : WORKERS_OPS_NOBODY);
    expect_due(ops, s, how, value);
    s->running = true;
    s->refers = true;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
    TELL(&ops->script, "start timer %u, %s %llu%s%s: due at %llu%s%s", i,
         how == START_AT ? "at" : "ttl", (unsigned long long)value,
         how == START_ON ? " on " : "", how == START_ON ? name(named) : "",
         (unsigned long long)s->due, s->sure ? " for sure on " : "",
         s->sure ? name(s->on) : "");
    script_expect(&ops->script, "the result of a start",
                  (uint64_t)(int64_t)error, 0);
    look_at_call(ops, i, were_called);
}

static void
do_stop(struct workers_ops *ops, uint32_t i)
{
    struct should *s = &ops->should[i];

    TELL(&ops->script, "stop timer %u", i);
    script_expect(&ops->script, "C2: lawn_workers_stop()",
                  lawn_workers_stop(ops->set, &timer_of(ops, i)->timer),
                  s->running);
    s->running = false;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
}

/* Only where it does not wait for one who takes no turns. */
static void
do_stop_sync(struct workers_ops *ops, uint32_t i, bool gone)
{
    struct should *s = &ops->should[i];
    bool own = ops->firing != NULL && ops->firing == ops->timers[i];

    if (own && ops->self != ops->fires_on) {
        return; /* as another one it would wait for the callback */
    }
    if (s->refers &&
        (!s->sure || s->on != ops->self || ops->self == WORKERS_OPS_NOBODY)) {
        do_stop(ops, i);
        return;
    }
    TELL(&ops->script, "stop timer %u for good", i);
    may_take_mail(ops, ops->self);
    if (ops->firing != NULL) {
        take_in_callback(ops);
    }
    script_expect(&ops->script, "C2: lawn_workers_stop_sync()",
                  lawn_workers_stop_sync(ops->set, &timer_of(ops, i)->timer),
                  s->running);
    s->running = false;
    s->refers = false;
    if (ops->self != WORKERS_OPS_NOBODY) {
        ops->seats[ops->self].asleep = false;
    }
    if (gone && !own) {
        free_timer(ops, i);
    }
}

/* Of one byte for the timer, and more for the rest. */
static void
start_any(struct workers_ops *ops, uint32_t i, uint8_t how)
{
    unsigned named = how / 8 % WORKERS_OPS_MAX;
    uint64_t ttl = script_take_ttl(&ops->script);

    if (how % 8 == 0) {
        do_start(ops, i, START_AT, script_later(ops->clock, ttl), named);
    } else if (how % 8 == 1) {
        do_start(ops, i, START_AT, script_earlier(ops->clock, ttl), named);
    } else if (how % 8 < 4 && ops->seats[named].worker != NULL &&
               !ops->seats[named].leaving) {
        do_start(ops, i, START_ON, ttl, named);
    } else {
        do_start(ops, i, START_TTL, ttl, WORKERS_OPS_NOBODY);
    }
}

static uint32_t
take_timer(struct workers_ops *ops)
{
    return script_take(&ops->script) % ops->many;
}

/* The program of a callback: the thread may be another one meanwhile. */
static void
run_callback(struct workers_ops *ops, uint32_t i)
{
    unsigned was = ops->self;
    unsigned steps = script_take(&ops->script);

    for (steps = steps < 128 ? 0 : 1 + steps % 3;
         steps > 0 && !ops->script.failed; steps--) {
        uint8_t byte = script_take(&ops->script);
        unsigned as = byte / 16 % (WORKERS_OPS_MAX + 1);
        uint32_t on = (byte & 8) != 0 ? i : take_timer(ops);

        if (as == WORKERS_OPS_NOBODY ||
            (byte >= 128 && ops->seats[as].worker != NULL)) {
            be(ops, as);
            TELL(&ops->script, "as %s", name(as));
        }
        switch (byte % 8) {
        case 0:
            break;
        case 1:
            do_stop(ops, on);
            break;
        case 2:
            do_stop_sync(ops, on, true);
            break;
        case 3:
            ops->clock = script_later(ops->clock, script_take(&ops->script));
            TELL(&ops->script, "the clock is %llu",
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
            start_any(ops, on, script_take(&ops->script));
            break;
        }
        be(ops, was);
    }
}

/* By TTL: all of a TTL come up at one worker. */
static void
look_at_home(struct workers_ops *ops, const struct should *s, unsigned who)
{
    struct ttl_home *home = &ops->homes[s->ttl % WORKERS_OPS_TTLS];

    if (!ops->by_ttl || s->ttl == 0 || !ops->stable) {
        return;
    }
    if (home->on != WORKERS_OPS_NOBODY && home->ttl == s->ttl) {
        script_expect(&ops->script, "the worker of a TTL", who, home->on);
    }
    home->ttl = s->ttl;
    home->on = who;
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
    TELL(script, "timer %u fires, due at %llu", i,
         (unsigned long long)lawn_due(&timer->timer));
    if (!s->running) {
        script_fail(script, "C1: timer %u fires, though it does not run", i);
    } else if (s->due > ops->clock) {
        script_fail(script, "P1: timer %u fires %llu ticks early", i,
                    (unsigned long long)(s->due - ops->clock));
    } else if (lawn_due(&timer->timer) > ops->clock) {
        script_fail(script, "P1: timer %u fires before its lawn_due()", i);
    } else if (ops->self == WORKERS_OPS_NOBODY ||
               worker != ops->seats[ops->self].worker ||
               lawn_workers_self() != worker || ops->firing != NULL) {
        script_fail(script, "C4: timer %u fires on another worker", i);
    } else if (s->on != WORKERS_OPS_NOBODY && s->on != ops->self) {
        script_fail(script, "timer %u fires on %s, not on %s", i,
                    name(ops->self), name(s->on));
    } else {
        script_expect(script, "P6: lawn_workers_pending() in the callback",
                      lawn_workers_pending(timer), false);
    }
    look_at_home(ops, s, ops->self);
    s->running = false;
    s->refers = false;
    s->sure = true; /* if it refers to it at all, it is here */
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
        free_timer(ops, i); /* [C3] */
    }
}

/* Turns. */

static bool
has_passed(const struct workers_ops *ops, uint64_t next)
{
    return next != LAWN_NEVER && next <= ops->clock;
}

/* After a turn that left nothing to do at once. */
static void
look_at_rest(struct workers_ops *ops, unsigned who, uint64_t began,
             uint64_t next)
{
    uint32_t i;

    for (i = 0; i < ops->many; i++) {
        struct should *s = &ops->should[i];

        if (!s->running || !s->sure || s->on != who) {
            continue;
        }
        taken(ops, s);
        if (s->late <= began && began < LAWN_NEVER - 1) {
            script_fail(&ops->script, "P2: timer %u was due at %llu", i,
                        (unsigned long long)s->late);
        } else if (s->late < next) {
            script_fail(&ops->script,
                        "P2: the next turn is due at %llu, timer %u at %llu",
                        (unsigned long long)next, i,
                        (unsigned long long)s->late);
        }
    }
}

/* True: there is more to do at once. */
static bool
do_turn(struct workers_ops *ops, unsigned who)
{
    unsigned was = ops->self;
    struct seat *seat = &ops->seats[who];
    uint64_t began = ops->clock;
    uint64_t next;

    be(ops, who);
    seat->asleep = false;
    TELL(&ops->script, "%s turns at %llu", name(who),
         (unsigned long long)ops->clock);
    may_take_mail(ops, who);
    next = lawn_worker_turn(seat->worker);
    TELL(&ops->script, "%s next turns at %llu", name(who),
         (unsigned long long)next);
    if (!has_passed(ops, next)) {
        look_at_rest(ops, who, began, next);
    }
    seat->asleep = ops->stable && !seat->leaving;
    seat->until = next;
    if (ops->nosy && seat->asleep && !ops->script.failed) {
        script_expect(&ops->script, "C7: whether it is called after a turn",
                      is_called(ops, who), false);
    }
    be(ops, was);
    return has_passed(ops, next);
}

/* All turn until there is nothing to do at once, and again since one may have
 * something for another; then nothing that is due is left. A callback that moves
 * the clock makes it begin anew. */
static void
settle(struct workers_ops *ops)
{
    uint64_t clock = ops->clock;
    unsigned turns = 0;
    unsigned round;
    unsigned i;

    for (round = 0; round < 4 && !ops->script.failed; round++) {
        for (i = 0; i < WORKERS_OPS_MAX; i++) {
            while (ops->seats[i].worker != NULL && !ops->script.failed &&
                   do_turn(ops, i)) {
                if (++turns > WORKERS_OPS_TURNS) {
                    script_fail(&ops->script, "P2: the turns do not end");
                }
            }
        }
        if (ops->clock != clock) {
            clock = ops->clock;
            round = 0;
        }
    }
    if (count_workers(ops) == 0) {
        return;
    }
    ops->stable = true;
    for (i = 0; i < ops->many; i++) {
        struct should *s = &ops->should[i];

        if (s->running) {
            taken(ops, s);
        }
        if (s->running && s->late < LAWN_NEVER - 1 && s->late <= ops->clock) {
            script_fail(&ops->script, "P2: timer %u was due at %llu", i,
                        (unsigned long long)s->late);
        }
    }
}

/* Workers. */

static void
do_attach(struct workers_ops *ops, unsigned seat)
{
    unsigned was = ops->self;
    uint64_t before = refusals(ops);
    struct seat *s = &ops->seats[seat];

    be(ops, WORKERS_OPS_NOBODY);
    TELL(&ops->script, "attach %s", name(seat));
    memset(s, 0, sizeof *s);
    s->worker = lawn_workers_attach(ops->set);
    if (s->worker == NULL) {
        script_expect(&ops->script, "the error of an attach", (uint64_t)errno,
                      ENOMEM);
        if (refusals(ops) == before) {
            script_fail(&ops->script, "there was memory for a worker");
        }
        ops->script.result->refused++;
    } else {
        s->number = lawn_worker_number(s->worker);
        script_expect(&ops->script, "the time of a new worker",
                      lawn_worker_now(s->worker),
                      ops->clock < LAWN_NEVER - 1 ? ops->clock
                                                  : LAWN_NEVER - 1);
    }
    ops->foreign = allocations(ops);
    forget_places(ops);
    be(ops, was);
}

static void
do_detach(struct workers_ops *ops, unsigned seat)
{
    unsigned was = ops->self;

    be(ops, seat);
    TELL(&ops->script, "detach %s", name(seat));
    lawn_worker_detach(ops->seats[seat].worker);
    if (lawn_workers_self() != NULL) {
        script_fail(&ops->script, "a thread that was detached is a worker");
    }
    ops->seats[seat].worker = NULL;
    forget_places(ops);
    be(ops, was == seat ? WORKERS_OPS_NOBODY : was);
}

static void
do_remove(struct workers_ops *ops, unsigned seat)
{
    struct seat *s = &ops->seats[seat];
    int expected = ops->self != WORKERS_OPS_NOBODY ? -EDEADLK
                   : s->leaving                    ? -ENOENT
                   : count_workers(ops) == 1       ? -EBUSY
                                                   : 0;

    TELL(&ops->script, "remove %s", name(seat));
    script_expect(&ops->script, "lawn_workers_remove()",
                  (uint64_t)(int64_t)lawn_workers_remove(ops->set, s->number),
                  (uint64_t)(int64_t)expected);
    if (expected == 0) {
        s->leaving = true;
        forget_places(ops);
    }
}

static void
on_left(struct lawn_workers_timer *timer, void *arg)
{
    struct ops_timer *t = LAWN_CONTAINER(timer, struct ops_timer, timer);
    struct workers_ops *ops = (struct workers_ops *)arg;
    struct should *s = &ops->should[t->number];

    TELL(&ops->script, "timer %u is left", t->number);
    ops->left++;
    if (!s->running) {
        script_fail(&ops->script, "C1: timer %u is left, but does not run",
                    t->number);
    }
    s->running = false;
    s->refers = false;
    if (t->number % 2 == 0) {
        free_timer(ops, t->number);
    }
}

/* All go, and the set is closed: each timer that runs is told once. */
static void
close_set(struct workers_ops *ops, uint64_t until)
{
    struct script *script = &ops->script;
    uint64_t running = 0;
    unsigned i;

    be(ops, WORKERS_OPS_NOBODY);
    for (i = 0; i < WORKERS_OPS_MAX; i++) {
        if (ops->seats[i].worker != NULL) {
            do_detach(ops, i);
        }
    }
    for (i = 0; i < ops->many; i++) {
        running += ops->should[i].running;
    }
    TELL(script, "close");
    ops->left = 0;
    script_expect(script, "C1: lawn_workers_close()",
                  lawn_workers_close(ops->set, until, on_left, ops), running);
    script_expect(script, "C1: the timers that were told as left", ops->left,
                  running);
    script_expect(script, "lawn_workers_close(), again",
                  lawn_workers_close(ops->set, until, on_left, ops), 0);
    script_expect(script, "a start after the end",
                  (uint64_t)(int64_t)lawn_workers_start(
                      ops->set, &timer_of(ops, 0)->timer, 1),
                  (uint64_t)(int64_t)-ESHUTDOWN);
    for (i = 0; i < ops->many; i++) {
        ops->should[i].refers = false;
    }
    compare(ops);
    lawn_workers_free(ops->set);
    ops->set = NULL;
}

static bool
open_set(struct workers_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    struct lawn_workers_options options = {0};
    uint64_t before = refusals(ops);
    uint8_t byte = script_take(&ops->script);

    script_take_lawn(&ops->script, &options.lawn);
    ops->clock = options.lawn.now > ops->clock ? options.lawn.now : ops->clock;
    ops->resolution = options.lawn.resolution;
    ops->by_ttl = byte % 4 == 3;
    options.route = ops->by_ttl ? LAWN_WORKERS_BY_TTL : LAWN_WORKERS_BY_OWNER;
    options.parts = byte / 4 % 8;
    options.budget = byte < 64 ? 0 : byte < 128 ? 1 : byte % 8 + 1u;
    options.clock = read_clock;
    options.clock_context = ops;
    options.lawn.alloc = config->alloc;
    options.lawn.release = config->release;
    options.lawn.context = config->context;
    TELL(&ops->script, "a set by %s, budget %zu, resolution %llu",
         ops->by_ttl ? "TTL" : "owner", options.budget,
         (unsigned long long)ops->resolution);
    ops->fires = 0;
    ops->latest = 0;
    ops->set = lawn_workers_new(&options);
    ops->foreign = allocations(ops);
    forget_places(ops);
    if (ops->set == NULL) {
        if (refusals(ops) == before || errno != ENOMEM) {
            script_fail(&ops->script, "there was memory for a set");
        }
        ops->script.result->refused++;
        return false;
    }
    return true;
}

/* Operations. */

static void
op_start(struct workers_ops *ops)
{
    uint32_t i = take_timer(ops);

    start_any(ops, i, script_take(&ops->script));
}

static void
op_stop(struct workers_ops *ops)
{
    do_stop(ops, take_timer(ops));
}

static void
op_stop_sync(struct workers_ops *ops)
{
    uint32_t i = take_timer(ops);

    do_stop_sync(ops, i, script_take(&ops->script) % 2 == 0);
}

static void
op_start_row(struct workers_ops *ops)
{
    uint32_t i = take_timer(ops);
    uint8_t byte = script_take(&ops->script);
    uint64_t ttl = script_take_ttl(&ops->script);
    unsigned count = 1 + byte % 32;

    for (; count > 0 && !ops->script.failed; count--) {
        do_start(ops, i, START_TTL, ttl, WORKERS_OPS_NOBODY);
        i = (i + 1) % ops->many;
    }
}

/* As another one from now on. */
static void
op_be(struct workers_ops *ops)
{
    unsigned who = script_take(&ops->script) % (WORKERS_OPS_MAX + 1);

    if (who == WORKERS_OPS_NOBODY || ops->seats[who].worker != NULL) {
        TELL(&ops->script, "as %s", name(who));
        be(ops, who);
    }
}

static void
op_turn(struct workers_ops *ops)
{
    unsigned who = script_take(&ops->script) % WORKERS_OPS_MAX;

    if (ops->seats[who].worker != NULL) {
        (void)do_turn(ops, who);
    }
}

static uint64_t
next_due(const struct workers_ops *ops)
{
    uint64_t next = LAWN_NEVER;
    uint32_t i;

    for (i = 0; i < ops->many; i++) {
        if (ops->should[i].running && ops->should[i].due < next) {
            next = ops->should[i].due;
        }
    }
    return next;
}

static void
op_clock(struct workers_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    uint64_t to = script_later(ops->clock, byte % 16);

    if (byte >= 64 && byte < 192) {
        to = next_due(ops);
        to = byte % 4 == 0 ? script_earlier(to, 1) : to;
    } else if (byte >= 240) {
        to = script_later(ops->clock, script_take_jump(&ops->script));
    }
    if (to > ops->clock && (to != LAWN_NEVER || byte >= 240)) {
        ops->clock = to;
    }
    TELL(&ops->script, "the clock is %llu", (unsigned long long)ops->clock);
}

static void
op_settle(struct workers_ops *ops)
{
    settle(ops);
}

static void
op_come(struct workers_ops *ops)
{
    unsigned seat = script_take(&ops->script) % WORKERS_OPS_MAX;

    if (ops->seats[seat].worker == NULL) {
        do_attach(ops, seat);
    }
}

static void
op_go(struct workers_ops *ops)
{
    uint8_t byte = script_take(&ops->script);
    unsigned seat = byte % WORKERS_OPS_MAX;

    if (ops->seats[seat].worker == NULL) {
        return;
    }
    if (byte < 128) {
        do_detach(ops, seat);
    } else {
        do_remove(ops, seat);
    }
}

static void
op_wake(struct workers_ops *ops)
{
    unsigned i;

    TELL(&ops->script, "wake");
    lawn_workers_wake(ops->set);
    for (i = 0; i < WORKERS_OPS_MAX; i++) {
        if (ops->nosy && ops->seats[i].worker != NULL && ops->seats[i].asleep) {
            script_expect(&ops->script, "C7: whether a worker is called",
                          is_called(ops, i), true);
        }
        ops->seats[i].asleep = false;
    }
}

static void
op_update(struct workers_ops *ops)
{
    if (ops->self != WORKERS_OPS_NOBODY) {
        lawn_worker_update(ops->seats[ops->self].worker);
        script_expect(&ops->script, "P9: lawn_worker_now()",
                      lawn_worker_now(ops->seats[ops->self].worker),
                      ops->clock < LAWN_NEVER - 1 ? ops->clock
                                                  : LAWN_NEVER - 1);
    }
}

static void
op_close(struct workers_ops *ops)
{
    uint8_t byte = script_take(&ops->script);

    if (byte % 4 == 0) {
        close_set(ops, byte < 128 ? 0 : byte < 192 ? ops->clock : LAWN_NEVER);
        (void)open_set(ops);
    }
}

typedef void workers_op_fn(struct workers_ops *ops);

static const struct workers_op {
    unsigned share;
    workers_op_fn *run;
} table[] = {
    {68, op_start}, {30, op_stop}, {14, op_stop_sync}, {8, op_start_row},
    {26, op_be},    {40, op_turn}, {30, op_clock},     {12, op_settle},
    {9, op_come},   {6, op_go},    {4, op_wake},       {5, op_update},
    {4, op_close},
};

static void
run_one(struct workers_ops *ops)
{
    unsigned byte = script_take(&ops->script);
    size_t i = 0;

    if (ops->calm && byte % 8 != 7) {
        byte = byte % 186; /* workers stay, and the clock mostly */
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    table[i].run(ops);
    if (!ops->script.failed) {
        compare(ops);
    }
}

/* Whatever was started fires, once there is a worker and time enough. */
static void
run_out(struct workers_ops *ops)
{
    unsigned i = 0;

    while (i < WORKERS_OPS_MAX && ops->seats[i].worker != NULL) {
        i++;
    }
    if (count_workers(ops) == 0 && i < WORKERS_OPS_MAX) {
        do_attach(ops, i);
    }
    settle(ops);
    if (!ops->script.failed) {
        compare(ops);
    }
    if (ops->clock % 2 == 0 && count_workers(ops) > 0) {
        ops->clock = LAWN_NEVER - 1;
        settle(ops);
        for (i = 0; i < ops->many; i++) {
            if (ops->should[i].running) {
                script_fail(&ops->script,
                            "P2: timer %u runs at the end of time", i);
            }
        }
    }
}

static void
clean_up(struct workers_ops *ops)
{
    uint32_t i;

    if (ops->set != NULL && ops->script.failed) {
        be(ops, WORKERS_OPS_NOBODY); /* it may be in any state: leave it */
        return;
    }
    if (ops->set != NULL) {
        close_set(ops, 0);
    }
    for (i = 0; i < ops->many; i++) {
        free(ops->timers[i]);
    }
    free(ops->timers);
    free(ops->should);
}

static void
run_case(struct workers_ops *ops, uint8_t byte)
{
    static const uint32_t many[4] = {16, 64, 4, 256};
    const struct ops_config *config = ops->script.config;
    unsigned i;

    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->many = config->timers != 0 ? config->timers : many[byte % 4];
    ops->timers = calloc(ops->many, sizeof *ops->timers);
    ops->should = calloc(ops->many, sizeof *ops->should);
    if (ops->timers == NULL || ops->should == NULL) {
        abort();
    }
    ops->own += 2;
    be(ops, WORKERS_OPS_NOBODY);
    if (open_set(ops)) {
        for (i = script_take(&ops->script) % (WORKERS_OPS_MAX + 1); i > 0;
             i--) {
            do_attach(ops, i - 1);
        }
        while (!script_over(&ops->script) && ops->set != NULL) {
            run_one(ops);
        }
        if (!ops->script.failed && ops->set != NULL) {
            run_out(ops);
        }
    }
    clean_up(ops);
}

/* What a case is given, and what it returns. */
struct call {
    const struct ops_config *config;
    const uint8_t *bytes;
    size_t size;
    struct ops_result *result;
    bool good;
};

static void *
run_call(void *arg)
{
    struct call *call = (struct call *)arg;
    struct workers_ops ops;

    memset(&ops, 0, sizeof ops);
    run_case(&ops, script_begin(&ops.script, call->config, call->bytes,
                                call->size, call->result));
    call->good = !ops.script.failed;
    return NULL;
}

/* In a thread of its own, since a thread remembers which worker it has sent a
 * timer to last. */
bool
workers_ops_run(const struct ops_config *config, const uint8_t *bytes,
                size_t size, struct ops_result *result)
{
    struct call call = {config, bytes, size, result, false};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_call, &call) != 0 ||
        pthread_join(thread, NULL) != 0) {
        abort();
    }
    return call.good;
}
