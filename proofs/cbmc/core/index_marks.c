/* index_marks.c - the bitmap of the index: src/core/index.h, index.c.
 *
 * For every bitmap of 64 words of 64 bits (8 bits per digit need 32 words), so
 * for every slot below 4096.
 *
 * @flags --unwind 66
 * @without --conversion-check: __builtin_ctzll() of a word that is not 0 is
 *     below 64
 * @covers lawn__index_first_slot lawn__index_mark_slot lawn__index_clear_slot lawn__index_forget_known
 *     lawn__index_clamp_bits lawn__index_count_lists lawn__index_count_slots lawn__index_count_words
 *
 * @proof index_first
 * The first marked slot is marked, and no earlier slot is; or no slot is
 * marked.
 *
 * @proof index_mark
 * Marking and clearing a slot changes its bit and no other. The field "words"
 * has a bit for each word that is not 0, before and after.
 *
 * @proof index_known
 * The known slot is forgotten only if an earlier time was inserted into it.
 *
 * @proof index_sizes
 * @sources src/core/index.c
 * For every requested number of bits: 4 to 8, with the slots and words for it.
 */
#include "index.h"
#include "proof.h"

#define PROOF_WORDS 64u

static struct lawn_index index;
static uint64_t occupied[PROOF_WORDS];

/* An arbitrary bitmap [I5]. Only those bits of "words" that matter are
 * constrained. */
static bool
proof_word(uint32_t word)
{
    return ((index.words >> word & 1) != 0) == (occupied[word] != 0);
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

    index.occupied = occupied;
    index.words = nondet_u64();
    for (i = 0; i < PROOF_WORDS; i++) {
        occupied[i] = nondet_u64();
        ASSUME(proof_word(i));
    }
}

void
index_first(void)
{
    uint32_t other = nondet_u32();
    uint32_t slot;

    proof_any_marks();
    ASSUME(other < PROOF_WORDS * 64 && proof_bit(other));
    slot = lawn__index_first_slot(&index);
    PROVE(slot < PROOF_WORDS * 64, "[P2] there is one");
    PROVE(proof_bit(slot), "[I5] it is marked");
    PROVE(slot <= other, "[P2] none before it is");
    index.words = 0;
    PROVE(lawn__index_first_slot(&index) == LAWN_INDEX_NONE, "none");
    PROOF_END();
}

void
index_mark(void)
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
        lawn__index_mark_slot(&index, slot);
        PROVE(proof_bit(slot), "[I5] is marked");
    } else {
        lawn__index_clear_slot(&index, slot);
        PROVE(!proof_bit(slot), "[I5] is not marked");
    }
    PROVE(proof_bit(other) == was, "[I5] others stay");
    PROVE(proof_word(word), "[I5] words agree");
    PROOF_END();
}

void
index_known(void)
{
    uint32_t slot = nondet_u32();
    uint64_t time = nondet_u64();
    uint32_t known = nondet_u32();
    uint64_t known_time = nondet_u64();

    index.known = known;
    index.known_time = known_time;
    lawn__index_forget_known(&index, slot, time);
    PROVE(index.known == known || index.known == LAWN_INDEX_NONE, "or none");
    PROVE(index.known != slot || time >= index.known_time ||
              slot == LAWN_INDEX_NONE,
          "[I10] nothing before the known time");
    PROVE((slot == known && time < known_time) ||
              index.known_time == known_time,
          "[P8] else it stays");
    PROOF_END();
}

void
index_sizes(void)
{
    unsigned wanted = nondet_u32();
    unsigned bits = lawn__index_clamp_bits(wanted);
    size_t slots;

    PROVE(bits >= LAWN_INDEX_BITS_MIN && bits <= LAWN_INDEX_BITS_MAX, "4 to 8");
    PROVE(wanted < LAWN_INDEX_BITS_MIN || wanted > LAWN_INDEX_BITS_MAX ||
              bits == wanted,
          "the requested number, if it is supported");
    slots = lawn__index_count_slots(bits);
    PROVE(slots < LAWN_INDEX_NONE, "every slot has a number");
    PROVE(slots * lawn__index_count_lists(bits) <= 8192, "lists");
    PROVE(lawn__index_count_lists(bits) <= LAWN_INDEX_LISTS_MAX,
          "lists of a slot");
    PROVE(lawn__index_count_words(bits) <= PROOF_WORDS, "a bit for each word");
    PROVE(lawn__index_count_words(bits) * 64 >= slots, "a bit for each slot");
    PROOF_END();
}
