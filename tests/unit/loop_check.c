/* loop_check.c - lawn_loop_check() reports each broken invariant. */
#include "../../src/loop/loop.h"
#include "loop_common.h"

#include <stdlib.h>
#include <string.h>

/* Checks that the fault is reported with its number; the caller then repairs
 * the loop. */
static void
check_names(struct bench *bench, const char *invariant)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CHECK(out != NULL);
    CHECK(!lawn_loop_check(bench->loop, out));
    CHECK(!lawn_loop_check(bench->loop, NULL));
    CHECK_EQ(fclose(out), 0);
    CHECK(strstr(text, invariant) != NULL);
    free(text);
}

TEST(a_check_of_a_loop_reports_each_broken_invariant)
{
    struct bench bench;

    bench_begin(&bench, NULL);
    struct lawn_loop *loop = bench.loop;
    loop->armed = 7;
    check_names(&bench, "[K1] a wake-up is set, but no timer is running");
    loop->armed = LAWN_NEVER;
    lawn_loop_start(loop, &bench.timer[0], 100);
    CHECK(lawn_loop_check(loop, stdout));
    loop->armed = 1101;
    check_names(&bench, "[K1] the wake-up is after the earliest deadline");
    loop->armed = 1100;
    loop->lateness.count = 1;
    check_names(&bench, "[K3]");
    loop->lateness.count = 0;
    loop->current = &bench.timer[0];
    check_names(&bench, "[K4]");
    loop->current = NULL;
    loop->behinds = 1;
    check_names(&bench, "[K5]");
    loop->behinds = 0;
    loop->shown = true;
    loop->set = 1101;
    check_names(&bench, "[K2]");
    loop->shown = false;
    loop->set = LAWN_NEVER;
    struct lawn_link *link = bench.timer[0].timer.link.next->prev;
    bench.timer[0].timer.link.next->prev = NULL;
    check_names(&bench, "[I2]");
    bench.timer[0].timer.link.next->prev = link;
    bench_end(&bench);
}

TEST(a_check_of_a_loop_reports_each_broken_invariant_of_its_classes)
{
    struct lawn_loop_options options = {.lawn.classes = 2};
    struct bench bench;

    bench_begin(&bench, &options);
    struct lawn_loop *loop = bench.loop;
    struct lawn_loop_class *cls = lawn_loop_class_new(loop, 100, "one");
    CHECK(cls != NULL && lawn_loop_check(loop, stdout));
    lawn_class_start(cls->core, &bench.timer[0].timer);
    CHECK_EQ(lawn_class_clear(cls->core), 1);
    check_names(&bench, "[K6]");
    CHECK(lawn_class_take(cls->core) != NULL);
    struct lawn_class *core = lawn_class_new(loop->lawn, 100, "two");
    check_names(&bench, "[K7]");
    CHECK(lawn_class_free(core));
    loop->classes[1] = *cls;
    check_names(&bench, "[K7]");
    loop->classes[1].core = NULL;
    cls->time = 1;
    check_names(&bench, "[K8] the time in callbacks of a class is wrong");
    cls->time = 0;
    lawn_loop_start_in(cls, &bench.timer[0]);
    (void)turn_at(&bench, 1100);
    cls->time_max = 1;
    check_names(&bench, "[K8] the time in callbacks of a class is wrong");
    cls->time_max = 0;
    loop->firing = cls;
    check_names(&bench, "[K8] a class fires outside of a turn");
    loop->firing = NULL;
    bench_end(&bench);
}

/* Stopped timers leave empty slots in the index. If no timer is running, the
 * loop does not examine them. After the next start they are too many for one
 * call of lawn_next(), which then returns a time before the deadline. */
TEST(a_wakeup_remains_set_after_many_timers_were_stopped)
{
    enum { LEVELS = 6, SLOTS = 100, MANY = LEVELS * SLOTS };
    static struct lawn_loop_timer timers[MANY];
    struct bench bench;

    bench_begin(&bench, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        timers[i] = bench.timer[0];
        lawn_loop_start(bench.loop, &timers[i],
                        (UINT64_C(2) + i % SLOTS) << 7 * (i / SLOTS));
    }
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(lawn_loop_stop(bench.loop, &timers[i]));
    }
    CHECK_EQ(bench.armed, LAWN_NEVER);
    lawn_loop_start(bench.loop, &bench.timer[0], UINT64_C(1) << 50);
    CHECK_EQ(bench.armed, (UINT64_C(1) << 50) + 1000);
    /* Nor does a turn set an earlier wake-up [L2]. */
    unsigned arms = bench.arms;
    CHECK(lawn_loop_turn(bench.loop) < bench.armed);
    CHECK_EQ(bench.arms, arms);
    CHECK(lawn_loop_check(bench.loop, stdout));
    CHECK(lawn_loop_stop(bench.loop, &bench.timer[0]));
    bench_end(&bench);
}
