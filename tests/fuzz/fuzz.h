/* fuzz.h - the entry point of every fuzzer, and how it reports a failure.
 *
 * Built with -fsanitize=fuzzer; a broken promise aborts.
 */
#ifndef LAWN_TESTS_FUZZ_H
#define LAWN_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define fuzz_check(good) fuzz_check_at(__FILE__, __LINE__, good)

static inline void
fuzz_check_at(const char *file, int line, bool good)
{
    if (!good) {
        (void)fprintf(stderr, "%s:%d: it does not hold\n", file, line);
        abort();
    }
}

#endif
