/* fuzz_loop.c - the fuzzer's bytes as operations on a loop. */
#include "fuzz_case.h"
#include "loop_ops.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_case(loop_ops_run, bytes, size);
    return 0;
}
