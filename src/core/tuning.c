/* tuning.c - adapts a lawn to the TTLs in use: see tuning.h. */
#include "internal.h"

/* The number of starts or misses between two reviews: TRIAL; BYPASS while the
 * blades are bypassed, because trying them again fills the table with TTLs that
 * may not recur; PAUSE after a trial that changed nothing. A trial has TRIAL
 * starts. Tests use smaller constants to see more changes. */
#if !defined LAWN_TUNING_TRIAL
#define LAWN_TUNING_TRIAL 1024u
#endif
#define LAWN_TUNING_BYPASS (256u * LAWN_TUNING_TRIAL)
#define LAWN_TUNING_PAUSE (16u * LAWN_TUNING_TRIAL)
/* From this number of running timers on, they do not fit in a cache, and
 * prefetching pays. */
#if !defined LAWN_TUNING_MANY
#define LAWN_TUNING_MANY 65536u
#endif
/* With at least this many timers per blade, a full table of blades pays. */
#define LAWN_TUNING_DEPTH 32u
/* Blades to sample, to estimate how many blades contain timers. */
#define LAWN_TUNING_SAMPLE 64u

/* Schedules the next review after `many` starts of idle timers or `many`
 * misses. */
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

/* Enables or disables the fast path of lawn_start(). */
void
lawn__tuning_settle(struct lawn *lawn)
{
    lawn->plain_mask = lawn->tuning.trial || lawn->tuning.bypass ||
                               lawn->resolution != 1 || lawn->settled != 0
                           ? 0
                           : UINT64_MAX;
    lawn__move_clock(lawn, lawn->now);
}

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
    lawn__tuning_settle(lawn);
    lawn__set_bound(lawn, lawn->bound);
}

void
lawn__tuning_reset(struct lawn *lawn)
{
    schedule_review(lawn, LAWN_TUNING_TRIAL);
    set_mode(lawn, false, false, 0);
}

/* Postpones the next review and keeps the mode. */
void
lawn__tuning_keep(struct lawn *lawn)
{
    schedule_review(lawn, LAWN_TUNING_TRIAL);
    set_mode(lawn, false, lawn->tuning.bypass, lawn->blades.stripe);
}

/* A trial may begin at once, because it does not change where timers are
 * inserted. All other changes wait until the clock moves: lawn__set_bound()
 * sets lawn->wake to 0, so that the next lawn_mow() reviews the tuning.
 */
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

static bool
trial_failed(const struct lawn *lawn)
{
    uint64_t starts = LAWN_TUNING_TRIAL - lawn->tuning.left;
    uint64_t misses = count_misses(lawn) - lawn->tuning.seen_misses;

    return misses > starts / 2;
}

/* Returns whether most of a sample of blades contain timers. The number of
 * index entries is only an upper bound, since emptied blades keep theirs. */
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

/* Called before the clock moves, if review_due is set. No review becomes due
 * before the end of a trial: the trial counts every start that lawn->starts and
 * lawn->misses count. */
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
