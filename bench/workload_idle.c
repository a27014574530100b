/* workload_idle.c - W8: ticks without due timers, and jumps of the clock. */
#include "workload.h"

#define IDLE_MOWS 500000u
#define IDLE_JUMP_EACH 5000u
#define IDLE_JUMP 10000u
#define IDLE_TTL (UINT64_C(1) << 22)

void
idle_ttls(struct run *run)
{
    if (!run_list_ttls(run, 20)) {
        return;
    }
    for (uint64_t i = 0; i < 20; i++) {
        run->ttls[i] = IDLE_TTL + i * (IDLE_TTL / 20);
    }
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, random_below(&run->random, 20));
    }
}

void
idle_play(struct run *run)
{
    uint64_t mows = run->cell->ops != 0 ? run->cell->ops : IDLE_MOWS;

    if (!workload_fill(run)) {
        return;
    }
    run_weigh(run);
    run_begin(run, 0);
    for (uint64_t i = 1; i <= mows; i++) {
        if (i % IDLE_JUMP_EACH == 0) {
            run_mow(run, run->now + IDLE_JUMP, SIZE_MAX);
        } else {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
    run_finish(run, mows);
}
