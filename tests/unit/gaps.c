/* gaps.c - what no other test would notice if it went wrong, as mutants of the
 * core have shown: mostly things that cost time, not promises [P8]. */
#include "common.h"

#include <stdlib.h>

TEST(a_lawn_begins_at_a_cache_line_wherever_it_is_placed)
{
    size_t size = lawn_size(NULL);
    char *memory = malloc(size + 64);
    size_t offset;

    CHECK(memory != NULL);
    for (offset = 0; offset < 64; offset++) {
        struct lawn *lawn = lawn_place(memory + offset, size, NULL);

        CHECK_EQ((uintptr_t)lawn % 64, 0);
    }
    free(memory);
}

TEST(as_many_ttls_as_were_asked_for_hardly_ever_lack_a_blade)
{
    enum { TTLS = 1024 };
    static struct probe probes[TTLS];
    struct lawn_options options = {.blades = TTLS};
    struct scene s;
    uint64_t state = 1;
    unsigned i;

    scene_begin_with(&s, &options);
    for (i = 0; i < TTLS; i++) {
        start_probe(&s, &probes[i], 1 + chance(&state) % 100000000);
    }
    CHECK(lawn_count_lone(s.lawn) <= TTLS / 100);
    scene_end(&s);
}

static struct lawn_stats
stats_of(const struct scene *s)
{
    struct lawn_stats stats;

    lawn_stats(s->lawn, &stats);
    return stats;
}

TEST(entries_of_the_index_that_move_are_counted)
{
    struct scene s;
    enum ground ground;

    for (ground = BLADES; ground < GROUNDS; ground++) {
        uint64_t before;

        scene_begin(&s, ground);
        before = stats_of(&s).moved;
        start(&s, 0, 1000);
        CHECK_EQ(mow(&s, 1000), 1);
        /* Down to its tick at once; a blade then leaves the index. */
        CHECK_EQ(stats_of(&s).moved - before, ground == BLADES ? 2 : 1);
        scene_end(&s);
    }
}

/* Only where thresholds are what they are for users: see src/core/habits.c. */
#if !defined LAWN_HABITS_TRIAL

/* The clock moves, something fires: this is where a lawn looks at its habits,
 * if there were 4,096 starts since it did so last. */
static void
look_at_habits(struct scene *s)
{
    start(s, 0, 1);
    CHECK(mow(s, lawn_now(s->lawn) + 1) >= 1);
}

/* Whether the table of blades is in use: a TTL then has a blade at the latest
 * after eight starts without one. */
static bool
uses_blades(struct scene *s, uint64_t ttl)
{
    uint64_t before = stats_of(s).lone_starts;
    unsigned i;

    for (i = 0; i < 100; i++) {
        start(s, 1, ttl);
    }
    CHECK(stop(s, 1));
    return stats_of(s).lone_starts - before < 100;
}

TEST(few_ttls_of_very_many_timers_get_several_blades_each)
{
    enum { MANY = 70000 };
    struct probe *probes = calloc(MANY, sizeof *probes);
    struct scene s;
    unsigned i;

    CHECK(probes != NULL);
    scene_begin(&s, BLADES);
    for (i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 1);
    look_at_habits(&s);
    for (i = 0; i < MANY; i++) {
        if (i % 1000 == 0) {
            lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        }
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 8);
    scene_end(&s);
    free(probes);
}

TEST(few_timers_of_few_ttls_have_one_blade_per_ttl)
{
    static struct probe probes[100];
    struct scene s;
    unsigned i;

    scene_begin(&s, BLADES);
    for (i = 0; i < 20000; i++) {
        start_probe(&s, &probes[i % COUNT(probes)], 5000);
    }
    look_at_habits(&s);
    for (i = 0; i < COUNT(probes); i++) {
        lawn_set_now(s.lawn, lawn_now(s.lawn) + 1);
        start_probe(&s, &probes[i], 5000);
    }
    CHECK_EQ(stats_of(&s).live_blades, 1);
    scene_end(&s);
}

/* Three of four starts are of TTLs never seen before. */
TEST(a_table_that_most_starts_miss_is_given_up_and_tried_again_later)
{
    enum { MANY = 16400 };
    struct lawn_options options = {.blades = 8};
    struct probe *probes = calloc(MANY, sizeof *probes);
    struct scene s;
    unsigned i;

    CHECK(probes != NULL);
    scene_begin_with(&s, &options);
    CHECK(uses_blades(&s, 777));
    for (i = 0; i < MANY; i++) {
        start_probe(&s, &probes[i], i % 4 == 0 ? 500 : 1000 + i);
    }
    look_at_habits(&s);
    CHECK(!uses_blades(&s, 777));
    for (i = 0; i < MANY; i++) {
        CHECK(lawn_stop(s.lawn, &probes[i].timer));
    }
    for (i = 0; i < 65 * 4096; i++) {
        start(&s, 2, 500);
    }
    look_at_habits(&s);
    CHECK(uses_blades(&s, 777));
    scene_end(&s);
    free(probes);
}

/* Most TTLs have a blade, but of ten timers: the index does as well. */
TEST(a_full_table_of_shallow_blades_is_given_up)
{
    enum { TTLS = 1900, EACH = 10 };
    struct probe *probes = calloc(TTLS * EACH, sizeof *probes);
    struct scene s;
    unsigned i;

    CHECK(probes != NULL);
    scene_begin(&s, BLADES);
    for (i = 0; i < TTLS * EACH; i++) {
        start_probe(&s, &probes[i], 10000 + i % TTLS);
    }
    CHECK(stats_of(&s).lone_starts < 8192 - TTLS);
    CHECK(uses_blades(&s, 10000));
    look_at_habits(&s);
    CHECK(!uses_blades(&s, 10000));
    scene_end(&s);
    free(probes);
}

#endif
