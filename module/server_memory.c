/* server_memory.c - implements memory.h by the server's allocator. */
#include "memory.h"
#include "redismodule_api.h"

void *
memory_alloc(size_t size)
{
    return RedisModule_TryAlloc != NULL ? RedisModule_TryAlloc(size)
                                        : RedisModule_Alloc(size);
}

void
memory_free(void *memory)
{
    RedisModule_Free(memory);
}

size_t
memory_size(const void *memory)
{
    /* The parameter lacks a const; the block is not changed. */
    return RedisModule_MallocSize((void *)(uintptr_t)memory);
}
