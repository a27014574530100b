/* workload_random.c - W10: an unlimited number of TTLs.
 *
 * Each start draws a new TTL from a whole range. Half of the starts are
 * restarts of random running timers, as for packets and replies. The others
 * start timers that have just fired.
 */
#include "workload.h"

#include <math.h>

/* A logarithm for each start would be measured too. So lognormal TTLs are taken
 * from a table, and each is varied by up to a sixteenth. */
#define RANDOM_TABLE 4096u
#define RANDOM_LONGEST (1u << 20)
/* The longest TTL is this many ticks times the number of timers. The mean TTL
 * is half of that: without restarts, one timer would fire every three ticks on
 * average. Half of the starts are restarts, so one fires about every four. */
#define RANDOM_TICKS 6u

static uint32_t random_table[RANDOM_TABLE];
static uint64_t random_longest;
static uint64_t (*random_ttl)(uint64_t random); /* from random bits */

static uint64_t
draw_uniform(uint64_t random)
{
    return 1 + (((random & UINT32_MAX) * random_longest) >> 32);
}

static uint64_t
draw_lognormal(uint64_t random)
{
    uint64_t ttl = random_table[random % RANDOM_TABLE];

    return ttl + (((random >> 12 & 0xffff) * (ttl / 16)) >> 16);
}

static uint64_t
draw_backoff(uint64_t random)
{
    unsigned k = 4 + (unsigned)((random & 0xff) * 13 >> 8);

    return 1 + (random >> 8 & ((UINT64_C(1) << k) - 1));
}

static void
start_all(struct run *run)
{
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_object(run, i)->ttl = random_ttl(random_next(&run->random));
    }
}

/* With few timers, TTLs are shorter. Otherwise nearly all measured mows would
 * find nothing due. */
void
random_ttls_uniform(struct run *run)
{
    uint64_t most = RANDOM_TICKS * run->cell->n;

    random_longest = most < RANDOM_LONGEST ? most : RANDOM_LONGEST;
    random_ttl = draw_uniform;
    start_all(run);
}

void
random_ttls_lognormal(struct run *run)
{
    const double pi = 3.14159265358979323846;

    for (size_t i = 0; i < RANDOM_TABLE; i++) {
        double u = 1 - random_unit(&run->random);
        double v = random_unit(&run->random);
        double ttl = 200 * exp(sqrt(-2 * log(u)) * cos(2 * pi * v));

        random_table[i] =
            ttl < 1 ? 1
                    : (ttl > RANDOM_LONGEST ? RANDOM_LONGEST : (uint32_t)ttl);
    }
    random_ttl = draw_lognormal;
    start_all(run);
}

void
random_ttls_backoff(struct run *run)
{
    random_ttl = draw_backoff;
    start_all(run);
}

/* The new TTL depends on the timer and the time, not on the order in which
 * timers fire. */
static void
on_fire(struct object *object, void *arg)
{
    struct run *run = (struct run *)arg;

    run_note(run, object);
    object->ttl = random_ttl(random_mix(run->stamp + object->id));
    run->contender->start(run->self, object, object->ttl);
}

/* Does a number of starts: in each tick as many restarts as timers fired. */
static uint64_t
play_some(struct run *run, uint64_t starts)
{
    uint64_t done = 0;
    uint64_t ticks = 0;

    while (done < starts) {
        size_t fired = run_tick(run);

        for (size_t i = 0; i < fired; i++) {
            uint64_t random = random_next(&run->random);
            uint64_t which = ((random >> 32) * run->cell->n) >> 32;

            run_object(run, which)->ttl = random_ttl(random);
            run_start(run, which);
        }
        done += 2 * fired;
        if (++ticks % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            break;
        }
    }
    return done;
}

void
random_play(struct run *run)
{
    run->fire = on_fire;
    if (!workload_fill(run)) {
        return;
    }
    play_some(run, workload_ops(run));
    run_weigh(run);
    run_begin(run, 0);
    uint64_t done = play_some(run, workload_ops(run));
    run_finish(run, done);
}
