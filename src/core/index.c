/* index.c - finds the earliest deadline: see index.h. */
#include "internal.h"

unsigned
lawn__index_clamp_bits(unsigned wanted)
{
    if (wanted == 0) {
        return LAWN_INDEX_BITS_DEFAULT;
    }
    if (wanted > LAWN_INDEX_BITS_MAX) {
        return LAWN_INDEX_BITS_MAX;
    }
    return wanted < LAWN_INDEX_BITS_MIN ? LAWN_INDEX_BITS_MIN : wanted;
}

size_t
lawn__index_count_lists(unsigned slot_bits)
{
    return slot_bits < 6 ? 1 : LAWN_INDEX_LISTS_MAX;
}

/* The slots of the highest level reach any time from any base. */
static size_t
count_levels(unsigned slot_bits)
{
    unsigned bits = slot_bits - 1;

    return (64 - slot_bits + bits - 1) / bits + 1;
}

size_t
lawn__index_count_slots(unsigned slot_bits)
{
    return count_levels(slot_bits) << slot_bits;
}

static size_t
count_level_words(unsigned slot_bits)
{
    return slot_bits < 6 ? 1 : (size_t)1 << (slot_bits - 6);
}

size_t
lawn__index_count_words(unsigned slot_bits)
{
    return count_levels(slot_bits) * count_level_words(slot_bits);
}

/* The caller has set the array pointers. */
void
lawn__index_init(struct lawn_index *index, unsigned slot_bits, uint64_t base,
                 uintptr_t key)
{
    uint32_t levels = (uint32_t)count_levels(slot_bits);

    index->horizon = LAWN_NEVER;
    index->prepare = LAWN_NEVER;
    index->prepared = base;
    index->moved = 0;
    index->levels = 0;
    index->count = 0;
    index->bits = slot_bits - 1;
    index->slot_bits = slot_bits;
    index->mask = (1u << slot_bits) - 1;
    index->words = (uint32_t)count_level_words(slot_bits);
    index->lists = (uint32_t)lawn__index_count_lists(slot_bits);
    index->list_bits = (uint32_t)__builtin_ctz(index->lists);
    index->list_shift = 32 - index->list_bits;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t level = i / index->bits;

        index->level[i] = (uint8_t)(level < levels ? level : levels - 1);
    }
    for (uint32_t i = 0; i <= LAWN_INDEX_LEVELS_MAX; i++) {
        index->reach[i] = 0;
    }
    index->base = ~base;
    lawn__index_set_base(index, base);
    for (size_t i = 0; i < lawn__index_count_words(slot_bits); i++) {
        index->occupied[i] = 0;
    }
    for (size_t i = 0; i < lawn__index_count_slots(slot_bits); i++) {
        index->first[i] = LAWN_INDEX_NONE;
        index->earliest[i] = LAWN_NEVER;
        for (size_t list = 0; list < index->lists; list++) {
            lawn__list_init(key, &index->unqueued[i * index->lists + list]);
        }
    }
}

/* Updates index->reach before the base moves to another slot of level 1. */
void
lawn__index_enter_slots(struct lawn_index *index, uint64_t base)
{
    uint64_t changed = (index->base ^ base) >> index->bits;

    for (uint32_t level = 1; changed != 0; level++) {
        uint32_t shift = level * index->bits;
        uint64_t slot = shift < 64 ? (base >> shift) + 2 : 2;

        /* The last slots reach beyond the last time. */
        index->reach[level] = shift >= 64 || slot > UINT64_MAX >> shift
                                  ? LAWN_NEVER
                                  : slot << shift;
        changed >>= index->bits;
    }
}

/* Like lawn__index_note(), for a slot of a higher level than 0 that has no
 * times or only later times. */
void
lawn__index_lower(struct lawn_index *index, uint32_t slot, uint64_t time)
{
    uint32_t level = lawn__index_level_of(index, slot);
    uint32_t digit = slot & index->mask;
    /*@ assert wp_and_below(slot, index->mask); */
    /*@ assert digit <= index->mask; */
    /*@ assert lawn_index_level(index, level); */
    uint64_t ticks = UINT64_C(1) << (level * index->bits);
    uint64_t start = time & ~(ticks - 1);

    index->earliest[slot] = time;
    index->occupied[level * index->words + digit / 64] |= UINT64_C(1)
                                                          << (digit % 64);
    index->levels |= 1u << level;
    if (time < index->horizon) {
        index->horizon = time;
    }
    if (start - ticks < index->prepare) {
        index->prepare = start - ticks;
    }
}

/* The slot is of a higher level than 0 and must be empty. */
/*@ requires lawn_index_sized(index) && slot < lawn_index_all(index);
  @ assigns index->earliest[slot], index->levels,
  @     index->occupied[0 .. lawn_index_words(index) - 1];
  @ ensures unmarked: index->earliest[slot] == LAWN_NEVER;
  @*/
void
lawn__index_clear_slot(struct lawn_index *index, uint32_t slot)
{
    uint32_t level = lawn__index_level_of(index, slot);
    uint32_t digit = slot & index->mask;
    uint64_t *words = &index->occupied[(size_t)level * index->words];
    uint64_t any = 0;

    /*@ assert wp_and_below(slot, index->mask); */
    /*@ assert digit <= index->mask; */
    /*@ assert lawn_index_level(index, level); */
    LAWN_ASSERT(index->first[slot] == LAWN_INDEX_NONE,
                "[I5] a slot that contains entries is cleared");
    index->earliest[slot] = LAWN_NEVER;
    words[digit / 64] &= ~(UINT64_C(1) << (digit % 64));
    /*@ loop invariant 0 <= i <= index->words;
      @ loop assigns i, any;
      @*/
    for (uint32_t i = 0; i < index->words; i++) {
        any |= words[i];
    }
    if (any == 0) {
        index->levels &= ~(1u << level);
    }
}

/*@ // The index is valid, and the blade is in separate memory.
  @ predicate lawn_index_joined(struct lawn_index *index,
  @                            struct lawn_blade *all, integer number) =
  @     lawn_index_sized(index) && 0 <= number < lawn_index_blades(index) &&
  @     \valid(all + number) &&
  @     \separated(all + number, index,
  @                index->first + (0 .. lawn_index_all(index) - 1),
  @                index->earliest + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. lawn_index_words(index) - 1),
  @                index->entry + (0 .. lawn_index_blades(index) - 1));
  @ // A valid blade number, or NONE.
  @ predicate lawn_index_blade(struct lawn_index *index, integer number) =
  @     number == LAWN_INDEX_NONE || 0 <= number < lawn_index_blades(index);
  @ // The blade is not the first of any slot.
  @ predicate lawn_index_free(struct lawn_index *index, integer number) =
  @     \forall integer s; 0 <= s < lawn_index_all(index) ==>
  @         lawn_index_blade(index, index->first[s]) && index->first[s] != number;
  @
  @ // From A to B, a blade became the first of a slot. All other links are
  @ // unchanged, except for prev of the second blade.
  @ predicate lawn_index_put{A, B}(struct lawn_index *index, integer number,
  @                               integer slot) =
  @     \let second = \at(index->first[slot], A);
  @     \at(index->first[slot], B) == number &&
  @     \at(index->entry[number].prev, B) == LAWN_INDEX_NONE &&
  @     \at(index->entry[number].next, B) == second &&
  @     \at(index->entry[number].slot, B) == slot &&
  @     (second != LAWN_INDEX_NONE ==>
  @         \at(index->entry[second].prev, B) == number) &&
  @     (\forall integer s; 0 <= s < lawn_index_all(index) && s != slot ==>
  @         \at(index->first[s], B) == \at(index->first[s], A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != number ==>
  @         \at(index->entry[i].next, B) == \at(index->entry[i].next, A) &&
  @         \at(index->entry[i].slot, B) == \at(index->entry[i].slot, A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != number &&
  @         i != second ==>
  @         \at(index->entry[i].prev, B) == \at(index->entry[i].prev, A));
  @
  @ // From A to B, a blade was removed from a slot. All other links are
  @ // unchanged.
  @ predicate lawn_index_taken{A, B}(struct lawn_index *index, integer number,
  @                                 integer slot) =
  @     \let next = \at(index->entry[number].next, A);
  @     \let prev = \at(index->entry[number].prev, A);
  @     (prev == LAWN_INDEX_NONE ==> \at(index->first[slot], B) == next) &&
  @     (prev != LAWN_INDEX_NONE ==> \at(index->entry[prev].next, B) == next &&
  @         \at(index->first[slot], B) == \at(index->first[slot], A)) &&
  @     (next != LAWN_INDEX_NONE ==> \at(index->entry[next].prev, B) == prev) &&
  @     (\forall integer s; 0 <= s < lawn_index_all(index) && s != slot ==>
  @         \at(index->first[s], B) == \at(index->first[s], A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) ==>
  @         \at(index->entry[i].slot, B) == \at(index->entry[i].slot, A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != prev ==>
  @         \at(index->entry[i].next, B) == \at(index->entry[i].next, A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != next ==>
  @         \at(index->entry[i].prev, B) == \at(index->entry[i].prev, A));
  @*/

/* The blade must not have an entry. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires lawn_index_leveled(index) && time >= index->base;
  @ requires lawn_index_free(index, number);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->earliest[0 .. lawn_index_all(index) - 1], index->levels,
  @     index->occupied[0 .. lawn_index_words(index) - 1], index->horizon,
  @     index->prepare;
  @ ensures indexed_at: all[number].indexed_at == time;
  @ ensures put: lawn_index_put{Pre, Post}(index, number,
  @     \old(lawn_index_place(index, time)));
  @ ensures earliest: index->earliest[\old(lawn_index_place(index, time))] <= time;
  @*/
static inline void
link_blade(struct lawn_index *index, struct lawn_blade *all, uint32_t number,
           uint64_t time)
{
    uint32_t slot = lawn__index_slot_of(index, time);
    uint16_t second = index->first[slot];

    /*@ assert second: lawn_index_blade(index, second) && second != number; */
    LAWN_ASSERT(time >= index->base, "[I4] an entry's time is before the base");
    all[number].indexed_at = time;
    index->entry[number].next = second;
    index->entry[number].prev = LAWN_INDEX_NONE;
    index->entry[number].slot = (uint16_t)slot;
    index->first[slot] = (uint16_t)number;
    if (second != LAWN_INDEX_NONE) {
        index->entry[second].prev = (uint16_t)number;
    }
    lawn__index_note(index, slot, time);
}

/* Does not unmark the slot. */
/*@ requires lawn_index_joined(index, (struct lawn_blade *)all, number);
  @ requires index->entry[number].slot < lawn_index_all(index);
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ assigns index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[index->entry[number].slot];
  @ ensures taken: lawn_index_taken{Pre, Post}(index, number,
  @     \old(index->entry[number].slot));
  @*/
static inline void
unlink_blade(struct lawn_index *index, const struct lawn_blade *all,
             uint32_t number)
{
    struct lawn_index_entry entry = index->entry[number];

    (void)all;
    LAWN_ASSERT(all[number].indexed_at != LAWN_NEVER,
                "[I3] a blade has no entry");
    if (entry.prev != LAWN_INDEX_NONE) {
        index->entry[entry.prev].next = entry.next;
    } else {
        LAWN_ASSERT(index->first[entry.slot] == number,
                    "[I4] an entry is not in its slot");
        index->first[entry.slot] = entry.next;
    }
    if (entry.next != LAWN_INDEX_NONE) {
        index->entry[entry.next].prev = entry.prev;
    }
}

/* The time must not be after the deadline of the blade's first timer [I3]. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires lawn_index_leveled(index) && time >= index->base;
  @ requires index->count < lawn_index_blades(index);
  @ requires lawn_index_free(index, number);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->earliest[0 .. lawn_index_all(index) - 1], index->levels,
  @     index->occupied[0 .. lawn_index_words(index) - 1], index->horizon,
  @     index->prepare, index->count;
  @ ensures indexed_at: all[number].indexed_at == time;
  @ ensures count: index->count == \old(index->count) + 1;
  @ ensures put: lawn_index_put{Pre, Post}(index, number,
  @     \old(lawn_index_place(index, time)));
  @ ensures earliest: index->earliest[\old(lawn_index_place(index, time))] <= time;
  @*/
void
lawn__index_insert(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number, uint64_t time)
{
    LAWN_ASSERT(all[number].indexed_at == LAWN_NEVER,
                "[I3] a blade has two entries");
    link_blade(index, all, number, time);
    index->count++;
}

/*@ requires lawn_index_joined(index, all, number);
  @ requires index->count > 0;
  @ requires index->entry[number].slot < lawn_index_all(index);
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[index->entry[number].slot], index->count;
  @ ensures indexed_at: all[number].indexed_at == LAWN_NEVER;
  @ ensures count: index->count == \old(index->count) - 1;
  @ ensures taken: lawn_index_taken{Pre, Post}(index, number,
  @     \old(index->entry[number].slot));
  @*/
void
lawn__index_remove(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number)
{
    unlink_blade(index, all, number);
    all[number].indexed_at = LAWN_NEVER;
    index->count--;
}

/*@ requires lawn_index_joined(index, all, number);
  @ requires lawn_index_leveled(index);
  @ requires index->count > 0 && index->moved < UINT64_MAX;
  @ requires index->entry[number].slot < lawn_index_all(index);
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ requires \valid_read(all[number].queue.next);
  @ requires all[number].queue.next != &all[number].queue ==>
  @     \valid_read((struct lawn_timer *)all[number].queue.next) &&
  @     ((struct lawn_timer *)all[number].queue.next)->deadline >= index->base &&
  @     \separated((struct lawn_timer *)all[number].queue.next, index,
  @                index->first + (0 .. lawn_index_all(index) - 1),
  @                index->earliest + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. lawn_index_words(index) - 1),
  @                index->entry + (0 .. lawn_index_blades(index) - 1),
  @                &all[number].indexed_at);
  @ requires \forall integer s; 0 <= s < lawn_index_all(index) ==>
  @     lawn_index_blade(index, index->first[s]) &&
  @     (index->first[s] == number ==> s == index->entry[number].slot &&
  @         index->entry[number].prev == LAWN_INDEX_NONE);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->earliest[0 .. lawn_index_all(index) - 1], index->levels,
  @     index->occupied[0 .. lawn_index_words(index) - 1], index->horizon,
  @     index->prepare, index->count, index->moved;
  @ ensures moved: index->moved == \old(index->moved) + 1;
  @ behavior empty:
  @   assumes all[number].queue.next == &all[number].queue;
  @   ensures indexed_at: all[number].indexed_at == LAWN_NEVER;
  @   ensures count: index->count == \old(index->count) - 1;
  @   ensures taken: lawn_index_taken{Pre, Post}(index, number,
  @       \old(index->entry[number].slot));
  @ behavior live:
  @   assumes all[number].queue.next != &all[number].queue;
  @   ensures indexed_at: all[number].indexed_at ==
  @       ((struct lawn_timer *)all[number].queue.next)->deadline;
  @   ensures count: index->count == \old(index->count);
  @   ensures own: index->entry[number].prev == LAWN_INDEX_NONE;
  @   ensures slot: index->entry[number].slot ==
  @       \old(lawn_index_place(index,
  @           ((struct lawn_timer *)all[number].queue.next)->deadline));
  @   ensures earliest: index->earliest[index->entry[number].slot] <=
  @       all[number].indexed_at;
  @ complete behaviors;
  @ disjoint behaviors;
  @*/
void
lawn__index_update(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number)
{
    const struct lawn_link *queue = &all[number].queue;

    unlink_blade(index, all, number);
    index->moved++;
    if (lawn__list_empty(queue)) {
        all[number].indexed_at = LAWN_NEVER;
        index->count--;
    } else {
        /*@ assert free: lawn_index_free(index, number); */
        /*@ assert deadline: ((struct lawn_timer *)queue->next)->deadline ==
          @     \at(((struct lawn_timer *)all[number].queue.next)->deadline, Pre);
          @*/
        /*@ assert place: lawn_index_place(index,
          @     ((struct lawn_timer *)queue->next)->deadline) ==
          @     \at(lawn_index_place(index,
          @         ((struct lawn_timer *)all[number].queue.next)->deadline), Pre);
          @*/
        link_blade(index, all, number, lawn__link_deadline(queue->next));
        /* The second link will be in the cache when the first timer fires. */
        LAWN_PREFETCH(queue->next->next);
    }
}
