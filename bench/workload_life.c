/* workload_life.c - W1 to W5: one life of a server, one stage each.
 *
 * All timers are started (W1) and stopped (W2), started again and restarted at
 * random (W3). Some serve as request deadlines (W5). Then all are started
 * again, spread over the longest TTL, and fire and start again (W4). So later
 * stages run on a structure that has been in use, and the five workloads take
 * one life instead of five. A contender that is given up in a stage has no
 * figures for later stages.
 */
#include "workload.h"

/* LIFE_WINDOW request deadlines are in flight at a time. One request in
 * LIFE_LOST is lost. */
#define LIFE_WINDOW 256u
#define LIFE_LOST 1000u

/* Advances the clock every 1000 operations. Returns whether to continue. */
static bool
pass_tick(struct run *run, uint64_t done)
{
    if (done % WORKLOAD_PER_TICK == 0) {
        run_tick(run);
    }
    return done % WORKLOAD_STEP != 0 || run_goes_on(run);
}

/* Starts all timers in random order. */
static void
fill_up(struct run *run)
{
    uint64_t n = run->cell->n;

    for (uint64_t i = 0; i < n && pass_tick(run, i + 1); i++) {
        run_start(run, run->order[i]);
    }
}

static void
play_start(struct run *run)
{
    run_begin(run, LIFE_START);
    fill_up(run);
    run_finish(run, run->cell->n);
    run_weigh(run);
}

static void
play_stop(struct run *run)
{
    uint64_t n = run->cell->n;

    run_begin(run, LIFE_STOP);
    for (uint64_t i = 0; i < n && pass_tick(run, i + 1); i++) {
        run_stop(run, run->again[i]);
    }
    run_finish(run, n);
    if (run->last_stage > LIFE_STOP) {
        fill_up(run);
    }
}

static void
play_restart(struct run *run)
{
    uint64_t ops = workload_ops(run);

    run_begin(run, LIFE_RESTART);
    for (uint64_t i = 0; i < ops && pass_tick(run, i + 1); i++) {
        run_start(run, random_below(&run->random, run->cell->n));
    }
    run_finish(run, ops);
    if (run->last_stage > LIFE_RESTART) {
        for (uint64_t i = run->cell->n / 2; i < run->cell->n; i++) {
            run_stop(run, run->order[i]);
        }
    }
}

/* The objects of the second half of run->order are requests; their timers were
 * stopped before. Lost requests fire, or are started again in their turn. */
static void
play_deadlines(struct run *run)
{
    uint64_t ops = workload_ops(run);
    uint64_t half = run->cell->n / 2;
    uint64_t many = run->cell->n - half;
    const uint32_t *requests = run->order + half;
    uint64_t window = many / 2 < LIFE_WINDOW ? many / 2 : LIFE_WINDOW;
    uint64_t next = 0;
    uint64_t old = many - window;

    run_begin(run, LIFE_DEADLINES);
    for (uint64_t i = 0; i < ops && pass_tick(run, i + 1); i++) {
        run_start(run, requests[next]);
        if (random_below(&run->random, LIFE_LOST) != 0) {
            run_stop(run, requests[old]);
        }
        next = next + 1 < many ? next + 1 : 0;
        old = old + 1 < many ? old + 1 : 0;
    }
    run_finish(run, ops);
}

/* Starts all timers again, evenly over a number of ticks. */
static void
spread_starts(struct run *run, uint64_t ticks)
{
    uint64_t n = run->cell->n;
    uint64_t done = 0;

    for (uint64_t tick = 1; tick <= ticks; tick++) {
        uint64_t upto = (uint64_t)((double)n * (double)tick / (double)ticks);

        for (; done < upto; done++) {
            run_start(run, run->again[done]);
        }
        run_tick(run);
        if (tick % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
}

static void
play_churn(struct run *run)
{
    uint64_t fires = workload_ops(run);
    uint64_t longest = run->ttls[run->cell->t - 1];
    uint64_t fired = 0;
    uint64_t ticks = 0;

    spread_starts(run, longest);
    run_begin(run, LIFE_CHURN);
    while (fired < fires) {
        fired += run_tick(run);
        if (++ticks % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            break;
        }
    }
    run_finish(run, fired);
}

void
life_play(struct run *run)
{
    static void (*const stages[RUN_STAGES])(struct run *) = {
        [LIFE_START] = play_start,         [LIFE_RESTART] = play_restart,
        [LIFE_DEADLINES] = play_deadlines, [LIFE_CHURN] = play_churn,
        [LIFE_STOP] = play_stop,
    };

    run->fire = run_fire_again;
    for (unsigned i = 0; i <= run->last_stage && run_goes_on(run); i++) {
        run->stage = i;
        stages[i](run);
    }
}
