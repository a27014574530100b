/* index_slots.c - in which slot of the index a time belongs: src/core/index.h.
 *
 * For 4, 5, 6, 7 and 8 bits per digit (all supported values), every base, and
 * all times not before it: all 64-bit numbers. A copy of the loop in
 * lawn__index_init() fills the tables shift[] and level[]; lawn__index_init()
 * itself is not proved here. The harness computes a time's level digit by
 * digit, without the tables.
 *
 * @flags --unwind 66
 * @without --conversion-check: shift[] and level[] are filled by casts of
 *     small numbers
 * @covers lawn__index_slot_of lawn__index_slot_start lawn__index_slot_end
 *
 * @proof index_slot_4
 * @flags -DPROOF_BITS=4
 * @proof index_slot_5
 * @flags -DPROOF_BITS=5
 * @proof index_slot_6
 * @flags -DPROOF_BITS=6
 * @proof index_slot_7
 * @flags -DPROOF_BITS=7
 * @proof index_slot_8
 * @flags -DPROOF_BITS=8
 * The slot is within the index; its level is that of the highest digit in which
 * time and base differ, and its number that digit; and the slot's first and
 * last tick enclose the time. On level 0 the slot's first tick is the time.
 *
 * @proof index_order_4
 * @flags -DPROOF_BITS=4
 * @proof index_order_7
 * @flags -DPROOF_BITS=7
 * @proof index_order_8
 * @flags -DPROOF_BITS=8
 * Of two times the earlier one is never in a later slot [P2]; two times in one
 * slot of level 0 are equal.
 *
 * @proof index_stay_4
 * @flags -DPROOF_BITS=4
 * @proof index_stay_7
 * @flags -DPROOF_BITS=7
 * @proof index_stay_8
 * @flags -DPROOF_BITS=8
 * As the base advances, a time's slot does not change until the base reaches
 * the slot's first tick [I4]; neither do the slot's first and last tick.
 */
#include "index.h"
#include "proof.h"

#define PROOF_LEVELS (63 / PROOF_BITS + 1)

static struct lawn_index index;

/* Fills the tables as lawn__index_init() does. */
static void
proof_tables(void)
{
    uint32_t i;

    index.bits = PROOF_BITS;
    index.mask = (1u << PROOF_BITS) - 1;
    for (i = 0; i < 64; i++) {
        index.shift[i] = (uint8_t)(i / PROOF_BITS * PROOF_BITS);
        index.level[i] = (uint16_t)(i / PROOF_BITS << PROOF_BITS);
    }
}

/* The level of a time, computed simply: the number of digits to drop until it
 * and the base agree, minus one. */
static uint32_t
proof_level(uint64_t time, uint64_t base)
{
    uint32_t level = 0;
    uint32_t i;

    for (i = 1; i < PROOF_LEVELS; i++) {
        if (time >> (i * PROOF_BITS) != base >> (i * PROOF_BITS)) {
            level = i;
        }
    }
    return level;
}

static void
proof_slot(void)
{
    uint64_t time = nondet_u64();
    uint32_t level;
    uint32_t slot;

    proof_tables();
    index.base = nondet_u64();
    ASSUME(time >= index.base);
    slot = lawn__index_slot_of(&index, time);
    level = proof_level(time, index.base);
    PROVE(slot < (PROOF_LEVELS << PROOF_BITS), "within the index");
    PROVE(slot >> PROOF_BITS == level, "[I4] the level of the highest digit");
    PROVE((slot & index.mask) == ((time >> (level * PROOF_BITS)) & index.mask),
          "[I4] the slot of that digit");
    PROVE(lawn__index_slot_start(&index, slot) <= time,
          "[I4] not after the time");
    PROVE(time <= lawn__index_slot_end(&index, slot),
          "[I4] not before the time");
    PROVE(level != 0 || lawn__index_slot_start(&index, slot) == time,
          "[P1] a slot of level 0 is one tick");
    PROVE(level == 0 || lawn__index_slot_start(&index, slot) > index.base,
          "[I4] a slot of a higher level is in the future");
    PROOF_END();
}

static void
proof_order(void)
{
    uint64_t early = nondet_u64();
    uint64_t late = nondet_u64();
    uint32_t first;
    uint32_t second;

    proof_tables();
    index.base = nondet_u64();
    ASSUME(early >= index.base && late > early);
    first = lawn__index_slot_of(&index, early);
    second = lawn__index_slot_of(&index, late);
    PROVE(first <= second, "[P2] slots are in the order of times");
    PROVE(first != second || first > index.mask,
          "[P4] a slot of level 0 is one tick");
    PROVE(first == second || lawn__index_slot_end(&index, first) <
                                 lawn__index_slot_start(&index, second),
          "[P2] slots do not overlap");
    PROOF_END();
}

static void
proof_stay(void)
{
    uint64_t time = nondet_u64();
    uint64_t later = nondet_u64();
    uint64_t begin;
    uint64_t end;
    uint32_t slot;

    proof_tables();
    index.base = nondet_u64();
    ASSUME(time >= index.base);
    slot = lawn__index_slot_of(&index, time);
    begin = lawn__index_slot_start(&index, slot);
    end = lawn__index_slot_end(&index, slot);
    /* A tick of level 0 keeps its slot while the base is not after it. */
    ASSUME(later >= index.base &&
           (slot <= index.mask ? later <= begin : later < begin));
    index.base = later;
    PROVE(lawn__index_slot_of(&index, time) == slot, "[I4] the slot stays");
    PROVE(lawn__index_slot_start(&index, slot) == begin,
          "[I4] begins as before");
    PROVE(lawn__index_slot_end(&index, slot) == end, "[I4] ends as before");
    PROOF_END();
}

#define PROOF(name, what)                                                      \
    void name(void)                                                            \
    {                                                                          \
        what();                                                                \
    }

PROOF(index_slot_4, proof_slot)
PROOF(index_slot_5, proof_slot)
PROOF(index_slot_6, proof_slot)
PROOF(index_slot_7, proof_slot)
PROOF(index_slot_8, proof_slot)
PROOF(index_order_4, proof_order)
PROOF(index_order_7, proof_order)
PROOF(index_order_8, proof_order)
PROOF(index_stay_4, proof_stay)
PROOF(index_stay_7, proof_stay)
PROOF(index_stay_8, proof_stay)
