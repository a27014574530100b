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

/* Each mow in one piece, or in several: at earlier times, with smaller
 * budgets. */
ops_run_fn pieces_ops_run;

/* A lawn as it is shipped, and a naive one, if that was linked. */
ops_run_fn naive_pair_ops_run;

#endif
