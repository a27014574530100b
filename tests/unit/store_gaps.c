/* store_gaps.c - what no other test would notice if it went wrong, as mutants of
 * the store have shown. */
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

TEST(a_store_that_cannot_be_made_says_why_whatever_its_allocator_says)
{
    struct ledger ledger = {0};
    struct lawn_store_options options = {.seed = {1, 2}};
    struct lawn_store *store = NULL;
    unsigned granted;

    options.lawn.alloc = trial_alloc;
    options.lawn.release = release_rudely;
    options.lawn.context = &ledger;
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

/* The second timer's record begins before, at and behind the end of the first
 * block, with one byte of it there as well. */
TEST(a_record_of_a_snapshot_may_begin_anywhere_in_a_block)
{
    enum { BLOCK = 65536, AROUND = 128 };
    static unsigned char payload[BLOCK + AROUND];
    size_t size;

    memset(payload, 7, sizeof payload);
    for (size = BLOCK - AROUND; size < BLOCK + AROUND; size++) {
        struct lawn_store *a = lawn_store_new(NULL);
        struct lawn_store *b = lawn_store_new(NULL);
        struct tape tape = {0};

        CHECK(a != NULL && b != NULL);
        CHECK_EQ(lawn_store_start(a, "one", 3, 5, payload, size, 0), 0);
        CHECK_EQ(lawn_store_start(a, "another", 7, 1000, payload, 300, 0), 0);
        tape_save(&tape, a);
        CHECK_EQ(tape_load(&tape, b), 0);
        check_same(a, b);
        lawn_store_free(a);
        lawn_store_free(b);
        tape_free(&tape);
    }
}

/* Records that have a slab of their own, of every size modulo the alignment,
 * side by side: what writes behind one is noticed by the allocator. */
TEST(large_ids_and_payloads_of_all_sizes_stay_within_their_memory)
{
    static unsigned char bytes[40000];
    struct trial trial;
    size_t i;

    trial_begin(&trial, NULL);
    memset(bytes, 0xEE, sizeof bytes);
    for (i = 0; i < 200; i++) {
        bytes[0] = (unsigned char)i;
        CHECK_EQ(lawn_store_start(trial.store, bytes, 16200 + i, 10 + i, bytes,
                                  i, 0),
                 0);
        CHECK_EQ(lawn_store_start(trial.store, bytes, 9, 10 + i, bytes,
                                  16200 + 3 * i, 0),
                 0);
    }
    CHECK(lawn_store_check(trial.store, stdout));
    CHECK_EQ(trial_mow(&trial, 100), 2 * 91);
    trial.fired = 0;
    CHECK(lawn_store_check(trial.store, stdout));
    trial_end(&trial);
}

/* Numbers of files begin with 0: then that is one like all others. */
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
