/* workload_expiry.c - W9: all timers are due at once, and fire with a
 * budget. */
#include "workload.h"

#define EXPIRY_TICKS 100u
#define EXPIRY_BUDGET 1000u

void
expiry_ttls(struct run *run)
{
    if (!run_list_ttls(run, 20)) {
        return;
    }
    for (uint64_t i = 0; i < 20; i++) {
        run->ttls[i] = 1000 + 5 * i;
    }
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, random_below(&run->random, 20));
    }
}

/* Starts all timers, and fires all of them. */
static void
expire_all(struct run *run)
{
    uint64_t n = run->cell->n;
    uint64_t start = run->now;
    uint64_t fired = 0;

    for (uint64_t i = 0; i < n; i++) {
        run_start(run, run->order[i]);
        if (i % (n / EXPIRY_TICKS + 1) == 0) {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
    run_weigh(run);
    run_begin(run, 0);
    uint64_t took = 0;
    do {
        took = run_mow(run, start + 2000, EXPIRY_BUDGET);
        fired += took;
    } while (took != 0 && run_goes_on(run));
    run_finish(run, fired);
}

/* Repeats until the time is long enough to measure. */
void
expiry_play(struct run *run)
{
    uint64_t rounds = run->cell->n < 100000 ? 100000 / run->cell->n : 1;

    for (uint64_t i = 0; i < rounds && run_goes_on(run); i++) {
        expire_all(run);
    }
    if (run->end != RUN_OK) {
        run->stages[0].ops = 0;
    }
}
