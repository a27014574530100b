/* shrink.h - runs cases where a crash or a hang does no harm, and reduces a
 * failing case to a minimum that still fails. */
#ifndef LAWN_TESTS_SHRINK_H
#define LAWN_TESTS_SHRINK_H

#include "ops.h"

/* Runs a case in a child process, silently. Returns true if it passes. A case
 * that takes longer than ten seconds fails. */
bool shrink_passes(const struct ops_config *config, const uint8_t *bytes,
                   size_t size);

/* Removes and zeroes bytes of a failing case while it still fails. Returns its
 * new size. */
size_t shrink(const struct ops_config *config, uint8_t *bytes, size_t size);

#endif
