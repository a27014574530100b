/* glob.h - patterns as the server's own commands have them: * ? [a-z] [^a-z] and
 * backslashes, on bytes. At worst O(pattern x text): no pattern makes it
 * exponential.
 */
#ifndef GLOB_H
#define GLOB_H

#include "bytes.h"

bool glob_match(struct bytes pattern, struct bytes text);

#endif
