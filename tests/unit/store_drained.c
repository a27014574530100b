/* store_drained.c - a store that held very many timers of all sizes and TTLs,
 * and now holds few: S5, S7. */
#include "store_common.h"

#include <errno.h>
#include <string.h>

#define LIMIT (8u << 20)

static char bytes[400000];

/* Starts up to `most` timers of all sizes and TTLs, until the store is full;
 * then all fire. Returns the number of timers. */
static uint64_t
flood(struct lawn_store *store, uint64_t most, size_t largest)
{
    uint64_t state = 5;
    uint64_t i = 0;

    for (i = 0; i < most; i++) {
        uint64_t r = chance(&state);

        if (lawn_store_start(store, &i, sizeof(i), UINT64_C(1) << r % 30, bytes,
                             r / 32 % (largest + 1), 0) != 0) {
            break;
        }
    }
    while (lawn_store_pop(store, lawn_store_next(store), NULL)) {
    }
    CHECK_EQ(lawn_store_count(store), 0);
    return i;
}

TEST(a_store_that_is_drained_has_room_again)
{
    struct lawn_store_options options = {.max_bytes = LIMIT};
    struct trial t;

    trial_begin(&t, &options);
    for (int round = 0; round < 3; round++) {
        CHECK(flood(t.store, UINT64_MAX, 2000) > 3000);
        CHECK_EQ(lawn_store_start(t.store, "x", 1, UINT64_C(1) << 50, bytes,
                                  1900, 0),
                 0);
        CHECK_EQ(lawn_store_start(t.store, "y", 1, 1, bytes, sizeof(bytes), 0),
                 0);
        CHECK(drop(&t, "x") && drop(&t, "y"));
    }
    trial_end(&t);
}

TEST(a_store_gives_back_what_timers_of_all_sizes_took)
{
    struct trial t;

    trial_begin(&t, NULL);
    size_t before = lawn_store_bytes(t.store);
    (void)flood(t.store, how_many(200000, 50000, 5000), 20000);
    /* One block, and the table that pointed to the former blocks. */
    CHECK(lawn_store_bytes(t.store) <= before + (512u << 10));
    lawn_store_clear(t.store);
    (void)lawn_store_pop(t.store, 0, NULL); /* releases the last one */
    lawn_store_clear(t.store);
    CHECK_EQ(lawn_store_bytes(t.store), before);
    trial_end(&t);
}

TEST(a_payload_of_a_store_is_replaced_by_one_as_large_within_any_limit)
{
    static const size_t sizes[] = {100, 3000, 20000, 300000};
    struct trial t;

    trial_begin(&t, NULL);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CHECK_EQ(lawn_store_start(t.store, "x", 1, 5, bytes, sizes[i], 0), 0);
        lawn_store_set_limits(t.store, 1, lawn_store_bytes(t.store));
        memset(bytes, (int)i + 1, sizeof(bytes));
        CHECK_EQ(lawn_store_start(t.store, "x", 1, 5, bytes, sizes[i], 0), 0);
        memset(bytes, (int)i + 2, sizeof(bytes));
        CHECK_EQ(lawn_store_update(t.store, "x", 1, bytes, sizes[i]), 0);
        struct lawn_store_timer timer;
        CHECK(lawn_store_get(t.store, "x", 1, &timer));
        CHECK(memcmp(timer.payload, bytes, sizes[i]) == 0);
        lawn_store_set_limits(t.store, 0, 0);
        CHECK(drop(&t, "x"));
    }
    trial_end(&t);
}

/* Each of the largest ids has its own block. [S5] */
TEST(a_store_with_one_timer_is_soon_iterated_though_there_were_many)
{
    const uint64_t many = how_many(20000, 5000, 500);
    struct trial t;
    uint64_t cursor = 0;

    trial_begin(&t, NULL);
    put(&t, "x", 10, "");
    size_t before = lawn_store_bytes(t.store);
    uint64_t i = 0;
    for (i = 0; i < many; i++) {
        memcpy(bytes, &i, sizeof(i));
        CHECK_EQ(lawn_store_start(t.store, bytes, 20000, 10, "", 0, 0), 0);
    }
    for (i = 0; i < many; i++) {
        memcpy(bytes, &i, sizeof(i));
        CHECK(lawn_store_stop(t.store, bytes, 20000));
    }
    CHECK(lawn_store_bytes(t.store) <= before + (64u << 10));
    CHECK(lawn_store_iterate(t.store, &cursor, NULL));
    CHECK(!lawn_store_iterate(t.store, &cursor, NULL));
    trial_end(&t);
}

TEST(a_store_is_not_made_with_less_memory_than_an_empty_one_takes)
{
    struct lawn_store_options options = {.max_bytes = 1000};

    errno = 0;
    CHECK(lawn_store_new(&options) == NULL);
    CHECK_EQ(errno, ENOSPC);
}

/* Each has its own slab, and the slab of one is too small for another. */
TEST(a_store_takes_a_large_id_after_a_smaller_large_one_has_gone)
{
    static const size_t sizes[] = {20000, 65535, 17000, 30000};
    struct trial t;

    trial_begin(&t, NULL);
    for (size_t i = 0; i < 3 * COUNT(sizes); i++) {
        size_t size = sizes[i % COUNT(sizes)];

        CHECK_EQ(lawn_store_start(t.store, bytes, size, 10, "x", 1, 0), 0);
        CHECK(lawn_store_check(t.store, stdout));
        CHECK(lawn_store_stop(t.store, bytes, size));
        CHECK(lawn_store_check(t.store, stdout));
    }
    trial_end(&t);
}

TEST(a_store_reserves_what_it_has_room_for_within_any_limit)
{
    struct trial t;

    trial_begin(&t, NULL);
    for (uint64_t i = 0; i < 5000; i++) {
        CHECK_EQ(put_number(&t, i, 10), 0);
    }
    lawn_store_set_limits(t.store, 0, lawn_store_bytes(t.store));
    CHECK_EQ(lawn_store_reserve(t.store, 8000), 0);
    CHECK_EQ(lawn_store_reserve(t.store, 80000), -ENOSPC);
    trial_end(&t);
}
