/* upstream.c - faults of the published lawn (picotera/lawn), each reproduced by
 * running it, as tests of this one.
 *
 * Tested elsewhere:
 *   expired timers come back in reverse      order.c, timers_with_equal_...
 *   the clock set back strands a due timer   clock.c, a_clock_set_back_...
 *   TTL UINT64_MAX fires on the next tick    clock.c, a_ttl_too_long_...
 *   next is only a bound after a stop        next.c, when_the_earliest_...
 *   empty TTLs and their queues stay         blades.c, ttls_without_...
 *   TTLs chosen to collide cost 73 times     blades.c, timers_of_ttls_that_...
 *   a failed allocation crashes              options.c, a_failed_allocation_...
 *   stopping a collected timer does nothing  reentrancy.c, a_timer_stopped_...
 * Faults of ids and keys (a sparse id as an allocation bomb, a key set again
 * that fires at its old TTL and is lost) are tested with the store; the restart
 * below is the part of the core. No test checks that the library builds on
 * Linux: this program shows it.
 */
#include "common.h"

#include <stdio.h>

/* 5. lawn2_add of an armed timer linked it twice: it fired twice. */
TEST(starting_a_running_timer_twice_leaves_one_timer_that_fires_once)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 1, 10);
        for (unsigned i = 0; i < 5; i++) {
            start(&s, 0, 10);
            CHECK(lawn_check(s.lawn, stdout));
            CHECK_EQ(running(&s), 2);
        }
        CHECK_EQ(mow(&s, 1000), 2);
        CHECK_FIRED(&s, 1, 0);
        CHECK_EQ(running(&s), 0);
        scene_end(&s);
    }
}

/* A key set again fired at its old TTL, and then the key was lost. */
TEST(a_timer_restarted_for_longer_does_not_fire_at_its_old_deadline)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 0, 500);
        CHECK_EQ(mow(&s, 499), 0);
        CHECK(pending(&s, 0));
        CHECK_EQ(mow(&s, 500), 1);
        CHECK_FIRED(&s, 0);
        scene_end(&s);
    }
}

/* The published guard: the closest deadline is initially 0, and "endtime <
 * now". */
TEST(the_first_timer_of_an_empty_lawn_is_noticed_and_not_a_tick_late)
{
    struct scene s;

    scene_begin(&s, BLADES);
    for (unsigned i = 1; i < 50; i++) {
        uint64_t now = lawn_now(s.lawn);

        CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
        start(&s, i, i);
        CHECK_EQ(lawn_next(s.lawn), now + i);
        CHECK_EQ(mow(&s, now + i), 1);
    }
    scene_end(&s);
}

/* In the published lawn, 100,000 TTLs without a remaining timer used 262,144
 * slots. */
TEST(a_lawn_that_had_many_ttls_has_no_entries_left)
{
    struct scene s;

    scene_begin(&s, BLADES);
    for (uint64_t i = 1; i <= 20000; i++) {
        start(&s, (unsigned)(i % PROBES), i);
        if (i % 16 == 0) {
            (void)mow(&s, i * 2);
            s.fired = 0;
        }
    }
    (void)mow(&s, 100000);
    struct lawn_counters stats;
    lawn_stats(s.lawn, &stats);
    CHECK_EQ(stats.count, 0);
    CHECK_EQ(stats.live_blades, 0);
    CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
    CHECK_EQ(stats.bytes, lawn_size(NULL));
    scene_end(&s);
}
