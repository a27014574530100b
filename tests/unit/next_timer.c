/* next_timer.c - the timer that is due first [P2] [P4]. */
#include "common.h"
#include "internal.h"

#include <stdio.h>

/* Returns the number of the timer that is due first. */
static unsigned
first(struct scene *s)
{
    struct lawn_timer *timer = lawn_next_timer(s->lawn);

    CHECK(timer != NULL);
    CHECK(lawn_pending(timer));
    CHECK_EQ(lawn_deadline(timer), lawn_next(s->lawn));
    CHECK(lawn_check(s->lawn, stdout));
    return LAWN_CONTAINER(timer, struct probe, timer)->id;
}

/* Starts a probe with lawn_start_as(). */
static void
start_as(struct scene *s, unsigned id, uint64_t ttl, uint64_t deadline)
{
    lawn_start_as(s->lawn, &s->probe[id].timer, ttl, deadline);
    s->probe[id].due = lawn_deadline(&s->probe[id].timer);
    CHECK_EQ(s->probe[id].due, deadline);
}

/* Returns whether a probe is unqueued. */
static bool
bypass(const struct scene *s, unsigned id)
{
    const struct lawn_index *index = &s->lawn->index;
    uint64_t due = lawn_deadline(&s->probe[id].timer);
    const struct lawn_link *list =
        lawn__index_list_of(index, lawn__index_slot_of(index, due), due);

    for (const struct lawn_link *link = list->next; link != list;
         link = link->next) {
        if (link == &s->probe[id].timer.link) {
            return true;
        }
    }
    return false;
}

TEST(a_lawn_without_timers_has_no_first_timer)
{
    struct scene s;

    scene_begin(&s, BLADES);
    CHECK(lawn_next_timer(s.lawn) == NULL);
    start(&s, 0, 10);
    CHECK(stop(&s, 0));
    CHECK(lawn_next_timer(s.lawn) == NULL);
    start(&s, 0, 10);
    CHECK_EQ(mow(&s, 10), 1);
    CHECK(lawn_next_timer(s.lawn) == NULL);
    scene_end(&s);
}

TEST(lawn_next_timer_does_not_change_when_a_timer_fires)
{
    struct scene s;
    int ground = 0;

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

/* As a full cache does. */
TEST(stopping_the_first_timer_again_and_again_takes_them_by_deadline)
{
    static const uint64_t ttls[] = {70000, 5, 300, 301, 6, 50, 5000, 5001};
    static const unsigned order[] = {1, 4, 5, 2, 3, 6, 7, 0};
    struct scene s;
    int ground = 0;
    int review_due = 0; /* whether lawn_next() was called before */
    unsigned i = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (review_due = 0; review_due < 2; review_due++) {
            scene_begin(&s, (enum ground)ground);
            for (i = 0; i < COUNT(ttls); i++) {
                start(&s, i, ttls[i]);
            }
            for (i = 0; i < COUNT(order); i++) {
                if (review_due) {
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
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 20; i++) {
            start(&s, i, 1000);
        }
        start(&s, 20, 1001); /* in the same slot of the index */
        start(&s, 0, 1000);
        for (unsigned i = 1; i < 20; i++) {
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
    int ground = 0;

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

TEST(a_restart_makes_another_timer_the_first)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 500);
        start(&s, 1, 600);
        CHECK_EQ(first(&s), 0);
        start(&s, 0, 2000);
        CHECK_EQ(first(&s), 1);
        start(&s, 1, 3000);
        CHECK_EQ(first(&s), 0);
        start(&s, 1, 19);
        CHECK_EQ(first(&s), 1);
        scene_end(&s);
    }
}

/* The remembered earliest entry is a blade that was emptied and has a timer
 * again. An unqueued timer of its TTL was started earlier. */
TEST(an_unqueued_timer_is_the_first_of_its_ttl_if_a_blade_has_younger_ones)
{
    struct scene s;

    scene_begin(&s, BLADES);
    lawn_set_now(s.lawn, 50);
    start(&s, 0, 50);
    lawn_set_now(s.lawn, 51);
    start(&s, 3, 50);
    start_as(&s, 1, 50, 100); /* behind 3, but due before it */
    CHECK(bypass(&s, 1));
    CHECK(stop(&s, 0));
    CHECK(stop(&s, 3));
    start_as(&s, 2, 50, 100);
    CHECK(!bypass(&s, 2));
    CHECK_EQ(first(&s), 1);
    CHECK_EQ(first(&s), 1);
    CHECK_EQ(mow(&s, 100), 2);
    CHECK_FIRED(&s, 1, 2);
    scene_end(&s);
}

/* In the middle of a list of later unqueued timers, all in one slot. */
TEST(unqueued_timers_found_behind_others_are_the_first_in_their_order)
{
    struct lawn_options options = {.blades = 1024, .slot_bits = 4};
    struct scene s;

    scene_begin_with(&s, &options);
    start(&s, 0, 1000);
    CHECK_EQ(first(&s), 0);
    for (unsigned i = 10; i < 30; i++) {
        start_as(&s, i, 0, 1001 + i % 5);
    }
    start_as(&s, 1, 0, 1000);
    start_as(&s, 2, 0, 1000);
    start_as(&s, 3, 0, 1000);
    CHECK_EQ(first(&s), 1);
    struct lawn_counters before;
    lawn_stats(s.lawn, &before);
    CHECK_EQ(first(&s), 1); /* now at the front */
    struct lawn_counters after;
    lawn_stats(s.lawn, &after);
    CHECK_EQ(after.looked, before.looked);
    CHECK(stop(&s, 1));
    CHECK_EQ(first(&s), 2);
    CHECK_EQ(mow(&s, 1000), 3);
    CHECK_FIRED(&s, 2, 3, 0);
    CHECK_EQ(first(&s), 10); /* due at 1001, with 15, 20 and 25 */
    scene_end(&s);
}

TEST(a_timer_from_before_a_coarser_resolution_is_the_first_of_its_ttl)
{
    struct lawn_options options = {.resolution = 10};
    struct scene s;

    scene_begin_with(&s, &options);
    (void)mow(&s, 5);
    start(&s, 0, 15);
    start(&s, 1, 15);
    start(&s, 4, 3);
    lawn_set_resolution(s.lawn, 20);
    start(&s, 2, 15);
    start(&s, 3, 15);
    CHECK_EQ(first(&s), 4);
    CHECK(stop(&s, 4));
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(lawn_deadline(&s.probe[i].timer), 20);
        CHECK_EQ(first(&s), i);
        CHECK(stop(&s, i));
    }
    scene_end(&s);
}

TEST(timers_due_at_the_last_tick_are_the_first_when_no_others_are)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, LAWN_NEVER);
    start(&s, 1, LAST);
    start_at(&s, 2, LAST - 1);
    CHECK_EQ(first(&s), 2);
    CHECK(stop(&s, 2));
    CHECK_EQ(first(&s), 0);
    CHECK(stop(&s, 0));
    CHECK_EQ(first(&s), 1);
    CHECK(stop(&s, 1));
    CHECK(lawn_next_timer(s.lawn) == NULL);
    scene_end(&s);
}

static void
start_2_for_good(struct scene *s, struct probe *probe)
{
    (void)probe;
    CHECK_EQ(first(s), 1);
    start(s, 2, LAWN_NEVER);
    CHECK_EQ(first(s), 1);
}

TEST(a_timer_started_by_a_callback_at_the_last_tick_is_not_the_first)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, LAWN_NEVER);
    start(&s, 1, LAWN_NEVER);
    s.act = start_2_for_good;
    CHECK_EQ(mow_some(&s, LAST, 1), 1);
    CHECK_EQ(first(&s), 1);
    CHECK_EQ(first(&s), 1);
    s.act = NULL;
    CHECK_EQ(mow(&s, LAST), 2);
    CHECK_FIRED(&s, 0, 1, 2);
    scene_end(&s);
}

/* Numbers are in the order of firing. Each timer whose number is a multiple of
 * three is stopped by the one before it. */
static void
look_and_stop(struct scene *s, struct probe *probe)
{
    unsigned next = probe->id + 1;

    if (next < 30) {
        CHECK_EQ(first(s), next);
        if (next % 3 == 0) {
            CHECK(stop(s, next));
            CHECK_EQ(first(s), next + 1);
        }
    }
}

TEST(a_callback_sees_the_timer_that_is_then_the_first)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 20; i++) {
            start(&s, i, 1000);
        }
        for (unsigned i = 20; i < 32; i++) {
            start(&s, i, 990 + i);
        }
        s.act = look_and_stop;
        CHECK_EQ(mow(&s, 1020), 22);
        CHECK_EQ(first(&s), 31);
        scene_end(&s);
    }
}

static void
expect_none(struct scene *s, struct probe *probe)
{
    CHECK(lawn_next_timer(s->lawn) == NULL);
    start(s, probe->id + 1, 1);
    CHECK_EQ(first(s), probe->id + 1);
}

TEST(a_callback_of_the_only_timer_sees_that_there_is_none)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    s.act = expect_none;
    CHECK_EQ(mow(&s, 10), 1);
    CHECK_EQ(first(&s), 1);
    scene_end(&s);
}

/* On blades; and where an unqueued timer is the earliest. */
TEST(while_the_first_timer_stays_nothing_is_looked_through_for_it)
{
    struct lawn_counters before;
    struct lawn_counters after;
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 5; i++) {
            start(&s, i, 1000000 + i);
        }
        CHECK_EQ(first(&s), 0);
        lawn_stats(s.lawn, &before);
        for (unsigned i = 0; i < 1000; i++) {
            CHECK(lawn_next_timer(s.lawn) == &s.probe[0].timer);
            start(&s, 50, 2000000);
            CHECK(stop(&s, 50));
        }
        lawn_stats(s.lawn, &after);
        CHECK_EQ(after.looked, before.looked);
        scene_end(&s);
    }
}
