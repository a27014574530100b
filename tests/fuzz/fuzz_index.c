/* fuzz_index.c - the index and its bitmap with times at the bounds of digits,
 * compared with an array.
 *
 * 8 unqueued timers and 8 blades of one timer are inserted and removed, the
 * base advances, and due slots are opened as in src/core/mow.c. The slot of a
 * time is computed digit by digit. A case is a byte for the size of the index,
 * one for its base, then operations of two bytes.
 */
#include "internal.h"
#include "small.h"

#define FUZZ_UNQUEUED 8u
#define FUZZ_BLADES 8u
#define FUZZ_ENTRIES (FUZZ_UNQUEUED + FUZZ_BLADES)
#define FUZZ_SLOTS 2048u
#define FUZZ_SIZES (LAWN_INDEX_BITS_MAX - LAWN_INDEX_BITS_MIN + 1)

/* An index of each size, made once: each case leaves it empty. */
struct fuzz_index {
    struct lawn_index index;
    uint64_t occupied[FUZZ_SLOTS / 64];
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

/* The slot of a time, computed digit by digit from the top. */
static uint32_t
fuzz_slot(uint64_t time)
{
    unsigned bits = fuzz_index->bits;
    uint32_t level = 63 / bits;

    for (;; level--) {
        uint64_t mine = time >> (level * bits) & ((1u << bits) - 1);
        uint64_t base = fuzz_index->base >> (level * bits) & ((1u << bits) - 1);

        if (mine != base || level == 0) {
            return (level << bits) + (uint32_t)mine;
        }
    }
}

static void
fuzz_placed(uint32_t i, uint64_t time)
{
    uint32_t slot = lawn__index_slot_of(fuzz_index, time);

    fuzz_times[i] = time;
    fuzz_slots[i] = slot;
    small_expect(slot == fuzz_slot(time), "I4: the slot of a time");
    small_expect(lawn__index_slot_start(fuzz_index, slot) <= time &&
                     lawn__index_slot_end(fuzz_index, slot) >= time,
                 "I4: the bounds of a slot");
    small_expect((fuzz_index->occupied[slot / 64] >> slot % 64 & 1) != 0 &&
                     (fuzz_index->words >> slot / 64 & 1) != 0,
                 "I5: the bit of a slot");
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
        lawn__index_remove(fuzz_index, fuzz_all, i - FUZZ_UNQUEUED,
                           fuzz_slots[i]);
        lawn__list_init(lawn__key(NULL), &fuzz_all[i - FUZZ_UNQUEUED].queue);
    }
    fuzz_times[i] = LAWN_NEVER;
}

/* Inserts an unqueued timer, or a blade whose only timer is due then or
 * later. */
static void
fuzz_add(uint32_t i, uint64_t time, uint64_t later)
{
    fuzz_remove(i);
    fuzz_timers[i].deadline = time;
    if (fuzz_is_unqueued(i)) {
        const struct lawn_link *list =
            lawn__index_add_timer(fuzz_index, lawn__key(NULL), &fuzz_timers[i]);
        uint32_t slot = fuzz_slot(time);

        small_expect(
            (uint32_t)(list - fuzz_index->unqueued) / fuzz_index->lists == slot,
            "I4: the list of a slot");
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
    lawn__index_update(fuzz_index, fuzz_all, number, fuzz_slots[i]);
    small_expect(fuzz_all[number].indexed_at ==
                     (empty ? LAWN_NEVER : fuzz_timers[i].deadline),
                 "I3: a settled entry");
    if (empty) {
        fuzz_times[i] = LAWN_NEVER;
    } else {
        fuzz_placed(i, fuzz_timers[i].deadline);
    }
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

/* The earliest slot in use, or NONE. Marked slots before it are empty. */
static uint32_t
fuzz_first(void)
{
    uint64_t earliest = fuzz_earliest();
    uint32_t slot = 0;

    while ((slot = lawn__index_first_slot(fuzz_index)) != LAWN_INDEX_NONE &&
           !fuzz_in_use(slot)) {
        small_expect(fuzz_index->first[slot] == LAWN_INDEX_NONE,
                     "I4: an entry in an empty slot");
        lawn__index_clear_slot(fuzz_index, slot);
    }
    small_expect(slot == (earliest == LAWN_NEVER ? LAWN_INDEX_NONE
                                                 : fuzz_slot(earliest)),
                 "the first slot is not that of the earliest time");
    return slot;
}

/* The base advances to a time before all others, or at most to the earliest.
 * Then the entries in its slot move down. All others keep their slots. */
static void
fuzz_advance(uint64_t to)
{
    uint32_t slot = fuzz_first();
    uint64_t earliest = fuzz_earliest();
    uint32_t many = 0;

    to = to < earliest ? to : earliest;
    to = to < LAWN_LAST ? to : LAWN_LAST;
    if (to < fuzz_index->base) {
        return;
    }
    uint32_t moved[FUZZ_ENTRIES];
    if (slot != LAWN_INDEX_NONE &&
        to >= lawn__index_slot_start(fuzz_index, slot)) {
        for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
            if (fuzz_times[i] != LAWN_NEVER && fuzz_slots[i] == slot) {
                moved[many++] = i;
            }
        }
    }
    for (uint32_t i = 0; i < many; i++) {
        uint64_t time = fuzz_times[moved[i]];

        fuzz_remove(moved[i]);
        fuzz_times[moved[i]] = time;
    }
    if (many > 0) {
        lawn__index_clear_slot(fuzz_index, slot);
    }
    fuzz_index->base = to;
    for (uint32_t i = 0; i < many; i++) {
        uint64_t time = fuzz_times[moved[i]];

        fuzz_times[moved[i]] = LAWN_NEVER;
        fuzz_add(moved[i], time, fuzz_timers[moved[i]].deadline - time);
    }
    for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
        small_expect(fuzz_times[i] == LAWN_NEVER ||
                         lawn__index_slot_of(fuzz_index, fuzz_times[i]) ==
                             fuzz_slots[i],
                     "I4: a slot has changed as the base moved on");
    }
}

static void
fuzz_ready(unsigned bits)
{
    struct fuzz_index *index = &fuzz_indices[bits - LAWN_INDEX_BITS_MIN];

    fuzz_index = &index->index;
    if (fuzz_index->bits == 0) {
        fuzz_index->occupied = index->occupied;
        fuzz_index->unqueued = index->unqueued;
        fuzz_index->first = index->first;
        fuzz_index->entry = index->entry;
        small_expect(lawn__index_count_slots(bits) <= FUZZ_SLOTS &&
                         lawn__index_count_words(bits) <= 64,
                     "an index is larger than it was");
        lawn__index_init(fuzz_index, bits, 0, lawn__key(NULL));
    }
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
    fuzz_index->base = at < end ? small_extreme(*at++) : 0;
    fuzz_index->base -= fuzz_index->base == LAWN_NEVER;
    for (; at + 1 < end; at += 2) {
        uint64_t far = small_extreme(at[1]);
        uint64_t time = fuzz_index->base + far;
        uint32_t i = at[0] % FUZZ_ENTRIES;

        time = time < far || time > LAWN_LAST ? LAWN_LAST : time;
        switch (at[0] >> 5) {
        case 3:
            fuzz_remove(i);
            break;
        case 4:
            fuzz_settle(i, (at[1] & 1) != 0);
            break;
        case 5:
            (void)fuzz_first();
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
    }
    while (fuzz_first() != LAWN_INDEX_NONE) { /* removes all entries */
        fuzz_advance(fuzz_earliest());
        for (uint32_t i = 0; i < FUZZ_ENTRIES; i++) {
            if (fuzz_times[i] == fuzz_index->base) {
                fuzz_remove(i);
            }
        }
    }
    small_expect(fuzz_index->words == 0 && fuzz_index->count == 0, "not empty");
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
