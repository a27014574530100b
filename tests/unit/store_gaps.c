/* store_gaps.c - properties that no other test checks; mutants of the store
 * revealed these gaps. */
#include "store_common.h"
#include "store_tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
release_rudely(void *memory, void *context)
{
    trial_release(memory, context);
    errno = EDOM;
}

TEST(a_store_that_cannot_be_made_reports_why_whatever_its_allocator_does)
{
    struct ledger ledger = {0};
    struct lawn_store_options options = {.seed = {1, 2}};
    struct lawn_store *store = NULL;

    options.lawn.alloc = trial_alloc;
    options.lawn.release = release_rudely;
    options.lawn.context = &ledger;
    unsigned granted = 0;
    for (granted = 0; store == NULL; granted++) {
        ledger.refuse = granted;
        errno = 0;
        store = lawn_store_new(&options);
        CHECK(store != NULL || errno == ENOMEM);
        CHECK(store != NULL || ledger.blocks == 0);
    }
    CHECK(granted > 3);
    lawn_store_free(store);
    options.max_bytes = 1;
    ledger.refuse = SIZE_MAX;
    CHECK(lawn_store_new(&options) == NULL && errno == ENOSPC);
    CHECK_EQ(ledger.blocks, 0);
}

/* The record of the second timer begins before, at and after the end of the
 * first block, and with only its first byte in that block. */
TEST(a_record_of_a_snapshot_may_begin_anywhere_in_a_block)
{
    enum { BLOCK = 65536, AROUND = 128 };
    static unsigned char payload[BLOCK + AROUND];

    memset(payload, 7, sizeof(payload));
    for (size_t size = BLOCK - AROUND; size < BLOCK + AROUND; size++) {
        struct lawn_store *a = lawn_store_new(NULL);
        struct trial b; /* its memory is not zeroed */
        struct tape tape = {0};

        CHECK(a != NULL);
        trial_begin(&b, NULL);
        CHECK_EQ(lawn_store_start(a, "one", 3, 0xC3C3, payload, size, 0), 0);
        CHECK_EQ(lawn_store_start(a, "another", 7, 0xC3C3, payload, 300, 0), 0);
        tape_save(&tape, a);
        CHECK_EQ(tape_load(&tape, b.store), 0);
        check_same(a, b.store);
        lawn_store_free(a);
        trial_end(&b);
        tape_free(&tape);
    }
}

/* Writes nothing; fails only the second time. */
static int
write_badly(const void *bytes, size_t size, void *arg)
{
    unsigned *writes = (unsigned *)arg;

    (void)bytes;
    (void)size;
    return ++*writes == 2 ? -EIO : 0;
}

/* For every position in a record at which the first block can end. */
TEST(a_write_that_fails_once_fails_the_save)
{
    enum { BLOCK = 65536, AROUND = 128 };
    static const unsigned char payload[BLOCK + AROUND];
    struct lawn_store *store = lawn_store_new(NULL);

    CHECK(store != NULL);
    for (size_t size = BLOCK - AROUND; size < BLOCK + AROUND; size++) {
        unsigned writes = 0;

        lawn_store_clear(store);
        CHECK_EQ(lawn_store_start(store, "one", 3, 7, payload, size, 0), 0);
        CHECK_EQ(lawn_store_start(store, "another", 7, 7, payload, 9, 0), 0);
        CHECK_EQ(lawn_store_save(store, write_badly, &writes), (uint64_t)-EIO);
        CHECK_EQ(writes, 2);
    }
    lawn_store_free(store);
}

TEST(a_timer_that_is_due_now_loads_and_fires_now)
{
    struct lawn_store_options options = {.lawn = {.now = 10}};
    struct tape tape = {0};
    struct trial trial;

    trial_begin(&trial, NULL);
    put(&trial, "a", 10, "x");
    tape_save(&tape, trial.store);
    trial_end(&trial);
    trial_begin(&trial, &options);
    CHECK_EQ(tape_load(&tape, trial.store), 0);
    struct lawn_store_timer timer = look(&trial, "a");
    CHECK_EQ(timer.deadline, 10);
    CHECK_EQ(lawn_store_next(trial.store), 10);
    CHECK_EQ(trial_mow(&trial, 10), 1);
    CHECK_STORE_FIRED(&trial, "a");
    tape_free(&tape);
    trial_end(&trial);
}

/* Finds two ids that differ only in their last byte and whose hashes begin with
 * the same bits, so that only comparing the ids distinguishes them. */
static void
find_alike(const uint64_t key[2], size_t size, unsigned char *a,
           unsigned char *b)
{
    uint64_t state = size;

    for (;;) {
        for (unsigned i = 0; i + 1 < size; i++) {
            a[i] = b[i] = (unsigned char)chance(&state);
        }
        uint16_t hashes[256];
        for (unsigned i = 0; i < 256; i++) {
            a[size - 1] = (unsigned char)i;
            hashes[i] = (uint16_t)lawn_hash(key, a, size);
            for (unsigned j = 0; j < i; j++) {
                if (hashes[i] == hashes[j]) {
                    b[size - 1] = (unsigned char)j;
                    return;
                }
            }
        }
    }
}

TEST(ids_of_a_store_that_differ_in_their_last_byte_are_distinguished)
{
    struct lawn_store_options options = {.seed = {5, 6}};

    for (size_t size = 4; size < 40; size++) {
        unsigned char a[40];
        unsigned char b[40];
        struct trial trial;

        find_alike(options.seed, size, a, b);
        trial_begin(&trial, &options);
        CHECK_EQ(lawn_store_start(trial.store, a, size, 5, "a", 1, 0), 0);
        CHECK(!lawn_store_get(trial.store, b, size, NULL));
        CHECK_EQ(lawn_store_start(trial.store, b, size, 5, "b", 1, 0), 0);
        CHECK_EQ(lawn_store_count(trial.store), 2);
        CHECK(lawn_store_stop(trial.store, b, size));
        CHECK(lawn_store_get(trial.store, a, size, NULL));
        trial_end(&trial);
    }
}

/* Adjacent records with their own slabs, of every size modulo the alignment:
 * the allocator detects a write past the end of one. */
TEST(large_ids_and_payloads_of_all_sizes_stay_within_their_memory)
{
    static unsigned char bytes[40000];
    struct tape tape = {0};
    struct trial trial;

    trial_begin(&trial, NULL);
    memset(bytes, 0xEE, sizeof(bytes));
    for (size_t i = 0; i < 200; i++) {
        bytes[0] = (unsigned char)i;
        CHECK_EQ(lawn_store_start(trial.store, bytes, 16200 + i, 10 + i, bytes,
                                  i, 0),
                 0);
        CHECK_EQ(lawn_store_start(trial.store, bytes, 9, 10 + i, bytes,
                                  16200 + 3 * i, 0),
                 0);
    }
    CHECK(lawn_store_check(trial.store, stdout));
    for (size_t i = 0; i < 2; i++) { /* in memory blocks of two kinds */
        tape_free(&tape);
        tape_save(&tape, trial.store);
    }
    CHECK_EQ(trial_mow(&trial, 100), 2 * 91);
    trial.fired = 0;
    CHECK(lawn_store_check(trial.store, stdout));
    lawn_store_clear(trial.store);
    lawn_store_set_now(trial.store, 0);
    CHECK_EQ(tape_load(&tape, trial.store), 0);
    CHECK_EQ(lawn_store_count(trial.store), 400);
    tape_free(&tape);
    trial_end(&trial);
}

/* A failed reservation frees no slab that has a live slot. */
TEST(a_reservation_that_fails_leaves_payloads_of_all_sizes_where_they_are)
{
    static const size_t sizes[] = {100, 3000, 16000, 16376};
    static unsigned char payload[16376];

    memset(payload, 9, sizeof(payload));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct trial trial;
        int error = -ENOMEM;

        trial_begin(&trial, NULL);
        CHECK_EQ(lawn_store_start(trial.store, "a", 1, UINT64_C(1) << 40,
                                  payload, sizes[i], 0),
                 0);
        size_t granted = 0;
        for (; error == -ENOMEM; granted++) {
            trial.ledger.refuse = granted;
            error = lawn_store_reserve(trial.store, 10000);
            CHECK(lawn_store_check(trial.store, stdout));
            struct lawn_store_timer timer = look(&trial, "a");
            CHECK_EQ(timer.payload_size, sizes[i]);
            CHECK(memcmp(timer.payload, payload, sizes[i]) == 0);
        }
        CHECK_EQ(error, 0);
        CHECK(granted > 2);
        trial.ledger.refuse = SIZE_MAX;
        trial_end(&trial);
    }
}

/* File descriptor 0 is free and must be usable like all others. */
static int
save_without_input(void)
{
    char path[] = "/tmp/lawn-test-XXXXXX";
    int fd = mkstemp(path);
    struct lawn_store *store = lawn_store_new(NULL);
    int wrong = 0;

    if (fd < 0 || store == NULL || close(fd) != 0 || close(0) != 0 ||
        lawn_store_start(store, "a", 1, 5, "x", 1, 0) != 0) {
        wrong = 1;
    } else if (lawn_store_save_file(store, path) != 0) {
        wrong = 2;
    } else if (open("/dev/null", O_RDONLY) != 0 || close(0) != 0) {
        wrong = 3;
    } else {
        lawn_store_clear(store);
        if (lawn_store_load_file(store, path) != 0 ||
            lawn_store_count(store) != 1) {
            wrong = 4;
        } else if (open("/dev/null", O_RDONLY) != 0) {
            wrong = 5;
        }
    }
    (void)unlink(path);
    lawn_store_free(store);
    return wrong;
}

TEST(a_program_without_an_input_saves_and_loads_and_leaves_no_file_open)
{
    check_child(save_without_input);
}
