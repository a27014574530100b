/* workload_store.c - S1 to S7: one life of a store, one stage each.
 *
 * All timers are started (S1) and stopped (S2; both together are S7). Started
 * again, they are looked up (S3), replaced by others (S5) and restarted (S6),
 * and finally they fire (S4). A tick passes every 1000 operations; nothing is
 * due until the end.
 *
 * An id is computed from its number, which costs less than a lookup in memory,
 * so that the store is measured. Half of a payload is derived from the id, so
 * that returned timers can be checked.
 */
#include "store.h"
#include "workload.h"
#include "workloads.h"

#include <string.h>

#define STORE_TTLS 20u
#define STORE_MOWS 200u /* until all have fired */

struct store_words {
    uint64_t words[2];
};
_Static_assert(sizeof(struct store_words) == STORE_ID, "words of an id");

struct store_content {
    uint64_t number;
    uint64_t more[3];
};
_Static_assert(sizeof(struct store_content) == STORE_PAYLOAD,
               "words of a payload");

static inline struct store_words
make_id(const struct run *run, uint64_t number)
{
    uint64_t first = random_mix(number + (run->cell->seed << 40));

    return (struct store_words){
        {first, (first ^ number) * UINT64_C(0x9E3779B97F4A7C15)}};
}

/* TTLs are so long that nothing is due before the end. */
void
store_ttls(struct run *run)
{
    uint64_t least = WORKLOAD_PER_TICK * 100 + run->cell->n / 100;

    if (!run_list_ttls(run, STORE_TTLS)) {
        return;
    }
    for (uint64_t i = 0; i < STORE_TTLS; i++) {
        run->ttls[i] = least + i * least / STORE_TTLS;
    }
}

static inline uint64_t
choose_ttl(const struct run *run, uint64_t random)
{
    return run->ttls[((random >> 32) * STORE_TTLS) >> 32];
}

static void
on_fire(const struct store_timer *timer, void *arg)
{
    struct run *run = (struct run *)arg;
    struct store_words id;

    memcpy(&id, timer->id, sizeof(id));
    struct store_content content;
    memcpy(&content, timer->payload, sizeof(content));
    uint64_t x = run->stamp + content.number * UINT64_C(0xBF58476D1CE4E5B9);
    run->checksum += (x + timer->deadline) *
                     (x ^ id.words[0] ^ content.more[0] ^ content.more[2]);
}

static size_t
mow_store(struct run *run, uint64_t now, size_t budget)
{
    const struct store *store = store_of(run->contender);

    run->now = now;
    run->stamp = (now * UINT64_C(0x9E3779B97F4A7C15)) | 1;
    return store->mow != NULL ? store->mow(run->self, now, budget, on_fire, run)
                              : 0;
}

/* Advances the clock every 1000 operations. Returns whether to continue. */
static bool
pass_tick(struct run *run, uint64_t done)
{
    if (done % WORKLOAD_PER_TICK == 0) {
        mow_store(run, run->now + 1, SIZE_MAX);
    }
    return done % WORKLOAD_STEP != 0 || run_goes_on(run);
}

static inline void
start_one(struct run *run, uint64_t number)
{
    struct store_words id = make_id(run, number);
    struct store_content content = {number,
                                    {id.words[0], id.words[1], ~number}};

    if (!store_of(run->contender)
             ->start(run->self, &id, choose_ttl(run, id.words[1]), &content)) {
        run->end = RUN_MEMORY;
    }
}

/* A stop of a missing timer makes the checksum wrong. */
static inline void
stop_one(struct run *run, uint64_t number)
{
    struct store_words id = make_id(run, number);

    run->checksum += !store_of(run->contender)->stop(run->self, &id);
}

static void
play_fill(struct run *run)
{
    uint64_t n = run->cell->n;

    for (uint64_t i = 0; i < n && pass_tick(run, i + 1); i++) {
        start_one(run, i);
    }
}

static void
play_start(struct run *run)
{
    run_begin(run, STORE_START);
    play_fill(run);
    run_finish(run, run->cell->n);
    run_weigh(run);
}

static void
play_stop(struct run *run)
{
    uint64_t n = run->cell->n;

    run_begin(run, STORE_STOP);
    for (uint64_t i = 0; i < n && pass_tick(run, i + 1); i++) {
        stop_one(run, run->order[i]);
    }
    run_finish(run, n);
}

static void
play_pairs(struct run *run)
{
    const struct run_stage *start = &run->stages[STORE_START];
    const struct run_stage *stop = &run->stages[STORE_STOP];

    run->stages[STORE_PAIR] =
        (struct run_stage){start->ops, start->ns + stop->ns, stop->checksum};
    if (run->last_stage > STORE_PAIR) {
        play_fill(run);
    }
}

static void
play_get(struct run *run)
{
    const struct store *store = store_of(run->contender);
    uint64_t ops = workload_ops(run);
    uint64_t sum = 0;

    run_begin(run, STORE_GET);
    for (uint64_t i = 0; i < ops && pass_tick(run, i + 1); i++) {
        uint64_t number = random_below(&run->random, run->cell->n);
        struct store_words id = make_id(run, number);
        struct store_timer timer;

        if (!store->get(run->self, &id, &timer)) {
            continue;
        }
        struct store_content content;
        memcpy(&content, timer.payload, sizeof(content));
        sum += content.number + content.more[2] + timer.deadline;
    }
    run->checksum += sum;
    run_finish(run, ops);
}

/* In each round, a new timer replaces every timer of the previous round. */
static void
play_churn(struct run *run)
{
    uint64_t ops = workload_ops(run);
    uint64_t n = run->cell->n;
    uint64_t round = 0;
    uint64_t place = 0;

    run_begin(run, STORE_CHURN);
    for (uint64_t i = 0; i < ops && pass_tick(run, i + 1); i++) {
        uint64_t number = round + run->again[place];

        stop_one(run, number);
        start_one(run, number + n);
        if (++place == n) {
            place = 0;
            round += n;
        }
    }
    run_finish(run, ops);
}

/* Returns the number of a random timer that runs after play_churn() has
 * replaced `churned` timers, in whole rounds and a part of one. */
static uint64_t
choose_survivor(struct run *run, uint64_t churned)
{
    uint64_t n = run->cell->n;
    uint64_t place = random_below(&run->random, n);
    uint64_t rounds = churned / n + (place < churned % n);

    return run->again[place] + rounds * n;
}

static void
play_touch(struct run *run)
{
    const struct store *store = store_of(run->contender);
    uint64_t ops = workload_ops(run);

    if (store->touch == NULL || store->mow == NULL) {
        run->end = RUN_UNFIT;
        return;
    }
    run_begin(run, STORE_TOUCH);
    for (uint64_t i = 0; i < ops && pass_tick(run, i + 1); i++) {
        struct store_words id = make_id(run, choose_survivor(run, ops));
        uint64_t ttl = choose_ttl(run, random_next(&run->random));

        run->checksum += !store->touch(run->self, &id, ttl);
    }
    run_finish(run, ops);
}

static void
play_fire(struct run *run)
{
    bool single = (run->contender->flags & CONTENDER_WATCHED) != 0;
    uint64_t begin = run->now + 1;
    uint64_t longest = run->ttls[STORE_TTLS - 1];
    uint64_t fired = 0;

    run_begin(run, STORE_FIRE);
    for (uint64_t i = 1; i <= STORE_MOWS && run_goes_on(run); i++) {
        uint64_t now = begin + longest * i / STORE_MOWS;
        size_t many = 0;

        do {
            many = mow_store(run, now, single ? 1 : SIZE_MAX);
            fired += many;
        } while (single && many > 0);
    }
    run_finish(run, fired);
}

void
store_play(struct run *run)
{
    static void (*const stages[RUN_STAGES])(struct run *) = {
        [STORE_START] = play_start, [STORE_STOP] = play_stop,
        [STORE_PAIR] = play_pairs,  [STORE_GET] = play_get,
        [STORE_CHURN] = play_churn, [STORE_TOUCH] = play_touch,
        [STORE_FIRE] = play_fire,
    };

    for (unsigned i = 0; i <= run->last_stage && run_goes_on(run); i++) {
        stages[i](run);
    }
}
