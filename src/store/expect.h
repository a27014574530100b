/* expect.h - what cannot happen, and hints to the compiler.
 *
 * LAWN_STORE_EXPECT is for bugs, of the caller's or ours: a message and
 * abort(), unless NDEBUG is defined. What a user, an allocator or a file can do
 * is handled, never expected away. */
#ifndef LAWN_STORE_EXPECT_H
#define LAWN_STORE_EXPECT_H

#if defined NDEBUG
#define LAWN_STORE_EXPECT(condition, message) ((void)0)
#else
#include <stdio.h>
#include <stdlib.h>
#define LAWN_STORE_EXPECT(condition, message)                                  \
    ((condition) ? (void)0                                                     \
                 : ((void)fprintf(stderr, "lawn: %s\n", message), abort()))
#endif

#define LAWN_STORE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define LAWN_STORE_PREFETCH(address) __builtin_prefetch(address)
#define LAWN_STORE_NOINLINE __attribute__((noinline))

#endif
