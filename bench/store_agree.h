/* store_agree.h - checks the behavior of a store before it is timed.
 *
 * Runs random operations on the store and on an oracle, which is an array.
 * Starts, stops, touches and lookups must return correct values. A mow must
 * fire each due timer once, no others, in the order of deadlines, with the
 * right id, payload and deadline.
 */
#ifndef LAWN_BENCH_STORE_AGREE_H
#define LAWN_BENCH_STORE_AGREE_H

#include "store.h"

#include <stdio.h>

/* Runs some hundred thousand operations. Returns false, after printing why to
 * out (may be NULL), if the store differs from the oracle or if there is no
 * memory. */
bool store_agree_check(const struct store *store, uint64_t seed, FILE *out);

#endif
