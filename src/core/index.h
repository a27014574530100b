/* index.h - finds the earliest deadline.
 *
 * A time is split into digits of `bits` bits. Level L of the index has one slot
 * for each value of digit L. A time belongs to the level of the highest digit
 * in which it differs from the base, and there to the slot of that digit. With
 * 8 bits:
 *
 *     base  0x00 12 34 50
 *     time  0x00 12 34 57  level 0, slot 0x57: due at exactly that tick
 *     time  0x00 12 80 00  level 1, slot 0x80: within 0x100 ticks of there
 *     time  0x03 00 00 00  level 3, slot 0x03
 *
 * All times on a level precede those on higher levels, and the slots of a level
 * are in ascending order. So the earliest slot is the first bit set in one long
 * bitmap. When the base reaches a slot of a higher level, the slot is opened:
 * its entries move to lower levels. A time moves at most once per level,
 * however far the clock jumps; the ticks in between are never visited.
 *
 * While the base advances, the highest digit in which it differs from a time
 * does not change until the base reaches the slot of that time. So the slot can
 * be computed from the time and the base [I4]; it is not stored.
 *
 * A slot has a list of blade entries, linked by blade numbers, and a few lists
 * of unqueued timers, chosen by a hash of the deadline. With several lists,
 * opening a slot follows several chains of pointers at once, which hides the
 * latency of memory. Timers with the same deadline are in the same list, in the
 * order of their starts [P4].
 */
#ifndef LAWN_CORE_INDEX_H
#define LAWN_CORE_INDEX_H

#include "list.h"

struct lawn_blade;

#define LAWN_INDEX_BITS_MIN 4u
#define LAWN_INDEX_BITS_MAX 8u
#define LAWN_INDEX_BITS_DEFAULT 7u
/* Lists of unqueued timers per slot. Below 6 bits there is 1, to save
 * memory. */
#define LAWN_INDEX_LISTS_MAX 4u
/* Means "no slot" or "no blade". */
#define LAWN_INDEX_NONE UINT16_MAX

/* The previous and next entry of the same slot, by blade number. */
struct lawn_index_entry {
    uint16_t next;
    uint16_t prev;
};

struct lawn_index {
    uint64_t base;
    uint64_t words;                 /* bit W is set if occupied[W] != 0 */
    uint64_t *occupied;             /* one bit per slot [I5] */
    struct lawn_link *unqueued;     /* the lists of unqueued timers of each
                                     * slot */
    uint16_t *first;                /* per slot: first entry, or NONE */
    struct lawn_index_entry *entry; /* per blade */
    uint32_t known;                 /* a slot that was scanned, or NONE */
    uint32_t passed;     /* the open blade that a mow, searching for closed
                          * blades, passed over last, or NONE [I11] */
    uint64_t known_time; /* earliest time in that slot, or 0 [I10] */
    const struct lawn_link *known_queue; /* begins with that timer */
    uint64_t moved;                      /* as in struct lawn_counters */
    uint32_t count;                      /* blades with an entry */
    uint32_t bits;                       /* log2 of the slots per level */
    uint32_t mask;                       /* slots per level - 1 */
    uint32_t lists;                      /* per slot: 1 << list_bits */
    uint32_t list_bits;
    uint8_t shift[64];  /* by highest differing bit: shift of its digit */
    uint16_t level[64]; /* by the same bit: first slot of its level */
    uint64_t passed_at; /* the tick at which passed was set [I11] */
};

/*@ // The numbers of blades and slots of an index. They are unspecified, so the
  @ // proofs hold for all values.
  @ axiomatic lawn_index {
  @ logic integer lawn_index_blades(struct lawn_index *index) reads \nothing;
  @ logic integer lawn_index_all(struct lawn_index *index) reads \nothing;
  @ }
  @
  @ predicate lawn_index_sized(struct lawn_index *index) =
  @     0 < lawn_index_all(index) <= 4096 &&
  @     0 < lawn_index_blades(index) < LAWN_INDEX_NONE &&
  @     \valid(index) &&
  @     \valid(index->first + (0 .. lawn_index_all(index) - 1)) &&
  @     \valid(index->occupied + (0 .. (lawn_index_all(index) - 1) / 64)) &&
  @     \valid(index->entry + (0 .. lawn_index_blades(index) - 1)) &&
  @     \separated(index, index->first + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. (lawn_index_all(index) - 1) / 64),
  @                index->entry + (0 .. lawn_index_blades(index) - 1)) &&
  @     0 <= index->mask < lawn_index_all(index) &&
  @     (\forall integer i; 0 <= i < 64 ==> index->shift[i] < 64 &&
  @         index->level[i] + index->mask < lawn_index_all(index));
  @
  @ // The slot of a time.
  @ logic integer lawn_index_high(struct lawn_index *index, uint64_t time) =
  @     63 ^ wp_clz((time ^ index->base) | 1);
  @ logic integer lawn_index_place(struct lawn_index *index, uint64_t time) =
  @     index->level[lawn_index_high(index, time)] +
  @     ((uint32_t)(time >> index->shift[lawn_index_high(index, time)]) &
  @      index->mask);
  @*/

/* Returns the slot of a time [I4]. */
/*@ requires lawn_index_sized((struct lawn_index *)index);
  @ assigns \nothing;
  @ ensures \result < lawn_index_all((struct lawn_index *)index);
  @ ensures \result == lawn_index_place((struct lawn_index *)index, time);
  @*/
static inline uint32_t
lawn__index_slot_of(const struct lawn_index *index, uint64_t time)
{
    LAWN_NAIVELY(return 0);
    uint32_t high = 63u ^ (uint32_t)__builtin_clzll((time ^ index->base) | 1);

    /*@ assert high <= 63; */
    /*@ assert index->level[high] + index->mask <
      @     lawn_index_all((struct lawn_index *)index);
      @*/
    /*@ assert ((uint32_t)(time >> index->shift[high]) & index->mask) <=
      @     index->mask;
      @*/
    return index->level[high] +
           ((uint32_t)(time >> index->shift[high]) & index->mask);
}

/* The first tick of a slot. */
static inline uint64_t
lawn__index_slot_start(const struct lawn_index *index, uint32_t slot)
{
    uint32_t shift = (slot >> index->bits) * index->bits;
    uint64_t digit = slot & index->mask;

    /* Shifted in two steps because shift + bits may be 64 or more. */
    return (index->base & (UINT64_MAX << shift << index->bits)) | digit
                                                                      << shift;
}

/* The last tick of a slot. */
static inline uint64_t
lawn__index_slot_end(const struct lawn_index *index, uint32_t slot)
{
    uint32_t shift = (slot >> index->bits) * index->bits;

    return lawn__index_slot_start(index, slot) | ((UINT64_C(1) << shift) - 1);
}

/* Returns the list of the slot that unqueued timers with this deadline use. */
static inline struct lawn_link *
lawn__index_list_of(const struct lawn_index *index, uint32_t slot,
                    uint64_t time)
{
    LAWN_NAIVELY(return index->unqueued);
    uint64_t hash = (uint32_t)time * 0x9E3779B1u;

    return &index->unqueued[((uint64_t)slot << index->list_bits) +
                            (hash << index->list_bits >> 32)];
}

/* Returns the earliest slot that is marked, or NONE. Slot numbers ascend with
 * time, so it is the first bit set. */
static inline uint32_t
lawn__index_first_slot(const struct lawn_index *index)
{
    if (index->words == 0) {
        return LAWN_INDEX_NONE;
    }
    uint32_t word = (uint32_t)__builtin_ctzll(index->words);
    return word * 64 + (uint32_t)__builtin_ctzll(index->occupied[word]);
}

/*@ requires lawn_index_sized(index) && slot < lawn_index_all(index);
  @ assigns index->occupied[slot / 64], index->words;
  @ ensures index->occupied[slot / 64] ==
  @     (\old(index->occupied[slot / 64]) | (UINT64_C(1) << (slot % 64)));
  @ ensures index->words == (\old(index->words) | (UINT64_C(1) << (slot / 64)));
  @*/
static inline void
lawn__index_mark_slot(struct lawn_index *index, uint32_t slot)
{
    index->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
    index->words |= UINT64_C(1) << (slot / 64);
}

/* Called when a time is added to a slot: discards the known time if the added
 * time is earlier [I10]. */
/*@ requires \valid(index);
  @ assigns index->known, index->known_time;
  @ behavior earlier:
  @   assumes slot == index->known && time < index->known_time;
  @   ensures index->known == LAWN_INDEX_NONE && index->known_time == 0;
  @ behavior later:
  @   assumes slot != index->known || time >= index->known_time;
  @   ensures index->known == \old(index->known);
  @   ensures index->known_time == \old(index->known_time);
  @ complete behaviors;
  @ disjoint behaviors;
  @*/
static inline void
lawn__index_forget_known(struct lawn_index *index, uint32_t slot, uint64_t time)
{
    if (slot == index->known && time < index->known_time) {
        index->known = LAWN_INDEX_NONE;
        index->known_time = 0;
    }
}

/* The slot must be empty. */
static inline void
lawn__index_clear_slot(struct lawn_index *index, uint32_t slot)
{
    LAWN_ASSERT(slot < LAWN_INDEX_NONE, "[I5] a slot number is out of range");
    index->occupied[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    if (index->occupied[slot / 64] == 0) {
        index->words &= ~(UINT64_C(1) << (slot / 64));
    }
}

/* Adds an unqueued timer under its deadline and returns its list. The caller
 * updates index->known. */
static inline struct lawn_link *
lawn__index_add_timer(struct lawn_index *index, uintptr_t key,
                      struct lawn_timer *timer)
{
    uint32_t slot = lawn__index_slot_of(index, timer->deadline);
    struct lawn_link *list = lawn__index_list_of(index, slot, timer->deadline);

    LAWN_ASSERT(timer->deadline >= index->base,
                "[I4] an unqueued timer's deadline is before the base");
    if (lawn__list_empty(list)) {
        lawn__index_mark_slot(index, slot);
    }
    lawn__list_append(key, list, &timer->link);
    return list;
}

unsigned lawn__index_clamp_bits(unsigned wanted);
size_t lawn__index_count_lists(unsigned bits);
size_t lawn__index_count_slots(unsigned bits);
size_t lawn__index_count_words(unsigned bits);
void lawn__index_init(struct lawn_index *index, unsigned bits, uint64_t base,
                      uintptr_t key);
void lawn__index_insert(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number, uint64_t time);
void lawn__index_remove(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number, uint32_t slot);
void lawn__index_update(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number, uint32_t slot);

#endif
