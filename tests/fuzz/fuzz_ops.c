/* fuzz_ops.c - the fuzzer's bytes as operations: see tests/kit/ops.h.
 *
 * Built with -fsanitize=fuzzer; a broken promise is a crash.
 */
#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ops_config config = {0};
    struct ops_result result;

    config.check_every = 64;
    config.fatal = true;
    (void)ops_run(&config, bytes, size, &result);
    return 0;
}
