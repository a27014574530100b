/* noinline.h - keeps rare or long code out of line. Inlined, it would take
 * registers that the fast path needs. */
#ifndef LAWN_BASE_NOINLINE_H
#define LAWN_BASE_NOINLINE_H

#define LAWN_NOINLINE __attribute__((noinline))

#endif
