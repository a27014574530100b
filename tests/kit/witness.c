/* witness.c - a second judge of a lawn: see witness.h. */
#include "witness.h"

#include "lawn.h"

#include <string.h>

#define WITNESS_END (LAWN_NEVER - 1)

/* Lines. */

static bool
witness_before(const struct witness *witness, uint32_t a, uint32_t b)
{
    const struct witness_timer *x = &witness->timer[a];
    const struct witness_timer *y = &witness->timer[b];

    return x->deadline != y->deadline ? x->deadline < y->deadline
                                      : x->order < y->order;
}

/* Returns the number of timers in a line before this one, which need not be in
 * the line. */
static uint32_t
witness_rank(const struct witness *witness, const struct witness_line *line,
             uint32_t i)
{
    uint32_t low = 0;
    uint32_t high = line->length;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (witness_before(witness, line->timer[middle], i)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void
witness_enter(const struct witness *witness, struct witness_line *line,
              uint32_t i)
{
    uint32_t at = witness_rank(witness, line, i);

    memmove(&line->timer[at + 1], &line->timer[at],
            (line->length - at) * sizeof(line->timer[0]));
    line->timer[at] = (uint16_t)i;
    line->length++;
}

static void
witness_leave(struct witness *witness, uint32_t i)
{
    struct witness_timer *timer = &witness->timer[i];
    struct witness_line *line =
        timer->place == WITNESS_RUNS ? &witness->line : &witness->fresh;
    uint32_t at = witness_rank(witness, line, i);

    line->length--;
    memmove(&line->timer[at], &line->timer[at + 1],
            (line->length - at) * sizeof(line->timer[0]));
    timer->place = WITNESS_IDLE;
}

/* Times. */

/* Adds, with saturation. */
static uint64_t
witness_sum(uint64_t time, uint64_t ticks)
{
    return ticks > WITNESS_END - time ? WITNESS_END : time + ticks;
}

static uint64_t
witness_rounded(const struct witness *witness, uint64_t deadline)
{
    uint64_t over = deadline % witness->resolution;

    if (over == 0 || deadline == WITNESS_END) {
        return deadline;
    }
    return witness_sum(deadline, witness->resolution - over);
}

/* Starts. */

static struct witness_timer *
witness_put(struct witness *witness, uint32_t i, uint64_t ttl,
            uint64_t deadline)
{
    struct witness_timer *timer = &witness->timer[i];

    if (timer->place != WITNESS_IDLE) {
        witness_leave(witness, i);
    }
    timer->deadline = deadline;
    timer->order = ++witness->order;
    timer->ttl = ttl;
    timer->clock = witness->clock;
    timer->changes = witness->changes;
    timer->lent = false;
    timer->behind = false;
    timer->place = witness->mowing ? WITNESS_FRESH : WITNESS_RUNS;
    witness_enter(witness, witness->mowing ? &witness->fresh : &witness->line,
                  i);
    return timer;
}

void
witness_init(struct witness *witness, uint64_t now, uint64_t resolution)
{
    for (uint32_t i = 0; i < WITNESS_MAX; i++) {
        witness->timer[i].place = WITNESS_IDLE;
    }
    witness->line.length = 0;
    witness->fresh.length = 0;
    witness->mowing = false;
    witness->clock = now == LAWN_NEVER ? WITNESS_END : now;
    witness->until = 0;
    witness->resolution = resolution == 0 ? 1 : resolution;
    witness->changes = 0;
    witness->order = 0;
    witness->fired = 0;
    witness->come = witness->clock;
    witness->come_max = witness->clock;
}

void
witness_start(struct witness *witness, uint32_t i, uint64_t ttl)
{
    uint64_t wait = ttl == 0 ? 1 : ttl;
    uint64_t deadline =
        witness_rounded(witness, witness_sum(witness->clock, wait));

    (void)witness_put(witness, i, wait, deadline);
}

/* Its TTL is the remaining time. */
void
witness_start_at(struct witness *witness, uint32_t i, uint64_t deadline)
{
    witness_start(witness, i,
                  deadline <= witness->clock ? 1 : deadline - witness->clock);
}

/* Returns whether the TTL has running timers with later deadlines. */
static bool
witness_overtakes(const struct witness *witness, uint32_t i)
{
    const struct witness_line *lines[2] = {&witness->line, &witness->fresh};
    const struct witness_timer *timer = &witness->timer[i];

    for (uint32_t k = 0; k < 2; k++) {
        uint32_t at = lines[k]->length;

        while (at > 0) {
            const struct witness_timer *other =
                &witness->timer[lines[k]->timer[--at]];

            if (other->deadline <= timer->deadline) {
                break;
            }
            if (other->ttl == timer->ttl) {
                return true;
            }
        }
    }
    return false;
}

/* Outside a callback, a deadline that lawn_start_as() sets limits the mowing
 * position. If it is the requested deadline, the position is not after it. If
 * it is a later one, it is the position. */
static const char *
witness_learn(struct witness *witness, uint64_t asked, uint64_t given)
{
    if (given < asked) {
        return "P1: a start_as deadline became earlier";
    }
    if (given == asked) {
        if (given < witness->come || given < witness->fired) {
            return "P4: a start_as deadline is before the mowing position";
        }
        if (given < witness->come_max) {
            witness->come_max = given;
        }
        return NULL;
    }
    if (given < witness->come || given > witness->come_max) {
        return "P2: a start_as deadline is after the mowing position";
    }
    witness->come = given;
    witness->come_max = given;
    return NULL;
}

const char *
witness_start_as(struct witness *witness, uint32_t i, uint64_t ttl,
                 uint64_t asked, uint64_t given)
{
    bool none = ttl == 0 || ttl == LAWN_NEVER;
    uint64_t wanted = asked == LAWN_NEVER ? WITNESS_END : asked;
    struct witness_timer *timer =
        witness_put(witness, i, none ? 0 : ttl, given);

    timer->lent = !none;
    timer->behind = !none && witness_overtakes(witness, i);
    if (!witness->mowing) {
        return witness_learn(witness, wanted, given);
    }
    if (wanted <= witness->clock) {
        wanted = witness_sum(witness->clock, 1);
    }
    return given == wanted ? NULL
                           : "P6: a start_as deadline in a callback is wrong";
}

bool
witness_stop(struct witness *witness, uint32_t i)
{
    if (witness->timer[i].place == WITNESS_IDLE) {
        return false;
    }
    witness_leave(witness, i);
    return true;
}

void
witness_set_now(struct witness *witness, uint64_t now)
{
    uint64_t time = now == LAWN_NEVER ? WITNESS_END : now;

    witness->clock = time < witness->clock ? witness->clock : time;
}

void
witness_set_resolution(struct witness *witness, uint64_t resolution)
{
    uint64_t next = resolution == 0 ? 1 : resolution;

    witness->changes += next % witness->resolution != 0;
    witness->resolution = next;
}

/* As if lawn_start_as() had started all of them in the order in which they
 * would have fired. That order stays, and timers that might have fired before
 * others still may. */
void
witness_move(struct witness *witness, uint64_t made)
{
    for (uint32_t k = 0; k < witness->line.length; k++) {
        struct witness_timer *timer = &witness->timer[witness->line.timer[k]];

        timer->clock = witness->clock;
        timer->behind = timer->lent;
    }
    witness->fired = 0;
    witness->come = made;
    witness->come_max = made;
}

/* Checks. */

uint64_t
witness_count(const struct witness *witness)
{
    return witness->line.length + witness->fresh.length;
}

uint64_t
witness_deadline(const struct witness *witness, uint32_t i)
{
    return witness->timer[i].place == WITNESS_IDLE ? LAWN_NEVER
                                                   : witness->timer[i].deadline;
}

static uint64_t
witness_head(const struct witness *witness, const struct witness_line *line)
{
    return line->length == 0 ? LAWN_NEVER
                             : witness->timer[line->timer[0]].deadline;
}

uint64_t
witness_next(const struct witness *witness)
{
    uint64_t runs = witness_head(witness, &witness->line);
    uint64_t fresh = witness_head(witness, &witness->fresh);

    return fresh < runs ? fresh : runs;
}

/* Order. */

/* Returns whether P4 requires a to fire before b, which was started later. Both
 * are due at the same time. */
static bool
witness_binds(const struct witness_timer *a, const struct witness_timer *b)
{
    if (a->ttl != b->ttl || a->ttl == 0) {
        return false;
    }
    if (b->lent && (b->behind || b->clock != a->clock)) {
        return false;
    }
    return a->changes == b->changes;
}

/* Returns whether a timer must not fire before an earlier one of this line. */
static bool
witness_jumps(const struct witness *witness, const struct witness_line *line,
              uint32_t i)
{
    const struct witness_timer *timer = &witness->timer[i];

    for (uint32_t k = 0; k < line->length && line->timer[k] != i; k++) {
        const struct witness_timer *other = &witness->timer[line->timer[k]];

        if (other->deadline != timer->deadline || other->order > timer->order) {
            break;
        }
        if (witness_binds(other, timer)) {
            return true;
        }
    }
    return false;
}

const char *
witness_first(const struct witness *witness, uint32_t i)
{
    if (witness->timer[i].place == WITNESS_IDLE) {
        return "P3: the first timer is an idle one";
    }
    if (witness->timer[i].deadline != witness_next(witness)) {
        return "P2: the first timer is not due first";
    }
    return witness_jumps(witness, &witness->line, i) ||
                   witness_jumps(witness, &witness->fresh, i)
               ? "P4: the first timer is behind another of its TTL"
               : NULL;
}

/* Mows. */

void
witness_mow(struct witness *witness, uint64_t now)
{
    witness_set_now(witness, now);
    witness->until = now == LAWN_NEVER ? WITNESS_END : now;
    witness->mowing = true;
}

const char *
witness_fire(struct witness *witness, uint32_t i)
{
    struct witness_timer *timer = &witness->timer[i];
    const char *broken = NULL;

    if (timer->place == WITNESS_IDLE) {
        return "P3: an idle timer fired";
    }
    if (timer->place == WITNESS_FRESH) {
        broken = "P6: a timer fired in the mow that started it";
    } else if (timer->deadline > witness->until) {
        broken = "P1: a timer fired before its time";
    } else if (timer->deadline != witness_head(witness, &witness->line)) {
        broken = "P4: a timer fired while one due before it waits";
    } else if (timer->deadline < witness->fired) {
        broken = "P4: a timer fired that was due before the last one";
    } else if (witness_jumps(witness, &witness->line, i)) {
        broken = "P4: a timer overtook others of its TTL";
    }
    witness_leave(witness, i);
    witness->fired = timer->deadline;
    if (timer->deadline > witness->come) {
        witness->come = timer->deadline;
    }
    return broken;
}

const char *
witness_mown(struct witness *witness, bool all)
{
    bool left = all && witness_head(witness, &witness->line) <= witness->until;

    for (uint32_t k = 0; k < witness->fresh.length; k++) {
        uint32_t i = witness->fresh.timer[k];

        witness->timer[i].place = WITNESS_RUNS;
        witness_enter(witness, &witness->line, i);
    }
    witness->fresh.length = 0;
    witness->mowing = false;
    witness->come_max = witness->clock;
    return left ? "P2: a mow left a timer that was due" : NULL;
}

/* Neighbors, including timers started by callbacks. */

enum witness_side { WITNESS_BEHIND, WITNESS_TAIL, WITNESS_FRONT };

/* Returns whether timer `one` is a better result than `other`, which is i if
 * none was found yet. */
static bool
witness_nearer(const struct witness *witness, enum witness_side side,
               uint32_t i, uint32_t one, uint32_t other)
{
    if (one == i || (side != WITNESS_FRONT &&
                     witness->timer[one].ttl != witness->timer[i].ttl)) {
        return false;
    }
    if (side == WITNESS_BEHIND && !witness_before(witness, i, one)) {
        return false;
    }
    if (other == i) {
        return true;
    }
    return side == WITNESS_TAIL ? witness_before(witness, other, one)
                                : witness_before(witness, one, other);
}

static uint32_t
witness_near(const struct witness *witness, enum witness_side side, uint32_t i)
{
    const struct witness_line *lines[2] = {&witness->line, &witness->fresh};
    uint32_t found = i;

    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t at = 0; at < lines[k]->length; at++) {
            if (witness_nearer(witness, side, i, lines[k]->timer[at], found)) {
                found = lines[k]->timer[at];
            }
        }
    }
    return found;
}

uint32_t
witness_behind(const struct witness *witness, uint32_t i)
{
    return witness_near(witness, WITNESS_BEHIND, i);
}

uint32_t
witness_tail(const struct witness *witness, uint32_t i)
{
    return witness_near(witness, WITNESS_TAIL, i);
}

uint32_t
witness_front(const struct witness *witness, uint32_t i)
{
    return witness_near(witness, WITNESS_FRONT, i);
}
