/* order.c - the order of firing [P4]. Every scene checks the order of
 * deadlines; these tests check equal deadlines and mows in small steps. */
#include "common.h"

#include <string.h>

/* 27. libuv fadfeaf6e; 7. lawn2: expired timers came back in reverse */
TEST(timers_with_equal_deadlines_fire_in_the_order_they_were_started)
{
    static const unsigned order[] = {3, 1, 4, 0, 5, 2};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (size_t i = 0; i < COUNT(order); i++) {
            start(&s, order[i], 300);
        }
        CHECK_EQ(mow(&s, 300), COUNT(order));
        CHECK_FIRED(&s, 3, 1, 4, 0, 5, 2);
        scene_end(&s);
    }
}

TEST(a_restarted_timer_fires_after_those_that_were_started_before)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, 300);
        start(&s, 1, 300);
        start(&s, 2, 300);
        start(&s, 0, 300);
        CHECK_EQ(mow(&s, 1000), 3);
        CHECK_FIRED(&s, 1, 2, 0);
        scene_end(&s);
    }
}

TEST(timers_of_one_ttl_keep_their_order_when_others_are_stopped)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 8; i++) {
            start(&s, i, 300);
        }
        CHECK(stop(&s, 0) && stop(&s, 3) && stop(&s, 7));
        start(&s, 3, 300);
        CHECK_EQ(mow(&s, 300), 6);
        CHECK_FIRED(&s, 1, 2, 4, 5, 6, 3);
        scene_end(&s);
    }
}

/* Blades that are due together may take turns; each keeps its order. */
TEST(many_ttls_due_at_one_tick_each_keep_the_order_of_their_timers)
{
    enum { TTLS = 40, EACH = 5 };
    static struct probe probes[TTLS * EACH];

    memset(probes, 0, sizeof(probes));
    struct scene s;
    scene_begin(&s, BLADES);
    unsigned last[TTLS];
    unsigned ttl = 0;
    for (ttl = TTLS; ttl-- > 0;) {
        lawn_set_now(s.lawn, 1000 - ttl * 10);
        for (unsigned i = 0; i < EACH; i++) {
            struct probe *probe = &probes[ttl * EACH + i];

            probe->id = ttl * EACH + i;
            start_probe(&s, probe, 100 + ttl * 10);
            CHECK_EQ(probe->due, 1100);
        }
        last[ttl] = 0;
    }
    CHECK_EQ(mow(&s, 1100), TTLS * EACH);
    for (unsigned i = 0; i < TTLS * EACH; i++) {
        ttl = s.id[i] / EACH;
        CHECK_EQ(s.id[i] % EACH, last[ttl]);
        last[ttl]++;
    }
    scene_end(&s);
}

TEST(timers_of_different_ttls_fire_in_the_order_of_their_deadlines)
{
    static const uint64_t ttls[] = {700, 3, 70000, 40, 41, 39, 256, 255, 257};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < COUNT(ttls); i++) {
            start(&s, i, ttls[i]);
        }
        CHECK_EQ(mow(&s, 1000000), COUNT(ttls));
        CHECK_FIRED(&s, 1, 5, 3, 4, 7, 6, 8, 0, 2);
        scene_end(&s);
    }
}

/* After a stall, queues are not drained one after the other (Node.js
 * #46644). */
TEST(queues_that_are_overdue_together_are_merged_by_deadline)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 10; i++) {
            lawn_set_now(s.lawn, i * 10);
            start(&s, 2 * i, 100);
            start(&s, 2 * i + 1, 105);
        }
        CHECK_EQ(mow(&s, 100000), 20);
        for (unsigned i = 0; i < 20; i++) {
            CHECK_EQ(s.id[i], i);
        }
        scene_end(&s);
    }
}

/* Runs the same timers in time steps of this size; 0: in one step. */
static unsigned
run_in_pieces(struct scene *s, enum ground ground, uint64_t piece)
{
    static struct probe probes[300];
    uint64_t state = 88172645463325252u;
    uint64_t end = 20000;
    uint64_t now = 0;

    memset(probes, 0, sizeof(probes));
    scene_begin(s, ground);
    for (unsigned i = 0; i < COUNT(probes); i++) {
        uint64_t r = chance(&state);

        probes[i].id = i;
        start_probe(s, &probes[i], r % (r & 1 ? 100 : 20000));
    }
    while (now < end) {
        now = piece != 0 && end - now > piece ? now + piece : end;
        (void)mow(s, now);
    }
    scene_end(s);
    return s->fired;
}

/* 2. picotera/lawn 18d3b32: a jump must not skip timers that steps would
 * fire. */
TEST(time_in_any_pieces_fires_the_same_timers_in_the_same_order)
{
    static const uint64_t pieces[] = {1, 2, 7, 64, 255, 256, 257, 1000, 4096};
    struct scene whole;
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        CHECK_EQ(run_in_pieces(&whole, (enum ground)ground, 0), 300);
        for (size_t i = 0; i < COUNT(pieces); i++) {
            CHECK_EQ(run_in_pieces(&s, (enum ground)ground, pieces[i]), 300);
            CHECK(memcmp(s.due, whole.due, 300 * sizeof(s.due[0])) == 0);
        }
    }
}

/* Their deadlines are all clamped to the last tick. */
TEST(timers_of_one_ttl_cut_at_the_end_of_time_keep_their_order)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        for (unsigned i = 0; i < 5; i++) {
            lawn_set_now(s.lawn, i * 100);
            start(&s, i, UINT64_MAX);
            CHECK_EQ(lawn_deadline(&s.probe[i].timer), LAST);
        }
        (void)mow(&s, LAST - 1);
        s.fired = 0;
        CHECK_EQ(mow(&s, LAST), 5);
        CHECK_FIRED(&s, 0, 1, 2, 3, 4);
        scene_end(&s);
    }
}

TEST(a_timer_started_at_the_last_tick_fires_after_those_of_its_ttl)
{
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        scene_begin(&s, (enum ground)ground);
        start(&s, 0, UINT64_MAX);
        lawn_set_now(s.lawn, LAST - 1);
        start(&s, 1, UINT64_MAX);
        (void)mow(&s, LAST - 1);
        s.fired = 0;
        lawn_set_now(s.lawn, LAST);
        start(&s, 2, UINT64_MAX);
        CHECK_EQ(mow(&s, LAST), 3);
        CHECK_FIRED(&s, 0, 1, 2);
        scene_end(&s);
    }
}

/* While the base is in the slot before the last one of level 1, no timer enters
 * the last one. Otherwise mows that open it would rotate its lists [I4]. */
TEST(timers_of_the_last_slots_keep_their_order_while_these_are_opened)
{
    static struct probe later[300];
    struct lawn_options options = {.blades = 8};
    struct scene s;

    memset(later, 0, sizeof(later));
    scene_begin_with(&s, &options);
    scene_crowd(&s);
    for (unsigned i = 0; i < COUNT(later); i++) {
        start_probe(&s, &later[i], UINT64_MAX);
    }
    CHECK_EQ(mow(&s, LAST - 248), 0);
    for (unsigned mows = 0; mows < 8; mows++) {
        for (unsigned id = 0; id < 3; id++) {
            start(&s, id, 130);
        }
        for (unsigned i = 0; i < mows; i++) {
            CHECK_EQ(mow(&s, LAST - 248), 0);
        }
    }
    CHECK_EQ(mow(&s, LAST - 118), 3);
    CHECK_FIRED(&s, 0, 1, 2);
    scene_end(&s);
}
