/* count.c - loops whose instructions callgrind counts.
 *
 * Run under valgrind with --toggle-collect='loop_*', see tools/figures: what
 * counts is what the library does when a loop_ function calls it, from the
 * first instruction of the called function to its last; not the call itself,
 * and not the loop. There are 8 TTLs. Everything is hot: each TTL has its
 * blades, and these hold timers.
 */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT_TTLS 8u
#define COUNT_BLOCKS 100u
#define COUNT_BLOCK 100u
#define COUNT_FILL 64u
#define COUNT_IDLE 5000u
#define COUNT_PASS 4000u
#define COUNT_LONE 100000u
#define COUNT_FIRES 50000u

static const uint64_t count_ttls[COUNT_TTLS] = {
    10000, 25000, 50000, 100000, 200000, 300000, 500000, 1000000};

struct count {
    struct lawn *lawn;
    struct lawn_timer *timers; /* many, and COUNT_BLOCK more */
    size_t many;
    uint64_t now;
    uint64_t fired;
};

/* Each loop sets it to something else, or the compiler makes one function of
 * two loops that are alike. */
static volatile int count_loop;

static uint64_t
count_ttl(size_t i)
{
    return count_ttls[i % COUNT_TTLS];
}

static void
count_again(struct lawn_timer *timer, void *arg)
{
    struct count *count = (struct count *)arg;

    lawn_start(count->lawn, timer, count_ttl((size_t)(timer - count->timers)));
}

__attribute__((noinline)) static void
loop_start(struct count *count, struct lawn_timer *timers)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        lawn_start(count->lawn, &timers[i], count_ttl(i));
    }
}

__attribute__((noinline)) static void
loop_restart(struct count *count, struct lawn_timer *timers)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        lawn_start(count->lawn, &timers[i], count_ttl(i));
    }
}

__attribute__((noinline)) static void
loop_stop(struct count *count, struct lawn_timer *timers)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_stop(count->lawn, &timers[i]);
    }
}

__attribute__((noinline)) static void
loop_stop_start(struct count *count, struct lawn_timer *timers)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_stop(count->lawn, &timers[i]);
        lawn_start(count->lawn, &timers[i], count_ttl(i));
    }
}

__attribute__((noinline)) static void
loop_next(struct count *count)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_next(count->lawn);
    }
}

__attribute__((noinline)) static void
loop_idle(struct count *count)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_IDLE; i++) {
        count->fired +=
            lawn_mow(count->lawn, ++count->now, SIZE_MAX, count_again, count);
    }
}

__attribute__((noinline)) static void
loop_pass(struct count *count)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_PASS; i++) {
        count->fired +=
            lawn_mow(count->lawn, ++count->now, SIZE_MAX, count_again, count);
    }
}

/* Only for loop_fire(): its calls are what fired there. */
static void
fire_again(struct lawn_timer *timer, void *arg)
{
    count_loop = __LINE__;
    count_again(timer, arg);
}

__attribute__((noinline)) static void
loop_fire(struct count *count, uint64_t fires)
{
    uint64_t fired = 0;

    count_loop = __LINE__;
    while (fired < fires) {
        fired +=
            lawn_mow(count->lawn, ++count->now, SIZE_MAX, fire_again, count);
    }
}

__attribute__((noinline)) static void
loop_lone(struct count *count, struct lawn_timer *timers, uint64_t ttl)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        lawn_start(count->lawn, &timers[i], ttl + i);
    }
}

__attribute__((noinline)) static void
loop_alone(struct count *count, struct lawn_timer *timers, uint64_t ttl)
{
    size_t i;

    count_loop = __LINE__;
    for (i = 0; i < COUNT_BLOCK; i++) {
        lawn_start(count->lawn, &timers[i], ttl + i);
    }
}

static void
count_tick(struct count *count)
{
    count->fired +=
        lawn_mow(count->lawn, ++count->now, SIZE_MAX, count_again, count);
}

static void
count_init(struct count *count, size_t many)
{
    count->lawn = (struct lawn *)figures_need(lawn_new(NULL));
    count->timers = (struct lawn_timer *)figures_need(
        calloc(many + COUNT_BLOCK, sizeof *count->timers));
    count->many = many;
    count->now = 0;
    count->fired = 0;
}

static void
count_fini(struct count *count)
{
    lawn_free(count->lawn);
    free(count->timers);
}

/* Starts all timers within so many ticks. */
static void
count_fill(struct count *count, uint64_t ticks)
{
    uint64_t tick;
    size_t done = 0;

    for (tick = 1; tick <= ticks; tick++) {
        for (; done < count->many * tick / ticks; done++) {
            lawn_start(count->lawn, &count->timers[done], count_ttl(done));
        }
        count_tick(count);
    }
}

/* Runs a loop over the spare timers, block after block, a tick apart. */
static void
count_blocks(struct count *count,
             void (*loop)(struct count *, struct lawn_timer *), bool stop)
{
    struct lawn_timer *timers = &count->timers[count->many];
    size_t block;
    size_t i;

    for (block = 0; block < COUNT_BLOCKS; block++) {
        loop(count, timers);
        for (i = 0; stop && i < COUNT_BLOCK; i++) {
            (void)lawn_stop(count->lawn, &timers[i]);
        }
        count_tick(count);
    }
}

static void
count_start_stop(struct count *count)
{
    struct lawn_timer *timers = &count->timers[count->many];
    size_t block;
    size_t i;

    /* Once without counting: the stripes of all TTLs get their blades. */
    for (block = 0; block < COUNT_BLOCKS; block++) {
        for (i = 0; i < COUNT_BLOCK; i++) {
            lawn_start(count->lawn, &timers[i], count_ttl(i));
        }
        count_tick(count);
    }
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_stop(count->lawn, &timers[i]);
    }
    count_blocks(count, loop_start, true);
    for (block = 0; block < COUNT_BLOCKS; block++) {
        for (i = 0; i < COUNT_BLOCK; i++) {
            lawn_start(count->lawn, &timers[i], count_ttl(i));
        }
        loop_stop(count, timers);
        count_tick(count);
    }
    for (i = 0; i < COUNT_BLOCK; i++) {
        lawn_start(count->lawn, &timers[i], count_ttl(i));
    }
    count_blocks(count, loop_stop_start, false);
    count_blocks(count, loop_restart, false);
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_stop(count->lawn, &timers[i]);
    }
}

/* All timers are started within a few ticks, and those of the shortest TTL fire
 * once, which shows the lawn what it holds (see habits.h in the core). Then
 * there is a time when nothing is due, at first no entry of the index either:
 * the next ones come up at 16384. */
void
figures_count(size_t many)
{
    struct count count;

    count_init(&count, many);
    count_fill(&count, COUNT_FILL);
    while (count.now < count_ttls[0] + COUNT_FILL + 1) {
        count_tick(&count);
    }
    count.fired = 0;
    loop_idle(&count);
    loop_pass(&count);
    count_start_stop(&count);
    (void)lawn_next(count.lawn);
    loop_next(&count);
    if (count.fired != 0) {
        (void)fprintf(stderr, "figures: something fired in an idle time\n");
        exit(2);
    }
    count_fini(&count);
}

/* Firing, with deadlines spread over time. */
void
figures_count_fire(size_t many)
{
    struct count count;

    count_init(&count, many);
    count_fill(&count, count_ttls[0]);
    while (count.now < 2 * count_ttls[0]) {
        count_tick(&count);
    }
    loop_fire(&count, COUNT_FIRES);
    count_fini(&count);
}

/* A lawn that has more TTLs than blades, before it knows and after. */
void
figures_count_lone(void)
{
    struct count count;
    struct lawn_timer *spare;
    size_t i;

    count_init(&count, COUNT_LONE);
    spare = &count.timers[count.many];
    for (i = 0; i < count.many; i++) {
        lawn_start(count.lawn, &count.timers[i], 10 + i);
    }
    loop_lone(&count, spare, count.many + 10);
    while (count.now < 20) {
        count_tick(&count);
    }
    for (i = 0; i < COUNT_BLOCK; i++) {
        (void)lawn_stop(count.lawn, &spare[i]);
    }
    loop_alone(&count, spare, 2 * count.many + 10);
    count_fini(&count);
}
