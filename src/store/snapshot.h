/* snapshot.h - the format of snapshots: docs/SNAPSHOT.md in C.
 *
 * A header, blocks, an empty block. Each of them is followed by a checksum of
 * its bytes, which is keyed with the number of the block and with the checksum
 * before it: what was left out, repeated, swapped or taken from another
 * snapshot is noticed like a wrong bit. The bytes in the blocks are a stream of
 * records; where a block ends means nothing to it.
 */
#ifndef LAWN_STORE_SNAPSHOT_H
#define LAWN_STORE_SNAPSHOT_H

#include "hash.h"

/* "lawnsnap"; also what stands for a checksum before that of the header. */
#define LAWN_STORE_SNAPSHOT_MAGIC UINT64_C(0x70616e736e77616c)
#define LAWN_STORE_SNAPSHOT_VERSION 1u

/* Sizes in bytes. That of a block's content is 1 to BLOCK, of the last one 0;
 * SIZE is the word in front that says so. */
enum {
    LAWN_STORE_SNAPSHOT_HEADER = 32,
    LAWN_STORE_SNAPSHOT_CHECKSUM = 8,
    LAWN_STORE_SNAPSHOT_SIZE = 4,
    LAWN_STORE_SNAPSHOT_BLOCK = 65536,
    LAWN_STORE_SNAPSHOT_RECORD = 24,
    LAWN_STORE_SNAPSHOT_BUFFER = LAWN_STORE_SNAPSHOT_SIZE +
                                 LAWN_STORE_SNAPSHOT_BLOCK +
                                 LAWN_STORE_SNAPSHOT_CHECKSUM
};

/* Where the fields of the header and of a record stand. */
enum {
    LAWN_STORE_SNAPSHOT_AT_MAGIC = 0,
    LAWN_STORE_SNAPSHOT_AT_VERSION = 8,
    LAWN_STORE_SNAPSHOT_AT_FLAGS = 12,
    LAWN_STORE_SNAPSHOT_AT_COUNT = 16,
    LAWN_STORE_SNAPSHOT_AT_FIRST = 24
};

enum {
    LAWN_STORE_SNAPSHOT_AT_DEADLINE = 0,
    LAWN_STORE_SNAPSHOT_AT_TTL = 8,
    LAWN_STORE_SNAPSHOT_AT_PAYLOAD_SIZE = 16,
    LAWN_STORE_SNAPSHOT_AT_ID_SIZE = 20,
    LAWN_STORE_SNAPSHOT_AT_HOW = 22 /* flags, and a byte that is 0 */
};

/* The only flag of a record. */
#define LAWN_STORE_SNAPSHOT_ON_BLADE 1u

/* Numbers, little-endian, of so many bytes. */
static inline void
lawn__store_snapshot_put(unsigned char *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(number >> 8 * i);
    }
}

static inline uint64_t
lawn__store_snapshot_get(const unsigned char *at, unsigned bytes)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < bytes; i++) {
        number |= (uint64_t)at[i] << 8 * i;
    }
    return number;
}

/* The checksums so far: what the next one is keyed with. */
struct lawn_store_snapshot_chain {
    uint64_t number; /* of the next block; 0: the header */
    uint64_t last;
};

static inline struct lawn_store_snapshot_chain
lawn__store_snapshot_begin(void)
{
    struct lawn_store_snapshot_chain chain = {0, LAWN_STORE_SNAPSHOT_MAGIC};

    return chain;
}

/* The checksum of what comes next. */
static inline uint64_t
lawn__store_snapshot_sum(struct lawn_store_snapshot_chain *chain,
                         const unsigned char *bytes, size_t size)
{
    uint64_t key[2];

    key[0] = chain->number++;
    key[1] = chain->last;
    chain->last = lawn__store_hash(key, bytes, size);
    return chain->last;
}

struct lawn_store;

/* Buffers from the store's allocator that are none of the store's memory: they
 * are not counted while they are there, so no limit applies. NULL: no memory. */
unsigned char *lawn__store_snapshot_take(struct lawn_store *store, size_t size);
void lawn__store_snapshot_give(struct lawn_store *store, unsigned char *buffer,
                               size_t size);

#endif
