/* loop_common.c - implements loop_common.h. */
#include "loop_common.h"

#include <string.h>

static uint64_t
bench_clock(void *context)
{
    return ((struct bench *)context)->clock;
}

static void
bench_arm(struct lawn_loop *loop, uint64_t when, void *context)
{
    struct bench *bench = context;

    CHECK(lawn_loop_arm_context(loop) == bench);
    bench->armed = when;
    bench->arms++;
}

static void
bench_fire(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct bench *bench = timer->arg;

    CHECK(loop == bench->loop);
    CHECK(lawn_loop_check(loop, stdout));
    CHECK(bench->clock >= timer->due); /* [L1] */
    CHECK(bench->fired < BENCH_LOG);
    bench->id[bench->fired] = bench_id(bench, timer);
    bench->at[bench->fired] = bench->clock;
    bench->due[bench->fired] = timer->due;
    bench->missed[bench->fired] = timer->missed;
    bench->fired++;
    if (bench->act != NULL) {
        bench->act(bench, timer);
    }
}

void
bench_begin(struct bench *bench, const struct lawn_loop_options *options)
{
    struct lawn_loop_options o = {.arm = NULL};

    if (options != NULL) {
        o = *options;
    }
    memset(bench, 0, sizeof(*bench));
    bench->ledger.refuse = SIZE_MAX;
    bench->armed = LAWN_NEVER;
    bench->clock = 1000;
    o.lawn.alloc = trial_alloc;
    o.lawn.release = trial_release;
    o.lawn.context = &bench->ledger;
    o.clock = bench_clock;
    o.clock_context = bench;
    o.arm = bench_arm;
    o.arm_context = bench;
    bench->loop = lawn_loop_new(&o);
    CHECK(bench->loop != NULL);
    for (unsigned i = 0; i < BENCH_TIMERS; i++) {
        bench->timer[i].fire = bench_fire;
        bench->timer[i].arg = bench;
    }
}

void
bench_end(struct bench *bench)
{
    CHECK(lawn_loop_check(bench->loop, stdout));
    lawn_loop_free(bench->loop);
    CHECK_EQ(bench->ledger.blocks, 0);
}

uint64_t
turn_at(struct bench *bench, uint64_t now)
{
    bench->clock = now;
    uint64_t next = lawn_loop_turn(bench->loop);
    CHECK_EQ(next, lawn_loop_next(bench->loop));
    CHECK(lawn_loop_check(bench->loop, stdout));
    return next;
}

unsigned
bench_id(const struct bench *bench, const struct lawn_loop_timer *timer)
{
    return (unsigned)(timer - bench->timer);
}

void
check_rang(struct bench *bench, const unsigned *ids, size_t count,
           const char *file, int line)
{
    for (size_t i = 0; i < count && i < bench->fired; i++) {
        if (bench->id[i] != ids[i]) {
            kit_fail(file, line, "fire %zu is of %u, expected %u", i,
                     bench->id[i], ids[i]);
        }
    }
    if (bench->fired != count) {
        kit_fail(file, line, "%u fired, expected %zu", bench->fired, count);
    }
    bench->fired = 0;
}
