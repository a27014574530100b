/* tips.c - the index: see tips.h for the idea. */
#include "internal.h"

unsigned
lawn_tips_bits(unsigned wanted)
{
    if (wanted == 0 || wanted > LAWN_TIPS_BITS_MAX) {
        return LAWN_TIPS_BITS_MAX;
    }
    return wanted < LAWN_TIPS_BITS_MIN ? LAWN_TIPS_BITS_MIN : wanted;
}

/* How many slots all levels have together. */
size_t
lawn_tips_slots(unsigned bits)
{
    return (size_t)((64 + bits - 1) / bits) << bits;
}

/* The caller has set the arrays. */
void
lawn_tips_init(struct lawn_tips *tips, unsigned bits, uint64_t base,
               uintptr_t key)
{
    size_t slots = lawn_tips_slots(bits);
    size_t i;

    tips->base = base;
    tips->levels = 0;
    tips->bits = bits;
    tips->words = bits > 6 ? 1u << (bits - 6) : 1;
    tips->count = 0;
    tips->moved = 0;
    for (i = 0; i < 64; i++) {
        tips->level[i] = (uint8_t)(i / bits);
        tips->shift[i] = (uint8_t)(i / bits * bits);
    }
    for (i = 0; i < (slots >> bits) * tips->words; i++) {
        tips->occupied[i] = 0;
    }
    for (i = 0; i < slots; i++) {
        lawn_list_init(key, &tips->lone[i]);
        tips->first[i] = LAWN_TIPS_NONE;
    }
}

/* The earliest slot marked as in use, or NONE. */
uint32_t
lawn_tips_first(struct lawn_tips *tips)
{
    uint32_t level;
    uint32_t word;
    const uint64_t *occupied;

    if (tips->levels == 0) {
        return LAWN_TIPS_NONE;
    }
    level = (uint32_t)__builtin_ctz(tips->levels);
    occupied = &tips->occupied[level * tips->words];
    for (word = 0; occupied[word] == 0; word++) {
        LAWN_ASSERT(word + 1 < tips->words, "[I5] a level in use is empty");
    }
    return (level << tips->bits) | (word * 64) |
           (uint32_t)__builtin_ctzll(occupied[word]);
}

/* Nothing stands in the slot any more. */
void
lawn_tips_clear(struct lawn_tips *tips, uint32_t slot)
{
    uint32_t level = slot >> tips->bits;
    uint32_t digit = slot & ((1u << tips->bits) - 1);
    uint64_t *occupied = &tips->occupied[level * tips->words];
    uint64_t any = 0;
    uint32_t word;

    occupied[digit / 64] &= ~(UINT64_C(1) << (digit % 64));
    for (word = 0; word < tips->words; word++) {
        any |= occupied[word];
    }
    if (any == 0) {
        tips->levels &= ~(1u << level);
    }
}

/* Lists a blade under a time not after its head's deadline [I3]. */
void
lawn_tips_enter(struct lawn_tips *tips, struct lawn_blades *blades,
                struct lawn_blade *blade, uint64_t time)
{
    uint32_t slot = lawn_tips_slot(tips, time);
    uint32_t number = (uint32_t)(blade - blades->all);
    uint32_t second = tips->first[slot];

    LAWN_ASSERT(blade->tip == LAWN_NEVER, "[I3] a blade has two tips");
    LAWN_ASSERT(time >= tips->base, "[I4] a tip lies before the base");
    blade->tip = time;
    tips->tip[number].next = second;
    tips->tip[number].prev = LAWN_TIPS_NONE;
    if (second != LAWN_TIPS_NONE) {
        tips->tip[second].prev = number;
    }
    tips->first[slot] = number;
    tips->count++;
    lawn_tips_mark(tips, slot);
}

/* Takes a blade off the index. Its slot stays marked until it comes up. */
void
lawn_tips_leave(struct lawn_tips *tips, struct lawn_blades *blades,
                struct lawn_blade *blade)
{
    uint32_t number = (uint32_t)(blade - blades->all);
    struct lawn_tip tip = tips->tip[number];

    LAWN_ASSERT(blade->tip != LAWN_NEVER, "[I3] a blade has no tip to lose");
    if (tip.prev != LAWN_TIPS_NONE) {
        tips->tip[tip.prev].next = tip.next;
    } else {
        LAWN_ASSERT(tips->first[lawn_tips_slot(tips, blade->tip)] == number,
                    "[I4] a tip is not in its slot");
        tips->first[lawn_tips_slot(tips, blade->tip)] = tip.next;
    }
    if (tip.next != LAWN_TIPS_NONE) {
        tips->tip[tip.next].prev = tip.prev;
    }
    blade->tip = LAWN_NEVER;
    tips->count--;
}

/* Lists a blade under its head's deadline, or not at all if it is empty. */
void
lawn_tips_settle(struct lawn_tips *tips, struct lawn_blades *blades,
                 struct lawn_blade *blade)
{
    lawn_tips_leave(tips, blades, blade);
    if (!lawn_list_empty(&blade->queue)) {
        lawn_tips_enter(tips, blades, blade,
                        lawn_link_deadline(blade->queue.next));
        LAWN_PREFETCH(blade->queue.next->next);
    }
    tips->moved++;
}

/* Lists a lone timer under its deadline, behind or before the others of its
 * slot. */
void
lawn_tips_add(struct lawn_tips *tips, uintptr_t key, struct lawn_timer *timer,
              bool at_front)
{
    uint32_t slot = lawn_tips_slot(tips, timer->deadline);

    LAWN_ASSERT(timer->deadline >= tips->base,
                "[I4] a lone timer lies before the base");
    if (at_front) {
        lawn_list_prepend(key, &tips->lone[slot], &timer->link);
    } else {
        lawn_list_append(key, &tips->lone[slot], &timer->link);
    }
    lawn_tips_mark(tips, slot);
}
