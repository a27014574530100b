/* pair_ops.h - the interpreter of lawns, twice on the same bytes: what fires has
 * to be the same, in the same order, to the end.
 *
 * Where P4 leaves an order open two lawns may differ, and with them all that
 * their callbacks do. So the cases are such that it leaves none open: see
 * ops_config.determined.
 */
#ifndef LAWN_TESTS_PAIR_OPS_H
#define LAWN_TESTS_PAIR_OPS_H

#include "ops.h"

/* The interpreter, and a second one: with mows in pieces, if there is a seed for
 * that. */
bool pair_ops_run(const struct ops_config *given, const uint8_t *bytes,
                  size_t size, struct ops_result *result, uint64_t pieces,
                  ops_run_fn *second);

/* Each mow in one piece, or in several: at earlier times, with smaller
 * budgets. */
ops_run_fn pieces_ops_run;

/* A lawn as it is shipped, and a naive one, which has to be linked: with itself
 * it would always agree. */
ops_run_fn naive_pair_ops_run;

#endif
