/* first.c - the timer that is due first [P2] [P4]. */
#include "common.h"
#include "internal.h"

#include <stdio.h>

/* The number of the timer that is due first. */
static unsigned
first(struct scene *s)
{
    struct lawn_timer *timer = lawn_first(s->lawn);

    CHECK(timer != NULL);
    CHECK(lawn_pending(timer));
    CHECK_EQ(lawn_deadline(timer), lawn_next(s->lawn));
    CHECK(lawn_check(s->lawn, stdout));
    return LAWN_CONTAINER(timer, struct probe, timer)->id;
}

TEST(a_lawn_without_timers_has_no_first_timer)
{
    struct scene s;

    scene_begin(&s, BLADES);
    CHECK(lawn_first(s.lawn) == NULL);
    start(&s, 0, 10);
    CHECK(stop(&s, 0));
    CHECK(lawn_first(s.lawn) == NULL);
    start(&s, 0, 10);
    CHECK_EQ(mow(&s, 10), 1);
    CHECK(lawn_first(s.lawn) == NULL);
    scene_end(&s);
}

TEST(the_first_timer_stays_and_fires_as_if_nobody_had_asked)
{
    struct scene s;
    int ground;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 500);
        start(&s, 1, 40);
        start(&s, 2, 41);
        CHECK_EQ(first(&s), 1);
        CHECK_EQ(first(&s), 1);
        CHECK_EQ(running(&s), 3);
        CHECK_EQ(mow(&s, 40), 1);
        CHECK_FIRED(&s, 1);
        CHECK_EQ(first(&s), 2);
        CHECK_EQ(mow(&s, 1000), 2);
        CHECK_FIRED(&s, 2, 0);
        scene_end(&s);
    }
}

/* As a cache does that is full. */
TEST(stopping_the_first_timer_again_and_again_takes_them_by_deadline)
{
    static const uint64_t ttls[] = {70000, 5, 300, 301, 6, 50, 5000, 5001};
    static const unsigned order[] = {1, 4, 5, 2, 3, 6, 7, 0};
    struct scene s;
    int ground;
    int asked; /* whether the deadline was asked for before */
    unsigned i;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (asked = 0; asked < 2; asked++) {
            scene_begin(&s, (enum ground)ground);
            for (i = 0; i < COUNT(ttls); i++) {
                start(&s, i, ttls[i]);
            }
            for (i = 0; i < COUNT(order); i++) {
                if (asked) {
                    CHECK_EQ(lawn_next(s.lawn), ttls[order[i]]);
                }
                CHECK_EQ(first(&s), order[i]);
                CHECK(stop(&s, order[i]));
            }
            CHECK_EQ(running(&s), 0);
            scene_end(&s);
        }
    }
}

TEST(of_one_ttl_and_one_deadline_the_first_started_is_the_first)
{
    struct scene s;
    int ground;
    unsigned i;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (i = 0; i < 20; i++) {
            start(&s, i, 1000);
        }
        start(&s, 20, 1001); /* in the same place of the index */
        start(&s, 0, 1000);
        for (i = 1; i < 20; i++) {
            CHECK_EQ(first(&s), i);
            CHECK(stop(&s, i));
        }
        CHECK_EQ(first(&s), 0);
        CHECK_EQ(mow(&s, 1000), 1);
        CHECK_EQ(first(&s), 20);
        scene_end(&s);
    }
}

TEST(an_overdue_timer_is_still_the_first)
{
    struct scene s;
    int ground;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 10);
        start(&s, 1, 11);
        lawn_set_now(s.lawn, 1000);
        start(&s, 2, 1);
        CHECK_EQ(first(&s), 0);
        CHECK_EQ(mow_some(&s, 1000, 1), 1);
        CHECK_EQ(first(&s), 1);
        CHECK_EQ(mow(&s, 1000), 1);
        CHECK_EQ(first(&s), 2);
        scene_end(&s);
    }
}
