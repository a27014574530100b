/* memory_kit.h - module/memory.h for tests: allocations are counted and can
 * fail. */
#ifndef TESTS_MODULE_MEMORY_KIT_H
#define TESTS_MODULE_MEMORY_KIT_H

#include "memory.h"

#include <stdint.h>

/* The next `calls` calls succeed, and those after them fail; UINT64_MAX: none
 * fails. */
void memory_fail_after(uint64_t calls);

/* One of this number of calls fails, at random; 0: none. */
void memory_fail_often(uint64_t of, uint64_t seed);

/* The number of allocated blocks, and their size by the rules of the servers'
 * allocator. */
uint64_t memory_blocks(void);
uint64_t memory_bytes(void);

/* Moves a block, as a defragmenter does. Returns NULL if memory allocation
 * fails; the block is then unchanged. */
void *memory_move(void *memory);

/* Calls since the start. */
uint64_t memory_calls(void);

#endif
