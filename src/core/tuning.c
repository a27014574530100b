/* tuning.c - adapts a lawn to the TTLs in use: see tuning.h. */
#include "internal.h"

/* While the blades are in use, a review is requested after this many starts of
 * idle timers, and after `patience` misses; `patience` is at least this
 * constant. Tests use smaller constants to see more changes. */
#if !defined LAWN_TUNING_PERIOD
#define LAWN_TUNING_PERIOD 1024u
#endif
/* Maximum of `patience`. Restarts that find their blade are not counted,
 * because counting makes them 10 % slower. So a lawn may give up blades that
 * pay. If it soon uses them again, `patience` doubles. */
#define LAWN_TUNING_PATIENCE (64u * LAWN_TUNING_PERIOD)
/* Samples per decision; three in four must be hits. */
#if !defined LAWN_TUNING_WINDOW
#define LAWN_TUNING_WINDOW 32u
#endif
/* Maximum of `spacing`, the number of starts per sample. `spacing` is 1 in the
 * first window, and doubles with each further window. */
#define LAWN_TUNING_SPACING 32u
/* The number of TTLs is estimated over about the last AGE windows. */
#define LAWN_TUNING_AGE 128u
/* From this number of running timers on, they do not fit in a cache, and
 * prefetching pays. */
#if !defined LAWN_TUNING_MANY
#define LAWN_TUNING_MANY 65536u
#endif
/* Blades pay with at least DEPTH timers per TTL. If there are more than SPREAD
 * TTLs, each needs SPREAD timers: with fewer, the blades evict the slots of the
 * index from the cache. */
#define LAWN_TUNING_DEPTH 4u
#define LAWN_TUNING_SPREAD 512u

static void
schedule_starts(struct lawn *lawn, uint64_t many)
{
    lawn->tuning.starts += lawn->starts + many;
    lawn->starts = -many;
}

static void
schedule_misses(struct lawn *lawn, uint64_t many)
{
    lawn->tuning.misses += lawn->misses + many;
    lawn->misses = -many;
}

static uint64_t
count_misses(const struct lawn *lawn)
{
    return lawn->tuning.misses + lawn->misses;
}

/* Decides whether lawn_start() may use its fast path. */
void
lawn__tuning_settle(struct lawn *lawn)
{
    lawn->tuning.direct = lawn->tuning.bypass && lawn->resolution == 1;
    lawn->plain_mask =
        lawn->tuning.bypass || lawn->resolution != 1 || lawn->settled != 0
            ? 0
            : UINT64_MAX;
    lawn__move_clock(lawn, lawn->now);
}

static void
begin_count(struct lawn *lawn)
{
    struct lawn_tuning *tuning = &lawn->tuning;

    schedule_starts(lawn, LAWN_TUNING_PERIOD);
    schedule_misses(lawn, tuning->bypass ? tuning->spacing : tuning->patience);
    tuning->seen_starts = lawn__count_starts(lawn);
    tuning->seen_misses = count_misses(lawn);
    tuning->seen_unqueued = lawn__count_unqueued_starts(lawn);
}

static void
set_mode(struct lawn *lawn, bool bypass, uint32_t stripe)
{
    struct lawn_tuning *tuning = &lawn->tuning;

    LAWN_NAIVELY(bypass = true);
    lawn->blades.stripe = stripe;
    tuning->review_due = false;
    if (bypass != tuning->bypass) {
        tuning->bypass = bypass;
        tuning->ttls = 0;
        tuning->spacing = 1;
        tuning->samples = 0;
        tuning->hits = 0;
        begin_count(lawn);
    }
    lawn__tuning_settle(lawn);
    lawn__set_bound(lawn, lawn->bound);
}

void
lawn__tuning_init(struct lawn *lawn, bool asked)
{
    lawn->tuning.asked = asked;
    lawn->tuning.patience = LAWN_TUNING_PERIOD;
    lawn->tuning.many = false;
    lawn->tuning.bypass = asked;
    LAWN_NAIVELY(lawn->tuning.bypass = false);
    set_mode(lawn, !asked, 0);
}

/* Called when the resolution is set. Beginning a new count postpones the
 * review. */
void
lawn__tuning_keep(struct lawn *lawn)
{
    if (lawn->tuning.bypass && lawn->resolution == 1) {
        lawn__tuning_settle(lawn);
    } else {
        begin_count(lawn);
        set_mode(lawn, false, lawn->blades.stripe);
    }
}

/* lawn__set_bound() sets lawn->wake to 0, so that the next lawn_mow() reviews
 * the tuning. */
static void
request_review(struct lawn *lawn)
{
    lawn->tuning.review_due = true;
    lawn__set_bound(lawn, lawn->bound);
}

static bool
do_blades_pay(uint64_t timers, uint64_t ttls)
{
    return timers >= ttls * LAWN_TUNING_DEPTH &&
           (ttls <= LAWN_TUNING_SPREAD || timers >= ttls * LAWN_TUNING_SPREAD);
}

/* Until `patience` misses have been counted, blades are useless only if there
 * are few timers, and never if options.blades is set. Restarts are among the
 * misses, but not among the starts. */
static bool
are_blades_useless(const struct lawn *lawn)
{
    const struct lawn_tuning *tuning = &lawn->tuning;
    uint64_t starts = lawn__count_starts(lawn) - tuning->seen_starts;
    uint64_t misses = count_misses(lawn) - tuning->seen_misses;
    uint64_t unqueued =
        lawn__count_unqueued_starts(lawn) - tuning->seen_unqueued;
    uint64_t ttls = lawn->blades.stripe == 0
                        ? lawn->index.count
                        : lawn->index.count / LAWN_BLADES_STRIPES;
    /* Fewer than half of the timers with which blades would pay. */
    bool few = !do_blades_pay(lawn__count_timers(lawn) * 2, ttls);

    if (misses < tuning->patience) {
        return !tuning->asked && few;
    }
    return unqueued > starts / 2 || (misses > starts / 2 && few);
}

/* While the blades are bypassed, review_due is set only if blades would pay. */
void
lawn__tuning_review(struct lawn *lawn)
{
    struct lawn_tuning *tuning = &lawn->tuning;
    bool few = lawn->index.count <= lawn->blades.homes / LAWN_BLADES_STRIPES;
    bool judge = count_misses(lawn) - tuning->seen_misses >= tuning->patience;
    uint32_t stripe = lawn->blades.stripe;

    tuning->many = lawn__count_timers(lawn) >= LAWN_TUNING_MANY;
    if (tuning->bypass) {
        if (tuning->patience < LAWN_TUNING_PATIENCE) {
            tuning->patience *= 2;
        }
        set_mode(lawn, false, 0);
    } else if (lawn->resolution == 1 && are_blades_useless(lawn)) {
        set_mode(lawn, true, 0);
        tuning->ttls = judge ? 0 : lawn->index.count;
    } else {
        if (lawn->resolution == 1) {
            stripe = few && tuning->many ? LAWN_BLADES_SPARE : 0;
        }
        if (judge) {
            begin_count(lawn);
        }
        set_mode(lawn, false, stripe);
    }
}

/* Returns whether a TTL has a blade. If not, gives it a free one. */
static bool
find_or_reserve_blade(struct lawn *lawn, uint64_t ttl)
{
    struct lawn_blade *blade = lawn__blades_find(&lawn->blades, ttl, 0);

    if (blade != NULL) {
        return true;
    }
    blade = lawn__blades_claim(&lawn->blades, ttl, 0);
    if (blade != NULL) {
        blade->ttl = ttl;
    }
    return false;
}

static void
end_window(struct lawn *lawn)
{
    struct lawn_tuning *tuning = &lawn->tuning;
    bool repeated = tuning->hits >= LAWN_TUNING_WINDOW / 4 * 3;

    tuning->ttls += LAWN_TUNING_WINDOW - tuning->hits;
    tuning->ttls -= (tuning->ttls + LAWN_TUNING_AGE - 1) / LAWN_TUNING_AGE;
    tuning->samples = 0;
    tuning->hits = 0;
    if (repeated && do_blades_pay(lawn__count_timers(lawn), tuning->ttls)) {
        tuning->spacing = LAWN_TUNING_SPACING;
        request_review(lawn);
        return;
    }
    if (tuning->spacing < LAWN_TUNING_SPACING) {
        tuning->spacing *= 2;
    } else {
        tuning->patience = LAWN_TUNING_PERIOD;
    }
    if (tuning->review_due) {
        tuning->review_due = false;
        lawn__set_bound(lawn, lawn->bound);
    }
}

static void
take_sample(struct lawn *lawn, uint64_t ttl)
{
    struct lawn_tuning *tuning = &lawn->tuning;

    schedule_misses(lawn, tuning->spacing);
    tuning->many = lawn__count_timers(lawn) >= LAWN_TUNING_MANY;
    if (ttl == LAWN_NEVER) {
        return; /* a timer that never uses a blade */
    }
    tuning->hits += find_or_reserve_blade(lawn, ttl != 0 ? ttl : 1);
    if (++tuning->samples == LAWN_TUNING_WINDOW) {
        end_window(lawn);
    }
}

void
lawn__tuning_count_start(struct lawn *lawn)
{
    schedule_starts(lawn, LAWN_TUNING_PERIOD);
    if (!lawn->tuning.bypass) {
        request_review(lawn);
    }
}

void
lawn__tuning_count_miss(struct lawn *lawn, uint64_t ttl)
{
    if (lawn->tuning.bypass) {
        take_sample(lawn, ttl);
    } else {
        schedule_misses(lawn, lawn->tuning.patience);
        request_review(lawn);
    }
}
