/* slots.h - memory in slots: records, payloads that stand outside them, and
 * buckets that overflow.
 *
 * Slots of one size stand in slabs of up to 64 KiB. A slab is filled from its
 * beginning, and after that in the order of its addresses as far as there are
 * holes; so what is started one after the other mostly stands one after the
 * other, and is read so when it fires. A slab without live slots goes back to
 * the allocator; of all slabs one such is kept, until memory is short. The first
 * slab of a size is small, each further one three times all before it.
 *
 * Slots that are likely to be given back together share slabs: those of timers
 * whose TTLs, when they were first started, were within a factor of 16. So the
 * few long timers among very many short ones do not keep all slabs in use when
 * the short ones are gone.
 *
 * Slots never move. Slabs have numbers, so that all records can be walked with
 * a cursor of a slab's number and a slot's; a number is used again once its slab
 * is gone.
 *
 * Whoever takes a slot keeps its place, 16 bits that lead back to the slab.
 */
#ifndef LAWN_STORE_SLOTS_H
#define LAWN_STORE_SLOTS_H

#include "pointers.h"

#include <stdio.h>

/* Sizes: by 8 bytes up to 256, then eight to the octave. What is larger than
 * the largest has a slab of its own. */
#define LAWN_STORE_SLOTS_FINE 256u
#define LAWN_STORE_SLOTS_MAX 16384u
#define LAWN_STORE_SLOTS_SIZES 81u

/* Groups of slabs: chained buckets; payloads, by TTL; records, by TTL. */
#define LAWN_STORE_GROUP_BUCKETS 0u
#define LAWN_STORE_GROUP_PAYLOADS 1u
#define LAWN_STORE_GROUP_RECORDS 17u
#define LAWN_STORE_GROUPS 33u

/* What taking and giving need stands together. */
struct lawn_store_slab {
    struct lawn_store_slab *next; /* of those of its size that have room: a */
    struct lawn_store_slab *prev; /* circle; only while it has room */
    struct lawn_store_size *size;
    void *block;     /* that it stands in */
    size_t bytes;    /* of the block */
    uint64_t number; /* of the slab */
    unsigned group;
    _Alignas(LAWN_STORE_LINE) uint32_t first; /* where the first slot begins */
    uint32_t slots;                           /* how many */
    uint32_t slot;                            /* bytes of each */
    uint32_t inverse;                         /* 2^32 / slot, and a little */
    uint32_t live;                            /* how many are taken */
    uint32_t full_words; /* so many words of taken are all ones */
    uint64_t taken[];    /* a bit per slot; those beyond the last are set */
};

struct lawn_store_size {
    struct lawn_store_slab *room; /* the one to take from, or NULL */
    uint64_t slots;               /* in all its slabs */
};

struct lawn_store_slots {
    struct lawn_store_memory *memory;
    struct lawn_store_size *group[LAWN_STORE_GROUPS]; /* by size; NULL: none */
    struct lawn_store_slab *spare; /* the one that holds nothing, or NULL */

    /* A word for each number: a slab; or, if the number is free, the next free
     * one in the same piece of the array, times 2, plus 1. A piece goes when none
     * of its numbers is in use. */
    struct lawn_store_pointers slabs;
    uint64_t free_number[LAWN_STORE_POINTERS_PIECES]; /* the first such */
    uint64_t in_use[LAWN_STORE_POINTERS_PIECES];
};

void lawn__store_slots_init(struct lawn_store_slots *slots,
                            struct lawn_store_memory *memory);

/* Of 16 groups, the one for that TTL; to be added to PAYLOADS or RECORDS. */
unsigned lawn__store_slots_group(uint64_t ttl);

/* A block of memory, for which the spare slab is given up if need be. NULL: no
 * memory. */
void *lawn__store_slots_block(struct lawn_store_slots *slots, size_t size);

/* A slot of at least size bytes, aligned to 8, and its place. NULL: no memory.
 * O(1). */
void *lawn__store_slots_take(struct lawn_store_slots *slots, unsigned group,
                             size_t size, uint16_t *place);
void lawn__store_slots_give(struct lawn_store_slots *slots, void *slot,
                            uint16_t place);

/* The slab of a slot. */
static inline struct lawn_store_slab *
lawn__store_slots_slab(const void *slot, uint16_t place)
{
    return (struct lawn_store_slab *)((uintptr_t)slot - (uintptr_t)place * 8);
}

/* How many bytes a slot has that was asked for with so many. */
size_t lawn__store_slots_room(size_t size);

/* The next live slot of a record from the cursor on, which moves behind it;
 * NULL: none. */
void *lawn__store_slots_walk(const struct lawn_store_slots *slots,
                             uint64_t *cursor);

/* Gives back all that holds nothing. O(1). */
void lawn__store_slots_trim(struct lawn_store_slots *slots);

/* Walks the slabs; names what is wrong on out. Adds up what they take from the
 * memory. */
bool lawn__store_slots_check(const struct lawn_store_slots *slots,
                             size_t *bytes, FILE *out);

#endif
