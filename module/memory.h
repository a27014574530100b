/* memory.h - the allocator of the module: the server's, so that its memory
 * counts toward maxmemory and can be defragmented. Tests use one that fails on
 * demand.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/* Returns NULL on failure. */
void *memory_alloc(size_t size);
void memory_free(void *memory);

/* Returns the real size of a block. */
size_t memory_size(const void *memory);

#endif
