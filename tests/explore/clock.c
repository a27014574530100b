/* clock.c - one clock for all fibres. It moves only if a scenario moves it, or
 * if all fibres sleep in a scenario in which time passes. */
#include "run_threads.h"

uint64_t explore_now;

void
run_set_clock(void)
{
    explore_keep(&explore_now, sizeof(explore_now));
    explore_name(&explore_now, sizeof(explore_now), "clock");
    explore_now = 0;
}

uint64_t
run_clock(unsigned fibre)
{
    if (fibre == run_current && run_running) {
        explore_saw(&explore_now, sizeof(explore_now));
    }
    return explore_now;
}

bool
run_pass_time(void)
{
    uint64_t first = RUN_NEVER;

    for (unsigned i = 0; i < run_thread_count; i++) {
        if (run_threads[i].state == RUN_ASLEEP &&
            run_threads[i].until < first) {
            first = run_threads[i].until;
        }
    }
    if (first == RUN_NEVER) {
        return false;
    }
    explore_now = first;
    explore_print("it is %llu", (unsigned long long)first);
    return true;
}
