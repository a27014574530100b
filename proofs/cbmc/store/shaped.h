/* shaped.h - a table of the store in one of a few shapes, with arbitrary
 * hashes.
 *
 * A shape is the number of records in the buckets that a step may touch, and so
 * which of them are chained; at most SHAPED records. The hash of an id is an
 * arbitrary number, the same for the same id; the shipped hash is replaced. The
 * proofs use the definition of a record's bucket, not the code's computation:
 * 2^k is the least power of two not below the number of buckets. Bucket n holds
 * the hashes that are n modulo 2^k; or n modulo 2^(k - 1) if it is not split
 * yet: n is below 2^(k - 1), and bucket n + 2^(k - 1) does not exist.
 *
 * NEAR holds up to 8 buckets. Of a table of more than one segment only the two
 * buckets that grow or shrink exist: FROM in segment 16, and TO alone in
 * segment 48. With segment 48 a piece of the array of segments is allocated and
 * freed.
 *
 * Any allocation of chained buckets, segments and pieces may fail, and only
 * allocated ones may be freed. */
#ifndef PROOF_SHAPED_H
#define PROOF_SHAPED_H

#include "proof.h"

#include "hash.h"
#include "record.h"

uint64_t proof_hash(const uint64_t key[2], const void *id, size_t size);
void *proof_copy(void *to, const void *from, size_t size);
#define lawn__store_hash proof_hash
#define memcpy proof_copy
#include "../../../src/store/table.c"
#undef memcpy

#ifndef SHAPED
#define SHAPED 16
#endif
#ifndef NEAR
#define NEAR 8
#endif
#define FAR (BUCKETS > 1024)
#define FAR_FROM 16384u
#define FAR_TO 49152u

/* An id is one byte, the record's number. */
struct proof_record {
    struct lawn_timer timer;
    uint64_t ttl;
    uint32_t payload;
    uint16_t id_size;
    uint16_t place;
    unsigned char id[8];
};

static struct proof_record records[SHAPED];
static uint64_t hashes[SHAPED];
static struct lawn_store_table table;
static struct lawn_store_slots slots;
static struct lawn_store_memory memory;

/* Segments (the second replaces the first), and their array. */
static struct lawn_store_bucket near[NEAR], near_again[NEAR], far_from, far_to;
static uintptr_t piece_0[16], piece_1[32], piece_2[64];
static bool has_near, has_near_again, has_far_to, has_piece_2;
static size_t near_again_size;

/* Chained buckets: the existing ones, and those that a step allocates. */
static struct lawn_store_bucket chained[4], fresh[4];
static bool has_chained[4], has_fresh[4];
static unsigned fresh_taken;
static bool refused;

#define RECORD(i) ((struct lawn_store_record *)(void *)&records[i])

uint64_t
proof_hash(const uint64_t key[2], const void *id, size_t size)
{
    unsigned char number = *(const unsigned char *)id;

    (void)key;
    PROVE(size == 1 && number < SHAPED, "an id is hashed, and whole");
    return hashes[number];
}

/* Moves the first segment to another block, bucket by bucket, so that CBMC
 * keeps the values it knows. */
void *
proof_copy(void *to, const void *from, size_t size)
{
    PROVE(to == near_again && from == near && has_near_again && has_near &&
              size == table.buckets * sizeof(*near) && size <= near_again_size,
          "all buckets are copied to the new block");
    for (unsigned i = 0; i < table.buckets; i++) {
        near_again[i] = near[i];
    }
    return to;
}

static bool
refuse(void)
{
    if (nondet_bool()) {
        refused = true;
        return true;
    }
    return false;
}

void *
lawn__store_slots_take(struct lawn_store_slots *from, unsigned group,
                       size_t size, uint16_t *place)
{
    PROVE(from == &slots && group == LAWN_STORE_GROUP_BUCKETS &&
              size == sizeof(struct lawn_store_bucket),
          "a bucket is taken");
    PROVE(fresh_taken < 4, "no more than are needed");
    if (refuse()) {
        return NULL;
    }
    has_fresh[fresh_taken] = true;
    *place = (uint16_t)(fresh_taken + 100);
    return &fresh[fresh_taken++];
}

void
lawn__store_slots_give(struct lawn_store_slots *to, void *slot, uint16_t place)
{
    bool known = false;

    for (unsigned i = 0; i < 4; i++) {
        if (slot == &chained[i] && place == i) {
            known = has_chained[i];
            has_chained[i] = false;
        }
        if (slot == &fresh[i] && place == i + 100) {
            known = has_fresh[i];
            has_fresh[i] = false;
        }
    }
    PROVE(to == &slots && known, "a chained bucket is freed once");
}

void *
lawn__store_slots_block(struct lawn_store_slots *from, size_t size)
{
    bool *has = FAR ? &has_far_to : &has_near_again;

    PROVE(from == &slots && !*has &&
              (FAR ? size == LAWN_STORE_BLOCK : size <= sizeof(near_again)),
          "a segment is taken");
    if (refuse()) {
        return NULL;
    }
    *has = true;
    near_again_size = size;
    return FAR ? &far_to : near_again;
}

void *
lawn__store_memory_take(struct lawn_store_memory *from, size_t size)
{
    PROVE(from == &memory && size == sizeof(piece_2) && !has_piece_2,
          "a piece is taken");
    if (refuse()) {
        return NULL;
    }
    has_piece_2 = true;
    return piece_2;
}

void
lawn__store_memory_give(struct lawn_store_memory *to, void *block, size_t size)
{
    bool known = false;

    if (block == near && size == table.first * sizeof(*near)) {
        known = has_near;
        has_near = false;
    } else if (block == &far_to && size == LAWN_STORE_BLOCK) {
        known = has_far_to;
        has_far_to = false;
    } else if (block == piece_2 && size == sizeof(piece_2)) {
        known = has_piece_2;
        has_piece_2 = false;
    }
    PROVE(to == &memory && known, "allocated memory is freed once");
}

/* The number of bits of the hash that give a bucket's number: one less for a
 * bucket that is not split yet. */
static unsigned
bits_of(uint64_t number, uint64_t many)
{
    unsigned k = 0;

    while ((UINT64_C(1) << k) < many) {
        k++;
    }
    if (k > 0 && number < UINT64_C(1) << (k - 1) &&
        number + (UINT64_C(1) << (k - 1)) >= many) {
        k--;
    }
    return k;
}

static bool
belongs(uint64_t hash, uint64_t number, uint64_t many)
{
    return (hash & ((UINT64_C(1) << bits_of(number, many)) - 1)) == number;
}

/* The tag: 16 bits of the hash. The first of them is bit number bits_of(),
 * rounded down to a multiple of 8. */
static uint16_t
tag_of(uint64_t hash, uint64_t number, uint64_t many)
{
    return (uint16_t)(hash >> (bits_of(number, many) & ~7u));
}

static struct lawn_store_bucket *
bucket_at(uint64_t number)
{
    if (FAR) {
        return number == FAR_FROM ? &far_from : &far_to;
    }
    return has_near_again ? &near_again[number] : &near[number];
}

static void
begin(void)
{
    for (unsigned i = 0; i < SHAPED; i++) {
        hashes[i] = nondet_u64();
        records[i].id_size = 1;
        records[i].id[0] = (unsigned char)i;
    }
    piece_0[0] = (uintptr_t)(void *)&near[0];
    piece_1[0] = (uintptr_t)(void *)&far_from;
    piece_2[0] = (uintptr_t)(void *)&far_to;
    table.segments.piece[0] = piece_0;
    table.segments.piece[1] = piece_1;
    table.segments.piece[2] = piece_2;
    table.segments.count = (BUCKETS + 1023) / 1024;
    table.slots = &slots;
    table.memory = &memory;
    table.least = 4;
    table.first = FAR ? 1024 : NEAR;
    has_near = true;
    has_far_to = has_piece_2 = FAR && BUCKETS > FAR_TO;
    set_buckets(&table, BUCKETS);
}

/* Fills a bucket with a number of records, beginning with the given one, and
 * chained buckets, beginning with next. */
static void
fill(uint64_t number, unsigned next, unsigned first, unsigned many)
{
    struct lawn_store_bucket *bucket = bucket_at(number);
    unsigned at = 0;

    bucket->used = 0;
    bucket->chained = false;
    for (unsigned i = 0; i < many; i++) {
        if (at == 5 && many - i > 1) {
            bucket->used = 5;
            bucket->chained = true;
            bucket->entry[5] = &chained[next];
            bucket = &chained[next];
            has_chained[next] = true;
            bucket->place = (uint16_t)next++;
            bucket->chained = false;
            at = 0;
        }
#if defined PROOF_COVER
        /* Two of three move to another bucket than the third. */
        hashes[first + i] = number | (uint64_t)(i % 3 != 0)
                                         << bits_of(number, BUCKETS);
#endif
        ASSUME(belongs(hashes[first + i], number, BUCKETS));
        bucket->entry[at] = &records[first + i];
        bucket->tag[at] = tag_of(hashes[first + i], number, BUCKETS);
        bucket->used = (uint8_t)++at;
    }
}

/* Proves that a bucket holds these records in this order, as fill() leaves
 * them; next is the chained bucket, if one is needed. */
static void
holds(uint64_t number, struct lawn_store_bucket *next, const unsigned *order,
      unsigned many)
{
    struct lawn_store_bucket *bucket = bucket_at(number);
    unsigned at = 0;

    for (unsigned i = 0; i < many; i++) {
        if (at == 5 && many - i > 1) {
            PROVE(bucket->used == 5 && bucket->chained &&
                      bucket->entry[5] == next,
                  "full buckets are chained");
            bucket = next;
            at = 0;
        }
        PROVE(bucket->entry[at] == &records[order[i]] &&
                  bucket->tag[at] == tag_of(hashes[order[i]], number, BUCKETS),
              "each record is in its place, with its tag");
        at++;
    }
    PROVE(bucket->used == at && !bucket->chained, "and there is no other");
}

/* Adds the records of a bucket and its chain to seen, one bit each. Returns
 * true if the bucket is filled in order, and each record belongs here, occurs
 * once and has its tag. Counts the chained buckets. Does not branch on unknown
 * values. */
static bool
valid(uint64_t number, uint64_t many, unsigned *seen, unsigned *chain)
{
    struct lawn_store_bucket *bucket = bucket_at(number);
    unsigned good = 1;

    for (unsigned i = 0;; i++) {
        good &= bucket->used <= 6 && (!bucket->chained || bucket->used == 5) &&
                (i == 0 || bucket->used >= 2);
        for (unsigned at = 0; at < 6 && at < bucket->used; at++) {
            const struct proof_record *record = bucket->entry[at];
            unsigned id = record->id[0];

            good &= (*seen >> id & 1) == 0;
            good &= belongs(hashes[id], number, many);
            good &= bucket->tag[at] == tag_of(hashes[id], number, many);
            *seen |= 1u << id;
        }
        if (!bucket->chained || i == 3) {
            return good && !bucket->chained;
        }
        bucket = bucket->entry[5];
        ++*chain;
    }
}

/* The number of chained buckets that are not freed. */
static unsigned
chained_left(void)
{
    unsigned left = 0;

    for (unsigned i = 0; i < 4; i++) {
        left += has_chained[i];
        left += has_fresh[i];
    }
    return left;
}

#endif
