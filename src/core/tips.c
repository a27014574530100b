/* tips.c - the index: see tips.h for the idea. */
#include "internal.h"

unsigned
lawn_tips_bits(unsigned wanted)
{
    if (wanted == 0) {
        return LAWN_TIPS_BITS_DEFAULT;
    }
    if (wanted > LAWN_TIPS_BITS_MAX) {
        return LAWN_TIPS_BITS_MAX;
    }
    return wanted < LAWN_TIPS_BITS_MIN ? LAWN_TIPS_BITS_MIN : wanted;
}

/* How many lists of lone timers a slot has. */
size_t
lawn_tips_lists(unsigned bits)
{
    return bits < 6 ? 1 : LAWN_TIPS_LISTS_MAX;
}

/* How many slots all levels have together. */
size_t
lawn_tips_slots(unsigned bits)
{
    return (size_t)(63 / bits + 1) << bits;
}

/* How many words of 64 bits hold a bit for each of them. */
size_t
lawn_tips_words(unsigned bits)
{
    return (lawn_tips_slots(bits) + 63) / 64;
}

/* The caller has set the arrays. */
void
lawn_tips_init(struct lawn_tips *tips, unsigned bits, uint64_t base,
               uintptr_t key)
{
    size_t i;

    tips->base = base;
    tips->words = 0;
    tips->known = LAWN_TIPS_NONE;
    tips->known_queue = NULL;
    tips->known_time = 0;
    tips->moved = 0;
    tips->count = 0;
    tips->bits = bits;
    tips->mask = (1u << bits) - 1;
    tips->lists = (uint32_t)lawn_tips_lists(bits);
    tips->list_bits = (uint32_t)__builtin_ctz(tips->lists);
    for (i = 0; i < 64; i++) {
        tips->shift[i] = (uint8_t)(i / bits * bits);
        tips->level[i] = (uint16_t)(i / bits << bits);
    }
    for (i = 0; i < lawn_tips_words(bits); i++) {
        tips->occupied[i] = 0;
    }
    for (i = 0; i < lawn_tips_slots(bits); i++) {
        size_t list;

        tips->first[i] = LAWN_TIPS_NONE;
        for (list = 0; list < tips->lists; list++) {
            lawn_list_init(key, &tips->lone[i * tips->lists + list]);
        }
    }
}

/*@ // A blade, apart from the index. One that is there, or none. One that is first
  @ // in no slot.
  @ predicate lawn_tips_joined(struct lawn_tips *tips,
  @                            struct lawn_blade *all, integer number) =
  @     lawn_tips_sized(tips) && 0 <= number < lawn_tips_blades(tips) &&
  @     \valid(all + number) &&
  @     \separated(all + number, tips,
  @                tips->first + (0 .. lawn_tips_all(tips) - 1),
  @                tips->occupied + (0 .. (lawn_tips_all(tips) - 1) / 64),
  @                tips->tip + (0 .. lawn_tips_blades(tips) - 1));
  @ predicate lawn_tips_blade(struct lawn_tips *tips, integer number) =
  @     number == LAWN_TIPS_NONE || 0 <= number < lawn_tips_blades(tips);
  @ predicate lawn_tips_free(struct lawn_tips *tips, integer number) =
  @     \forall integer s; 0 <= s < lawn_tips_all(tips) ==>
  @         lawn_tips_blade(tips, tips->first[s]) && tips->first[s] != number;
  @
  @ // From A to B: a blade has become the first of a slot. All other links are
  @ // as they were, but for that which leads back from the second.
  @ predicate lawn_tips_put{A, B}(struct lawn_tips *tips, integer number,
  @                               integer slot) =
  @     \let second = \at(tips->first[slot], A);
  @     \at(tips->first[slot], B) == number &&
  @     \at(tips->tip[number].prev, B) == LAWN_TIPS_NONE &&
  @     \at(tips->tip[number].next, B) == second &&
  @     (second != LAWN_TIPS_NONE ==>
  @         \at(tips->tip[second].prev, B) == number) &&
  @     (\forall integer s; 0 <= s < lawn_tips_all(tips) && s != slot ==>
  @         \at(tips->first[s], B) == \at(tips->first[s], A)) &&
  @     (\forall integer i; 0 <= i < lawn_tips_blades(tips) && i != number ==>
  @         \at(tips->tip[i].next, B) == \at(tips->tip[i].next, A)) &&
  @     (\forall integer i; 0 <= i < lawn_tips_blades(tips) && i != number &&
  @         i != second ==>
  @         \at(tips->tip[i].prev, B) == \at(tips->tip[i].prev, A));
  @
  @ // A blade has been taken out between two, or from the front of a slot. All
  @ // other links are as they were.
  @ predicate lawn_tips_taken{A, B}(struct lawn_tips *tips, integer number,
  @                                 integer slot) =
  @     \let next = \at(tips->tip[number].next, A);
  @     \let prev = \at(tips->tip[number].prev, A);
  @     (prev == LAWN_TIPS_NONE ==> \at(tips->first[slot], B) == next) &&
  @     (prev != LAWN_TIPS_NONE ==> \at(tips->tip[prev].next, B) == next &&
  @         \at(tips->first[slot], B) == \at(tips->first[slot], A)) &&
  @     (next != LAWN_TIPS_NONE ==> \at(tips->tip[next].prev, B) == prev) &&
  @     (\forall integer s; 0 <= s < lawn_tips_all(tips) && s != slot ==>
  @         \at(tips->first[s], B) == \at(tips->first[s], A)) &&
  @     (\forall integer i; 0 <= i < lawn_tips_blades(tips) && i != prev ==>
  @         \at(tips->tip[i].next, B) == \at(tips->tip[i].next, A)) &&
  @     (\forall integer i; 0 <= i < lawn_tips_blades(tips) && i != next ==>
  @         \at(tips->tip[i].prev, B) == \at(tips->tip[i].prev, A));
  @*/

/* Lists a blade, which is in no slot, under a time. */
/*@ requires lawn_tips_joined(tips, all, number);
  @ requires lawn_tips_free(tips, number);
  @ assigns all[number].tip, tips->tip[0 .. lawn_tips_blades(tips) - 1],
  @     tips->first[0 .. lawn_tips_all(tips) - 1],
  @     tips->occupied[0 .. (lawn_tips_all(tips) - 1) / 64], tips->words,
  @     tips->known, tips->known_time;
  @ ensures tip: all[number].tip == time;
  @ ensures put: lawn_tips_put{Pre, Post}(tips, number,
  @     \old(lawn_tips_place(tips, time)));
  @*/
static inline void
lawn_tips_link(struct lawn_tips *tips, struct lawn_blade *all, uint32_t number,
               uint64_t time)
{
    uint32_t slot = lawn_tips_slot(tips, time);
    uint16_t second = tips->first[slot];

    /*@ assert second: lawn_tips_blade(tips, second) && second != number; */
    LAWN_ASSERT(time >= tips->base, "[I4] a tip lies before the base");
    all[number].tip = time;
    tips->tip[number].next = second;
    tips->tip[number].prev = LAWN_TIPS_NONE;
    tips->first[slot] = (uint16_t)number;
    if (second != LAWN_TIPS_NONE) {
        tips->tip[second].prev = (uint16_t)number;
    } else {
        lawn_tips_mark(tips, slot);
    }
    lawn_tips_forget(tips, slot, time);
}

/* Takes a blade off its slot, which stays marked until it comes up. */
/*@ requires lawn_tips_joined(tips, (struct lawn_blade *)all, number);
  @ requires slot < lawn_tips_all(tips);
  @ requires lawn_tips_blade(tips, tips->tip[number].next);
  @ requires lawn_tips_blade(tips, tips->tip[number].prev);
  @ requires tips->tip[number].next != number;
  @ requires tips->tip[number].prev != number;
  @ assigns tips->tip[0 .. lawn_tips_blades(tips) - 1], tips->first[slot];
  @ ensures taken: lawn_tips_taken{Pre, Post}(tips, number, slot);
  @*/
static inline void
lawn_tips_unlink(struct lawn_tips *tips, const struct lawn_blade *all,
                 uint32_t number, uint32_t slot)
{
    struct lawn_tip tip = tips->tip[number];

    (void)all;
    LAWN_ASSERT(all[number].tip != LAWN_NEVER, "[I3] a blade has no tip");
    LAWN_ASSERT(lawn_tips_slot(tips, all[number].tip) == slot,
                "[I4] a tip is not in its slot");
    if (tip.prev != LAWN_TIPS_NONE) {
        tips->tip[tip.prev].next = tip.next;
    } else {
        tips->first[slot] = tip.next;
    }
    if (tip.next != LAWN_TIPS_NONE) {
        tips->tip[tip.next].prev = tip.prev;
    }
}

/* Lists a blade under a time not after its head's deadline [I3]. */
/*@ requires lawn_tips_joined(tips, all, number);
  @ requires tips->count < lawn_tips_blades(tips);
  @ requires lawn_tips_free(tips, number);
  @ assigns all[number].tip, tips->tip[0 .. lawn_tips_blades(tips) - 1],
  @     tips->first[0 .. lawn_tips_all(tips) - 1],
  @     tips->occupied[0 .. (lawn_tips_all(tips) - 1) / 64], tips->words,
  @     tips->known, tips->known_time, tips->count;
  @ ensures tip: all[number].tip == time;
  @ ensures count: tips->count == \old(tips->count) + 1;
  @ ensures put: lawn_tips_put{Pre, Post}(tips, number,
  @     \old(lawn_tips_place(tips, time)));
  @*/
void
lawn_tips_enter(struct lawn_tips *tips, struct lawn_blade *all, uint32_t number,
                uint64_t time)
{
    LAWN_ASSERT(all[number].tip == LAWN_NEVER, "[I3] a blade has two tips");
    lawn_tips_link(tips, all, number, time);
    tips->count++;
}

/* Takes a blade off the index, from the slot where it stands. */
/*@ requires lawn_tips_joined(tips, all, number);
  @ requires slot < lawn_tips_all(tips) && tips->count > 0;
  @ requires lawn_tips_blade(tips, tips->tip[number].next);
  @ requires lawn_tips_blade(tips, tips->tip[number].prev);
  @ requires tips->tip[number].next != number;
  @ requires tips->tip[number].prev != number;
  @ assigns all[number].tip, tips->tip[0 .. lawn_tips_blades(tips) - 1],
  @     tips->first[slot], tips->count;
  @ ensures tip: all[number].tip == LAWN_NEVER;
  @ ensures count: tips->count == \old(tips->count) - 1;
  @ ensures taken: lawn_tips_taken{Pre, Post}(tips, number, slot);
  @*/
void
lawn_tips_leave(struct lawn_tips *tips, struct lawn_blade *all, uint32_t number,
                uint32_t slot)
{
    lawn_tips_unlink(tips, all, number, slot);
    all[number].tip = LAWN_NEVER;
    tips->count--;
}

/* Moves a blade from the slot where it stands to its head's deadline, or takes
 * it off if it is empty. */
/*@ requires lawn_tips_joined(tips, all, number);
  @ requires slot < lawn_tips_all(tips) && tips->count > 0;
  @ requires lawn_tips_blade(tips, tips->tip[number].next);
  @ requires lawn_tips_blade(tips, tips->tip[number].prev);
  @ requires tips->tip[number].next != number;
  @ requires tips->tip[number].prev != number;
  @ requires tips->moved < UINT64_MAX;
  @ requires \valid_read(all[number].queue.next);
  @ requires all[number].queue.next != &all[number].queue ==>
  @     \valid_read((struct lawn_timer *)all[number].queue.next) &&
  @     \separated((struct lawn_timer *)all[number].queue.next, tips,
  @                tips->first + (0 .. lawn_tips_all(tips) - 1),
  @                tips->occupied + (0 .. (lawn_tips_all(tips) - 1) / 64),
  @                tips->tip + (0 .. lawn_tips_blades(tips) - 1),
  @                &all[number].tip);
  @ requires \forall integer s; 0 <= s < lawn_tips_all(tips) ==>
  @     lawn_tips_blade(tips, tips->first[s]) &&
  @     (tips->first[s] == number ==> s == slot &&
  @         tips->tip[number].prev == LAWN_TIPS_NONE);
  @ assigns all[number].tip, tips->tip[0 .. lawn_tips_blades(tips) - 1],
  @     tips->first[0 .. lawn_tips_all(tips) - 1],
  @     tips->occupied[0 .. (lawn_tips_all(tips) - 1) / 64], tips->words,
  @     tips->known, tips->known_time, tips->count, tips->moved;
  @ ensures moved: tips->moved == \old(tips->moved) + 1;
  @ behavior empty:
  @   assumes all[number].queue.next == &all[number].queue;
  @   ensures tip: all[number].tip == LAWN_NEVER;
  @   ensures count: tips->count == \old(tips->count) - 1;
  @   ensures taken: lawn_tips_taken{Pre, Post}(tips, number, slot);
  @ behavior live:
  @   assumes all[number].queue.next != &all[number].queue;
  @   ensures tip: all[number].tip ==
  @       ((struct lawn_timer *)all[number].queue.next)->deadline;
  @   ensures count: tips->count == \old(tips->count);
  @   ensures own: tips->tip[number].prev == LAWN_TIPS_NONE;
  @ complete behaviors;
  @ disjoint behaviors;
  @*/
void
lawn_tips_settle(struct lawn_tips *tips, struct lawn_blade *all,
                 uint32_t number, uint32_t slot)
{
    const struct lawn_link *queue = &all[number].queue;

    lawn_tips_unlink(tips, all, number, slot);
    tips->moved++;
    if (lawn_list_empty(queue)) {
        all[number].tip = LAWN_NEVER;
        tips->count--;
    } else {
        /*@ assert free: lawn_tips_free(tips, number); */
        lawn_tips_link(tips, all, number, lawn_link_deadline(queue->next));
        /* The next but one to fire from this blade: on its way by then. */
        LAWN_PREFETCH(queue->next->next);
    }
}
