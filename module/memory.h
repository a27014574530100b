/* memory.h - where the module's memory comes from: the server's allocator, so
 * that it counts towards maxmemory and can be defragmented. The tests have
 * another one, which fails on demand.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/* NULL: there is none. */
void *memory_alloc(size_t size);
void memory_free(void *memory);

/* What a block really takes. */
size_t memory_size(const void *memory);

#endif
