/* noinline.h - keeps a function that is rare or long out of the short one that
 * calls it, where it would take registers that the usual path needs. */
#ifndef LAWN_BASE_NOINLINE_H
#define LAWN_BASE_NOINLINE_H

#define LAWN_NOINLINE __attribute__((noinline))

#endif
