/* store_chosen.c - ids chosen by an attacker who knows the hash but not the key
 * [S6]. The tests read the internal table: buckets of one cache line, chained
 * if full. */
#include "../../src/store/store.h"
#include "store_common.h"

#include "../../src/store/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHOSEN 4000u
#define CHOSEN_MASK UINT64_C(1023)

static const uint64_t known[2] = {1, 2};
static const uint64_t none[2] = {0, 0};

/* Finds the first numbers, or strings, whose hashes end in the same bits. */
static void
choose(uint64_t *ids, const uint64_t key[2])
{
    uint64_t number = 0;
    unsigned found = 0;

    while (found < CHOSEN) {
        if ((lawn__store_hash(key, &number, sizeof(number)) & CHOSEN_MASK) ==
            0) {
            ids[found++] = number;
        }
        number++;
    }
}

/* Returns the largest number of buckets in a chain. */
static unsigned
longest(const struct lawn_store *store)
{
    struct lawn_store_timer timer;
    uint64_t cursor = 0;
    unsigned most = 0;

    while (lawn_store_iterate(store, &cursor, &timer)) {
        uint64_t hash =
            lawn__store_table_hash(&store->table, timer.id, timer.id_size);
        const struct lawn_store_bucket *bucket =
            lawn__store_table_home(&store->table, hash);
        unsigned length = 1;

        for (; bucket->chained; length++) {
            bucket = (const struct lawn_store_bucket *)
                         bucket->entry[LAWN_STORE_BUCKET_ENTRIES - 1];
        }
        most = length > most ? length : most;
    }
    return most;
}

static unsigned
longest_of(const uint64_t *ids, const uint64_t seed[2])
{
    struct lawn_store_options options = {.seed = {seed[0], seed[1]}};
    struct trial t;

    trial_begin(&t, &options);
    for (unsigned i = 0; i < CHOSEN; i++) {
        CHECK_EQ(put_number(&t, ids[i], 10), 0);
    }
    unsigned most = longest(t.store);
    for (unsigned i = 0; i < CHOSEN; i++) {
        CHECK(has_number(&t, ids[i]));
        CHECK(drop_number(&t, ids[i]));
    }
    trial_end(&t);
    return most;
}

/* With a known key the ids do collide. This shows that the other tests can
 * detect collisions. */
TEST(ids_chosen_with_the_seed_of_a_store_collide)
{
    static uint64_t ids[CHOSEN];

    choose(ids, known);
    CHECK(longest_of(ids, known) > 50);
    CHECK(longest_of(ids, (const uint64_t[2]){2, 1}) <= 6);
    CHECK(longest_of(ids, (const uint64_t[2]){1, 3}) <= 6);
    CHECK(longest_of(ids, (const uint64_t[2]){0, 2}) <= 6);
}

/* Long chains cannot be moved without memory. The table keeps its size and
 * works as before. */
TEST(a_store_of_colliding_ids_without_memory_loses_none)
{
    static uint64_t ids[CHOSEN];

    choose(ids, known);
    struct trial t;
    trial_begin(&t, &(struct lawn_store_options){.seed = {1, 2}});
    for (unsigned i = 0; i < CHOSEN; i++) {
        CHECK_EQ(put_number(&t, ids[i], 10), 0);
    }
    size_t before = t.ledger.bytes;
    t.ledger.for_good = true;
    for (size_t k = 0; k < 40; k++) {
        t.ledger.refuse = k;
        CHECK_EQ(lawn_store_reserve(t.store, 1000000), -ENOMEM);
        CHECK(lawn_store_check(t.store, stdout));
        t.ledger.refuse = SIZE_MAX;
        CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    }
    CHECK_EQ(lawn_store_reserve(t.store, 20000), 0);
    t.ledger.refuse = 0;
    CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    CHECK(lawn_store_check(t.store, stdout));
    t.ledger.refuse = SIZE_MAX;
    CHECK_EQ(lawn_store_reserve(t.store, 0), 0);
    CHECK(t.ledger.bytes <= before + before / 4); /* [S7] */
    for (unsigned i = 0; i < CHOSEN; i++) {
        CHECK(drop_number(&t, ids[i]));
    }
    trial_end(&t);
}

/* A bucket holds 6 records; that 36 random ones fall into one has a negligible
 * probability. */
TEST(chosen_ids_do_not_collide_in_a_store_with_a_random_seed)
{
    static uint64_t ids[CHOSEN];

    choose(ids, none);
    for (int i = 0; i < 5; i++) {
        CHECK(longest_of(ids, none) <= 6); /* 0: a random seed */
    }
}

TEST(stores_have_seeds_of_their_own)
{
    struct lawn_store_options options = {.seed = {0, 7}};
    struct lawn_store *a = lawn_store_new(NULL);
    struct lawn_store *b = lawn_store_new(NULL);
    struct lawn_store *c = lawn_store_new(&options);

    CHECK(a != NULL && b != NULL && c != NULL);
    CHECK(a->table.key[0] != b->table.key[0]);
    CHECK(a->table.key[1] != b->table.key[1]);
    CHECK(a->table.key[0] != 0 && a->table.key[1] != 0);
    CHECK_EQ(c->table.key[0], 0);
    CHECK_EQ(c->table.key[1], 7);
    lawn_store_free(a);
    lawn_store_free(b);
    lawn_store_free(c);
}

/* Ids of 8 bytes have their own code path, which must give the same hash. */
TEST(a_store_hashes_integers_as_it_hashes_bytes)
{
    struct trial t;

    trial_begin(&t, &(struct lawn_store_options){.seed = {3, 4}});
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t number = i * UINT64_C(0x9E3779B97F4A7C15);

        CHECK_EQ(
            lawn__store_table_hash(&t.store->table, &number, sizeof(number)),
            lawn__store_hash((const uint64_t[2]){3, 4}, &number,
                             sizeof(number)));
    }
    trial_end(&t);
}

/* The reference example for SipHash-1-3: the key 00 01 02 ... 0f, and messages
 * 00 01 02 ... of every size. */
TEST(the_hash_of_a_store_is_siphash_1_3)
{
    static const uint64_t key[2] = {UINT64_C(0x0706050403020100),
                                    UINT64_C(0x0f0e0d0c0b0a0908)};
    static const uint64_t expected[] = {
        UINT64_C(0xabac0158050fc4dc), UINT64_C(0xc9f49bf37d57ca93),
        UINT64_C(0x82cb9b024dc7d44d), UINT64_C(0x8bf80ab8e7ddf7fb),
        UINT64_C(0xcf75576088d38328), UINT64_C(0xdef9d52f49533b67),
        UINT64_C(0xc50d2b50c59f22a7), UINT64_C(0xd3927d989bb11140),
        UINT64_C(0x369095118d299a8e), UINT64_C(0x25a48eb36c063de4),
        UINT64_C(0x79de85ee92ff097f), UINT64_C(0x70c118c1f94dc352),
    };
    unsigned char message[COUNT(expected)] = {0};

    for (size_t i = 0; i < COUNT(expected); i++) {
        CHECK_EQ(lawn__store_hash(key, message, i), expected[i]);
        CHECK_EQ(lawn_hash(key, message, i), expected[i]);
        message[i] = (unsigned char)i;
    }
}

/* The ids have the same bucket and tag, so that only the ids themselves
 * differ. */
TEST(ids_of_a_store_with_similar_hashes_are_distinguished)
{
    static const size_t sizes[] = {8, 12};
    struct trial t;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        unsigned char first[12] = {0};
        unsigned char other[12] = {0};
        uint32_t number = 0;
        uint64_t hash = lawn__store_hash(known, first, sizes[i]);

        do {
            number++;
            memcpy(other, &number, sizeof(number));
        } while (((lawn__store_hash(known, other, sizes[i]) ^ hash) &
                  UINT64_C(0xffff000000000003)) != 0);
        trial_begin(&t, &(struct lawn_store_options){.seed = {1, 2}});
        CHECK_EQ(lawn_store_start(t.store, first, sizes[i], 10, "", 0, 0), 0);
        CHECK(!lawn_store_get(t.store, other, sizes[i], NULL));
        CHECK_EQ(lawn_store_start(t.store, other, sizes[i], 20, "", 0, 0), 0);
        CHECK(lawn_store_stop(t.store, first, sizes[i]));
        CHECK(!lawn_store_get(t.store, first, sizes[i], NULL));
        CHECK(lawn_store_get(t.store, other, sizes[i], NULL));
        trial_end(&t);
    }
}
