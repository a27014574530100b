/* fuzz_workers.c - the fuzzer's bytes as operations on a set of workers. */
#include "fuzz_case.h"
#include "workers_ops.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_case(workers_ops_run, bytes, size);
    return 0;
}
