/* any_tuning.h - an arbitrary valid tuning of a lawn: src/core/tuning.h. */
#ifndef PROOF_ANY_TUNING_H
#define PROOF_ANY_TUNING_H

#include "proof.h"

#include "internal.h"

/* All fields are arbitrary, except starts and review_due. The resolution is
 * given. */
static void
proof_any_tuning(struct lawn *lawn)
{
    struct lawn_tuning *tuning = &lawn->tuning;

    tuning->misses = nondet_u64();
    tuning->seen_starts = nondet_u64();
    tuning->seen_misses = nondet_u64();
    tuning->seen_unqueued = nondet_u64();
    tuning->patience = nondet_u64();
    tuning->ttls = nondet_u32();
    tuning->spacing = nondet_u32();
    tuning->samples = nondet_u32();
    tuning->hits = nondet_u32();
    tuning->asked = nondet_bool();
    tuning->bypass = nondet_bool();
    tuning->direct = tuning->bypass && lawn->resolution == 1;
    tuning->many = nondet_bool();
    lawn->misses = nondet_u64();
    lawn->claims = nondet_u64();
    lawn->plain_mask =
        tuning->bypass || lawn->resolution != 1 || lawn->settled != 0
            ? 0
            : UINT64_MAX;
}

/* Returns whether the tuning is valid. A count and a window end after some
 * starts; without reviews, with a resolution, the lawn uses its blades; and
 * while it bypasses them, there are no stripes, so that find_or_reserve_blade()
 * may use any deadline. */
static bool
proof_tuning(const struct lawn *lawn)
{
    const struct lawn_tuning *tuning = &lawn->tuning;
    bool any = tuning->bypass || lawn->resolution != 1 || lawn->settled != 0;

    return tuning->patience >= LAWN_TUNING_PERIOD && tuning->spacing >= 1 &&
           tuning->spacing <= LAWN_TUNING_SPACING &&
           (tuning->spacing & (tuning->spacing - 1)) == 0 &&
           tuning->samples < LAWN_TUNING_WINDOW &&
           tuning->hits <= tuning->samples &&
           (!tuning->bypass ||
            (lawn->resolution == 1 && lawn->blades.stripe == 0)) &&
           tuning->direct == tuning->bypass &&
           lawn->plain_mask == (any ? 0 : UINT64_MAX);
}

#endif
