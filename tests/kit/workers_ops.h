/* workers_ops.h - turns bytes into operations on a set of workers and on an
 * oracle, and compares the two. Cases, configuration and results are those of
 * ops.h.
 *
 * All workers run in the single thread of the interpreter, in turn, with its
 * own clock, so a case determines the order of all events. Interleavings of
 * threads within a call are tested elsewhere.
 */
#ifndef LAWN_TESTS_WORKERS_OPS_H
#define LAWN_TESTS_WORKERS_OPS_H

#include "ops.h"

/* The interpreter for sets of workers. config->fill is ignored; result->refused
 * counts sets and workers that could not be created without memory. */
ops_run_fn workers_ops_run;

#endif
