/* shrink.h - runs cases where a crash or a hang does no harm, and cuts a case
 * that fails down to what it needs to fail. */
#ifndef LAWN_TESTS_SHRINK_H
#define LAWN_TESTS_SHRINK_H

#include "ops.h"

/* Runs a case in a process of its own, silently; true if it passes. One that
 * takes longer than ten seconds fails. */
bool shrink_passes(const struct ops_config *config, const uint8_t *bytes,
                   size_t size);

/* Leaves out and zeroes bytes of a failing case while it still fails; returns
 * its new size. */
size_t shrink(const struct ops_config *config, uint8_t *bytes, size_t size);

#endif
