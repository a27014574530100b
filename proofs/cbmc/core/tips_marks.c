/* tips_marks.c - the bitmap of the index: src/core/tips.h, tips.c.
 *
 * For every bitmap of 64 words of 64 bits (as many as 8 bits per digit need are
 * 32), so for every slot below 4096.
 *
 * @flags --unwind 66
 * @without --conversion-check: __builtin_ctzll() of a word that is not 0 is
 *     below 64
 * @covers lawn_tips_first lawn_tips_mark lawn_tips_clear lawn_tips_forget
 *     lawn_tips_bits lawn_tips_lists lawn_tips_slots lawn_tips_words
 *
 * @proof tips_first
 * The first slot marked: it is marked, and no earlier one is; or none is.
 *
 * @proof tips_mark
 * Marking and clearing a slot change its bit and no other, and words says which
 * words are not 0, before and after.
 *
 * @proof tips_known
 * What is known of a slot is forgotten only if something earlier came into it.
 *
 * @proof tips_sizes
 * @sources src/core/tips.c
 * For every number of bits asked for: 4 to 8, and slots and words to match.
 */
#include "proof.h"
#include "tips.h"

#define PROOF_WORDS 64u

static struct lawn_tips tips;
static uint64_t occupied[PROOF_WORDS];

/* An arbitrary bitmap [I5]. Of words' bits only those looked at are told. */
static bool
proof_word(uint32_t word)
{
    return ((tips.words >> word & 1) != 0) == (occupied[word] != 0);
}

static bool
proof_bit(uint32_t slot)
{
    return (occupied[slot / 64] >> (slot % 64) & 1) != 0;
}

static void
proof_any_marks(void)
{
    uint32_t i;

    tips.occupied = occupied;
    tips.words = nondet_u64();
    for (i = 0; i < PROOF_WORDS; i++) {
        occupied[i] = nondet_u64();
        ASSUME(proof_word(i));
    }
}

void
tips_first(void)
{
    uint32_t other = nondet_u32();
    uint32_t slot;

    proof_any_marks();
    ASSUME(other < PROOF_WORDS * 64 && proof_bit(other));
    slot = lawn_tips_first(&tips);
    PROVE(slot < PROOF_WORDS * 64, "[P2] there is one");
    PROVE(proof_bit(slot), "[I5] it is marked");
    PROVE(slot <= other, "[P2] none before it is");
    tips.words = 0;
    PROVE(lawn_tips_first(&tips) == LAWN_TIPS_NONE, "none");
    PROOF_END();
}

void
tips_mark(void)
{
    uint32_t slot = nondet_u32();
    uint32_t other = nondet_u32();
    uint32_t word = nondet_u32();
    bool was;

    proof_any_marks();
    ASSUME(slot < PROOF_WORDS * 64 && other < PROOF_WORDS * 64);
    ASSUME(other != slot && word < PROOF_WORDS);
    was = proof_bit(other);
    if (nondet_bool()) {
        lawn_tips_mark(&tips, slot);
        PROVE(proof_bit(slot), "[I5] is marked");
    } else {
        lawn_tips_clear(&tips, slot);
        PROVE(!proof_bit(slot), "[I5] is not marked");
    }
    PROVE(proof_bit(other) == was, "[I5] others stay");
    PROVE(proof_word(word), "[I5] words agree");
    PROOF_END();
}

void
tips_known(void)
{
    uint32_t slot = nondet_u32();
    uint64_t time = nondet_u64();
    uint32_t known = nondet_u32();
    uint64_t known_time = nondet_u64();

    tips.known = known;
    tips.known_time = known_time;
    lawn_tips_forget(&tips, slot, time);
    PROVE(tips.known == known || tips.known == LAWN_TIPS_NONE, "or none");
    PROVE(tips.known != slot || time >= tips.known_time ||
              slot == LAWN_TIPS_NONE,
          "[I10] nothing before the known time");
    PROVE((slot == known && time < known_time) || tips.known_time == known_time,
          "[P8] else it stays");
    PROOF_END();
}

void
tips_sizes(void)
{
    unsigned wanted = nondet_u32();
    unsigned bits = lawn_tips_bits(wanted);
    size_t slots;

    PROVE(bits >= LAWN_TIPS_BITS_MIN && bits <= LAWN_TIPS_BITS_MAX, "4 to 8");
    PROVE(wanted < LAWN_TIPS_BITS_MIN || wanted > LAWN_TIPS_BITS_MAX ||
              bits == wanted,
          "what was asked for, if it can be had");
    slots = lawn_tips_slots(bits);
    PROVE(slots < LAWN_TIPS_NONE, "every slot has a number");
    PROVE(slots * lawn_tips_lists(bits) <= 8192, "lists");
    PROVE(lawn_tips_lists(bits) <= LAWN_TIPS_LISTS_MAX, "lists of a slot");
    PROVE(lawn_tips_words(bits) <= PROOF_WORDS, "a bit for each word");
    PROVE(lawn_tips_words(bits) * 64 >= slots, "a bit for each slot");
    PROOF_END();
}
