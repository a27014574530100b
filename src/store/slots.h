/* slots.h - allocates slots: for records, for payloads outside of them, and for
 * chained buckets.
 *
 * Slots of one size share slabs of up to 64 KiB; a slot above 16 KiB has its
 * own. The free slot with the lowest address in a slab is used first, so timers
 * that are started in sequence are mostly adjacent in memory. A slab without
 * live slots is freed, except for one spare slab, which is freed when memory is
 * short. The first slab of a size has 4 slots, the next one 16, then 64, and so
 * on until a slab takes 64 KiB.
 *
 * Only TTLs between the same two powers of 16 share slabs. Otherwise a few long
 * timers would keep all slabs in use after many short ones have ended.
 *
 * Slots never move. Slabs have numbers, so that a cursor (slab number, slot
 * number) can iterate over all records. The number of a freed slab is reused.
 * The owner of a slot stores its place, 16 bits from which the slab is
 * computed.
 */
#ifndef LAWN_STORE_SLOTS_H
#define LAWN_STORE_SLOTS_H

#include "pointers.h"

#include <stdio.h>

/* Sizes: multiples of 8 bytes up to 256, then eight sizes per power of two up
 * to 16384. A larger slot has a slab of its own. */
#define LAWN_STORE_SLOTS_FINE 256u
#define LAWN_STORE_SLOTS_MAX 16384u
#define LAWN_STORE_SLOTS_SIZES 81u

/* Groups of slabs: chained buckets; payloads, by TTL; records, by TTL. */
#define LAWN_STORE_GROUP_BUCKETS 0u
#define LAWN_STORE_GROUP_PAYLOADS 1u
#define LAWN_STORE_GROUP_RECORDS 17u
#define LAWN_STORE_GROUPS 33u

struct lawn_store_slab {
    /* Links of the ring of slabs of this size that have free slots. Not valid
     * while the slab is full. */
    struct lawn_store_slab *next;
    struct lawn_store_slab *prev;
    struct lawn_store_size *size;
    void *block;  /* the block that contains the slab */
    size_t bytes; /* size of the block */
    uint64_t number;
    unsigned group;
    _Alignas(LAWN_STORE_LINE) uint32_t first; /* offset of the first slot */
    uint32_t slots;                           /* number of slots */
    uint32_t slot;                            /* bytes of one slot */
    uint32_t inverse;                         /* floor(2^32 / slot) + 1 */
    uint32_t live;                            /* number of slots in use */
    uint32_t full_words; /* leading words of taken[] that are all ones */
    uint64_t taken[];    /* one bit per slot; bits after the last slot are
                          * set */
};

struct lawn_store_size {
    struct lawn_store_slab *room; /* the slab to take from, or NULL */
    uint64_t slots;               /* in all slabs of this size */
};

struct lawn_store_slots {
    struct lawn_store_memory *memory;
    struct lawn_store_size *group[LAWN_STORE_GROUPS]; /* by size; NULL if
                                                       * unused */
    struct lawn_store_slab *spare; /* the slab without live slots, or NULL */

    /* One word per number. If the number is in use, the word is the address of
     * its slab. Otherwise it is 2 * n + 1, where n is the next free number of
     * the same piece of the array. The last piece is freed when none of its
     * numbers is in use. */
    struct lawn_store_pointers slabs;
    uint64_t free_number[LAWN_STORE_POINTERS_PIECES]; /* first free number of
                                                       * each piece */
    uint64_t in_use[LAWN_STORE_POINTERS_PIECES];
};

void lawn__store_slots_init(struct lawn_store_slots *slots,
                            struct lawn_store_memory *memory);

/* Returns the group for a TTL, 0 to 15, to add to PAYLOADS or RECORDS. */
unsigned lawn__store_slots_group(uint64_t ttl);

/* Frees the spare slab if necessary. Returns NULL if out of memory. */
void *lawn__store_slots_block(struct lawn_store_slots *slots, size_t size);

/* Returns a slot of at least size bytes, aligned to 8, or NULL if out of
 * memory. O(1). */
void *lawn__store_slots_take(struct lawn_store_slots *slots, unsigned group,
                             size_t size, uint16_t *place);
void lawn__store_slots_give(struct lawn_store_slots *slots, void *slot,
                            uint16_t place);

static inline struct lawn_store_slab *
lawn__store_slots_slab(const void *slot, uint16_t place)
{
    return (struct lawn_store_slab *)((uintptr_t)slot - (uintptr_t)place * 8);
}

size_t lawn__store_slots_room(size_t size);

/* Returns the next live record, or NULL. */
void *lawn__store_slots_walk(const struct lawn_store_slots *slots,
                             uint64_t *cursor);

/* Frees all memory that is not in use. O(1). */
void lawn__store_slots_trim(struct lawn_store_slots *slots);

/* Adds the memory of the slabs to *bytes. */
bool lawn__store_slots_check(const struct lawn_store_slots *slots,
                             size_t *bytes, FILE *out);

#endif
