/* slots.c - see slots.h. */
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

#define LAWN_STORE_SLOTS_LEAST 4u
/* A slab that fills a block begins up to so many bytes into it: if all began at
 * the start of theirs, their heads would fall into the same few lines of the
 * cache. */
#define LAWN_STORE_SLOTS_COLOURS (16u * LAWN_STORE_LINE)
/* No number: also what is left of it in a word of slots->slabs. */
#define LAWN_STORE_SLOTS_NONE ((uint64_t)(UINTPTR_MAX >> 1))

void
lawn_store_slots_init(struct lawn_store_slots *slots,
                      struct lawn_store_memory *memory)
{
    memset(slots, 0, sizeof *slots);
    slots->memory = memory;
    slots->free_number = LAWN_STORE_SLOTS_NONE;
}

unsigned
lawn_store_slots_group(uint64_t ttl)
{
    unsigned log16 = (63u - (unsigned)__builtin_clzll(ttl | 1)) / 4;

    return LAWN_STORE_GROUP_RECORDS +
           log16 % (LAWN_STORE_GROUPS - LAWN_STORE_GROUP_RECORDS);
}

/* Which size serves so many bytes, and how large its slots are. Size 0 is for
 * what has a slab of its own. */
static unsigned
lawn_store_slots_size(size_t bytes, uint32_t *slot)
{
    unsigned shift;
    size_t steps;

    if (bytes <= LAWN_STORE_SLOTS_FINE) {
        *slot = (uint32_t)(bytes + 7) & ~7u;
        return *slot / 8;
    }
    if (bytes > LAWN_STORE_SLOTS_MAX) {
        *slot = (uint32_t)(bytes + 7) & ~7u;
        return 0;
    }
    shift = 60u - (unsigned)__builtin_clzll((uint64_t)bytes - 1);
    steps = ((bytes - 1) >> shift) + 1;
    *slot = (uint32_t)(steps << shift);
    return LAWN_STORE_SLOTS_FINE / 8 + (shift - 5) * 8 + (unsigned)steps - 8;
}

/* Bytes of a slab up to its first slot. Slots of whole cache lines begin on
 * one. */
static size_t
lawn_store_slots_head(uint32_t slots, uint32_t slot)
{
    size_t head =
        offsetof(struct lawn_store_slab, taken) + (slots + 63) / 64 * 8;
    size_t align = slot % LAWN_STORE_LINE == 0 ? LAWN_STORE_LINE : 8;

    return (head + align - 1) / align * align;
}

/* How many slots a slab has at most: as many as fit into a block. */
static uint32_t
lawn_store_slots_most(uint32_t slot)
{
    const uint32_t room = LAWN_STORE_BLOCK - LAWN_STORE_SLOTS_COLOURS;
    uint32_t most = room / slot;

    while (lawn_store_slots_head(most, slot) + (size_t)most * slot > room) {
        most--;
    }
    return most;
}

/* Gives a slab a number. False: no memory. */
static bool
lawn_store_slots_number(struct lawn_store_slots *slots,
                        struct lawn_store_slab *slab)
{
    uintptr_t *at;

    if (slots->free_number == LAWN_STORE_SLOTS_NONE) {
        slab->number = slots->slabs.count;
        return lawn_store_pointers_add(&slots->slabs, slots->memory,
                                       (uintptr_t)slab);
    }
    slab->number = slots->free_number;
    at = lawn_store_pointers_at(&slots->slabs, slab->number);
    slots->free_number = (uint64_t)*at >> 1;
    *at = (uintptr_t)slab;
    return true;
}

static void
lawn_store_slots_enter(struct lawn_store_slab *slab)
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

static void
lawn_store_slots_leave(struct lawn_store_slab *slab)
{
    if (slab->size->room == slab) {
        slab->size->room = slab->next != slab ? slab->next : NULL;
    }
    slab->next->prev = slab->prev;
    slab->prev->next = slab->next;
}

/* A slab of its own for one slot, or one more of its size. */
LAWN_STORE_NOINLINE static struct lawn_store_slab *
lawn_store_slots_add(struct lawn_store_slots *slots, unsigned group,
                     struct lawn_store_size *size, uint32_t slot)
{
    bool own = slot > LAWN_STORE_SLOTS_MAX;
    uint32_t most = own ? 1 : lawn_store_slots_most(slot);
    uint32_t many = size->slots < most ? (uint32_t)size->slots : most;
    size_t colour = 0;
    size_t head;
    size_t bytes;
    char *block;
    struct lawn_store_slab *slab;

    if (!own && many < LAWN_STORE_SLOTS_LEAST) {
        many = LAWN_STORE_SLOTS_LEAST;
    }
    many = many > 0 ? many : 1;
    head = lawn_store_slots_head(many, slot);
    bytes = head + (size_t)many * slot;
    if (!own && many == most) {
        bytes = LAWN_STORE_BLOCK;
        colour =
            slots->slabs.count * LAWN_STORE_LINE % LAWN_STORE_SLOTS_COLOURS;
    }
    block = (char *)lawn_store_memory_take(slots->memory, bytes);
    if (block == NULL) {
        return NULL;
    }
    slab = (struct lawn_store_slab *)(void *)(block + colour);
    if (!lawn_store_slots_number(slots, slab)) {
        lawn_store_memory_give(slots->memory, block, bytes);
        return NULL;
    }
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
    lawn_store_slots_enter(slab);
    return slab;
}

LAWN_STORE_NOINLINE static void
lawn_store_slots_remove(struct lawn_store_slots *slots,
                        struct lawn_store_slab *slab)
{
    lawn_store_slots_leave(slab);
    slab->size->slots -= slab->slots;
    *lawn_store_pointers_at(&slots->slabs, slab->number) =
        (uintptr_t)(slots->free_number << 1 | 1);
    slots->free_number = slab->number;
    LAWN_STORE_SLOTS_SHOW((char *)slab + slab->first,
                          (size_t)slab->slots * slab->slot);
    lawn_store_memory_give(slots->memory, slab->block, slab->bytes);
}

void *
lawn_store_slots_take(struct lawn_store_slots *slots, unsigned group,
                      size_t size, uint16_t *place)
{
    uint32_t slot;
    struct lawn_store_size *of =
        &slots->size[group][lawn_store_slots_size(size, &slot)];
    struct lawn_store_slab *slab = of->room;
    uint32_t word;
    uint32_t number;
    uint32_t offset;

    if (slab == NULL) {
        slab = lawn_store_slots_add(slots, group, of, slot);
        if (slab == NULL) {
            return NULL;
        }
    }
    word = slab->full_words;
    while (slab->taken[word] == ~UINT64_C(0)) {
        word++;
    }
    slab->full_words = word;
    number = word * 64 + (uint32_t)__builtin_ctzll(~slab->taken[word]);
    LAWN_STORE_EXPECT(number < slab->slots, "a slab has room, but no slot");
    slab->taken[word] |= slab->taken[word] + 1;
    if (++slab->live == slab->slots) {
        lawn_store_slots_leave(slab);
    }
    offset = slab->first + number * slab->slot;
    *place = (uint16_t)(offset / 8);
    LAWN_STORE_SLOTS_SHOW((char *)slab + offset, slab->slot);
    return (char *)slab + offset;
}

static struct lawn_store_slab *
lawn_store_slots_slab(const void *slot, uint16_t place)
{
    return (struct lawn_store_slab *)((uintptr_t)slot - (uintptr_t)place * 8);
}

size_t
lawn_store_slots_room(const void *slot, uint16_t place)
{
    return lawn_store_slots_slab(slot, place)->slot;
}

void
lawn_store_slots_give(struct lawn_store_slots *slots, void *slot,
                      uint16_t place)
{
    struct lawn_store_slab *slab = lawn_store_slots_slab(slot, place);
    uint32_t number =
        (uint32_t)(((uint64_t)(place * 8u - slab->first) * slab->inverse) >>
                   32);
    uint32_t word = number / 64;

    LAWN_STORE_EXPECT((slab->taken[word] >> number % 64 & 1) != 0 &&
                          slab->first + number * slab->slot == place * 8u,
                      "a slot is given back twice");
    LAWN_STORE_SLOTS_HIDE(slot, slab->slot);
    slab->taken[word] &= ~(UINT64_C(1) << number % 64);
    if (word < slab->full_words) {
        slab->full_words = word;
    }
    if (slab->live-- == slab->slots) {
        lawn_store_slots_enter(slab);
    }
    if (slab->live == 0 &&
        (slab->next != slab || slab->slot > LAWN_STORE_SLOTS_MAX)) {
        lawn_store_slots_remove(slots, slab);
    }
}

/* Whether a number is free. */
static bool
lawn_store_slots_free(uintptr_t word)
{
    return (word & 1) != 0;
}

void *
lawn_store_slots_walk(const struct lawn_store_slots *slots, uint64_t *cursor)
{
    uint64_t number = *cursor >> 16;
    uint32_t slot = (uint32_t)(*cursor & 0xffff);

    for (; number < slots->slabs.count; number++) {
        uintptr_t word = *lawn_store_pointers_at(&slots->slabs, number);
        struct lawn_store_slab *slab = (struct lawn_store_slab *)word;

        if (lawn_store_slots_free(word) ||
            slab->group == LAWN_STORE_GROUP_BUCKETS) {
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
lawn_store_slots_trim(struct lawn_store_slots *slots)
{
    uint64_t left = 0;
    unsigned group;
    unsigned i;

    for (group = 0; group < LAWN_STORE_GROUPS; group++) {
        for (i = 0; i <= LAWN_STORE_SLOTS_SIZES; i++) {
            struct lawn_store_slab *slab = slots->size[group][i].room;

            if (slab != NULL && slab->live == 0) {
                lawn_store_slots_remove(slots, slab);
            }
            left += slots->size[group][i].slots;
        }
    }
    /* If all numbers are free, they are forgotten. */
    while (left == 0 && slots->slabs.count > 0) {
        slots->free_number = LAWN_STORE_SLOTS_NONE;
        lawn_store_pointers_drop(&slots->slabs, slots->memory);
    }
}

static bool
lawn_store_slots_wrong(FILE *out, const char *what, uint64_t number)
{
    if (out != NULL) {
        (void)fprintf(out, "slab %llu: %s\n", (unsigned long long)number, what);
    }
    return false;
}

static bool
lawn_store_slots_check_slab(const struct lawn_store_slab *slab, uint64_t number,
                            FILE *out)
{
    uint32_t words = (slab->slots + 63) / 64;
    uint32_t bits = 0;
    uint32_t i;

    for (i = 0; i < words; i++) {
        bits += (uint32_t)__builtin_popcountll(slab->taken[i]);
        if (i < slab->full_words && slab->taken[i] != ~UINT64_C(0)) {
            return lawn_store_slots_wrong(out, "a full word is not", number);
        }
    }
    if (bits != slab->live + words * 64 - slab->slots) {
        return lawn_store_slots_wrong(out, "live slots miscounted", number);
    }
    if (slab->number != number) {
        return lawn_store_slots_wrong(out, "has another number", number);
    }
    if (slab->live < slab->slots &&
        (slab->next->prev != slab || slab->prev->next != slab)) {
        return lawn_store_slots_wrong(out, "has room, but is not listed",
                                      number);
    }
    return true;
}

bool
lawn_store_slots_check(const struct lawn_store_slots *slots, size_t *bytes,
                       FILE *out)
{
    uint64_t number;

    for (number = 0; number < slots->slabs.count; number++) {
        uintptr_t word = *lawn_store_pointers_at(&slots->slabs, number);
        const struct lawn_store_slab *slab =
            (const struct lawn_store_slab *)word;

        if (lawn_store_slots_free(word)) {
            continue;
        }
        if (!lawn_store_slots_check_slab(slab, number, out)) {
            return false;
        }
        *bytes += lawn_store_memory_cost(slots->memory, slab->bytes);
    }
    return true;
}
