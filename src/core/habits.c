/* habits.c - how a lawn fits itself to its TTLs: see habits.h. */
#include "internal.h"

/* Starts, or restarts, between two looks at the counters. A lawn stays alone for many times
 * as many before it tries blades again, since trying fills the table with TTLs
 * that may not come again. Tests make the constants small, to see more
 * changes. */
#if !defined LAWN_HABITS_TRIAL
#define LAWN_HABITS_TRIAL 4096u
#endif
#define LAWN_HABITS_ALONE (64u * LAWN_HABITS_TRIAL)
/* Running timers that no longer fit in a cache: from here on it pays to fetch
 * ahead. */
#if !defined LAWN_HABITS_MANY
#define LAWN_HABITS_MANY 65536u
#endif
/* Timers per blade from which on a full table of blades pays. */
#define LAWN_HABITS_DEPTH 32u

/* The next look is due after so many starts, or restarts. */
static void
lawn_habits_wait(struct lawn *lawn, uint64_t starts)
{
    lawn->habits.starts = lawn_starts(lawn) + starts;
    lawn->starts = -starts;
    lawn->habits.restarts = lawn_restarts(lawn) + starts;
    lawn->restarts = -starts;
}

static void
lawn_habits_set(struct lawn *lawn, bool alone, uint32_t stripe)
{
    lawn_habits_wait(lawn, alone ? LAWN_HABITS_ALONE : LAWN_HABITS_TRIAL);
    lawn->habits.seen = lawn_starts(lawn) + lawn_restarts(lawn);
    lawn->habits.misses = lawn->lone_starts + lawn->claims;
    lawn->habits.asked = false;
    lawn->habits.alone = alone;
    lawn->blades.stripe = stripe;
    lawn->plain_mask = alone || lawn->resolution != 1 ? 0 : UINT64_MAX;
}

/* Back to plain. */
void
lawn_habits_reset(struct lawn *lawn)
{
    lawn_habits_set(lawn, false, 0);
}

/* As they are, for a while longer. */
void
lawn_habits_keep(struct lawn *lawn)
{
    lawn_habits_set(lawn, lawn->habits.alone, lawn->blades.stripe);
}

/* Called when lawn->starts or lawn->restarts has come to 0. The next mow has to
 * notice. */
void
lawn_habits_ask(struct lawn *lawn)
{
    lawn_habits_wait(lawn, LAWN_HABITS_TRIAL);
    lawn->habits.asked = true;
    lawn->wake = 0;
}

/* Called where the clock is about to move, when that was asked for. */
void
lawn_habits_review(struct lawn *lawn)
{
    uint64_t starts =
        lawn_starts(lawn) + lawn_restarts(lawn) - lawn->habits.seen;
    uint64_t misses = lawn->lone_starts + lawn->claims - lawn->habits.misses;
    uint64_t blades = lawn->tips.count;
    uint64_t count = lawn_count(lawn);
    bool few = blades <= lawn->blades.homes / LAWN_BLADES_STRIPES;
    bool full = blades > lawn->blades.homes / 4 * 3;

    lawn->habits.many = count >= LAWN_HABITS_MANY;
    if (lawn->resolution != 1) {
        lawn_habits_keep(lawn);
    } else if (lawn->habits.alone) {
        lawn_habits_reset(lawn);
    } else if (misses > starts / 2 ||
               (full && count < blades * LAWN_HABITS_DEPTH)) {
        lawn_habits_set(lawn, true, 0);
    } else {
        lawn_habits_set(lawn, false,
                        few && lawn->habits.many ? LAWN_BLADES_SPARE : 0);
    }
}
