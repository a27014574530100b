/* options.c - creating and freeing lawns: sizes, memory, failed allocation. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lawn_counters
stats_of(const struct lawn_options *options)
{
    struct lawn *lawn = lawn_new(options);

    CHECK(lawn != NULL);
    CHECK(lawn_check(lawn, stdout));
    struct lawn_counters stats;
    lawn_stats(lawn, &stats);
    lawn_free(lawn);
    return stats;
}

TEST(no_options_and_zero_options_are_the_defaults)
{
    static const struct lawn_options zero;
    struct lawn_counters none = stats_of(NULL);
    struct lawn_counters zeroes = stats_of(&zero);

    CHECK_EQ(lawn_size(NULL), lawn_size(&zero));
    CHECK(none.blades >= 2048);
    CHECK_EQ(none.blades, zeroes.blades);
    CHECK_EQ(none.bytes, zeroes.bytes);
}

/* It was 160 KiB when levels did not overlap: a level now has the slots of two
 * halves, so that entries can move a few at a time [P8]. */
TEST(a_default_lawn_takes_at_most_245_kib_and_the_smallest_12)
{
    struct lawn_options small = {.blades = 16, .slot_bits = 4};

    CHECK(lawn_size(NULL) <= 245 * 1024);
    CHECK(lawn_size(&small) <= 12 * 1024);
}

/* The figures of lawn.h, in KiB; the rest of a lawn takes less than 2 KiB. */
TEST(the_memory_of_an_index_is_what_the_header_states)
{
    static const size_t kib[] = {9, 13, 61, 102, 167};
    struct lawn_options few = {.blades = 1024};
    struct lawn_options many = {.blades = 2048};
    size_t blades = lawn_size(&many) - lawn_size(&few);

    CHECK_EQ(blades / 1024, 76);
    for (unsigned bits = 4; bits <= 8; bits++) {
        struct lawn_options options = {.blades = 1024, .slot_bits = bits};

        CHECK(lawn_size(&options) - blades >= kib[bits - 4] * 1024);
        CHECK(lawn_size(&options) - blades < (kib[bits - 4] + 2) * 1024);
    }
}

TEST(slots_of_few_bits_have_one_list_each_for_the_sake_of_memory)
{
    struct lawn_options small = {.blades = 16, .slot_bits = 5};
    struct lawn_options large = {.blades = 16, .slot_bits = 6};

    CHECK(lawn_size(&small) <= 17 * 1024);
    CHECK(lawn_size(&large) > 32 * 1024);
}

TEST(blades_are_rounded_up_to_a_power_of_two_within_their_range)
{
    static const size_t cases[][2] = {
        {1, 8},         {7, 8},           {8, 8},           {9, 16},
        {1000, 1024},   {1024, 1024},     {16383, 16384},   {16384, 16384},
        {16385, 16384}, {1 << 20, 16384}, {SIZE_MAX, 16384}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lawn_options given = {.blades = cases[i][0]};
        struct lawn_options meant = {.blades = cases[i][1]};

        CHECK_EQ(lawn_size(&given), lawn_size(&meant));
        CHECK_EQ(stats_of(&given).blades, stats_of(&meant).blades);
        CHECK(stats_of(&given).blades >= 2 * cases[i][1]);
    }
}

TEST(slot_bits_out_of_range_count_as_the_nearest_in_range)
{
    static const unsigned cases[][2] = {{1, 4},  {3, 4},          {9, 8},
                                        {64, 8}, {UINT32_MAX, 8}, {0, 8}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lawn_options given = {.slot_bits = cases[i][0]};
        struct lawn_options meant = {.slot_bits = cases[i][1]};

        CHECK_EQ(lawn_size(&given), lawn_size(&meant));
        CHECK_EQ(stats_of(&given).bytes, stats_of(&meant).bytes);
    }
}

TEST(fewer_slot_bits_need_less_memory)
{
    for (unsigned bits = 4; bits < 8; bits++) {
        struct lawn_options fewer = {.slot_bits = bits};
        struct lawn_options more = {.slot_bits = bits + 1};

        CHECK(lawn_size(&fewer) < lawn_size(&more));
    }
}

/* An allocator that counts requests and can refuse them. */
struct pool {
    unsigned allocs;
    unsigned releases;
    size_t size;
    void *memory;
    bool fail;
};

static void *
pool_alloc(size_t size, void *context)
{
    struct pool *pool = (struct pool *)context;

    pool->allocs++;
    pool->size = size;
    pool->memory = pool->fail ? NULL : malloc(size);
    return pool->memory;
}

static void
pool_release(void *memory, void *context)
{
    struct pool *pool = (struct pool *)context;

    pool->releases++;
    CHECK(memory == pool->memory);
    free(memory);
}

TEST(the_callers_allocator_is_asked_once_and_gets_its_memory_back)
{
    struct pool pool = {0};
    struct lawn_options options = {.blades = 64,
                                   .alloc = pool_alloc,
                                   .release = pool_release,
                                   .context = &pool};
    struct scene s;

    scene_begin_with(&s, &options);
    CHECK_EQ(pool.allocs, 1);
    CHECK_EQ(pool.size, lawn_size(&options));
    /* [P7]: from here on nothing is allocated or released. */
    for (unsigned i = 0; i < 1000; i++) {
        start(&s, i % PROBES, i * i);
        (void)stop(&s, (i * 7) % PROBES);
        (void)mow(&s, i * 10);
        (void)lawn_next(s.lawn);
    }
    lawn_set_resolution(s.lawn, 10);
    CHECK_EQ(pool.allocs, 1);
    CHECK_EQ(pool.releases, 0);
    scene_end(&s);
    CHECK_EQ(pool.releases, 1);
}

/* 10. lawn2: nine of ten failed allocations crashed */
TEST(a_failed_allocation_gives_no_lawn_and_releases_nothing)
{
    struct pool pool = {.fail = true};
    struct lawn_options options = {
        .alloc = pool_alloc, .release = pool_release, .context = &pool};

    CHECK(lawn_new(&options) == NULL);
    CHECK_EQ(pool.allocs, 1);
    CHECK_EQ(pool.releases, 0);
}

TEST(freeing_no_lawn_is_fine)
{
    lawn_free(NULL);
}

TEST(a_lawn_can_be_placed_in_memory_of_any_alignment)
{
    struct lawn_options options = {.blades = 16, .slot_bits = 4, .now = 5};
    size_t size = lawn_size(&options);
    size_t guard = 64;
    unsigned char *memory = malloc(size + 2 * guard);

    CHECK(memory != NULL);
    for (size_t offset = 0; offset < guard; offset++) {
        unsigned char *place = memory + guard / 2 + offset;
        struct probe probe = {.id = 0};

        memset(memory, 0xA5, size + 2 * guard);
        struct scene s;
        scene_begin_with(&s, NULL);
        lawn_free(s.lawn);
        s.lawn = lawn_place(place, size, &options);
        CHECK(s.lawn != NULL);
        CHECK_EQ(lawn_now(s.lawn), 5);
        start_probe(&s, &probe, 300);
        CHECK_EQ(mow(&s, 304), 0);
        CHECK_EQ(mow(&s, 305), 1);
        struct lawn_counters stats;
        lawn_stats(s.lawn, &stats);
        CHECK_EQ(stats.bytes, size);
        scene_end(&s); /* releases nothing: the memory is caller-owned */
        for (size_t i = 0; i < size + 2 * guard; i++) {
            if (i == guard / 2 + offset) {
                i += size;
            }
            CHECK_EQ(memory[i], 0xA5);
        }
    }
    free(memory);
}

TEST(a_lawn_is_not_placed_in_memory_that_is_too_small)
{
    struct lawn_options options = {.blades = 32, .slot_bits = 5};
    size_t size = lawn_size(&options);
    void *memory = malloc(size);

    CHECK(memory != NULL);
    CHECK(lawn_place(memory, 0, &options) == NULL);
    CHECK(lawn_place(memory, size - 1, &options) == NULL);
    CHECK(lawn_place(memory, size, NULL) == NULL);
    CHECK(lawn_place(memory, size, &options) != NULL);
    free(memory);
}

TEST(placing_a_lawn_does_not_use_the_allocator)
{
    struct pool pool = {0};
    struct lawn_options options = {.blades = 16,
                                   .slot_bits = 4,
                                   .alloc = pool_alloc,
                                   .release = pool_release,
                                   .context = &pool};
    size_t size = lawn_size(&options);
    void *memory = malloc(size);

    CHECK(memory != NULL);
    lawn_free(lawn_place(memory, size, &options));
    CHECK_EQ(pool.allocs, 0);
    CHECK_EQ(pool.releases, 0);
    free(memory);
}

/* The sanitizers report a read of a timer that no longer exists. */
TEST(freeing_a_lawn_neither_reads_nor_writes_its_running_timers)
{
    struct scene s;

    scene_begin(&s, BLADES);
    struct probe *gone = NULL;
    gone = calloc(1, sizeof(*gone));
    CHECK(gone != NULL);
    start(&s, 0, 10);
    start_probe(&s, gone, 10);
    struct lawn_timer before = s.probe[0].timer;
    free(gone);
    scene_end(&s);
    CHECK(memcmp(&before, &s.probe[0].timer, sizeof(before)) == 0);
}

TEST(a_timer_of_a_freed_lawn_runs_again_once_it_is_zeroed)
{
    struct lawn_timer timer;

    memset(&timer, 0, sizeof(timer));
    struct scene s;
    scene_begin(&s, BLADES);
    lawn_start(s.lawn, &timer, 10);
    scene_end(&s);
    memset(&timer, 0, sizeof(timer));
    scene_begin(&s, BLADES);
    lawn_start(s.lawn, &timer, 20);
    CHECK_EQ(lawn_next(s.lawn), 20);
    CHECK(lawn_stop(s.lawn, &timer));
    scene_end(&s);
}
