/* table.c - finding in the store's table, in any valid state, with any hash.
 *
 * The hash of an id is any number, the same for the same id: the real one is put
 * out of the way. The bucket that a hash belongs to holds any of RECORDS records,
 * also chained. What is proved does not use the code's own idea of where a record
 * belongs, but the definition: bucket n of b holds what is n modulo 2^k, 2^k
 * being the least power that is not below b, or, if that is no bucket, modulo
 * 2^(k - 1).
 *
 * @covers lawn_store_table_find lawn_store_table_match lawn_store_table_tag
 *     lawn_store_table_number lawn_store_table_next
 *     lawn_store_table_set_buckets lawn_store_table_bucket
 * @flags --unwind 9 -DLAWN_STORE_TABLE_PLAIN -DBUCKETS=3
 * @without --unsigned-overflow-check: lawn_store_table_tag() compares
 *     distances, which wrap around
 * @without --conversion-check: a tag is a part of the hash
 *
 * @proof table_find */
#include "proof.h"

#include "hash.h"
#define lawn_store_hash proof_hash
uint64_t proof_hash(const uint64_t key[2], const void *id, size_t size);

#include "../../../src/store/table.c"

#ifndef RECORDS
#define RECORDS 8
#endif

/* Ids are one byte, the record's number. */
struct proof_record {
    struct lawn_timer timer;
    uint64_t ttl;
    uint32_t payload;
    uint16_t id_size;
    uint16_t place;
    unsigned char id[8];
};

static struct proof_record records[RECORDS];
static uint64_t hashes[RECORDS];
static struct lawn_store_bucket buckets[BUCKETS + 1];
static struct lawn_store_bucket chained;
static uintptr_t segment;
static struct lawn_store_table table;

#define RECORD(i) ((struct lawn_store_record *)(void *)&records[i])

uint64_t
proof_hash(const uint64_t key[2], const void *id, size_t size)
{
    unsigned char number = *(const unsigned char *)id;

    (void)key;
    PROVE(size == 1 && number < RECORDS, "an id is hashed, and whole");
    return hashes[number];
}

/* Where a hash belongs among so many buckets, and how many bits say so. */
static uint64_t
home_of(uint64_t hash, uint64_t many, unsigned *bits)
{
    unsigned k = 0;

    while ((UINT64_C(1) << k) < many) {
        k++;
    }
    *bits = k;
    if ((hash & ((UINT64_C(1) << k) - 1)) >= many) {
        *bits = k - 1;
    }
    return hash & ((UINT64_C(1) << *bits) - 1);
}

/* The tag: 16 bits of the hash, from the number of bits rounded down to 8 on,
 * where the bucket's number says how many bits it is made of. */
static uint16_t
tag_of(uint64_t hash, uint64_t number, uint64_t many)
{
    unsigned k = 0;

    while ((UINT64_C(1) << k) < many) {
        k++;
    }
    /* Not split yet: 2^(k - 1) further on there is no bucket. */
    if (k > 0 && number < UINT64_C(1) << (k - 1) &&
        number + (UINT64_C(1) << (k - 1)) >= many) {
        k--;
    }
    return (uint16_t)(hash >> (k & ~7u));
}

/* Fills a bucket with any number of records, from the first on, up to room; more
 * than 6 stand in a chained one. Which records these are does not matter, as
 * their hashes are any. Adds them to seen. */
static void
fill(struct lawn_store_bucket *bucket, struct lawn_store_bucket *next,
     uint64_t number, unsigned first, unsigned room, unsigned *seen)
{
    unsigned many = nondet_u8();
    unsigned bits;

    ASSUME(many <= room);
    bucket->chained = many > 6;
    bucket->used = (uint8_t)(many > 6 ? 5 : many);
    for (unsigned i = 0; i < room; i++) {
        struct lawn_store_bucket *to = i < 5 || many <= 6 ? bucket : next;
        unsigned at = i < 5 || many <= 6 ? i : i - 5;

        if (i < many) {
            to->entry[at] = &records[first + i];
            to->tag[at] = tag_of(hashes[first + i], number, BUCKETS);
            ASSUME(home_of(hashes[first + i], BUCKETS, &bits) == number);
            *seen |= 1u << (first + i);
        }
    }
    if (many > 6) {
        next->used = (uint8_t)(many - 5);
        next->chained = false;
        next->place = nondet_u16();
        bucket->entry[5] = next;
    }
}

static void
begin(void)
{
    for (unsigned i = 0; i < RECORDS; i++) {
        hashes[i] = nondet_u64();
        records[i].id_size = 1;
        records[i].id[0] = (unsigned char)i;
    }
    segment = (uintptr_t)(void *)buckets;
    table.segments.piece[0] = &segment;
    table.segments.count = 1;
    table.least = 4;
    table.first = BUCKETS + 1;
    lawn_store_table_set_buckets(&table, BUCKETS);
}

/* A table whose bucket of one hash is filled. */
static struct lawn_store_bucket *
begin_at(unsigned id, uint64_t *number, unsigned *seen)
{
    struct lawn_store_bucket *home = NULL;
    unsigned bits;

    begin();
    *number = home_of(hashes[id], BUCKETS, &bits);
    *seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        if (*number == i) {
            home = &buckets[i];
            fill(home, &chained, i, 0, 7, seen);
        }
    }
    return home;
}

void
table_find(void)
{
    unsigned char id = nondet_u8();
    unsigned seen;
    uint64_t number;

    ASSUME(id < RECORDS);
    (void)begin_at(id, &number, &seen);
    uint64_t hash = hashes[id];
    struct lawn_store_record *found =
        lawn_store_table_find(&table, hash, &id, 1);
    PROVE(found == ((seen >> id & 1) != 0 ? RECORD(id) : NULL),
          "what is there is found, and nothing else");
    PROOF_END();
}
