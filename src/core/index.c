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

/* Returns the number of lists of unqueued timers per slot. */
size_t
lawn__index_count_lists(unsigned bits)
{
    return bits < 6 ? 1 : LAWN_INDEX_LISTS_MAX;
}

/* Returns the number of slots of all levels together. */
size_t
lawn__index_count_slots(unsigned bits)
{
    return (size_t)(63 / bits + 1) << bits;
}

/* Returns the number of 64-bit words of the bitmap of slots. */
size_t
lawn__index_count_words(unsigned bits)
{
    return (lawn__index_count_slots(bits) + 63) / 64;
}

/* The caller has set the array pointers. */
void
lawn__index_init(struct lawn_index *index, unsigned bits, uint64_t base,
                 uintptr_t key)
{
    index->base = base;
    index->words = 0;
    index->known = LAWN_INDEX_NONE;
    index->passed = LAWN_INDEX_NONE;
    index->passed_at = 0;
    index->known_queue = NULL;
    index->known_time = 0;
    index->moved = 0;
    index->count = 0;
    index->bits = bits;
    index->mask = (1u << bits) - 1;
    index->lists = (uint32_t)lawn__index_count_lists(bits);
    index->list_bits = (uint32_t)__builtin_ctz(index->lists);
    for (size_t i = 0; i < 64; i++) {
        index->shift[i] = (uint8_t)(i / bits * bits);
        index->level[i] = (uint16_t)(i / bits << bits);
    }
    for (size_t i = 0; i < lawn__index_count_words(bits); i++) {
        index->occupied[i] = 0;
    }
    for (size_t i = 0; i < lawn__index_count_slots(bits); i++) {
        index->first[i] = LAWN_INDEX_NONE;
        for (size_t list = 0; list < index->lists; list++) {
            lawn__list_init(key, &index->unqueued[i * index->lists + list]);
        }
    }
}

/*@ // The index, and a blade in separate memory; a valid blade number or NONE;
  @ // a blade that is not the first of any slot.
  @ predicate lawn_index_joined(struct lawn_index *index,
  @                            struct lawn_blade *all, integer number) =
  @     lawn_index_sized(index) && 0 <= number < lawn_index_blades(index) &&
  @     \valid(all + number) &&
  @     \separated(all + number, index,
  @                index->first + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. (lawn_index_all(index) - 1) / 64),
  @                index->entry + (0 .. lawn_index_blades(index) - 1));
  @ predicate lawn_index_blade(struct lawn_index *index, integer number) =
  @     number == LAWN_INDEX_NONE || 0 <= number < lawn_index_blades(index);
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
  @     (second != LAWN_INDEX_NONE ==>
  @         \at(index->entry[second].prev, B) == number) &&
  @     (\forall integer s; 0 <= s < lawn_index_all(index) && s != slot ==>
  @         \at(index->first[s], B) == \at(index->first[s], A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != number ==>
  @         \at(index->entry[i].next, B) == \at(index->entry[i].next, A)) &&
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
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != prev ==>
  @         \at(index->entry[i].next, B) == \at(index->entry[i].next, A)) &&
  @     (\forall integer i; 0 <= i < lawn_index_blades(index) && i != next ==>
  @         \at(index->entry[i].prev, B) == \at(index->entry[i].prev, A));
  @*/

/* Inserts a blade's entry with this time. The blade must be in no slot. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires lawn_index_free(index, number);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->occupied[0 .. (lawn_index_all(index) - 1) / 64], index->words,
  @     index->known, index->known_time;
  @ ensures indexed_at: all[number].indexed_at == time;
  @ ensures put: lawn_index_put{Pre, Post}(index, number,
  @     \old(lawn_index_place(index, time)));
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
    index->first[slot] = (uint16_t)number;
    if (second != LAWN_INDEX_NONE) {
        index->entry[second].prev = (uint16_t)number;
    } else {
        lawn__index_mark_slot(index, slot);
    }
    lawn__index_forget_known(index, slot, time);
}

/* Removes a blade from its slot. The slot remains marked until it is
 * reached. */
/*@ requires lawn_index_joined(index, (struct lawn_blade *)all, number);
  @ requires slot < lawn_index_all(index);
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ assigns index->entry[0 .. lawn_index_blades(index) - 1], index->first[slot];
  @ ensures taken: lawn_index_taken{Pre, Post}(index, number, slot);
  @*/
static inline void
unlink_blade(struct lawn_index *index, const struct lawn_blade *all,
             uint32_t number, uint32_t slot)
{
    struct lawn_index_entry entry = index->entry[number];

    (void)all;
    LAWN_ASSERT(all[number].indexed_at != LAWN_NEVER,
                "[I3] a blade has no entry");
    LAWN_ASSERT(lawn__index_slot_of(index, all[number].indexed_at) == slot,
                "[I4] an entry is not in its slot");
    if (entry.prev != LAWN_INDEX_NONE) {
        index->entry[entry.prev].next = entry.next;
    } else {
        index->first[slot] = entry.next;
    }
    if (entry.next != LAWN_INDEX_NONE) {
        index->entry[entry.next].prev = entry.prev;
    }
}

/* The time must not be after the deadline of the blade's first timer [I3]. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires index->count < lawn_index_blades(index);
  @ requires lawn_index_free(index, number);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->occupied[0 .. (lawn_index_all(index) - 1) / 64], index->words,
  @     index->known, index->known_time, index->count;
  @ ensures indexed_at: all[number].indexed_at == time;
  @ ensures count: index->count == \old(index->count) + 1;
  @ ensures put: lawn_index_put{Pre, Post}(index, number,
  @     \old(lawn_index_place(index, time)));
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

/* slot is the slot of the blade's entry. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires slot < lawn_index_all(index) && index->count > 0;
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[slot], index->count;
  @ ensures indexed_at: all[number].indexed_at == LAWN_NEVER;
  @ ensures count: index->count == \old(index->count) - 1;
  @ ensures taken: lawn_index_taken{Pre, Post}(index, number, slot);
  @*/
void
lawn__index_remove(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number, uint32_t slot)
{
    unlink_blade(index, all, number, slot);
    all[number].indexed_at = LAWN_NEVER;
    index->count--;
}

/* Moves a blade's entry from its slot to its first timer's deadline, or removes
 * it if the blade is empty. */
/*@ requires lawn_index_joined(index, all, number);
  @ requires slot < lawn_index_all(index) && index->count > 0;
  @ requires lawn_index_blade(index, index->entry[number].next);
  @ requires lawn_index_blade(index, index->entry[number].prev);
  @ requires index->entry[number].next != number;
  @ requires index->entry[number].prev != number;
  @ requires index->moved < UINT64_MAX;
  @ requires \valid_read(all[number].queue.next);
  @ requires all[number].queue.next != &all[number].queue ==>
  @     \valid_read((struct lawn_timer *)all[number].queue.next) &&
  @     \separated((struct lawn_timer *)all[number].queue.next, index,
  @                index->first + (0 .. lawn_index_all(index) - 1),
  @                index->occupied + (0 .. (lawn_index_all(index) - 1) / 64),
  @                index->entry + (0 .. lawn_index_blades(index) - 1),
  @                &all[number].indexed_at);
  @ requires \forall integer s; 0 <= s < lawn_index_all(index) ==>
  @     lawn_index_blade(index, index->first[s]) &&
  @     (index->first[s] == number ==> s == slot &&
  @         index->entry[number].prev == LAWN_INDEX_NONE);
  @ assigns all[number].indexed_at, index->entry[0 .. lawn_index_blades(index) - 1],
  @     index->first[0 .. lawn_index_all(index) - 1],
  @     index->occupied[0 .. (lawn_index_all(index) - 1) / 64], index->words,
  @     index->known, index->known_time, index->count, index->moved;
  @ ensures moved: index->moved == \old(index->moved) + 1;
  @ behavior empty:
  @   assumes all[number].queue.next == &all[number].queue;
  @   ensures indexed_at: all[number].indexed_at == LAWN_NEVER;
  @   ensures count: index->count == \old(index->count) - 1;
  @   ensures taken: lawn_index_taken{Pre, Post}(index, number, slot);
  @ behavior live:
  @   assumes all[number].queue.next != &all[number].queue;
  @   ensures indexed_at: all[number].indexed_at ==
  @       ((struct lawn_timer *)all[number].queue.next)->deadline;
  @   ensures count: index->count == \old(index->count);
  @   ensures own: index->entry[number].prev == LAWN_INDEX_NONE;
  @ complete behaviors;
  @ disjoint behaviors;
  @*/
void
lawn__index_update(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number, uint32_t slot)
{
    const struct lawn_link *queue = &all[number].queue;

    unlink_blade(index, all, number, slot);
    index->moved++;
    if (lawn__list_empty(queue)) {
        all[number].indexed_at = LAWN_NEVER;
        index->count--;
    } else {
        /*@ assert free: lawn_index_free(index, number); */
        link_blade(index, all, number, lawn__link_deadline(queue->next));
        /* The timer after the next one to fire: in the cache by then. */
        LAWN_PREFETCH(queue->next->next);
    }
}
