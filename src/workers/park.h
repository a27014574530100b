/* park.h - what the workers need of the system: to sleep, to wake a sleeper, to
 * yield, the time, and a fence for all threads at once.
 *
 * With LAWN_EXPLORE none of this is here but in tests/explore/, which decides
 * who sleeps and who runs. */
#ifndef LAWN_WORKERS_PARK_H
#define LAWN_WORKERS_PARK_H

#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word is value, until it is woken, or until the time until by
 * CLOCK_MONOTONIC in nanoseconds, LAWN_NEVER for ever. May also return for no
 * reason. */
void lawn__park_wait(uint32_t *word, uint32_t value, uint64_t until);

/* Wakes all who sleep on the word. The word may be gone by then. */
void lawn__park_wake(uint32_t *word);

/* Lets others go on, for one who waits for something that will be soon. */
void lawn__park_yield(void);

/* A lock for what is rare: workers that come and go. 0 is open. */
void lawn__park_lock(uint32_t *word);
void lawn__park_unlock(uint32_t *word);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t lawn__park_clock(void *context);

/* LAWN_FENCE_HEAVY, and whether there is such a thing. */
bool lawn__park_asymmetric(void);
void lawn__park_heavy(void);

#endif
