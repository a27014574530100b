/* store_bytes.c - ids and payloads of any bytes and any size. */
#include "store_common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    const char *bytes;
    size_t size;
};

TEST(ids_of_a_store_are_any_bytes)
{
    static const struct bytes ids[] = {
        {"", 0},
        {"\0", 1},
        {"\0\0", 2},
        {"\0\0\0\0\0\0\0", 7},
        {"\0\0\0\0\0\0\0\0", 8},
        {"\0\0\0\0\0\0\0\0\0", 9},
        {"\0a", 2},
        {"a", 1},
        {"a\0", 2},
        {"a\0b", 3},
        {"a\0c", 3},
        {"abcdefg", 7},
        {"abcdefgh", 8},
        {"abcdefgi", 8},
        {"bbcdefgh", 8},
        {"abcdefghi", 9},
        {"abcdefghijklmnop", 16},
        {"abcdefghijklmnopq", 17},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9},
    };
    struct trial t;

    trial_begin(&t, NULL);
    for (size_t i = 0; i < COUNT(ids); i++) {
        CHECK(!lawn_store_get(t.store, ids[i].bytes, ids[i].size, NULL));
        CHECK_EQ(lawn_store_start(t.store, ids[i].bytes, ids[i].size, 10, &i,
                                  sizeof(i), LAWN_STORE_ABSENT),
                 0);
    }
    struct lawn_store_timer timer;
    for (size_t i = 0; i < COUNT(ids); i++) { /* [S1] */
        CHECK(lawn_store_get(t.store, ids[i].bytes, ids[i].size, &timer));
        CHECK_EQ(timer.id_size, ids[i].size);
        CHECK(memcmp(timer.id, ids[i].bytes, ids[i].size) == 0);
        CHECK_EQ(timer.payload_size, sizeof(i));
        CHECK(memcmp(timer.payload, &i, sizeof(i)) == 0);
    }
    for (size_t i = 0; i < COUNT(ids); i++) {
        CHECK(lawn_store_stop(t.store, ids[i].bytes, ids[i].size));
        for (size_t j = 0; j < COUNT(ids); j++) {
            CHECK_EQ(lawn_store_get(t.store, ids[j].bytes, ids[j].size, NULL),
                     j > i);
        }
    }
    trial_end(&t);
}

TEST(an_id_of_a_store_may_be_no_bytes_at_no_address)
{
    struct trial t;

    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_start(t.store, NULL, 0, 10, NULL, 0, 0), 0);
    CHECK(lawn_store_get(t.store, NULL, 0, NULL));
    CHECK_TIMER(&t, "", "", 10);
    CHECK_EQ(lawn_store_update(t.store, NULL, 0, NULL, 0), 0);
    CHECK(lawn_store_touch(t.store, NULL, 0, 20));
    CHECK_TIMER(&t, "", "", 20);
    CHECK_EQ(trial_mow(&t, 20), 1);
    CHECK(!lawn_store_stop(t.store, NULL, 0));
    trial_end(&t);
}

/* Each size, to cover each path of the hash and of the comparison. */
TEST(ids_of_a_store_of_every_size_differ_from_each_other)
{
    static unsigned char bytes[300];

    memset(bytes, 'x', sizeof(bytes));
    struct trial t;
    trial_begin(&t, NULL);
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        CHECK_EQ(lawn_store_start(t.store, bytes, size, 10, bytes, size,
                                  LAWN_STORE_ABSENT),
                 0);
    }
    for (size_t size = 1; size <= sizeof(bytes); size++) {
        bytes[size - 1] = 'y';
        CHECK(!lawn_store_get(t.store, bytes, size, NULL));
        bytes[size - 1] = 'x';
        bytes[0] = 'y';
        CHECK(!lawn_store_get(t.store, bytes, size, NULL));
        bytes[0] = 'x';
        CHECK(lawn_store_get(t.store, bytes, size, NULL));
    }
    CHECK_EQ(lawn_store_count(t.store), sizeof(bytes) + 1);
    trial_end(&t);
}

/* Ids are copied: the caller may then change its bytes. */
TEST(ids_and_payloads_of_a_store_may_be_anywhere_in_memory)
{
    static unsigned char bytes[256];
    struct trial t;

    trial_begin(&t, NULL);
    struct lawn_store_timer timer;
    for (size_t at = 0; at < 9; at++) {
        for (size_t size = 1; size < 40; size++) {
            memset(bytes, (int)(at * 16 + 1), sizeof(bytes));
            CHECK_EQ(lawn_store_start(t.store, bytes + at, size, 10,
                                      bytes + 100 - at, size, 0),
                     0);
            memset(bytes, 0, sizeof(bytes));
            memset(bytes, (int)(at * 16 + 1), size);
            CHECK(lawn_store_get(t.store, bytes, size, &timer));
            CHECK(memcmp(timer.payload, bytes, size) == 0);
            CHECK_EQ((uintptr_t)timer.payload % 8, 0);
        }
    }
    CHECK_EQ(lawn_store_count(t.store), UINT64_C(9) * 39);
    trial_end(&t);
}

TEST(integers_are_ids_of_a_store)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       INT64_MAX,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    struct trial t;

    trial_begin(&t, NULL);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CHECK(!has_number(&t, numbers[i]));
        CHECK_EQ(put_number(&t, numbers[i], 10), 0);
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CHECK(has_number(&t, numbers[i]));
        CHECK(!has_number(&t, numbers[i] ^ 1u << 20));
        CHECK(drop_number(&t, numbers[i]));
        CHECK(!has_number(&t, numbers[i]));
    }
    trial_end(&t);
}

TEST(an_id_of_a_store_has_65535_bytes_at_most)
{
    char *id = calloc(2, LAWN_STORE_ID_MAX + 1);

    CHECK(id != NULL);
    CHECK_EQ(LAWN_STORE_ID_MAX, 65535);
    struct trial t;
    trial_begin(&t, NULL);
    CHECK_EQ(lawn_store_start(t.store, id, LAWN_STORE_ID_MAX, 10, "x", 1, 0),
             0);
    CHECK_EQ(
        lawn_store_start(t.store, id + 1, LAWN_STORE_ID_MAX - 1, 20, "y", 1, 0),
        0);
    id[LAWN_STORE_ID_MAX - 1] = 1;
    CHECK(!lawn_store_get(t.store, id, LAWN_STORE_ID_MAX, NULL));
    id[LAWN_STORE_ID_MAX - 1] = 0;
    struct lawn_store_timer timer;
    CHECK(lawn_store_get(t.store, id, LAWN_STORE_ID_MAX, &timer));
    CHECK_EQ(timer.id_size, LAWN_STORE_ID_MAX);
    CHECK(memcmp(timer.id, id, LAWN_STORE_ID_MAX) == 0);
    CHECK_EQ(lawn_store_update(t.store, id, LAWN_STORE_ID_MAX, "long", 4), 0);
    CHECK(lawn_store_touch(t.store, id, LAWN_STORE_ID_MAX, 30));
    uint64_t print = trial_print(&t);
    CHECK_EQ(
        lawn_store_start(t.store, id, LAWN_STORE_ID_MAX + 1, 10, "x", 1, 0),
        LAWN_STORE_ID_TOO_LARGE);
    CHECK_EQ(lawn_store_start(t.store, id, SIZE_MAX, 10, "x", 1, 0),
             LAWN_STORE_ID_TOO_LARGE);
    /* An id that is too long matches no timer. */
    CHECK(!lawn_store_get(t.store, id, LAWN_STORE_ID_MAX + 1, NULL));
    CHECK(!lawn_store_stop(t.store, id, LAWN_STORE_ID_MAX + 1));
    CHECK(!lawn_store_touch(t.store, id, LAWN_STORE_ID_MAX + 1, 5));
    CHECK(!lawn_store_touch_at(t.store, id, LAWN_STORE_ID_MAX + 1, 5));
    CHECK_EQ(lawn_store_update(t.store, id, LAWN_STORE_ID_MAX + 1, "x", 1),
             -ENOENT);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    CHECK_EQ(trial_mow(&t, 30), 2);
    trial_end(&t);
    free(id);
}

TEST(payloads_of_a_store_of_every_size_come_back)
{
    static unsigned char bytes[20000];
    uint64_t state = 7;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)chance(&state);
    }
    struct trial t;
    trial_begin(&t, NULL);
    for (size_t size = 0; size <= sizeof(bytes); size += 1 + size / 16) {
        CHECK_EQ(
            lawn_store_start(t.store, &size, sizeof(size), 10, bytes, size, 0),
            0);
    }
    struct lawn_store_timer timer;
    for (size_t size = 0; size <= sizeof(bytes); size += 1 + size / 16) {
        CHECK(lawn_store_get(t.store, &size, sizeof(size), &timer));
        CHECK_EQ(timer.payload_size, size);
        CHECK(timer.payload != NULL);
        CHECK_EQ((uintptr_t)timer.payload % 8, 0);
        CHECK(memcmp(timer.payload, bytes, size) == 0);
    }
    trial_end(&t);
}

/* Preceded by ids of every size. */
TEST(payloads_of_a_store_are_aligned_to_8_bytes)
{
    static char bytes[64];
    struct trial t;

    trial_begin(&t, NULL);
    struct lawn_store_timer timer;
    for (size_t id_size = 0; id_size < 33; id_size++) {
        for (size_t size = 0; size < 33; size++) {
            CHECK_EQ(
                lawn_store_start(t.store, bytes, id_size, 10, bytes, size, 0),
                0);
            CHECK(lawn_store_get(t.store, bytes, id_size, &timer));
            CHECK(timer.payload != NULL);
            CHECK_EQ((uintptr_t)timer.payload % 8, 0);
        }
    }
    CHECK_EQ(lawn_store_count(t.store), 33);
    while (lawn_store_pop(t.store, 10, &timer)) {
        CHECK_EQ((uintptr_t)timer.payload % 8, 0);
    }
    trial_end(&t);
}

/* A size above the limit and a lack of memory give different errors. The
 * payload is not read in either case: it is only one byte. */
TEST(a_payload_of_a_store_has_512_mib_less_one_byte_at_most)
{
    struct lawn_store_options options = {.max_bytes = 1u << 20};

    CHECK_EQ(LAWN_STORE_PAYLOAD_MAX, (512u << 20) - 1);
    struct trial t;
    trial_begin(&t, &options);
    put(&t, "a", 10, "x");
    uint64_t print = trial_print(&t);
    CHECK_EQ(
        lawn_store_start(t.store, "b", 1, 10, "", LAWN_STORE_PAYLOAD_MAX, 0),
        -ENOSPC);
    CHECK_EQ(lawn_store_start(t.store, "b", 1, 10, "",
                              LAWN_STORE_PAYLOAD_MAX + 1, 0),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_start(t.store, "b", 1, 10, "", SIZE_MAX, 0),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, "", LAWN_STORE_PAYLOAD_MAX),
             -ENOSPC);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, "", LAWN_STORE_PAYLOAD_MAX + 1),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(lawn_store_update(t.store, "a", 1, "", SIZE_MAX),
             LAWN_STORE_PAYLOAD_TOO_LARGE);
    CHECK_EQ(trial_print(&t), print); /* [S2] */
    trial_end(&t);
}

/* Only in optimized builds: the payload has half a gigabyte. */
TEST(a_payload_of_the_largest_size_comes_back_from_a_store)
{

    if (how_many(1, 0, 0) == 0) {
        return;
    }
    char *bytes = calloc(1, LAWN_STORE_PAYLOAD_MAX);
    CHECK(bytes != NULL);
    bytes[LAWN_STORE_PAYLOAD_MAX - 1] = 'z';
    struct trial t;
    trial_begin(&t, NULL);
    int error =
        lawn_store_start(t.store, "a", 1, 10, bytes, LAWN_STORE_PAYLOAD_MAX, 0);
    CHECK(error == 0 || error == -ENOMEM);
    if (error == 0) {
        struct lawn_store_timer timer = look(&t, "a");
        CHECK_EQ(timer.payload_size, LAWN_STORE_PAYLOAD_MAX);
        CHECK(((const char *)timer.payload)[LAWN_STORE_PAYLOAD_MAX - 1] == 'z');
        CHECK(drop(&t, "a"));
        CHECK(t.ledger.bytes < 1u << 20); /* [S7] */
    }
    trial_end(&t);
    free(bytes);
}
