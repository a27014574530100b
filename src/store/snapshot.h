/* snapshot.h - the format of snapshots: docs/SNAPSHOT.md in C.
 *
 * The key of each checksum contains the block number and the previous checksum,
 * so a missing, repeated, swapped or foreign block is detected. The contents of
 * the blocks form a stream of records, which may span blocks.
 */
#ifndef LAWN_STORE_SNAPSHOT_H
#define LAWN_STORE_SNAPSHOT_H

#include "hash.h"

/* "lawnsnap". The checksum of the header uses it as the previous checksum. */
#define LAWN_STORE_SNAPSHOT_MAGIC UINT64_C(0x70616e736e77616c)
#define LAWN_STORE_SNAPSHOT_VERSION 1u         /* without classes */
#define LAWN_STORE_SNAPSHOT_VERSION_CLASSES 2u /* the latest version */

/* Sizes in bytes. SIZE is the length of the size field of a block. BLOCK is the
 * maximum size of its content. */
enum {
    LAWN_STORE_SNAPSHOT_HEADER = 32,
    LAWN_STORE_SNAPSHOT_CHECKSUM = 8,
    LAWN_STORE_SNAPSHOT_SIZE = 4,
    LAWN_STORE_SNAPSHOT_BLOCK = 65536,
    LAWN_STORE_SNAPSHOT_RECORD = 24,
    LAWN_STORE_SNAPSHOT_CLASS = 20,
    LAWN_STORE_SNAPSHOT_BUFFER = LAWN_STORE_SNAPSHOT_SIZE +
                                 LAWN_STORE_SNAPSHOT_BLOCK +
                                 LAWN_STORE_SNAPSHOT_CHECKSUM
};

/* Offsets of the fields of the header and of a record. */
enum {
    LAWN_STORE_SNAPSHOT_AT_MAGIC = 0,
    LAWN_STORE_SNAPSHOT_AT_VERSION = 8,
    LAWN_STORE_SNAPSHOT_AT_CLASSES = 12, /* number of classes */
    LAWN_STORE_SNAPSHOT_AT_COUNT = 16,
    LAWN_STORE_SNAPSHOT_AT_FIRST = 24
};

enum {
    LAWN_STORE_SNAPSHOT_AT_DEADLINE = 0,
    LAWN_STORE_SNAPSHOT_AT_TTL = 8,
    LAWN_STORE_SNAPSHOT_AT_PAYLOAD_SIZE = 16,
    LAWN_STORE_SNAPSHOT_AT_ID_SIZE = 20,
    LAWN_STORE_SNAPSHOT_AT_HOW = 22 /* flags, and a zero byte */
};

/* Offsets of the fields of a class. Its name follows. */
enum {
    LAWN_STORE_SNAPSHOT_AT_CLASS_TTL = 0,
    LAWN_STORE_SNAPSHOT_AT_SINCE = 8, /* time of the save if paused, or NEVER */
    LAWN_STORE_SNAPSHOT_AT_WEIGHT = 16,
    LAWN_STORE_SNAPSHOT_AT_NAME_SIZE = 18 /* and a zero byte */
};

/* Flags of a record; at most one is set. IN_CLASS: the deadline is the time of
 * the start, the TTL is the number of the class. */
#define LAWN_STORE_SNAPSHOT_ON_BLADE 1u
#define LAWN_STORE_SNAPSHOT_IN_CLASS 2u

/* Little-endian numbers. */
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

/* The key of the next checksum. */
struct lawn_store_snapshot_chain {
    uint64_t number; /* of the next block; 0 is the header */
    uint64_t last;   /* the previous checksum */
};

static inline struct lawn_store_snapshot_chain
lawn__store_snapshot_begin(void)
{
    struct lawn_store_snapshot_chain chain = {0, LAWN_STORE_SNAPSHOT_MAGIC};

    return chain;
}

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

/* The buffer does not count toward the store's memory limit, so that a full
 * store can be saved. Returns NULL if out of memory. */
unsigned char *lawn__store_snapshot_take(struct lawn_store *store, size_t size);
void lawn__store_snapshot_give(struct lawn_store *store, unsigned char *buffer,
                               size_t size);

#endif
