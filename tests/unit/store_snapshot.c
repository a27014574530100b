/* store_snapshot.c - saving and loading a store [S9]. */
#include "common.h"
#include "rng.h"
#include "store_tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct lawn_store *
new_store(uint64_t now)
{
    struct lawn_store_options options = {
        .lawn = {.blades = 8, .slot_bits = 4, .now = now}, .seed = {3, 4}};
    struct lawn_store *store = lawn_store_new(&options);

    CHECK(store != NULL);
    return store;
}

static void
start_text(struct lawn_store *store, const char *id, uint64_t ttl,
           const char *payload)
{
    CHECK_EQ(lawn_store_start(store, id, strlen(id), ttl, payload,
                              strlen(payload), 0),
             0);
}

static void
start_number(struct lawn_store *store, uint64_t id, uint64_t ttl)
{
    CHECK_EQ(lawn_store_start(store, &id, sizeof(id), ttl, &id, sizeof(id), 0),
             0);
}

/* Starts timers with ids and payloads of all kinds, many TTLs and times. */
static void
fill(struct lawn_store *store, uint64_t count, uint64_t seed)
{
    static unsigned char id[LAWN_STORE_ID_MAX];
    static unsigned char payload[300000];
    struct rng rng = {seed};

    rng_fill(&rng, id, sizeof(id));
    rng_fill(&rng, payload, sizeof(payload));
    uint64_t i = 0;
    for (i = 0; i < count; i++) {
        size_t id_size = i < 300 ? i : sizeof(i) + rng_below(&rng, 40);
        size_t payload_size = i < 500 ? i : rng_below(&rng, 100);
        uint64_t ttl = 1 + rng_below(&rng, 5);

        memcpy(id, &i, sizeof(i));
        if (i % 1000 == 7) {
            id_size = sizeof(id) - i / 1000;
            payload_size = sizeof(payload) - i;
        }
        if (i % 16 == 0) {
            ttl = rng_next(&rng);
        }
        CHECK_EQ(lawn_store_start(store, id, id_size, ttl, payload,
                                  payload_size,
                                  i % 11 == 0 ? LAWN_STORE_AT : 0),
                 0);
        if (i % 3 == 0) {
            lawn_store_set_now(store, lawn_store_now(store) + i % 7);
        }
    }
}

static void
round_trip(uint64_t count, uint64_t seed, size_t piece)
{
    struct lawn_store *a = new_store(seed);
    struct lawn_store *b = new_store(0);
    struct tape tape = {.piece = piece};

    fill(a, count, seed);
    lawn_store_set_now(b, lawn_store_now(a));
    tape_save(&tape, a);
    CHECK_EQ(tape_load(&tape, b), 0);
    CHECK_EQ(tape.at, tape.size);
    check_same(a, b);
    lawn_store_free(a);
    lawn_store_free(b);
    tape_free(&tape);
}

TEST(a_saved_store_loads_whatever_the_ids_and_payloads)
{
    round_trip(0, 1, 0);
    round_trip(1, 2, 0);
    round_trip(2, 3, 0);
    round_trip(700, 4, 0);
    round_trip(5000, 5, 0);
}

TEST(a_snapshot_may_be_read_in_pieces_of_any_size)
{
    round_trip(100, 6, 1);
    round_trip(1200, 7, 13);
    round_trip(1200, 8, 4096);
}

TEST(a_timer_with_a_ttl_of_zero_loads_again)
{
    struct lawn_store *a = new_store(0);
    struct lawn_store *b = new_store(0);
    struct tape tape = {0};

    start_text(a, "zero", 0, "");
    start_text(a, "never", LAWN_NEVER, "");
    CHECK_EQ(lawn_store_start(a, "past", 4, 0, "", 0, LAWN_STORE_AT), 0);
    CHECK_EQ(lawn_store_start(a, "end", 3, LAWN_NEVER, "", 0, LAWN_STORE_AT),
             0);
    tape_save(&tape, a);
    CHECK_EQ(tape_load(&tape, b), 0);
    check_same(a, b);
    lawn_store_free(a);
    lawn_store_free(b);
    tape_free(&tape);
}

/* Compares with bytes given in hexadecimal, with optional spaces. */
static void
check_bytes(const struct tape *tape, const char *expected)
{
    static const char digits[] = "0123456789abcdef";
    size_t size = 0;
    unsigned nibbles = 0;
    unsigned byte = 0;

    for (; *expected != '\0'; expected++) {
        if (*expected == ' ') {
            continue;
        }
        byte = byte << 4 | (unsigned)(strchr(digits, *expected) - digits);
        if (++nibbles % 2 == 0) {
            CHECK(size < tape->size);
            CHECK_EQ(tape->bytes[size], byte & 0xff);
            size++;
        }
    }
    CHECK_EQ(tape->size, size);
}

TEST(an_empty_snapshot_is_these_52_bytes_on_every_machine)
{
    struct lawn_store *store = new_store(77);
    struct tape tape = {0};

    tape_save(&tape, store);
    check_bytes(&tape, "6c61776e736e6170 01000000 00000000 0000000000000000 "
                       "ffffffffffffffff 1017656056f42893 "
                       "00000000 0a260b0697fab8d2");
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(lawn_store_count(store), 0);
    CHECK_EQ(lawn_store_now(store), 77);
    lawn_store_free(store);
    tape_free(&tape);
}

/* The example of docs/SNAPSHOT.md. */
TEST(a_snapshot_of_a_timer_is_these_92_bytes_on_every_machine)
{
    struct lawn_store *store = new_store(2);
    struct lawn_store_timer timer = {0};
    struct tape tape = {0};

    start_text(store, "a", 256, "xyz");
    tape_save(&tape, store);
    check_bytes(&tape, "6c61776e736e6170 01000000 00000000 0100000000000000 "
                       "0201000000000000 dcc34d3e7b7146f5 "
                       "1c000000 0201000000000000 0001000000000000 "
                       "03000000 0100 01 00 61 78797a 87ec411ceaaa70be "
                       "00000000 7c304124b520f393");
    lawn_store_clear(store);
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK(lawn_store_get(store, "a", 1, &timer));
    CHECK_EQ(timer.deadline, 258);
    CHECK_EQ(timer.ttl, 256);
    CHECK_EQ(timer.payload_size, 3);
    CHECK(memcmp(timer.payload, "xyz", 3) == 0);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_load_reads_not_a_byte_beyond_the_end)
{
    struct lawn_store *store = new_store(0);
    struct tape tape = {0};

    fill(store, 20, 1);
    tape_save(&tape, store);
    size_t end = tape.size;
    (void)tape_write("more", 4, &tape);
    lawn_store_clear(store);
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(tape.at, end);
    CHECK_EQ(lawn_store_count(store), 20);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(two_snapshots_one_after_the_other_load_one_after_the_other)
{
    struct lawn_store *a = new_store(0);
    struct lawn_store *b = new_store(0);
    struct tape tape = {0};

    tape_save(&tape, a);
    start_text(a, "id", 5, "payload");
    tape_save(&tape, a);
    CHECK_EQ(tape_load(&tape, b), 0);
    CHECK_EQ(lawn_store_count(b), 0);
    CHECK_EQ(lawn_store_load(b, tape_read, &tape), 0);
    check_same(a, b);
    lawn_store_free(a);
    lawn_store_free(b);
    tape_free(&tape);
}

TEST(a_store_with_timers_loads_nothing)
{
    struct lawn_store *store = new_store(0);
    struct tape tape = {0};

    tape_save(&tape, store);
    start_text(store, "id", 5, "payload");
    CHECK_EQ(tape_load(&tape, store), -ENOTEMPTY);
    CHECK_EQ(tape.at, 0);
    CHECK(lawn_store_get(store, "id", 2, NULL));
    lawn_store_free(store);
    tape_free(&tape);
}

/* A tape with a small snapshot of several blocks. */
static void
small_snapshot(struct tape *tape)
{
    struct tape stream = {0};

    tape_record(&stream, 30, 7, "first", "payload", 0);
    tape_record(&stream, 20, 5, "", "", 1);
    tape_record(&stream, 25, 5, "third", "", 1);
    tape_header(tape, 1, 0, 3, 20);
    tape_block(tape, stream.bytes, 10);
    tape_block(tape, stream.bytes + 10, 50);
    tape_block(tape, stream.bytes + 60, stream.size - 60);
    tape_end(tape);
    tape_free(&stream);
}

TEST(a_snapshot_cut_anywhere_is_truncated_and_changes_nothing)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    small_snapshot(&tape);
    size_t whole = tape.size;
    for (tape.size = 0; tape.size < whole; tape.size++) {
        CHECK_EQ(tape_load(&tape, store), LAWN_STORE_TRUNCATED);
        check_unchanged(store, bytes, 9);
    }
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(lawn_store_count(store), 3);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_single_wrong_bit_anywhere_is_noticed_and_changes_nothing)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    small_snapshot(&tape);
    for (size_t bit = 0; bit < 8 * tape.size; bit++) {
        tape.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int error = tape_load(&tape, store);
        if (bit < 64) {
            CHECK_EQ(error, LAWN_STORE_NOT_A_SNAPSHOT);
        } else {
            CHECK(error == LAWN_STORE_DAMAGED || error == LAWN_STORE_TRUNCATED);
        }
        check_unchanged(store, bytes, 9);
        tape.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    CHECK_EQ(tape_load(&tape, store), 0);
    lawn_store_free(store);
    tape_free(&tape);
}

/* Loads parts of a snapshot, given as pairs of start and end. */
static int
load_parts(struct lawn_store *store, const struct tape *from,
           const size_t (*part)[2], size_t parts)
{
    struct tape tape = {0};

    for (size_t i = 0; i < parts; i++) {
        (void)tape_write(from->bytes + part[i][0], part[i][1] - part[i][0],
                         &tape);
    }
    int error = tape_load(&tape, store);
    tape_free(&tape);
    return error;
}

TEST(blocks_that_are_missing_repeated_or_swapped_are_noticed)
{
    /* Offsets in a snapshot whose records are whole blocks of one size. */
    enum { HEADER = 40, BLOCK = 4 + 25 + 8, A = HEADER, B = A + BLOCK };
    enum { C = B + BLOCK, END = C + BLOCK, ALL = END + 12 };
    static const size_t missing[][2] = {{0, B}, {C, ALL}};
    static const size_t no_blocks[][2] = {{0, A}, {END, ALL}};
    static const size_t repeated[][2] = {{0, C}, {B, ALL}};
    static const size_t swapped[][2] = {{0, A}, {B, C}, {A, B}, {C, ALL}};
    static const size_t whole[][2] = {{0, B}, {B, ALL}};
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};
    struct tape stream = {0};

    tape_header(&tape, 1, 0, 3, 20);
    for (unsigned i = 0; i < 3; i++) {
        stream.size = 0;
        tape_record(&stream, 20, 7, i == 0 ? "a" : i == 1 ? "b" : "c", "", 0);
        tape_block(&tape, stream.bytes, stream.size);
    }
    tape_end(&tape);
    CHECK_EQ(tape.size, ALL);
    CHECK_EQ(load_parts(store, &tape, missing, COUNT(missing)),
             LAWN_STORE_DAMAGED);
    CHECK_EQ(load_parts(store, &tape, no_blocks, COUNT(no_blocks)),
             LAWN_STORE_DAMAGED);
    CHECK_EQ(load_parts(store, &tape, repeated, COUNT(repeated)),
             LAWN_STORE_DAMAGED);
    CHECK_EQ(load_parts(store, &tape, swapped, COUNT(swapped)),
             LAWN_STORE_DAMAGED);
    check_unchanged(store, bytes, 9);
    CHECK_EQ(load_parts(store, &tape, whole, COUNT(whole)), 0);
    lawn_store_free(store);
    tape_free(&tape);
    tape_free(&stream);
}

/* Writes two blocks with a timer each. */
static void
pair_of_blocks(struct tape *tape, const char *payload)
{
    struct tape stream = {0};

    tape_header(tape, 1, 0, 2, 20);
    tape_record(&stream, 20, 7, "a", payload, 0);
    tape_block(tape, stream.bytes, stream.size);
    stream.size = 0;
    tape_record(&stream, 20, 7, "b", payload, 0);
    tape_block(tape, stream.bytes, stream.size);
    tape_end(tape);
    tape_free(&stream);
}

TEST(a_snapshot_partly_written_over_by_another_is_damaged)
{
    struct lawn_store *store = new_store(9);
    struct tape old = {0};
    struct tape new = {0};

    pair_of_blocks(&old, "old");
    pair_of_blocks(&new, "new");
    CHECK_EQ(old.size, new.size);
    CHECK(memcmp(old.bytes, new.bytes, 40) == 0);
    memcpy(old.bytes, new.bytes, 40 + 4 + 24 + 4 + 8);
    CHECK_EQ(tape_load(&old, store), LAWN_STORE_DAMAGED);
    CHECK_EQ(tape_load(&new, store), 0);
    lawn_store_free(store);
    tape_free(&old);
    tape_free(&new);
}

TEST(bytes_with_another_magic_number_are_not_a_snapshot)
{
    static const char *const others[] = {"x", "lawnsnaq", "hello, world",
                                         "lawnsna ", "REDIS0011"};
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    for (size_t i = 0; i < COUNT(others); i++) {
        tape_set(&tape, others[i], strlen(others[i]));
        CHECK_EQ(tape_load(&tape, store), LAWN_STORE_NOT_A_SNAPSHOT);
        check_unchanged(store, bytes, 9);
    }
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_snapshot_of_version_0_is_not_too_new_but_inconsistent)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    tape_header(&tape, 0, 5, 0, 0);
    CHECK_EQ(tape_load(&tape, store), LAWN_STORE_INCONSISTENT);
    check_unchanged(store, bytes, 9);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_snapshot_of_a_newer_version_is_too_new)
{
    static const uint32_t versions[] = {3, 4, 0x01000000, UINT32_MAX};
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    for (size_t i = 0; i < COUNT(versions); i++) {
        tape.size = 0;
        tape_header(&tape, versions[i], 5, 0, 0);
        CHECK_EQ(tape_load(&tape, store), LAWN_STORE_TOO_NEW);
        check_unchanged(store, bytes, 9);
    }
    lawn_store_free(store);
    tape_free(&tape);
}

/* Returns the result of loading a stream with correct checksums. */
static int
load_stream(const struct tape *stream, uint64_t count, uint64_t first)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {0};

    tape_header(&tape, 1, 0, count, first);
    if (stream->size > 0) {
        tape_block(&tape, stream->bytes, stream->size);
    }
    tape_end(&tape);
    int error = tape_load(&tape, store);
    if (error != 0) {
        check_unchanged(store, bytes, 9);
    } else {
        CHECK_EQ(lawn_store_count(store), count);
        CHECK_EQ(lawn_store_next(store), first);
        CHECK(lawn_store_check(store, stdout));
    }
    lawn_store_free(store);
    tape_free(&tape);
    return error;
}

TEST(a_record_that_no_store_can_have_written_is_nonsense)
{
    static const struct {
        uint64_t deadline;
        uint64_t ttl;
        uint64_t first;
        unsigned how;
        int error;
    } cases[] = {
        {100, 5, 100, 1, 0},
        {100, 5, 100, 0, 0},
        {1, 1, 1, 1, 0},
        {LAST, LAWN_NEVER, LAST, 1, 0},
        {0, 5, 0, 1, LAWN_STORE_INCONSISTENT},
        {0, 5, 1, 1, LAWN_STORE_INCONSISTENT},
        {LAWN_NEVER, 5, LAWN_NEVER, 1, LAWN_STORE_INCONSISTENT},
        {LAWN_NEVER, 5, 100, 1, LAWN_STORE_INCONSISTENT},
        {99, 5, 100, 1, LAWN_STORE_INCONSISTENT},
        {101, 5, 100, 1, LAWN_STORE_INCONSISTENT},
        {100, 0, 100, 1, LAWN_STORE_INCONSISTENT},
        {100, 5, 100, 2, LAWN_STORE_INCONSISTENT},
        {100, 5, 100, 0x81, LAWN_STORE_INCONSISTENT},
        {100, 5, 100, 0x101, LAWN_STORE_INCONSISTENT},
        {100, 5, 100, 0x8000, LAWN_STORE_INCONSISTENT},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tape stream = {0};

        tape_record(&stream, cases[i].deadline, cases[i].ttl, "id", "payload",
                    cases[i].how);
        CHECK_EQ(load_stream(&stream, 1, cases[i].first), cases[i].error);
        tape_free(&stream);
    }
}

TEST(a_deadline_of_never_is_nonsense_among_others_too)
{
    struct tape stream = {0};

    tape_record(&stream, 100, 5, "one", "", 1);
    tape_record(&stream, LAWN_NEVER, 5, "two", "", 1);
    CHECK_EQ(load_stream(&stream, 2, 100), LAWN_STORE_INCONSISTENT);
    tape_free(&stream);
}

TEST(a_count_that_is_not_that_of_the_records_is_nonsense)
{
    struct tape stream = {0};

    CHECK_EQ(load_stream(&stream, 0, LAWN_NEVER), 0);
    CHECK_EQ(load_stream(&stream, 0, 5), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&stream, 1, 5), LAWN_STORE_INCONSISTENT);
    tape_record(&stream, 5, 1, "a", "", 0);
    tape_record(&stream, 6, 1, "b", "", 0);
    CHECK_EQ(load_stream(&stream, 2, 5), 0);
    CHECK_EQ(load_stream(&stream, 0, LAWN_NEVER), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&stream, 1, 5), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&stream, 3, 5), LAWN_STORE_INCONSISTENT);
    CHECK_EQ(load_stream(&stream, UINT64_MAX, 5), LAWN_STORE_INCONSISTENT);
    tape_free(&stream);
}

TEST(an_id_for_the_second_time_is_nonsense)
{
    struct tape stream = {0};

    tape_record(&stream, 5, 1, "same", "one", 0);
    tape_record(&stream, 6, 2, "other", "two", 0);
    tape_record(&stream, 7, 3, "same", "three", 0);
    CHECK_EQ(load_stream(&stream, 3, 5), LAWN_STORE_INCONSISTENT);
    tape_free(&stream);
}

TEST(a_record_that_the_end_cuts_is_nonsense)
{
    struct tape stream = {0};

    tape_record(&stream, 5, 1, "one", "payload", 0);
    size_t whole = stream.size;
    tape_record(&stream, 6, 2, "two", "payload", 0);
    for (stream.size--; stream.size > whole; stream.size--) {
        CHECK_EQ(load_stream(&stream, 2, 5), LAWN_STORE_INCONSISTENT);
    }
    tape_free(&stream);
}

/* With 24 for the record itself, the sizes are 24 + 4 GiB, or near that. With a
 * size_t of 32 bits they must not seem to fit in the block. */
TEST(sizes_whose_sum_is_beyond_4_gib_are_nonsense)
{
    static const struct {
        uint32_t payload;
        uint16_t id;
    } sizes[] = {
        {0u - 65535u, 65535}, {0u - 65535u - 24u, 65535}, {UINT32_MAX, 65535},
        {UINT32_MAX, 1},      {UINT32_MAX - 23u, 0},
    };
    static char payload[30000];

    memset(payload, 'x', sizeof(payload) - 1);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct tape stream = {0};

        tape_record(&stream, 5, 1, "one", payload, 0);
        tape_put(&stream, 5, 8);
        tape_put(&stream, 1, 8);
        tape_put(&stream, sizes[i].payload, 4);
        tape_put(&stream, sizes[i].id, 2);
        tape_put(&stream, 0, 2);
        CHECK_EQ(load_stream(&stream, 2, 5), LAWN_STORE_INCONSISTENT);
        tape_free(&stream);
    }
}

TEST(unknown_flags_of_the_whole_are_nonsense)
{
    struct lawn_store *store = new_store(9);
    struct tape tape = {0};

    for (unsigned bit = 0; bit < 32; bit++) {
        tape.size = 0;
        tape_header(&tape, 1, 1u << bit, 0, LAWN_NEVER);
        tape_end(&tape);
        CHECK_EQ(tape_load(&tape, store), LAWN_STORE_INCONSISTENT);
    }
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(records_in_an_order_that_no_store_has_load_and_fire_when_due)
{
    struct tape stream = {0};

    for (unsigned i = 0; i < 100; i++) {
        const char id[] = {(char)('a' + i % 26), (char)('a' + i / 26), '\0'};

        tape_record(&stream, 1000 - i, 1 + i % 3, id, "", 1);
    }
    CHECK_EQ(load_stream(&stream, 100, 901), 0);
    tape_free(&stream);
}

TEST(a_block_of_more_than_64_kib_is_damaged)
{
    static unsigned char bytes[65537];
    struct lawn_store *store = new_store(9);
    struct tape tape = {0};

    tape_header(&tape, 1, 0, 1, 5);
    tape_block(&tape, bytes, sizeof(bytes));
    CHECK_EQ(tape_load(&tape, store), LAWN_STORE_DAMAGED);
    CHECK_EQ(tape.at, 44);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_payload_that_is_claimed_takes_no_memory_until_it_comes)
{
    static unsigned char bytes[65536];
    struct meter meter = {0};
    struct lawn_store *store = meter_store(&meter, 0);
    struct tape tape = {0};
    struct tape record = {0};
    size_t empty = meter.live;

    CHECK(store != NULL);
    tape_put(&record, 5, 8);
    tape_put(&record, 5, 8);
    tape_put(&record, LAWN_STORE_PAYLOAD_MAX, 4);
    tape_put(&record, 65535, 2);
    tape_put(&record, 0, 2);
    tape_header(&tape, 1, 0, 1, 5);
    tape_block(&tape, record.bytes, record.size);
    for (unsigned blocks = 0; blocks < 40; blocks++) {
        meter.peak = 0;
        CHECK_EQ(tape_load(&tape, store), LAWN_STORE_TRUNCATED);
        CHECK(meter.peak - empty < 80000 + 4 * tape.size);
        CHECK_EQ(meter.live, empty);
        tape_block(&tape, bytes, blocks % 2 == 0 ? sizeof(bytes) : 1);
    }
    tape_end(&tape);
    CHECK_EQ(tape_load(&tape, store), LAWN_STORE_INCONSISTENT);
    record.bytes[19] = 0x20; /* one more than the maximum */
    memset(record.bytes + 16, 0, 3);
    tape.size = 0;
    tape_header(&tape, 1, 0, 1, 5);
    tape_block(&tape, record.bytes, record.size);
    CHECK_EQ(tape_load(&tape, store), LAWN_STORE_INCONSISTENT);
    lawn_store_free(store);
    CHECK_EQ(meter.live, 0);
    tape_free(&tape);
    tape_free(&record);
}

TEST(a_payload_beyond_the_limit_is_refused_before_it_is_read)
{
    static unsigned char bytes[65536];
    struct lawn_store *store = new_store(9);
    size_t empty = lawn_store_bytes(store);
    struct tape tape = {0};
    struct tape record = {0};

    tape_put(&record, 5, 8);
    tape_put(&record, 5, 8);
    tape_put(&record, 1000000, 4);
    tape_put(&record, 0, 4);
    tape_header(&tape, 1, 0, 1, 5);
    tape_block(&tape, record.bytes, record.size);
    size_t first = tape.size;
    tape_block(&tape, bytes, sizeof(bytes));
    lawn_store_set_limits(store, 0, empty + 100000);
    CHECK_EQ(tape_load(&tape, store), -ENOSPC);
    CHECK_EQ(tape.at, first);
    check_unchanged(store, empty, 9);
    lawn_store_free(store);
    tape_free(&tape);
    tape_free(&record);
}

TEST(a_save_takes_a_block_of_memory_whatever_the_store_holds)
{
    struct meter meter = {0};
    struct lawn_store *store = meter_store(&meter, 0);
    struct tape tape = {0};

    CHECK(store != NULL);
    fill(store, 3000, 1);
    size_t live = meter.live;
    meter.peak = live;
    tape_save(&tape, store);
    CHECK_EQ(meter.live, live);
    CHECK(meter.peak - live <= 66000);
    CHECK(tape.writes <= tape.size / 65536 + 3);
    lawn_store_free(store);
    CHECK_EQ(meter.live, 0);
    tape_free(&tape);
}

TEST(an_error_of_write_ends_the_save_and_is_passed_on)
{
    struct lawn_store *store = new_store(0);
    struct tape tape = {0};

    fill(store, 300, 1);
    size_t bytes = lawn_store_bytes(store);
    tape_save(&tape, store);
    size_t whole = tape.size;
    tape.error = -12345;
    for (tape.fail = 0; tape.fail < whole;
         tape.fail += tape.fail < 100 || tape.fail > whole - 100 ? 1 : 4999) {
        tape.size = 0;
        CHECK_EQ(lawn_store_save(store, tape_write, &tape), -12345);
        CHECK_EQ(lawn_store_count(store), 300);
        CHECK_EQ(lawn_store_bytes(store), bytes);
    }
    tape.fail = whole;
    tape.size = 0;
    CHECK_EQ(lawn_store_save(store, tape_write, &tape), 0);
    lawn_store_free(store);
    tape_free(&tape);
}

/* Returns the number of bytes, as write(2) does. */
static int
tell_how_many(const void *bytes, size_t size, void *arg)
{
    (void)bytes;
    (void)arg;
    return (int)size;
}

#if defined NDEBUG
TEST(a_write_that_returns_more_than_0_has_written_in_release_builds)
{
    struct lawn_store *store = new_store(0);

    CHECK_EQ(lawn_store_save(store, tell_how_many, NULL), 0);
    lawn_store_free(store);
}
#else
static void
save_to_a_write_that_tells_how_many(void)
{
    (void)lawn_store_save(new_store(0), tell_how_many, NULL);
}

TEST(a_write_that_returns_more_than_0_is_named)
{
    CHECK(kit_aborts_with(save_to_a_write_that_tells_how_many,
                          "a write has returned more than 0"));
}
#endif

TEST(an_error_of_read_ends_the_load_and_is_passed_on)
{
    struct lawn_store *store = new_store(9);
    size_t bytes = lawn_store_bytes(store);
    struct tape tape = {.error = -12345};

    tape.fail = SIZE_MAX;
    small_snapshot(&tape);
    for (tape.fail = 0; tape.fail < tape.size; tape.fail++) {
        CHECK_EQ(tape_load(&tape, store), -12345);
        check_unchanged(store, bytes, 9);
    }
    CHECK_EQ(tape_load(&tape, store), 0);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_load_beyond_a_limit_fails_and_changes_nothing)
{
    struct lawn_store *from = new_store(0);
    struct lawn_store *to = new_store(9);
    size_t bytes = lawn_store_bytes(to);
    struct tape tape = {0};

    fill(from, 2000, 1);
    tape_save(&tape, from);
    lawn_store_set_limits(to, 1999, 0);
    CHECK_EQ(tape_load(&tape, to), -ENOSPC);
    CHECK_EQ(tape.at, 40); /* the header contains the number of timers */
    check_unchanged(to, bytes, 9);
    lawn_store_set_limits(to, 2000, 0);
    CHECK_EQ(tape_load(&tape, to), 0);
    size_t full = lawn_store_bytes(to);
    lawn_store_clear(to);
    lawn_store_set_limits(to, 0, full / 2);
    CHECK_EQ(tape_load(&tape, to), -ENOSPC);
    check_unchanged(to, bytes, 9);
    lawn_store_set_limits(to, 0, bytes);
    CHECK_EQ(tape_load(&tape, to), -ENOSPC);
    check_unchanged(to, bytes, 9);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

TEST(a_store_that_is_full_can_be_saved_and_loads_into_a_larger_one)
{
    struct lawn_store *from = new_store(0);
    struct lawn_store *to = new_store(0);
    struct tape tape = {0};

    fill(from, 2000, 1);
    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    /* The memory needed depends a little on the order of insertion. */
    size_t full = lawn_store_bytes(to) + 65536;
    lawn_store_set_limits(to, 2000, full);
    tape.size = 0;
    tape_save(&tape, to);
    lawn_store_clear(to);
    CHECK_EQ(tape_load(&tape, to), 0);
    CHECK(lawn_store_bytes(to) <= full);
    check_same(from, to);
    CHECK_EQ(lawn_store_start(to, "one more", 8, 5, "", 0, 0), -ENOSPC);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

/* Saves and loads with limits so high that adding the size of a buffer
 * overflows, or just does not. */
static void
save_and_load_below_the_highest_limits(struct lawn_store *from,
                                       struct lawn_store *to)
{
    /* The memory for a block of the format, with and without an allocator. */
    static const size_t below[] = {1,     64,    4096,  65548,
                                   65611, 65612, 65613, 69632};

    for (size_t i = 0; i < COUNT(below); i++) {
        struct tape tape = {0};

        lawn_store_set_limits(from, 0, SIZE_MAX - below[i]);
        lawn_store_set_limits(to, 0, SIZE_MAX - below[i]);
        tape_save(&tape, from);
        CHECK_EQ(tape_load(&tape, to), 0);
        check_same(from, to);
        /* With a limit set, the error is that of the limit. */
        CHECK_EQ(lawn_store_reserve(from, UINT64_MAX), -ENOSPC);
        CHECK_EQ(lawn_store_reserve(to, UINT64_MAX), -ENOSPC);
        lawn_store_clear(to);
        tape_free(&tape);
    }
    lawn_store_set_limits(to, 0, 0);
    CHECK_EQ(lawn_store_reserve(to, UINT64_MAX), -ENOMEM);
    lawn_store_free(from);
    lawn_store_free(to);
}

TEST(the_highest_of_limits_outlast_a_save_and_a_load)
{
    struct meter meter = {0};
    struct lawn_store *store = new_store(0);

    fill(store, 20, 1);
    save_and_load_below_the_highest_limits(store, new_store(0));
    store = meter_store(&meter, 0);
    CHECK(store != NULL);
    fill(store, 20, 1);
    save_and_load_below_the_highest_limits(store, meter_store(&meter, 0));
    CHECK_EQ(meter.live, 0);
}

/* A write function that reads the store. */
static int
look_and_write(const void *bytes, size_t size, void *arg)
{
    const struct lawn_store *store = (const struct lawn_store *)arg;

    (void)bytes;
    (void)size;
    return lawn_store_check(store, stdout) ? 0 : -1;
}

TEST(a_store_may_be_checked_while_it_is_saved)
{
    struct lawn_store *store = new_store(0);

    fill(store, 300, 1);
    CHECK_EQ(lawn_store_save(store, look_and_write, store), 0);
    lawn_store_free(store);
}

TEST(a_load_that_runs_out_of_memory_anywhere_changes_nothing)
{
    struct meter meter = {0};
    struct lawn_store *from = new_store(0);
    struct lawn_store *to = meter_store(&meter, 9);
    struct tape tape = {0};

    CHECK(to != NULL);
    fill(from, 1200, 1);
    tape_save(&tape, from);
    int error = 0;
    for (unsigned for_good = 0; for_good < 2; for_good++) {
        size_t bytes = lawn_store_bytes(to);

        meter.for_good = for_good != 0;
        meter.refuse = 0;
        do {
            meter.requests = 0;
            meter.refuse++;
            error = tape_load(&tape, to);
            if (error != 0) {
                CHECK_EQ(error, -ENOMEM);
                check_unchanged(to, meter.live, 9);
                /* Without memory for a smaller table, the store cannot shrink
                 * back. */
                CHECK(meter.live <= bytes + (for_good != 0 ? 65536 : 0));
            }
        } while (error != 0);
        meter.refuse = 0;
        check_same(from, to);
        lawn_store_clear(to);
    }
    lawn_store_free(from);
    lawn_store_free(to);
    CHECK_EQ(meter.live, 0);
    tape_free(&tape);
}

TEST(a_save_without_memory_writes_nothing)
{
    struct meter meter = {0};
    struct lawn_store *store = meter_store(&meter, 0);
    struct tape tape = {0};

    CHECK(store != NULL);
    start_text(store, "id", 5, "payload");
    meter.refuse = 1;
    meter.for_good = true;
    CHECK_EQ(lawn_store_save(store, tape_write, &tape), -ENOMEM);
    CHECK_EQ(tape.writes, 0);
    lawn_store_free(store);
    tape_free(&tape);
}

/* The fired timers, in order. */
struct fired {
    uint64_t count;
    uint64_t last;
    uint64_t id[LOG_MAX];
    uint64_t ttl[LOG_MAX];
    uint64_t deadline[LOG_MAX];
};

static void
note(const struct lawn_store_timer *timer, void *arg)
{
    struct fired *fired = arg;

    CHECK(fired->count < LOG_MAX);
    CHECK(timer->deadline >= fired->last);
    fired->last = timer->deadline;
    memcpy(&fired->id[fired->count], timer->id, sizeof(uint64_t));
    fired->ttl[fired->count] = timer->ttl;
    fired->deadline[fired->count++] = timer->deadline;
}

static void
sort_by_ttl(struct fired *fired)
{

    /* A stable sort; the deadlines are already in order. */
    for (uint64_t i = 1; i < fired->count; i++) {
        for (uint64_t j = i; j > 0 && fired->ttl[j - 1] > fired->ttl[j]; j--) {
            uint64_t *rows[] = {fired->id, fired->ttl, fired->deadline};

            for (unsigned r = 0; r < COUNT(rows); r++) {
                uint64_t swap = rows[r][j];

                rows[r][j] = rows[r][j - 1];
                rows[r][j - 1] = swap;
            }
        }
    }
}

/* Saves at the store's time, loads at another, and compares the fired timers
 * and their order within each TTL. */
static void
compare_fires(struct lawn_store *from, uint64_t loaded_at, uint64_t mown_at)
{
    static struct fired a;
    static struct fired b;
    struct lawn_store *to = new_store(loaded_at);
    struct tape tape = {0};

    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    CHECK_EQ(lawn_store_now(to), loaded_at);
    check_same(from, to);
    (void)lawn_store_mow(to, mown_at, SIZE_MAX, note, &b);
    (void)lawn_store_mow(to, LAST, SIZE_MAX, note, &b);
    CHECK(lawn_store_check(to, stdout));
    (void)lawn_store_mow(from, LAST, SIZE_MAX, note, &a);
    CHECK_EQ(a.count, b.count);
    sort_by_ttl(&a);
    sort_by_ttl(&b);
    for (uint64_t i = 0; i < a.count; i++) {
        CHECK_EQ(a.id[i], b.id[i]);
        CHECK_EQ(a.ttl[i], b.ttl[i]);
        CHECK_EQ(a.deadline[i], b.deadline[i]);
    }
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

/* Creates a store with few or many TTLs, with many timers due together. */
static struct lawn_store *
crowded(uint64_t ttls, uint64_t seed)
{
    struct lawn_store *store = new_store(1000);
    struct rng rng = {seed};

    for (uint64_t i = 0; i < 2000; i++) {
        start_number(store, i, 1 + 10 * rng_below(&rng, ttls));
        if (i % 4 == 0) {
            uint64_t id = rng_below(&rng, i + 1);

            (void)lawn_store_touch(store, &id, sizeof(id),
                                   1 + 10 * rng_below(&rng, ttls));
        }
        if (i % 50 == 0) {
            lawn_store_set_now(store, 1000 + i / 50);
        }
    }
    return store;
}

TEST(after_a_load_timers_of_a_ttl_fire_in_the_order_of_their_starts)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        compare_fires(crowded(3, seed), 1039, 1045);
        compare_fires(crowded(200, seed), 1039, 1500);
    }
}

TEST(overdue_timers_fire_in_the_order_of_their_deadlines_after_a_load)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        compare_fires(crowded(3, seed), 1025, 1030);
        compare_fires(crowded(200, seed), 2000, 2000);
        compare_fires(crowded(20, seed), UINT64_C(1) << 40, UINT64_C(1) << 41);
        compare_fires(crowded(20, seed), LAST, LAST);
    }
}

TEST(a_snapshot_loads_at_an_earlier_time)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        compare_fires(crowded(3, seed), 1, 2);
        compare_fires(crowded(200, seed), 900, 1100);
        compare_fires(crowded(20, seed), 0, 1020);
    }
}

TEST(a_loaded_store_works_as_any_store)
{
    struct lawn_store *store = crowded(20, 1);
    struct tape tape = {0};
    static struct fired fired;

    memset(&fired, 0, sizeof(fired));
    tape_save(&tape, store);
    lawn_store_clear(store);
    CHECK_EQ(tape_load(&tape, store), 0);
    uint64_t id = 0;
    for (id = 0; id < 500; id++) {
        CHECK(lawn_store_touch(store, &id, sizeof(id), 5));
        CHECK_EQ(lawn_store_update(store, &id, sizeof(id), "new", 3), 0);
    }
    for (; id < 1000; id++) {
        CHECK(lawn_store_stop(store, &id, sizeof(id)));
    }
    for (id = 2000; id < 2500; id++) {
        start_number(store, id, 21);
    }
    CHECK(lawn_store_check(store, stdout));
    CHECK_EQ(lawn_store_mow(store, 5000, SIZE_MAX, note, &fired), 2000);
    CHECK_EQ(lawn_store_count(store), 0);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_store_that_has_fired_later_timers_loads_earlier_ones)
{
    struct lawn_store *store = new_store(0);
    struct lawn_store_timer timer = {0};
    static struct fired fired;
    const uint64_t second = 2;
    struct tape tape = {0};

    start_number(store, 1, 10);
    start_number(store, 2, 20);
    tape_save(&tape, store);
    lawn_store_clear(store);
    start_number(store, 3, 500);
    memset(&fired, 0, sizeof(fired));
    CHECK_EQ(lawn_store_mow(store, 1000, SIZE_MAX, note, &fired), 1);
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(lawn_store_next(store), 10);
    CHECK(lawn_store_get(store, &second, sizeof(second), &timer));
    CHECK_EQ(timer.deadline, 20);
    memset(&fired, 0, sizeof(fired));
    CHECK_EQ(lawn_store_mow(store, 1000, SIZE_MAX, note, &fired), 2);
    CHECK_EQ(fired.deadline[0], 10);
    CHECK_EQ(fired.deadline[1], 20);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(a_resolution_does_not_change_the_deadlines_that_are_loaded)
{
    struct lawn_store_options options = {.lawn = {.resolution = 1000}};
    struct lawn_store *from = new_store(0);
    struct lawn_store *to = lawn_store_new(&options);
    struct tape tape = {0};

    CHECK(to != NULL);
    fill(from, 1000, 3);
    tape_save(&tape, from);
    CHECK_EQ(tape_load(&tape, to), 0);
    check_same(from, to);
    lawn_store_free(from);
    lawn_store_free(to);
    tape_free(&tape);
}

static void
save_to_tape(const struct lawn_store_timer *timer, void *arg)
{
    void **both = arg;

    (void)timer;
    ((struct tape *)both[1])->size = 0;
    tape_save(both[1], both[0]);
}

TEST(a_callback_may_save)
{
    struct lawn_store *store = new_store(0);
    struct tape tape = {0};
    void *both[] = {store, &tape};

    start_text(store, "a", 5, "");
    start_text(store, "b", 5, "");
    start_text(store, "c", 6, "");
    CHECK_EQ(lawn_store_mow(store, 6, 2, save_to_tape, both), 2);
    lawn_store_clear(store);
    CHECK_EQ(tape_load(&tape, store), 0);
    CHECK_EQ(lawn_store_count(store), 1);
    CHECK_EQ(lawn_store_next(store), 6);
    lawn_store_free(store);
    tape_free(&tape);
}

TEST(each_error_has_words)
{
    static const int errors[] = {LAWN_STORE_NOT_A_SNAPSHOT,
                                 LAWN_STORE_TOO_NEW,
                                 LAWN_STORE_TRUNCATED,
                                 LAWN_STORE_DAMAGED,
                                 LAWN_STORE_INCONSISTENT,
                                 LAWN_STORE_TRAILING,
                                 LAWN_STORE_ID_TOO_LARGE,
                                 LAWN_STORE_PAYLOAD_TOO_LARGE,
                                 LAWN_STORE_NOT_A_FILE,
                                 LAWN_STORE_BAD_CLASS_NAME,
                                 LAWN_STORE_CLASS_EXISTS,
                                 LAWN_STORE_TOO_MANY_CLASSES,
                                 -EEXIST,
                                 -ENOENT,
                                 -ENOTEMPTY,
                                 -ENOSPC,
                                 0,
                                 -ENOMEM,
                                 -EINVAL,
                                 -EACCES};

    for (size_t i = 0; i < COUNT(errors); i++) {
        CHECK(strlen(lawn_store_strerror(errors[i])) > 5);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(lawn_store_strerror(errors[i]),
                         lawn_store_strerror(errors[j])) != 0);
        }
    }
    CHECK(strcmp(lawn_store_strerror(-EACCES), strerror(EACCES)) == 0);
    CHECK(strcmp(lawn_store_strerror(1), "unknown error") == 0);
    CHECK(strcmp(lawn_store_strerror(-9999), "unknown error") != 0);
    CHECK(strcmp(lawn_store_strerror(-10000), "unknown error") == 0);
    CHECK(strcmp(lawn_store_strerror(-10013), "unknown error") == 0);
    /* [S2] -EINVAL has one cause only. */
    CHECK(strcmp(lawn_store_strerror(-EINVAL), "invalid flags") == 0);
    CHECK(strcmp(lawn_store_strerror(LAWN_STORE_NOT_A_FILE),
                 "not a regular file") == 0);
    CHECK(strcmp(lawn_store_strerror(INT32_MIN), "unknown error") == 0);
}
