/* memory.h - all memory of a store, counted, limited, and aligned to cache
 * lines.
 *
 * The default allocator uses mmap() for blocks of 16 KiB and more, so that
 * freed blocks return to the system at once. On Linux, munmap() fails if the
 * process has reached the limit on mappings (vm.max_map_count). Then all pages
 * of the block but one are released, and the block is kept until a block of its
 * size is needed or munmap() works again.
 */
#ifndef LAWN_STORE_MEMORY_H
#define LAWN_STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define LAWN_STORE_LINE 64u
#define LAWN_STORE_BLOCK 65536u

struct lawn_store_memory {
    size_t bytes; /* allocated, including the overhead of alignment */
    size_t max;   /* limit of bytes; SIZE_MAX if none */
    int error;    /* why the last allocation failed: -ENOMEM or -ENOSPC */
    void *(*alloc)(size_t size, void *context); /* NULL for the default */
    void (*release)(void *memory, void *context);
    void *context;
    struct lawn_store_kept *kept; /* blocks that could not be unmapped */
    size_t kept_bytes;            /* their part of the field `bytes` */
};

/* The block is aligned to a cache line. On failure, returns NULL and sets
 * memory->error. O(1). */
void *lawn__store_memory_take(struct lawn_store_memory *memory, size_t size);

/* size is as passed to take. */
void lawn__store_memory_give(struct lawn_store_memory *memory, void *block,
                             size_t size);

/* Call it once all blocks have been freed. */
void lawn__store_memory_fini(struct lawn_store_memory *memory);

/* Returns false and sets memory->error if it is known that this much memory
 * cannot be allocated. */
bool lawn__store_memory_probe(struct lawn_store_memory *memory, size_t size);

/* Returns by how much a block of this size increases memory->bytes. */
size_t lawn__store_memory_cost(const struct lawn_store_memory *memory,
                               size_t size);

#endif
