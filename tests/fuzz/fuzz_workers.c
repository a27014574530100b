/* fuzz_workers.c - the fuzzer's bytes as operations on a set of workers: see
 * tests/kit/workers_ops.h.
 *
 * Built with -fsanitize=fuzzer; a broken promise is a crash.
 */
#include "workers_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ops_config config = {0};
    struct ops_result result = {0};

    config.check_every = 64;
    config.fatal = true;
    (void)workers_ops_run(&config, bytes, size, &result);
    return 0;
}
