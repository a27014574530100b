/* workload_queue.c - W7: a delayed job queue. Every job fires, and becomes a
 * new job in the next burst. */
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_BURST 100u /* ticks between bursts */

/* A bit for each object that waits for the next burst, at its place in the
 * run's order. */
struct queue {
    size_t words;
    uint64_t idle[];
};

void
queue_ttls(struct run *run)
{
    static const uint64_t ttls[] = {1000, 5000, 15000, 60000};

    if (!run_list_ttls(run, 4)) {
        return;
    }
    memcpy(run->ttls, ttls, sizeof(ttls));
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, random_below(&run->random, 4));
    }
}

static void
on_fire(struct object *object, void *arg)
{
    struct run *run = (struct run *)arg;
    struct queue *queue = (struct queue *)run->own;
    uint32_t place = run->again[object->id];

    run_note(run, object);
    queue->idle[place / 64] |= UINT64_C(1) << (place % 64);
}

/* Starts all idle timers, in the run's order, which is random. */
static void
play_burst(struct run *run)
{
    struct queue *queue = (struct queue *)run->own;

    for (size_t word = 0; word < queue->words; word++) {
        uint64_t bits = queue->idle[word];

        queue->idle[word] = 0;
        for (; bits != 0; bits &= bits - 1) {
            run_start(run,
                      run->order[word * 64 + (unsigned)__builtin_ctzll(bits)]);
        }
    }
}

/* Runs until a number of jobs have fired and a number of ticks have passed. */
static uint64_t
play_some(struct run *run, uint64_t fires, uint64_t ticks)
{
    uint64_t fired = 0;
    uint64_t passed = 0;

    while (fired < fires || passed < ticks) {
        if (run->now % QUEUE_BURST == 0) {
            play_burst(run);
        }
        fired += run_tick(run);
        if (++passed % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            break;
        }
    }
    return fired;
}

void
queue_play(struct run *run)
{
    size_t words = run->cell->n / 64 + 1;
    struct queue *queue =
        run_alloc(run, 1, sizeof(*queue) + words * sizeof(queue->idle[0]));

    if (queue == NULL) {
        return;
    }
    queue->words = words;
    run->own = queue;
    run->fire = on_fire;
    /* The first jobs are spread over the longest delay. */
    for (uint64_t i = 0; i < run->cell->n && run_goes_on(run);) {
        uint64_t upto = i + run->cell->n * QUEUE_BURST / 60000 + 1;

        for (; i < upto && i < run->cell->n; i++) {
            run_start(run, run->order[i]);
        }
        play_some(run, 0, QUEUE_BURST);
    }
    run_weigh(run);
    run_begin(run, 0);
    uint64_t fired = play_some(run, workload_ops(run) / 2, 0);
    run_finish(run, fired);
    free(queue);
}
