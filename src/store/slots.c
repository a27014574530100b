/* slots.c - allocates slots: see slots.h. */
#include "slots.h"

#include "expect.h"

#include <string.h>

#if defined __SANITIZE_ADDRESS__
#define LAWN_STORE_SLOTS_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define LAWN_STORE_SLOTS_ASAN 1
#endif
#endif
#if defined LAWN_STORE_SLOTS_ASAN
#include <sanitizer/asan_interface.h>
#define LAWN_STORE_SLOTS_HIDE(at, size) __asan_poison_memory_region(at, size)
#define LAWN_STORE_SLOTS_SHOW(at, size) __asan_unpoison_memory_region(at, size)
#else
#define LAWN_STORE_SLOTS_HIDE(at, size) ((void)(at), (void)(size))
#define LAWN_STORE_SLOTS_SHOW(at, size) ((void)(at), (void)(size))
#endif

/* Slots in the first slab of a size. */
#define LAWN_STORE_SLOTS_LEAST 4u
/* Slabs that fill a block begin at different offsets below this. Otherwise
 * their headers would compete for the same few cache lines. */
#define LAWN_STORE_SLOTS_COLORS (16u * LAWN_STORE_LINE)
/* Means "no number"; 2 * it + 1 fits in a word. */
#define LAWN_STORE_SLOTS_NONE ((uint64_t)(UINTPTR_MAX >> 1))

void
lawn__store_slots_init(struct lawn_store_slots *slots,
                       struct lawn_store_memory *memory)
{
    memset(slots, 0, sizeof(*slots));
    slots->memory = memory;
    for (unsigned piece = 0; piece < LAWN_STORE_POINTERS_PIECES; piece++) {
        slots->free_number[piece] = LAWN_STORE_SLOTS_NONE;
    }
}

/*@ assigns \nothing;
  @ ensures \result < LAWN_STORE_GROUP_RECORDS - LAWN_STORE_GROUP_PAYLOADS;
  @ ensures LAWN_STORE_GROUP_RECORDS + \result < LAWN_STORE_GROUPS;
  @*/
unsigned
lawn__store_slots_group(uint64_t ttl)
{
    return (63u - (unsigned)__builtin_clzll(ttl | 1)) / 4;
}

/* Sets *slot to the size of a slot for this number of bytes. Returns the index
 * of that size; 0 for slots with a slab of their own. */
static unsigned
find_size(size_t bytes, uint32_t *slot)
{

    if (bytes <= LAWN_STORE_SLOTS_FINE) {
        *slot = (uint32_t)(bytes + 7) & ~7u;
        return *slot / 8;
    }
    if (bytes > LAWN_STORE_SLOTS_MAX) {
        *slot = (uint32_t)(bytes + 7) & ~7u;
        return 0;
    }
    unsigned shift = 60u - (unsigned)__builtin_clzll((uint64_t)bytes - 1);
    size_t steps = ((bytes - 1) >> shift) + 1;
    *slot = (uint32_t)(steps << shift);
    return LAWN_STORE_SLOTS_FINE / 8 + (shift - 5) * 8 + (unsigned)steps - 8;
}

size_t
lawn__store_slots_room(size_t size)
{
    uint32_t slot = 0;

    (void)find_size(size, &slot);
    return slot;
}

/* Returns the offset of the first slot. If a slot consists of whole cache
 * lines, it begins at a line. */
/*@ requires 0 < slots <= LAWN_STORE_BLOCK && slot > 0;
  @ assigns \nothing;
  @ ensures room: \result >= (slots + 63) / 64 * 8;
  @ ensures aligned: \result % 8 == 0;
  @ ensures line: slot % LAWN_STORE_LINE == 0 ==>
  @     \result % LAWN_STORE_LINE == 0;
  @*/
static size_t
header_size(uint32_t slots, uint32_t slot)
{
    size_t head =
        offsetof(struct lawn_store_slab, taken) + (slots + 63) / 64 * 8;
    size_t align = slot % LAWN_STORE_LINE == 0 ? LAWN_STORE_LINE : 8;

    return (head + align - 1) / align * align;
}

static uint32_t
slots_per_slab(uint32_t slot)
{
    const uint32_t room = LAWN_STORE_BLOCK - LAWN_STORE_SLOTS_COLORS;
    uint32_t most = room / slot;

    if (slot > LAWN_STORE_SLOTS_MAX) {
        return 1;
    }
    while (header_size(most, slot) + (size_t)most * slot > room) {
        most--;
    }
    return most;
}

static bool
is_free(uintptr_t word)
{
    return (word & 1) != 0;
}

/* Takes a free number of the lowest piece that has any, or a new one. Returns
 * false if out of memory. */
static bool
take_number(struct lawn_store_slots *slots, uint64_t *number)
{
    unsigned pieces = lawn__store_pointers_pieces(&slots->slabs);
    unsigned piece = 0;

    while (piece < pieces &&
           slots->free_number[piece] == LAWN_STORE_SLOTS_NONE) {
        piece++;
    }
    if (piece < pieces) {
        *number = slots->free_number[piece];
        slots->free_number[piece] =
            (uint64_t)*lawn__store_pointers_at(&slots->slabs, *number) >> 1;
    } else {
        *number = slots->slabs.count;
        if (!lawn__store_pointers_add(&slots->slabs, slots->memory, 0)) {
            return false;
        }
        piece = lawn__store_pointers_piece(*number);
    }
    slots->in_use[piece]++;
    return true;
}

static void
release_number(struct lawn_store_slots *slots, uint64_t number)
{
    unsigned piece = lawn__store_pointers_piece(number);

    *lawn__store_pointers_at(&slots->slabs, number) =
        (uintptr_t)(slots->free_number[piece] << 1 | 1);
    slots->free_number[piece] = number;
    slots->in_use[piece]--;
    while (slots->slabs.count > 0) {
        piece = lawn__store_pointers_pieces(&slots->slabs) - 1;
        if (slots->in_use[piece] > 0) {
            break;
        }
        slots->free_number[piece] = LAWN_STORE_SLOTS_NONE;
        lawn__store_pointers_drop_piece(&slots->slabs, slots->memory);
    }
}

/*@ requires \valid(&slab->next) && \valid(&slab->prev);
  @ requires \valid_read(&slab->size) && \valid(&slab->size->room);
  @ requires room: slab->size->room != \null ==>
  @     \valid_read(&slab->size->room->next) &&
  @     \valid(&slab->size->room->prev) &&
  @     \valid(&slab->size->room->prev->next) &&
  @     slab->size->room != slab && slab->size->room->prev != slab;
  @ requires apart: \separated(&slab->size->room, &slab->next, &slab->prev,
  @     &slab->size->room->prev, &slab->size->room->prev->next, &slab->size);
  @ assigns slab->next, slab->prev, slab->size->room,
  @     slab->size->room->prev, slab->size->room->prev->next;
  @ ensures alone: \old(slab->size->room) == \null ==>
  @     slab->size->room == slab && slab->next == slab && slab->prev == slab;
  @ ensures last: \old(slab->size->room) != \null ==>
  @     slab->size->room == \old(slab->size->room) &&
  @     slab->next == slab->size->room && slab->next->prev == slab &&
  @     slab->prev == \old(slab->size->room->prev) &&
  @     slab->prev->next == slab;
  @*/
static void
link_slab(struct lawn_store_slab *slab)
{
    struct lawn_store_slab *room = slab->size->room;

    if (room == NULL) {
        slab->next = slab->prev = slab;
        slab->size->room = slab;
        return;
    }
    slab->next = room;
    slab->prev = room->prev;
    slab->prev->next = slab;
    room->prev = slab;
}

/*@ requires \valid(&slab->next) && \valid(&slab->prev);
  @ requires \valid_read(&slab->size) && \valid(&slab->size->room);
  @ requires \valid(&slab->next->prev) && \valid(&slab->prev->next);
  @ requires agree: slab->next->prev == slab && slab->prev->next == slab;
  @ requires apart: \separated(&slab->size->room, &slab->next, &slab->prev,
  @     &slab->size) &&
  @     \separated(&slab->size->room, &slab->next->prev, &slab->prev->next) &&
  @     \separated(&slab->size, &slab->next->prev, &slab->prev->next);
  @ assigns slab->size->room, slab->next->prev, slab->prev->next;
  @ ensures kept: \old(slab->size->room) != slab ==>
  @     slab->size->room == \old(slab->size->room);
  @ ensures none: \old(slab->size->room) == slab && \old(slab->next) == slab ==>
  @     slab->size->room == \null;
  @ ensures next: \old(slab->size->room) == slab && \old(slab->next) != slab ==>
  @     slab->size->room == \old(slab->next);
  @ ensures agree: \old(slab->next) != slab && \old(slab->prev) != slab ==>
  @     slab->prev->next == slab->next && slab->next->prev == slab->prev;
  @*/
static void
unlink_slab(struct lawn_store_slab *slab)
{
    if (slab->size->room == slab) {
        slab->size->room = slab->next != slab ? slab->next : NULL;
    }
    slab->next->prev = slab->prev;
    slab->prev->next = slab->next;
}

/* The slab must have no live slots. */
LAWN_NOINLINE static void
free_slab(struct lawn_store_slots *slots, struct lawn_store_slab *slab)
{
    unlink_slab(slab);
    slab->size->slots -= slab->slots;
    release_number(slots, slab->number);
    LAWN_STORE_SLOTS_SHOW((char *)slab + slab->first,
                          (size_t)slab->slots * slab->slot);
    lawn__store_memory_give(slots->memory, slab->block, slab->bytes);
}

static void
free_spare(struct lawn_store_slots *slots)
{
    if (slots->spare != NULL) {
        free_slab(slots, slots->spare);
        slots->spare = NULL;
    }
}

void *
lawn__store_slots_block(struct lawn_store_slots *slots, size_t size)
{
    void *block = lawn__store_memory_take(slots->memory, size);

    if (LAWN_STORE_UNLIKELY(block == NULL) && slots->spare != NULL) {
        free_spare(slots);
        block = lawn__store_memory_take(slots->memory, size);
    }
    return block;
}

/* On failure, returns NULL and has allocated nothing. */
LAWN_NOINLINE static struct lawn_store_slab *
add_slab(struct lawn_store_slots *slots, unsigned group,
         struct lawn_store_size *size, uint32_t slot)
{
    uint32_t most = slots_per_slab(slot);
    uint64_t wanted = 3 * size->slots + LAWN_STORE_SLOTS_LEAST;
    uint32_t many = wanted < most ? (uint32_t)wanted : most;
    size_t head = header_size(many, slot);
    size_t bytes = head + (size_t)many * slot;
    size_t color = 0;
    uint64_t number = 0;

    if (!take_number(slots, &number)) {
        return NULL;
    }
    if (many == most && slot <= LAWN_STORE_SLOTS_MAX) {
        bytes = LAWN_STORE_BLOCK;
        color = number * LAWN_STORE_LINE % LAWN_STORE_SLOTS_COLORS;
    }
    char *block = (char *)lawn__store_memory_take(slots->memory, bytes);
    if (block == NULL) {
        release_number(slots, number);
        return NULL;
    }
    struct lawn_store_slab *slab =
        (struct lawn_store_slab *)(void *)(block + color);
    *lawn__store_pointers_at(&slots->slabs, number) = (uintptr_t)slab;
    slab->number = number;
    slab->block = block;
    slab->group = group;
    slab->size = size;
    slab->bytes = bytes;
    slab->slot = slot;
    slab->inverse = (uint32_t)((UINT64_C(1) << 32) / slot + 1);
    slab->first = (uint32_t)head;
    slab->slots = many;
    slab->live = 0;
    slab->full_words = 0;
    memset(slab->taken, 0, (many + 63) / 64 * 8);
    if (many % 64 != 0) {
        slab->taken[many / 64] = ~UINT64_C(0) << many % 64;
    }
    size->slots += many;
    LAWN_STORE_SLOTS_HIDE((char *)slab + head, (size_t)many * slot);
    link_slab(slab);
    return slab;
}

LAWN_NOINLINE static struct lawn_store_size *
add_group(struct lawn_store_slots *slots, unsigned group)
{
    size_t bytes = LAWN_STORE_SLOTS_SIZES * sizeof(struct lawn_store_size);
    void *sizes = lawn__store_slots_block(slots, bytes);

    if (sizes != NULL) {
        memset(sizes, 0, bytes);
        slots->group[group] = (struct lawn_store_size *)sizes;
    }
    return (struct lawn_store_size *)sizes;
}

void *
lawn__store_slots_take(struct lawn_store_slots *slots, unsigned group,
                       size_t size, uint16_t *place)
{
    uint32_t slot = 0;
    unsigned index = find_size(size, &slot);
    struct lawn_store_size *sizes = slots->group[group];

    if (LAWN_STORE_UNLIKELY(sizes == NULL)) {
        sizes = add_group(slots, group);
        if (sizes == NULL) {
            return NULL;
        }
    }
    struct lawn_store_slab *slab = sizes[index].room;
    if (LAWN_STORE_UNLIKELY(slab == NULL)) {
        slab = add_slab(slots, group, &sizes[index], slot);
        if (slab == NULL && slots->spare != NULL) {
            free_spare(slots);
            slab = add_slab(slots, group, &sizes[index], slot);
        }
        if (slab == NULL) {
            return NULL;
        }
    }
    if (LAWN_STORE_UNLIKELY(slab == slots->spare)) {
        slots->spare = NULL;
    }
    uint32_t word = slab->full_words;
    while (slab->taken[word] == ~UINT64_C(0)) {
        word++;
    }
    slab->full_words = word;
    uint32_t number = word * 64 + (uint32_t)__builtin_ctzll(~slab->taken[word]);
    LAWN_ASSERT(number < slab->slots, "a slab with room has no free slot");
    slab->taken[word] |= slab->taken[word] + 1;
    if (++slab->live == slab->slots) {
        unlink_slab(slab);
    }
    uint32_t offset = slab->first + number * slab->slot;
    *place = (uint16_t)(offset / 8);
    LAWN_STORE_SLOTS_SHOW((char *)slab + offset, slab->slot);
    return (char *)slab + offset;
}

void
lawn__store_slots_give(struct lawn_store_slots *slots, void *slot,
                       uint16_t place)
{
    struct lawn_store_slab *slab = lawn__store_slots_slab(slot, place);
    uint32_t number =
        (uint32_t)(((uint64_t)(place * 8u - slab->first) * slab->inverse) >>
                   32);
    uint32_t word = number / 64;

    LAWN_ASSERT((slab->taken[word] >> number % 64 & 1) != 0 &&
                    slab->first + number * slab->slot == place * 8u,
                "a slot was freed twice");
    LAWN_STORE_SLOTS_HIDE(slot, slab->slot);
    slab->taken[word] &= ~(UINT64_C(1) << number % 64);
    if (word < slab->full_words) {
        slab->full_words = word;
    }
    if (slab->live-- == slab->slots) {
        link_slab(slab);
    }
    if (LAWN_STORE_UNLIKELY(slab->live == 0)) {
        /* Do not keep a slab of one slot. Of this slab and the spare, keep the
         * one with the lower number, so that high numbers become free. */
        if (slab->slot > LAWN_STORE_SLOTS_MAX ||
            (slots->spare != NULL && slots->spare->number < slab->number)) {
            free_slab(slots, slab);
        } else {
            free_spare(slots);
            slots->spare = slab;
        }
    }
}

void *
lawn__store_slots_walk(const struct lawn_store_slots *slots, uint64_t *cursor)
{
    uint64_t number = *cursor >> 16;
    uint32_t slot = (uint32_t)(*cursor & 0xffff);

    for (; number < slots->slabs.count; number++) {
        uintptr_t word = *lawn__store_pointers_at(&slots->slabs, number);
        struct lawn_store_slab *slab = (struct lawn_store_slab *)word;

        if (is_free(word) || slab->group < LAWN_STORE_GROUP_RECORDS) {
            slot = 0;
            continue;
        }
        while (slot < slab->slots) {
            uint64_t taken = slab->taken[slot / 64] >> slot % 64;

            if (taken == 0) {
                slot = (slot / 64 + 1) * 64;
                continue;
            }
            slot += (uint32_t)__builtin_ctzll(taken);
            if (slot < slab->slots) {
                *cursor = number << 16 | (slot + 1);
                return (char *)slab + slab->first + slot * slab->slot;
            }
        }
        slot = 0;
    }
    *cursor = number << 16;
    return NULL;
}

void
lawn__store_slots_trim(struct lawn_store_slots *slots)
{
    free_spare(slots);
    for (unsigned group = 0; group < LAWN_STORE_GROUPS; group++) {
        struct lawn_store_size *sizes = slots->group[group];
        uint64_t left = 0;

        for (unsigned i = 0; sizes != NULL && i < LAWN_STORE_SLOTS_SIZES; i++) {
            left += sizes[i].slots;
        }
        if (sizes != NULL && left == 0) {
            lawn__store_memory_give(slots->memory, sizes,
                                    LAWN_STORE_SLOTS_SIZES * sizeof(*sizes));
            slots->group[group] = NULL;
        }
    }
}

static bool
report_broken(FILE *out, const char *what, uint64_t number)
{
    if (out != NULL) {
        (void)fprintf(out, "lawn_store_check: slab %llu: %s\n",
                      (unsigned long long)number, what);
    }
    return false;
}

static bool
check_slab(const struct lawn_store_slab *slab, uint64_t number, FILE *out)
{
    uint32_t words = (slab->slots + 63) / 64;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < words; i++) {
        bits += (uint32_t)__builtin_popcountll(slab->taken[i]);
        if (i < slab->full_words && slab->taken[i] != ~UINT64_C(0)) {
            return report_broken(out, "a word counted as full is not full",
                                 number);
        }
    }
    if (bits != slab->live + words * 64 - slab->slots) {
        return report_broken(out, "live slots miscounted", number);
    }
    if (slab->number != number) {
        return report_broken(out, "has a wrong number", number);
    }
    if (slab->live < slab->slots &&
        (slab->next->prev != slab || slab->prev->next != slab)) {
        return report_broken(out, "has room, but is not listed", number);
    }
    return true;
}

static bool
check_numbers(const struct lawn_store_slots *slots, uint64_t free_numbers,
              FILE *out)
{
    for (unsigned piece = 0; piece < LAWN_STORE_POINTERS_PIECES; piece++) {
        uint64_t number = slots->free_number[piece];

        for (; number != LAWN_STORE_SLOTS_NONE; free_numbers--) {
            if (free_numbers == 0 || number >= slots->slabs.count ||
                lawn__store_pointers_piece(number) != piece) {
                return report_broken(out, "invalid free number", number);
            }
            uintptr_t word = *lawn__store_pointers_at(&slots->slabs, number);
            if (!is_free(word)) {
                return report_broken(out, "not free", number);
            }
            number = (uint64_t)word >> 1;
        }
    }
    if (free_numbers != 0) {
        return report_broken(out, "free, but not listed", free_numbers);
    }
    return true;
}

/* Adds the memory of the groups' arrays to *bytes. */
static uint64_t
sum_groups(const struct lawn_store_slots *slots, size_t *bytes)
{
    uint64_t all = 0;

    for (unsigned group = 0; group < LAWN_STORE_GROUPS; group++) {
        const struct lawn_store_size *sizes = slots->group[group];

        if (sizes != NULL) {
            *bytes += lawn__store_memory_cost(
                slots->memory, LAWN_STORE_SLOTS_SIZES * sizeof(*sizes));
            for (unsigned i = 0; i < LAWN_STORE_SLOTS_SIZES; i++) {
                all += sizes[i].slots;
            }
        }
    }
    return all;
}

bool
lawn__store_slots_check(const struct lawn_store_slots *slots, size_t *bytes,
                        FILE *out)
{
    uint64_t all = sum_groups(slots, bytes);
    uint64_t free_numbers = 0;
    uint32_t slot = 0;

    for (uint64_t number = 0; number < slots->slabs.count; number++) {
        uintptr_t word = *lawn__store_pointers_at(&slots->slabs, number);
        const struct lawn_store_slab *slab =
            (const struct lawn_store_slab *)word;

        if (is_free(word)) {
            free_numbers++;
            continue;
        }
        if (!check_slab(slab, number, out)) {
            return false;
        }
        if (slab->size !=
            &slots->group[slab->group][find_size(slab->slot, &slot)]) {
            return report_broken(out, "belongs to another size", number);
        }
        if (slab->live == 0 && slab != slots->spare) {
            return report_broken(out, "is empty but was not freed", number);
        }
        *bytes += lawn__store_memory_cost(slots->memory, slab->bytes);
        all -= slab->slots;
    }
    if (all != 0) {
        return report_broken(out, "slots miscounted by this number", all);
    }
    return check_numbers(slots, free_numbers, out);
}
