/* judge.c - see judge.h. A breadth-first search at each return: from the
 * possible states, through the effects of the current operations, until the
 * returned operation has taken effect. The other operations may take effect
 * later. */
#include "judge.h"

#include "../explore/run.h"

#include <string.h>

#define JUDGE_OPS 16 /* concurrent operations on a timer */
#define JUDGE_CASES 4096
#define JUDGE_HASHES (4 * JUDGE_CASES)

struct judge_op {
    enum judge_kind kind;
    bool used;
    bool returned; /* but its stores are delayed */
    bool result;
    unsigned fibre;
    uint64_t earliest; /* of a start; of a fire: its deadline */
    uint64_t latest;
};

/* A possible state. Bits are those of operations. */
struct judge_case {
    bool running;
    bool fired;       /* but its callback has not begun */
    uint8_t since;    /* the start, + 1, if it has not returned */
    uint16_t done;    /* have taken effect */
    uint16_t stopped; /* have stopped the timer, and continue */
    uint16_t winners; /* stops that will return true */
    uint64_t earliest, latest, fired_earliest;
};

struct judge_timer {
    struct judge_op ops[JUDGE_OPS];
    bool in_callback;
    bool lost; /* too many states: unknown until no operation is running */
    unsigned count;
    struct judge_case cases[JUDGE_CASES];
};

static struct judge_timer timers[SIM_TIMERS];
static unsigned deferred[EXPLORE_FIBRES + 1];

/* Distinct states; a hash table has the index of those with this stamp. */
struct judge_list {
    unsigned count;
    unsigned stamp;
    bool full;
    struct judge_case cases[JUDGE_CASES];
    struct {
        unsigned stamp;
        unsigned at;
    } hashes[JUDGE_HASHES];
};

static struct judge_list found;
static struct judge_list old_owner;

static bool
same(const struct judge_case *a, const struct judge_case *b)
{
    return a->running == b->running && a->fired == b->fired &&
           a->since == b->since && a->done == b->done &&
           a->stopped == b->stopped && a->winners == b->winners &&
           a->earliest == b->earliest && a->latest == b->latest &&
           a->fired_earliest == b->fired_earliest;
}

static uint64_t
hash_of(const struct judge_case *c)
{
    uint64_t hash = (uint64_t)c->running | (uint64_t)c->fired << 1 |
                    (uint64_t)c->since << 2 | (uint64_t)c->done << 16 |
                    (uint64_t)c->stopped << 32 | (uint64_t)c->winners << 48;

    hash = (hash ^ c->earliest) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 29) ^ c->latest) * UINT64_C(0xBF58476D1CE4E5B9);
    return (hash ^ c->fired_earliest) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
}

static void
clear(struct judge_list *list)
{
    list->count = 0;
    list->full = false;
    list->stamp++;
}

static void
add(struct judge_list *list, const struct judge_case *one)
{
    uint64_t at = hash_of(one) % JUDGE_HASHES;

    while (list->hashes[at].stamp == list->stamp) {
        if (same(&list->cases[list->hashes[at].at], one)) {
            return;
        }
        at = (at + 1) % JUDGE_HASHES;
    }
    if (list->count == JUDGE_CASES) {
        list->full = true;
        return;
    }
    list->hashes[at].stamp = list->stamp;
    list->hashes[at].at = list->count;
    list->cases[list->count++] = *one;
}

static struct judge_case
stopped(struct judge_case c)
{
    c.running = false;
    c.since = 0;
    c.earliest = 0;
    c.latest = 0;
    return c;
}

/* An operation takes effect, in all possible ways. */
static void
happens(const struct judge_timer *timer, unsigned which, struct judge_case c)
{
    const struct judge_op *op = &timer->ops[which];
    uint16_t bit = (uint16_t)(1u << which);
    struct judge_case next = c;

    if (op->kind == JUDGE_FIRE) {
        if (c.fired && c.fired_earliest <= op->earliest) {
            next.fired = false;
            next.fired_earliest = 0;
            next.done |= bit;
            add(&found, &next);
        }
        return;
    }
    if (c.running && (op->kind == JUDGE_START || op->kind == JUDGE_STOP_SYNC)) {
        next = stopped(c);
        next.stopped |= op->kind == JUDGE_STOP_SYNC ? bit : 0;
        add(&found, &next);
    }
    next = c;
    next.done |= bit;
    if (op->kind == JUDGE_START) {
        next.running = true;
        next.since = (uint8_t)(op->returned ? 0 : which + 1);
        next.earliest = op->earliest;
        next.latest = op->returned ? op->latest : LAWN_NEVER;
    } else {
        if (c.running || (c.stopped & bit) != 0) {
            next.winners |= bit;
        }
        next = stopped(next);
    }
    add(&found, &next);
}

static void
expand(const struct judge_timer *timer, const struct judge_case *c)
{
    bool fires = !timer->in_callback;

    for (unsigned i = 0; i < JUDGE_OPS; i++) {
        if (timer->ops[i].used && (c->done >> i & 1) == 0) {
            fires = fires || timer->ops[i].kind == JUDGE_FIRE;
            happens(timer, i, *c);
        }
    }
    if (fires && c->running && !c->fired) {
        struct judge_case next = stopped(*c);

        next.fired = true;
        next.fired_earliest = c->earliest;
        add(&found, &next);
    }
}

static const char *
names(enum judge_kind kind)
{
    static const char *const words[] = {"start", "stop", "stop_sync", "fire"};

    return words[kind];
}

static void
impossible(unsigned number, const struct judge_op *op)
{
    const struct judge_timer *timer = &timers[number];
    bool ran = false;
    bool idle = false;
    uint64_t earliest = LAWN_NEVER;

    for (unsigned i = 0; i < timer->count; i++) {
        ran = ran || timer->cases[i].running;
        idle = idle || !timer->cases[i].running;
        if (timer->cases[i].running && timer->cases[i].earliest < earliest) {
            earliest = timer->cases[i].earliest;
        }
    }
    if (op->kind == JUDGE_FIRE) {
        explore_fail(
            "timer %u fires for %llu, but %s; the start, if any, is for %llu",
            number, (unsigned long long)op->earliest,
            ran ? "is too early, or fires twice" : "was not running",
            (unsigned long long)earliest);
    }
    explore_fail("%s of timer %u returned %s, which is impossible: it was %s",
                 names(op->kind), number, op->result ? "true" : "false",
                 ran && idle ? "running or idle"
                 : ran       ? "running"
                             : "idle");
}

static void
keep(struct judge_timer *timer)
{
    memcpy(timer->cases, old_owner.cases,
           old_owner.count * sizeof(*old_owner.cases));
    timer->count = old_owner.count;
}

/* An operation has returned, visible to all threads. */
static void
settle(unsigned number, unsigned which)
{
    struct judge_timer *timer = &timers[number];
    struct judge_op *op = &timer->ops[which];
    uint16_t bit = (uint16_t)(1u << which);

    if (timer->lost) {
        op->used = false;
        return;
    }
    clear(&found);
    clear(&old_owner);
    for (unsigned i = 0; i < timer->count; i++) {
        add(&found, &timer->cases[i]);
    }
    for (unsigned i = 0; i < found.count; i++) {
        struct judge_case c = found.cases[i];

        if ((c.done & bit) == 0) {
            expand(timer, &c);
            continue;
        }
        if ((op->kind == JUDGE_STOP || op->kind == JUDGE_STOP_SYNC) &&
            op->result != ((c.winners & bit) != 0)) {
            continue;
        }
        c.done &= (uint16_t)~bit;
        c.winners &= (uint16_t)~bit;
        c.stopped &= (uint16_t)~bit;
        if (c.since == which + 1) {
            c.since = 0;
            c.latest = op->latest;
        }
        add(&old_owner, &c);
    }
    op->used = false;
    timer->lost = found.full;
    sim_counts.lost += found.full;
    if (old_owner.count == 0 && !found.full) {
        impossible(number, op);
    }
    keep(timer);
}

/* All stores of a fibre have reached the memory: its operations have ended. */
static void
on_drained(unsigned fibre)
{

    for (unsigned i = 0; i < SIM_TIMERS && deferred[fibre] > 0; i++) {
        for (unsigned k = 0; k < JUDGE_OPS; k++) {
            struct judge_op *op = &timers[i].ops[k];

            if (op->used && op->returned && op->fibre == fibre) {
                deferred[fibre]--;
                settle(i, k);
            }
        }
    }
}

void
judge_begin(void)
{
    memset(deferred, 0, sizeof(deferred));
    for (unsigned i = 0; i < SIM_TIMERS; i++) {
        judge_new(i);
    }
    explore_when_drained(on_drained);
}

void
judge_new(unsigned timer)
{
    memset(timers[timer].ops, 0, sizeof(timers[timer].ops));
    memset(&timers[timer].cases[0], 0, sizeof(timers[timer].cases[0]));
    timers[timer].count = 1;
    timers[timer].in_callback = false;
    timers[timer].lost = false;
}

unsigned
judge_invoke(unsigned timer, enum judge_kind kind, uint64_t earliest)
{
    struct judge_op *ops = timers[timer].ops;
    struct judge_op op = {.kind = kind,
                          .used = true,
                          .fibre = explore_me(),
                          .earliest = earliest};
    unsigned i = 0;

    if (deferred[op.fibre] > 3) {
        run_drain();
    }
    while (i < JUDGE_OPS && ops[i].used) {
        i++;
    }
    if (i == JUDGE_OPS) {
        explore_fail("too many concurrent operations on a timer");
    }
    ops[i] = op;
    return i;
}

void
judge_return(unsigned timer, unsigned which, uint64_t latest, bool result)
{
    struct judge_op *op = &timers[timer].ops[which];

    op->result = result;
    op->latest = latest;
    if (!explore_has_delayed()) {
        settle(timer, which);
        return;
    }
    op->returned = true;
    deferred[op->fibre]++;
    for (unsigned i = 0; i < timers[timer].count; i++) {
        struct judge_case *c = &timers[timer].cases[i];

        if (c->since == which + 1) {
            c->since = 0;
            c->latest = latest;
        }
    }
}

void
judge_refused(unsigned number, unsigned which)
{
    struct judge_timer *timer = &timers[number];
    uint16_t bit = (uint16_t)(1u << which);

    clear(&old_owner);
    for (unsigned i = 0; i < timer->count; i++) {
        if (((timer->cases[i].done | timer->cases[i].stopped) & bit) == 0) {
            add(&old_owner, &timer->cases[i]);
        }
    }
    if (old_owner.count == 0 && !timer->lost) {
        explore_fail("a start of timer %u is refused, but others saw it",
                     number);
    }
    keep(timer);
    timer->ops[which].used = false;
}

void
judge_fired(unsigned timer, uint64_t due)
{
    unsigned which = judge_invoke(timer, JUDGE_FIRE, due);

    judge_return(timer, which, 0, true);
    timers[timer].in_callback = true;
}

void
judge_callback_over(unsigned timer)
{
    timers[timer].in_callback = false;
}

bool
judge_quiet(unsigned number, bool runs, uint64_t by, const char **why)
{
    struct judge_timer *timer = &timers[number];
    bool possible = false;

    if (timer->lost) {
        judge_new(number);
        timer->cases[0].running = runs;
        timer->cases[0].latest = LAWN_NEVER;
        return true;
    }
    clear(&old_owner);
    for (unsigned i = 0; i < timer->count; i++) {
        const struct judge_case *c = &timer->cases[i];

        if (c->done != 0 || c->fired || c->running != runs) {
            continue;
        }
        possible = true;
        if (!runs || c->latest >= by) {
            add(&old_owner, c);
        }
    }
    if (old_owner.count == 0) {
        *why = possible ? "is due, and no worker fires it [P2]"
               : runs   ? "is running, which is impossible [C1]"
                        : "is idle, which is impossible [C1]";
        return false;
    }
    keep(timer);
    return true;
}
