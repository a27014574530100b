/* slots.h - memory in slots: records, and buckets that overflow.
 *
 * Slots of one size stand in slabs of up to 64 KiB. A slab is filled from its
 * beginning, and after that in the order of its addresses as far as there are
 * holes; so what is started one after the other mostly stands one after the
 * other, and is read so when it fires. A slab without live slots goes back to
 * the allocator; each size and group keeps at most one such. The first slab of a size is
 * small, each further one as large as all before it.
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
#define LAWN_STORE_SLOTS_MAX 2048u
#define LAWN_STORE_SLOTS_SIZES 56u

/* Slots that are likely to be given back together share slabs: buckets, and
 * records by their TTL, those within a factor of 16 in one group. So the few
 * long timers among very many short ones do not keep all slabs in use when the
 * short ones are gone. */
#define LAWN_STORE_GROUP_BUCKETS 0u
#define LAWN_STORE_GROUP_RECORDS 1u
#define LAWN_STORE_GROUPS 9u

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
    uint32_t inverse;                         /* 2^32 / slot, rounded up */
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
    struct lawn_store_size size[LAWN_STORE_GROUPS][LAWN_STORE_SLOTS_SIZES + 1];
    struct lawn_store_pointers slabs; /* by number: a slab; or, if that number
                                         is free, the next such, times 2, + 1 */
    uint64_t free_number;             /* the first such */
};

void lawn_store_slots_init(struct lawn_store_slots *slots,
                           struct lawn_store_memory *memory);

/* The group of records with that TTL. */
unsigned lawn_store_slots_group(uint64_t ttl);

/* A slot of at least size bytes, aligned to 8, and its place. NULL: no memory.
 * O(1). */
void *lawn_store_slots_take(struct lawn_store_slots *slots, unsigned group,
                            size_t size, uint16_t *place);
void lawn_store_slots_give(struct lawn_store_slots *slots, void *slot,
                           uint16_t place);

/* How many bytes a slot really has. */
size_t lawn_store_slots_room(const void *slot, uint16_t place);

/* The next live slot of a record from the cursor on, which moves behind it;
 * NULL: none. */
void *lawn_store_slots_walk(const struct lawn_store_slots *slots,
                            uint64_t *cursor);

/* Gives back the slabs that hold nothing. */
void lawn_store_slots_trim(struct lawn_store_slots *slots);

/* Walks the slabs; names what is wrong on out. Adds up what they
 * take from the memory. */
bool lawn_store_slots_check(const struct lawn_store_slots *slots, size_t *bytes,
                            FILE *out);

#endif
