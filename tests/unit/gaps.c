/* gaps.c - properties that no other test checks; mutants of the core revealed
 * these gaps. Most of them concern cost, not correctness [P8]. */
#include "store_common.h"

#include <stdlib.h>
#include <sys/resource.h>

TEST(a_lawn_begins_at_a_cache_line_wherever_it_is_placed)
{
    size_t size = lawn_size(NULL);
    char *memory = malloc(size + 64);

    CHECK(memory != NULL);
    for (size_t offset = 0; offset < 64; offset++) {
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

    scene_begin_with(&s, &options);
    for (unsigned i = 0; i < TTLS; i++) {
        start_probe(&s, &probes[i], 1 + chance(&state) % 100000000);
    }
    CHECK(lawn_count_unqueued(s.lawn) <= TTLS / 100);
    scene_end(&s);
}

static struct lawn_counters
stats_of(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats;
}

TEST(entries_of_the_index_that_move_are_counted)
{
    struct scene s;
    for (enum ground ground = BLADES; ground < GROUNDS; ground++) {
        scene_begin(&s, ground);
        uint64_t before = stats_of(&s).moved;
        start(&s, 0, 1000);
        CHECK_EQ(mow(&s, 1000), 1);
        /* The entry moves to its tick at once; a blade then leaves the
         * index. */
        CHECK_EQ(stats_of(&s).moved - before, ground == BLADES ? 2 : 1);
        scene_end(&s);
    }
}

TEST(timers_of_the_last_tick_count_as_unqueued_ones)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, UINT64_MAX);
    start(&s, 1, 1000);
    start(&s, 0, UINT64_MAX - 1);
    CHECK_EQ(stats_of(&s).unqueued_starts, 2);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 1);
    scene_end(&s);
}

static bool
count_visit(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    (void)timer;
    (void)ttl;
    ++*(uint64_t *)arg;
    return true;
}

/* Including TTLs whose first and second choice of a blade are as far apart as
 * stripes can be. */
TEST(a_visit_finds_all_blades_of_tables_that_are_full)
{
    static struct probe probes[200];
    struct lawn_options options = {.blades = 32};
    uint64_t state = 1;

    for (unsigned table = 0; table < 100; table++) {
        struct scene s;
        uint64_t visited = 0;

        scene_begin_with(&s, &options);
        for (unsigned i = 0; i < COUNT(probes); i++) {
            start_probe(&s, &probes[i], 1 + chance(&state) % 1000000);
        }
        CHECK(lawn_each(s.lawn, count_visit, &visited));
        CHECK_EQ(visited, COUNT(probes));
        for (unsigned i = 0; i < COUNT(probes); i++) {
            CHECK(lawn_stop(s.lawn, &probes[i].timer));
        }
        scene_end(&s);
    }
}

static int
make_many_lawns(void)
{
    struct rlimit limit = {512u << 20, 512u << 20};

    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 1;
    }
    for (unsigned i = 0; i < 8000; i++) {
        struct lawn *lawn = lawn_new(NULL);

        if (lawn == NULL) {
            return 2;
        }
        lawn_free(lawn);
    }
    return 0;
}

TEST(a_lawn_gives_its_memory_back)
{
    if (!watched()) { /* the tools themselves need much memory */
        check_child(make_many_lawns);
    }
}

TEST(an_unqueued_timer_is_counted_wherever_in_the_index_it_is)
{
    for (enum ground ground = UNQUEUED; ground < GROUNDS; ground++) {
        struct scene s;

        scene_begin(&s, ground);
        uint64_t others = lawn_count_unqueued(s.lawn);
        for (uint64_t ttl = 1; ttl < 1000; ttl++) {
            start(&s, 0, ttl);
            CHECK_EQ(lawn_count_unqueued(s.lawn), others + 1);
        }
        /* A mow that runs out of budget leaves the remaining entries in the
         * slot of their tick. */
        for (uint64_t ttl = 4096; ttl < 64 * 4096; ttl += 4096) {
            start_at(&s, 0, ttl);
            start_at(&s, 1, ttl);
            CHECK_EQ(mow_some(&s, ttl, 1), 1);
            CHECK_EQ(lawn_count_unqueued(s.lawn), others + 1);
            CHECK_EQ(mow(&s, ttl), 1);
        }
        scene_end(&s);
    }
}
