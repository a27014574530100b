/* store_agree.h - the gate before a store is timed: it does what it says.
 *
 * It is played random operations, and so is an oracle that knows nothing but an
 * array. What starts, stops, touches and lookups return has to be true; a mow
 * has to fire what is due, nothing else and each once, in the order of
 * deadlines, with the right id, payload and deadline.
 */
#ifndef LAWN_BENCH_STORE_AGREE_H
#define LAWN_BENCH_STORE_AGREE_H

#include "store.h"

#include <stdio.h>

/* Plays some hundred thousand operations. False: the store differs from the
 * oracle, or there was no memory; out is told how, and may be NULL. */
bool store_agree_check(const struct store *store, uint64_t seed, FILE *out);

#endif
