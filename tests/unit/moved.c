/* moved.c - running timers that move in memory. */
#include "common.h"

#include <stdio.h>
#include <string.h>

/* Moves a probe and overwrites its old memory, which must not be read again. */
static void
move(struct scene *s, unsigned from, unsigned to)
{
    unsigned id = s->probe[from].id;

    s->probe[to] = s->probe[from];
    memset(&s->probe[from], 0xA5, sizeof(s->probe[from]));
    lawn_moved(s->lawn, &s->probe[to].timer);
    CHECK_EQ(s->probe[to].id, id);
    CHECK(lawn_check(s->lawn, stdout));
}

/* P3, P4: at either end of a queue, within it, and as its only timer. */
TEST(timers_that_were_moved_fire_once_and_in_order)
{
    struct scene s;

    for (enum ground ground = BLADES; ground < GROUNDS; ground++) {
        scene_begin(&s, ground);
        for (unsigned i = 0; i < 4; i++) {
            start(&s, i, 10);
        }
        start(&s, 4, 700);
        start(&s, 5, LAST);
        CHECK_EQ(lawn_next(s.lawn), 10); /* lawn_next() finds the moved timer */
        for (unsigned i = 0; i < 6; i++) {
            move(&s, (i * 5 + 1) % 6, 10 + (i * 5 + 1) % 6);
            CHECK_EQ(lawn_next(s.lawn), 10);
        }
        CHECK(lawn_next_timer(s.lawn) == &s.probe[10].timer);
        CHECK_EQ(running(&s), 6);
        CHECK(stop(&s, 11));
        CHECK_EQ(mow_some(&s, 10, 1), 1);
        move(&s, 12, 22);
        CHECK_EQ(mow(&s, 800), 3);
        CHECK_FIRED(&s, 0, 2, 3, 4);
        CHECK(stop(&s, 15));
        scene_end(&s);
    }
}

/* P3 */
TEST(a_timer_that_was_moved_can_be_restarted)
{
    struct scene s;

    for (enum ground ground = BLADES; ground < GROUNDS; ground++) {
        scene_begin(&s, ground);
        start(&s, 0, 10);
        start(&s, 1, 10);
        move(&s, 0, 10);
        start(&s, 10, 20);
        CHECK_EQ(mow(&s, 20), 2);
        CHECK_FIRED(&s, 1, 0);
        scene_end(&s);
    }
}

TEST(an_idle_timer_that_was_moved_stays_idle)
{
    struct scene s;

    scene_begin(&s, BLADES);
    move(&s, 0, 10);
    start(&s, 1, 10);
    CHECK_EQ(mow(&s, 10), 1);
    move(&s, 1, 11); /* it has fired */
    CHECK(!pending(&s, 10));
    CHECK(!pending(&s, 11));
    CHECK_EQ(lawn_last_deadline(&s.probe[11].timer), 10);
    CHECK_EQ(running(&s), 0);
    scene_end(&s);
}

static void
move_the_next(struct scene *s, struct probe *probe)
{
    if (probe->id < 5) {
        move(s, probe->id + 1, probe->id + 11);
    }
}

/* P6 */
TEST(a_callback_may_move_the_timer_that_is_due_next)
{
    struct scene s;

    for (enum ground ground = BLADES; ground < GROUNDS; ground++) {
        scene_begin(&s, ground);
        s.act = move_the_next;
        for (unsigned i = 0; i < 6; i++) {
            start(&s, i, 10);
        }
        CHECK_EQ(mow(&s, 10), 6);
        CHECK_FIRED(&s, 0, 1, 2, 3, 4, 5);
        scene_end(&s);
    }
}

#if !defined NDEBUG

static void
move_beside_one_moved_in_silence(void)
{
    struct scene s;

    scene_begin(&s, BLADES);
    start(&s, 0, 10);
    start(&s, 1, 10);
    start(&s, 2, 10);
    s.probe[11] = s.probe[1];
    memset(&s.probe[1].timer, 0xA5, sizeof(s.probe[1].timer));
    move(&s, 2, 12);
}

/* P10 */
TEST(a_timer_moved_without_a_call_is_named_when_its_neighbor_moves)
{
    CHECK(kit_aborts_with(move_beside_one_moved_in_silence, "moved"));
}

#endif
