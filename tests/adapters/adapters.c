/* adapters.c - what must hold of a loop in whatever event loop it lives.
 *
 * Time is the real one here, for that is what adapters are about: tests wait on
 * what happens, and judge by the clock only that nothing is early.
 */
#include "host.h"
#include "kit.h"

struct stage {
    void *host;
    struct lawn_loop *loop;
    unsigned fired;
};

static void
stage_begin(struct stage *stage)
{
    *stage = (struct stage){.host = host.open()};
    stage->loop = host.attach(stage->host, NULL);
    CHECK(stage->loop != NULL);
}

static void
stage_end(struct stage *stage)
{
    CHECK(lawn_loop_check(stage->loop, stderr));
    host.detach(stage->loop);
    host.close(stage->host);
}

static void
stop_after_one(struct lawn_loop_timer *timer, void *arg)
{
    struct stage *stage = arg;

    CHECK(lawn_loop_now(stage->loop) >= timer->due);
    stage->fired++;
    host.stop(stage->host);
}

TEST(a_timer_fires_when_it_is_due_and_not_before)
{
    struct stage stage;
    struct lawn_loop_timer timer = {.fire = stop_after_one, .arg = &stage};
    uint64_t begin;

    stage_begin(&stage);
    begin = lawn_loop_update(stage.loop);
    lawn_loop_start(stage.loop, &timer, 3 * LAWN_LOOP_MS);
    host.run(stage.host);
    CHECK_EQ(stage.fired, 1);
    CHECK(lawn_loop_update(stage.loop) - begin >= 3 * LAWN_LOOP_MS);
    stage_end(&stage);
}
