/* tuning.c - how a lawn fits itself to its TTLs: see tuning.h. */
#include "internal.h"

/* Starts or misses between two looks at the counters, and starts in a trial. A
 * lawn bypasses its blades for many times as many before it tries blades again, since
 * trying fills the table with TTLs that may not come again; and a trial that
 * came to nothing is not soon followed by another. Tests make the constants
 * small, to see more changes. */
#if !defined LAWN_TUNING_TRIAL
#define LAWN_TUNING_TRIAL 1024u
#endif
#define LAWN_TUNING_BYPASS (256u * LAWN_TUNING_TRIAL)
#define LAWN_TUNING_PAUSE (16u * LAWN_TUNING_TRIAL)
/* Running timers that no longer fit in a cache: from here on it pays to fetch
 * ahead. */
#if !defined LAWN_TUNING_MANY
#define LAWN_TUNING_MANY 65536u
#endif
/* Timers per blade from which on a full table of blades pays. */
#define LAWN_TUNING_DEPTH 32u
/* Blades to look at, to tell how many hold timers. */
#define LAWN_TUNING_SAMPLE 64u

/* The next look is due after so many starts of idle timers, or misses. */
static void
schedule_review(struct lawn *lawn, uint64_t many)
{
    lawn->tuning.starts += lawn->starts + many;
    lawn->starts = -many;
    lawn->tuning.misses += lawn->misses + many;
    lawn->misses = -many;
}

static uint64_t
count_misses(const struct lawn *lawn)
{
    return lawn->tuning.misses + lawn->misses;
}

/* From here on these tuning, without or with a trial. */
static void
set_mode(struct lawn *lawn, bool trial, bool bypass, uint32_t stripe)
{
    LAWN_NAIVELY(bypass = true);
    lawn->tuning.seen_starts = lawn__count_starts(lawn);
    lawn->tuning.seen_misses = count_misses(lawn);
    lawn->tuning.left = LAWN_TUNING_TRIAL;
    lawn->tuning.review_due = false;
    lawn->tuning.trial = trial;
    lawn->tuning.bypass = bypass;
    lawn->blades.stripe = stripe;
    lawn->plain_mask =
        trial || bypass || lawn->resolution != 1 ? 0 : UINT64_MAX;
    lawn__move_clock(lawn, lawn->now);
    lawn__set_bound(lawn, lawn->bound);
}

/* Back to plain. */
void
lawn__tuning_reset(struct lawn *lawn)
{
    schedule_review(lawn, LAWN_TUNING_TRIAL);
    set_mode(lawn, false, false, 0);
}

/* As they are, for a while longer. */
void
lawn__tuning_keep(struct lawn *lawn)
{
    schedule_review(lawn, LAWN_TUNING_TRIAL);
    set_mode(lawn, false, lawn->tuning.bypass, lawn->blades.stripe);
}

/* Called when lawn->starts or lawn->misses has come to 0, or a trial is over.
 * Where a timer goes is the same in a trial as before, so it may begin at once;
 * all else waits until the clock moves, and mows have to notice. */
void
lawn__tuning_request_review(struct lawn *lawn)
{
    uint64_t starts = lawn__count_starts(lawn) - lawn->tuning.seen_starts;
    uint64_t misses = count_misses(lawn) - lawn->tuning.seen_misses;

    schedule_review(lawn, LAWN_TUNING_TRIAL);
    if (misses > starts / 2 && lawn->resolution == 1 && !lawn->tuning.bypass &&
        !lawn->tuning.trial) {
        set_mode(lawn, true, false, lawn->blades.stripe);
    } else {
        lawn->tuning.review_due = true;
        lawn__set_bound(lawn, lawn->bound);
    }
}

/* Whether most starts of a trial missed. */
static bool
trial_failed(const struct lawn *lawn)
{
    uint64_t starts = LAWN_TUNING_TRIAL - lawn->tuning.left;
    uint64_t misses = count_misses(lawn) - lawn->tuning.seen_misses;

    return misses > starts / 2;
}

/* Whether most blades hold timers. The entries tell at most how many do: stopping
 * and restarting leave empty blades in the index until their time comes. So
 * some blades, all over the table, are looked at. */
static bool
is_table_full(const struct lawn *lawn)
{
    const struct lawn_blades *blades = &lawn->blades;
    uint32_t step = blades->homes / LAWN_TUNING_SAMPLE | 1;
    uint32_t seen = 0;
    uint32_t live = 0;

    if (lawn->index.count <= blades->homes / 4 * 3) {
        return false;
    }
    for (uint32_t i = 0; i < blades->homes; i += step) {
        seen++;
        live += !lawn__list_empty(&blades->all[i].queue);
    }
    return live > seen / 4 * 3;
}

/* Called where the clock is about to move, when that was asked for. During a
 * trial nobody asks: it counts no fewer starts than the counters do. */
void
lawn__tuning_review(struct lawn *lawn)
{
    uint64_t blades = lawn->index.count;
    uint64_t count = lawn_count(lawn);
    bool few = blades <= lawn->blades.homes / LAWN_BLADES_STRIPES;
    bool sparse = count < blades * LAWN_TUNING_DEPTH && is_table_full(lawn);

    LAWN_ASSERT(!lawn->tuning.trial ||
                    lawn->tuning.left - 1 >= LAWN_TUNING_TRIAL,
                "a trial was looked at before it was over");
    lawn->tuning.many = count >= LAWN_TUNING_MANY;
    if (lawn->resolution != 1) {
        lawn__tuning_keep(lawn);
    } else if (lawn->tuning.bypass) {
        lawn__tuning_reset(lawn);
    } else if (sparse || (lawn->tuning.trial && trial_failed(lawn))) {
        schedule_review(lawn, LAWN_TUNING_BYPASS);
        set_mode(lawn, false, true, 0);
    } else {
        schedule_review(lawn, lawn->tuning.trial ? LAWN_TUNING_PAUSE
                                                 : LAWN_TUNING_TRIAL);
        set_mode(lawn, false, false,
                 few && lawn->tuning.many ? LAWN_BLADES_SPARE : 0);
    }
}
