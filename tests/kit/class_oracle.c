/* class_oracle.c - the expected behavior of classes: see class_oracle.h. */
#include "class_oracle.h"

#include "lawn.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

void
class_oracle_init(struct class_oracle *oracle)
{
    const struct oracle *lawn = oracle->lawn;
    struct class_oracle_timer *timers = oracle->timers;

    memset(oracle, 0, sizeof(*oracle));
    memset(timers, 0, lawn->many * sizeof(*timers));
    oracle->lawn = lawn;
    oracle->timers = timers;
}

/* The timers of a class. */

static bool
runs_in(const struct class_oracle *oracle, uint32_t i, uint32_t of)
{
    return oracle->timers[i].place == CLASS_RUNNING &&
           oracle->timers[i].of == of;
}

/* Returns the latest start, or 0 if no timer is running. */
static uint64_t
latest_start(const struct class_oracle *oracle, uint32_t of)
{
    uint64_t latest = 0;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, of) && oracle->timers[i].start > latest) {
            latest = oracle->timers[i].start;
        }
    }
    return latest;
}

/* "If the start times plus all postponements would exceed the last tick, adds
 * fewer ticks." */
static uint64_t
limit_ticks(const struct class_oracle *oracle, uint32_t of, uint64_t ticks)
{
    uint64_t room = LAWN_NEVER - 1 - latest_start(oracle, of);

    return ticks < room ? ticks : room;
}

/* Adds ticks to all starts. */
static void
postpone(struct class_oracle *oracle, uint32_t of, uint64_t ticks)
{
    ticks = limit_ticks(oracle, of, ticks);
    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, of)) {
            oracle->timers[i].start += ticks;
        }
    }
}

uint64_t
class_oracle_deadline(const struct class_oracle *oracle, uint32_t timer)
{
    const struct class_oracle_timer *t = &oracle->timers[timer];
    const struct class_oracle_class *cls = &oracle->classes[t->of];

    if (t->place != CLASS_RUNNING) {
        return LAWN_NEVER;
    }
    uint64_t pause =
        cls->paused
            ? limit_ticks(oracle, t->of, oracle->lawn->now - cls->paused_at)
            : 0;
    return oracle_due(t->start + pause, oracle->lawn->resolution, cls->ttl);
}

uint64_t
class_oracle_first(const struct class_oracle *oracle, uint32_t of)
{
    uint64_t first = LAWN_NEVER;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, of)) {
            uint64_t deadline = class_oracle_deadline(oracle, i);
            first = deadline < first ? deadline : first;
        }
    }
    return first;
}

uint64_t
class_oracle_last(const struct class_oracle *oracle, uint32_t of)
{
    uint64_t last = 0;
    bool found = false;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, of)) {
            uint64_t deadline = class_oracle_deadline(oracle, i);
            last = deadline > last ? deadline : last;
            found = true;
        }
    }
    return found ? last : LAWN_NEVER;
}

/* Returns whether the timer is not paused; then it may be due. */
static bool
counts_down(const struct class_oracle *oracle, uint32_t i)
{
    const struct class_oracle_timer *t = &oracle->timers[i];

    return t->place == CLASS_RUNNING && !oracle->classes[t->of].paused;
}

uint64_t
class_oracle_next(const struct class_oracle *oracle)
{
    uint64_t next = LAWN_NEVER;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (counts_down(oracle, i)) {
            uint64_t deadline = class_oracle_deadline(oracle, i);
            next = deadline < next ? deadline : next;
        }
    }
    return next;
}

uint64_t
class_oracle_forecast(const struct class_oracle *oracle, uint32_t of,
                      uint64_t ticks, uint64_t limit)
{
    wide until = (wide)oracle->lawn->now + ticks;
    uint64_t count = 0;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        count +=
            runs_in(oracle, i, of) && class_oracle_deadline(oracle, i) <= until;
    }
    return count < limit ? count : limit;
}

/* Shares. */

static uint64_t
sum_weights(const struct class_oracle *oracle)
{
    uint64_t weights = 1;

    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        weights += oracle->classes[c].used ? oracle->classes[c].weight : 0;
    }
    return weights;
}

/* Returns whether the timer is one that the mow has to fire, sooner or later.
 */
static bool
is_due(const struct class_oracle *oracle, uint32_t i, uint64_t until)
{
    return counts_down(oracle, i) &&
           (!oracle->mowing || oracle->timers[i].mow != oracle->mow) &&
           class_oracle_deadline(oracle, i) <= until;
}

static uint64_t
count_due(const struct class_oracle *oracle, uint32_t of, uint64_t until)
{
    uint64_t due = 0;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        due += oracle->timers[i].of == of && is_due(oracle, i, until);
    }
    return due;
}

void
class_oracle_disturb(struct class_oracle *oracle)
{
    oracle->disturbed |= oracle->mowing;
}

/* Called after an operation on a class. Credit is kept only as long as the
 * class has due timers. */
static void
changed(struct class_oracle *oracle, uint32_t of)
{
    struct class_oracle_class *cls = &oracle->classes[of];

    class_oracle_disturb(oracle);
    if (cls->credit_least > 0 && !oracle->mowing &&
        count_due(oracle, of, oracle->lawn->now) == 0) {
        cls->credit_least = 0;
    }
}

/* What becomes of credit if a weight changes is unspecified. */
static void
doubt_credit(struct class_oracle *oracle)
{
    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        oracle->classes[c].credit_least = 0;
        oracle->classes[c].credit_most = UINT64_MAX;
    }
    class_oracle_disturb(oracle);
}

void
class_oracle_set_weight(struct class_oracle *oracle, uint32_t of,
                        uint32_t weight)
{
    weight = weight < 65535 ? weight : 65535;
    if (oracle->classes[of].weight != weight) {
        doubt_credit(oracle);
    }
    oracle->classes[of].weight = weight;
}

/* Operations. */

void
class_oracle_new(struct class_oracle *oracle, uint32_t of, uint64_t ttl)
{
    struct class_oracle_class *cls = &oracle->classes[of];

    memset(cls, 0, sizeof(*cls));
    cls->used = true;
    cls->ttl = ttl > 0 ? ttl : 1;
}

bool
class_oracle_free(struct class_oracle *oracle, uint32_t of)
{
    struct class_oracle_class *cls = &oracle->classes[of];

    if (cls->count > 0 || cls->detached > 0) {
        return false;
    }
    class_oracle_set_weight(oracle, of, 0);
    cls->used = false;
    return true;
}

void
class_oracle_start(struct class_oracle *oracle, uint32_t of, uint32_t timer)
{
    struct class_oracle_timer *t = &oracle->timers[timer];
    struct class_oracle_class *cls = &oracle->classes[of];
    uint64_t start = cls->paused ? cls->paused_at : oracle->lawn->now;

    if (t->place == CLASS_RUNNING) {
        class_oracle_disturb(oracle);
    } else {
        (void)class_oracle_stop(oracle, timer);
        cls->starts++;
        cls->count++;
        oracle->count++;
    }
    t->place = CLASS_OUTSIDE;
    uint64_t least = latest_start(oracle, of);
    t->place = CLASS_RUNNING;
    t->of = of;
    t->start = start > least ? start : least;
    t->order = oracle->order++;
    t->mow = oracle->mowing ? oracle->mow : 0;
}

bool
class_oracle_stop(struct class_oracle *oracle, uint32_t timer)
{
    struct class_oracle_timer *t = &oracle->timers[timer];
    struct class_oracle_class *cls = &oracle->classes[t->of];

    if (t->place == CLASS_RUNNING) {
        t->place = CLASS_OUTSIDE;
        cls->stops++;
        cls->count--;
        oracle->count--;
        changed(oracle, t->of);
        return true;
    }
    cls->detached -= t->place == CLASS_DETACHED;
    t->place = CLASS_OUTSIDE;
    return false;
}

void
class_oracle_set_ttl(struct class_oracle *oracle, uint32_t of, uint64_t ttl)
{
    oracle->classes[of].ttl = ttl > 0 ? ttl : 1;
    changed(oracle, of);
}

void
class_oracle_scale(struct class_oracle *oracle, uint32_t of, uint32_t numerator,
                   uint32_t denominator)
{
    wide ttl = (wide)oracle->classes[of].ttl * numerator /
               (denominator > 0 ? denominator : 1);

    class_oracle_set_ttl(
        oracle, of, (uint64_t)(ttl < LAWN_NEVER - 1 ? ttl : LAWN_NEVER - 1));
}

void
class_oracle_postpone(struct class_oracle *oracle, uint32_t of, uint64_t ticks)
{
    postpone(oracle, of, ticks);
    changed(oracle, of);
}

void
class_oracle_pause(struct class_oracle *oracle, uint32_t of)
{
    struct class_oracle_class *cls = &oracle->classes[of];

    if (!cls->paused) {
        cls->paused = true;
        cls->paused_at = oracle->lawn->now;
        changed(oracle, of);
    }
}

void
class_oracle_resume(struct class_oracle *oracle, uint32_t of)
{
    struct class_oracle_class *cls = &oracle->classes[of];

    if (cls->paused) {
        cls->paused = false;
        postpone(oracle, of, oracle->lawn->now - cls->paused_at);
        changed(oracle, of);
    }
}

uint64_t
class_oracle_clear(struct class_oracle *oracle, uint32_t of)
{
    struct class_oracle_class *cls = &oracle->classes[of];
    uint64_t count = cls->count;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, of)) {
            oracle->timers[i].place = CLASS_DETACHED;
        }
    }
    cls->stops += count;
    cls->detached += count;
    cls->count = 0;
    oracle->count -= count;
    changed(oracle, of);
    return count;
}

uint32_t
class_oracle_take(struct class_oracle *oracle, uint32_t of)
{
    uint32_t first = CLASS_ORACLE_NONE;

    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        const struct class_oracle_timer *t = &oracle->timers[i];

        if (t->place == CLASS_DETACHED && t->of == of &&
            (first == CLASS_ORACLE_NONE ||
             t->order < oracle->timers[first].order)) {
            first = i;
        }
    }
    if (first != CLASS_ORACLE_NONE) {
        (void)class_oracle_stop(oracle, first);
    }
    return first;
}

/* Mows. */

static void
begin_share(struct class_oracle *oracle, uint32_t of, uint64_t budget)
{
    struct class_oracle_class *cls = &oracle->classes[of];
    uint64_t part = budget * cls->weight;

    cls->due = count_due(oracle, of, oracle->until);
    if (cls->due == 0 || oracle->until < oracle->lawn->now) {
        cls->credit_least = 0;
    }
    cls->credit_least += part;
    cls->share_least = cls->credit_least / oracle->weights;
    cls->share_most = UINT64_MAX;
    if (cls->credit_most != UINT64_MAX) {
        cls->credit_most += part;
        cls->share_most = cls->credit_most / oracle->weights;
    }
}

void
class_oracle_mow(struct class_oracle *oracle, uint32_t only, uint64_t now,
                 size_t budget)
{
    oracle->mow++;
    oracle->only = only;
    oracle->until = now < LAWN_NEVER - 1 ? now : LAWN_NEVER - 1;
    oracle->weights = sum_weights(oracle);
    oracle->disturbed = false;
    oracle->mow_fired = 0;
    oracle->shares = only == CLASS_ORACLE_NONE && oracle->weights > 1 &&
                     (uint64_t)budget >> 32 == 0;
    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        struct class_oracle_class *cls = &oracle->classes[c];

        cls->fired = 0;
        cls->early = 0;
        cls->share_least = 0;
        cls->share_most = 0;
        if (oracle->shares && cls->used && cls->weight > 0) {
            begin_share(oracle, c, budget);
        }
    }
    oracle->mowing = true;
}

/* Returns whether a timer with an earlier deadline has to fire first. */
static bool
is_preceded(const struct class_oracle *oracle, uint64_t deadline)
{
    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        const struct oracle_timer *other = &oracle->lawn->timers[i];

        if (other->deadline < deadline && other->mow != oracle->lawn->mows) {
            return true;
        }
        if (deadline > 0 && is_due(oracle, i, deadline - 1)) {
            return true;
        }
    }
    return false;
}

const char *
class_oracle_fire_other(struct class_oracle *oracle, uint64_t deadline)
{
    oracle->mow_fired++;
    oracle->shares = false;
    if (oracle->only != CLASS_ORACLE_NONE) {
        return "P12: lawn_class_mow() fired a timer without a class";
    }
    for (uint32_t i = 0; deadline > 0 && i < oracle->lawn->many; i++) {
        if (is_due(oracle, i, deadline - 1)) {
            return "P12: a timer fired before one of a class that was due "
                   "earlier";
        }
    }
    return NULL;
}

/* A timer of a class fires although others are due earlier: only as a share. */
static const char *
fire_early(struct class_oracle *oracle, struct class_oracle_class *cls)
{
    cls->early++;
    if (oracle->disturbed) {
        return NULL;
    }
    if (!oracle->shares || cls->weight == 0) {
        return "P12: a timer of a class fired before others that were due "
               "earlier";
    }
    return cls->early > cls->share_most
               ? "P16: a class got more than its share of the budget"
               : NULL;
}

static const char *
not_in_turn(const struct class_oracle *oracle,
            const struct class_oracle_timer *t)
{
    for (uint32_t i = 0; i < oracle->lawn->many; i++) {
        if (runs_in(oracle, i, t->of) && oracle->timers[i].order < t->order) {
            return "P12: a timer of a class fired before one that was started "
                   "earlier";
        }
    }
    return NULL;
}

const char *
class_oracle_fire(struct class_oracle *oracle, uint32_t timer)
{
    struct class_oracle_timer *t = &oracle->timers[timer];
    struct class_oracle_class *cls = &oracle->classes[t->of];
    uint64_t deadline = class_oracle_deadline(oracle, timer);

    if (t->place == CLASS_DETACHED) {
        return "P15: a detached timer fired";
    }
    if (cls->paused) {
        return "P13: a timer of a paused class fired";
    }
    if (deadline > oracle->until) {
        return "P1: a timer of a class fired early";
    }
    if (t->mow == oracle->mow) {
        return "P6: a timer of a class fired in the mow whose callback started "
               "it";
    }
    if (oracle->only != CLASS_ORACLE_NONE && t->of != oracle->only) {
        return "P12: lawn_class_mow() fired a timer of another class";
    }
    const char *broken = not_in_turn(oracle, t);
    if (broken == NULL && oracle->only == CLASS_ORACLE_NONE &&
        is_preceded(oracle, deadline)) {
        broken = fire_early(oracle, cls);
    }
    oracle->shares &= cls->weight > 0 || oracle->disturbed;
    oracle->mow_fired++;
    cls->fired++;
    cls->fires++;
    cls->count--;
    oracle->count--;
    uint64_t late = oracle->lawn->now - deadline;
    cls->late += late;
    cls->late_max = late > cls->late_max ? late : cls->late_max;
    t->place = CLASS_OUTSIDE;
    return broken;
}

/* Returns how many of the timers that fired may have been shares. */
static uint64_t
sum_shares(const struct class_oracle *oracle)
{
    uint64_t sum = 0;

    for (uint32_t c = 0; c < CLASS_ORACLE_MAX; c++) {
        const struct class_oracle_class *cls = &oracle->classes[c];

        sum += cls->fired < cls->share_most ? cls->fired : cls->share_most;
    }
    return sum;
}

/* Judges the share of a class after a mow, and computes its credit. */
static const char *
end_share(struct class_oracle *oracle, uint32_t of, size_t budget, bool halted)
{
    struct class_oracle_class *cls = &oracle->classes[of];
    uint64_t least = cls->share_least;

    if (oracle->disturbed || halted) {
        cls->credit_least = 0;
        cls->credit_most = UINT64_MAX;
        return NULL;
    }
    least = least < cls->due ? least : cls->due;
    if (cls->fired < least &&
        (oracle->mow_fired < budget || sum_shares(oracle) < budget)) {
        return "P16: a class got less than its share of the budget";
    }
    if (cls->due == 0 && oracle->mow_fired > 0) {
        cls->credit_least = 0;
        cls->credit_most = 0;
        return NULL;
    }
    bool due = count_due(oracle, of, oracle->until) > 0;
    uint64_t shares =
        cls->fired < cls->share_least ? cls->fired : cls->share_least;
    cls->credit_least -= shares * oracle->weights;
    /* Of the other timers, some may have been shares as well. */
    if (!due || (cls->fired > shares && cls->share_most > shares)) {
        cls->credit_least = 0;
    }
    if (cls->credit_most != UINT64_MAX) {
        cls->credit_most -= cls->early * oracle->weights;
    }
    /* A timer fired in the order of deadlines, or no share was left to fire:
     * only a fraction can be left. */
    if ((!due || !oracle->shares) && cls->credit_most >= oracle->weights) {
        cls->credit_most = oracle->weights - 1;
    }
    return NULL;
}

const char *
class_oracle_mown(struct class_oracle *oracle, size_t budget, bool all,
                  bool halted)
{
    const char *broken = NULL;
    bool shared = oracle->only == CLASS_ORACLE_NONE && oracle->weights > 1 &&
                  (uint64_t)budget >> 32 == 0;

    for (uint32_t i = 0; all && i < oracle->lawn->many; i++) {
        if (is_due(oracle, i, oracle->until) &&
            (oracle->only == CLASS_ORACLE_NONE ||
             oracle->timers[i].of == oracle->only)) {
            broken = "P2: a timer of a class that is due was forgotten";
        }
    }
    for (uint32_t c = 0; shared && c < CLASS_ORACLE_MAX; c++) {
        if (oracle->classes[c].used && oracle->classes[c].weight > 0) {
            const char *share = end_share(oracle, c, budget, halted);

            broken = broken != NULL ? broken : share;
        }
    }
    oracle->mowing = false;
    return broken;
}
