/* table.c - finding in the store's table, in any valid state, with any hash.
 *
 * See shaped.h for the tables. The bucket of a hash holds any number of records
 * up to FOUND, including chained ones.
 *
 * @covers lawn__store_table_find lawn__store_table_match lawn__store_table_tag
 *     lawn__store_table_number lawn__store_table_next
 *     set_buckets lawn__store_table_bucket
 * @flags --unwind 9 -DLAWN_STORE_TABLE_PLAIN -DBUCKETS=3 -DSHAPED=8
 * @without --unsigned-overflow-check: lawn__store_table_tag() compares
 *     distances, which wrap around
 * @without --conversion-check: a tag is a part of the hash
 *
 * @proof table_find */
#include "shaped.h"

#define FOUND 7

/* Fills a bucket with any number of records, beginning with the first; those
 * after the sixth are in a chained bucket. Which records they are does not
 * matter, because their hashes are arbitrary. Returns the number. */
static unsigned
fill_any(uint64_t number)
{
    struct lawn_store_bucket *bucket = bucket_at(number);
    struct lawn_store_bucket *next = &chained[0];
    unsigned many = nondet_u8();

    ASSUME(many <= FOUND);
    bucket->chained = many > 6;
    bucket->used = (uint8_t)(many > 6 ? 5 : many);
    for (unsigned i = 0; i < FOUND; i++) {
        struct lawn_store_bucket *to = i < 5 || many <= 6 ? bucket : next;
        unsigned at = i < 5 || many <= 6 ? i : i - 5;

        if (i < many) {
            to->entry[at] = &records[i];
            to->tag[at] = tag_of(hashes[i], number, BUCKETS);
            ASSUME(belongs(hashes[i], number, BUCKETS));
        }
    }
    if (many > 6) {
        next->used = (uint8_t)(many - 5);
        next->chained = false;
        next->place = nondet_u16();
        bucket->entry[5] = next;
    }
    return many;
}

void
table_find(void)
{
    unsigned char id = nondet_u8();
    unsigned many = 0;

    ASSUME(id < SHAPED);
    begin();
    for (unsigned i = 0; i < BUCKETS; i++) {
        if (belongs(hashes[id], i, BUCKETS)) {
            many = fill_any(i);
        }
    }
    struct lawn_store_record *found =
        lawn__store_table_find(&table, hashes[id], &id, 1);
    PROVE(found == (id < many ? RECORD(id) : NULL),
          "an existing record is found, and nothing else");
    PROOF_END();
}
