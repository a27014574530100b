/* habits.c - how a lawn fits itself to its TTLs: see habits.h. */
#include "internal.h"

/* Starts or misses between two looks at the counters, and starts in a trial. A
 * lawn stays alone for many times as many before it tries blades again, since
 * trying fills the table with TTLs that may not come again; and a trial that
 * came to nothing is not soon followed by another. Tests make the constants
 * small, to see more changes. */
#if !defined LAWN_HABITS_TRIAL
#define LAWN_HABITS_TRIAL 1024u
#endif
#define LAWN_HABITS_ALONE (256u * LAWN_HABITS_TRIAL)
#define LAWN_HABITS_PAUSE (16u * LAWN_HABITS_TRIAL)
/* Running timers that no longer fit in a cache: from here on it pays to fetch
 * ahead. */
#if !defined LAWN_HABITS_MANY
#define LAWN_HABITS_MANY 65536u
#endif
/* Timers per blade from which on a full table of blades pays. */
#define LAWN_HABITS_DEPTH 32u
/* Blades to look at, to tell how many hold timers. */
#define LAWN_HABITS_SAMPLE 64u

/* The next look is due after so many starts of idle timers, or misses. */
static void
lawn_habits_wait(struct lawn *lawn, uint64_t many)
{
    lawn->habits.starts += lawn->starts + many;
    lawn->starts = -many;
    lawn->habits.misses += lawn->misses + many;
    lawn->misses = -many;
}

static uint64_t
lawn_habits_misses(const struct lawn *lawn)
{
    return lawn->habits.misses + lawn->misses;
}

/* From here on these habits, without or with a trial. */
static void
lawn_habits_set(struct lawn *lawn, bool trial, bool alone, uint32_t stripe)
{
    LAWN_NAIVELY(alone = true);
    lawn->habits.seen_starts = lawn_starts(lawn);
    lawn->habits.seen_misses = lawn_habits_misses(lawn);
    lawn->habits.left = LAWN_HABITS_TRIAL;
    lawn->habits.asked = false;
    lawn->habits.trial = trial;
    lawn->habits.alone = alone;
    lawn->blades.stripe = stripe;
    lawn->plain_mask = trial || alone || lawn->resolution != 1 ? 0 : UINT64_MAX;
    lawn_move_clock(lawn, lawn->now);
    lawn_set_bound(lawn, lawn->bound);
}

/* Back to plain. */
void
lawn_habits_reset(struct lawn *lawn)
{
    lawn_habits_wait(lawn, LAWN_HABITS_TRIAL);
    lawn_habits_set(lawn, false, false, 0);
}

/* As they are, for a while longer. */
void
lawn_habits_keep(struct lawn *lawn)
{
    lawn_habits_wait(lawn, LAWN_HABITS_TRIAL);
    lawn_habits_set(lawn, false, lawn->habits.alone, lawn->blades.stripe);
}

/* Called when lawn->starts or lawn->misses has come to 0, or a trial is over.
 * Where a timer goes is the same in a trial as before, so it may begin at once;
 * all else waits until the clock moves, and mows have to notice. */
void
lawn_habits_ask(struct lawn *lawn)
{
    uint64_t starts = lawn_starts(lawn) - lawn->habits.seen_starts;
    uint64_t misses = lawn_habits_misses(lawn) - lawn->habits.seen_misses;

    lawn_habits_wait(lawn, LAWN_HABITS_TRIAL);
    if (misses > starts / 2 && lawn->resolution == 1 && !lawn->habits.alone &&
        !lawn->habits.trial) {
        lawn_habits_set(lawn, true, false, lawn->blades.stripe);
    } else {
        lawn->habits.asked = true;
        lawn_set_bound(lawn, lawn->bound);
    }
}

/* Whether most starts of a trial missed. */
static bool
lawn_habits_failed(const struct lawn *lawn)
{
    uint64_t starts = LAWN_HABITS_TRIAL - lawn->habits.left;
    uint64_t misses = lawn_habits_misses(lawn) - lawn->habits.seen_misses;

    return misses > starts / 2;
}

/* Whether most blades hold timers. The tips tell at most how many do: stopping
 * and restarting leave empty blades in the index until their time comes. So
 * some blades, all over the table, are looked at. */
static bool
lawn_habits_full(const struct lawn *lawn)
{
    const struct lawn_blades *blades = &lawn->blades;
    uint32_t step = blades->homes / LAWN_HABITS_SAMPLE | 1;
    uint32_t seen = 0;
    uint32_t live = 0;
    uint32_t i;

    if (lawn->tips.count <= blades->homes / 4 * 3) {
        return false;
    }
    for (i = 0; i < blades->homes; i += step) {
        seen++;
        live += !lawn_list_empty(&blades->all[i].queue);
    }
    return live > seen / 4 * 3;
}

/* Called where the clock is about to move, when that was asked for. During a
 * trial nobody asks: it counts no fewer starts than the counters do. */
void
lawn_habits_review(struct lawn *lawn)
{
    uint64_t blades = lawn->tips.count;
    uint64_t count = lawn_count(lawn);
    bool few = blades <= lawn->blades.homes / LAWN_BLADES_STRIPES;
    bool sparse = count < blades * LAWN_HABITS_DEPTH && lawn_habits_full(lawn);

    LAWN_ASSERT(!lawn->habits.trial ||
                    lawn->habits.left - 1 >= LAWN_HABITS_TRIAL,
                "a trial was looked at before it was over");
    lawn->habits.many = count >= LAWN_HABITS_MANY;
    if (lawn->resolution != 1) {
        lawn_habits_keep(lawn);
    } else if (lawn->habits.alone) {
        lawn_habits_reset(lawn);
    } else if (sparse || (lawn->habits.trial && lawn_habits_failed(lawn))) {
        lawn_habits_wait(lawn, LAWN_HABITS_ALONE);
        lawn_habits_set(lawn, false, true, 0);
    } else {
        lawn_habits_wait(lawn, lawn->habits.trial ? LAWN_HABITS_PAUSE
                                                  : LAWN_HABITS_TRIAL);
        lawn_habits_set(lawn, false, false,
                        few && lawn->habits.many ? LAWN_BLADES_SPARE : 0);
    }
}
