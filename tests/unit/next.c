/* next.c - the earliest deadline, exact if few timers are running [P2]; for
 * many, see bounded.c. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Computes the value of lawn_next() from all timers. */
static uint64_t
earliest(const struct scene *s)
{
    uint64_t next = LAWN_NEVER;

    for (unsigned i = 0; i < PROBES; i++) {
        if (lawn_deadline(&s->probe[i].timer) < next) {
            next = lawn_deadline(&s->probe[i].timer);
        }
    }
    return next;
}

TEST(a_lawn_without_timers_has_no_next_deadline)
{
    struct scene s;

    scene_begin(&s, BLADES);
    CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
    start(&s, 0, 10);
    CHECK(stop(&s, 0));
    CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
    start(&s, 0, 10);
    CHECK_EQ(mow(&s, 10), 1);
    CHECK_EQ(lawn_next(s.lawn), LAWN_NEVER);
    scene_end(&s);
}

/* 6. lawn2: 5 was reported where 50 was true; 44. redis #11069 */
TEST(when_the_earliest_timer_is_stopped_the_second_is_the_next)
{
    static const uint64_t ttls[] = {5, 6, 50, 300, 301, 70000};
    struct scene s;
    int ground = 0;
    int asked = 0; /* whether lawn_next() was also called before the stop */
    unsigned i = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (asked = 0; asked < 2; asked++) {
            scene_begin(&s, (enum ground)ground);
            for (i = 0; i < COUNT(ttls); i++) {
                start(&s, i, ttls[i]);
            }
            for (i = 0; i + 1 < COUNT(ttls); i++) {
                if (asked) {
                    CHECK_EQ(lawn_next(s.lawn), ttls[i]);
                }
                CHECK(stop(&s, i));
                CHECK_EQ(lawn_next(s.lawn), ttls[i + 1]);
                CHECK(lawn_check(s.lawn, stdout));
            }
            CHECK_EQ(mow(&s, 69999), 0);
            CHECK_EQ(mow(&s, 70000), 1);
            scene_end(&s);
        }
    }
}

/* 37. tokio #849; 44. RIOT #20924, msquic #3206 */
TEST(restarting_the_earliest_timer_moves_the_next_deadline_either_way)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 500);
        start(&s, 1, 600);
        CHECK_EQ(lawn_next(s.lawn), 500);
        start(&s, 0, 20);
        CHECK_EQ(lawn_next(s.lawn), 20);
        start(&s, 0, 2000);
        CHECK_EQ(lawn_next(s.lawn), 600);
        start(&s, 1, 3000);
        CHECK_EQ(lawn_next(s.lawn), 2000);
        start(&s, 1, 19);
        CHECK_EQ(lawn_next(s.lawn), 19);
        CHECK_EQ(mow(&s, 18), 0);
        CHECK_EQ(mow(&s, 19), 1);
        CHECK_EQ(lawn_next(s.lawn), 2000);
        scene_end(&s);
    }
}

/* 1. picotera/lawn 6498f36: the next deadline stuck at a drained bucket */
TEST(after_the_earliest_fired_the_next_deadline_is_that_of_the_second)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 20; i++) {
            start(&s, i, 10 + i * 37);
        }
        for (unsigned i = 0; i < 19; i++) {
            CHECK_EQ(mow(&s, 10 + i * 37), 1);
            CHECK_EQ(lawn_next(s.lawn), 10 + (i + 1) * 37);
        }
        scene_end(&s);
    }
}

TEST(an_overdue_deadline_is_still_the_next)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 11);
    lawn_set_now(s.lawn, 1000);
    start(&s, 2, 1);
    CHECK_EQ(lawn_next(s.lawn), 10);
    CHECK_EQ(mow_some(&s, 1000, 1), 1);
    CHECK_EQ(lawn_next(s.lawn), 11);
    scene_end(&s);
}

TEST(asking_for_the_next_deadline_changes_no_order)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 20; i++) {
            start(&s, i, 1000); /* far enough to share a slot with 1001 */
        }
        start(&s, 20, 999);
        start(&s, 21, 998);
        CHECK_EQ(lawn_next(s.lawn), 998);
        CHECK(stop(&s, 21));
        CHECK_EQ(lawn_next(s.lawn), 999);
        CHECK(stop(&s, 20));
        CHECK_EQ(lawn_next(s.lawn), 1000);
        CHECK(stop(&s, 0));
        CHECK_EQ(lawn_next(s.lawn), 1000);
        CHECK_EQ(mow(&s, 1000), 19);
        for (unsigned i = 0; i < 19; i++) {
            CHECK_EQ(s.id[i], i + 1);
        }
        scene_end(&s);
    }
}

TEST(asking_for_the_next_deadline_does_not_move_the_clock)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 1u << 20);
        CHECK_EQ(lawn_next(s.lawn), 1u << 20);
        CHECK_EQ(lawn_now(s.lawn), 0);
        start(&s, 1, 3);
        CHECK_EQ(lawn_next(s.lawn), 3);
        CHECK_EQ(mow(&s, 3), 1);
        CHECK_FIRED(&s, 1);
        scene_end(&s);
    }
}

TEST(the_next_deadline_is_exact_whatever_was_done_before)
{
    static const uint64_t spans[] = {3, 40, 300, 5000, 100000};
    struct scene s;
    int ground = 0;
    uint64_t state = 2463534242u;

    for (ground = 0; ground < GROUNDS; ground++) {
        uint64_t now = 0;

        scene_begin(&s, (enum ground)ground);
        for (unsigned step = 0; step < 4000; step++) {
            uint64_t r = chance(&state);
            unsigned id = (unsigned)(r >> 8) % PROBES;
            uint64_t span = spans[(r >> 20) % COUNT(spans)];

            if (r % 8 < 4) {
                start(&s, id, (r >> 30) % span);
            } else if (r % 8 < 7) {
                (void)stop(&s, id);
            } else {
                now += (r >> 30) % span;
                (void)mow_some(&s, now, (r >> 50) % 20);
                s.fired = 0;
            }
            if (earliest(&s) != LAWN_NEVER && (r >> 60) != 0) {
                CHECK_EQ(lawn_next(s.lawn), earliest(&s));
            }
        }
        scene_end(&s);
    }
}

static uint64_t
looked(const struct scene *s)
{
    struct lawn_counters stats;

    lawn_stats(s->lawn, &stats);
    return stats.looked;
}

/* Calls lawn_next() while the earliest deadline is this. It may return an
 * earlier time, but none before `least`, and examines at most 448 entries
 * [P8]. */
static void
check_next(struct scene *s, uint64_t least, uint64_t deadline)
{
    uint64_t before = looked(s);
    uint64_t next = lawn_next(s->lawn);

    CHECK(looked(s) - before <= 448);
    CHECK(next >= least);
    CHECK(next <= deadline);
}

/* A loop calls lawn_next() before each wait, while short requests start and
 * stop in front of thousands of idle timers. */
TEST(timers_that_come_and_go_do_not_make_next_look_through_the_far_ones)
{
    enum { MANY = 5000, ROUNDS = 1000 };
    struct probe *far = calloc(MANY, sizeof(*far));
    int ground = 0;

    CHECK(far != NULL);
    struct scene s;
    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        memset(far, 0, MANY * sizeof(*far));
        for (unsigned i = 0; i < MANY; i++) {
            start_probe(&s, &far[i], 1000000 + i % 500);
        }
        CHECK_EQ(lawn_next(s.lawn), 1000000);
        for (unsigned i = 0; i < ROUNDS; i++) {
            start(&s, 0, 10 + i % 50);
            start(&s, 1, 10 + i % 60);
            CHECK_EQ(lawn_next(s.lawn),
                     10 + (i % 60 < i % 50 ? i % 60 : i % 50));
            CHECK(stop(&s, 0));
            CHECK_EQ(lawn_next(s.lawn), 10 + i % 60);
            CHECK(stop(&s, 1));
            check_next(&s, 1000000, 1000000);
        }
        /* The same just before the idle timers, in the same slot of the
         * index. */
        for (unsigned i = 0; i < ROUNDS; i++) {
            start(&s, 0, 1000000 - 1 - i % 50);
            check_next(&s, 1000000 - 60, 1000000 - 1 - i % 50);
            start(&s, 1, 1000000 - 60);
            CHECK_EQ(lawn_next(s.lawn), 1000000 - 60);
            CHECK(stop(&s, 1));
            check_next(&s, 1000000 - 60, 1000000 - 1 - i % 50);
            CHECK(stop(&s, 0));
            check_next(&s, 1000000 - 60, 1000000);
        }
        CHECK_EQ(lawn_next_exact(s.lawn), 1000000);
        CHECK_EQ(lawn_next(s.lawn), 1000000);
        /* Several timers, each the earliest when started, stopped in any
         * order. */
        for (unsigned i = 0; i < ROUNDS / 10; i++) {
            for (unsigned k = 0; k < 4; k++) {
                start(&s, k, 1000000 - 1 - k);
                CHECK_EQ(lawn_next(s.lawn), 1000000 - 1 - k);
            }
            for (unsigned k = 0; k < 4; k++) {
                CHECK(stop(&s, (k + i) % 4));
                check_next(&s, 1000000 - 4, k < 3 ? earliest(&s) : far[0].due);
            }
            CHECK_EQ(lawn_next_exact(s.lawn), far[0].due);
        }
        /* A new earliest timer among the far ones is still found. */
        start(&s, 2, 999990);
        start(&s, 3, 999980);
        CHECK(stop(&s, 3));
        CHECK_EQ(lawn_next_exact(s.lawn), 999990);
        scene_end(&s);
    }
    free(far);
}
