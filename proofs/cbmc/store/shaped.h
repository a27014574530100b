/* shaped.h - a table of the store in any of a few shapes, with any hashes.
 *
 * A shape is how many records stand in the buckets that a step may touch, and so
 * which of them are chained: SHAPED of them at most. The hash of an id is any
 * number, the same for the same id: the real one is put out of the way. What is
 * proved does not use the code's own idea of where a record belongs, but the
 * definition: bucket n of b holds what is n modulo 2^k, 2^k being the least
 * power that is not below b, or, if that is no bucket, modulo 2^(k - 1).
 *
 * Up to 8 buckets stand in NEAR; of a table of more than a segment there are the
 * two that grow or shrink: FROM in segment 16, TO alone in segment 48, with which
 * a piece of the array of segments comes and goes.
 *
 * Chained buckets, segments and pieces come from slots and memory that may be
 * short at any time, and what is given back must be one of these. */
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

/* Ids are one byte, the record's number. */
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

/* Segments, the second one in the place of the first; and their array. */
static struct lawn_store_bucket near[NEAR], near_again[NEAR], far_from, far_to;
static uintptr_t piece_0[16], piece_1[32], piece_2[64];
static bool has_near, has_near_again, has_far_to, has_piece_2;
static size_t near_again_size;

/* Chained buckets: those that are there, and those that are taken. */
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

/* The first segment goes to another block: bucket by bucket, so that what is
 * known of them stays known. */
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
    PROVE(to == &slots && known, "a chained bucket is given back, once");
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
    PROVE(to == &memory && known, "what was taken is given back, once");
}

/* How many bits of the hash are the number of a bucket: of one that is yet to be
 * split, less than of others. */
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

/* The tag: 16 bits of the hash, from the number's bits rounded down to 8 on. */
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

/* Fills a bucket with so many records, from the first on, and the chained ones
 * from next on. */
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
        /* Two of three are to part from the third. */
        hashes[first + i] = number | (uint64_t)(i % 3 != 0)
                                         << bits_of(number, BUCKETS);
#endif
        ASSUME(belongs(hashes[first + i], number, BUCKETS));
        bucket->entry[at] = &records[first + i];
        bucket->tag[at] = tag_of(hashes[first + i], number, BUCKETS);
        bucket->used = (uint8_t)++at;
    }
}

/* That a bucket holds these records in this order, as fill() leaves them; next is
 * the chained one, if there must be one. */
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

/* Adds to seen, a bit for each record, those of a bucket and its chain. True: it
 * is filled in order, and all belong here, once, and have their tags. Counts the
 * chained ones. Without branches on what is not known. */
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

/* How many chained buckets are not given back. */
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
