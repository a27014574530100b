/* fuzz_index.c - the index and its bitmap with times at the bounds of slots,
 * compared with an array.
 *
 * 8 unqueued timers and 8 blades of one timer are inserted and removed, the
 * base advances, and slots are opened as in src/core/mow.c, at once or entry by
 * entry. The slot of a time is computed from the definition in index.h. A case
 * is a byte for the size of the index, one for its base, then operations of two
 * bytes.
 */
#include "internal.h"
#include "small.h"

#define FUZZ_UNQUEUED 8u
#define FUZZ_BLADES 8u
#define FUZZ_ENTRIES (FUZZ_UNQUEUED + FUZZ_BLADES)
#define FUZZ_SLOTS 2560u
#define FUZZ_SIZES (LAWN_INDEX_BITS_MAX - LAWN_INDEX_BITS_MIN + 1)

/* An index of each size, made once: each case leaves it empty. */
struct fuzz_index {
    struct lawn_index index;
    uint64_t occupied[FUZZ_SLOTS / 16];
    uint64_t earliest[FUZZ_SLOTS];
    struct lawn_link unqueued[FUZZ_SLOTS * LAWN_INDEX_LISTS_MAX];
    uint16_t first[FUZZ_SLOTS];
    struct lawn_index_entry entry[FUZZ_BLADES];
};

static struct fuzz_index fuzz_indices[FUZZ_SIZES];
static struct lawn_index *fuzz_index;
static struct lawn_blade fuzz_all[FUZZ_BLADES];
static struct lawn_timer fuzz_timers[FUZZ_ENTRIES];
static uint64_t fuzz_times[FUZZ_ENTRIES]; /* LAWN_NEVER: not inserted */
static uint32_t fuzz_slots[FUZZ_ENTRIES]; /* the slot of each entry */

/* Unqueued timers are first, then blades. */
static bool
fuzz_is_unqueued(uint32_t i)
{
    return i < FUZZ_UNQUEUED;
}

/* Time is divided into spans of 2^bits ticks. Returns by how many spans the
 * time is after the base. */
static uint64_t
fuzz_spans(uint64_t time, uint32_t bits)
{
    return bits < 64 ? (time >> bits) - (fuzz_index->base >> bits) : 0;
}

/* The slot of a new time. Its level is the lowest one with this property: on
 * the level above it, the time is in the slot of the base or in the next
 * slot. */
static uint32_t
fuzz_slot(uint64_t time)
{
    uint32_t bits = fuzz_index->bits;
    uint32_t level = 0;

    while (fuzz_spans(time, (level + 1) * bits) > 1) {
        level++;
    }
    return (level << (bits + 1)) +
           (uint32_t)(time >> (level * bits) & ((2u << bits) - 1));
}

static uint32_t
fuzz_level(uint32_t slot)
{
    return slot >> (fuzz_index->bits + 1);
}

/* Returns by how many slots of its level an entry is after the base. */
static uint64_t
fuzz_ahead(uint32_t i)
{
    return fuzz_spans(fuzz_times[i],
                      fuzz_level(fuzz_slots[i]) * fuzz_index->bits);
}

static bool
fuzz_marked(uint32_t slot)
{
    uint32_t level = fuzz_level(slot);
    uint32_t digit = slot & fuzz_index->mask;

    return (fuzz_index->occupied[level * fuzz_index->words + digit / 64] >>
                digit % 64 &
            1) != 0;
}

static void
fuzz_placed(uint32_t i, uint64_t time)
{
    uint32_t slot = lawn__index_slot_of(fuzz_index, time);

    fuzz_times[i] = time;
    fuzz_slots[i] = slot;
    small_expect(slot == fuzz_slot(time), "I4: the slot of a time");
    small_expect(fuzz_level(slot) == 0 || fuzz_ahead(i) > 1,
                 "I4: a new time in a slot that may be open");
}

/* Each entry is in a slot that contains its time, and can be found there. */
static void
fuzz_compare(void)
{
    for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
        uint32_t slot = fuzz_slots[i];
        uint32_t level = fuzz_level(slot);

        if (fuzz_times[i] == LAWN_NEVER) {
            continue;
        }
        uint64_t start = lawn__index_slot_start(fuzz_index, slot);
        uint64_t ticks = UINT64_C(1) << (level * fuzz_index->bits);
        small_expect(fuzz_times[i] >= start && fuzz_times[i] - start < ticks,
                     "I4: the range of a slot");
        small_expect(lawn__index_slots_ahead(fuzz_index, slot) == fuzz_ahead(i),
                     "I4: the number of slots ahead");
        small_expect(slot == fuzz_slot(fuzz_times[i]) ||
                         (level > 0 && fuzz_ahead(i) < 2),
                     "I4: a lower level reaches the time");
        small_expect(fuzz_marked(slot) &&
                         lawn__index_marked(fuzz_index, slot) &&
                         fuzz_index->earliest[slot] <= fuzz_times[i],
                     "I5: the mark of a slot");
        small_expect(level == 0 || (fuzz_index->levels >> level & 1) != 0,
                     "I5: the mark of a level");
        small_expect(level == 0 ||
                         fuzz_index->horizon <= fuzz_index->earliest[slot],
                     "I10: the horizon");
        small_expect(lawn__index_slots_ahead(
                         fuzz_index, lawn__index_first_slot(
                                         fuzz_index, level)) <= fuzz_ahead(i),
                     "the first slot of a level");
        small_expect(level > 0 ||
                         lawn__index_first_tick(fuzz_index) <= fuzz_times[i],
                     "the first tick");
    }
}

static void
fuzz_remove(uint32_t i)
{
    if (fuzz_times[i] == LAWN_NEVER) {
        return;
    }
    if (fuzz_is_unqueued(i)) {
        lawn__list_remove(lawn__key(NULL), &fuzz_timers[i].link);
    } else {
        small_expect(fuzz_index->entry[i - FUZZ_UNQUEUED].slot == fuzz_slots[i],
                     "I4: the slot of an entry");
        lawn__index_remove(fuzz_index, fuzz_all, i - FUZZ_UNQUEUED);
        lawn__list_init(lawn__key(NULL), &fuzz_all[i - FUZZ_UNQUEUED].queue);
    }
    fuzz_times[i] = LAWN_NEVER;
}

/* Inserts an unqueued timer as src/core/lawn.c does, or a blade whose only
 * timer is due then or later. */
static void
fuzz_add(uint32_t i, uint64_t time, uint64_t later)
{
    fuzz_remove(i);
    fuzz_timers[i].deadline = time;
    if (fuzz_is_unqueued(i)) {
        uint32_t slot = lawn__index_slot_of(fuzz_index, time);
        struct lawn_link *list = lawn__index_list_of(fuzz_index, slot, time);

        small_expect((uint32_t)(list - fuzz_index->unqueued) /
                             fuzz_index->lists ==
                         fuzz_slot(time),
                     "I4: the list of a slot");
        lawn__list_append(lawn__key(NULL), list, &fuzz_timers[i].link);
        lawn__index_note(fuzz_index, slot, time);
    } else {
        struct lawn_blade *blade = &fuzz_all[i - FUZZ_UNQUEUED];

        if (later < LAWN_LAST - time) {
            fuzz_timers[i].deadline += later;
        }
        lawn__list_append(lawn__key(NULL), &blade->queue, &fuzz_timers[i].link);
        lawn__index_insert(fuzz_index, fuzz_all, i - FUZZ_UNQUEUED, time);
    }
    fuzz_placed(i, time);
}

/* A blade's entry moves to the deadline of its timer, or is removed with it. */
static void
fuzz_settle(uint32_t i, bool empty)
{
    uint32_t number = i - FUZZ_UNQUEUED;

    if (fuzz_is_unqueued(i) || fuzz_times[i] == LAWN_NEVER) {
        return;
    }
    if (empty) {
        lawn__list_init(lawn__key(NULL), &fuzz_all[number].queue);
    }
    lawn__index_update(fuzz_index, fuzz_all, number);
    small_expect(fuzz_all[number].indexed_at ==
                     (empty ? LAWN_NEVER : fuzz_timers[i].deadline),
                 "I3: a settled entry");
    if (empty) {
        fuzz_times[i] = LAWN_NEVER;
    } else {
        fuzz_placed(i, fuzz_timers[i].deadline);
    }
}

/* Moves an entry down, out of a slot that is being opened. */
static void
fuzz_lower(uint32_t i)
{
    if (fuzz_times[i] == LAWN_NEVER || fuzz_level(fuzz_slots[i]) == 0 ||
        fuzz_ahead(i) > 1) {
        return;
    }
    uint32_t level = fuzz_level(fuzz_slots[i]);
    if (fuzz_is_unqueued(i)) {
        fuzz_add(i, fuzz_times[i], 0);
    } else {
        fuzz_settle(i, false);
    }
    small_expect(fuzz_level(fuzz_slots[i]) < level || !fuzz_is_unqueued(i),
                 "I4: a timer does not move down");
}

static uint64_t
fuzz_earliest(void)
{
    uint64_t earliest = LAWN_NEVER;

    for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
        earliest = fuzz_times[i] < earliest ? fuzz_times[i] : earliest;
    }
    return earliest;
}

static bool
fuzz_in_use(uint32_t slot)
{
    for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
        if (fuzz_times[i] != LAWN_NEVER && fuzz_slots[i] == slot) {
            return true;
        }
    }
    return false;
}

/* Clears empty slots that are the first of their level. The earliest times of
 * the others are lower bounds. */
static void
fuzz_first(void)
{
    uint32_t slots = (uint32_t)lawn__index_count_slots(fuzz_index->slot_bits);
    uint64_t first = LAWN_NEVER;

    for (uint32_t level = 0; level < fuzz_level(slots); level++) {
        uint32_t slot = 0;

        while ((slot = lawn__index_first_slot(fuzz_index, level)) !=
                   LAWN_INDEX_NONE &&
               !fuzz_in_use(slot)) {
            if (level == 0) {
                lawn__index_clear_tick(fuzz_index, slot);
            } else {
                lawn__index_clear_slot(fuzz_index, slot);
            }
        }
        if (slot != LAWN_INDEX_NONE && fuzz_index->earliest[slot] < first) {
            first = fuzz_index->earliest[slot];
        }
    }
    small_expect(first <= fuzz_earliest(),
                 "the first time is not the earliest");
    small_expect((first == LAWN_NEVER) == (fuzz_earliest() == LAWN_NEVER),
                 "a mark of an empty index");
}

/* The base advances, at most to the earliest time. Slots that contain the base
 * are opened, the lower ones first. All other entries keep their slots. */
static void
fuzz_advance(uint64_t to)
{
    uint64_t earliest = fuzz_earliest();

    fuzz_first();
    to = to < earliest ? to : earliest;
    to = to < LAWN_LAST ? to : LAWN_LAST;
    if (to < fuzz_index->base) {
        return;
    }
    lawn__index_set_base(fuzz_index, to);
    for (uint32_t level = 1; fuzz_index->levels >> level != 0; level++) {
        if ((fuzz_index->levels >> level & 1) == 0) {
            continue;
        }
        uint32_t slot = lawn__index_first_slot(fuzz_index, level);
        if (lawn__index_slot_start(fuzz_index, slot) > to) {
            continue;
        }
        for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
            if (fuzz_times[i] != LAWN_NEVER && fuzz_slots[i] == slot) {
                fuzz_lower(i);
            }
        }
        lawn__index_clear_slot(fuzz_index, slot);
    }
}

static void
fuzz_ready(unsigned bits)
{
    struct fuzz_index *index = &fuzz_indices[bits - LAWN_INDEX_BITS_MIN];

    fuzz_index = &index->index;
    if (fuzz_index->bits == 0) {
        fuzz_index->occupied = index->occupied;
        fuzz_index->earliest = index->earliest;
        fuzz_index->unqueued = index->unqueued;
        fuzz_index->first = index->first;
        fuzz_index->entry = index->entry;
        small_expect(lawn__index_count_slots(bits) <= FUZZ_SLOTS &&
                         lawn__index_count_words(bits) <= FUZZ_SLOTS / 16,
                     "an index is larger than it was");
        lawn__index_init(fuzz_index, bits, 0, lawn__key(NULL));
    }
    fuzz_index->horizon = LAWN_NEVER;
    for (uint32_t i = 0; i < FUZZ_BLADES; i++) {
        lawn__list_init(lawn__key(NULL), &fuzz_all[i].queue);
        fuzz_all[i].indexed_at = LAWN_NEVER;
    }
    for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
        fuzz_times[i] = LAWN_NEVER;
    }
}

static void
fuzz_run_index(unsigned bits, const uint8_t *at, const uint8_t *end)
{
    fuzz_ready(bits);
    uint64_t base = at < end ? small_extreme(*at++) : 0;
    lawn__index_set_base(fuzz_index, base - (base == LAWN_NEVER));
    for (; at + 1 < end; at += 2) {
        uint64_t far = small_extreme(at[1]);
        uint64_t time = fuzz_index->base + far;
        uint32_t i = at[0] % FUZZ_ENTRIES;

        time = time < far || time > LAWN_LAST ? LAWN_LAST : time;
        switch (at[0] >> 5) {
        case 2:
            fuzz_lower(i);
            break;
        case 3:
            fuzz_remove(i);
            break;
        case 4:
            fuzz_settle(i, (at[1] & 1) != 0);
            break;
        case 5:
            fuzz_first();
            break;
        case 6:
            fuzz_advance(time);
            break;
        case 7: /* to the earliest time, or one tick before */
            fuzz_advance(fuzz_earliest() - (at[1] & 1));
            break;
        default:
            fuzz_add(i, time, at[1] % 8);
        }
        fuzz_compare();
    }
    while (fuzz_earliest() != LAWN_NEVER) { /* removes all entries */
        fuzz_advance(fuzz_earliest());
        fuzz_compare();
        for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
            if (fuzz_times[i] == fuzz_index->base) {
                small_expect(fuzz_level(fuzz_slots[i]) == 0,
                             "I4: a due entry is at a higher level");
                fuzz_remove(i);
            }
        }
    }
    fuzz_first();
    small_expect(fuzz_index->levels == 0 && fuzz_index->count == 0,
                 "not empty");
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 0) {
        fuzz_run_index(LAWN_INDEX_BITS_MIN + bytes[0] % FUZZ_SIZES, bytes + 1,
                       bytes + size);
    }
    return 0;
}
