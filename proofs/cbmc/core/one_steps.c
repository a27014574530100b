/* one_steps.c - one step from an arbitrary valid lawn of one timer: see one.h.
 *
 * @flags -DNDEBUG -Iproofs/cbmc/core --object-bits 6 --no-standard-checks
 *     --unwind 3 --unwindset proof_empty_index.0:65
 *     --unwindset proof_empty_index.1:7 --unwindset proof_empty_blades.0:5
 *     --unwindset proof_empty_blades.1:5 --unwindset lawn_check.0:5
 *     --unwindset lawn_check.1:7 --unwindset lawn_check_blade.0:5
 *     --unwindset lawn_check_slot.0:2
 * @without --bounds-check: only the promises and the invariant are proved here;
 *     with the checks for each access the formula is too large
 * @without --pointer-check: likewise
 * @without --pointer-overflow-check: likewise
 * @without --undefined-shift-check: likewise
 * @without --signed-overflow-check: likewise
 * @without --div-by-zero-check: likewise
 * @without --unsigned-overflow-check: counters count up to 0 and hashes wrap on
 *     purpose
 * @without --conversion-check: hashes are truncated on purpose
 *
 * @proof one_stop
 * @covers lawn_stop lawn_pending
 * A stop tells whether the timer ran; then it is idle, is not counted, and
 * lawn_check() finds the lawn valid [P3] [P5].
 */
#include "one.h"

void
one_stop(void)
{
    bool ran = proof_any_lawn();

    PROVE(lawn_stop(&lawn, &timer) == ran, "[P5] tells whether it ran");
    PROVE(!lawn_pending(&timer), "[P5] it is idle");
    PROVE(lawn_count(&lawn) == 0, "[P3] it is not counted");
    PROVE(lawn_check(&lawn, NULL), "valid");
    PROOF_END();
}
