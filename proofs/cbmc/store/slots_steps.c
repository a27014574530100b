/* slots_steps.c - allocating and freeing slots, from each state of a slab.
 *
 * There are two slabs of 4 slots, as in the first slab of a size. In one, an
 * arbitrary set of slots is allocated. In the other, one slot is allocated or
 * none. A slab without allocated slots is the spare. check_slab() is proved
 * before and after a step. Each state is a separate path.
 *
 * @covers lawn__store_slots_take lawn__store_slots_give lawn__store_slots_slab
 *     link_slab unlink_slab free_slab
 *     free_spare release_number
 * @unreached release_number: $slots->free_number[$piece] = LAWN_STORE_SLOTS_NONE; -- one slab remains
 * @unreached release_number: lawn__store_pointers_drop_piece(&$slots->slabs, $slots->memory); -- the same
 * @unreached lawn__store_slots_give: $slab->full_words = $word; -- a slab of one word
 * @unreached lawn__store_slots_take: $word++; -- the same
 * @unreached lawn__store_slots_take: $sizes = $new_group($slots, $group); -- the group exists
 * @unreached lawn__store_slots_take: if ($sizes == NULL) { -- the same
 * @unreached lawn__store_slots_take: return NULL; -- there is room
 * @unreached lawn__store_slots_take: $slab = $add($slots, $group, &$sizes[$index], $slot); -- the same
 * @unreached lawn__store_slots_take: if ($slab == NULL && $slots->spare != NULL) {
 *     $drop_spare($slots); -- the same
 * @unreached lawn__store_slots_take: if ($slab == NULL) { -- the same
 * @flags --unwind 37 --paths lifo
 * @without --unsigned-overflow-check: the last bit of a word is found by adding
 *     1, which wraps around
 * @without --conversion-check: an offset is the low part of an address
 *
 * @proof slots_take
 * @proof slots_give
 * @proof slots_give_twice
 * @flags -DTWICE */
#include "proof.h"

#include <stdlib.h>

/* Called by EXPECT if a slot is freed twice. */
_Noreturn void proof_abort(void);
#define abort proof_abort
#include "../../../src/store/slots.c"
#undef abort

_Noreturn void
proof_abort(void)
{
#if defined TWICE
    PROOF_END();
#else
    PROVE(false, "only allocated slots are freed");
#endif
    ASSUME(false);
    for (;;) {
    }
}

#define SLOTS 4u
#define SLOT 8u
#define SIZE 1u
#define FIRST 96u

/* A slab. Its bits and slots are in the space that follows in the block. */
struct block {
    struct lawn_store_slab slab;
};

_Static_assert(sizeof(struct block) == FIRST + SLOTS * SLOT, "as they are");

static struct block a, b;
static struct lawn_store_size sizes[LAWN_STORE_SLOTS_SIZES];
static uintptr_t words[16];
static struct lawn_store_slots slots;
static struct lawn_store_memory memory;
static bool has_a, has_b, has_words;

void *
lawn__store_memory_take(struct lawn_store_memory *from, size_t size)
{
    (void)from;
    (void)size;
    PROVE(false, "nothing is taken");
    return NULL;
}

void
lawn__store_memory_give(struct lawn_store_memory *to, void *block, size_t size)
{
    PROVE(to == &memory, "to the store's memory");
    if (block == words) {
        PROVE(has_words && size == sizeof(words), "allocated memory is freed");
        has_words = false;
    } else if (block == &a) {
        PROVE(has_a && size == sizeof(a), "allocated memory is freed");
        has_a = false;
    } else {
        PROVE(block == &b && has_b && size == sizeof(b),
              "allocated memory is freed");
        has_b = false;
    }
}

size_t
lawn__store_memory_cost(const struct lawn_store_memory *from, size_t size)
{
    (void)from;
    return size;
}

static bool
valid(void)
{
    return check_slab(&a.slab, a.slab.number, NULL);
}

/* Sets the fields that are equal in all slabs. */
static void
begin_slab(struct block *block, unsigned number, unsigned group)
{
    struct lawn_store_slab *slab = &block->slab;

    slab->size = &sizes[SIZE];
    slab->block = block;
    slab->bytes = sizeof(*block);
    slab->number = number;
    slab->group = group;
    slab->first = FIRST;
    slab->slots = SLOTS;
    slab->slot = SLOT;
    slab->inverse = (uint32_t)((UINT64_C(1) << 32) / SLOT + 1);
    slab->next = slab->prev = slab;
    slab->size->slots += SLOTS;
    words[number] = (uintptr_t)(void *)block;
    slots.slabs.count++;
    slots.in_use[0]++;
}

static void
begin(unsigned mask, unsigned number, unsigned live_b)
{
    lawn__store_slots_init(&slots, &memory);
    slots.slabs.piece[0] = words;
    slots.group[0] = sizes;
    has_a = has_b = has_words = true;
    begin_slab(&a, number, 0);
    begin_slab(&b, 1 - number, 0);
    a.slab.taken[0] = ~UINT64_C(15) | mask;
    a.slab.live = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3);
    b.slab.taken[0] = ~UINT64_C(15) | live_b;
    b.slab.live = live_b;
    if (a.slab.live < SLOTS) {
        link_slab(&a.slab);
    }
    link_slab(&b.slab);
    if (live_b == 0) {
        slots.spare = &b.slab;
    } else if (mask == 0) {
        slots.spare = &a.slab;
    }
    PROVE(valid(), "all was valid");
}

static void
take(unsigned mask, unsigned number, unsigned live_b)
{
    uint16_t place;

    begin(mask, number, live_b);
    uint32_t live = a.slab.live;
    char *slot = lawn__store_slots_take(&slots, 0, SLOT, &place);
    unsigned taken = (place * 8u - FIRST) / SLOT;

    PROVE(slot == (char *)&a + place * 8u && taken < SLOTS &&
              place * 8u == FIRST + taken * SLOT,
          "it is a slot of the slab");
    PROVE(lawn__store_slots_slab(slot, place) == &a.slab,
          "its offset leads back to the slab");
    PROVE((mask >> taken & 1) == 0, "the slot was free");
    PROVE(a.slab.taken[0] == (~UINT64_C(15) | mask | 1u << taken),
          "the slot is allocated now, and no other changed");
    PROVE((~mask & ((1u << taken) - 1)) == 0,
          "the first free slot is taken, so freed slots are used again");
    PROVE(a.slab.live == live + 1 && slots.spare != &a.slab, "it is counted");
    PROVE(sizes[SIZE].room == (a.slab.live < SLOTS ? &a.slab : &b.slab),
          "a full slab is not linked");
    PROVE(valid(), "all is valid");
}

void
slots_take(void)
{
    if (nondet_bool()) {
        take(0, 0, 1);
        return;
    }
    for (unsigned mask = 0; mask < 15; mask++) {
        if (mask == 14 || PROOF_PATH()) {
            if (nondet_bool()) {
                take(mask, 0, 1);
            } else if (mask != 0) {
                take(mask, 1, 0);
            }
            break;
        }
    }
    PROOF_END();
}

static void
give(unsigned mask, unsigned number, unsigned live_b, unsigned taken)
{
    bool empty = mask == 1u << taken;

    begin(mask, number, live_b);
    uint32_t live = a.slab.live;
    lawn__store_slots_give(&slots, (char *)&a + FIRST + taken * SLOT,
                           (uint16_t)((FIRST + taken * SLOT) / 8));
    PROVE(a.slab.taken[0] == (~UINT64_C(15) | (mask & ~(1u << taken))) &&
              a.slab.live == live - 1,
          "the slot is free now, all others are unchanged");
    PROVE(has_a == (!empty || live_b == 1 || number == 0) &&
              has_b == (!empty || live_b == 1 || number == 1),
          "of two empty slabs the lower one remains [S7]");
    PROVE(!empty || slots.spare == (has_a ? &a.slab : &b.slab),
          "only one empty slab is kept");
    PROVE(slots.in_use[0] == 1u + (has_a && has_b), "numbers are released");
    PROVE(!has_a || !has_b ||
              (a.slab.next == &b.slab && b.slab.next == &a.slab),
          "both have free slots, and are linked");
    PROVE(!has_a || valid(), "all is valid");
}

static void
give_any(unsigned mask, unsigned taken)
{
    if (nondet_bool()) {
        give(mask, 0, 0, taken);
    } else if (nondet_bool()) {
        give(mask, 1, 0, taken);
    } else {
        give(mask, 0, 1, taken);
    }
}

/* Each slot of each slab: an allocated one, or, in a separate proof, a free
 * one. */
static void
give_each(unsigned twice)
{
    for (unsigned mask = 1; mask < 16; mask++) {
        for (unsigned taken = 0; taken < SLOTS; taken++) {
            if ((mask >> taken & 1) != twice && PROOF_PATH()) {
                give_any(mask, taken);
                return;
            }
        }
    }
    if (twice == 0 && nondet_bool()) {
        give_any(15, 3);
    } else {
        give_any(twice ? 1 : 8, 3);
    }
}

#if defined TWICE
void
slots_give_twice(void)
{
    give_each(1);
    PROVE(false, "freeing a free slot aborts");
}
#else
void
slots_give(void)
{
    give_each(0);
    PROOF_END();
}
#endif
