/* few_parts.c - the functions of few.h equal the shipped ones that they
 * replace.
 *
 * @flags -DNDEBUG -DPROOF_PARTS -Iproofs/cbmc/core --unwind 4
 * @without --unsigned-overflow-check: a hash is a product that wraps
 * @without --conversion-check: a hash is truncated on purpose
 *
 * @proof few_parts
 * @covers lawn__index_slot_of lawn__index_list_of
 * In an index of 3 levels of 1 bit and one list per slot: few.h computes the
 * slot and the list of a time correctly, for any base, and any time that
 * differs from the base in the lowest three digits only.
 */
#include "few.h"

void
few_parts(void)
{
    static struct lawn_link unqueued[PROOF_SLOTS];
    struct lawn_index index = {.unqueued = unqueued};
    uint64_t time = nondet_u64();

    proof_tables(&index);
    index.base = nondet_u64();
    ASSUME((time ^ index.base) >> PROOF_LEVELS == 0);
    PROVE(lawn__index_slot_of(&index, time) == proof_slot(&index, time),
          "the slot");
    PROVE(
        lawn__index_list_of(&index, lawn__index_slot_of(&index, time), time) ==
            proof_list(&index, proof_slot(&index, time)),
        "the list");
    PROOF_END();
}
