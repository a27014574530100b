/* pair_ops.h - runs the interpreter of lawns twice on the same bytes: both
 * lawns must fire the same timers in the same order, to the end.
 *
 * Where P4 leaves an order open, two lawns may differ, and so would everything
 * that their callbacks do. These cases leave no order open: see
 * ops_config.determined.
 */
#ifndef LAWN_TESTS_PAIR_OPS_H
#define LAWN_TESTS_PAIR_OPS_H

#include "ops.h"

/* Runs the interpreter and a second one, the latter with mows in pieces if
 * there is a seed for that. */
bool pair_ops_run(const struct ops_config *given, const uint8_t *bytes,
                  size_t size, struct ops_result *result, uint64_t pieces,
                  ops_run_fn *second);

/* Each mow in one piece, or in several: at earlier times, with smaller
 * budgets. */
ops_run_fn pieces_ops_run;

/* A lawn of the release build and a naive one, which must be linked: otherwise
 * the lawn would be compared with itself. */
ops_run_fn naive_pair_ops_run;

#endif
