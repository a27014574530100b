/* index.c - deadlines on both sides of every boundary of the index [P1] [P2].
 *
 * A boundary is a power of two between base and deadline. All are tested, for
 * each number of slot bits, on blades and unqueued. A timer far ahead is
 * running as well: in other libraries it hid the near ones.
 */
#include "common.h"

/* Numbers of probes. */
enum { SUBJECT = 0, FAR = 63 };

static void
begin(struct scene *s, unsigned bits, bool unqueued, uint64_t now)
{
    struct lawn_options options = {.blades = 16, .slot_bits = bits};

    scene_begin_with(s, &options);
    if (unqueued) {
        scene_crowd(s);
    }
    lawn_set_now(s->lawn, now);
    start(s, FAR, UINT64_MAX);
}

/* Checks that a timer started at now fires exactly at its deadline. */
static void
check_deadline(unsigned bits, bool unqueued, uint64_t now, uint64_t deadline)
{
    if (deadline <= now || deadline > LAST - 10000) {
        return;
    }
    struct scene s;
    begin(&s, bits, unqueued, now);
    CHECK_EQ(mow(&s, now), 0);
    start_at(&s, SUBJECT, deadline);
    CHECK_EQ(lawn_next(s.lawn), deadline);
    CHECK_EQ(mow(&s, deadline - 1), 0);
    CHECK_EQ(lawn_next(s.lawn), deadline);
    CHECK_EQ(mow(&s, deadline), 1);
    CHECK_FIRED(&s, SUBJECT);
    CHECK(pending(&s, FAR));
    scene_end(&s);
}

static void
check_boundaries(unsigned bits, bool unqueued)
{

    for (unsigned k = 0; k < 64; k++) {
        uint64_t power = UINT64_C(1) << k;

        for (int64_t d = -1; d <= 1; d++) {
            uint64_t deadline = power + (uint64_t)d;

            check_deadline(bits, unqueued, 0, deadline);
            check_deadline(bits, unqueued, power / 2 + power / 4, deadline);
            check_deadline(bits, unqueued, power - 2, deadline);
            check_deadline(bits, unqueued, power, power + deadline);
        }
    }
}

/* 30. folly 67cb8eed5: a deadline on the boundary was late by one;
 * 44. wahern/timeout 587c7a4: bits of a level removed wrongly */
TEST(a_deadline_at_a_boundary_of_the_index_is_exact)
{
    for (unsigned bits = 4; bits <= 8; bits++) {
        check_boundaries(bits, false);
        check_boundaries(bits, true);
    }
}

/* 35, 36. tokio PR #8334 and #5536, pgdog #1290: panics after 2^30 and 2^36
 * ticks of uptime with one far timer; 41. Linux 66e4b63624fc */
TEST(short_timers_are_exact_after_any_uptime_with_one_far_timer)
{
    static const uint64_t ttls[] = {1, 2, 15, 16, 17, 63, 64, 255, 256, 257};
    struct scene s;

    for (unsigned bits = 4; bits <= 8; bits++) {
        for (int unqueued = 0; unqueued < 2; unqueued++) {
            begin(&s, bits, unqueued != 0, 0);
            for (unsigned k = 2; k < 64; k++) {
                for (int64_t d = -1; d <= 1; d++) {
                    uint64_t power = UINT64_C(1) << k;
                    uint64_t up = power + (uint64_t)d * 300;

                    if ((d < 0 && power < 300) || up < lawn_now(s.lawn)) {
                        continue;
                    }
                    CHECK_EQ(mow(&s, up), 0);
                    for (unsigned i = 0; i < COUNT(ttls); i++) {
                        start(&s, i, ttls[i]);
                    }
                    for (unsigned i = 0; i < COUNT(ttls); i++) {
                        CHECK_EQ(lawn_next(s.lawn), up + ttls[i]);
                        CHECK_EQ(mow(&s, up + ttls[i] - 1), 0);
                        CHECK_EQ(mow(&s, up + ttls[i]), 1);
                    }
                    CHECK_FIRED(&s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
                }
            }
            scene_end(&s);
        }
    }
}

TEST(timers_on_every_level_fire_in_order_when_time_steps_to_each)
{
    struct scene s;
    unsigned i = 0;

    for (unsigned bits = 4; bits <= 8; bits++) {
        for (int unqueued = 0; unqueued < 2; unqueued++) {
            begin(&s, bits, unqueued != 0, 12345);
            for (i = 0; i < 62; i++) {
                start(&s, i, UINT64_C(3) << i);
            }
            for (i = 0; i < 62; i++) {
                uint64_t next = lawn_next(s.lawn);

                CHECK_EQ(next, 12345 + (UINT64_C(3) << i));
                CHECK_EQ(mow(&s, next), 1);
                CHECK_FIRED(&s, i);
            }
            scene_end(&s);
        }
    }
}

/* More entries in a slot than a linear search looks at. */
TEST(a_slot_full_of_timers_is_mown_in_order_however_time_comes)
{
    enum { MANY = 60 };
    static const uint64_t spreads[] = {1, 3, 17, 300};
    struct scene s;
    int ground = 0;

    for (ground = 0; ground < GROUNDS; ground++) {
        for (size_t i = 0; i < COUNT(spreads); i++) {
            scene_begin(&s, (enum ground)ground);
            for (unsigned n = 0; n < MANY; n++) {
                start(&s, n, (1u << 20) + (n * 7 % MANY) * spreads[i]);
            }
            CHECK_EQ(mow(&s, (1u << 20) - 1), 0);
            for (unsigned n = 0; n < MANY; n++) {
                uint64_t next = (1u << 20) + n * spreads[i];

                CHECK_EQ(mow(&s, next), 1);
                CHECK_EQ(s.due[n], next);
            }
            scene_end(&s);
        }
    }
}
