/* store_ops.h - bytes in, operations on a store and on its oracle out,
 * compared: what ops.h is to a lawn, with the same cases, configuration and
 * results.
 */
#ifndef LAWN_TESTS_STORE_OPS_H
#define LAWN_TESTS_STORE_OPS_H

#include "ops.h"

/* The one for stores. config->timers are how many ids there are;
 * config->allocations is not looked at; result->refused are the calls that
 * failed for want of memory. */
ops_run_fn store_ops_run;

#endif
