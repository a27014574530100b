/* fuzz_case.h - the fuzzer's bytes as a case of an interpreter: see
 * tests/kit/ops.h. */
#ifndef LAWN_TESTS_FUZZ_CASE_H
#define LAWN_TESTS_FUZZ_CASE_H

#include "fuzz.h"
#include "ops.h"

static inline void
fuzz_case(ops_run_fn *run, const uint8_t *bytes, size_t size)
{
    struct ops_config config = {0};
    struct ops_result result = {0};

    config.check_every = 64;
    config.fatal = true;
    (void)run(&config, bytes, size, &result);
}

#endif
