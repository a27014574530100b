/* memory_kit.h - the tests' memory: that of module/memory.h, which here is counted
 * and can fail. */
#ifndef TESTS_MODULE_MEMORY_KIT_H
#define TESTS_MODULE_MEMORY_KIT_H

#include "memory.h"

#include <stdint.h>

/* Of so many calls from here on all succeed, and those after them fail; UINT64_MAX:
 * none fails. */
void memory_fail_after(uint64_t calls);

/* One call of so many fails, by chance; 0: none. */
void memory_fail_often(uint64_t of, uint64_t seed);

/* Blocks that there are, and what they take as the servers' allocator counts. */
uint64_t memory_blocks(void);
uint64_t memory_bytes(void);

/* Moves a block elsewhere, as a defragmenter does. NULL: it stays, as there is no
 * memory. */
void *memory_move(void *memory);

/* Calls since the start. */
uint64_t memory_calls(void);

#endif
