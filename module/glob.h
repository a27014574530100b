/* glob.h - patterns of the server's own commands: * ? [a-z] [^a-z] and
 * backslash, on bytes. At most O(pattern x text). Adds the number of examined
 * pattern bytes to *work, so that a caller that matches many texts can stop in
 * time.
 */
#ifndef GLOB_H
#define GLOB_H

#include "bytes.h"

#include <stdint.h>

bool glob_match(struct bytes pattern, struct bytes text, uint64_t *work);

#endif
