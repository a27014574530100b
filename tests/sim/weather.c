/* weather.c - scheduling, clocks, and faults: replaces choose.c and clock.c of
 * tests/explore.
 *
 * Each fibre has its own clock, which never runs back. With skew, it is ahead
 * of a common clock by some ticks. The common clock moves a little at some
 * steps, sometimes jumps, and moves to the first wake-up of a sleeping fibre if
 * no fibre can run. A stalled fibre does not run until its time; if that takes
 * too many steps, the clock jumps there. */
#include "sim.h"

#include "../explore/choose.h"
#include "../explore/run_threads.h"

#include <string.h>

#define WEATHER_STALL 1000000 /* ticks */
#define WEATHER_SPINS 300
#define WEATHER_PATIENCE 60000u /* maximum steps of a phase without faults */

struct weather_stall {
    uint64_t until; /* on the common clock */
    uint64_t step;  /* after which the clock jumps there */
};

bool weather_calm;
unsigned weather_busy;
uint64_t weather_steps;

static struct rng dice;
static uint64_t now; /* the common clock */
static uint64_t ahead[EXPLORE_FIBRES + 1];
static uint64_t shown[EXPLORE_FIBRES + 1];
static uint64_t skew_most;
static unsigned spins; /* since time has passed */
static struct weather_stall stalls[EXPLORE_FIBRES];
static bool slept[EXPLORE_FIBRES];
static unsigned priorities[EXPLORE_FIBRES];

void
weather_begin(void)
{
    dice.state = sim_plan.seed * 3 + 1;
    now = rng_below(&dice, 4) == 0
              ? rng_next(&dice) >> (1 + rng_below(&dice, 60))
              : 0;
    weather_calm = true;
    weather_busy = 0;
    weather_steps = 0;
    spins = 0;
    memset(ahead, 0, sizeof(ahead));
    memset(shown, 0, sizeof(shown));
    memset(stalls, 0, sizeof(stalls));
    memset(slept, 0, sizeof(slept));
    skew_most = UINT64_C(1) << rng_below(&dice, 14);
    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        priorities[i] = 1000 + (unsigned)rng_below(&dice, 1000);
    }
}

bool
weather_fault(enum sim_fault fault, unsigned one_in)
{
    if (weather_calm || (sim_plan.faults >> fault & 1) == 0 ||
        rng_below(&dice, one_in) != 0) {
        return false;
    }
    sim_counts.faults[fault]++;
    return true;
}

/* Clocks. */

static uint64_t
time_of(unsigned fibre)
{
    uint64_t time = sim_sum(now, ahead[fibre]);

    if (time > shown[fibre]) {
        shown[fibre] = time;
    }
    return shown[fibre];
}

void
run_set_clock(void)
{
    explore_name(&now, sizeof(now), "clock");
}

uint64_t
run_clock(unsigned fibre)
{
    if (fibre == run_current && run_running) {
        explore_saw(&now, sizeof(now));
        explore_saw(&ahead[fibre], sizeof(ahead[fibre]));
    }
    return time_of(fibre);
}

uint64_t
weather_time(void)
{
    return time_of(run_current);
}

uint64_t
weather_latest(void)
{
    uint64_t latest = 0;

    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        uint64_t time = time_of(i);

        latest = time > latest ? time : latest;
    }
    return latest;
}

uint64_t
weather_earliest(void)
{
    uint64_t earliest = LAWN_NEVER;

    for (unsigned i = 0; i < EXPLORE_FIBRES; i++) {
        uint64_t time = time_of(i);

        earliest = time < earliest ? time : earliest;
    }
    return earliest;
}

void
weather_pass(uint64_t ticks)
{
    now = sim_sum(now, ticks);
}

void
weather_clear_up(void)
{
    weather_calm = true;
    now = weather_latest();
    memset(ahead, 0, sizeof(ahead));
    memset(stalls, 0, sizeof(stalls));
}

/* A fibre that yields may wait for something that others do not change, for
 * example its own mailbox, which it takes in several steps. */
static bool
let_yielded_go_on(unsigned most)
{
    bool any = false;

    for (unsigned i = 0; i < run_thread_count && spins < most; i++) {
        if (run_threads[i].state == RUN_YIELDED) {
            run_threads[i].news = true;
            any = true;
        }
    }
    spins += any;
    return any;
}

/* Returns the first wake-up of a sleeping fibre, on the common clock. */
static uint64_t
first_wake(void)
{
    uint64_t first = RUN_NEVER;

    for (unsigned i = 0; i < run_thread_count; i++) {
        const struct run_thread *thread = &run_threads[i];

        if (thread->state == RUN_ASLEEP && thread->until != RUN_NEVER) {
            uint64_t at =
                thread->until > ahead[i] ? thread->until - ahead[i] : 0;

            first = at < first ? at : first;
        }
    }
    return first;
}

bool
run_pass_time(void)
{
    uint64_t first = weather_busy > 0 ? first_wake() : RUN_NEVER;

    if (let_yielded_go_on(first == RUN_NEVER ? WEATHER_SPINS : 2)) {
        return true;
    }
    world_expect_no_lost_wake();
    if (first == RUN_NEVER) {
        return false;
    }
    if (first <= now) {
        explore_fail("a fibre did not wake in time");
    }
    now = first;
    spins = 0;
    return true;
}

/* Faults. */

static void
stall(unsigned fibre, uint64_t ticks, unsigned steps)
{
    stalls[fibre].until = sim_sum(now, ticks);
    stalls[fibre].step = weather_steps + steps;
    sim_log("(%c stalls for %llu)", 'a' + (int)fibre,
            (unsigned long long)ticks);
}

static bool
is_stalled(unsigned fibre)
{
    struct weather_stall *one = &stalls[fibre];

    if (one->until > now && weather_steps >= one->step) {
        now = one->until;
    }
    return one->until > now;
}

/* A woken fibre continues later. */
static void
delay_woken(void)
{
    for (unsigned i = 0; i < run_thread_count; i++) {
        if (run_threads[i].state == RUN_ASLEEP) {
            slept[i] = true;
        } else if (slept[i]) {
            slept[i] = false;
            if (weather_fault(SIM_LATE, 6)) {
                stall(i, 1 + rng_below(&dice, 200),
                      50 + (unsigned)rng_below(&dice, 300));
            }
        }
    }
}

static void
make_weather(void)
{
    unsigned fibre = (unsigned)rng_below(&dice, run_thread_count);
    struct run_thread *thread = &run_threads[fibre];

    if (rng_below(&dice, sim_plan.tempo) == 0) {
        now = sim_sum(now, 1 + rng_below(&dice, 3));
    }
    delay_woken();
    if (thread->state != RUN_DONE && !is_stalled(fibre) &&
        weather_fault(SIM_STALL, 2000)) {
        bool long_one = rng_below(&dice, 2) == 0;

        stall(fibre, long_one ? WEATHER_STALL : 1 + rng_below(&dice, 2000),
              20 + (unsigned)rng_below(&dice, 3000));
    }
    if (weather_fault(SIM_SKEW, 500)) {
        ahead[fibre] = rng_below(&dice, skew_most);
        sim_log("(%c is ahead by %llu)", 'a' + (int)fibre,
                (unsigned long long)ahead[fibre]);
    }
    if (weather_fault(SIM_JUMP, 3000)) {
        now = sim_sum(now, UINT64_C(1) << rng_below(&dice, 20));
        sim_log("(it is %llu)", (unsigned long long)now);
    }
    if (thread->state == RUN_ASLEEP && weather_fault(SIM_SPURIOUS, 300)) {
        thread->state = RUN_READY;
        sim_log("(%c wakes for no reason)", 'a' + (int)fibre);
    }
}

/* Scheduling. */

void
choose_begin(void)
{
}

bool
choose_idle(void)
{
    return false;
}

static unsigned
choose_free(const struct choose_option *options, const unsigned *able,
            unsigned count)
{
    unsigned best = able[0];

    if (sim_plan.one_in != 0 || weather_calm) {
        unsigned one_in = weather_calm ? 8 : sim_plan.one_in;
        bool stays = options[able[0]].cost == 0 && able[0] == 0;

        if (stays && rng_below(&dice, one_in) != 0) {
            return 0;
        }
        return able[rng_below(&dice, count)];
    }
    if (rng_below(&dice, 300) == 0) {
        priorities[options[able[0]].fibre] = (unsigned)rng_below(&dice, 2000);
    }
    for (unsigned i = 0; i < count; i++) {
        const struct choose_option *option = &options[able[i]];

        if (option->kind != CHOOSE_RUN) {
            if (rng_below(&dice, 6) == 0) {
                return able[i];
            }
        } else if (options[best].kind != CHOOSE_RUN ||
                   priorities[option->fibre] >
                       priorities[options[best].fibre]) {
            best = able[i];
        }
    }
    return best;
}

/* All fibres that could run are stalled: the first one continues at its
 * time. */
static unsigned
end_stall(const struct choose_option *options, unsigned count)
{
    unsigned first = 0;

    for (unsigned i = 1; i < count; i++) {
        if (stalls[options[i].fibre].until <
            stalls[options[first].fibre].until) {
            first = i;
        }
    }
    now = stalls[options[first].fibre].until;
    return first;
}

unsigned
choose(const struct choose_option *options, unsigned count, unsigned step)
{
    unsigned able[CHOOSE_OPTIONS] = {0};
    unsigned n = 0;

    (void)step;
    sim_counts.choices++;
    weather_steps++;
    if (weather_calm && weather_steps > WEATHER_PATIENCE) {
        explore_fail("unfinished after %u steps without faults",
                     WEATHER_PATIENCE);
    }
    if (!weather_calm) {
        make_weather();
    }
    for (unsigned i = 0; i < count; i++) {
        bool runs = options[i].kind != CHOOSE_FLUSH;
        bool delays = options[i].kind == CHOOSE_DELAY;

        if ((runs && is_stalled(options[i].fibre)) ||
            (delays && rng_below(&dice, 3) != 0)) {
            continue;
        }
        able[n++] = i;
    }
    unsigned chosen =
        n > 0 ? choose_free(options, able, n) : end_stall(options, count);
    if (options[chosen].kind == CHOOSE_DELAY) {
        sim_counts.faults[SIM_DELAY]++;
    }
    return chosen;
}
