/* workers_ops.c - the interpreter of operations on a set of workers: see
 * workers_ops.h.
 *
 * A case is a byte for the mix, a byte for its size and style, then options,
 * then operations. Each is done as one of the workers or as no worker; a
 * callback has its own short program, in which the thread may act as another
 * worker for a while.
 *
 * The oracle knows of each timer whether it runs, when it is due, and if
 * possible which worker owns it. Unknown facts stay open until all workers have
 * taken turns: then no due timer may be left. Each timer is a separate block of
 * memory, freed as early as permitted, so that a sanitizer detects any later
 * access.
 */
#include "workers_ops.h"

#include "workers_ops_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS_OPS_TURNS 100000u

static uint64_t
read_clock(void *context)
{
    return ((const struct workers_ops *)context)->clock;
}

/* Turns. */

static bool
has_passed(const struct workers_ops *ops, uint64_t next)
{
    return next != LAWN_NEVER && next <= ops->clock;
}

/* Checks after a turn without immediate work left. */
static void
look_at_rest(struct workers_ops *ops, unsigned who, uint64_t began,
             uint64_t next)
{
    for (uint32_t i = 0; i < ops->many; i++) {
        struct should *s = &ops->should[i];

        if (!s->running || !s->sure || s->on != who) {
            continue;
        }
        workers_ops_taken(ops, s);
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

/* Returns true if there is more work at once. */
static bool
do_turn(struct workers_ops *ops, unsigned who)
{
    unsigned was = ops->self;
    struct seat *seat = &ops->seats[who];
    uint64_t began = ops->clock;

    workers_ops_be(ops, who);
    seat->asleep = false;
    TRACE(&ops->script, "%s turns at %llu", workers_ops_name_of(who),
          (unsigned long long)ops->clock);
    workers_ops_may_take_mail(ops, who);
    uint64_t next = lawn_worker_turn(seat->worker);
    TRACE(&ops->script, "%s next turns at %llu", workers_ops_name_of(who),
          (unsigned long long)next);
    if (!has_passed(ops, next)) {
        look_at_rest(ops, who, began, next);
    }
    seat->asleep = ops->stable && !seat->leaving;
    seat->until = next;
    if (ops->nosy && seat->asleep && !ops->script.failed) {
        script_expect(&ops->script, "C7: descriptor readable after a turn",
                      workers_ops_is_called(ops, who), false);
    }
    workers_ops_be(ops, was);
    return has_passed(ops, next);
}

/* All workers take turns until there is no immediate work, and again, since one
 * may have sent something to another; then no due timer is left. If a callback
 * moves the clock, this starts over. */
static void
settle(struct workers_ops *ops)
{
    uint64_t clock = ops->clock;
    unsigned turns = 0;

    for (unsigned round = 0; round < 4 && !ops->script.failed; round++) {
        for (unsigned i = 0; i < WORKERS_OPS_MAX; i++) {
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
    if (workers_ops_count_workers(ops) == 0) {
        return;
    }
    ops->stable = true;
    for (unsigned i = 0; i < ops->many; i++) {
        struct should *s = &ops->should[i];

        if (s->running) {
            workers_ops_taken(ops, s);
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
    uint64_t before = workers_ops_refusals(ops);
    struct seat *s = &ops->seats[seat];

    workers_ops_be(ops, WORKERS_OPS_NOBODY);
    TRACE(&ops->script, "attach %s", workers_ops_name_of(seat));
    memset(s, 0, sizeof(*s));
    s->worker = lawn_workers_attach(ops->set);
    if (s->worker == NULL) {
        script_expect(&ops->script, "the error of an attach", (uint64_t)errno,
                      ENOMEM);
        if (workers_ops_refusals(ops) == before) {
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
    ops->foreign = workers_ops_allocations(ops);
    workers_ops_forget_places(ops);
    workers_ops_be(ops, was);
}

static void
do_detach(struct workers_ops *ops, unsigned seat)
{
    unsigned was = ops->self;

    workers_ops_be(ops, seat);
    TRACE(&ops->script, "detach %s", workers_ops_name_of(seat));
    lawn_worker_detach(ops->seats[seat].worker);
    if (lawn_workers_self() != NULL) {
        script_fail(&ops->script, "a thread that was detached is a worker");
    }
    ops->seats[seat].worker = NULL;
    workers_ops_forget_places(ops);
    workers_ops_be(ops, was == seat ? WORKERS_OPS_NOBODY : was);
}

static void
do_remove(struct workers_ops *ops, unsigned seat)
{
    struct seat *s = &ops->seats[seat];
    int expected = ops->self != WORKERS_OPS_NOBODY       ? -EDEADLK
                   : s->leaving                          ? -ENOENT
                   : workers_ops_count_workers(ops) == 1 ? -EBUSY
                                                         : 0;

    TRACE(&ops->script, "remove %s", workers_ops_name_of(seat));
    script_expect(&ops->script, "lawn_workers_remove()",
                  (uint64_t)(int64_t)lawn_workers_remove(ops->set, s->number),
                  (uint64_t)(int64_t)expected);
    if (expected == 0) {
        s->leaving = true;
        workers_ops_forget_places(ops);
    }
}

static void
on_left(struct lawn_workers_timer *timer, void *arg)
{
    struct ops_timer *t = LAWN_CONTAINER(timer, struct ops_timer, timer);
    struct workers_ops *ops = (struct workers_ops *)arg;
    struct should *s = &ops->should[t->number];

    TRACE(&ops->script, "timer %u is left", t->number);
    ops->left++;
    if (!s->running) {
        script_fail(&ops->script, "C1: timer %u is left, but does not run",
                    t->number);
    }
    s->running = false;
    s->refers = false;
    if (t->number % 2 == 0) {
        workers_ops_free_timer(ops, t->number);
    }
}

/* All workers leave and the set is closed: each running timer is left once. */
static void
close_set(struct workers_ops *ops, uint64_t until)
{
    struct script *script = &ops->script;
    uint64_t running = 0;

    workers_ops_be(ops, WORKERS_OPS_NOBODY);
    for (unsigned i = 0; i < WORKERS_OPS_MAX; i++) {
        if (ops->seats[i].worker != NULL) {
            do_detach(ops, i);
        }
    }
    for (unsigned i = 0; i < ops->many; i++) {
        running += ops->should[i].running;
    }
    TRACE(script, "close");
    ops->left = 0;
    script_expect(script, "C1: lawn_workers_close()",
                  lawn_workers_close(ops->set, until, on_left, ops), running);
    script_expect(script, "C1: the timers that were left", ops->left, running);
    script_expect(script, "lawn_workers_close(), again",
                  lawn_workers_close(ops->set, until, on_left, ops), 0);
    script_expect(script, "a start after the end",
                  (uint64_t)(int64_t)lawn_workers_start(
                      ops->set, &workers_ops_timer_of(ops, 0)->timer, 1),
                  (uint64_t)(int64_t)-ESHUTDOWN);
    for (unsigned i = 0; i < ops->many; i++) {
        ops->should[i].refers = false;
    }
    workers_ops_compare(ops);
    lawn_workers_free(ops->set);
    ops->set = NULL;
}

static bool
open_set(struct workers_ops *ops)
{
    const struct ops_config *config = ops->script.config;
    struct lawn_workers_options options = {0};
    uint64_t before = workers_ops_refusals(ops);
    uint8_t byte = script_take(&ops->script);

    script_take_lawn(&ops->script, &options.lawn);
    ops->clock = options.lawn.now > ops->clock ? options.lawn.now : ops->clock;
    ops->resolution = options.lawn.resolution;
    ops->by_ttl = byte % 4 == 3;
    options.route = ops->by_ttl ? LAWN_WORKERS_BY_TTL : LAWN_WORKERS_BY_OWNER;
    options.shards = byte / 4 % 8;
    options.budget = byte < 64 ? 0 : byte < 128 ? 1 : byte % 8 + 1u;
    options.clock = read_clock;
    options.clock_context = ops;
    options.lawn.alloc = config->alloc;
    options.lawn.release = config->release;
    options.lawn.context = config->context;
    TRACE(&ops->script, "a set by %s, budget %zu, resolution %llu",
          ops->by_ttl ? "TTL" : "owner", options.budget,
          (unsigned long long)ops->resolution);
    ops->fires = 0;
    ops->latest = 0;
    ops->set = lawn_workers_new(&options);
    ops->foreign = workers_ops_allocations(ops);
    workers_ops_forget_places(ops);
    if (ops->set == NULL) {
        if (workers_ops_refusals(ops) == before || errno != ENOMEM) {
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
    uint32_t i = workers_ops_take_timer(ops);

    workers_ops_start_any(ops, i, script_take(&ops->script));
}

static void
op_stop(struct workers_ops *ops)
{
    workers_ops_stop(ops, workers_ops_take_timer(ops));
}

static void
op_stop_sync(struct workers_ops *ops)
{
    uint32_t i = workers_ops_take_timer(ops);

    workers_ops_stop_sync(ops, i, script_take(&ops->script) % 2 == 0);
}

static void
op_start_row(struct workers_ops *ops)
{
    uint32_t i = workers_ops_take_timer(ops);
    uint8_t byte = script_take(&ops->script);
    uint64_t ttl = script_take_ttl(&ops->script);
    unsigned count = 1 + byte % 32;

    for (; count > 0 && !ops->script.failed; count--) {
        workers_ops_start(ops, i, START_TTL, ttl, WORKERS_OPS_NOBODY);
        i = (i + 1) % ops->many;
    }
}

/* Acts as another worker from now on. */
static void
op_be(struct workers_ops *ops)
{
    unsigned who = script_take(&ops->script) % (WORKERS_OPS_MAX + 1);

    if (who == WORKERS_OPS_NOBODY || ops->seats[who].worker != NULL) {
        TRACE(&ops->script, "as %s", workers_ops_name_of(who));
        workers_ops_be(ops, who);
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

    for (uint32_t i = 0; i < ops->many; i++) {
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
    TRACE(&ops->script, "the clock is %llu", (unsigned long long)ops->clock);
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
    TRACE(&ops->script, "wake");
    lawn_workers_wake(ops->set);
    for (unsigned i = 0; i < WORKERS_OPS_MAX; i++) {
        if (ops->nosy && ops->seats[i].worker != NULL && ops->seats[i].asleep) {
            script_expect(&ops->script, "C7: descriptor readable",
                          workers_ops_is_called(ops, i), true);
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
        byte = byte % 186; /* workers stay, and the clock mostly stays too */
    }
    while (byte >= table[i].share) {
        byte -= table[i++].share;
    }
    table[i].run(ops);
    if (!ops->script.failed) {
        workers_ops_compare(ops);
    }
}

/* Every started timer fires, once there is a worker and enough time. */
static void
run_out(struct workers_ops *ops)
{
    unsigned i = 0;

    while (i < WORKERS_OPS_MAX && ops->seats[i].worker != NULL) {
        i++;
    }
    if (workers_ops_count_workers(ops) == 0 && i < WORKERS_OPS_MAX) {
        do_attach(ops, i);
    }
    settle(ops);
    if (!ops->script.failed) {
        workers_ops_compare(ops);
    }
    if (ops->clock % 2 == 0 && workers_ops_count_workers(ops) > 0) {
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
    if (ops->set != NULL && ops->script.failed) {
        workers_ops_be(
            ops, WORKERS_OPS_NOBODY); /* it may be in any state: leave it */
        return;
    }
    if (ops->set != NULL) {
        close_set(ops, 0);
    }
    for (uint32_t i = 0; i < ops->many; i++) {
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

    ops->calm = byte / 16 % 4 == 1;
    ops->nosy = byte / 16 % 4 == 2;
    ops->careful = byte / 16 % 4 == 3;
    ops->many = config->timers != 0 ? config->timers : many[byte % 4];
    ops->timers = calloc(ops->many, sizeof(*ops->timers));
    ops->should = calloc(ops->many, sizeof(*ops->should));
    if (ops->timers == NULL || ops->should == NULL) {
        abort();
    }
    ops->own += 2;
    workers_ops_be(ops, WORKERS_OPS_NOBODY);
    if (open_set(ops)) {
        for (unsigned i = script_take(&ops->script) % (WORKERS_OPS_MAX + 1);
             i > 0; i--) {
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

/* Arguments and result of a case. */
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

    memset(&ops, 0, sizeof(ops));
    run_case(&ops, script_begin(&ops.script, call->config, call->bytes,
                                call->size, call->result));
    call->good = !ops.script.failed;
    return NULL;
}

/* Runs in a separate thread, because a thread remembers the worker to which it
 * last sent a timer. */
bool
workers_ops_run(const struct ops_config *config, const uint8_t *bytes,
                size_t size, struct ops_result *result)
{
    struct call call = {config, bytes, size, result, false};
    pthread_t thread = 0;

    if (pthread_create(&thread, NULL, run_call, &call) != 0 ||
        pthread_join(thread, NULL) != 0) {
        abort();
    }
    return call.good;
}
