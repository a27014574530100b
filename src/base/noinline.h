/* noinline.h - keeps rare or long code out of line, where it takes no registers
 * from the fast path. */
#ifndef LAWN_BASE_NOINLINE_H
#define LAWN_BASE_NOINLINE_H

#define LAWN_NOINLINE __attribute__((noinline))

#endif
