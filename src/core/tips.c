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

/* Lists a blade, which is in no slot, under a time. */
static inline void
lawn_tips_link(struct lawn_tips *tips, struct lawn_blade *all, uint32_t number,
               uint64_t time)
{
    uint32_t slot = lawn_tips_slot(tips, time);
    uint16_t second = tips->first[slot];

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
void
lawn_tips_enter(struct lawn_tips *tips, struct lawn_blade *all, uint32_t number,
                uint64_t time)
{
    LAWN_ASSERT(all[number].tip == LAWN_NEVER, "[I3] a blade has two tips");
    lawn_tips_link(tips, all, number, time);
    tips->count++;
}

/* Takes a blade off the index, from the slot where it stands. */
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
        lawn_tips_link(tips, all, number, lawn_link_deadline(queue->next));
        /* The next but one to fire from this blade: on its way by then. */
        LAWN_PREFETCH(queue->next->next);
    }
}
