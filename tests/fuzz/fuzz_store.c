/* fuzz_store.c - the fuzzer's bytes as operations on a store. */
#include "fuzz_case.h"
#include "store_ops.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_case(store_ops_run, bytes, size);
    return 0;
}
