/* tips.h - the index: what is due next?
 *
 * A time is read as digits of `bits` bits. Level L of the index has a slot for
 * each value of digit L. A time stands on the level of the highest digit in
 * which it differs from the base, in the slot of that digit. With 8 bits:
 *
 *     base  0x00 12 34 50
 *     time  0x00 12 34 57  level 0, slot 0x57: due at exactly that tick
 *     time  0x00 12 80 00  level 1, slot 0x80: within 0x100 ticks of there
 *     time  0x03 00 00 00  level 3, slot 0x03
 *
 * Everything on a level comes before everything on the levels above, and the
 * slots of a level are in order; so the earliest slot is the first bit set in
 * one long bitmap. When the base reaches a slot of a higher level, what stands
 * in it moves down. A time moves at most once per level, however far the clock
 * jumps, and nothing ever visits the ticks in between.
 *
 * As the base moves on, the highest digit in which it differs from a time stays
 * the same until it reaches that time's slot. So a time and the base are enough
 * to tell where the time stands [I4], and nothing needs to remember it.
 *
 * A slot lists the tips of blades, linked by the blades' numbers, and the lone
 * timers. Those stand in a few lists per slot, picked by a hash of the
 * deadline, so that moving them down follows several chains at once: memory is
 * slow to tell where the next timer is, but tells it for several at a time.
 * Timers of one deadline share a list, in the order in which they came [P4].
 */
#ifndef LAWN_CORE_TIPS_H
#define LAWN_CORE_TIPS_H

#include "list.h"

struct lawn_blade;

#define LAWN_TIPS_BITS_MIN 4u
#define LAWN_TIPS_BITS_MAX 8u
#define LAWN_TIPS_BITS_DEFAULT 7u
/* Lists of lone timers per slot: 1 below 6 bits, for the sake of memory. */
#define LAWN_TIPS_LISTS_MAX 4u
/* No slot; no blade. */
#define LAWN_TIPS_NONE UINT16_MAX

/* Neighbours of a tip in its slot, by the numbers of their blades. */
struct lawn_tip {
    uint16_t next;
    uint16_t prev;
};

struct lawn_tips {
    uint64_t base;
    uint64_t words;         /* bit W: occupied[W] is not 0 */
    uint64_t *occupied;     /* a bit per slot [I5] */
    struct lawn_link *lone; /* per slot: its lists of lone timers */
    uint16_t *first;        /* per slot: its first tip, or NONE */
    struct lawn_tip *tip;   /* per blade */
    uint32_t known;         /* a slot that was looked through, or NONE; */
    uint64_t known_time;    /* its earliest time then, else 0 [I10]; */
    const struct lawn_link *known_queue; /* which began with it */
    uint64_t moved;                      /* as in struct lawn_stats */
    uint32_t count;                      /* blades that have a tip */
    uint32_t bits;                       /* log2 of the slots per level */
    uint32_t mask;                       /* slots per level, less one */
    uint32_t lists;                      /* per slot: 1 << list_bits */
    uint32_t list_bits;
    uint8_t shift[64];  /* by highest differing bit: its digit's place */
    uint16_t level[64]; /* by the same: first slot of its level */
};

/*@ // How many blades and slots an index is for: any.
  @ axiomatic lawn_tips {
  @ logic integer lawn_tips_blades(struct lawn_tips *tips) reads \nothing;
  @ logic integer lawn_tips_all(struct lawn_tips *tips) reads \nothing;
  @ }
  @
  @ predicate lawn_tips_sized(struct lawn_tips *tips) =
  @     0 < lawn_tips_all(tips) <= 4096 &&
  @     0 < lawn_tips_blades(tips) < LAWN_TIPS_NONE &&
  @     \valid(tips) &&
  @     \valid(tips->first + (0 .. lawn_tips_all(tips) - 1)) &&
  @     \valid(tips->occupied + (0 .. (lawn_tips_all(tips) - 1) / 64)) &&
  @     \valid(tips->tip + (0 .. lawn_tips_blades(tips) - 1)) &&
  @     \separated(tips, tips->first + (0 .. lawn_tips_all(tips) - 1),
  @                tips->occupied + (0 .. (lawn_tips_all(tips) - 1) / 64),
  @                tips->tip + (0 .. lawn_tips_blades(tips) - 1)) &&
  @     0 <= tips->mask < lawn_tips_all(tips) &&
  @     (\forall integer i; 0 <= i < 64 ==> tips->shift[i] < 64 &&
  @         tips->level[i] + tips->mask < lawn_tips_all(tips));
  @
  @ // Where a time stands.
  @ logic integer lawn_tips_high(struct lawn_tips *tips, uint64_t time) =
  @     63 ^ wp_clz((time ^ tips->base) | 1);
  @ logic integer lawn_tips_place(struct lawn_tips *tips, uint64_t time) =
  @     tips->level[lawn_tips_high(tips, time)] +
  @     ((uint32_t)(time >> tips->shift[lawn_tips_high(tips, time)]) &
  @      tips->mask);
  @*/

/* The slot where time belongs [I4]. */
/*@ requires lawn_tips_sized((struct lawn_tips *)tips);
  @ assigns \nothing;
  @ ensures \result < lawn_tips_all((struct lawn_tips *)tips);
  @ ensures \result == lawn_tips_place((struct lawn_tips *)tips, time);
  @*/
static inline uint32_t
lawn_tips_slot(const struct lawn_tips *tips, uint64_t time)
{
    LAWN_NAIVELY(return 0);
    uint32_t high = 63u ^ (uint32_t)__builtin_clzll((time ^ tips->base) | 1);

    /*@ assert high <= 63; */
    /*@ assert tips->level[high] + tips->mask <
      @     lawn_tips_all((struct lawn_tips *)tips);
      @*/
    /*@ assert ((uint32_t)(time >> tips->shift[high]) & tips->mask) <=
      @     tips->mask;
      @*/
    return tips->level[high] +
           ((uint32_t)(time >> tips->shift[high]) & tips->mask);
}

/* The first tick of a slot. */
static inline uint64_t
lawn_tips_slot_time(const struct lawn_tips *tips, uint32_t slot)
{
    uint32_t shift = (slot >> tips->bits) * tips->bits;
    uint64_t digit = slot & tips->mask;

    /* Shifted in two steps: together they may be all 64 bits. */
    return (tips->base & (UINT64_MAX << shift << tips->bits)) | digit << shift;
}

/* The last tick of a slot. */
static inline uint64_t
lawn_tips_slot_end(const struct lawn_tips *tips, uint32_t slot)
{
    uint32_t shift = (slot >> tips->bits) * tips->bits;

    return lawn_tips_slot_time(tips, slot) | ((UINT64_C(1) << shift) - 1);
}

/* The list of lone timers of a slot where a time belongs. */
static inline struct lawn_link *
lawn_tips_list(const struct lawn_tips *tips, uint32_t slot, uint64_t time)
{
    LAWN_NAIVELY(return tips->lone);
    uint64_t hash = (uint32_t)time * 0x9E3779B1u;

    return &tips->lone[((uint64_t)slot << tips->list_bits) +
                       (hash << tips->list_bits >> 32)];
}

/* The earliest slot marked as in use, or NONE: levels and digits ascend with
 * the slots' numbers, so it is the first. */
static inline uint32_t
lawn_tips_first(const struct lawn_tips *tips)
{
    uint32_t word;

    if (tips->words == 0) {
        return LAWN_TIPS_NONE;
    }
    word = (uint32_t)__builtin_ctzll(tips->words);
    return word * 64 + (uint32_t)__builtin_ctzll(tips->occupied[word]);
}

/* Marks a slot as in use. */
/*@ requires lawn_tips_sized(tips) && slot < lawn_tips_all(tips);
  @ assigns tips->occupied[slot / 64], tips->words;
  @ ensures tips->occupied[slot / 64] ==
  @     (\old(tips->occupied[slot / 64]) | (UINT64_C(1) << (slot % 64)));
  @ ensures tips->words == (\old(tips->words) | (UINT64_C(1) << (slot / 64)));
  @*/
static inline void
lawn_tips_mark(struct lawn_tips *tips, uint32_t slot)
{
    tips->occupied[slot / 64] |= UINT64_C(1) << (slot % 64);
    tips->words |= UINT64_C(1) << (slot / 64);
}

/* Something has come into a slot, perhaps before what was known of it [I10]. */
/*@ requires \valid(tips);
  @ assigns tips->known, tips->known_time;
  @ behavior earlier:
  @   assumes slot == tips->known && time < tips->known_time;
  @   ensures tips->known == LAWN_TIPS_NONE && tips->known_time == 0;
  @ behavior later:
  @   assumes slot != tips->known || time >= tips->known_time;
  @   ensures tips->known == \old(tips->known);
  @   ensures tips->known_time == \old(tips->known_time);
  @ complete behaviors;
  @ disjoint behaviors;
  @*/
static inline void
lawn_tips_forget(struct lawn_tips *tips, uint32_t slot, uint64_t time)
{
    if (slot == tips->known && time < tips->known_time) {
        tips->known = LAWN_TIPS_NONE;
        tips->known_time = 0;
    }
}

/* Nothing stands in the slot any more. */
static inline void
lawn_tips_clear(struct lawn_tips *tips, uint32_t slot)
{
    LAWN_ASSERT(slot < LAWN_TIPS_NONE, "[I5] no slot has come up");
    tips->occupied[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    if (tips->occupied[slot / 64] == 0) {
        tips->words &= ~(UINT64_C(1) << (slot / 64));
    }
}

/* Lists a lone timer under its deadline, and tells in which list. What is known
 * of its slot is the caller's business. */
static inline struct lawn_link *
lawn_tips_add(struct lawn_tips *tips, uintptr_t key, struct lawn_timer *timer)
{
    uint32_t slot = lawn_tips_slot(tips, timer->deadline);
    struct lawn_link *list = lawn_tips_list(tips, slot, timer->deadline);

    LAWN_ASSERT(timer->deadline >= tips->base,
                "[I4] a lone timer lies before the base");
    if (lawn_list_empty(list)) {
        lawn_tips_mark(tips, slot);
    }
    lawn_list_append(key, list, &timer->link);
    return list;
}

unsigned lawn_tips_bits(unsigned wanted);
size_t lawn_tips_lists(unsigned bits);
size_t lawn_tips_slots(unsigned bits);
size_t lawn_tips_words(unsigned bits);
void lawn_tips_init(struct lawn_tips *tips, unsigned bits, uint64_t base,
                    uintptr_t key);
void lawn_tips_enter(struct lawn_tips *tips, struct lawn_blade *all,
                     uint32_t number, uint64_t time);
void lawn_tips_leave(struct lawn_tips *tips, struct lawn_blade *all,
                     uint32_t number, uint32_t slot);
void lawn_tips_settle(struct lawn_tips *tips, struct lawn_blade *all,
                      uint32_t number, uint32_t slot);

#endif
