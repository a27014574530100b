/* loop_museum.c - bugs of other libraries that a loop could have. The numbers
 * are those of museum.c. */
#include "loop_common.h"

#include <limits.h>
#include <poll.h>

static void
do_nothing(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)loop;
    (void)timer;
}

/* 25. libuv 9b619396d: a wait of more milliseconds than an int holds became
 * negative. Tested with the host's hook and with the descriptor. */
TEST(a_wait_longer_than_an_int_has_milliseconds_is_as_long_as_it_is)
{
    static const uint64_t far[] = {UINT64_C(1000000) * INT_MAX,
                                   UINT64_C(1000000) * (1 + (uint64_t)INT_MAX),
                                   UINT64_C(1000000) * UINT_MAX,
                                   UINT64_C(1) << 62, UINT64_C(1) << 63};

    for (size_t i = 0; i < COUNT(far); i++) {
        struct bench bench;
        struct lawn_loop *loop = lawn_loop_new(NULL);
        struct lawn_loop_timer timer = {.fire = do_nothing};

        bench_begin(&bench, NULL);
        lawn_loop_start(bench.loop, &bench.timer[0], far[i]);
        CHECK_EQ(bench.armed, 1000 + far[i]);
        CHECK_EQ(turn_at(&bench, 1000), 1000 + far[i]);
        CHECK_EQ(turn_at(&bench, 999 + far[i]), 1000 + far[i]);
        CHECK_NONE_RANG(&bench);
        (void)turn_at(&bench, 1000 + far[i]);
        CHECK_RANG(&bench, 0);
        bench_end(&bench);

        CHECK(loop != NULL);
        lawn_loop_start(loop, &timer, far[i]);
        struct pollfd readable =
            (struct pollfd){.fd = lawn_loop_fd(loop), .events = POLLIN};
        CHECK(readable.fd >= 0);
        CHECK_EQ(poll(&readable, 1, 0), 0);
        CHECK(lawn_loop_stop(loop, &timer));
        lawn_loop_free(loop);
    }
}

static void
change_its_period(struct bench *bench, struct lawn_loop_timer *timer)
{
    if (bench->fired == 2) {
        lawn_loop_every(bench->loop, timer, 7, 0);
    }
}

/* 44. wahern/timeout d00a376: a repeating timer was restarted with its old
 * interval; Netty #1246: a timer with the wrong unit fired continuously. */
TEST(a_period_changed_in_its_callback_counts_from_there_and_does_not_spin)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    bench.act = change_its_period;
    lawn_loop_every(bench.loop, &bench.timer[0], 100, 0);
    for (uint64_t now = 1000; now <= 1221; now++) {
        (void)turn_at(&bench, now);
    }
    CHECK_RANG(&bench, 0, 0, 0, 0, 0);
    CHECK_EQ(bench.due[0], 1100);
    CHECK_EQ(bench.due[1], 1200);
    CHECK_EQ(bench.due[2], 1207);
    CHECK_EQ(bench.due[3], 1214);
    CHECK_EQ(bench.due[4], 1221);
    CHECK_EQ(bench.armed, 1228);
    bench_end(&bench);
}
