/* workers_ops.h - bytes in, operations on a set of workers and on an oracle out,
 * compared: what ops.h is to a lawn, with the same cases, configuration and
 * results.
 *
 * All workers are the one thread of the interpreter, by turns, and the clock is
 * its own, so a case determines the order of things. What
 * threads do to each other in the midst of a call is for others to try.
 */
#ifndef LAWN_TESTS_WORKERS_OPS_H
#define LAWN_TESTS_WORKERS_OPS_H

#include "ops.h"

/* The one for sets of workers. config->fill is not looked at; result->refused
 * are the sets and workers that could not be made for want of memory. */
ops_run_fn workers_ops_run;

#endif
