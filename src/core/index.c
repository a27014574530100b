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

/* Returns the number of slots of all levels together. */
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

/* Returns the number of 64-bit words of the bitmap of slots. */
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
    index->moved = 0;
    index->levels = 0;
    index->count = 0;
    index->bits = slot_bits - 1;
    index->slot_bits = slot_bits;
    index->mask = (1u << slot_bits) - 1;
    index->words = (uint32_t)count_level_words(slot_bits);
    index->lists = (uint32_t)lawn__index_count_lists(slot_bits);
    index->list_bits = (uint32_t)__builtin_ctz(index->lists);
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

/* Called before the base moves to another slot of level 1 or higher. */
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

/* Called when a slot of a higher level than 0 gets an earlier time than it had,
 * or its first one. */
void
lawn__index_lower(struct lawn_index *index, uint32_t slot, uint64_t time)
{
    uint32_t level = lawn__index_level_of(index, slot);
    uint32_t digit = slot & index->mask;
    uint64_t ticks = UINT64_C(1) << (level * index->bits);
    uint64_t start = time & ~(ticks - 1);

    index->earliest[slot] = time;
    index->occupied[level * index->words + digit / 64] |= UINT64_C(1)
                                                          << (digit % 64);
    index->levels |= 1u << level;
    if (start < index->horizon) {
        index->horizon = start;
    }
    if (start - ticks < index->prepare) {
        index->prepare = start - ticks;
    }
}

/* A slot of a higher level than 0, which must be empty. */
void
lawn__index_clear_slot(struct lawn_index *index, uint32_t slot)
{
    uint32_t level = lawn__index_level_of(index, slot);
    uint32_t digit = slot & index->mask;
    uint64_t *words = &index->occupied[(size_t)level * index->words];
    uint64_t any = 0;

    LAWN_ASSERT(index->first[slot] == LAWN_INDEX_NONE,
                "[I5] a slot that contains entries is cleared");
    index->earliest[slot] = LAWN_NEVER;
    words[digit / 64] &= ~(UINT64_C(1) << (digit % 64));
    for (uint32_t i = 0; i < index->words; i++) {
        any |= words[i];
    }
    if (any == 0) {
        index->levels &= ~(1u << level);
    }
}

/* Inserts a blade's entry with this time. The blade must be in no slot. */
static inline void
link_blade(struct lawn_index *index, struct lawn_blade *all, uint32_t number,
           uint64_t time)
{
    uint32_t slot = lawn__index_slot_of(index, time);
    uint16_t second = index->first[slot];

    LAWN_ASSERT(time >= index->base, "[I4] an entry's time is before the base");
    all[number].indexed_at = time;
    index->entry[number].next = second;
    index->entry[number].prev = LAWN_INDEX_NONE;
    index->first[slot] = (uint16_t)number;
    if (second != LAWN_INDEX_NONE) {
        index->entry[second].prev = (uint16_t)number;
    }
    lawn__index_note(index, slot, time);
}

/* Returns the slot of a blade's entry, which is the first in its slot. The level
 * is at least the one of an entry that is inserted now. */
static inline uint32_t
find_slot(const struct lawn_index *index, const struct lawn_blade *all,
          uint32_t number)
{
    uint64_t time = all[number].indexed_at;
    uint32_t slot = lawn__index_slot_of(index, time);

    for (uint32_t level = lawn__index_level_of(index, slot);
         index->first[slot] != number;) {
        slot = lawn__index_slot_at(index, ++level, time);
    }
    return slot;
}

/* Removes a blade from its slot. The slot remains marked until it is
 * reached. */
static inline void
unlink_blade(struct lawn_index *index, const struct lawn_blade *all,
             uint32_t number)
{
    struct lawn_index_entry entry = index->entry[number];

    LAWN_ASSERT(all[number].indexed_at != LAWN_NEVER,
                "[I3] a blade has no entry");
    if (entry.prev != LAWN_INDEX_NONE) {
        index->entry[entry.prev].next = entry.next;
    } else {
        index->first[find_slot(index, all, number)] = entry.next;
    }
    if (entry.next != LAWN_INDEX_NONE) {
        index->entry[entry.next].prev = entry.prev;
    }
}

/* The time must not be after the deadline of the blade's first timer [I3]. */
void
lawn__index_insert(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number, uint64_t time)
{
    LAWN_ASSERT(all[number].indexed_at == LAWN_NEVER,
                "[I3] a blade has two entries");
    link_blade(index, all, number, time);
    index->count++;
}

void
lawn__index_remove(struct lawn_index *index, struct lawn_blade *all,
                   uint32_t number)
{
    unlink_blade(index, all, number);
    all[number].indexed_at = LAWN_NEVER;
    index->count--;
}

/* Moves a blade's entry to its first timer's deadline, or removes it if the
 * blade is empty. */
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
        link_blade(index, all, number, lawn__link_deadline(queue->next));
        /* The timer after the next one to fire: in the cache by then. */
        LAWN_PREFETCH(queue->next->next);
    }
}
