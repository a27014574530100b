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
 * of 64 KiB; only the first is copied, as it grows to that size.
 *
 * What finds is inline: how many calls can wait for memory at a time depends on
 * how few instructions each takes.
 */
#ifndef LAWN_STORE_TABLE_H
#define LAWN_STORE_TABLE_H

#include "expect.h"
#include "hash.h"
#include "record.h"

/* The tests build the plain form as well. */
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

/* False: no memory. */
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

/* A bucket whose number is made of so many bits of the hash holds the 16 bits
 * from here on as tags: 8 to 15 of them say more than the number does, and the
 * first of those says where a record goes when the bucket is split. So records
 * need to be read for that only if the bits come to a multiple of 8. */
static inline unsigned
lawn__store_table_shift(unsigned bits)
{
    return bits & ~7u;
}

static inline uint16_t
lawn__store_table_tag(const struct lawn_store_table *table, uint64_t number,
                      uint64_t hash)
{
    /* Those from buckets - power up to power are still to be split. */
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
    /* The commonest sizes, as the compiler makes less of what it knows. */
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

/* A bit for each record of a bucket with that tag, two apart. Without branches:
 * what the processor cannot foretell would keep it from going on to the next
 * call while this bucket is on its way from memory. */
static inline unsigned
lawn__store_table_match(const struct lawn_store_bucket *bucket, uint16_t tag)
{
    const uint16_t *tags = bucket->tag;
    unsigned valid = (1u << 2 * bucket->used) - 1;

#if LAWN_STORE_TABLE_SSE2
    /* What stands behind the tags is no part of valid. */
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

/* The record of an id, or NULL. */
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

/* Adds a record that is not there. False: no memory, nothing changed. */
bool lawn__store_table_add(struct lawn_store_table *table, uint64_t hash,
                           struct lawn_store_record *record);

/* Removes a record that is there. */
void lawn__store_table_remove(struct lawn_store_table *table, uint64_t hash,
                              const struct lawn_store_record *record);

/* See lawn_store_reserve(). False: no memory. */
bool lawn__store_table_reserve(struct lawn_store_table *table,
                               uint64_t records);

/* Forgets all records, without looking at them. */
void lawn__store_table_clear(struct lawn_store_table *table);

/* Walks the buckets; names what is wrong on out. Adds up the memory of the
 * segments. */
bool lawn__store_table_check(const struct lawn_store_table *table,
                             size_t *bytes, FILE *out);

#endif
