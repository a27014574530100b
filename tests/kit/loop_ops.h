/* loop_ops.h - turns bytes into operations on a loop and on its expected state,
 * and compares the two. Cases, configuration and results are those of ops.h.
 * The test provides the clock and the host.
 */
#ifndef LAWN_TESTS_LOOP_OPS_H
#define LAWN_TESTS_LOOP_OPS_H

#include "ops.h"

/* Ignores config->fill. */
ops_run_fn loop_ops_run;

#endif
