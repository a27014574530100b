/* fuzz_ops.c - the fuzzer's bytes as operations on a lawn. */
#include "fuzz_case.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_case(ops_run, bytes, size);
    return 0;
}
