/* table.h - which record has an id: linear hashing in buckets of a cache line.
 *
 * A bucket holds up to six records, each with 16 bits of its hash, so that a
 * record is read only if it is very likely the right one: to find, to add and
 * to remove take one miss of the cache, and one more for the record. What does
 * not fit stands in buckets chained to the first.
 *
 * The table grows by one bucket at a time: the new one, number n, takes from
 * the bucket n - 2^k, 2^k being the largest power of two not above n, the
 * records whose hash says n rather than that. It shrinks the same way
 * backwards. So no call does more than one bucket's work, at any size; there is
 * no second table, and no moment when all is copied. Buckets stand in segments
 * of 64 KiB, the first of which is smaller as long as it is the only one.
 */
#ifndef LAWN_STORE_TABLE_H
#define LAWN_STORE_TABLE_H

#include "record.h"

#define LAWN_STORE_BUCKET_ENTRIES 6u

struct lawn_store_bucket {
    /* The last is the next bucket, if this one is chained. */
    void *entry[LAWN_STORE_BUCKET_ENTRIES];
    uint16_t tag[LAWN_STORE_BUCKET_ENTRIES];
    uint8_t used; /* the records: entry[0] up to here */
    bool chained; /* then 5 are used, and at least 2 in the next */
    uint16_t place;
};

struct lawn_store_table {
    struct lawn_store_memory *memory;
    struct lawn_store_slots *slots;
    uint64_t key[2];
    uint64_t count;   /* records */
    uint64_t buckets; /* but those chained */
    uint64_t mask;    /* the least 2^k - 1 that is not below buckets - 1 */
    unsigned shift;   /* which bits of the hash are tags, in a bucket of k */
    unsigned shift_unsplit; /* bits, and in one that is yet to be split */
    uint64_t least;         /* buckets that it does not shrink below */
    uint64_t first;         /* buckets that there is room for in segment 0 */
    struct lawn_store_pointers segments;
    struct lawn_store_bucket *spare; /* chained by entry[0], for a change that
                                        must not fail half-way */
};

/* Where a record is, or would be, in the table. */
struct lawn_store_found {
    struct lawn_store_record *record; /* NULL: there is none */
    struct lawn_store_bucket *home;
    struct lawn_store_bucket *bucket; /* home, or chained to it */
    unsigned entry;
};

/* False: no memory. */
bool lawn_store_table_init(struct lawn_store_table *table,
                           struct lawn_store_slots *slots,
                           const uint64_t key[2]);
void lawn_store_table_fini(struct lawn_store_table *table);

uint64_t lawn_store_table_hash(const struct lawn_store_table *table,
                               const void *id, size_t id_size);
void lawn_store_table_prefetch(const struct lawn_store_table *table,
                               uint64_t hash);

struct lawn_store_found
lawn_store_table_find(const struct lawn_store_table *table, uint64_t hash,
                      const void *id, size_t id_size);

/* Adds a record that is not there. False: no memory, nothing changed. */
bool lawn_store_table_add(struct lawn_store_table *table, uint64_t hash,
                          struct lawn_store_record *record);

/* Removes what was found, and nothing has happened to the table since. */
void lawn_store_table_remove(struct lawn_store_table *table,
                             const struct lawn_store_found *found);

/* Removes a record by its address. */
void lawn_store_table_take(struct lawn_store_table *table, uint64_t hash,
                           const struct lawn_store_record *record);

/* See lawn_store_reserve(). False: no memory, nothing changed. */
bool lawn_store_table_reserve(struct lawn_store_table *table, uint64_t records);

/* Forgets all records, without looking at them. */
void lawn_store_table_clear(struct lawn_store_table *table);

/* Walks the buckets; names what is wrong on out. Adds up the memory of the
 * segments. */
bool lawn_store_table_check(const struct lawn_store_table *table, size_t *bytes,
                            FILE *out);

#endif
