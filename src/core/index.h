/* index.h - finds the earliest deadline.
 *
 * The index is a hierarchical timing wheel. Each level has 2^(bits + 1) slots.
 * A slot of level 0 is one tick long. A slot of a higher level is as long as
 * half of the level below. With 3 bits:
 *
 *                   base
 *                    |
 *     level 0  [ current half ][  next half   ]    16 slots of 1 tick
 *     level 1  [ current slot ][  next slot   ]... 16 slots of 8 ticks
 *              |<-- 8 ticks ->||<-- 8 ticks ->|
 *
 * The base follows the clock; no time in the index is before it. The slots of a
 * level form a ring. The current half of a level contains the base. A level
 * reaches all times from the base to the end of the next half. A time is
 * inserted at the lowest level that reaches it.
 *
 * Let X be a slot of a higher level. Once the base is in the slot before X, the
 * level below reaches all of X, so no times are inserted into X. But unqueued
 * timers may move to X from a slot of a still higher level that is being opened
 * [I4]. A mow opens X: it moves the times down, if possible a few at a time and
 * before the base reaches X. They must have moved down before the base passes
 * the earliest time in X. However far the clock jumps, a time moves at most
 * once per level, and the ticks in between are never visited.
 *
 * Of two timers with the same deadline, the one started earlier is at the same
 * or at a higher level. To keep their order [P4], a timer that moves down is
 * taken from the end of its list and added to the beginning of a lower list.
 *
 * A slot has a list of blade entries, linked by blade numbers, and a few lists
 * of unqueued timers, chosen by a hash of the deadline. With several lists,
 * opening a slot follows several chains at once, as with stripes (blades.h).
 */
#ifndef LAWN_CORE_INDEX_H
#define LAWN_CORE_INDEX_H

#include "list.h"

struct lawn_blade;

/* Values of slot_bits, log2 of the number of slots per level. */
#define LAWN_INDEX_BITS_MIN 4u
#define LAWN_INDEX_BITS_MAX 8u
#define LAWN_INDEX_BITS_DEFAULT 8u
#define LAWN_INDEX_LEVELS_MAX 21u
/* Lists of unqueued timers per slot. A level of fewer than 2^6 slots has one
 * list per slot, to save memory. */
#define LAWN_INDEX_LISTS_MAX 4u
/* Means "no slot" or "no blade". */
#define LAWN_INDEX_NONE UINT16_MAX

/* The blade numbers of the adjacent entries in the same slot, and the slot. */
struct lawn_index_entry {
    uint16_t next;
    uint16_t prev;
    uint16_t slot;
};

struct lawn_index {
    uint64_t base;
    uint64_t horizon;   /* no time in a slot of a higher level than 0 is earlier
                         * [I10] */
    uint64_t *earliest; /* per slot: no time in it is earlier; LAWN_NEVER if it
                         * is not marked [I5] */
    struct lawn_link *unqueued;     /* the lists of unqueued timers of each slot
                                     */
    uint64_t *occupied;             /* one bit per slot: whether it is marked
                                     * [I5] */
    uint16_t *first;                /* per slot: first entry, or NONE */
    struct lawn_index_entry *entry; /* per blade */
    uint64_t prepare;               /* from this time on, a slot can be opened
                                     * ahead of time */
    uint64_t prepared;              /* the base when that was last done */
    uint64_t moved;                 /* as in struct lawn_counters */
    uint32_t levels;    /* bit L is set if a slot of level L is marked; not used
                         * for level 0 */
    uint32_t count;     /* blades with an entry */
    uint32_t bits;      /* log2 of the ticks of a slot of level 1 */
    uint32_t slot_bits; /* log2 of the slots per level: bits + 1 */
    uint32_t mask;      /* slots per level - 1 */
    uint32_t words;     /* 64-bit words of `occupied` per level */
    uint32_t lists;     /* per slot: 1 << list_bits */
    uint32_t list_bits;
    uint32_t list_shift; /* 32 - list_bits */
    uint8_t level[64];   /* [i]: the lowest level that, for any base, reaches
                          * all times that are less than 2^(i + 1) ticks after
                          * the base */
    /* [L]: the first time that level L - 1 does not reach; [0] is 0 */
    uint64_t reach[LAWN_INDEX_LEVELS_MAX + 1];
};

/*@ // The numbers of blades, slots, levels and words of an index. They are
  @ // unspecified, so the proofs hold for all values.
  @ axiomatic lawn_index {
  @ logic integer lawn_index_blades(struct lawn_index *index) reads \nothing;
  @ logic integer lawn_index_all(struct lawn_index *index) reads \nothing;
  @ logic integer lawn_index_levels(struct lawn_index *index) reads \nothing;
  @ logic integer lawn_index_words(struct lawn_index *index) reads \nothing;
  @ }
  @
  @ // A level exists. The shift, words and slots computed from it are in range.
  @ predicate lawn_index_level(struct lawn_index *index, integer l) =
  @     0 <= l < lawn_index_levels(index) && 0 <= l * index->bits < 64 &&
  @     0 <= l * index->words <= 64 &&
  @     l * index->words + index->words <= lawn_index_words(index) &&
  @     0 <= (l << index->slot_bits) &&
  @     (l << index->slot_bits) + index->mask < lawn_index_all(index);
  @
  @ // The arrays are as long as the slots, blades and words, and do not overlap.
  @ predicate lawn_index_sized(struct lawn_index *index) =
  @     0 < lawn_index_all(index) <= 4096 &&
  @     0 < lawn_index_levels(index) <= LAWN_INDEX_LEVELS_MAX &&
  @     0 < lawn_index_words(index) <= 64 &&
  @     0 < lawn_index_blades(index) < LAWN_INDEX_NONE &&
  @     \valid(index) &&
  @     \valid(index->first + (0 .. lawn_index_all(index) - 1)) &&
  @     \valid(index->earliest + (0 .. lawn_index_all(index) - 1)) &&
  @     \valid(index->occupied + (0 .. lawn_index_words(index) - 1)) &&
  @     \valid(index->entry + (0 .. lawn_index_blades(index) - 1)) &&
  @     \separated(index, index->first + (0 .. lawn_index_all(index) - 1),
  @                index->earliest + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. lawn_index_words(index) - 1),
  @                index->entry + (0 .. lawn_index_blades(index) - 1)) &&
  @     0 < index->bits < 16 && 0 < index->slot_bits < 16 &&
  @     0 < index->words <= 4 &&
  @     0 <= index->mask < lawn_index_all(index) &&
  @     index->mask / 64 < index->words <= lawn_index_words(index) &&
  @     (\forall integer l; 0 <= l < lawn_index_levels(index) ==>
  @         lawn_index_level(index, l)) &&
  @     (\forall integer s; 0 <= s < lawn_index_all(index) ==>
  @         lawn_index_level(index, s >> index->slot_bits));
  @
  @ // The tables by which the level of a time is found: see
  @ // lawn__index_set_base(). A distance with the highest bit i is beyond the
  @ // reach of all levels that are at least two below level[i].
  @ predicate lawn_index_leveled(struct lawn_index *index) =
  @     (\forall integer i; 0 <= i < 64 ==>
  @         index->level[i] < lawn_index_levels(index)) &&
  @     index->level[0] == 0 && index->reach[0] == 0 &&
  @     (\forall integer i; 0 <= i < 64 && index->level[i] > 0 ==>
  @         index->reach[index->level[i] - 1] <= index->base + (1 << i));
  @
  @ // The lowest level that reaches a time; the slot of a time on a level; the
  @ // slot of a time.
  @ logic integer lawn_index_high(struct lawn_index *index, uint64_t time) =
  @     index->level[63 ^ wp_clz(((uint64_t)(time - index->base)) | 1)];
  @ logic integer lawn_index_lowest(struct lawn_index *index, uint64_t time) =
  @     time < index->reach[lawn_index_high(index, time)]
  @         ? lawn_index_high(index, time) - 1
  @         : lawn_index_high(index, time);
  @ logic integer lawn_index_at(struct lawn_index *index, integer level,
  @                             uint64_t time) =
  @     (level << index->slot_bits) +
  @     ((uint32_t)(time >> (level * index->bits)) & index->mask);
  @ logic integer lawn_index_place(struct lawn_index *index, uint64_t time) =
  @     lawn_index_at(index, lawn_index_lowest(index, time), time);
  @*/

/*@ requires lawn_index_sized((struct lawn_index *)index);
  @ requires slot < lawn_index_all((struct lawn_index *)index);
  @ assigns \nothing;
  @ ensures \result == (slot >> index->slot_bits);
  @ ensures \result < lawn_index_levels((struct lawn_index *)index);
  @*/
static inline uint32_t
lawn__index_level_of(const struct lawn_index *index, uint32_t slot)
{
    return slot >> index->slot_bits;
}

/* Returns the slot of a level that contains a time, if the level reaches it. */
/*@ requires lawn_index_sized((struct lawn_index *)index);
  @ requires level < lawn_index_levels((struct lawn_index *)index);
  @ assigns \nothing;
  @ ensures \result < lawn_index_all((struct lawn_index *)index);
  @ ensures \result == lawn_index_at((struct lawn_index *)index, level, time);
  @*/
static inline uint32_t
lawn__index_slot_at(const struct lawn_index *index, uint32_t level,
                    uint64_t time)
{
    /*@ assert lawn_index_level((struct lawn_index *)index, level); */
    /*@ assert 0 <= level * index->bits < 64; */
    /*@ assert 0 <= (level << index->slot_bits) <= 4096; */
    /*@ assert wp_and_below((uint32_t)(time >> (level * index->bits)),
      @                     index->mask);
      @*/
    return (level << index->slot_bits) +
           ((uint32_t)(time >> (level * index->bits)) & index->mask);
}

/* Returns the slot of the lowest level that reaches a time. On a higher level
 * than 0, it is neither the slot of the base nor the one after it. */
/*@ requires lawn_index_sized((struct lawn_index *)index);
  @ requires lawn_index_leveled((struct lawn_index *)index);
  @ requires not_before: time >= index->base;
  @ assigns \nothing;
  @ ensures \result < lawn_index_all((struct lawn_index *)index);
  @ ensures \result == lawn_index_place((struct lawn_index *)index, time);
  @ ensures 0 <= lawn_index_lowest((struct lawn_index *)index, time) <
  @     lawn_index_levels((struct lawn_index *)index);
  @ ensures far: lawn_index_lowest((struct lawn_index *)index, time) > 0 ==>
  @     time >= index->reach[lawn_index_lowest((struct lawn_index *)index, time)];
  @*/
static inline uint32_t
lawn__index_slot_of(const struct lawn_index *index, uint64_t time)
{
    LAWN_NAIVELY(return 0);
    uint64_t distance = time - index->base;
    uint32_t level =
        index->level[63u ^ (uint32_t)__builtin_clzll(distance | 1)];

    /*@ assert distance == time - index->base; */
    /*@ assert distance > 0 ==>
      @     (1 << (63 ^ wp_clz(distance | 1))) <= distance;
      @*/
    /*@ assert distance == 0 ==> level == 0; */
    /*@ assert level > 0 ==> time >= index->reach[level - 1]; */
    /*@ assert level == lawn_index_high((struct lawn_index *)index, time); */
    level -= time < index->reach[level];
    /*@ assert level == lawn_index_lowest((struct lawn_index *)index, time); */
    return lawn__index_slot_at(index, level, time);
}

/* Returns the distance of the slot from the slot of the base, in slots of its
 * level. */
static inline uint64_t
lawn__index_slots_ahead(const struct lawn_index *index, uint32_t slot)
{
    uint32_t shift = lawn__index_level_of(index, slot) * index->bits;

    return (slot - (uint32_t)(index->base >> shift)) & index->mask;
}

static inline uint64_t
lawn__index_slot_start(const struct lawn_index *index, uint32_t slot)
{
    uint32_t shift = lawn__index_level_of(index, slot) * index->bits;

    return ((index->base >> shift) + lawn__index_slots_ahead(index, slot))
           << shift;
}

static inline struct lawn_link *
lawn__index_list_of(const struct lawn_index *index, uint32_t slot,
                    uint64_t time)
{
    LAWN_NAIVELY(return index->unqueued);
    uint64_t hash = (uint32_t)time * 0x9E3779B1u;

    return &index->unqueued[((uint64_t)slot << index->list_bits) +
                            (hash >> index->list_shift)];
}

/*@ requires lawn_index_sized((struct lawn_index *)index);
  @ requires slot < lawn_index_all((struct lawn_index *)index);
  @ assigns \nothing;
  @ ensures \result <==> index->earliest[slot] != LAWN_NEVER;
  @*/
static inline bool
lawn__index_marked(const struct lawn_index *index, uint32_t slot)
{
    return index->earliest[slot] != LAWN_NEVER;
}

/* Returns the first marked slot of a level, from the slot of the base on, or
 * NONE. */
static inline uint32_t
lawn__index_first_slot(const struct lawn_index *index, uint32_t level)
{
    uint32_t from =
        (uint32_t)(index->base >> (level * index->bits)) & index->mask;
    const uint64_t *words = &index->occupied[(size_t)level * index->words];
    uint32_t word = from / 64;
    uint64_t bits = words[word] >> (from % 64) << (from % 64);

    for (uint32_t i = 0; bits == 0 && i < index->words; i++) {
        word = (word + 1) & (index->words - 1);
        bits = words[word];
    }
    if (bits == 0) {
        return LAWN_INDEX_NONE;
    }
    return (level << index->slot_bits) + word * 64 +
           (uint32_t)__builtin_ctzll(bits);
}

/* Returns the tick of the first marked slot of level 0, or LAWN_NEVER. */
static inline uint64_t
lawn__index_first_tick(const struct lawn_index *index)
{
    uint32_t from = (uint32_t)index->base & index->mask;
    uint64_t bits = index->occupied[from / 64] >> (from % 64);

    if (LAWN_LIKELY(bits != 0)) {
        return index->base + (uint32_t)__builtin_ctzll(bits);
    }
    uint32_t slot = lawn__index_first_slot(index, 0);
    return slot != LAWN_INDEX_NONE
               ? index->base + lawn__index_slots_ahead(index, slot)
               : LAWN_NEVER;
}

/*@ requires lawn_index_sized(index) && slot < lawn_index_all(index);
  @ assigns index->earliest[slot], index->levels, index->horizon,
  @     index->prepare, index->occupied[0 .. lawn_index_words(index) - 1];
  @ ensures earliest: index->earliest[slot] == time;
  @ ensures not_raised: index->horizon <= \old(index->horizon) &&
  @     index->prepare <= \old(index->prepare);
  @*/
void lawn__index_lower(struct lawn_index *index, uint32_t slot, uint64_t time);
void lawn__index_enter_slots(struct lawn_index *index, uint64_t base);

/* Marks a slot to which a time is added, and updates its earliest time. */
/*@ requires lawn_index_sized(index) && slot < lawn_index_all(index);
  @ assigns index->earliest[slot], index->levels, index->horizon,
  @     index->prepare, index->occupied[0 .. lawn_index_words(index) - 1];
  @ ensures earliest: index->earliest[slot] ==
  @     \min(time, \old(index->earliest[slot]));
  @ ensures not_raised: index->horizon <= \old(index->horizon) &&
  @     index->prepare <= \old(index->prepare);
  @*/
static inline void
lawn__index_note(struct lawn_index *index, uint32_t slot, uint64_t time)
{
    if (time < index->earliest[slot]) {
        if (slot <= index->mask) {
            index->earliest[slot] = time;
            index->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
        } else {
            lawn__index_lower(index, slot, time);
        }
    }
}

/* The caller must not skip marked slots. */
static inline void
lawn__index_set_base(struct lawn_index *index, uint64_t base)
{
    if (LAWN_UNLIKELY((index->base ^ base) >> index->bits != 0)) {
        lawn__index_enter_slots(index, base);
    }
    index->base = base;
}

/* The slot is of level 0 and must be empty. */
/*@ requires lawn_index_sized(index) && slot <= index->mask;
  @ assigns index->earliest[slot], index->occupied[slot / 64];
  @ ensures unmarked: index->earliest[slot] == LAWN_NEVER;
  @*/
static inline void
lawn__index_clear_tick(struct lawn_index *index, uint32_t slot)
{
    LAWN_ASSERT(index->first[slot] == LAWN_INDEX_NONE,
                "[I5] a slot that contains entries is cleared");
    index->earliest[slot] = LAWN_NEVER;
    index->occupied[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

unsigned lawn__index_clamp_bits(unsigned wanted);
size_t lawn__index_count_lists(unsigned slot_bits);
size_t lawn__index_count_slots(unsigned slot_bits);
size_t lawn__index_count_words(unsigned slot_bits);
void lawn__index_init(struct lawn_index *index, unsigned slot_bits,
                      uint64_t base, uintptr_t key);
void lawn__index_clear_slot(struct lawn_index *index, uint32_t slot);
void lawn__index_insert(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number, uint64_t time);
void lawn__index_remove(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number);
void lawn__index_update(struct lawn_index *index, struct lawn_blade *all,
                        uint32_t number);

#endif
