/* index_marks.c - which slots of the index are marked, and the times that are
 * kept with the marks: src/core/index.h, index.c.
 *
 * For 4, 6, 7 and 8 bits of slot numbers (a level has 16 slots, or 1, 2 or 4
 * words of 64): any level, any marks, any base, any times.
 *
 * @flags --unwind 10 -DNDEBUG
 * @sources src/core/index.c
 * @without --conversion-check: numbers of slots are small parts of 64-bit
 *     numbers
 * @without --unsigned-overflow-check: slots are counted modulo the slots of a
 *     level
 *
 * @proof index_first_4
 * @flags -DSLOT_BITS=4
 * @covers lawn__index_first_slot lawn__index_slots_ahead lawn__index_first_tick
 * @proof index_first_6
 * @flags -DSLOT_BITS=6
 * @covers lawn__index_first_slot lawn__index_slots_ahead lawn__index_first_tick
 * @proof index_first_7
 * @flags -DSLOT_BITS=7
 * @covers lawn__index_first_slot lawn__index_slots_ahead lawn__index_first_tick
 * @proof index_first_8
 * @flags -DSLOT_BITS=8
 * @covers lawn__index_first_slot lawn__index_slots_ahead lawn__index_first_tick
 * The first marked slot of a level is marked, and no slot between that of the
 * base and this one is; or no slot of the level is marked.
 *
 * @proof index_mark_4
 * @flags -DSLOT_BITS=4 --arrays-uf-always
 * @covers lawn__index_lower lawn__index_note lawn__index_clear_slot
 *     lawn__index_clear_tick lawn__index_marked
 * @proof index_mark_6
 * @flags -DSLOT_BITS=6 --arrays-uf-always
 * @covers lawn__index_lower lawn__index_note lawn__index_clear_slot
 *     lawn__index_clear_tick lawn__index_marked
 * @proof index_mark_7
 * @flags -DSLOT_BITS=7 --arrays-uf-always
 * @covers lawn__index_lower lawn__index_note lawn__index_clear_slot
 *     lawn__index_clear_tick lawn__index_marked
 * @proof index_mark_8
 * @flags -DSLOT_BITS=8 --arrays-uf-always
 * @covers lawn__index_lower lawn__index_note lawn__index_clear_slot
 *     lawn__index_clear_tick lawn__index_marked
 * Adding a time to a slot, and clearing a slot: only the mark of this slot
 * changes, no other mark on any level. A slot is marked if and only if
 * it has an earliest time, and a level above 0 if and only if it has a marked
 * slot. The earliest time of a slot is not after a time added to it [I5]. If a
 * slot of a level above 0 gets a time, the horizon is not after that time
 * [I10]. The horizon is never raised.
 *
 * @proof index_sizes
 * @covers lawn__index_clamp_bits lawn__index_count_lists
 *     lawn__index_count_slots lawn__index_count_words count_levels
 *     count_level_words
 * Whatever number of bits is requested, the result is 4 to 8, and there are
 * enough slots and words for it.
 * The condition lawn_index_sized that proofs/wp assumes holds of these numbers.
 *
 * @proof index_list
 * @covers lawn__index_list_of
 * For all supported numbers of bits, all slots and times: the list of unqueued
 * timers is one of the slot's, so no two slots share a list. It is a function
 * of the time, so all timers with one deadline in a slot are in one list [P4].
 * The number of lists is that of lawn__index_init().
 */
#include "index.h"
#include "proof.h"

#if !defined SLOT_BITS
#define SLOT_BITS 8
#endif
#define SLOTS (1u << SLOT_BITS)
#define WORDS (SLOT_BITS < 6 ? 1 : SLOTS / 64)
#define LEVELS ((64 - SLOT_BITS + SLOT_BITS - 2) / (SLOT_BITS - 1) + 1)

static struct lawn_index index;
static uint64_t occupied[LEVELS * WORDS];
static uint16_t first[LEVELS * SLOTS];
static uint64_t earliest[LEVELS * SLOTS];

static void
proof_any_index(void)
{
    index.slot_bits = SLOT_BITS;
    index.bits = SLOT_BITS - 1;
    index.mask = SLOTS - 1;
    index.words = WORDS;
    index.occupied = occupied;
    index.first = first;
    index.earliest = earliest;
    index.levels = nondet_u32();
    index.base = nondet_u64();
    index.horizon = nondet_u64();
    index.prepare = nondet_u64();
}

/* Whether a slot of a level is marked. */
static bool
proof_bit(uint32_t level, uint32_t digit)
{
    return (occupied[level * index.words + digit / 64] >> (digit % 64) & 1) !=
           0;
}

/* Whether a level has a marked slot. */
static bool
proof_used(uint32_t level)
{
    uint64_t any = 0;

    for (uint32_t i = 0; i < WORDS; i++) {
        any |= occupied[level * WORDS + i];
    }
    return any != 0;
}

/* An arbitrary bitmap of a level. */
static void
proof_any_marks(uint32_t level)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t word = nondet_u64();

#if SLOT_BITS < 6
        ASSUME(word >> SLOTS == 0);
#endif
        occupied[level * WORDS + i] = word;
    }
    ASSUME(level == 0 ||
           ((index.levels >> level & 1) != 0) == proof_used(level));
}

static uint32_t
proof_ahead(uint32_t level, uint32_t digit)
{
    return (digit - (uint32_t)(index.base >> (level * index.bits))) &
           index.mask;
}

static void
proof_first(void)
{
    uint32_t level = nondet_u32();
    uint32_t other = nondet_u32();

    proof_any_index();
    ASSUME(level < LEVELS && other <= index.mask);
    proof_any_marks(level);
    uint32_t slot = lawn__index_first_slot(&index, level);

    PROVE((slot == LAWN_INDEX_NONE) == !proof_used(level), "if there is one");
    PROVE(level > 0 || slot == LAWN_INDEX_NONE ||
              lawn__index_first_tick(&index) ==
                  index.base + proof_ahead(0, slot),
          "[P2] the tick of a slot of level 0");
    PROVE(level > 0 || slot != LAWN_INDEX_NONE ||
              lawn__index_first_tick(&index) == LAWN_NEVER,
          "no tick");
    ASSUME(slot != LAWN_INDEX_NONE);
    PROVE(slot >> index.slot_bits == level, "[P2] of that level");
    PROVE(proof_bit(level, slot & index.mask), "[I5] it is marked");
    PROVE(lawn__index_slots_ahead(&index, slot) ==
              proof_ahead(level, slot & index.mask),
          "as far ahead as it is");
    PROVE(!proof_bit(level, other) || proof_ahead(level, slot & index.mask) <=
                                          proof_ahead(level, other),
          "[P2] none before it is");
    PROOF_END();
}

static void
proof_mark(void)
{
    uint32_t slot = nondet_u32();
    uint32_t other = nondet_u32();
    uint64_t time = nondet_u64();

    proof_any_index();
    uint64_t horizon = index.horizon;
    uint64_t prepare = index.prepare;
    ASSUME(slot < LEVELS * SLOTS && other != slot);
    ASSUME(other < LEVELS * SLOTS && time <= LAWN_LAST);
    uint32_t level = slot >> index.slot_bits;
    uint32_t second = other >> index.slot_bits;
    proof_any_marks(level);
    if (second != level) {
        proof_any_marks(second);
    }
    earliest[slot] = nondet_u64();
    earliest[other] = nondet_u64();
    first[slot] = LAWN_INDEX_NONE;
    ASSUME(proof_bit(level, slot & index.mask) ==
           (earliest[slot] != LAWN_NEVER));
    ASSUME(proof_bit(second, other & index.mask) ==
           (earliest[other] != LAWN_NEVER));
    if (earliest[slot] != LAWN_NEVER && level > 0) {
        ASSUME(horizon <= earliest[slot]);
        ASSUME(earliest[slot] >> (level * index.bits) ==
               time >> (level * index.bits));
    }
    uint64_t was = earliest[slot];
    uint64_t others = earliest[other];

    if (nondet_bool()) {
        lawn__index_note(&index, slot, time);
        PROVE(lawn__index_marked(&index, slot), "[I5] is marked");
        PROVE(earliest[slot] == (time < was ? time : was), "[I5] the earliest");
        PROVE(level == 0 || index.horizon <= time, "[I10] not after the time");
        PROVE(index.horizon <= horizon && index.prepare <= prepare,
              "[I10] not raised");
    } else {
        if (level > 0) {
            lawn__index_clear_slot(&index, slot);
        } else {
            lawn__index_clear_tick(&index, slot);
        }
        PROVE(!lawn__index_marked(&index, slot), "[I5] is not marked");
        PROVE(index.horizon == horizon && index.prepare == prepare, "stay");
    }
    PROVE(proof_bit(level, slot & index.mask) == (earliest[slot] != LAWN_NEVER),
          "[I5] mark and earliest time agree");
    PROVE(proof_bit(second, other & index.mask) == (others != LAWN_NEVER) &&
              earliest[other] == others,
          "[I5] others stay");
    PROVE(level == 0 || ((index.levels >> level & 1) != 0) == proof_used(level),
          "[I5] its level agrees");
    PROVE(second == 0 ||
              ((index.levels >> second & 1) != 0) == proof_used(second),
          "[I5] others agree");
    PROOF_END();
}

void
index_sizes(void)
{
    unsigned wanted = nondet_u32();
    unsigned bits = lawn__index_clamp_bits(wanted);

    PROVE(bits >= LAWN_INDEX_BITS_MIN && bits <= LAWN_INDEX_BITS_MAX, "4 to 8");
    PROVE(wanted < LAWN_INDEX_BITS_MIN || wanted > LAWN_INDEX_BITS_MAX ||
              bits == wanted,
          "the requested number, if it is supported");
    size_t slots = lawn__index_count_slots(bits);
    size_t words = lawn__index_count_words(bits);
    size_t levels = slots >> bits;
    PROVE(slots == levels << bits && levels <= LAWN_INDEX_LEVELS_MAX,
          "whole levels, not too many");
    PROVE(slots < LAWN_INDEX_NONE && slots <= 4096, "every slot has a number");
    PROVE(slots * lawn__index_count_lists(bits) <= 16384, "lists");
    PROVE(lawn__index_count_lists(bits) <= LAWN_INDEX_LISTS_MAX,
          "lists of a slot");
    PROVE((levels - 1) * (bits - 1) < 64 &&
              (levels - 1) * (bits - 1) + bits >= 64,
          "[I4] the highest level reaches all times");
    size_t per_level = words / levels;
    uint32_t mask = (1u << bits) - 1;
    PROVE(per_level * levels == words && per_level <= 4 &&
              (per_level & (per_level - 1)) == 0,
          "as many words for each level");
    PROVE(mask / 64 < per_level, "a bit for each slot of a level");
    PROOF_END();
}

extern struct lawn_link proof_lists[16384];

void
index_list(void)
{
    unsigned bits = lawn__index_clamp_bits(nondet_u32());
    uint32_t slot = nondet_u32();
    uint64_t time = nondet_u64();

    ASSUME(slot < lawn__index_count_slots(bits));
    index.unqueued = proof_lists;
    index.lists = (uint32_t)lawn__index_count_lists(bits);
    index.list_bits = (uint32_t)__builtin_ctz(index.lists);
    index.list_shift = 32 - index.list_bits;
    size_t list =
        (size_t)(lawn__index_list_of(&index, slot, time) - proof_lists);
    PROVE(index.lists == 1u << index.list_bits, "a power of two");
    PROVE(list / index.lists == slot, "[I4] a list of the slot");
    PROOF_END();
}

#define PROOF(name, what)                                                      \
    void name(void)                                                            \
    {                                                                          \
        what();                                                                \
    }

PROOF(index_first_4, proof_first)
PROOF(index_first_6, proof_first)
PROOF(index_first_7, proof_first)
PROOF(index_first_8, proof_first)
PROOF(index_mark_4, proof_mark)
PROOF(index_mark_6, proof_mark)
PROOF(index_mark_7, proof_mark)
PROOF(index_mark_8, proof_mark)
