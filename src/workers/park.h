/* park.h - the workers' interface to the system: sleep, wake, yield, clock, and
 * a memory fence for all threads.
 *
 * With LAWN_EXPLORE, tests/explore/ implements these functions and decides
 * which thread runs. */
#ifndef LAWN_WORKERS_PARK_H
#define LAWN_WORKERS_PARK_H

#include <stdbool.h>
#include <stdint.h>

/* If *word == value, sleeps until another thread wakes this one or until the
 * time `until` of CLOCK_MONOTONIC (LAWN_NEVER: no limit). May also return
 * earlier. */
void lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until);

/* Wakes all threads that sleep on the word. The word may have been freed. */
void lawn__park_wake(uint32_t *word);

void lawn__park_yield(void);

/* A lock for rare operations: adding and removing workers. 0 is unlocked. */
void lawn__park_lock(uint32_t *word);
void lawn__park_unlock(uint32_t *word);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t lawn__park_clock(void *context);

/* asymmetric returns whether the system supports LAWN_FENCE_HEAVY; heavy
 * executes it. */
bool lawn__park_asymmetric(void);
void lawn__park_heavy(void);

#endif
