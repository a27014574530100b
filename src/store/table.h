/* table.h - maps ids to records: linear hashing in buckets of one cache line.
 *
 * A bucket contains up to six records, each with 16 bits of its hash as a tag.
 * A record is read only if its tag matches. So find, add and remove take one
 * cache miss, and one more for the record. Further records are in chained
 * buckets.
 *
 * The table grows by one bucket at a time. The new bucket, number n, takes
 * those records of bucket n - 2^k whose hash selects n; 2^k is the largest
 * power of two not above n. Shrinking is the reverse. So each call does at most
 * the work of one bucket. Buckets are in segments of 64 KiB; only the first
 * segment is copied, while it grows to that size.
 *
 * The functions that find a record are inline: the fewer instructions a call
 * has, the more calls the processor executes at once, so that their waits for
 * memory overlap.
 */
#ifndef LAWN_STORE_TABLE_H
#define LAWN_STORE_TABLE_H

#include "expect.h"
#include "hash.h"
#include "record.h"

/* Tests build the portable form, too. */
#if defined __SSE2__ && !defined LAWN_STORE_TABLE_PLAIN
#include <emmintrin.h>
#define LAWN_STORE_TABLE_SSE2 1
#else
#define LAWN_STORE_TABLE_SSE2 0
#endif

#define LAWN_STORE_BUCKET_ENTRIES 6u
#define LAWN_STORE_TABLE_BITS 10u
#define LAWN_STORE_TABLE_SEGMENT (UINT64_C(1) << LAWN_STORE_TABLE_BITS)

struct lawn_store_bucket {
    /* If chained is true, the last entry is the next bucket. */
    void *entry[LAWN_STORE_BUCKET_ENTRIES];
    uint16_t tag[LAWN_STORE_BUCKET_ENTRIES];
    uint8_t used; /* number of records, from entry[0] on */
    bool chained; /* then used is 5 here, and at least 2 in the next bucket */
    uint16_t place;
};

struct lawn_store_table {
    struct lawn_store_memory *memory;
    struct lawn_store_slots *slots;
    uint64_t key[2];
    uint64_t count;         /* number of records */
    uint64_t buckets;       /* without chained ones */
    uint64_t mask;          /* the smallest 2^k - 1 that is >= buckets - 1 */
    unsigned shift;         /* first hash bit of the tags in a split bucket */
    unsigned shift_unsplit; /* the same in a bucket that is not split yet */
    uint64_t least;         /* minimum number of buckets */
    uint64_t first;         /* capacity of segment 0, in buckets */
    struct lawn_store_pointers segments;
    struct lawn_store_bucket *spare; /* linked by entry[0]; allocated before a
                                      * change that must not fail halfway */
};

/* Returns false if out of memory. */
bool lawn__store_table_init(struct lawn_store_table *table,
                            struct lawn_store_slots *slots,
                            const uint64_t key[2]);
void lawn__store_table_fini(struct lawn_store_table *table);

static inline struct lawn_store_bucket *
lawn__store_table_bucket(const struct lawn_store_table *table, uint64_t number)
{
    return (struct lawn_store_bucket *)*lawn__store_pointers_at(
               &table->segments, number >> LAWN_STORE_TABLE_BITS) +
           (number & (LAWN_STORE_TABLE_SEGMENT - 1));
}

static inline uint64_t
lawn__store_table_number(const struct lawn_store_table *table, uint64_t hash)
{
    uint64_t number = hash & table->mask;

    return number < table->buckets ? number : hash & table->mask >> 1;
}

static inline struct lawn_store_bucket *
lawn__store_table_home(const struct lawn_store_table *table, uint64_t hash)
{
    return lawn__store_table_bucket(table,
                                    lawn__store_table_number(table, hash));
}

/* Returns the first hash bit of the tags in a bucket whose number has `bits`
 * bits. The number consists of hash bits 0 to bits - 1. A split distributes the
 * records by hash bit `bits`. The 16 bits of a tag include that bit, so the
 * split does not read the records. But if bits + 1 is a multiple of 8, the tags
 * after the split begin 8 bits later, and the hashes are computed again. */
static inline unsigned
lawn__store_table_shift(unsigned bits)
{
    return bits & ~7u;
}

static inline uint16_t
lawn__store_table_tag(const struct lawn_store_table *table, uint64_t number,
                      uint64_t hash)
{
    /* The buckets `buckets - power` to `power - 1` are not split yet. */
    uint64_t power = (table->mask + 1) / 2;
    bool split =
        number - (table->buckets - power) >= table->mask + 1 - table->buckets;

    return (uint16_t)(hash >> (split ? table->shift : table->shift_unsplit));
}

static inline struct lawn_store_bucket *
lawn__store_table_next(const struct lawn_store_bucket *bucket)
{
    return bucket->chained ? (struct lawn_store_bucket *)
                                 bucket->entry[LAWN_STORE_BUCKET_ENTRIES - 1]
                           : NULL;
}

static inline uint64_t
lawn__store_table_hash(const struct lawn_store_table *table, const void *id,
                       size_t id_size)
{
    /* Common sizes, for which the compiler generates shorter code. */
    switch (id_size) {
    case 8:
        return lawn__store_hash(table->key, id, 8);
    case 16:
        return lawn__store_hash(table->key, id, 16);
    default:
        return lawn__store_hash(table->key, id, id_size);
    }
}

static inline void
lawn__store_table_prefetch(const struct lawn_store_table *table, uint64_t hash)
{
    LAWN_STORE_PREFETCH(lawn__store_table_home(table, hash));
}

/* Bit 2 * i of the result is set if entry i has this tag. There are no
 * branches: a misprediction would keep the processor from executing the next
 * call while this bucket is loaded. */
static inline unsigned
lawn__store_table_match(const struct lawn_store_bucket *bucket, uint16_t tag)
{
    const uint16_t *tags = bucket->tag;
    unsigned valid = (1u << 2 * bucket->used) - 1;

#if LAWN_STORE_TABLE_SSE2
    /* valid excludes the bytes after the tags. */
    __m128i same = _mm_cmpeq_epi16(_mm_loadu_si128((const void *)tags),
                                   _mm_set1_epi16((short)tag));

    return (unsigned)_mm_movemask_epi8(same) & 0x5555u & valid;
#else
    unsigned match = (tags[0] == tag) * 0x1u | (tags[1] == tag) * 0x4u |
                     (tags[2] == tag) * 0x10u | (tags[3] == tag) * 0x40u |
                     (tags[4] == tag) * 0x100u | (tags[5] == tag) * 0x400u;

    return match & valid;
#endif
}

static inline struct lawn_store_record *
lawn__store_table_find(const struct lawn_store_table *table, uint64_t hash,
                       const void *id, size_t id_size)
{
    uint64_t number = lawn__store_table_number(table, hash);
    const struct lawn_store_bucket *bucket =
        lawn__store_table_bucket(table, number);
    uint16_t tag = lawn__store_table_tag(table, number, hash);

    do {
        unsigned match = lawn__store_table_match(bucket, tag);

        for (; match != 0; match &= match - 1) {
            struct lawn_store_record *record =
                (struct lawn_store_record *)
                    bucket->entry[__builtin_ctz(match) / 2];

            if (lawn__store_record_is(record, id, id_size)) {
                return record;
            }
        }
        bucket = lawn__store_table_next(bucket);
    } while (bucket != NULL);
    return NULL;
}

/* The id must not be in the table. Returns false and changes nothing if out of
 * memory. */
bool lawn__store_table_add(struct lawn_store_table *table, uint64_t hash,
                           struct lawn_store_record *record);

void lawn__store_table_remove(struct lawn_store_table *table, uint64_t hash,
                              const struct lawn_store_record *record);

/* See lawn_store_reserve(). Returns false if out of memory. */
bool lawn__store_table_reserve(struct lawn_store_table *table,
                               uint64_t records);

/* Removes all records without accessing them. */
void lawn__store_table_clear(struct lawn_store_table *table);

/* Adds the memory of the segments to *bytes. */
bool lawn__store_table_check(const struct lawn_store_table *table,
                             size_t *bytes, FILE *out);

#endif
