/* assertion.h - assertions for all levels of the library.
 *
 * LAWN_ASSERT is for conditions that only a bug in the library or its caller
 * can violate. NDEBUG removes it.
 */
#ifndef LAWN_BASE_ASSERTION_H
#define LAWN_BASE_ASSERTION_H

#if defined NDEBUG
#define LAWN_ASSERT(condition, message) ((void)0)
#else

#if !defined LAWN_FREESTANDING
#include <stdio.h>
#include <stdlib.h>
#endif

__attribute__((noreturn, noinline, cold, unused)) static void
lawn__assertion_failed(const char *file, int line, const char *function,
                       const char *message)
{
#if defined LAWN_FREESTANDING
    (void)file;
    (void)line;
    (void)function;
    (void)message;
    __builtin_trap();
#else
    (void)fprintf(stderr, "lawn: %s:%d: %s: assertion failed: %s\n", file, line,
                  function, message);
    abort();
#endif
}

#define LAWN_ASSERT(condition, message)                                        \
    ((condition)                                                               \
         ? (void)0                                                             \
         : lawn__assertion_failed(__FILE__, __LINE__, __func__, message))
#endif

#if defined __cplusplus
#define LAWN_STATIC_ASSERT(condition, message) static_assert(condition, message)
#else
#define LAWN_STATIC_ASSERT(condition, message)                                 \
    _Static_assert(condition, message)
#endif

#endif
