/* glob.h - patterns as the server's own commands have them: * ? [a-z] [^a-z] and
 * backslashes, on bytes. At worst O(pattern x text): no pattern makes it
 * exponential. What it took, in bytes of the pattern looked at, is added to *work,
 * so that whoever matches many texts can stop in time.
 */
#ifndef GLOB_H
#define GLOB_H

#include "bytes.h"

#include <stdint.h>

bool glob_match(struct bytes pattern, struct bytes text, uint64_t *work);

#endif
