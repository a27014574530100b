/* few_parts.c - what few.h puts in the place of shipped functions is the same.
 *
 * @flags -DNDEBUG -DPROOF_PARTS -Iproofs/cbmc/core --unwind 4
 * @without --unsigned-overflow-check: a hash is a product that wraps
 * @without --conversion-check: a hash is truncated on purpose
 *
 * @proof few_parts
 * @covers lawn_tips_slot lawn_tips_list
 * In an index of 3 levels of 1 bit and one list per slot: the slot of a time and
 * its list are those that few.h computes, for any base, and any time that
 * differs from it in the lowest three digits only.
 */
#include "few.h"

void
few_parts(void)
{
    static struct lawn_link lone[PROOF_SLOTS];
    struct lawn_tips tips = {.lone = lone};
    uint64_t time = nondet_u64();

    proof_tables(&tips);
    tips.base = nondet_u64();
    ASSUME((time ^ tips.base) >> PROOF_LEVELS == 0);
    PROVE(lawn_tips_slot(&tips, time) == proof_slot(&tips, time), "the slot");
    PROVE(lawn_tips_list(&tips, lawn_tips_slot(&tips, time), time) ==
              proof_list(&tips, proof_slot(&tips, time)),
          "the list");
    PROOF_END();
}
