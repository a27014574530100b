/* self.c - tests of the explorer: known bugs, which it must find, and the same
 * programs without the bug. */
#include "explore.h"

#include "../../src/workers/atomic.h"
#include "../../src/workers/park.h"

#include <string.h>

static struct {
    uint64_t count;
    uint32_t flags[2];
    uint32_t inside;
    uint32_t entered[2];
    uint32_t bell;
    uint64_t job;
    uint64_t done;
} toy;

static void
toy_setup(void)
{
    memset(&toy, 0, sizeof(toy));
    explore_keep(&toy, sizeof(toy));
    explore_name(&toy, sizeof(toy), "toy");
}

/* Two fibres add one each. */

static void
count_badly(void)
{
    uint64_t seen = LAWN_ATOMIC_LOAD(&toy.count, LAWN_RELAXED);

    LAWN_ATOMIC_STORE(&toy.count, seen + 1, LAWN_RELAXED);
}

static void
count_well(void)
{
    (void)LAWN_ATOMIC_FADD(&toy.count, UINT64_C(1), LAWN_RELAXED);
}

static void
count_finish(void)
{
    EXPECT(toy.count == 2);
}

SCENARIO(self_a_counter_without_an_atomic_addition_is_found_out,
         .setup = toy_setup, .threads = {count_badly, count_badly},
         .finish = count_finish, .broken = true);
SCENARIO(self_a_counter_with_an_atomic_addition_is_right, .setup = toy_setup,
         .threads = {count_well, count_well}, .finish = count_finish);

/* Dekker: each sets its flag, and enters if the other's flag is not set. */

static void
dekker(int order)
{
    unsigned me = explore_me();

    LAWN_ATOMIC_STORE(&toy.flags[me], 1u, order);
    if (LAWN_ATOMIC_LOAD(&toy.flags[1 - me], LAWN_SEQ_CST) == 0) {
        toy.entered[me] = 1;
    }
}

static void
dekker_weak(void)
{
    dekker(LAWN_RELEASE);
}

static void
dekker_strong(void)
{
    dekker(LAWN_SEQ_CST);
}

/* One half of the fence costs nothing; the other half orders both. */
static void
dekker_heavy(void)
{
    LAWN_ATOMIC_STORE(&toy.flags[explore_me()], 1u, LAWN_RELEASE);
    LAWN_FENCE_HEAVY();
    if (LAWN_ATOMIC_LOAD(&toy.flags[1 - explore_me()], LAWN_SEQ_CST) == 0) {
        toy.entered[explore_me()] = 1;
    }
}

static void
dekker_finish(void)
{
    EXPECT(toy.entered[0] + toy.entered[1] < 2);
}

SCENARIO(self_weak_stores_make_no_lock_if_they_can_be_delayed,
         .setup = toy_setup, .threads = {dekker_weak, dekker_weak},
         .finish = dekker_finish, .delays = true, .broken = true);
SCENARIO(self_weak_stores_make_a_lock_if_they_cannot_be_delayed,
         .setup = toy_setup, .threads = {dekker_weak, dekker_weak},
         .finish = dekker_finish);
SCENARIO(self_strong_stores_make_a_lock, .setup = toy_setup,
         .threads = {dekker_strong, dekker_strong}, .finish = dekker_finish,
         .delays = true);
SCENARIO(self_one_weak_store_and_a_heavy_fence_make_a_lock, .setup = toy_setup,
         .threads = {dekker_weak, dekker_heavy}, .finish = dekker_finish,
         .delays = true);

/* A sleeping fibre, and one that brings a job. */

static void
sleep_badly(void)
{
    if (LAWN_ATOMIC_LOAD(&toy.job, LAWN_SEQ_CST) == 0) {
        LAWN_ATOMIC_STORE(&toy.bell, 1u, LAWN_SEQ_CST);
        lawn__park_wait(&toy.bell, 1, UINT64_MAX);
    }
    toy.done = LAWN_ATOMIC_LOAD(&toy.job, LAWN_SEQ_CST);
}

static void
sleep_well(void)
{
    LAWN_ATOMIC_STORE(&toy.bell, 1u, LAWN_SEQ_CST);
    if (LAWN_ATOMIC_LOAD(&toy.job, LAWN_SEQ_CST) == 0) {
        lawn__park_wait(&toy.bell, 1, UINT64_MAX);
    }
    toy.done = LAWN_ATOMIC_LOAD(&toy.job, LAWN_SEQ_CST);
}

static void
bring_job(void)
{
    LAWN_ATOMIC_STORE(&toy.job, UINT64_C(1), LAWN_SEQ_CST);
    if (LAWN_ATOMIC_XCHG(&toy.bell, 0u, LAWN_SEQ_CST) == 1) {
        lawn__park_wake(&toy.bell);
    }
}

static void
sleep_finish(void)
{
    EXPECT(toy.done == 1);
}

SCENARIO(self_a_lost_wakeup_is_found_out, .setup = toy_setup,
         .threads = {sleep_badly, bring_job}, .finish = sleep_finish,
         .broken = true);
SCENARIO(self_a_sleeper_that_looks_again_is_woken, .setup = toy_setup,
         .threads = {sleep_well, bring_job}, .finish = sleep_finish,
         .delays = true);

/* One fibre waits by yielding; another frees memory that the first still
 * reads. */

static void
wait_for_flag(void)
{
    while (LAWN_ATOMIC_LOAD(&toy.flags[0], LAWN_ACQUIRE) == 0) {
        lawn__park_yield();
    }
}

static void
wait_then_free(void)
{
    wait_for_flag();
    explore_free(&toy.count, sizeof(toy.count));
}

static void
raise_flag_early(void)
{
    LAWN_ATOMIC_STORE(&toy.flags[0], 1u, LAWN_RELEASE);
    (void)LAWN_ATOMIC_LOAD(&toy.count, LAWN_RELAXED);
}

static void
raise_flag_late(void)
{
    (void)LAWN_ATOMIC_LOAD(&toy.count, LAWN_RELAXED);
    LAWN_ATOMIC_STORE(&toy.flags[0], 1u, LAWN_RELEASE);
}

SCENARIO(self_a_use_of_freed_memory_is_found_out, .setup = toy_setup,
         .threads = {wait_then_free, raise_flag_early}, .broken = true);
SCENARIO(self_a_fibre_that_yields_runs_when_the_word_changes,
         .setup = toy_setup, .threads = {wait_then_free, raise_flag_late},
         .delays = true);
SCENARIO(self_a_fibre_that_yields_forever_is_found_out, .setup = toy_setup,
         .threads = {wait_for_flag, count_well}, .broken = true);

/* A lock taken by two fibres. */

static void
lock_and_count(void)
{
    lawn__park_lock(&toy.inside);
    count_badly();
    lawn__park_unlock(&toy.inside);
}

SCENARIO(self_a_lock_makes_a_bad_counter_right, .setup = toy_setup,
         .threads = {lock_and_count, lock_and_count}, .finish = count_finish,
         .delays = true);

/* A fibre that loops without reading anything that others could change. */

static void
go_round(void)
{
    volatile uint32_t *flag = &toy.flags[0];

    while (*flag == 0) {
    }
}

SCENARIO(self_an_endless_loop_is_found_out, .setup = toy_setup,
         .threads = {go_round}, .broken = true);
