/* blades.c - more TTLs than blades, TTLs that collide, blades that are
 * reused. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

static struct lawn_counters
stats_of(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats;
}

/* TTLs that a multiplicative hash maps to one value: either their product
 * with the factor of src/core/blades.h is k, or they differ only in the high
 * half. */
static uint64_t
colliding_low(uint64_t k)
{
    uint64_t factor = UINT64_C(0xBF58476D1CE4E5B9);
    uint64_t inverse = factor;

    for (unsigned i = 0; i < 6; i++) {
        inverse *= 2 - factor * inverse;
    }
    return k * inverse;
}

static uint64_t
colliding_high(uint64_t k)
{
    return 1000 + (k << 32);
}

/* Starts timers with distinct TTLs and mows in uneven steps. */
static void
run_distinct(const struct lawn_options *options, unsigned many,
             uint64_t (*ttl)(uint64_t))
{
    struct probe *probes = calloc(many, sizeof(*probes));
    uint64_t fired = 0;

    CHECK(probes != NULL);
    struct scene s;
    scene_begin_with(&s, options);
    size_t bytes = stats_of(&s).bytes;
    for (unsigned i = 0; i < many; i++) {
        probes[i].id = i;
        start_probe(&s, &probes[i], ttl(i + 1));
    }
    CHECK(lawn_check(s.lawn, stdout));
    for (unsigned i = 0; i < many; i += 3) {
        CHECK(lawn_stop(s.lawn, &probes[i].timer));
    }
    while (lawn_count(s.lawn) > 0) {
        uint64_t next = lawn_next(s.lawn);

        CHECK_EQ(mow(&s, next - 1), 0);
        fired += mow_some(&s, next < LAST - 5 ? next + 5 : LAST, 100);
        s.fired = 0;
    }
    CHECK_EQ(fired, many - (many + 2) / 3);
    CHECK_EQ(stats_of(&s).live_blades, 0);
    CHECK_EQ(stats_of(&s).bytes, bytes);
    scene_end(&s);
    free(probes);
}

static uint64_t
spread(uint64_t k)
{
    return 100 + k * 13;
}

TEST(timers_of_more_ttls_than_blades_all_fire_exactly)
{
    static const struct lawn_options options[] = {
        {.blades = 16}, {.blades = 16, .slot_bits = 4}, {.blades = 256}};

    for (size_t i = 0; i < COUNT(options); i++) {
        run_distinct(&options[i], 600, spread);
    }
}

/* 8. lawn2: TTLs chosen to collide made starts 73 times slower */
TEST(timers_of_ttls_that_collide_all_fire_exactly)
{
    static const struct lawn_options options[] = {{.blades = 16}, {0}};

    for (size_t i = 0; i < COUNT(options); i++) {
        run_distinct(&options[i], 300, colliding_low);
        run_distinct(&options[i], 300, colliding_high);
    }
}

static void
stop_crowd(struct scene *s)
{
    for (unsigned i = 0; s->crowded > 0; i++) {
        s->crowded -= lawn_stop(s->lawn, &s->crowd[i].timer);
    }
}

TEST(a_ttl_in_steady_use_gets_a_blade_soon_after_one_is_free)
{
    struct scene s;

    scene_begin(&s, UNQUEUED);
    start(&s, 0, 300);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 1);
    stop_crowd(&s);
    CHECK_EQ(stats_of(&s).live_blades, 0);
    for (unsigned i = 0; stats_of(&s).live_blades == 0; i++) {
        CHECK(i < 16);
        start(&s, 1, 300);
    }
    start(&s, 0, 300); /* all later ones join its blade */
    start(&s, 2, 300);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 0);
    CHECK_EQ(stats_of(&s).live_blades, 1);
    CHECK_EQ(mow(&s, 300), 3);
    CHECK_FIRED(&s, 1, 0, 2);
    scene_end(&s);
}

/* [P4]: timers of one TTL and one deadline, first unqueued, then on a blade. */
TEST(unqueued_timers_fire_before_later_ones_of_their_ttl_on_a_blade)
{
    struct scene s;

    scene_begin(&s, UNQUEUED);
    start(&s, 0, 300);
    start(&s, 1, 300);
    stop_crowd(&s);
    for (unsigned i = 2; i < 30; i++) {
        start(&s, i, 300);
    }
    CHECK(lawn_count_unqueued(s.lawn) >= 2);
    CHECK_EQ(stats_of(&s).live_blades, 1);
    CHECK_EQ(mow_some(&s, 300, 1), 1);
    CHECK_EQ(mow(&s, 300), 29);
    for (unsigned i = 0; i < 30; i++) {
        CHECK_EQ(s.id[i], i);
    }
    scene_end(&s);
}

/* Later timers of a TTL must find the blade that it already has. Two blades of
 * one TTL would lose the order of equal deadlines [P4]. */
TEST(all_timers_of_a_ttl_and_a_deadline_keep_their_order_on_a_full_table)
{
    enum { TTLS = 30, EACH = 20 };
    struct lawn_options options = {.blades = 16};
    static struct probe probes[EACH][TTLS];
    struct scene s;

    scene_begin_with(&s, &options);
    for (unsigned each = 0; each < EACH; each++) {
        for (unsigned i = 0; i < TTLS; i++) {
            probes[each][i] = (struct probe){.id = i * EACH + each};
            start_probe(&s, &probes[each][i], 100 + i);
        }
    }
    CHECK(stats_of(&s).live_blades <= TTLS);
    CHECK_EQ(mow(&s, 1000), TTLS * EACH);
    for (unsigned i = 0; i < TTLS * EACH; i++) {
        CHECK_EQ(s.id[i], i);
    }
    scene_end(&s);
}

/* 9. lawn2: emptied TTLs were never removed, 193 MB for one timer; 14. libevent
 * 1d0fbf09: queues reclaimed and created again */
TEST(ttls_without_timers_are_forgotten_and_nothing_grows)
{
    struct scene s;

    scene_begin(&s, BLADES);
    size_t bytes = stats_of(&s).bytes;
    start(&s, 1, UINT64_C(1) << 40);
    for (uint64_t ttl = 1; ttl <= 100000; ttl++) {
        start(&s, 0, ttl + 1000);
        CHECK(stop(&s, 0));
    }
    CHECK_EQ(stats_of(&s).live_blades, 1);
    CHECK_EQ(stats_of(&s).bytes, bytes);
    /* A TTL that stays in use gets a blade at the eighth start at the latest,
     * whatever other TTLs have used before. */
    for (uint64_t ttl = 0; ttl < 8; ttl++) {
        start(&s, 2 + (unsigned)ttl, 555555);
    }
    CHECK_EQ(stats_of(&s).live_blades, 2);
    for (uint64_t ttl = 0; ttl < 8; ttl++) {
        CHECK(stop(&s, 2 + (unsigned)ttl));
    }
    CHECK(lawn_check(s.lawn, stdout));
    CHECK(lawn_next(s.lawn) <= UINT64_C(1) << 40);
    CHECK_EQ(lawn_next_exact(s.lawn), UINT64_C(1) << 40);
    CHECK_EQ(mow(&s, 1u << 30), 0);
    scene_end(&s);
}

/* The index may still contain an emptied blade at its previous deadline. */
TEST(a_blade_taken_over_by_a_longer_ttl_does_not_fire_early)
{
    struct scene s;

    scene_begin(&s, BLADES);
    for (uint64_t ttl = 10; ttl < 5000; ttl++) {
        start(&s, 0, ttl);
    }
    CHECK_EQ(mow(&s, 4998), 0);
    CHECK_EQ(lawn_next(s.lawn), 4999);
    CHECK_EQ(mow(&s, 4999), 1);
    scene_end(&s);
}

TEST(a_blade_taken_over_by_a_shorter_ttl_does_not_fire_late)
{
    struct lawn_options options = {.blades = 16};
    struct scene s;

    for (int asked = 0; asked < 2; asked++) {
        scene_begin_with(&s, &options);
        for (uint64_t ttl = 5000; ttl-- > 10;) {
            start(&s, 0, ttl);
            if (asked) {
                CHECK_EQ(lawn_next(s.lawn), ttl);
            }
        }
        CHECK_EQ(lawn_next(s.lawn), 10);
        CHECK_EQ(mow(&s, 9), 0);
        CHECK_EQ(mow(&s, 10), 1);
        scene_end(&s);
    }
}

TEST(as_many_ttls_as_a_quarter_of_the_blades_are_hardly_ever_alone)
{
    enum { TTLS = 512 };
    static struct probe probes[TTLS];
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 0; i < TTLS; i++) {
        start_probe(&s, &probes[i], 1000 * (i + 1));
    }
    CHECK(lawn_count_unqueued(s.lawn) <= TTLS / 50);
    for (unsigned i = 0; i < TTLS; i++) {
        CHECK(lawn_stop(s.lawn, &probes[i].timer));
    }
    scene_end(&s);
}

TEST(unqueued_timers_are_counted)
{
    struct scene s;

    scene_begin(&s, UNQUEUED);
    for (unsigned i = 0; i < 10; i++) {
        start(&s, i, 10 + i * 100);
        CHECK_EQ(lawn_count_unqueued(s.lawn), i + 1);
    }
    CHECK_EQ(stats_of(&s).unqueued_starts, stats_of(&s).starts - s.crowded);
    CHECK(stop(&s, 4));
    CHECK_EQ(mow(&s, 400), 4);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 5);
    (void)mow(&s, LAST);
    start(&s, 0, 1);
    CHECK_EQ(lawn_count_unqueued(s.lawn), 1);
    scene_end(&s);
}
