/* index_slots.c - in which slot of the index a time belongs: src/core/index.h,
 * index.c.
 *
 * For 4 to 8 bits of slot numbers (all supported values; 3 to 7 bits per
 * level), every base, and all times not before it: all 64-bit numbers. A copy
 * of the loop in lawn__index_init() fills the table level[];
 * lawn__index_set_base() fills reach[]. The harness computes a time's level
 * from its definition, without the tables.
 *
 * @flags --unwind 66 -DNDEBUG
 * @sources src/core/index.c
 * @without --conversion-check: the numbers of slots, digits and levels are
 *     small parts of 64-bit numbers
 * @without --unsigned-overflow-check: the number of slots between two times is
 *     computed modulo the slots of a level
 *
 * @proof index_base_4
 * @flags -DSLOT_BITS=4
 * @covers lawn__index_set_base lawn__index_enter_slots
 * @proof index_base_5
 * @flags -DSLOT_BITS=5
 * @covers lawn__index_set_base lawn__index_enter_slots
 * @proof index_base_6
 * @flags -DSLOT_BITS=6
 * @covers lawn__index_set_base lawn__index_enter_slots
 * @proof index_base_7
 * @flags -DSLOT_BITS=7
 * @covers lawn__index_set_base lawn__index_enter_slots
 * @proof index_base_8
 * @flags -DSLOT_BITS=8
 * @covers lawn__index_set_base lawn__index_enter_slots
 * The base moves from any time to any other, or is set for the first time, as
 * in lawn__index_init(). For each level above 0, reach[] is the end of the slot
 * of this level after the slot of the base, computed in 128 bits, or LAWN_NEVER
 * if that is after the last time. The condition lawn_index_leveled that
 * proofs/wp assumes holds.
 *
 * @proof index_slot_4
 * @flags -DSLOT_BITS=4
 * @covers lawn__index_slot_of lawn__index_slot_at lawn__index_level_of
 *     lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_slot_5
 * @flags -DSLOT_BITS=5
 * @covers lawn__index_slot_of lawn__index_slot_at lawn__index_level_of
 *     lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_slot_6
 * @flags -DSLOT_BITS=6
 * @covers lawn__index_slot_of lawn__index_slot_at lawn__index_level_of
 *     lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_slot_7
 * @flags -DSLOT_BITS=7
 * @covers lawn__index_slot_of lawn__index_slot_at lawn__index_level_of
 *     lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_slot_8
 * @flags -DSLOT_BITS=8
 * @covers lawn__index_slot_of lawn__index_slot_at lawn__index_level_of
 *     lawn__index_slots_ahead lawn__index_slot_start
 * The slot is within the index. Its level is the lowest that reaches the time.
 * Above level 0 it is neither the slot of the base nor the next one [I4]. The
 * time is within the slot; on level 0 the slot is the tick [P1]. If the base is
 * in a slot or in the one before it, a time of that slot belongs to a lower
 * level: the slot gets no new times, and its entries can move down.
 *
 * @proof index_stay_4
 * @flags -DSLOT_BITS=4
 * @covers lawn__index_slot_at lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_stay_6
 * @flags -DSLOT_BITS=6
 * @covers lawn__index_slot_at lawn__index_slots_ahead lawn__index_slot_start
 * @proof index_stay_8
 * @flags -DSLOT_BITS=8
 * @covers lawn__index_slot_at lawn__index_slots_ahead lawn__index_slot_start
 * As the base advances up to a time, the time stays within the circle of slots
 * of its level, and the slot begins at the same tick [I4]. Of two times of a
 * level, the earlier one is never in a later slot, counted from the base [P2];
 * two times in one slot of level 0 are equal [P4].
 */
#include "index.h"
#include "proof.h"

#define DIGIT (SLOT_BITS - 1)
#define LEVELS ((64 - SLOT_BITS + DIGIT - 1) / DIGIT + 1)

typedef unsigned __int128 proof_wide;

static struct lawn_index index;

/* Returns how many slots of a level are between two times. */
static uint64_t
proof_ahead(uint32_t level, uint64_t base, uint64_t time)
{
    return level * DIGIT > 63
               ? 0
               : (time >> (level * DIGIT)) - (base >> (level * DIGIT));
}

/* Returns the lowest level that reaches a time. A level reaches the time if, on
 * the next higher level, the time is in the slot of the base or in the slot
 * after it. The highest level reaches all times. */
static uint32_t
proof_level(uint64_t base, uint64_t time)
{
    uint32_t level = LEVELS - 1;

    for (uint32_t i = LEVELS - 1; i-- > 0;) {
        if (proof_ahead(i + 1, base, time) <= 1) {
            level = i;
        }
    }
    return level;
}

/* The end of the slot after that of the base, on a level that is not 0. */
static uint64_t
proof_reach(uint32_t level, uint64_t base)
{
    proof_wide end = ((proof_wide)(base >> (level * DIGIT)) + 2)
                     << (level * DIGIT);

    return end > LAWN_NEVER ? LAWN_NEVER : (uint64_t)end;
}

/* As lawn__index_init() does. */
static void
proof_tables(void)
{
    index.bits = DIGIT;
    index.slot_bits = SLOT_BITS;
    index.mask = (1u << SLOT_BITS) - 1;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t level = i / DIGIT;

        index.level[i] = (uint8_t)(level < LEVELS ? level : LEVELS - 1);
    }
}

static void
proof_set_base(uint64_t base)
{
    index.base = base;
    for (uint32_t i = 1; i < LEVELS; i++) {
        index.reach[i] = proof_reach(i, base);
    }
}

static void
proof_base(void)
{
    uint64_t base = nondet_u64();

    proof_tables();
    PROVE(LEVELS <= LAWN_INDEX_LEVELS_MAX, "no more levels than reach[] has");
    if (nondet_bool()) {
        index.base = ~base;
    } else {
        proof_set_base(nondet_u64());
    }
    lawn__index_set_base(&index, base);
    PROVE(index.base == base, "the base that was set");
    PROVE(index.reach[0] == 0, "level 0 has none below");
    for (uint32_t i = 1; i < LEVELS; i++) {
        PROVE(index.reach[i] == proof_reach(i, base), "[I4] the reach");
    }
    uint32_t high = nondet_u32();
    ASSUME(high < 64 && index.level[high] > 0);
    PROVE(index.reach[index.level[high] - 1] <=
              (proof_wide)base + ((proof_wide)1 << high),
          "assumed by proofs/wp");
    PROOF_END();
}

static void
proof_slot(void)
{
    uint64_t base = nondet_u64();
    uint64_t time = nondet_u64();

    ASSUME(time >= base && time <= LAWN_LAST);
    proof_tables();
    proof_set_base(base);
    uint32_t slot = lawn__index_slot_of(&index, time);
    uint32_t level = lawn__index_level_of(&index, slot);
    uint32_t other = nondet_u32();

    PROVE(slot < (LEVELS << SLOT_BITS), "within the index");
    PROVE(level == proof_level(base, time), "[I4] the lowest level");
    PROVE(slot == lawn__index_slot_at(&index, level, time), "[I4] its slot");
    PROVE(lawn__index_slots_ahead(&index, slot) ==
              proof_ahead(level, base, time),
          "[I4] within the circle of slots");
    PROVE(level == 0 || lawn__index_slots_ahead(&index, slot) > 1,
          "[I4] neither the slot of the base nor the next one");
    uint64_t start = lawn__index_slot_start(&index, slot);
    PROVE(start <= time && time - start <= (UINT64_C(1) << (level * DIGIT)) - 1,
          "[I4] the time is in the slot");
    PROVE(level != 0 || start == time, "[P1] a slot of level 0 is one tick");
    PROVE(level == 0 || start > base, "[I4] a higher slot is in the future");
    ASSUME(other > 0 && other < LEVELS);
    PROVE(proof_ahead(other, base, time) > 1 || level < other,
          "[I4] a slot near the base gets no new times");
    PROOF_END();
}

static void
proof_stay(void)
{
    uint64_t base = nondet_u64();
    uint64_t later = nondet_u64();
    uint64_t time = nondet_u64();
    uint64_t more = nondet_u64();
    uint32_t level = nondet_u32();

    proof_tables();
    ASSUME(level < LEVELS && base <= later && later <= time && time <= more);
    ASSUME(more <= LAWN_LAST && proof_ahead(level, base, more) <= index.mask);
    index.base = base;
    uint32_t slot = lawn__index_slot_at(&index, level, time);
    uint32_t last = lawn__index_slot_at(&index, level, more);
    uint64_t start = lawn__index_slot_start(&index, slot);
    PROVE(start == time >> (level * DIGIT) << (level * DIGIT),
          "[I4] the first tick");
    PROVE(lawn__index_slots_ahead(&index, slot) <=
              lawn__index_slots_ahead(&index, last),
          "[P2] slots are in the order of times");
    PROVE(slot != last || level > 0 || time == more,
          "[P4] a slot of level 0 is one tick");
    index.base = later;
    PROVE(proof_ahead(level, later, time) <= index.mask &&
              proof_ahead(level, later, more) <= index.mask,
          "[I4] within the circle of slots");
    PROVE(lawn__index_slot_start(&index, slot) == start,
          "[I4] begins as before");
    PROVE(lawn__index_slots_ahead(&index, slot) <=
              lawn__index_slots_ahead(&index, last),
          "[P2] in the same order");
    PROOF_END();
}

#define PROOF(name, what)                                                      \
    void name(void)                                                            \
    {                                                                          \
        what();                                                                \
    }

PROOF(index_base_4, proof_base)
PROOF(index_base_5, proof_base)
PROOF(index_base_6, proof_base)
PROOF(index_base_7, proof_base)
PROOF(index_base_8, proof_base)
PROOF(index_slot_4, proof_slot)
PROOF(index_slot_5, proof_slot)
PROOF(index_slot_6, proof_slot)
PROOF(index_slot_7, proof_slot)
PROOF(index_slot_8, proof_slot)
PROOF(index_stay_4, proof_stay)
PROOF(index_stay_6, proof_stay)
PROOF(index_stay_8, proof_stay)
