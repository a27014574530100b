/* store_ops.h - turns bytes into operations on a store and on its oracle, and
 * compares the two. Cases, configuration and results are those of ops.h.
 */
#ifndef LAWN_TESTS_STORE_OPS_H
#define LAWN_TESTS_STORE_OPS_H

#include "ops.h"

/* The interpreter for stores. config->timers is the number of ids;
 * config->allocations is ignored; result->refused counts calls that failed
 * without memory. */
ops_run_fn store_ops_run;

#endif
