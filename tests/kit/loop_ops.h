/* loop_ops.h - bytes in, operations on a loop and on what it should be out,
 * compared: what ops.h is to a lawn, with the same cases, configuration and
 * results. The clock and the host are the test's.
 */
#ifndef LAWN_TESTS_LOOP_OPS_H
#define LAWN_TESTS_LOOP_OPS_H

#include "ops.h"

/* config->fill is not looked at. */
ops_run_fn loop_ops_run;

#endif
