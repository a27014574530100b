/* table_steps.c - the store's table, one step from any state of a few shapes.
 *
 * See shaped.h for the states: all hashes are arbitrary, and any allocation may
 * fail. Each step leads from a valid state to a valid one with exactly the
 * expected records. table_find proves for any valid state what a search
 * returns.
 *
 * Growing and shrinking are proved path by path: one path for each way to split
 * the records of a bucket. table_bucket proves for tables of all sizes where a
 * record belongs. The other proofs use 5 and 6 buckets; 4 and 5, with another
 * block for the first segment; and 49152 and 49153. In the last case tags
 * change, and a segment and a piece of the array of segments are allocated and
 * freed.
 *
 * @covers lawn__store_table_tag lawn__store_table_number lawn__store_table_next
 *     lawn__store_table_home lawn__store_table_bucket lawn__store_table_hash
 *     put_entry drop_entry take_bucket
 *     reserve_spare free_spare
 *     count_records count_chained
 *     set_buckets find_entry
 *     retag_bucket grow_table shrink_table
 *     lawn__store_table_add lawn__store_table_remove extend_segments
 *     retract_segments resize_first_segment
 *     has_excess new_bucket
 *     bucket_bytes lawn__store_table_shift floor_power_of_two
 * @flags -DLAWN_STORE_TABLE_PLAIN
 * @without --unsigned-overflow-check: lawn__store_table_tag() compares
 *     distances, which wrap around
 * @without --conversion-check: a tag is a part of the hash
 *
 * @proof table_bucket
 * @flags --unwind 41 -DBUCKETS=4
 * @proof table_add
 * @flags --unwind 17 --unwindset put_entry.0:3 -DBUCKETS=5
 *     -DSHAPED=9 -DNEAR=5
 * @proof table_remove
 * @flags --unwind 17 --paths lifo -DBUCKETS=5 -DSHAPED=9 -DNEAR=5
 * @proof table_add_grows
 * @flags --unwind 17 --paths lifo -DBUCKETS=5
 * @proof table_remove_shrinks
 * @flags --unwind 17 --paths lifo -DBUCKETS=5
 * @proof table_grow
 * @flags --unwind 17 --paths lifo -DBUCKETS=5
 * @proof table_grow_first
 * @flags --unwind 17 --paths lifo -DBUCKETS=4
 * @proof table_grow_far
 * @flags --unwind 17 --paths lifo -DBUCKETS=49152
 * @proof table_shrink
 * @flags --unwind 17 --paths lifo -DBUCKETS=6
 * @proof table_shrink_first
 * @flags --unwind 17 --paths lifo -DBUCKETS=5
 * @proof table_shrink_far
 * @flags --unwind 17 --paths lifo -DBUCKETS=49153 */
#include "shaped.h"

void
table_bucket(void)
{
    uint64_t many = nondet_u64();
    uint64_t hash = nondet_u64();
    uint64_t number;

    /* More than 2^40 buckets do not fit in memory. */
    ASSUME(many >= 2 && many <= UINT64_C(1) << 40);
    set_buckets(&table, many);
    number = lawn__store_table_number(&table, hash);
    PROVE(table.buckets == many, "the number of buckets is as set");
    PROVE(number < many && belongs(hash, number, many),
          "a record is where it belongs");
    PROVE(lawn__store_table_tag(&table, number, hash) ==
              tag_of(hash, number, many),
          "its tag is that of its bucket");
    PROOF_END();
}

/* The buckets that an add or a remove must not change. */
static struct lawn_store_bucket others[BUCKETS < 9 ? BUCKETS : 1];

/* Leaves the contents of the buckets arbitrary, and sets the counts so that the
 * table neither grows nor shrinks; the proofs below cover that. */
static void
begin_others(void)
{
    begin();
    for (unsigned number = 0; number < BUCKETS; number++) {
        others[number].used = nondet_u8();
        others[number].chained = nondet_bool();
        others[number].tag[0] = nondet_u16();
        near[number] = others[number];
    }
    table.count = 15;
    table.least = BUCKETS;
}

static void
others_stay(unsigned home)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        PROVE(i == home || (near[i].used == others[i].used &&
                            near[i].chained == others[i].chained &&
                            near[i].tag[0] == others[i].tag[0] &&
                            near[i].entry[0] == NULL),
              "no other bucket changes");
    }
}

#define MOST 8

/* Adds a new record. The records of the bucket keep their order, and the new
 * one is the last; or an allocation failed. */
static void
added(unsigned home, unsigned many, bool done)
{
    unsigned order[MOST + 1];

    for (unsigned i = 0; i < many; i++) {
        order[i] = i;
    }
    order[many] = SHAPED - 1;
    if (done) {
        PROVE(fresh_taken == (many == 6), "a bucket is chained if it must");
        holds(home, many > 6 ? &chained[0] : &fresh[0], order, many + 1);
    } else {
        PROVE(refused && many == 6, "it fails only if memory is short");
        holds(home, &chained[0], order, many);
    }
}

void
table_add(void)
{
    unsigned home = nondet_u8();
    unsigned many = nondet_u8();
    uint64_t hash;

    begin_others();
    ASSUME(home < BUCKETS && many <= MOST);
    hash = hashes[SHAPED - 1];
    for (unsigned number = 0; number < BUCKETS; number++) {
        ASSUME(number != home || belongs(hash, number, BUCKETS));
        for (unsigned i = 0; i <= MOST; i++) {
            if (number == home && i == many) {
                fill(number, 0, 0, i);
            }
        }
    }
    bool done = lawn__store_table_add(&table, hash, RECORD(SHAPED - 1));
    for (unsigned number = 0; number < BUCKETS; number++) {
        for (unsigned i = 0; i <= MOST; i++) {
            if (number == home && i == many) {
                added(number, i, done);
            }
        }
    }
    others_stay(home);
    PROVE(table.count == 15u + done, "it is counted");
    PROVE(chained_left() == (many > 6) + fresh_taken && table.spare == NULL,
          "no bucket is lost");
    PROOF_END();
}

/* Removes an existing record: the last one takes its place. The code uses only
 * the bits of the hash that select the bucket; here the other bits are 0. */
static void
remove_one(unsigned home, unsigned many, unsigned which)
{
    unsigned order[MOST];

    for (unsigned i = 0; i < many; i++) {
        order[i] = i == which ? many - 1 : i;
    }
    fill(home, 0, 0, many);
    lawn__store_table_remove(&table, home, RECORD(which));
    holds(home, &chained[0], order, many - 1);
    others_stay(home);
    PROVE(chained_left() == (many > 7), "an empty bucket is freed");
}

static void
remove_any(unsigned home)
{
    for (unsigned many = 1; many <= MOST; many++) {
        for (unsigned which = 0; which < many; which++) {
            if (which == MOST - 1 || PROOF_PATH()) {
                remove_one(home, many, which);
                return;
            }
        }
    }
}

void
table_remove(void)
{
    begin_others();
    /* A bucket that is split already, or one that is not. */
    if (PROOF_PATH()) {
        remove_any(4);
    } else {
        remove_any(1);
    }
    PROVE(table.count == 14, "it is no longer counted");
    PROOF_END();
}

static const unsigned in_order[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                    8, 9, 10, 11, 12, 13, 14, 15};

/* Proves that the needed segments exist after a step, and no others. */
static void
all_there(unsigned seen, unsigned expected, unsigned chain)
{
    PROVE(seen == expected, "no record is lost");
    PROVE(chained_left() == chain && table.spare == NULL,
          "no chained bucket is lost");
    PROVE(has_near != has_near_again &&
              (has_near || table.first * sizeof(*near) == near_again_size),
          "there is one first segment, and its size is known");
    if (FAR) {
        PROVE(has_far_to == (table.buckets > FAR_TO) &&
                  has_piece_2 == has_far_to &&
                  table.segments.count == 48u + has_far_to,
              "the number of segments is as needed");
    }
}

static void
grow(unsigned many)
{
    uint64_t from = BUCKETS - (FAR ? 32768 : 4);
    uint64_t first = table.first;
    unsigned seen = 0, chain = 0;

    fill(from, 0, 0, many);
    bool done = grow_table(&table);
    PROVE(table.buckets == BUCKETS + done, "a bucket more");
    if (done) {
        PROVE(valid(from, BUCKETS + 1, &seen, &chain) &&
                  valid(BUCKETS, BUCKETS + 1, &seen, &chain),
              "records are where they belong, with their tags");
    } else {
        PROVE(refused, "it fails only if memory is short");
        PROVE(valid(from, BUCKETS, &seen, &chain), "all is valid");
        PROVE(has_near_again || table.first == first, "the size is the same");
        holds(from, &chained[0], in_order, many);
    }
    all_there(seen, (1u << many) - 1, chain);
}

/* Each number of records, and each way to split them, is a separate path. The
 * bucket has 0 to `few` records, or `most`, which need a chained bucket. */
static void
grow_up_to(unsigned few, unsigned most)
{
    for (unsigned i = 0; i <= few; i++) {
        if (PROOF_PATH()) {
            grow(i);
            return;
        }
    }
    grow(most);
}

void
table_grow(void)
{
    begin();
    grow_up_to(3, 7);
    PROOF_END();
}

void
table_grow_first(void)
{
    begin();
    table.first = 4;
    grow_up_to(2, 3);
    PROOF_END();
}

void
table_grow_far(void)
{
    begin();
    grow_up_to(3, 4);
    PROOF_END();
}

static void
shrink(unsigned many, unsigned more)
{
    uint64_t last = BUCKETS - 1;
    uint64_t to = last - (FAR ? 32768 : 4);
    unsigned seen = 0, chain = 0;

    fill(to, 0, 0, many);
    fill(last, 2, many, more);
    bool done = shrink_table(&table);
    PROVE(table.buckets == BUCKETS - done, "a bucket less");
    PROVE(valid(to, BUCKETS - done, &seen, &chain), "all is valid");
    if (!done) {
        PROVE(refused, "it fails only if memory is short");
        PROVE(valid(last, BUCKETS, &seen, &chain), "all is valid");
        holds(to, &chained[0], in_order, many);
        holds(last, &chained[2], in_order + many, more);
    }
    all_there(seen, (1u << (many + more)) - 1, chain);
}

/* One bucket has 0 to `most` records; the other has 0 to `few`, or `most`. */
static void
shrink_up_to(unsigned few, unsigned most)
{
    for (unsigned i = 0; i <= most; i++) {
        for (unsigned j = 0; j <= few; j++) {
            if (PROOF_PATH()) {
                shrink(i, j);
                return;
            }
        }
        if (i == most || PROOF_PATH()) {
            shrink(i, most);
            return;
        }
    }
}

void
table_shrink(void)
{
    begin();
    shrink_up_to(2, 7);
    PROOF_END();
}

void
table_shrink_first(void)
{
    begin();
    table.first = 16;
    shrink_up_to(1, 2);
    PROOF_END();
}

void
table_shrink_far(void)
{
    begin();
    shrink_up_to(2, 3);
    PROOF_END();
}

/* An added record makes the table grow, or a removed one makes it shrink, if
 * memory is available. The hash of the added record is known here. */
static void
add_grows(uint64_t hash)
{
    unsigned seen = 0, chain = 0;

    table.count = 21;
    hashes[15] = hash;
    fill(1, 0, 0, 3);
    bool done = lawn__store_table_add(&table, hash, RECORD(15));
    PROVE(done && table.count == 22 && table.buckets == 6, "a bucket more");
    PROVE(valid(1, 6, &seen, &chain) && valid(5, 6, &seen, &chain),
          "records are where they belong, with their tags");
    all_there(seen, 0x8007, chain);
}

void
table_add_grows(void)
{
    begin();
    if (PROOF_PATH()) {
        add_grows(1);
    } else {
        add_grows(5);
    }
    PROOF_END();
}

static void
remove_shrinks(uint64_t home, unsigned which)
{
    unsigned seen = 0, chain = 0;

    table.count = 12;
    fill(0, 0, 0, 6);
    fill(4, 2, 6, 2);
    lawn__store_table_remove(&table, home, RECORD(which));
    PROVE(table.count == 11 && table.buckets == 4u + refused, "a bucket less");
    PROVE(valid(0, 4u + refused, &seen, &chain) &&
              (!refused || valid(4, 5, &seen, &chain)),
          "records are where they belong, with their tags");
    all_there(seen, 0xff & ~(1u << which), chain);
}

void
table_remove_shrinks(void)
{
    begin();
    if (PROOF_PATH()) {
        remove_shrinks(0, 2);
    } else {
        remove_shrinks(4, 7);
    }
    PROOF_END();
}
