/* kit.h - a test kit of a few dozen lines.
 *
 *     TEST(a_stopped_timer_does_not_fire)
 *     {
 *         CHECK(lawn_stop(lawn, &timer));
 *         CHECK_EQ(lawn_mow(lawn, 10, SIZE_MAX, fire, NULL), 0);
 *     }
 *
 * Every file linked into a test program adds its tests. The program runs them
 * in the order of their names, or those whose names contain an argument, and
 * ends with "N passed, N failed". A failed check ends its test.
 */
#ifndef LAWN_TESTS_KIT_H
#define LAWN_TESTS_KIT_H

#include <stdbool.h>
#include <stdint.h>

typedef void kit_test_fn(void);

void kit_add(const char *name, kit_test_fn *run);
_Noreturn void kit_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs body in a child process. Returns true if it ended by abort() after
 * printing a text that contains message. */
bool kit_aborts_with(kit_test_fn *body, const char *message);

#define TEST(name)                                                             \
    static void name(void);                                                    \
    __attribute__((constructor)) static void kit_add_##name(void)              \
    {                                                                          \
        kit_add(#name, name);                                                  \
    }                                                                          \
    static void name(void)

#define CHECK(condition)                                                       \
    ((condition) ? (void)0                                                     \
                 : kit_fail(__FILE__, __LINE__, "not true: %s", #condition))

#define CHECK_EQ(actual, expected)                                             \
    do {                                                                       \
        uint64_t kit_actual = (uint64_t)(actual);                              \
        uint64_t kit_expected = (uint64_t)(expected);                          \
        if (kit_actual != kit_expected) {                                      \
            kit_fail(__FILE__, __LINE__, "%s is %llu, expected %llu", #actual, \
                     (unsigned long long)kit_actual,                           \
                     (unsigned long long)kit_expected);                        \
        }                                                                      \
    } while (0)

#endif
